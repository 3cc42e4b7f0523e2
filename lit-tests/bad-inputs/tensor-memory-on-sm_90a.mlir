// expect: 7:5: 'async_pipeline.tcgen05.alloc' op is illegal on sm_90a: `tcgen05.alloc` needs sm_100a; sm_90a does not have it
// RUN: bad-input %s --target=sm_90a

gpu.module @kernels {
  gpu.func @k(%i: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<1, 1xi32>
    async_pipeline.tcgen05.alloc %where[%i] columns(128) : !async_pipeline.buffer<1, 1xi32>
    gpu.return
  }
}
