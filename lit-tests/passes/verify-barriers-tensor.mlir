// Tests that the tensor core's ops are refused on targets other than sm_100a, each by the form it ends as.

// RUN: pipeline-opt %s --split-input-file --verify-diagnostics --async-pipeline-verify-barriers=target=sm_90a
// RUN: sed 's/on sm_90a/on sm_80/; s/; sm_90a does/; sm_80 does/' %s > %t.80.mlir
// RUN: pipeline-opt %t.80.mlir --split-input-file --verify-diagnostics --async-pipeline-verify-barriers=target=sm_80
// RUN: sed '/expected-error/d' %s > %t.100a.mlir
// RUN: pipeline-opt %t.100a.mlir --split-input-file --async-pipeline-verify-barriers=target=sm_100a

gpu.module @m {
  gpu.func @k(%i: i32) kernel {
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    // expected-error @below {{'async_pipeline.tcgen05.alloc' op is illegal on sm_90a: `tcgen05.alloc` needs sm_100a; sm_90a does not have it}}
    async_pipeline.tcgen05.alloc %where[%i] columns(128) : !async_pipeline.buffer<2, 1xi32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32) kernel {
    // expected-error @below {{'async_pipeline.tcgen05.relinquish' op is illegal on sm_90a: `tcgen05.relinquish_alloc_permit` needs sm_100a; sm_90a does not have it}}
    async_pipeline.tcgen05.relinquish
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32) kernel {
    %bars = async_pipeline.mbarrier.alloc "bars" : !async_pipeline.mbarrier<2>
    // expected-error @below {{'async_pipeline.tcgen05.commit' op is illegal on sm_90a: `tcgen05.commit` needs sm_100a; sm_90a does not have it}}
    async_pipeline.tcgen05.commit %bars[%i] : !async_pipeline.mbarrier<2>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32) kernel {
    // expected-error @below {{'async_pipeline.tcgen05.wait_ld' op is illegal on sm_90a: `tcgen05.wait::ld` needs sm_100a; sm_90a does not have it}}
    async_pipeline.tcgen05.wait_ld
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32) kernel {
    // expected-error @below {{'async_pipeline.tcgen05.wait_st' op is illegal on sm_90a: `tcgen05.wait::st` needs sm_100a; sm_90a does not have it}}
    async_pipeline.tcgen05.wait_st
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32) kernel {
    // expected-error @below {{'async_pipeline.tcgen05.fence_before' op is illegal on sm_90a: `tcgen05.fence::before_thread_sync` needs sm_100a; sm_90a does not have it}}
    async_pipeline.tcgen05.fence_before
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32) kernel {
    // expected-error @below {{'async_pipeline.tcgen05.fence_after' op is illegal on sm_90a: `tcgen05.fence::after_thread_sync` needs sm_100a; sm_90a does not have it}}
    async_pipeline.tcgen05.fence_after
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %v: vector<32xf32>) kernel {
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    // expected-error @below {{'async_pipeline.tcgen05.alloc' op is illegal on sm_90a: `tcgen05.alloc` needs sm_100a; sm_90a does not have it}}
    async_pipeline.tcgen05.alloc %where[%i] columns(128) : !async_pipeline.buffer<2, 1xi32>
    // expected-error @below {{'async_pipeline.tcgen05.address' op is illegal on sm_90a: `tcgen05.alloc` needs sm_100a; sm_90a does not have it}}
    %acc = async_pipeline.tcgen05.address %where[%i] : !async_pipeline.buffer<2, 1xi32> to !async_pipeline.tmem<128>
    %f16 = async_pipeline.buffer.alloc "f16" : !async_pipeline.buffer<2, 128x64xf16, swizzle 128>
    // expected-error @below {{'async_pipeline.tcgen05.mma' op is illegal on sm_90a: `tcgen05.mma.kind::f16` needs sm_100a; sm_90a does not have it}}
    async_pipeline.tcgen05.mma %acc[%i], %f16[%i], %f16[%i], %p : !async_pipeline.tmem<128>, !async_pipeline.buffer<2, 128x64xf16, swizzle 128>, !async_pipeline.buffer<2, 128x64xf16, swizzle 128>
    %tf32 = async_pipeline.buffer.alloc "tf32" : !async_pipeline.buffer<2, 128x32xf32, swizzle 128>
    // expected-error @below {{'async_pipeline.tcgen05.mma' op is illegal on sm_90a: `tcgen05.mma.kind::tf32` needs sm_100a; sm_90a does not have it}}
    async_pipeline.tcgen05.mma %acc[%i], %tf32[%i], %tf32[%i], %p : !async_pipeline.tmem<128>, !async_pipeline.buffer<2, 128x32xf32, swizzle 128>, !async_pipeline.buffer<2, 128x32xf32, swizzle 128>
    %f8f6f4 = async_pipeline.buffer.alloc "f8f6f4" : !async_pipeline.buffer<2, 128x128xf8E5M2, swizzle 128>
    // expected-error @below {{'async_pipeline.tcgen05.mma' op is illegal on sm_90a: `tcgen05.mma.kind::f8f6f4` needs sm_100a; sm_90a does not have it}}
    async_pipeline.tcgen05.mma %acc[%i], %f8f6f4[%i], %f8f6f4[%i], %p : !async_pipeline.tmem<128>, !async_pipeline.buffer<2, 128x128xf8E5M2, swizzle 128>, !async_pipeline.buffer<2, 128x128xf8E5M2, swizzle 128>
    // expected-error @below {{'async_pipeline.tcgen05.ld' op is illegal on sm_90a: `tcgen05.ld` needs sm_100a; sm_90a does not have it}}
    %w = async_pipeline.tcgen05.ld %acc[%i] : !async_pipeline.tmem<128> -> vector<32xf32>
    // expected-error @below {{'async_pipeline.tcgen05.st' op is illegal on sm_90a: `tcgen05.st` needs sm_100a; sm_90a does not have it}}
    async_pipeline.tcgen05.st %v to %acc[%i] : vector<32xf32> to !async_pipeline.tmem<128>
    // expected-error @below {{'async_pipeline.tcgen05.dealloc' op is illegal on sm_90a: `tcgen05.dealloc` needs sm_100a; sm_90a does not have it}}
    async_pipeline.tcgen05.dealloc %acc : !async_pipeline.tmem<128>
    gpu.return
  }
}
