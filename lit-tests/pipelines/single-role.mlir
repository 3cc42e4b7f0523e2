// Tests that a kernel of one role, which loads ahead of itself, compiles for every target.

// REQUIRES: ptxas

// RUN: pipeline-opt %s --target=sm_80 --emit=ptx -o %t.ptx
// RUN: ptxas -arch=sm_80 %t.ptx -o %t.cubin
// RUN: pipeline-opt %s --target=sm_80 --cp-async-arrive=inc --stages=1 --emit=ptx -o %t.ptx
// RUN: ptxas -arch=sm_80 %t.ptx -o %t.cubin
// RUN: pipeline-opt %s --target=sm_90a --emit=ptx -o %t.ptx
// RUN: ptxas -arch=sm_90a %t.ptx -o %t.cubin
// RUN: pipeline-run counts %t.ptx | FileCheck %s
// RUN: pipeline-opt %s --target=sm_100a --emit=ptx -o %t.ptx
// RUN: ptxas -arch=sm_100a %t.ptx -o %t.cubin
// CHECK: scale: loop {{.+}}: try_wait 1, test_wait 0, arrive 0, expect_tx 1,
// CHECK-NEXT: scale: loop {{.+}}: try_wait 2, test_wait 0, arrive 1, expect_tx 1, {{.+}} bar.sync 0,

gpu.module @kernels {
  gpu.func @scale(%A: memref<?xf32> {async_pipeline.name = "A"},
                  %C: memref<?xf32> {async_pipeline.name = "C"}, %alpha: f32) kernel
      attributes {async_pipeline.grid = #async_pipeline.grid<"sm_count">} {
    %c0 = arith.constant 0 : index
    %tile = arith.constant 128 : index
    %n = memref.dim %A, %c0 : memref<?xf32>
    %tiles = arith.ceildivui %n, %tile : index
    %block = gpu.block_id x
    %blocks = gpu.grid_dim x
    %in = async_pipeline.channel.create "in" stages(4) : !async_pipeline.channel<128xf32>
    async_pipeline.roles {
      async_pipeline.role @all warps(4) {
        %thread = async_pipeline.role.thread_id : index
        scf.for %t = %block to %tiles step %blocks {
          %at = arith.muli %t, %tile : index
          %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<128xf32>
          async_pipeline.work.copy %A[%at] to %s : memref<?xf32> to !async_pipeline.slot<128xf32>
          async_pipeline.channel.commit %s : !async_pipeline.slot<128xf32>
          %w = async_pipeline.channel.wait %in : !async_pipeline.channel<128xf32>
          %v = async_pipeline.channel.view %w
              : !async_pipeline.slot<128xf32> to memref<128xf32, #gpu.address_space<workgroup>>
          %x = memref.load %v[%thread] : memref<128xf32, #gpu.address_space<workgroup>>
          %y = arith.mulf %x, %alpha : f32
          %i = arith.addi %at, %thread : index
          %inside = arith.cmpi ult, %i, %n : index
          scf.if %inside {
            memref.store %y, %C[%i] : memref<?xf32>
          }
          async_pipeline.channel.release %w : !async_pipeline.slot<128xf32>
        }
      }
    }
    gpu.return
  }
}
