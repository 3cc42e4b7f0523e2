// expect: 15:5: expected a tensor map of a kernel argument; run async-pipeline-materialize-tensor-maps first
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>, %B: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c = arith.constant 0 : i32
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 64xf32>
    %m = async_pipeline.tma.descriptor %A : memref<?xf32> to !async_pipeline.tensor_map<64xf32>
    %m2 = async_pipeline.tma.descriptor %B : memref<?xf32> to !async_pipeline.tensor_map<64xf32>
    %n = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %p = arith.cmpi eq, %n, %c0 : index
    %x = arith.select %p, %m, %m2 : !async_pipeline.tensor_map<64xf32>
    async_pipeline.tma.load %x[%c] to %t[%c], %b[%c] : !async_pipeline.tensor_map<64xf32> to !async_pipeline.buffer<4, 64xf32>, !async_pipeline.mbarrier<4>
    gpu.return
  }
}
