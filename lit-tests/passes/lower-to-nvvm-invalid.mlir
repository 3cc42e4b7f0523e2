// Tests that what has no lowering is refused with the op's name and what to use instead.

// RUN: pipeline-opt %s --split-input-file --verify-diagnostics --async-pipeline-lower-to-nvvm=target=sm_90a

gpu.module @m {
  llvm.func @k() attributes {nvvm.kernel} {
    // expected-error @below {{'async_pipeline.mbarrier.alloc' op has no offset; run async-pipeline-allocate first}}
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    llvm.return
  }
}

// -----

gpu.module @m {
  llvm.func @k() attributes {nvvm.kernel} {
    // expected-error @below {{'async_pipeline.buffer.alloc' op has no offset; run async-pipeline-allocate first}}
    %b = async_pipeline.buffer.alloc "b" : !async_pipeline.buffer<4, 4xf32>
    llvm.return
  }
}

// -----

gpu.module @m {
  llvm.func @k() attributes {nvvm.kernel} {
    // expected-error @below {{'gpu.barrier' op is not supported; use async_pipeline.cta.barrier, or async_pipeline.named_barrier.sync inside a role}}
    gpu.barrier
    llvm.return
  }
}

// -----

gpu.module @m {
  llvm.func @k() attributes {nvvm.kernel} {
    // expected-error @below {{'gpu.printf' op is not supported in a kernel}}
    gpu.printf "x"
    llvm.return
  }
}

// -----

gpu.module @m {
  llvm.func @k() attributes {nvvm.kernel} {
    // expected-error @below {{'gpu.subgroup_id' op is not supported in a kernel}}
    %x = gpu.subgroup_id : index
    llvm.return
  }
}

// -----

gpu.module @m {
  llvm.func @k(%p: i1) attributes {nvvm.kernel} {
    %b = async_pipeline.mbarrier.alloc "b" offset(0) : !async_pipeline.mbarrier<4>
    %c = async_pipeline.mbarrier.alloc "c" offset(32) : !async_pipeline.mbarrier<4>
    %i = arith.constant 0 : i32
    %x = arith.select %p, %b, %c : !async_pipeline.mbarrier<4>
    // expected-error @below {{expected storage made by mbarrier.alloc or buffer.alloc in the kernel, got another value}}
    async_pipeline.mbarrier.arrive %x[%i] : !async_pipeline.mbarrier<4>
    llvm.return
  }
}

// -----

gpu.module @m {
  llvm.func @k() attributes {nvvm.kernel} {
    // expected-error @below {{'async_pipeline.channel.create' op cannot be lowered to NVVM}}
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    llvm.return
  }
}
