// expect: 6:66: expected swizzle 32, 64 or 128, got 48
// RUN: bad-input %s --target=sm_100a

gpu.module @kernels {
  gpu.func @k(%i: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %a = async_pipeline.buffer.alloc "a" : !async_pipeline.buffer<2, 128x64xf16, swizzle 48>
    gpu.return
  }
}
