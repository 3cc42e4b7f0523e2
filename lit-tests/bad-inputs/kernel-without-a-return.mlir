// expect: 6:10: block with no terminator, has %0 = "arith.constant"() <{value = 0 : i32}> : () -> i32
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k() kernel {
    %c = arith.constant 0 : i32
  }
}
