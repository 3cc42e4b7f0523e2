// Tests that every op that sm_80 lacks is refused with the op, the instruction form and the target.

// RUN: pipeline-opt %s --split-input-file --verify-diagnostics --async-pipeline-verify-barriers=target=sm_80

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %i: i32, %j: index, %s: i64) kernel {
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    // expected-error @below {{'async_pipeline.mbarrier.arrive' op is illegal on sm_80: `mbarrier.arrive with a count` needs sm_90 or newer; sm_80 does not have it}}
    async_pipeline.mbarrier.arrive %b[%i] count(2) : !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %i: i32, %j: index, %s: i64) kernel {
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    // expected-error @below {{'async_pipeline.mbarrier.arrive_drop' op is illegal on sm_80: `mbarrier.arrive_drop with a count` needs sm_90 or newer; sm_80 does not have it}}
    async_pipeline.mbarrier.arrive_drop %b[%i] count(2) : !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %i: i32, %j: index, %s: i64) kernel {
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    // expected-error @below {{'async_pipeline.mbarrier.arrive.expect_tx' op is illegal on sm_80: `mbarrier.arrive.expect_tx` needs sm_90 or newer; sm_80 does not have it}}
    async_pipeline.mbarrier.arrive.expect_tx %b[%i], %i : !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %i: i32, %j: index, %s: i64) kernel {
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    // expected-error @below {{'async_pipeline.mbarrier.expect_tx' op is illegal on sm_80: `mbarrier.expect_tx` needs sm_90 or newer; sm_80 does not have it}}
    async_pipeline.mbarrier.expect_tx %b[%i], %i : !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %i: i32, %j: index, %s: i64) kernel {
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    // expected-error @below {{'async_pipeline.mbarrier.complete_tx' op is illegal on sm_80: `mbarrier.complete_tx` needs sm_90 or newer; sm_80 does not have it}}
    async_pipeline.mbarrier.complete_tx %b[%i], %i : !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %i: i32, %j: index, %s: i64) kernel {
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    // expected-error @below {{'async_pipeline.mbarrier.try_wait.parity' op is illegal on sm_80: `mbarrier.try_wait.parity` needs sm_90 or newer; sm_80 does not have it}}
    %d = async_pipeline.mbarrier.try_wait.parity %b[%i], %i : !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %i: i32, %j: index, %s: i64) kernel {
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    // expected-error @below {{'async_pipeline.mbarrier.try_wait' op is illegal on sm_80: `mbarrier.try_wait` needs sm_90 or newer; sm_80 does not have it}}
    %d = async_pipeline.mbarrier.try_wait %b[%i], %s : !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %i: i32, %j: index, %s: i64) kernel {
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 64xf32>
    %v = async_pipeline.buffer.slot %t[%i]
        : !async_pipeline.buffer<4, 64xf32> to memref<64xf32, #gpu.address_space<workgroup>>
    // expected-error @below {{'async_pipeline.bulk.load' op is illegal on sm_80: `cp.async.bulk.shared::cluster.global` needs sm_90 or newer; sm_80 does not have it}}
    async_pipeline.bulk.load %A[%j] to %v[%j], %i, %b[%i]
        : memref<?xf32> to memref<64xf32, #gpu.address_space<workgroup>>, !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %i: i32, %j: index, %s: i64) kernel {
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 64xf32>
    %v = async_pipeline.buffer.slot %t[%i]
        : !async_pipeline.buffer<4, 64xf32> to memref<64xf32, #gpu.address_space<workgroup>>
    // expected-error @below {{'async_pipeline.bulk.store' op is illegal on sm_80: `cp.async.bulk.global.shared::cta` needs sm_90 or newer; sm_80 does not have it}}
    async_pipeline.bulk.store %v[%j] to %A[%j], %i : memref<64xf32, #gpu.address_space<workgroup>> to memref<?xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %i: i32, %j: index, %s: i64) kernel {
    // expected-error @below {{'async_pipeline.bulk.commit_group' op is illegal on sm_80: `cp.async.bulk.commit_group` needs sm_90 or newer; sm_80 does not have it}}
    async_pipeline.bulk.commit_group
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %i: i32, %j: index, %s: i64) kernel {
    // expected-error @below {{'async_pipeline.bulk.wait_group' op is illegal on sm_80: `cp.async.bulk.wait_group` needs sm_90 or newer; sm_80 does not have it}}
    async_pipeline.bulk.wait_group pending(0)
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %i: i32, %j: index, %s: i64) kernel {
    // expected-error @below {{'async_pipeline.bulk.wait_group' op is illegal on sm_80: `cp.async.bulk.wait_group.read` needs sm_90 or newer; sm_80 does not have it}}
    async_pipeline.bulk.wait_group pending(0) read
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %i: i32, %j: index, %s: i64) kernel {
    // expected-error @below {{'async_pipeline.tma.descriptor' op is illegal on sm_80: `cp.async.bulk.tensor.shared::cluster.global` needs sm_90 or newer; sm_80 does not have it}}
    %m = async_pipeline.tma.descriptor %A : memref<?xf32> to !async_pipeline.tensor_map<64xf32>
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 64xf32>
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    // expected-error @below {{'async_pipeline.tma.load' op is illegal on sm_80: `cp.async.bulk.tensor.shared::cluster.global` needs sm_90 or newer; sm_80 does not have it}}
    async_pipeline.tma.load %m[%i] to %t[%i], %b[%i]
        : !async_pipeline.tensor_map<64xf32> to !async_pipeline.buffer<4, 64xf32>, !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %i: i32, %j: index, %s: i64) kernel {
    // expected-error @below {{'async_pipeline.tma.descriptor' op is illegal on sm_80: `cp.async.bulk.tensor.shared::cluster.global` needs sm_90 or newer; sm_80 does not have it}}
    %m = async_pipeline.tma.descriptor %A : memref<?xf32> to !async_pipeline.tensor_map<64xf32>
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 64xf32>
    // expected-error @below {{'async_pipeline.tma.store' op is illegal on sm_80: `cp.async.bulk.tensor.global.shared::cta` needs sm_90 or newer; sm_80 does not have it}}
    async_pipeline.tma.store %t[%i] to %m[%i]
        : !async_pipeline.buffer<4, 64xf32> to !async_pipeline.tensor_map<64xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %i: i32, %j: index, %s: i64) kernel {
    // expected-error @below {{'async_pipeline.fence.mbarrier_init' op is illegal on sm_80: `fence.mbarrier_init` needs sm_90 or newer; sm_80 does not have it}}
    async_pipeline.fence.mbarrier_init
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %i: i32, %j: index, %s: i64) kernel {
    // expected-error @below {{'async_pipeline.fence.proxy_async' op is illegal on sm_80: `fence.proxy.async.shared::cta` needs sm_90 or newer; sm_80 does not have it}}
    async_pipeline.fence.proxy_async
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %i: i32, %j: index, %s: i64) kernel {
    async_pipeline.roles {
      // expected-error @below {{'async_pipeline.role' op is illegal on sm_80: `elect.sync` needs sm_90 or newer; sm_80 does not have it}}
      async_pipeline.role @a warps(1) elected {
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %i: i32, %j: index, %s: i64) kernel {
    // expected-error @below {{'async_pipeline.channel.create' op is left at the barrier level; run async-pipeline-insert-barriers first}}
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %i: i32, %j: index, %s: i64) kernel {
    %false = arith.constant false
    // expected-error @below {{'cf.assert' op is not supported in a kernel}}
    cf.assert %false, "never"
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %i: i32, %j: index, %s: i64) kernel {
    // expected-error @below {{'vector.print' op is not supported in a kernel}}
    vector.print %i : i32
    gpu.return
  }
}
