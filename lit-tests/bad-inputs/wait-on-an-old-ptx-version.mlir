// expect: 8:5: 'async_pipeline.mbarrier.wait' op is illegal on sm_80: `mbarrier.test_wait.parity` needs PTX 7.1 on sm_80; 7.0 was asked for
// RUN: bad-input %s --target=sm_80 --ptx-version=7.0

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c = arith.constant 0 : i32
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    async_pipeline.mbarrier.wait %b[%c], %c : !async_pipeline.mbarrier<4>
    gpu.return
  }
}
