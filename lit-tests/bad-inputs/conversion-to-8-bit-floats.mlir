// expect: 8:10: 'arith.truncf' op: sm_80 has no conversion of 8-bit floats
// RUN: bad-input %s --target=sm_80

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>, %x: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %v = memref.load %A[%c0] : memref<?xf32>
    %a = arith.truncf %v : f32 to f8E4M3FN
    %b = arith.bitcast %a : f8E4M3FN to i8
    %f = arith.sitofp %b : i8 to f32
    memref.store %f, %A[%c0] : memref<?xf32>
    gpu.return
  }
}
