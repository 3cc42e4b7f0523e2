// expect: 10:5: 'async_pipeline.tcgen05.mma' op expected A with a swizzle, got !async_pipeline.buffer<2, 128x64xf16>
// RUN: bad-input %s --target=sm_100a

gpu.module @kernels {
  gpu.func @k(%i: i32, %p: i1) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %a = async_pipeline.buffer.alloc "a" : !async_pipeline.buffer<2, 128x64xf16>
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<1, 1xi32>
    async_pipeline.tcgen05.alloc %where[%i] columns(128) : !async_pipeline.buffer<1, 1xi32>
    %acc = async_pipeline.tcgen05.address %where[%i] : !async_pipeline.buffer<1, 1xi32> to !async_pipeline.tmem<128>
    async_pipeline.tcgen05.mma %acc[%i], %a[%i], %a[%i], %p : !async_pipeline.tmem<128>, !async_pipeline.buffer<2, 128x64xf16>, !async_pipeline.buffer<2, 128x64xf16>
    gpu.return
  }
}
