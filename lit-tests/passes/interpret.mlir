// RUN: pipeline-opt %s --split-input-file --verify-diagnostics \
// RUN:   --async-pipeline-interpret="target=sm_90a sizes=256 seeds=2"
// RUN: pipeline-opt %S/../../examples/handwritten_ring.mlir \
// RUN:   --async-pipeline-interpret="target=sm_80 sizes=8200 sm-count=1" | FileCheck %s
// RUN: not pipeline-opt %S/../../examples/handwritten_ring.mlir \
// RUN:   --async-pipeline-interpret="target=sm_80 sizes=large" 2>&1 | FileCheck %s --check-prefix=OPTION

// Tests that a kernel without faults passes unchanged.
// CHECK: async_pipeline.mbarrier.wait

// Tests that a wrong option is named.
// OPTION: error: expected sizes to hold numbers, got 'large'

// Tests that a barrier which wants more arrivals than come is reported as a deadlock, with
// the barrier's state, where the wait stands.
gpu.module @counts {
  gpu.func @kernel() kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    // expected-note @below {{the barrier is created here}}
    %full = async_pipeline.mbarrier.alloc "full" : !async_pipeline.mbarrier<1>
    %thread = gpu.thread_id x
    %first = arith.cmpi eq, %thread, %c0 : index
    scf.if %first {
      async_pipeline.mbarrier.init %full count(2) : !async_pipeline.mbarrier<1>
    }
    async_pipeline.cta.barrier
    async_pipeline.roles {
      async_pipeline.role @load warps(1) elected {
        async_pipeline.mbarrier.arrive %full[%zero] : !async_pipeline.mbarrier<1>
      }
      async_pipeline.role @compute warps(1) elected {
        // expected-error @below {{deadlock: nothing can go on; @compute warp 1 lane 0 waits for phase 0 of "full"[0] (phase 0 (parity 0), pending 1 of 2, tx 0) by parity 0}}
        async_pipeline.mbarrier.wait %full[%zero], %zero : !async_pipeline.mbarrier<1>
      }
    }
    gpu.return
  }
}

// -----

// Tests that a bulk store out of memory that threads wrote needs a proxy fence, and that the
// write is shown.
gpu.module @fences {
  gpu.func @kernel(%A: memref<?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1.0 : f32
    %bytes = arith.constant 128 : i32
    %tile = async_pipeline.buffer.alloc "tile" : !async_pipeline.buffer<1, 32xf32>
    async_pipeline.roles {
      async_pipeline.role @store warps(1) {
        %t = async_pipeline.role.thread_id : index
        %first = arith.cmpi eq, %t, %c0 : index
        %s = async_pipeline.buffer.slot %tile[%zero]
            : !async_pipeline.buffer<1, 32xf32> to memref<32xf32, #gpu.address_space<workgroup>>
        // expected-note @below {{the earlier access is here}}
        memref.store %one, %s[%t] : memref<32xf32, #gpu.address_space<workgroup>>
        async_pipeline.warp.sync
        scf.if %first {
          // expected-error @below {{missing fence on "tile"[0] at byte 0: expected fence.proxy_async between an ordinary write and a bulk store}}
          async_pipeline.bulk.store %s[%c0] to %A[%c0], %bytes
              : memref<32xf32, #gpu.address_space<workgroup>> to memref<?xf32>
          async_pipeline.bulk.commit_group
          async_pipeline.bulk.wait_group pending(0) read
        }
      }
    }
    gpu.return
  }
}

// -----

// Tests that an access outside the memory of an argument is reported with its index.
gpu.module @bounds {
  gpu.func @kernel(%A: memref<?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %n = memref.dim %A, %c0 : memref<?xf32>
    // expected-error @below {{expected an index from 0 to 255 in dimension 0, got 256}}
    %x = memref.load %A[%n] : memref<?xf32>
    gpu.return
  }
}

// -----

// Tests that an op without a program form is refused by name.
gpu.module @unknown {
  gpu.func @kernel() kernel {
    // expected-error @below {{cannot interpret 'gpu.printf'}}
    gpu.printf "x"
    gpu.return
  }
}

// -----

// Tests that the tensor core is not interpreted, and said so.
gpu.module @tensor {
  gpu.func @kernel() kernel {
    %zero = arith.constant 0 : i32
    // expected-error @below {{cannot interpret 'async_pipeline.tcgen05.fence_before'}}
    async_pipeline.tcgen05.fence_before
    gpu.return
  }
}

// -----

// Tests the same of tensor memory.
gpu.module @tensor {
  gpu.func @kernel() kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    // expected-error @below {{cannot interpret 'async_pipeline.tcgen05.alloc'}}
    async_pipeline.tcgen05.alloc %where[%zero] columns(128) : !async_pipeline.buffer<2, 1xi32>
    gpu.return
  }
}

// -----

// Tests the same of a swizzled buffer.
gpu.module @tensor {
  gpu.func @kernel() kernel {
    %zero = arith.constant 0 : i32
    // expected-error @below {{cannot interpret this form of 'async_pipeline.buffer.alloc': a swizzle is not supported}}
    %a = async_pipeline.buffer.alloc "a" : !async_pipeline.buffer<2, 64x64xf16, swizzle 128>
    gpu.return
  }
}
