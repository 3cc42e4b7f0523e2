// expect: 6:5: 'async_pipeline.tcgen05.dealloc' op expected a range made by tcgen05.address, got an argument
// RUN: bad-input %s --target=sm_100a

gpu.module @kernels {
  gpu.func @k(%acc: !async_pipeline.tmem<128>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    async_pipeline.tcgen05.dealloc %acc : !async_pipeline.tmem<128>
    gpu.return
  }
}
