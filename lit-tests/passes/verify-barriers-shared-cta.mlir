// Tests that ops on barriers need a PTX version that can spell their addresses, and that others do not.

// RUN: pipeline-opt %s --split-input-file --verify-diagnostics --async-pipeline-verify-barriers="target=sm_80 ptx-version=7.5"

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %i: i32, %j: index, %s: i64) kernel {
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    // expected-error @below {{'async_pipeline.mbarrier.wait' op is illegal on sm_80: `.shared::cta` needs PTX 7.8; 7.5 was asked for}}
    async_pipeline.mbarrier.wait %b[%i], %i : !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %i: i32, %j: index, %s: i64) kernel {
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    // expected-error @below {{'async_pipeline.mbarrier.arrive' op is illegal on sm_80: `.shared::cta` needs PTX 7.8; 7.5 was asked for}}
    async_pipeline.mbarrier.arrive %b[%i] : !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %i: i32, %j: index, %s: i64) kernel {
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    // expected-error @below {{'async_pipeline.mbarrier.inval' op is illegal on sm_80: `.shared::cta` needs PTX 7.8; 7.5 was asked for}}
    async_pipeline.mbarrier.inval %b : !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %i: i32, %j: index, %s: i64) kernel {
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    // expected-error @below {{'async_pipeline.cp_async.mbarrier.arrive' op is illegal on sm_80: `.shared::cta` needs PTX 7.8; 7.5 was asked for}}
    async_pipeline.cp_async.mbarrier.arrive %b[%i] : !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %i: i32, %j: index, %s: i64) kernel {
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    async_pipeline.cp_async.commit_group
    async_pipeline.cta.barrier
    gpu.return
  }
}
