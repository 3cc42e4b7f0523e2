// expect: 8:5: 'async_pipeline.bulk.commit_group' op is illegal on sm_80: `cp.async.bulk.commit_group` needs sm_90 or newer; sm_80 does not have it
// RUN: bad-input %s --target=sm_80

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c = arith.constant 0 : i32
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    async_pipeline.bulk.commit_group
    gpu.return
  }
}
