// Tests that the rules of channels and roles that need more than one op are checked, and that a right
// kernel passes.

// RUN: pipeline-opt %s --split-input-file --verify-diagnostics --async-pipeline-verify-channels

gpu.module @m {
  gpu.func @right() kernel {
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<1>
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @a warps(1) {
      }
    }
    gpu.return
  }
  gpu.func @names_belong_to_one_kernel() kernel {
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @a warps(1) {
      }
    }
    gpu.return
  }
  gpu.func @without_channels() {
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{a channel without roles: expected an async_pipeline.roles op in the kernel}}
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{expected a gpu.func with roles to be a `kernel`}}
  gpu.func @k() {
    async_pipeline.roles {
      async_pipeline.role @a warps(1) {
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-note @below {{the first is here}}
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    // expected-error @below {{expected names to be unique in the kernel, got "in" twice}}
    %other = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @a warps(1) {
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-note @below {{the first is here}}
    %t = async_pipeline.buffer.alloc "in" : !async_pipeline.buffer<1, 64xf32>
    // expected-error @below {{expected names to be unique in the kernel, got "in" twice}}
    %b = async_pipeline.mbarrier.alloc "in" : !async_pipeline.mbarrier<1>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-note @below {{the roles are here}}
    async_pipeline.roles {
      async_pipeline.role @a warps(1) {
      }
    }
    // expected-error @below {{expected channels in front of the roles that use them}}
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{'async_pipeline.tile.accumulator' op of the tile level is left at the channel level}}
    %acc = async_pipeline.tile.accumulator : !async_pipeline.accumulator<16x8xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<16x32xf16>
    async_pipeline.roles {
      async_pipeline.role @use warps(4) {
        %s = async_pipeline.channel.wait %in : !async_pipeline.channel<16x32xf16>
        // Work on slots is the same at both levels.
        %v = async_pipeline.work.load %s : !async_pipeline.slot<16x32xf16> to vector<16x32xf16>
        async_pipeline.channel.release %s : !async_pipeline.slot<16x32xf16>
      }
    }
    gpu.return
  }
}
