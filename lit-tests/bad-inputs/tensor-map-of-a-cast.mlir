// expect: 10:10: expected a tensor map of a kernel argument, got one of another memref
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c = arith.constant 0 : i32
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %x = memref.cast %A : memref<?xf32> to memref<64xf32>
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 64xf32>
    %m = async_pipeline.tma.descriptor %x : memref<64xf32> to !async_pipeline.tensor_map<64xf32>
    async_pipeline.tma.load %m[%c] to %t[%c], %b[%c] : !async_pipeline.tensor_map<64xf32> to !async_pipeline.buffer<4, 64xf32>, !async_pipeline.mbarrier<4>
    gpu.return
  }
}
