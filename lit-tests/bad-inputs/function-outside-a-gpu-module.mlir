// expect: ?
// RUN: bad-input %s

gpu.func @k() kernel {
  gpu.return
}
