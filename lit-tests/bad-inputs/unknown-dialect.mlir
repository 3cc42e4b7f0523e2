// expect: ?
// RUN: bad-input %s

nowhere.op
