// expect: 1:1: expected a gpu.func kernel in a gpu.module, got none
// RUN: bad-input %s

// Nothing here.
