// Tests that the verifiers of the barrier level hold each op to its rules.

// RUN: pipeline-opt %s --split-input-file --verify-diagnostics

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected a name that is not empty}}
    %b = async_pipeline.mbarrier.alloc "" : !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected a name of letters, digits, `_`, `-` and `.`}}
    %t = async_pipeline.buffer.alloc "a\0A" : !async_pipeline.buffer<4, 4xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected an offset that is a multiple of 128, got 64}}
    %t = async_pipeline.buffer.alloc "t" offset(64) : !async_pipeline.buffer<4, 4xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected an offset that is a multiple of 128, got -128}}
    %t = async_pipeline.buffer.alloc "t" offset(-128) : !async_pipeline.buffer<4, 4xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected an offset that is a multiple of 8, got 4}}
    %b = async_pipeline.mbarrier.alloc "b" offset(4) : !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%p: i1) kernel {
    scf.if %p {
      // expected-error @below {{expected to stand directly in a gpu.func kernel, outside any loop, branch or role; got scf.if}}
      %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 4xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    async_pipeline.roles {
      async_pipeline.role @a warps(1) {
        // expected-error @below {{expected to stand directly in a gpu.func kernel, outside any loop, branch or role; got async_pipeline.role}}
        %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    cf.br ^next
    ^next:
    // expected-error @below {{expected to stand in the first block of its kernel, got another block}}
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-note @below {{created here}}
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 4xf32>
    %c4 = arith.constant 4 : i32
    // expected-error @below {{expected a stage from 0 to 3, got 4}}
    %v = async_pipeline.buffer.slot %t[%c4]
        : !async_pipeline.buffer<4, 4xf32> to memref<4xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32) kernel {
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 4xf32>
    // expected-error @below {{expected a view of type memref<4xf32, #gpu.address_space<workgroup>>, got memref<4xf32, strided<[2]>, #gpu.address_space<workgroup>>}}
    %v = async_pipeline.buffer.slot %t[%i]
        : !async_pipeline.buffer<4, 4xf32> to memref<4xf32, strided<[2]>, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32) kernel {
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 4xf32>
    // expected-error @below {{expected a view of type memref<4xf32, #gpu.address_space<workgroup>>, got memref<4xi32, #gpu.address_space<workgroup>>}}
    %v = async_pipeline.buffer.slot %t[%i]
        : !async_pipeline.buffer<4, 4xf32> to memref<4xi32, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    // expected-error @below {{'async_pipeline.mbarrier.init' op expected count from 1 to 1048575, got 0}}
    async_pipeline.mbarrier.init %b count(0) : !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    // expected-error @below {{'async_pipeline.mbarrier.init' op expected count from 1 to 1048575, got 1048576}}
    async_pipeline.mbarrier.init %b count(1048576) : !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32) kernel {
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    // expected-error @below {{'async_pipeline.mbarrier.arrive' op expected count from 1 to 1048575, got 0}}
    async_pipeline.mbarrier.arrive %b[%i] count(0) : !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32) kernel {
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    // expected-error @below {{'async_pipeline.mbarrier.arrive' op expected count from 1 to 1048575, got 1048576}}
    async_pipeline.mbarrier.arrive %b[%i] count(1048576) : !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32) kernel {
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    // expected-error @below {{'async_pipeline.mbarrier.arrive_drop' op expected count from 1 to 1048575, got 0}}
    async_pipeline.mbarrier.arrive_drop %b[%i] count(0) : !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32) kernel {
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    // expected-error @below {{'async_pipeline.mbarrier.arrive_drop' op expected count from 1 to 1048575, got 1048576}}
    async_pipeline.mbarrier.arrive_drop %b[%i] count(1048576) : !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32) kernel {
    // expected-note @below {{created here}}
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %c = arith.constant 4 : i32
    // expected-error @below {{'async_pipeline.mbarrier.arrive' op expected a stage from 0 to 3, got 4}}
    async_pipeline.mbarrier.arrive %b[%c] : !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32) kernel {
    // expected-note @below {{created here}}
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %c = arith.constant 4 : i32
    // expected-error @below {{'async_pipeline.mbarrier.arrive_drop' op expected a stage from 0 to 3, got 4}}
    async_pipeline.mbarrier.arrive_drop %b[%c] : !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32) kernel {
    // expected-note @below {{created here}}
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %c = arith.constant 4 : i32
    // expected-error @below {{'async_pipeline.mbarrier.arrive.expect_tx' op expected a stage from 0 to 3, got 4}}
    async_pipeline.mbarrier.arrive.expect_tx %b[%c], %i : !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32) kernel {
    // expected-note @below {{created here}}
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %c = arith.constant 4 : i32
    // expected-error @below {{'async_pipeline.mbarrier.expect_tx' op expected a stage from 0 to 3, got 4}}
    async_pipeline.mbarrier.expect_tx %b[%c], %i : !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32) kernel {
    // expected-note @below {{created here}}
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %c = arith.constant 4 : i32
    // expected-error @below {{'async_pipeline.mbarrier.complete_tx' op expected a stage from 0 to 3, got 4}}
    async_pipeline.mbarrier.complete_tx %b[%c], %i : !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32) kernel {
    // expected-note @below {{created here}}
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %c = arith.constant 4 : i32
    // expected-error @below {{'async_pipeline.mbarrier.wait' op expected a stage from 0 to 3, got 4}}
    async_pipeline.mbarrier.wait %b[%c], %i : !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32) kernel {
    // expected-note @below {{created here}}
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %c = arith.constant 4 : i32
    // expected-error @below {{'async_pipeline.cp_async.mbarrier.arrive' op expected a stage from 0 to 3, got 4}}
    async_pipeline.cp_async.mbarrier.arrive %b[%c] : !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %s: i64) kernel {
    // expected-note @below {{created here}}
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %c = arith.constant -1 : i32
    // expected-error @below {{'async_pipeline.mbarrier.test_wait.parity' op expected a stage from 0 to 3, got -1}}
    %d = async_pipeline.mbarrier.test_wait.parity %b[%c], %i : !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %s: i64) kernel {
    // expected-note @below {{created here}}
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %c = arith.constant -1 : i32
    // expected-error @below {{'async_pipeline.mbarrier.try_wait.parity' op expected a stage from 0 to 3, got -1}}
    %d = async_pipeline.mbarrier.try_wait.parity %b[%c], %i : !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %s: i64) kernel {
    // expected-note @below {{created here}}
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %c = arith.constant -1 : i32
    // expected-error @below {{'async_pipeline.mbarrier.test_wait' op expected a stage from 0 to 3, got -1}}
    %d = async_pipeline.mbarrier.test_wait %b[%c], %s : !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %s: i64) kernel {
    // expected-note @below {{created here}}
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %c = arith.constant -1 : i32
    // expected-error @below {{'async_pipeline.mbarrier.try_wait' op expected a stage from 0 to 3, got -1}}
    %d = async_pipeline.mbarrier.try_wait %b[%c], %s : !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32) kernel {
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %c = arith.constant -1 : i32
    // expected-error @below {{'async_pipeline.mbarrier.arrive.expect_tx' op expected bytes from 0 to 1048575, got -1}}
    async_pipeline.mbarrier.arrive.expect_tx %b[%i], %c : !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32) kernel {
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %c = arith.constant 1048576 : i32
    // expected-error @below {{'async_pipeline.mbarrier.arrive.expect_tx' op expected bytes from 0 to 1048575, got 1048576}}
    async_pipeline.mbarrier.arrive.expect_tx %b[%i], %c : !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32) kernel {
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %c = arith.constant -1 : i32
    // expected-error @below {{'async_pipeline.mbarrier.expect_tx' op expected bytes from 0 to 1048575, got -1}}
    async_pipeline.mbarrier.expect_tx %b[%i], %c : !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32) kernel {
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %c = arith.constant 1048576 : i32
    // expected-error @below {{'async_pipeline.mbarrier.expect_tx' op expected bytes from 0 to 1048575, got 1048576}}
    async_pipeline.mbarrier.expect_tx %b[%i], %c : !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32) kernel {
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %c = arith.constant -1 : i32
    // expected-error @below {{'async_pipeline.mbarrier.complete_tx' op expected bytes from 0 to 1048575, got -1}}
    async_pipeline.mbarrier.complete_tx %b[%i], %c : !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32) kernel {
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %c = arith.constant 1048576 : i32
    // expected-error @below {{'async_pipeline.mbarrier.complete_tx' op expected bytes from 0 to 1048575, got 1048576}}
    async_pipeline.mbarrier.complete_tx %b[%i], %c : !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32) kernel {
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %c = arith.constant 2 : i32
    // expected-error @below {{'async_pipeline.mbarrier.wait' op expected parity 0 or 1, got 2}}
    async_pipeline.mbarrier.wait %b[%i], %c : !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32) kernel {
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %c = arith.constant 2 : i32
    // expected-error @below {{'async_pipeline.mbarrier.test_wait.parity' op expected parity 0 or 1, got 2}}
    %d = async_pipeline.mbarrier.test_wait.parity %b[%i], %c : !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32) kernel {
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %c = arith.constant 2 : i32
    // expected-error @below {{'async_pipeline.mbarrier.try_wait.parity' op expected parity 0 or 1, got 2}}
    %d = async_pipeline.mbarrier.try_wait.parity %b[%i], %c : !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32) kernel {
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    // expected-note @below {{the state is made here}}
    %s = async_pipeline.mbarrier.arrive %b[%i] : !async_pipeline.mbarrier<4> -> i64
    // expected-error @below {{expected the state of an arrive with no_complete}}
    %n = async_pipeline.mbarrier.pending_count %s : i32
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%s: i64) kernel {
    // expected-error @below {{expected the state of an arrive with no_complete}}
    %n = async_pipeline.mbarrier.pending_count %s : i32
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %j: index, %A: memref<?xf32>) kernel {
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 4xf32>
    %v = async_pipeline.buffer.slot %t[%i]
        : !async_pipeline.buffer<4, 4xf32> to memref<4xf32, #gpu.address_space<workgroup>>
    // expected-error @below {{expected 4, 8 or 16 bytes, got 2}}
    async_pipeline.cp_async.copy %A[%j] to %v[%j] bytes(2) : memref<?xf32> to memref<4xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %j: index, %A: memref<?xf32>) kernel {
    // expected-error @below {{expected a memref in workgroup memory, got memref<?xf32>}}
    async_pipeline.cp_async.copy %A[%j] to %A[%j] bytes(4) : memref<?xf32> to memref<?xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %j: index, %A: memref<?xf32>) kernel {
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 4xf32>
    %v = async_pipeline.buffer.slot %t[%i]
        : !async_pipeline.buffer<4, 4xf32> to memref<4xf32, #gpu.address_space<workgroup>>
    // expected-error @below {{expected a memref in global memory, got memref<4xf32, #gpu.address_space<workgroup>>}}
    async_pipeline.cp_async.copy %v[%j] to %v[%j] bytes(4) : memref<4xf32, #gpu.address_space<workgroup>> to memref<4xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %j: index, %A: memref<?xi32>) kernel {
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 4xf32>
    %v = async_pipeline.buffer.slot %t[%i]
        : !async_pipeline.buffer<4, 4xf32> to memref<4xf32, #gpu.address_space<workgroup>>
    // expected-error @below {{expected equal element types, got i32 and f32}}
    async_pipeline.cp_async.copy %A[%j] to %v[%j] bytes(4) : memref<?xi32> to memref<4xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %j: index, %A: memref<?xf32>) kernel {
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 4xf32>
    %v = async_pipeline.buffer.slot %t[%i]
        : !async_pipeline.buffer<4, 4xf32> to memref<4xf32, #gpu.address_space<workgroup>>
    // expected-error @below {{expected 1 indices for memref<?xf32>, got 2}}
    async_pipeline.cp_async.copy %A[%j, %j] to %v[%j] bytes(4) : memref<?xf32> to memref<4xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %j: index, %A: memref<?xf32>) kernel {
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 4xf32>
    %v = async_pipeline.buffer.slot %t[%i]
        : !async_pipeline.buffer<4, 4xf32> to memref<4xf32, #gpu.address_space<workgroup>>
    // expected-error @below {{expected 1 indices for memref<4xf32, #gpu.address_space<workgroup>>, got 0}}
    async_pipeline.cp_async.copy %A[%j] to %v[] bytes(4) : memref<?xf32> to memref<4xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %j: index, %A: memref<?xf64>) kernel {
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 4xf64>
    %v = async_pipeline.buffer.slot %t[%i]
        : !async_pipeline.buffer<4, 4xf64> to memref<4xf64, #gpu.address_space<workgroup>>
    // expected-error @below {{expected whole elements of f64, got 4 bytes}}
    async_pipeline.cp_async.copy %A[%j] to %v[%j] bytes(4) : memref<?xf64> to memref<4xf64, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{'async_pipeline.cp_async.wait_group' op expected pending from 0 to 2147483647, got -1}}
    async_pipeline.cp_async.wait_group pending(-1)
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{'async_pipeline.bulk.wait_group' op expected pending from 0 to 2147483647, got -1}}
    async_pipeline.bulk.wait_group pending(-1)
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %j: index, %A: memref<?xf32>) kernel {
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 4xf32>
    %v = async_pipeline.buffer.slot %t[%i]
        : !async_pipeline.buffer<4, 4xf32> to memref<4xf32, #gpu.address_space<workgroup>>
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %n = arith.constant 0 : i32
    // expected-error @below {{expected bytes to be a positive multiple of 16, got 0}}
    async_pipeline.bulk.load %A[%j] to %v[%j], %n, %b[%i]
        : memref<?xf32> to memref<4xf32, #gpu.address_space<workgroup>>, !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %j: index, %A: memref<?xf32>) kernel {
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 4xf32>
    %v = async_pipeline.buffer.slot %t[%i]
        : !async_pipeline.buffer<4, 4xf32> to memref<4xf32, #gpu.address_space<workgroup>>
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %n = arith.constant -16 : i32
    // expected-error @below {{expected bytes to be a positive multiple of 16, got -16}}
    async_pipeline.bulk.load %A[%j] to %v[%j], %n, %b[%i]
        : memref<?xf32> to memref<4xf32, #gpu.address_space<workgroup>>, !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %j: index, %A: memref<?xf32>) kernel {
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 4xf32>
    %v = async_pipeline.buffer.slot %t[%i]
        : !async_pipeline.buffer<4, 4xf32> to memref<4xf32, #gpu.address_space<workgroup>>
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %n = arith.constant 508 : i32
    // expected-error @below {{expected bytes to be a positive multiple of 16, got 508}}
    async_pipeline.bulk.load %A[%j] to %v[%j], %n, %b[%i]
        : memref<?xf32> to memref<4xf32, #gpu.address_space<workgroup>>, !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %j: index, %A: memref<?xf32>) kernel {
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 4xf32>
    %v = async_pipeline.buffer.slot %t[%i]
        : !async_pipeline.buffer<4, 4xf32> to memref<4xf32, #gpu.address_space<workgroup>>
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %n = arith.constant 252 : i32
    // expected-error @below {{expected bytes to be a positive multiple of 16, got 252}}
    async_pipeline.bulk.load %A[%j] to %v[%j], %n, %b[%i]
        : memref<?xf32> to memref<4xf32, #gpu.address_space<workgroup>>, !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %j: index, %A: memref<?xf32>) kernel {
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 4xf32>
    %v = async_pipeline.buffer.slot %t[%i]
        : !async_pipeline.buffer<4, 4xf32> to memref<4xf32, #gpu.address_space<workgroup>>
    %n = arith.constant 508 : i32
    // expected-error @below {{'async_pipeline.bulk.store' op expected bytes to be a positive multiple of 16, got 508}}
    async_pipeline.bulk.store %v[%j] to %A[%j], %n : memref<4xf32, #gpu.address_space<workgroup>> to memref<?xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %j: index, %A: memref<?xf32>) kernel {
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 4xf32>
    %v = async_pipeline.buffer.slot %t[%i]
        : !async_pipeline.buffer<4, 4xf32> to memref<4xf32, #gpu.address_space<workgroup>>
    // expected-error @below {{expected a memref in global memory, got memref<4xf32, #gpu.address_space<workgroup>>}}
    async_pipeline.bulk.store %A[%j] to %v[%j], %i : memref<?xf32> to memref<4xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %j: index, %A: memref<?xi32>) kernel {
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 4xf32>
    %v = async_pipeline.buffer.slot %t[%i]
        : !async_pipeline.buffer<4, 4xf32> to memref<4xf32, #gpu.address_space<workgroup>>
    // expected-error @below {{expected equal element types, got f32 and i32}}
    async_pipeline.bulk.store %v[%j] to %A[%j], %i : memref<4xf32, #gpu.address_space<workgroup>> to memref<?xi32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %j: index, %A: memref<?xf32>) kernel {
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 4xf32>
    %v = async_pipeline.buffer.slot %t[%i]
        : !async_pipeline.buffer<4, 4xf32> to memref<4xf32, #gpu.address_space<workgroup>>
    // expected-error @below {{expected 1 indices for memref<?xf32>, got 0}}
    async_pipeline.bulk.store %v[%j] to %A[], %i : memref<4xf32, #gpu.address_space<workgroup>> to memref<?xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %j: index, %A: memref<?xf32>) kernel {
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 4xf32>
    %v = async_pipeline.buffer.slot %t[%i]
        : !async_pipeline.buffer<4, 4xf32> to memref<4xf32, #gpu.address_space<workgroup>>
    // expected-note @below {{created here}}
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %c = arith.constant 9 : i32
    // expected-error @below {{expected a stage from 0 to 3, got 9}}
    async_pipeline.bulk.load %A[%j] to %v[%j], %i, %b[%c]
        : memref<?xf32> to memref<4xf32, #gpu.address_space<workgroup>>, !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32, #gpu.address_space<workgroup>>) kernel {
    // expected-error @below {{expected a memref in global memory, got memref<?xf32, #gpu.address_space<workgroup>>}}
    %m = async_pipeline.tma.descriptor %A : memref<?xf32, #gpu.address_space<workgroup>> to !async_pipeline.tensor_map<4xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>) kernel {
    // expected-error @below {{expected a memref of rank 2 for a tile of rank 2, got memref<?xf32>}}
    %m = async_pipeline.tma.descriptor %A : memref<?xf32> to !async_pipeline.tensor_map<4x4xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>) kernel {
    // expected-error @below {{expected element type f16, got f32 in memref<?xf32>}}
    %m = async_pipeline.tma.descriptor %A : memref<?xf32> to !async_pipeline.tensor_map<8xf16>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf32, strided<[1, ?]>>) kernel {
    // expected-error @below {{expected an innermost stride of 1, got memref<?x?xf32, strided<[1, ?]>>}}
    %m = async_pipeline.tma.descriptor %A : memref<?x?xf32, strided<[1, ?]>> to !async_pipeline.tensor_map<4x4xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %j: index, %A: memref<?xf32>) kernel {
    %m = async_pipeline.tma.descriptor %A : memref<?xf32> to !async_pipeline.tensor_map<32xf32>
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 64xf32>
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    // expected-error @below {{'async_pipeline.tma.load' op expected 1 coordinates, got 2}}
    async_pipeline.tma.load %m[%i, %i] to %t[%i], %b[%i]
        : !async_pipeline.tensor_map<32xf32> to !async_pipeline.buffer<4, 64xf32>, !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %j: index, %A: memref<?xf16>) kernel {
    %m = async_pipeline.tma.descriptor %A : memref<?xf16> to !async_pipeline.tensor_map<32xf16>
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 64xf32>
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    // expected-error @below {{expected equal element types, got f32 and f16}}
    async_pipeline.tma.load %m[%i] to %t[%i], %b[%i]
        : !async_pipeline.tensor_map<32xf16> to !async_pipeline.buffer<4, 64xf32>, !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %j: index, %A: memref<?xf32>) kernel {
    %m = async_pipeline.tma.descriptor %A : memref<?xf32> to !async_pipeline.tensor_map<128xf32>
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 64xf32>
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    // expected-error @below {{expected the box of 128 elements to fit behind element 0 of a tile of 64}}
    async_pipeline.tma.load %m[%i] to %t[%i], %b[%i]
        : !async_pipeline.tensor_map<128xf32> to !async_pipeline.buffer<4, 64xf32>, !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %j: index, %A: memref<?xf32>) kernel {
    %m = async_pipeline.tma.descriptor %A : memref<?xf32> to !async_pipeline.tensor_map<32xf32>
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 64xf32>
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    // expected-error @below {{expected the box of 32 elements to fit behind element 64 of a tile of 64}}
    async_pipeline.tma.load %m[%i] to %t[%i] at(64), %b[%i]
        : !async_pipeline.tensor_map<32xf32> to !async_pipeline.buffer<4, 64xf32>, !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %j: index, %A: memref<?xf32>) kernel {
    %m = async_pipeline.tma.descriptor %A : memref<?xf32> to !async_pipeline.tensor_map<16xf32>
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 64xf32>
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    // expected-error @below {{expected the box to start at a multiple of 128 bytes, got 64}}
    async_pipeline.tma.load %m[%i] to %t[%i] at(16), %b[%i]
        : !async_pipeline.tensor_map<16xf32> to !async_pipeline.buffer<4, 64xf32>, !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %j: index, %A: memref<?xf32>) kernel {
    %m = async_pipeline.tma.descriptor %A : memref<?xf32> to !async_pipeline.tensor_map<32xf32>
    // expected-note @below {{created here}}
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 64xf32>
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<4>
    %c = arith.constant 4 : i32
    // expected-error @below {{expected a stage from 0 to 3, got 4}}
    async_pipeline.tma.load %m[%i] to %t[%c], %b[%i]
        : !async_pipeline.tensor_map<32xf32> to !async_pipeline.buffer<4, 64xf32>, !async_pipeline.mbarrier<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %j: index, %A: memref<?xf32>) kernel {
    %m = async_pipeline.tma.descriptor %A : memref<?xf32> to !async_pipeline.tensor_map<32xf32>
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 64xf32>
    // expected-error @below {{'async_pipeline.tma.store' op expected 1 coordinates, got 2}}
    async_pipeline.tma.store %t[%i] to %m[%i, %i]
        : !async_pipeline.buffer<4, 64xf32> to !async_pipeline.tensor_map<32xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %j: index, %A: memref<?xf16>) kernel {
    %m = async_pipeline.tma.descriptor %A : memref<?xf16> to !async_pipeline.tensor_map<32xf16>
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 64xf32>
    // expected-error @below {{expected equal element types, got f32 and f16}}
    async_pipeline.tma.store %t[%i] to %m[%i]
        : !async_pipeline.buffer<4, 64xf32> to !async_pipeline.tensor_map<32xf16>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %j: index, %A: memref<?xf32>) kernel {
    %m = async_pipeline.tma.descriptor %A : memref<?xf32> to !async_pipeline.tensor_map<128xf32>
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 64xf32>
    // expected-error @below {{expected the box of 128 elements to fit behind element 0 of a tile of 64}}
    async_pipeline.tma.store %t[%i] to %m[%i]
        : !async_pipeline.buffer<4, 64xf32> to !async_pipeline.tensor_map<128xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %j: index, %A: memref<?xf32>) kernel {
    %m = async_pipeline.tma.descriptor %A : memref<?xf32> to !async_pipeline.tensor_map<32xf32>
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 64xf32>
    // expected-error @below {{expected the box of 32 elements to fit behind element 64 of a tile of 64}}
    async_pipeline.tma.store %t[%i] at(64) to %m[%i]
        : !async_pipeline.buffer<4, 64xf32> to !async_pipeline.tensor_map<32xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %j: index, %A: memref<?xf32>) kernel {
    %m = async_pipeline.tma.descriptor %A : memref<?xf32> to !async_pipeline.tensor_map<16xf32>
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 64xf32>
    // expected-error @below {{expected the box to start at a multiple of 128 bytes, got 64}}
    async_pipeline.tma.store %t[%i] at(16) to %m[%i]
        : !async_pipeline.buffer<4, 64xf32> to !async_pipeline.tensor_map<16xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %j: index, %A: memref<?xf32>) kernel {
    %m = async_pipeline.tma.descriptor %A : memref<?xf32> to !async_pipeline.tensor_map<32xf32>
    // expected-note @below {{created here}}
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<4, 64xf32>
    %c = arith.constant 4 : i32
    // expected-error @below {{expected a stage from 0 to 3, got 4}}
    async_pipeline.tma.store %t[%c] to %m[%i]
        : !async_pipeline.buffer<4, 64xf32> to !async_pipeline.tensor_map<32xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    async_pipeline.roles {
      // expected-note @below {{the role is here}}
      async_pipeline.role @a warps(1) {
        // expected-error @below {{expected to stand outside async_pipeline.role, where not every thread of the CTA comes}}
        async_pipeline.cta.barrier
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{'async_pipeline.named_barrier.sync' op expected id from 1 to 15, got 0}}
    async_pipeline.named_barrier.sync id(0) threads(64)
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{'async_pipeline.named_barrier.sync' op expected id from 1 to 15, got 16}}
    async_pipeline.named_barrier.sync id(16) threads(64)
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected threads to be a multiple of 32 from 32 to 1024, got 0}}
    async_pipeline.named_barrier.sync id(1) threads(0)
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected threads to be a multiple of 32 from 32 to 1024, got 48}}
    async_pipeline.named_barrier.sync id(1) threads(48)
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected threads to be a multiple of 32 from 32 to 1024, got 1056}}
    async_pipeline.named_barrier.sync id(1) threads(1056)
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected threads to be a multiple of 32 from 32 to 1024, got -32}}
    async_pipeline.named_barrier.sync id(1) threads(-32)
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{'async_pipeline.named_barrier.arrive' op expected id from 1 to 15, got 0}}
    async_pipeline.named_barrier.arrive id(0) threads(64)
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{'async_pipeline.named_barrier.arrive' op expected id from 1 to 15, got 16}}
    async_pipeline.named_barrier.arrive id(16) threads(64)
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected threads to be a multiple of 32 from 32 to 1024, got 0}}
    async_pipeline.named_barrier.arrive id(1) threads(0)
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected threads to be a multiple of 32 from 32 to 1024, got 48}}
    async_pipeline.named_barrier.arrive id(1) threads(48)
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected threads to be a multiple of 32 from 32 to 1024, got 1056}}
    async_pipeline.named_barrier.arrive id(1) threads(1056)
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected threads to be a multiple of 32 from 32 to 1024, got -32}}
    async_pipeline.named_barrier.arrive id(1) threads(-32)
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    async_pipeline.roles {
      // expected-note @below {{the role is here}}
      async_pipeline.role @a warps(1) elected {
        // expected-error @below {{expected to stand outside an elected role, which one lane runs}}
        async_pipeline.warp.sync
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    async_pipeline.roles {
      // expected-note @below {{the role is here}}
      async_pipeline.role @a warps(1) elected {
        // expected-error @below {{expected to stand outside an elected role, which one lane runs}}
        %l = async_pipeline.elect : i1
      }
    }
    gpu.return
  }
}
