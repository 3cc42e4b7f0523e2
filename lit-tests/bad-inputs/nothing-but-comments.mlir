// expect: ?
// RUN: bad-input %s

// Nothing here.
