// expect: 8:14: 'async_pipeline.tile.alloc' op expected to stand outside roles, at the tile level
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?x?xf16>, %i: index, %p: i1) kernel {
    async_pipeline.roles {
      async_pipeline.role @a warps(1) {
        %a = async_pipeline.tile.alloc : !async_pipeline.buffer<16x32xf16>
      }
    }
    gpu.return
  }
}
