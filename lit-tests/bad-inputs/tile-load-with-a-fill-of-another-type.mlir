// expect: 7:10: 'async_pipeline.work.load' op expected a fill value of type f16, got f32
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?x?xf16>, %i: index, %p: i1) kernel {
    %z = arith.constant 0.0 : f32
    %v = async_pipeline.work.load %A[%i, %i] fill(%z : f32) : memref<?x?xf16> to vector<8xf16>
    gpu.return
  }
}
