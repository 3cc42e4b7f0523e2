// Tests that tiles of which no thread could have its part are refused, at the op and with the reason.

// RUN: pipeline-opt %s --split-input-file --verify-diagnostics --async-pipeline-distribute=target=sm_100a

// A tile that a loop carries, stored in the loop.

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf32>, %C: memref<?x?xf32>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    async_pipeline.roles {
      async_pipeline.role @compute warps(4) {
        %v = async_pipeline.work.load %A[%c0, %c0] : memref<?x?xf32> to vector<32x32xf32>
        // expected-error @below {{a tile on register values that a loop carries is not supported by the lowering of the tile level}}
        %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %v) -> (vector<32x32xf32>) {
          async_pipeline.work.store %x to %C[%c0, %c0] : vector<32x32xf32> to memref<?x?xf32>
          scf.yield %x : vector<32x32xf32>
        }
      }
    }
    gpu.return
  }
}

// -----

// A tile that a loop carries, stored behind it.

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf32>, %C: memref<?x?xf32>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    async_pipeline.roles {
      async_pipeline.role @compute warps(4) {
        %v = async_pipeline.work.load %A[%c0, %c0] : memref<?x?xf32> to vector<32x32xf32>
        // expected-error @below {{a tile on register values that a loop carries is not supported by the lowering of the tile level}}
        %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %v) -> (vector<32x32xf32>) {
          %y = arith.addf %x, %x : vector<32x32xf32>
          scf.yield %y : vector<32x32xf32>
        }
        async_pipeline.work.store %r to %C[%c0, %c0] : vector<32x32xf32> to memref<?x?xf32>
      }
    }
    gpu.return
  }
}

// -----

// A constant of unequal elements.

gpu.module @m {
  gpu.func @k(%C: memref<?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    async_pipeline.roles {
      async_pipeline.role @compute warps(4) {
        // expected-error @below {{'arith.constant' op of unequal elements is not supported by the lowering of the tile level}}
        %v = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : vector<4xf32>
        async_pipeline.work.store %v to %C[%c0] : vector<4xf32> to memref<?xf32>
      }
    }
    gpu.return
  }
}

// -----

// A sum along a dimension.

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf32>, %C: memref<?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    async_pipeline.roles {
      async_pipeline.role @compute warps(4) {
        %z = arith.constant dense<0.0> : vector<32xf32>
        %v = async_pipeline.work.load %A[%c0, %c0] : memref<?x?xf32> to vector<32x32xf32>
        // expected-error @below {{'vector.multi_reduction' op is not supported by the lowering of the tile level}}
        %r = vector.multi_reduction <add>, %v, %z [1] : vector<32x32xf32> to vector<32xf32>
        async_pipeline.work.store %r to %C[%c0] : vector<32xf32> to memref<?xf32>
      }
    }
    gpu.return
  }
}

// -----

// A load from a tensor that is stored to elsewhere.

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    async_pipeline.roles {
      async_pipeline.role @compute warps(4) {
        // expected-error @below {{a load from a tensor that the kernel stores to elsewhere is not supported by the lowering of the tile level}}
        %v = async_pipeline.work.load %A[%c0, %c0] : memref<?x?xf32> to vector<32x32xf32>
        // expected-note @below {{the store is here}}
        async_pipeline.work.store %v to %A[%c1, %c0] : vector<32x32xf32> to memref<?x?xf32>
      }
    }
    gpu.return
  }
}

// -----

// Dimensions that are joined.

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf32>, %C: memref<?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    async_pipeline.roles {
      async_pipeline.role @compute warps(4) {
        %v = async_pipeline.work.load %A[%c0, %c0] : memref<?x?xf32> to vector<32x32xf32>
        // expected-error @below {{'vector.shape_cast' op that joins or splits dimensions is not supported by the lowering}}
        %r = vector.shape_cast %v : vector<32x32xf32> to vector<1024xf32>
        async_pipeline.work.store %r to %C[%c0] : vector<1024xf32> to memref<?xf32>
      }
    }
    gpu.return
  }
}

// -----

// Tensor memory has 128 rows, which four warps reach.

gpu.module @m {
  gpu.func @k(%C: memref<?x?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    %w = async_pipeline.buffer.alloc "w" : !async_pipeline.buffer<1, 1xi32>
    async_pipeline.tcgen05.alloc %w[%zero] columns(64) : !async_pipeline.buffer<1, 1xi32>
    %sums = async_pipeline.tcgen05.address %w[%zero] : !async_pipeline.buffer<1, 1xi32> to !async_pipeline.tmem<64>
    async_pipeline.roles {
      async_pipeline.role @compute warps(8) {
        %f = async_pipeline.work.load %sums : !async_pipeline.tmem<64> to vector<128x64xf32>
        // expected-error @below {{expected a role of 4 warps to load from tensor memory, got one of 8}}
        async_pipeline.work.store %f to %C[%c0, %c0] : vector<128x64xf32> to memref<?x?xf32>
      }
    }
    gpu.return
  }
}

// -----

// A product that is too small for its warps.

gpu.module @m {
  gpu.func @k(%s: i32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = async_pipeline.buffer.alloc "a" : !async_pipeline.buffer<2, 16x16xf16, swizzle 32>
    %b = async_pipeline.buffer.alloc "b" : !async_pipeline.buffer<2, 32x16xf16, swizzle 32>
    async_pipeline.roles {
      async_pipeline.role @compute warps(4) {
        %sum = async_pipeline.tile.accumulator : !async_pipeline.accumulator<16x32xf32>
        // expected-error @below {{a product of 16x32 cannot be shared by 4 warps, each of which takes at least 16 rows and 16 columns}}
        async_pipeline.mma.sync %sum += %a[%s] * transpose %b[%s]
            : !async_pipeline.accumulator<16x32xf32>, !async_pipeline.buffer<2, 16x16xf16, swizzle 32>, !async_pipeline.buffer<2, 32x16xf16, swizzle 32>
      }
    }
    gpu.return
  }
}

// -----

// Work outside roles.

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<32x32xf32>
    // expected-error @below {{'async_pipeline.work.store' op is not supported outside roles; run async-pipeline-partition first}}
    async_pipeline.work.store %v to %A[%c0, %c0] : vector<32x32xf32> to memref<?x?xf32>
    gpu.return
  }
}
