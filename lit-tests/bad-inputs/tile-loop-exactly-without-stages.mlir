// expect: 6:5: 'scf.for' op expected async_pipeline.stages beside async_pipeline.exactly
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?x?xf16>, %i: index, %p: i1) kernel {
    scf.for %j = %i to %i step %i {
    } {async_pipeline.exactly}
    gpu.return
  }
}
