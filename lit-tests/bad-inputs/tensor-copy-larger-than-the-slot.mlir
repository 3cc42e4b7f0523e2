// expect: 10:5: 'async_pipeline.tma.load' op expected the box of 128 elements to fit behind element 0 of a tile of 64
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c = arith.constant 0 : i32
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 64xf32>
    %m = async_pipeline.tma.descriptor %A : memref<?xf32> to !async_pipeline.tensor_map<128xf32>
    async_pipeline.tma.load %m[%c] to %t[%c], %b[%c] : !async_pipeline.tensor_map<128xf32> to !async_pipeline.buffer<4, 64xf32>, !async_pipeline.mbarrier<4>
    gpu.return
  }
}
