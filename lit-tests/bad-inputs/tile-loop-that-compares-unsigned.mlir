// expect: 9:5: 'scf.for' op that compares unsigned is not supported at the tile level
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%C: memref<?xf32>, %n: i32) kernel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %v = arith.constant dense<1.0> : vector<128xf32>
    scf.for unsigned %i = %c0 to %n step %c1 : i32 {
      %at = arith.index_cast %i : i32 to index
      async_pipeline.work.store %v to %C[%at] : vector<128xf32> to memref<?xf32>
    }
    gpu.return
  }
}
