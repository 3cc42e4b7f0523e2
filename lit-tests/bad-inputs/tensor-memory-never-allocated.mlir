// expect: 7:12: 'async_pipeline.tcgen05.address' op expected a tcgen05.alloc into the same slot
// RUN: bad-input %s --target=sm_100a

gpu.module @kernels {
  gpu.func @k(%i: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<1, 1xi32>
    %acc = async_pipeline.tcgen05.address %where[%i] : !async_pipeline.buffer<1, 1xi32> to !async_pipeline.tmem<128>
    gpu.return
  }
}
