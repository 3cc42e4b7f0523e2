// expect: 7:10: 'nvvm.elect.sync' op is illegal on sm_80: `elect.sync` needs sm_90 or newer; sm_80 does not have it
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
