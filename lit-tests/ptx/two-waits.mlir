// Tests that labels inside waits do not meet: two waits side by side, and a loop that is unrolled.

// REQUIRES: ptxas

// RUN: pipeline-opt %s --target=sm_80 --emit=ptx -o %t.80.ptx
// RUN: ptxas -arch=sm_80 %t.80.ptx -o %t.80.cubin
// RUN: FileCheck %s --check-prefix=SM80 < %t.80.ptx
// RUN: pipeline-opt %s --target=sm_90a --emit=ptx -o %t.90a.ptx
// RUN: ptxas -arch=sm_90a %t.90a.ptx -o %t.90a.cubin
// RUN: FileCheck %s --check-prefix=SM90A < %t.90a.ptx
// RUN: pipeline-opt %s --target=sm_90a --wait-timeout=1 --emit=ptx -o %t.timeout.ptx
// RUN: ptxas -arch=sm_90a %t.timeout.ptx -o %t.timeout.cubin
// SM80-COUNT-6: mbarrier.test_wait.parity
// SM80-NOT: mbarrier.test_wait.parity
// SM90A-COUNT-6: mbarrier.try_wait.parity
// SM90A-NOT: mbarrier.try_wait.parity

gpu.module @kernels {
  gpu.func @k() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %four = arith.constant 4 : i32
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    async_pipeline.mbarrier.init %b count(32) : !async_pipeline.mbarrier<4>
    async_pipeline.cta.barrier
    async_pipeline.mbarrier.wait %b[%zero], %one : !async_pipeline.mbarrier<4>
    async_pipeline.mbarrier.wait %b[%one], %one : !async_pipeline.mbarrier<4>
    scf.for %i = %zero to %four step %one : i32 {
      async_pipeline.mbarrier.wait %b[%i], %one : !async_pipeline.mbarrier<4>
    }
    gpu.return
  }
}
