// expect: 9:39: use of value '%f' expects different type than prior uses: 'i32' vs 'index'
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c = arith.constant 0 : i32
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %f = arith.constant 0 : index
    async_pipeline.mbarrier.arrive %b[%f] : !async_pipeline.mbarrier<4>
    gpu.return
  }
}
