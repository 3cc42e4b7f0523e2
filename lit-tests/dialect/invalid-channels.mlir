// Tests that the verifiers of the channel level hold each op to its rules, and say what they expected,
// what they got and where the other half is.

// RUN: pipeline-opt %s --split-input-file --verify-diagnostics

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected at least one role}}
    async_pipeline.roles {
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected only role ops in its region, got arith.constant}}
    async_pipeline.roles {
      // expected-note @below {{this op}}
      %c = arith.constant 0 : index
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
    async_pipeline.roles {
      async_pipeline.role @a warps(1) {
      }
    }
    // expected-error @below {{expected one roles op per kernel, this is a second}}
    async_pipeline.roles {
      async_pipeline.role @a warps(1) {
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%from: index, %to: index) kernel {
    scf.for %i = %from to %to step %to {
      // expected-error @below {{expected to stand directly in a gpu.func kernel, outside any loop, branch or role; got scf.for}}
      async_pipeline.roles {
        async_pipeline.role @a warps(1) {
        }
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%p: i1) kernel {
    cf.cond_br %p, ^then, ^else
  ^then:
    // expected-error @below {{expected to stand in the first block of its kernel, got another block}}
    async_pipeline.roles {
      async_pipeline.role @a warps(1) {
      }
    }
    cf.br ^else
  ^else:
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected at most 32 warps in all roles, got 33}}
    async_pipeline.roles {
      async_pipeline.role @a warps(31) {
      }
      async_pipeline.role @b warps(2) {
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    async_pipeline.roles {
      // expected-note @below {{see existing symbol definition here}}
      async_pipeline.role @a warps(1) {
      }
      // expected-error @below {{redefinition of symbol named 'a'}}
      async_pipeline.role @a warps(1) {
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    async_pipeline.roles {
      // expected-error @below {{expected warps from 1 to 32, got 0}}
      async_pipeline.role @a warps(0) {
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    async_pipeline.roles {
      // expected-error @below {{expected an elected role to have 1 warp, got 2}}
      async_pipeline.role @a warps(2) elected {
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expects parent op 'async_pipeline.roles'}}
    async_pipeline.role @a warps(1) {
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{'async_pipeline.role.thread_id' op expected to stand inside an async_pipeline.role}}
    %t = async_pipeline.role.thread_id : index
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{'async_pipeline.role.thread_count' op expected to stand inside an async_pipeline.role}}
    %t = async_pipeline.role.thread_count : index
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected stages from 1 to 64, got 0}}
    %in = async_pipeline.channel.create "in" stages(0) : !async_pipeline.channel<64xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected stages from 1 to 64, got 65}}
    %in = async_pipeline.channel.create "in" stages(65) : !async_pipeline.channel<64xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected stages(n) in front of `exactly`}}
    %in = async_pipeline.channel.create "in" exactly : !async_pipeline.channel<64xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected a name that is not empty}}
    %in = async_pipeline.channel.create "" : !async_pipeline.channel<64xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected a name of letters, digits, `_`, `-` and `.`}}
    %in = async_pipeline.channel.create "in put" : !async_pipeline.channel<64xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%p: i1) kernel {
    scf.if %p {
      // expected-error @below {{expected to stand directly in a gpu.func kernel, outside any loop, branch or role; got scf.if}}
      %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    // expected-error @below {{expected to stand inside an async_pipeline.role}}
    %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
    async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @a warps(1) {
        // expected-error @below {{expected its slot to be used up by one channel.commit, got none}}
        %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @a warps(1) {
        // expected-error @below {{expected its slot to be used up by one channel.commit, got 2}}
        %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
        // expected-note @below {{one of them is here}}
        async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
        async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @a warps(1) {
        // expected-error @below {{expected its slot to be used up by channel.release, got async_pipeline.channel.commit}}
        %s = async_pipeline.channel.wait %in : !async_pipeline.channel<64xf32>
        // expected-note @below {{used up here}}
        async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%p: i1) kernel {
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @a warps(1) {
        // expected-error @below {{expected its slot to be used within one block}}
        %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
        scf.if %p {
          // expected-note @below {{used here, in another block}}
          async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
        }
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%p: i1) kernel {
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @a warps(1) {
        // expected-error @below {{expected its slot to be used by channel and work ops only, got arith.select}}
        %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
        %t = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
        // expected-note @below {{used here}}
        %u = arith.select %p, %s, %t : !async_pipeline.slot<64xf32>
        async_pipeline.channel.commit %u : !async_pipeline.slot<64xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%p: i1) kernel {
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    %other = async_pipeline.channel.create "other" : !async_pipeline.channel<64xf32>
    // expected-note @below {{made here}}
    %which = arith.select %p, %in, %other : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @a warps(1) {
        // expected-error @below {{expected a channel made by channel.create, got one made by arith.select}}
        %s = async_pipeline.channel.acquire %which : !async_pipeline.channel<64xf32>
        async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%in: !async_pipeline.channel<64xf32>) kernel {
    async_pipeline.roles {
      async_pipeline.role @a warps(1) {
        // expected-error @below {{expected a channel made by channel.create, got an argument}}
        %s = async_pipeline.channel.wait %in : !async_pipeline.channel<64xf32>
        async_pipeline.channel.release %s : !async_pipeline.slot<64xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @a warps(1) {
        // expected-error @below {{failed to verify that the slot has the fields of its channel}}
        %s = "async_pipeline.channel.acquire"(%in)
            : (!async_pipeline.channel<64xf32>) -> !async_pipeline.slot<32xf32>
        async_pipeline.channel.commit %s : !async_pipeline.slot<32xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%s: !async_pipeline.slot<64xf32>) kernel {
    async_pipeline.roles {
      async_pipeline.role @a warps(1) {
        // expected-error @below {{expected a slot made by channel.acquire, got a value that is not}}
        async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%s: !async_pipeline.slot<64xf32>) kernel {
    async_pipeline.roles {
      async_pipeline.role @a warps(1) {
        // expected-error @below {{expected a slot made by channel.wait, got a value that is not}}
        async_pipeline.channel.release %s : !async_pipeline.slot<64xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %i: index) kernel {
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @a warps(1) {
        %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
        // expected-error @below {{expected the slot not to be used afterwards}}
        async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
        // expected-note @below {{used here}}
        async_pipeline.work.copy %A[%i] to %s : memref<?xf32> to !async_pipeline.slot<64xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @a warps(1) {
        %s = async_pipeline.channel.wait %in : !async_pipeline.channel<64xf32>
        // expected-error @below {{expected the slot not to be used afterwards}}
        async_pipeline.channel.release %s : !async_pipeline.slot<64xf32>
        // expected-note @below {{used here}}
        %v = async_pipeline.channel.view %s
            : !async_pipeline.slot<64xf32> to memref<64xf32, #gpu.address_space<workgroup>>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32, 4xf32>
    async_pipeline.roles {
      async_pipeline.role @a warps(1) {
        %s = async_pipeline.channel.wait %in : !async_pipeline.channel<64xf32, 4xf32>
        // expected-error @below {{expected a field from 0 to 1, got 2}}
        %v = async_pipeline.channel.view %s field(2)
            : !async_pipeline.slot<64xf32, 4xf32> to memref<64xf32, #gpu.address_space<workgroup>>
        async_pipeline.channel.release %s : !async_pipeline.slot<64xf32, 4xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32, 4xf32>
    async_pipeline.roles {
      async_pipeline.role @a warps(1) {
        %s = async_pipeline.channel.wait %in : !async_pipeline.channel<64xf32, 4xf32>
        // expected-error @below {{expected a view of type memref<4xf32, #gpu.address_space<workgroup>>, got memref<64xf32, #gpu.address_space<workgroup>>}}
        %v = async_pipeline.channel.view %s field(1)
            : !async_pipeline.slot<64xf32, 4xf32> to memref<64xf32, #gpu.address_space<workgroup>>
        async_pipeline.channel.release %s : !async_pipeline.slot<64xf32, 4xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @a warps(1) {
        %s = async_pipeline.channel.wait %in : !async_pipeline.channel<64xf32>
        // expected-error @below {{expected a view of type memref<64xf32, #gpu.address_space<workgroup>>, got memref<64xf32>}}
        %v = async_pipeline.channel.view %s : !async_pipeline.slot<64xf32> to memref<64xf32>
        async_pipeline.channel.release %s : !async_pipeline.slot<64xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%s: !async_pipeline.slot<64xf32>) kernel {
    // expected-error @below {{expected a slot made by channel.acquire or channel.wait}}
    %v = async_pipeline.channel.view %s
        : !async_pipeline.slot<64xf32> to memref<64xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %i: index) kernel {
    async_pipeline.roles {
      async_pipeline.role @a warps(1) {
        // expected-error @below {{expected a memref on one side and a slot or buffer on the other, got memref<?xf32> and memref<?xf32>}}
        async_pipeline.work.copy %A[%i] to %A[%i] : memref<?xf32> to memref<?xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %i: index) kernel {
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @a warps(1) {
        %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
        // expected-error @below {{expected no index on the slot}}
        async_pipeline.work.copy %A[%i] to %s[%i] : memref<?xf32> to !async_pipeline.slot<64xf32>
        async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %i: index) kernel {
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @a warps(1) {
        %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
        // expected-error @below {{expected 1 indices for memref<?xf32>, got 2}}
        async_pipeline.work.copy %A[%i, %i] to %s : memref<?xf32> to !async_pipeline.slot<64xf32>
        async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf32>, %i: index) kernel {
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @a warps(1) {
        %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
        // expected-error @below {{expected a memref of rank 1 for a tile of rank 1, got memref<?x?xf32>}}
        async_pipeline.work.copy %A[%i, %i] to %s : memref<?x?xf32> to !async_pipeline.slot<64xf32>
        async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf16>, %i: index) kernel {
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @a warps(1) {
        %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
        // expected-error @below {{expected element type f32, got f16 in memref<?xf16>}}
        async_pipeline.work.copy %A[%i] to %s : memref<?xf16> to !async_pipeline.slot<64xf32>
        async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32, strided<[2]>>, %i: index) kernel {
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @a warps(1) {
        %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
        // expected-error @below {{expected an innermost stride of 1, got memref<?xf32, strided<[2]>>}}
        async_pipeline.work.copy %A[%i] to %s
            : memref<?xf32, strided<[2]>> to !async_pipeline.slot<64xf32>
        async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<64xf32, #gpu.address_space<workgroup>>, %i: index) kernel {
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @a warps(1) {
        %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
        // expected-error @below {{expected a memref in global memory, got memref<64xf32, #gpu.address_space<workgroup>>}}
        async_pipeline.work.copy %A[%i] to %s
            : memref<64xf32, #gpu.address_space<workgroup>> to !async_pipeline.slot<64xf32>
        async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %i: index) kernel {
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @a warps(1) {
        %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
        // expected-error @below {{expected a field from 0 to 0, got 1}}
        async_pipeline.work.copy %A[%i] to %s field(1) : memref<?xf32> to !async_pipeline.slot<64xf32>
        async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %i: index) kernel {
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @a warps(1) {
        // expected-note @below {{made here}}
        %s = async_pipeline.channel.wait %in : !async_pipeline.channel<64xf32>
        // expected-error @below {{expected a slot made by channel.acquire to copy into, got one made by async_pipeline.channel.wait}}
        async_pipeline.work.copy %A[%i] to %s : memref<?xf32> to !async_pipeline.slot<64xf32>
        async_pipeline.channel.release %s : !async_pipeline.slot<64xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %i: index) kernel {
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @a warps(1) {
        // expected-note @below {{made here}}
        %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
        // expected-error @below {{expected a slot made by channel.wait to copy out of, got one made by async_pipeline.channel.acquire}}
        async_pipeline.work.copy %s to %A[%i] : !async_pipeline.slot<64xf32> to memref<?xf32>
        async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %s: !async_pipeline.slot<64xf32>, %i: index) kernel {
    // expected-error @below {{expected to stand inside an async_pipeline.role}}
    async_pipeline.work.copy %A[%i] to %s : memref<?xf32> to !async_pipeline.slot<64xf32>
    gpu.return
  }
}
