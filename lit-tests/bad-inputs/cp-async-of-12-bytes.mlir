// expect: 11:5: 'async_pipeline.cp_async.copy' op expected 4, 8 or 16 bytes, got 12
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c = arith.constant 0 : i32
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 64xf32>
    %v = async_pipeline.buffer.slot %t[%c] : !async_pipeline.buffer<4, 64xf32> to memref<64xf32, #gpu.address_space<workgroup>>
    %c0 = arith.constant 0 : index
    async_pipeline.cp_async.copy %A[%c0] to %v[%c0] bytes(12) : memref<?xf32> to memref<64xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}
