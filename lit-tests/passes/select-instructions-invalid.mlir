// Tests that sm_80, which has no 8-bit floats, refuses their conversions at the op.

// RUN: pipeline-opt %s --split-input-file --verify-diagnostics --async-pipeline-select-instructions=target=sm_80

gpu.module @m {
  gpu.func @narrow(%x: vector<4xf32>) -> vector<4xf8E4M3FN> {
    // expected-error @below {{'arith.truncf' op: sm_80 has no conversion of 8-bit floats}}
    %y = arith.truncf %x : vector<4xf32> to vector<4xf8E4M3FN>
    gpu.return %y : vector<4xf8E4M3FN>
  }
}

// -----

gpu.module @m {
  gpu.func @widen(%x: f8E5M2) -> f16 {
    // expected-error @below {{'arith.extf' op: sm_80 has no conversion of 8-bit floats}}
    %y = arith.extf %x : f8E5M2 to f16
    gpu.return %y : f16
  }
}
