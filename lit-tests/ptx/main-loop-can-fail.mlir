// Tests that the counts of a main loop see what should not be there: an election and a named barrier in
// every step.

// RUN: pipeline-opt %s --target=sm_90a --emit=ptx -o %t.ptx
// RUN: pipeline-run counts %t.ptx | FileCheck %s
// CHECK: loop {{.+}}: try_wait 1, {{.+}} expect_tx 1, {{.+}} bar.sync 1, {{.+}} elect.sync 1,

gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %bytes = arith.constant 256 : i32
    %map = async_pipeline.tma.descriptor %A : memref<?xf32> to !async_pipeline.tensor_map<64xf32>
    %tile = async_pipeline.buffer.alloc "tile" : !async_pipeline.buffer<1, 64xf32>
    %full = async_pipeline.mbarrier.alloc "full" : !async_pipeline.mbarrier<1>
    async_pipeline.mbarrier.init %full count(1) : !async_pipeline.mbarrier<1>
    async_pipeline.roles {
      async_pipeline.role @load warps(1) {
        %end = scf.for %i = %c0 to %n step %c1 iter_args(%parity = %zero) -> (i32) {
          %leader = async_pipeline.elect : i1
          scf.if %leader {
            async_pipeline.mbarrier.arrive.expect_tx %full[%zero], %bytes : !async_pipeline.mbarrier<1>
            async_pipeline.tma.load %map[%zero] to %tile[%zero], %full[%zero]
                : !async_pipeline.tensor_map<64xf32> to !async_pipeline.buffer<1, 64xf32>, !async_pipeline.mbarrier<1>
          }
          async_pipeline.named_barrier.sync id(1) threads(32)
          async_pipeline.mbarrier.wait %full[%zero], %parity : !async_pipeline.mbarrier<1>
          %next = arith.xori %parity, %one : i32
          scf.yield %next : i32
        }
      }
    }
    gpu.return
  }
}
