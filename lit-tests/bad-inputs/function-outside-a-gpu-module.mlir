// expect: 4:1: 'gpu.func' op expects parent op 'gpu.module'
// RUN: bad-input %s

gpu.func @k() kernel {
  gpu.return
}
