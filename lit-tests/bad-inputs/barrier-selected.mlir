// expect: 14:5: expected storage made by mbarrier.alloc or buffer.alloc in the kernel, got another value
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c = arith.constant 0 : i32
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %b2 = async_pipeline.mbarrier.alloc "b2" : !async_pipeline.mbarrier<4>
    %true = arith.constant true
    %n = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %p = arith.cmpi eq, %n, %c0 : index
    %x = arith.select %p, %b, %b2 : !async_pipeline.mbarrier<4>
    async_pipeline.mbarrier.arrive %x[%c] : !async_pipeline.mbarrier<4>
    gpu.return
  }
}
