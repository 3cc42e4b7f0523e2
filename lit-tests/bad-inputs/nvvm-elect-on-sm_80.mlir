// expect: ?
// RUN: bad-input %s --target=sm_80

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>, %x: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = nvvm.elect.sync -> i1
    scf.if %t {
      %f = arith.constant 1.0 : f32
      memref.store %f, %A[%c0] : memref<?xf32>
    }
    gpu.return
  }
}
