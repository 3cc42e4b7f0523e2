// expect: 9:25: use of value '%b' expects different type than prior uses: 'i32' vs 'i64'
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>, %x: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = arith.constant 1 : i32
    %b = arith.constant 1 : i64
    %z = arith.addi %a, %b : i32
    gpu.return
  }
}
