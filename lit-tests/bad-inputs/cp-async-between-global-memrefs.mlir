// expect: 9:5: 'async_pipeline.cp_async.copy' op expected a memref in workgroup memory, got memref<?xf32>
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c = arith.constant 0 : i32
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %c0 = arith.constant 0 : index
    async_pipeline.cp_async.copy %A[%c0] to %A[%c0] bytes(16) : memref<?xf32> to memref<?xf32>
    gpu.return
  }
}
