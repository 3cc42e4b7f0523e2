// Tests that a tensor map is made of a kernel argument with 16 bytes of alignment, and of nothing else.

// RUN: pipeline-opt %s --split-input-file --verify-diagnostics --async-pipeline-materialize-tensor-maps

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %j: index) kernel {
    %B = memref.cast %A : memref<?xf32> to memref<64xf32>
    // expected-error @below {{expected a tensor map of a kernel argument, got one of another memref}}
    %m = async_pipeline.tma.descriptor %B : memref<64xf32> to !async_pipeline.tensor_map<64xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32> {async_pipeline.align = 4 : i64}, %j: index) kernel {
    // expected-error @below {{the argument promises an alignment of 4 bytes, and tensor maps need 16}}
    %m = async_pipeline.tma.descriptor %A : memref<?xf32> to !async_pipeline.tensor_map<64xf32>
    gpu.return
  }
}
