// expect: 12:5: 'async_pipeline.bulk.load' op expected bytes to be a positive multiple of 16, got 508
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c = arith.constant 0 : i32
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 64xf32>
    %v = async_pipeline.buffer.slot %t[%c] : !async_pipeline.buffer<4, 64xf32> to memref<64xf32, #gpu.address_space<workgroup>>
    %c0 = arith.constant 0 : index
    %n = arith.constant 508 : i32
    async_pipeline.bulk.load %A[%c0] to %v[%c0], %n, %b[%c] : memref<?xf32> to memref<64xf32, #gpu.address_space<workgroup>>, !async_pipeline.mbarrier<4>
    gpu.return
  }
}
