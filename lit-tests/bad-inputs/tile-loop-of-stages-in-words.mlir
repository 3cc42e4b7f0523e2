// expect: 6:5: 'scf.for' op expected async_pipeline.stages to be an integer, got "four"
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?x?xf16>, %i: index, %p: i1) kernel {
    scf.for %j = %i to %i step %i {
    } {async_pipeline.stages = "four"}
    gpu.return
  }
}
