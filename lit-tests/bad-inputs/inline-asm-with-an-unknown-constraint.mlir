// expect: 7:5: expected constraints among bcdfhilnqr0123456789, one letter or digit each; got 'x'
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>, %x: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    llvm.inline_asm has_side_effects "nop $0;", "x" %x : (i64) -> ()
    gpu.return
  }
}
