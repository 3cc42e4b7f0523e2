// Tests that loops whose loads cannot run ahead are left alone, with a remark that says why.

// RUN: pipeline-opt %s --split-input-file --verify-diagnostics --async-pipeline-multistage=target=sm_80

gpu.module @m {
  gpu.func @threads_fill(%n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @all warps(4) {
        scf.for %i = %c0 to %n step %c1 {
          %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
          // expected-remark @below {{loads do not run ahead here: threads write the slot themselves}}
          %v = async_pipeline.channel.view %s
              : !async_pipeline.slot<64xf32> to memref<64xf32, #gpu.address_space<workgroup>>
          async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
          %t = async_pipeline.channel.wait %in : !async_pipeline.channel<64xf32>
          async_pipeline.channel.release %t : !async_pipeline.slot<64xf32>
        }
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @carried(%A: memref<?xf32>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @all warps(4) {
        %end = scf.for %i = %c0 to %n step %c1 iter_args(%at = %c0) -> (index) {
          %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
          // expected-remark @below {{loads do not run ahead here: a copy depends on a value carried by the loop}}
          async_pipeline.work.copy %A[%at] to %s : memref<?xf32> to !async_pipeline.slot<64xf32>
          async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
          %t = async_pipeline.channel.wait %in : !async_pipeline.channel<64xf32>
          async_pipeline.channel.release %t : !async_pipeline.slot<64xf32>
          %next = arith.addi %at, %c1 : index
          scf.yield %next : index
        }
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @looked_up(%A: memref<?xf32>, %table: memref<?xindex>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @all warps(4) {
        scf.for %i = %c0 to %n step %c1 {
          %at = memref.load %table[%i] : memref<?xindex>
          %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
          // expected-remark @below {{loads do not run ahead here: a copy depends on 'memref.load' in the loop}}
          async_pipeline.work.copy %A[%at] to %s : memref<?xf32> to !async_pipeline.slot<64xf32>
          async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
          %t = async_pipeline.channel.wait %in : !async_pipeline.channel<64xf32>
          async_pipeline.channel.release %t : !async_pipeline.slot<64xf32>
        }
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @two_fills(%A: memref<?xf32>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @all warps(4) {
        scf.for %i = %c0 to %n step %c1 {
          // expected-remark @below {{loads do not run ahead here: the loop fills more than one slot per iteration}}
          %s0 = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
          async_pipeline.work.copy %A[%i] to %s0 : memref<?xf32> to !async_pipeline.slot<64xf32>
          async_pipeline.channel.commit %s0 : !async_pipeline.slot<64xf32>
          %s1 = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
          async_pipeline.work.copy %A[%i] to %s1 : memref<?xf32> to !async_pipeline.slot<64xf32>
          async_pipeline.channel.commit %s1 : !async_pipeline.slot<64xf32>
          %t0 = async_pipeline.channel.wait %in : !async_pipeline.channel<64xf32>
          async_pipeline.channel.release %t0 : !async_pipeline.slot<64xf32>
          %t1 = async_pipeline.channel.wait %in : !async_pipeline.channel<64xf32>
          async_pipeline.channel.release %t1 : !async_pipeline.slot<64xf32>
        }
      }
    }
    gpu.return
  }
}
