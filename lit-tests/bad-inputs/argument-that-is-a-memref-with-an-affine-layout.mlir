// expect: 5:3: argument 0: expected a strided memref with offset 0, got memref<?x?xf32, affine_map<(d0, d1) -> (d1, d0)>>
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%x: memref<?x?xf32, affine_map<(d0, d1) -> (d1, d0)>>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    gpu.return
  }
}
