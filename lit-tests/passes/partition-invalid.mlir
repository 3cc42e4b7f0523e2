// Tests that kernels of the tile level which cannot be split into roles are refused, at the op and with the
// reason, on targets with and without tensor memory.

// RUN: pipeline-opt %s --split-input-file --verify-diagnostics --async-pipeline-partition=target=sm_80
// RUN: pipeline-opt %s --split-input-file --verify-diagnostics --async-pipeline-partition=target=sm_100a

// Windows are views that no copy engine knows.

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    // expected-error @below {{'async_pipeline.tile.window' op is not supported by the lowering of the tile level}}
    %w = async_pipeline.tile.window %A[%c0, %c0] sizes [%n, %n] : memref<?x?xf16> to !async_pipeline.window<?x?xf16>
    %a = async_pipeline.tile.alloc "a" : !async_pipeline.buffer<128x64xf16>
    async_pipeline.work.copy %w[%c0, %c0] to %a : !async_pipeline.window<?x?xf16> to !async_pipeline.buffer<128x64xf16>
    gpu.return
  }
}

// -----

// A buffer that threads read.

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) kernel {
    %c0 = arith.constant 0 : index
    // expected-note @below {{the buffer is made here}}
    %a = async_pipeline.tile.alloc "a" : !async_pipeline.buffer<128x64xf16>
    async_pipeline.work.copy %A[%c0, %c0] to %a : memref<?x?xf16> to !async_pipeline.buffer<128x64xf16>
    // expected-error @below {{'async_pipeline.work.load' op on a buffer is not supported by the lowering of the tile level, which fills buffers by copies and reads them in products; load from and store to global memory instead}}
    %v = async_pipeline.work.load %a : !async_pipeline.buffer<128x64xf16> to vector<128x64xf16>
    gpu.return
  }
}

// -----

// A buffer that threads write.

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<128x64xf16>
    // expected-note @below {{the buffer is made here}}
    %a = async_pipeline.tile.alloc "a" : !async_pipeline.buffer<128x64xf16>
    // expected-error @below {{'async_pipeline.work.store' op on a buffer is not supported}}
    async_pipeline.work.store %v to %a : vector<128x64xf16> to !async_pipeline.buffer<128x64xf16>
    gpu.return
  }
}

// -----

// A buffer that is copied out of.

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) kernel {
    %c0 = arith.constant 0 : index
    // expected-note @below {{the buffer is made here}}
    %a = async_pipeline.tile.alloc "a" : !async_pipeline.buffer<128x64xf16>
    async_pipeline.work.copy %A[%c0, %c0] to %a : memref<?x?xf16> to !async_pipeline.buffer<128x64xf16>
    // expected-error @below {{a copy out of a buffer is not supported}}
    async_pipeline.work.copy %a to %B[%c0, %c0] : !async_pipeline.buffer<128x64xf16> to memref<?x?xf16>
    gpu.return
  }
}

// -----

// A buffer that two copies fill.

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) kernel {
    %c0 = arith.constant 0 : index
    // expected-error @below {{expected a buffer that one copy fills}}
    %a = async_pipeline.tile.alloc "a" : !async_pipeline.buffer<128x64xf16>
    %b = async_pipeline.tile.alloc "b" : !async_pipeline.buffer<64x64xf16>
    %sum = async_pipeline.tile.accumulator : !async_pipeline.accumulator<128x64xf32>
    async_pipeline.work.copy %A[%c0, %c0] to %a : memref<?x?xf16> to !async_pipeline.buffer<128x64xf16>
    // expected-note @below {{a second one is here}}
    async_pipeline.work.copy %A[%c0, %c0] to %a : memref<?x?xf16> to !async_pipeline.buffer<128x64xf16>
    async_pipeline.work.copy %B[%c0, %c0] to %b : memref<?x?xf16> to !async_pipeline.buffer<64x64xf16>
    async_pipeline.work.mma %sum += %a * transpose %b
        : !async_pipeline.accumulator<128x64xf32>, !async_pipeline.buffer<128x64xf16>, !async_pipeline.buffer<64x64xf16>
    %f = async_pipeline.work.load %sum : !async_pipeline.accumulator<128x64xf32> to vector<128x64xf32>
    async_pipeline.work.store %f to %C[%c0, %c0] : vector<128x64xf32> to memref<?x?xf32>
    gpu.return
  }
}

// -----

// A buffer that nothing fills.

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) kernel {
    %c0 = arith.constant 0 : index
    // expected-error @below {{expected a buffer that a copy fills, got none}}
    %a = async_pipeline.tile.alloc "a" : !async_pipeline.buffer<128x64xf16>
    %b = async_pipeline.tile.alloc "b" : !async_pipeline.buffer<64x64xf16>
    %sum = async_pipeline.tile.accumulator : !async_pipeline.accumulator<128x64xf32>
    async_pipeline.work.copy %B[%c0, %c0] to %b : memref<?x?xf16> to !async_pipeline.buffer<64x64xf16>
    async_pipeline.work.mma %sum += %a * transpose %b
        : !async_pipeline.accumulator<128x64xf32>, !async_pipeline.buffer<128x64xf16>, !async_pipeline.buffer<64x64xf16>
    %f = async_pipeline.work.load %sum : !async_pipeline.accumulator<128x64xf32> to vector<128x64xf32>
    async_pipeline.work.store %f to %C[%c0, %c0] : vector<128x64xf32> to memref<?x?xf32>
    gpu.return
  }
}

// -----

// A buffer that nothing reads.

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) kernel {
    %c0 = arith.constant 0 : index
    // expected-error @below {{expected a buffer that a product reads, got none}}
    %a = async_pipeline.tile.alloc "a" : !async_pipeline.buffer<128x64xf16>
    async_pipeline.work.copy %A[%c0, %c0] to %a : memref<?x?xf16> to !async_pipeline.buffer<128x64xf16>
    gpu.return
  }
}

// -----

// A product in front of the copy of its operand.

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %a = async_pipeline.tile.alloc "a" : !async_pipeline.buffer<128x64xf16>
    %b = async_pipeline.tile.alloc "b" : !async_pipeline.buffer<64x64xf16>
    %sum = async_pipeline.tile.accumulator : !async_pipeline.accumulator<128x64xf32>
    async_pipeline.work.copy %A[%c0, %c0] to %a : memref<?x?xf16> to !async_pipeline.buffer<128x64xf16>
    // expected-error @below {{expected a product behind the copy that fills its operand, in the same loop}}
    async_pipeline.work.mma %sum += %a * transpose %b
        : !async_pipeline.accumulator<128x64xf32>, !async_pipeline.buffer<128x64xf16>, !async_pipeline.buffer<64x64xf16>
    // expected-note @below {{the copy is here}}
    async_pipeline.work.copy %B[%c0, %c0] to %b : memref<?x?xf16> to !async_pipeline.buffer<64x64xf16>
    %f = async_pipeline.work.load %sum : !async_pipeline.accumulator<128x64xf32> to vector<128x64xf32>
    async_pipeline.work.store %f to %C[%c0, %c0] : vector<128x64xf32> to memref<?x?xf32>
    gpu.return
  }
}

// -----

// A product behind the loop that fills its operands.

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %a = async_pipeline.tile.alloc "a" : !async_pipeline.buffer<128x64xf16>
    %b = async_pipeline.tile.alloc "b" : !async_pipeline.buffer<64x64xf16>
    %sum = async_pipeline.tile.accumulator : !async_pipeline.accumulator<128x64xf32>
    scf.for %k = %c0 to %n step %c64 {
      async_pipeline.work.copy %A[%c0, %c0] to %a : memref<?x?xf16> to !async_pipeline.buffer<128x64xf16>
      // expected-note @below {{the copy is here}}
      async_pipeline.work.copy %B[%c0, %c0] to %b : memref<?x?xf16> to !async_pipeline.buffer<64x64xf16>
    }
    // expected-error @below {{expected a product behind the copy that fills its operand, in the same loop}}
    async_pipeline.work.mma %sum += %a * transpose %b
        : !async_pipeline.accumulator<128x64xf32>, !async_pipeline.buffer<128x64xf16>, !async_pipeline.buffer<64x64xf16>
    %f = async_pipeline.work.load %sum : !async_pipeline.accumulator<128x64xf32> to vector<128x64xf32>
    async_pipeline.work.store %f to %C[%c0, %c0] : vector<128x64xf32> to memref<?x?xf32>
    gpu.return
  }
}

// -----

// A copy of a plane of a tensor of three dimensions.

gpu.module @m {
  gpu.func @k(%A: memref<?x?x?xf16>) kernel {
    %c0 = arith.constant 0 : index
    %a = async_pipeline.tile.alloc "a" : !async_pipeline.buffer<128x64xf16>
    // expected-error @below {{a copy from a tensor of more dimensions than the tile is not supported by the lowering of the tile level, got memref<?x?x?xf16>}}
    async_pipeline.work.copy %A[%c0, %c0, %c0] to %a : memref<?x?x?xf16> to !async_pipeline.buffer<128x64xf16>
    gpu.return
  }
}

// -----

// An A that lies in registers.

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<128x64xf16>
    %b = async_pipeline.tile.alloc "b" : !async_pipeline.buffer<64x64xf16>
    %sum = async_pipeline.tile.accumulator : !async_pipeline.accumulator<128x64xf32>
    async_pipeline.work.copy %B[%c0, %c0] to %b : memref<?x?xf16> to !async_pipeline.buffer<64x64xf16>
    // expected-error @below {{an A in registers is not supported by the lowering of the tile level}}
    async_pipeline.work.mma %sum += %v * transpose %b
        : !async_pipeline.accumulator<128x64xf32>, vector<128x64xf16>, !async_pipeline.buffer<64x64xf16>
    %f = async_pipeline.work.load %sum : !async_pipeline.accumulator<128x64xf32> to vector<128x64xf32>
    async_pipeline.work.store %f to %C[%c0, %c0] : vector<128x64xf32> to memref<?x?xf32>
    gpu.return
  }
}

// -----

// A sum that is stored to.

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<128x64xf32>
    %sum = async_pipeline.tile.accumulator : !async_pipeline.accumulator<128x64xf32>
    // expected-error @below {{'async_pipeline.work.store' op on an accumulator is not supported by the lowering of the tile level}}
    async_pipeline.work.store %v to %sum : vector<128x64xf32> to !async_pipeline.accumulator<128x64xf32>
    gpu.return
  }
}

// -----

// Slots of which not even one fits in shared memory.

gpu.module @m {
  // expected-error @below {{shared memory: one slot of 393232 bytes exceeds what is left of the}}
  gpu.func @k(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<?x?xf32>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c512 = arith.constant 512 : index
    %a = async_pipeline.tile.alloc "a" : !async_pipeline.buffer<128x512xf32>
    %b = async_pipeline.tile.alloc "b" : !async_pipeline.buffer<64x512xf32>
    %sum = async_pipeline.tile.accumulator : !async_pipeline.accumulator<128x64xf32>
    scf.for %k = %c0 to %n step %c512 {
      async_pipeline.work.copy %A[%c0, %k] to %a : memref<?x?xf32> to !async_pipeline.buffer<128x512xf32>
      async_pipeline.work.copy %B[%c0, %k] to %b : memref<?x?xf32> to !async_pipeline.buffer<64x512xf32>
      async_pipeline.work.mma %sum += %a * transpose %b
          : !async_pipeline.accumulator<128x64xf32>, !async_pipeline.buffer<128x512xf32>, !async_pipeline.buffer<64x512xf32>
    }
    %f = async_pipeline.work.load %sum : !async_pipeline.accumulator<128x64xf32> to vector<128x64xf32>
    async_pipeline.work.store %f to %C[%c0, %c0] : vector<128x64xf32> to memref<?x?xf32>
    gpu.return
  }
}

// -----

// Fewer slots than asked for are a remark.

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<?x?xf32>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c128 = arith.constant 128 : index
    %a = async_pipeline.tile.alloc "a" : !async_pipeline.buffer<128x128xf32>
    %b = async_pipeline.tile.alloc "b" : !async_pipeline.buffer<64x128xf32>
    %sum = async_pipeline.tile.accumulator : !async_pipeline.accumulator<128x64xf32>
    // expected-remark @below {{of 4 stages fit in the}}
    scf.for %k = %c0 to %n step %c128 {
      async_pipeline.work.copy %A[%c0, %k] to %a : memref<?x?xf32> to !async_pipeline.buffer<128x128xf32>
      async_pipeline.work.copy %B[%c0, %k] to %b : memref<?x?xf32> to !async_pipeline.buffer<64x128xf32>
      async_pipeline.work.mma %sum += %a * transpose %b
          : !async_pipeline.accumulator<128x64xf32>, !async_pipeline.buffer<128x128xf32>, !async_pipeline.buffer<64x128xf32>
    }
    %f = async_pipeline.work.load %sum : !async_pipeline.accumulator<128x64xf32> to vector<128x64xf32>
    async_pipeline.work.store %f to %C[%c0, %c0] : vector<128x64xf32> to memref<?x?xf32>
    gpu.return
  }
}
