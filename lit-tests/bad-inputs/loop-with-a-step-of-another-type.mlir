// expect: 8:34: use of value '%a' expects different type than prior uses: 'index' vs 'i32'
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>, %x: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = arith.constant 1 : i32
    scf.for %i = %c0 to %c0 step %a {
    }
    gpu.return
  }
}
