// expect: 11:5: 'async_pipeline.cp_async.copy' op expected whole elements of f64, got 4 bytes
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf64>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c = arith.constant 0 : i32
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 64xf64>
    %v = async_pipeline.buffer.slot %t[%c] : !async_pipeline.buffer<4, 64xf64> to memref<64xf64, #gpu.address_space<workgroup>>
    %c0 = arith.constant 0 : index
    async_pipeline.cp_async.copy %A[%c0] to %v[%c0] bytes(4) : memref<?xf64> to memref<64xf64, #gpu.address_space<workgroup>>
    gpu.return
  }
}
