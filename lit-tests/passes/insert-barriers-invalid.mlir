// Tests that channels for which no barriers can be worked out are refused, at the op and with the reason.

// RUN: pipeline-opt %s --split-input-file --verify-diagnostics --async-pipeline-insert-barriers=target=sm_90a

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %j: index) kernel {
    // expected-error @below {{channel "in": expected a role that acquires its slots, got none}}
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @use warps(1) {
        %s = async_pipeline.channel.wait %in : !async_pipeline.channel<64xf32>
        async_pipeline.channel.release %s : !async_pipeline.slot<64xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %j: index) kernel {
    // expected-error @below {{channel "in": expected a role that waits for its slots, got none}}
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @load warps(1) {
        %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
        async_pipeline.work.copy %A[%j] to %s : memref<?xf32> to !async_pipeline.slot<64xf32>
        async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %j: index) kernel {
    // expected-error @below {{channel "in": expected one role that acquires its slots, got 2}}
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @load warps(1) {
        %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
        async_pipeline.work.copy %A[%j] to %s : memref<?xf32> to !async_pipeline.slot<64xf32>
        async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
      }
      async_pipeline.role @again warps(1) {
        // expected-note @below {{acquired here by a second role}}
        %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
        async_pipeline.work.copy %A[%j] to %s : memref<?xf32> to !async_pipeline.slot<64xf32>
        async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
      }
      async_pipeline.role @use warps(1) {
        %s = async_pipeline.channel.wait %in : !async_pipeline.channel<64xf32>
        async_pipeline.channel.release %s : !async_pipeline.slot<64xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %j: index) kernel {
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @load warps(1) {
        %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
        // expected-error @below {{expected a slot to be touched by copies or through views, got both}}
        async_pipeline.work.copy %A[%j] to %s : memref<?xf32> to !async_pipeline.slot<64xf32>
        // expected-note @below {{viewed here}}
        %v = async_pipeline.channel.view %s : !async_pipeline.slot<64xf32> to memref<64xf32, #gpu.address_space<workgroup>>
        async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
      }
      async_pipeline.role @use warps(1) {
        %s = async_pipeline.channel.wait %in : !async_pipeline.channel<64xf32>
        async_pipeline.channel.release %s : !async_pipeline.slot<64xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %j: index) kernel {
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @load warps(1) {
        // expected-error @below {{expected a role to touch every slot of a channel in the same way}}
        %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
        async_pipeline.work.copy %A[%j] to %s : memref<?xf32> to !async_pipeline.slot<64xf32>
        async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
        // expected-note @below {{touched differently here}}
        %s2 = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
        %v = async_pipeline.channel.view %s2 : !async_pipeline.slot<64xf32> to memref<64xf32, #gpu.address_space<workgroup>>
        async_pipeline.channel.commit %s2 : !async_pipeline.slot<64xf32>
      }
      async_pipeline.role @use warps(1) {
        %s = async_pipeline.channel.wait %in : !async_pipeline.channel<64xf32>
        async_pipeline.channel.release %s : !async_pipeline.slot<64xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %j: index) kernel {
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    // expected-note @below {{it is made here}}
    %B = memref.cast %A : memref<?xf32> to memref<64xf32>
    async_pipeline.roles {
      async_pipeline.role @load warps(1) {
        %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
        // expected-error @below {{expected the memref of a tensor copy to be a kernel argument}}
        async_pipeline.work.copy %B[%j] to %s : memref<64xf32> to !async_pipeline.slot<64xf32>
        async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
      }
      async_pipeline.role @use warps(1) {
        %s = async_pipeline.channel.wait %in : !async_pipeline.channel<64xf32>
        async_pipeline.channel.release %s : !async_pipeline.slot<64xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32> {async_pipeline.align = 8 : i64}, %j: index) kernel {
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @load warps(1) {
        %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
        // expected-error @below {{the argument promises an alignment of 8 bytes, and tensor copies on sm_90a need 16; write cp_async on the channel to copy by threads}}
        async_pipeline.work.copy %A[%j] to %s : memref<?xf32> to !async_pipeline.slot<64xf32>
        async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
      }
      async_pipeline.role @use warps(1) {
        %s = async_pipeline.channel.wait %in : !async_pipeline.channel<64xf32>
        async_pipeline.channel.release %s : !async_pipeline.slot<64xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %j: index) kernel {
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<127xf32>
    async_pipeline.roles {
      async_pipeline.role @load warps(1) {
        %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<127xf32>
        // expected-error @below {{a row of 127 elements of 4 bytes is no multiple of 16 bytes, which a tensor copy needs}}
        async_pipeline.work.copy %A[%j] to %s : memref<?xf32> to !async_pipeline.slot<127xf32>
        async_pipeline.channel.commit %s : !async_pipeline.slot<127xf32>
      }
      async_pipeline.role @use warps(1) {
        %s = async_pipeline.channel.wait %in : !async_pipeline.channel<127xf32>
        async_pipeline.channel.release %s : !async_pipeline.slot<127xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %j: index) kernel {
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<63xf32>
    async_pipeline.roles {
      async_pipeline.role @load warps(1) {
        %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<63xf32>
        // expected-error @below {{a row of 63 elements of 4 bytes is no multiple of 16 bytes, which a tensor copy needs}}
        async_pipeline.work.copy %A[%j] to %s : memref<?xf32> to !async_pipeline.slot<63xf32>
        async_pipeline.channel.commit %s : !async_pipeline.slot<63xf32>
      }
      async_pipeline.role @use warps(1) {
        %s = async_pipeline.channel.wait %in : !async_pipeline.channel<63xf32>
        async_pipeline.channel.release %s : !async_pipeline.slot<63xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %j: index) kernel {
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<32768xf32>
    async_pipeline.roles {
      async_pipeline.role @load warps(1) {
        %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<32768xf32>
        // expected-error @below {{a tile of this shape takes 128 tensor copies, at most 64 are made; use smaller tiles}}
        async_pipeline.work.copy %A[%j] to %s : memref<?xf32> to !async_pipeline.slot<32768xf32>
        async_pipeline.channel.commit %s : !async_pipeline.slot<32768xf32>
      }
      async_pipeline.role @use warps(1) {
        %s = async_pipeline.channel.wait %in : !async_pipeline.channel<32768xf32>
        async_pipeline.channel.release %s : !async_pipeline.slot<32768xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %j: index) kernel {
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @load warps(1) {
        // expected-error @below {{slots of a channel are taken inside scf.parallel, through which the ring's position cannot be carried; expected scf.for, scf.if or scf.while}}
        scf.parallel (%i) = (%j) to (%j) step (%j) {
          %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
          async_pipeline.work.copy %A[%j] to %s : memref<?xf32> to !async_pipeline.slot<64xf32>
          async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
          scf.reduce
        }
      }
      async_pipeline.role @use warps(1) {
        %s = async_pipeline.channel.wait %in : !async_pipeline.channel<64xf32>
        async_pipeline.channel.release %s : !async_pipeline.slot<64xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %j: index) kernel {
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @load warps(1) {
        // expected-error @below {{slots of a channel are taken inside scf.execute_region, through which the ring's position cannot be carried; expected scf.for, scf.if or scf.while}}
        scf.execute_region {
          %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
          async_pipeline.work.copy %A[%j] to %s : memref<?xf32> to !async_pipeline.slot<64xf32>
          async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
          scf.yield
        }
      }
      async_pipeline.role @use warps(1) {
        %s = async_pipeline.channel.wait %in : !async_pipeline.channel<64xf32>
        async_pipeline.channel.release %s : !async_pipeline.slot<64xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %j: index) kernel {
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @load warps(1) {
        // expected-error @below {{slots of a channel are taken inside scf.index_switch, through which the ring's position cannot be carried; expected scf.for, scf.if or scf.while}}
        scf.index_switch %j
        case 0 {
          %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
          async_pipeline.work.copy %A[%j] to %s : memref<?xf32> to !async_pipeline.slot<64xf32>
          async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
          scf.yield
        }
        default {
        }
      }
      async_pipeline.role @use warps(1) {
        %s = async_pipeline.channel.wait %in : !async_pipeline.channel<64xf32>
        async_pipeline.channel.release %s : !async_pipeline.slot<64xf32>
      }
    }
    gpu.return
  }
}
