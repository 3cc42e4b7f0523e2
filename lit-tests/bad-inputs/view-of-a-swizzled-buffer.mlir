// expect: 7:10: 'async_pipeline.buffer.slot' op expected a view of type memref<8192xf16, #gpu.address_space<workgroup>>, which a swizzle leaves of a slot, got memref<128x64xf16, #gpu.address_space<workgroup>>
// RUN: bad-input %s --target=sm_100a

gpu.module @kernels {
  gpu.func @k(%i: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %a = async_pipeline.buffer.alloc "a" : !async_pipeline.buffer<2, 128x64xf16, swizzle 128>
    %v = async_pipeline.buffer.slot %a[%i] : !async_pipeline.buffer<2, 128x64xf16, swizzle 128> to memref<128x64xf16, #gpu.address_space<workgroup>>
    gpu.return
  }
}
