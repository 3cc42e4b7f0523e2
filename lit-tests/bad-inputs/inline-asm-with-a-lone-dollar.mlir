// expect: 7:5: expected `$` in front of an operand's number below 1, got '$;'
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>, %x: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    llvm.inline_asm has_side_effects "nop $;", "r" %x : (i64) -> ()
    gpu.return
  }
}
