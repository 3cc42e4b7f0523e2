// expect: 5:3: shared memory: 274877906944 bytes of tiles and 0 bytes of barriers exceed the 232448 bytes that a CTA has on sm_90a; not even 1 stage fits; use smaller tiles
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %a = async_pipeline.buffer.alloc "a" : !async_pipeline.buffer<1024, 67108864xf32>
    gpu.return
  }
}
