// Tests that an op which needs a later PTX version than the one asked for is refused with both versions.

// RUN: pipeline-opt %s --split-input-file --verify-diagnostics --async-pipeline-verify-barriers="target=sm_80 ptx-version=7.0"

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %i: i32, %j: index, %s: i64) kernel {
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    // expected-error @below {{'async_pipeline.mbarrier.init' op is illegal on sm_80: `mbarrier.init.shared::cta` needs PTX 7.8 on sm_80; 7.0 was asked for}}
    async_pipeline.mbarrier.init %b count(1) : !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %i: i32, %j: index, %s: i64) kernel {
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    // expected-error @below {{'async_pipeline.mbarrier.wait' op is illegal on sm_80: `mbarrier.test_wait.parity` needs PTX 7.1 on sm_80; 7.0 was asked for}}
    async_pipeline.mbarrier.wait %b[%i], %i : !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %i: i32, %j: index, %s: i64) kernel {
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    // expected-error @below {{'async_pipeline.mbarrier.test_wait.parity' op is illegal on sm_80: `mbarrier.test_wait.parity` needs PTX 7.1 on sm_80; 7.0 was asked for}}
    %d = async_pipeline.mbarrier.test_wait.parity %b[%i], %i : !async_pipeline.mbarrier<4>
    gpu.return
  }
}
