// Tests that a kernel of the tile level is held to what later passes can handle, and that right kernels
// of every level pass.

// RUN: pipeline-opt %s --split-input-file --verify-diagnostics --async-pipeline-verify-tiles

gpu.module @m {
  gpu.func @row_softmax(%X: memref<?x?xf32>, %Y: memref<?x?xf32>, %p: i1) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %low = arith.constant 0xFF800000 : f32
    %lows = arith.constant dense<0xFF800000> : vector<16xf32>
    %zeros = arith.constant dense<0.0> : vector<16xf32>
    %n = memref.dim %X, %c1 : memref<?x?xf32>
    %x = gpu.block_id x
    %i = arith.muli %x, %c16 : index
    %v = async_pipeline.work.load %X[%i, %c0] fill(%low : f32) : memref<?x?xf32> to vector<16x256xf32>
    %max = vector.multi_reduction <maximumf>, %v, %lows [1] : vector<16x256xf32> to vector<16xf32>
    %column = vector.shape_cast %max : vector<16xf32> to vector<16x1xf32>
    %wide = vector.broadcast %column : vector<16x1xf32> to vector<16x256xf32>
    %d = arith.subf %v, %wide : vector<16x256xf32>
    %e = math.exp %d : vector<16x256xf32>
    %step = vector.step : vector<256xindex>
    %scale = memref.load %X[%c0, %c0] : memref<?x?xf32>
    scf.if %p {
      async_pipeline.work.store %e to %Y[%i, %c0] : vector<16x256xf32> to memref<?x?xf32>
    }
    gpu.return
  }
  gpu.func @barriers() kernel {
    %t = gpu.thread_id x
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<1>
    %v = arith.constant dense<0.0> : vector<3x5x7xf64>
    gpu.return
  }
  gpu.func @slots() kernel {
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<16x32xf16, 8x32xf16>
    async_pipeline.roles {
      async_pipeline.role @use warps(4) {
        %acc = async_pipeline.tile.accumulator : !async_pipeline.accumulator<16x8xf32>
        %s = async_pipeline.channel.wait %in : !async_pipeline.channel<16x32xf16, 8x32xf16>
        async_pipeline.work.mma %acc += %s * transpose %s field(1)
            : !async_pipeline.accumulator<16x8xf32>, !async_pipeline.slot<16x32xf16, 8x32xf16>, !async_pipeline.slot<16x32xf16, 8x32xf16>
        async_pipeline.channel.release %s : !async_pipeline.slot<16x32xf16, 8x32xf16>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{expected a gpu.func with tile-level ops to be a `kernel`}}
  gpu.func @k() {
    // expected-note @below {{a tile-level op is here}}
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<4xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{'async_pipeline.tile.alloc' op of the tile level is not supported in a kernel with roles}}
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<4xf32>
    // expected-note @below {{the roles are here}}
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
    // expected-note @below {{a tile-level op is here}}
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<4xf32>
    // expected-error @below {{'async_pipeline.mbarrier.alloc' op of a lower level is not supported beside tile-level ops}}
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<1>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<4xf32>
    // expected-error @below {{'gpu.thread_id' op is not supported at the tile level, where one thread owns whole tiles}}
    %t = gpu.thread_id x
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%p: i1) kernel {
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<4xf32>
    // expected-error @below {{'scf.while' op is not supported at the tile level}}
    scf.while : () -> () {
      // expected-error @below {{'scf.condition' op is not supported at the tile level}}
      scf.condition(%p)
    } do {
      scf.yield
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<4xf32>
    // expected-error @below {{'cf.br' op is not supported at the tile level}}
    cf.br ^next
    ^next:
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %i: index, %v: f32) kernel {
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<4xf32>
    // expected-error @below {{'memref.store' op is not supported at the tile level}}
    memref.store %v, %A[%i] : memref<?xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%v: vector<4xf32>) kernel {
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<4xf32>
    // expected-error @below {{'math.atan' op is not supported at the tile level}}
    %x = math.atan %v : vector<4xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%v: vector<4xf8E5M2>) kernel {
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<4xf32>
    %wide = arith.extf %v : vector<4xf8E5M2> to vector<4xf16>
    // expected-error @below {{'arith.addf' op is not supported on elements of f8E5M2}}
    %x = arith.addf %v, %v : vector<4xf8E5M2>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<4xf32>
    // expected-error @below {{'arith.constant' op expected vectors of rank 1 or 2, got vector<2x2x2xf32>}}
    %x = arith.constant dense<0.0> : vector<2x2x2xf32>
    // expected-error @below {{'arith.constant' op expected extents of vectors to be powers of two, got vector<96xf32>}}
    %y = arith.constant dense<0.0> : vector<96xf32>
    // expected-error @below {{'arith.constant' op expected vectors of at most 65536 elements, got vector<512x256xf32>}}
    %z = arith.constant dense<0.0> : vector<512x256xf32>
    // expected-error @below {{'arith.constant' op expected vectors of i1, i8, i16, i32, i64, index, f16, bf16, f32, f8E4M3FN or f8E5M2, got vector<4xf64>}}
    %u = arith.constant dense<0.0> : vector<4xf64>
    // expected-error @below {{'arith.constant' op expected integers of 1, 8, 16, 32 or 64 bits, got vector<4xi4>}}
    %w = arith.constant dense<0> : vector<4xi4>
    // expected-error @below {{'arith.constant' op expected integers of 1, 8, 16, 32 or 64 bits, got i24}}
    %s = arith.constant 0 : i24
    // A double is fine where it is one.
    %d = arith.constant 0.0 : f64
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>, %i: index) kernel {
    // expected-error @below {{'memref.cast' op is not supported at the tile level}}
    // expected-note @below {{it is made here}}
    %B = memref.cast %A : memref<?xf32> to memref<4xf32>
    // expected-error @below {{'async_pipeline.work.load' op expected a memref that is an argument of the kernel}}
    %x = async_pipeline.work.load %B[%i] : memref<4xf32> to vector<4xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%p: i1) kernel {
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<4xf32>
    // expected-error @below {{'arith.select' op expected storage to be used by tile-level ops only, got !async_pipeline.buffer<4xf32> here}}
    %b = arith.select %p, %a, %a : !async_pipeline.buffer<4xf32>
    gpu.return
  }
}
