// expect: 10:12: 'async_pipeline.mbarrier.alloc' op expected to stand directly in a gpu.func kernel, outside any loop, branch or role; got scf.if
// RUN: bad-input %s

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c = arith.constant 0 : i32
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %true = arith.constant true
    scf.if %true {
      %x = async_pipeline.mbarrier.alloc "x" : !async_pipeline.mbarrier<1>
    }
    gpu.return
  }
}
