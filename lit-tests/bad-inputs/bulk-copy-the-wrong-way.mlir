// expect: 12:5: 'async_pipeline.bulk.store' op expected a memref in global memory, got memref<64xf32, #gpu.address_space<workgroup>>
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c = arith.constant 0 : i32
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 64xf32>
    %v = async_pipeline.buffer.slot %t[%c] : !async_pipeline.buffer<4, 64xf32> to memref<64xf32, #gpu.address_space<workgroup>>
    %c0 = arith.constant 0 : index
    %n = arith.constant 16 : i32
    async_pipeline.bulk.store %A[%c0] to %v[%c0], %n : memref<?xf32> to memref<64xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}
