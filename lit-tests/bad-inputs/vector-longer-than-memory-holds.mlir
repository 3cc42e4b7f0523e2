// expect: 7:10: expected vectors of at most 1024 elements, which one thread holds; got vector<1048576xf32>
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>, %x: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %v = vector.load %A[%c0] : memref<?xf32>, vector<1048576xf32>
    %s = arith.addf %v, %v : vector<1048576xf32>
    vector.store %s, %A[%c0] : memref<?xf32>, vector<1048576xf32>
    gpu.return
  }
}
