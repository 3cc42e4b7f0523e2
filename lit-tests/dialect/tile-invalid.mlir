// Tests that every rule of the tile level's ops, types and attributes has its message and place.

// RUN: pipeline-opt %s --split-input-file --verify-diagnostics

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    // expected-error @below {{expected 1 to 1024 stages, got 0}}
    %x = async_pipeline.tile.alloc : !async_pipeline.buffer<0, 4xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    // expected-error @below {{expected a tile of rank 1 to 5, got rank 6}}
    %x = async_pipeline.tile.alloc : !async_pipeline.buffer<1x1x1x1x1x4xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    // expected-error @below {{expected tile extents of at least 1, got 0}}
    %x = async_pipeline.tile.alloc : !async_pipeline.buffer<0x4xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    // expected-error @below {{expected an accumulator of rank 2, got rank 1}}
    %x = async_pipeline.tile.accumulator : !async_pipeline.accumulator<16xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    // expected-error @below {{expected an accumulator of f32, got 'f16'}}
    %x = async_pipeline.tile.accumulator : !async_pipeline.accumulator<16x8xf16>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    // expected-error @below {{expected `?` for every extent of a window}}
    %x = async_pipeline.tile.window %A[%i, %i] sizes [%i, %i] : memref<?x?xf16> to !async_pipeline.window<4x?xf16>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    // expected-error @below {{expected a window of rank 1 to 5, got rank 0}}
    %x = async_pipeline.tile.window %A[%i, %i] sizes [%i, %i] : memref<?x?xf16> to !async_pipeline.window<f16>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    // expected-error @below {{expected an integer or float element type, got 'index'}}
    %x = async_pipeline.tile.window %A[%i, %i] sizes [%i, %i] : memref<?x?xf16> to !async_pipeline.window<?xindex>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    // expected-error @below {{expected a buffer without stages, got !async_pipeline.buffer<4, 4xf32>}}
    %x = async_pipeline.tile.alloc : !async_pipeline.buffer<4, 4xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    // expected-error @below {{expected a type with stages, got !async_pipeline.buffer<4xf32>}}
    %x = async_pipeline.buffer.alloc "x" : !async_pipeline.buffer<4xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    // expected-error @below {{expected a name of letters, digits, `_`, `-` and `.`}}
    %x = async_pipeline.tile.alloc "x y" : !async_pipeline.buffer<4xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    %c1 = arith.constant 1 : index
    // expected-error @below {{expected its accumulator to be used by work.mma, work.load and work.store only, got scf.for}}
    %acc = async_pipeline.tile.accumulator : !async_pipeline.accumulator<16x8xf32>
    // expected-note @below {{used here}}
    %r = scf.for %j = %i to %i step %c1 iter_args(%x = %acc) -> (!async_pipeline.accumulator<16x8xf32>) {
      scf.yield %x : !async_pipeline.accumulator<16x8xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    // expected-error @below {{expected a memref in global memory or a window, got index}}
    %x = async_pipeline.tile.window %i[%i] sizes [%i] : index to !async_pipeline.window<?xf16>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    // expected-error @below {{expected 2 indices for memref<?x?xf16>, got 1}}
    %x = async_pipeline.tile.window %A[%i] sizes [%i, %i] : memref<?x?xf16> to !async_pipeline.window<?x?xf16>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    // expected-error @below {{expected 2 sizes for memref<?x?xf16>, got 1}}
    %x = async_pipeline.tile.window %A[%i, %i] sizes [%i] : memref<?x?xf16> to !async_pipeline.window<?x?xf16>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    // expected-error @below {{expected a window of rank 2 and element type f16, got !async_pipeline.window<?x?xf32>}}
    %x = async_pipeline.tile.window %A[%i, %i] sizes [%i, %i] : memref<?x?xf16> to !async_pipeline.window<?x?xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16, strided<[?, 2]>>, %i: index) kernel {
    // expected-error @below {{expected an innermost stride of 1, got memref<?x?xf16, strided<[?, 2]>>}}
    %x = async_pipeline.tile.window %A[%i, %i] sizes [%i, %i] : memref<?x?xf16, strided<[?, 2]>> to !async_pipeline.window<?x?xf16>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<16x32xf16>
    // expected-error @below {{expected a memref on one side and a slot or buffer on the other, got !async_pipeline.buffer<16x32xf16> and !async_pipeline.buffer<16x32xf16>}}
    async_pipeline.work.copy %a to %a : !async_pipeline.buffer<16x32xf16> to !async_pipeline.buffer<16x32xf16>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<16x32xf16>
    // expected-error @below {{expected no index on the buffer}}
    async_pipeline.work.copy %A[%i, %i] to %a[%i] : memref<?x?xf16> to !async_pipeline.buffer<16x32xf16>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<16x32xf16>
    // expected-error @below {{expected no field on a buffer, got 1}}
    async_pipeline.work.copy %A[%i, %i] to %a field(1) : memref<?x?xf16> to !async_pipeline.buffer<16x32xf16>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<16x32xf16>
    // expected-error @below {{expected 2 indices for memref<?x?xf16>, got 1}}
    async_pipeline.work.copy %A[%i] to %a : memref<?x?xf16> to !async_pipeline.buffer<16x32xf16>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<16x32xf16>
    // expected-error @below {{expected element type f16, got f32 in memref<?x?xf32>}}
    async_pipeline.work.copy %C[%i, %i] to %a : memref<?x?xf32> to !async_pipeline.buffer<16x32xf16>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%V: memref<?xf16>, %i: index) kernel {
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<16x32xf16>
    // expected-error @below {{expected a tensor of rank 2 or more for a tile of rank 2, got memref<?xf16>}}
    async_pipeline.work.copy %V[%i] to %a : memref<?xf16> to !async_pipeline.buffer<16x32xf16>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %i: index, %a: !async_pipeline.buffer<16x32xf16>) kernel {
    // expected-error @below {{expected !async_pipeline.buffer<16x32xf16> to come from tile.alloc, got an argument}}
    async_pipeline.work.copy %A[%i, %i] to %a : memref<?x?xf16> to !async_pipeline.buffer<16x32xf16>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    // expected-note @below {{made here}}
    %a = async_pipeline.buffer.alloc "a" : !async_pipeline.buffer<4, 16x32xf16>
    // expected-error @below {{expected !async_pipeline.buffer<4, 16x32xf16> to come from tile.alloc, got one from async_pipeline.buffer.alloc}}
    async_pipeline.work.copy %A[%i, %i] to %a : memref<?x?xf16> to !async_pipeline.buffer<4, 16x32xf16>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<16x32xf16>
    %b = async_pipeline.tile.alloc : !async_pipeline.buffer<32x8xf16>
    %acc = async_pipeline.tile.accumulator : !async_pipeline.accumulator<16x8xf32>
    // expected-error @below {{expected shapes MxN += MxK * KxN, got 16x8 += 16x32 * 8x32}}
    async_pipeline.work.mma %acc += %a * transpose %b : !async_pipeline.accumulator<16x8xf32>, !async_pipeline.buffer<16x32xf16>, !async_pipeline.buffer<32x8xf16>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<16x32xf16>
    %b = async_pipeline.tile.alloc : !async_pipeline.buffer<32x8xf16>
    %acc = async_pipeline.tile.accumulator : !async_pipeline.accumulator<16x8xf32>
    // expected-error @below {{expected shapes MxN += MxK * KxN, got 16x8 += 32x16 * 32x8}}
    async_pipeline.work.mma %acc += transpose %a * %b : !async_pipeline.accumulator<16x8xf32>, !async_pipeline.buffer<16x32xf16>, !async_pipeline.buffer<32x8xf16>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    %b = async_pipeline.tile.alloc : !async_pipeline.buffer<32x8xf16>
    %acc = async_pipeline.tile.accumulator : !async_pipeline.accumulator<16x8xf32>
    // expected-error @below {{expected a buffer, a slot or, for A, a vector; got memref<?x?xf16>}}
    async_pipeline.work.mma %acc += %A * %b : !async_pipeline.accumulator<16x8xf32>, memref<?x?xf16>, !async_pipeline.buffer<32x8xf16>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<16x32xf16>
    %acc = async_pipeline.tile.accumulator : !async_pipeline.accumulator<16x8xf32>
    %v = arith.constant dense<0.0> : vector<32x8xf16>
    // expected-error @below {{expected B to be a buffer or slot, got vector<32x8xf16>}}
    async_pipeline.work.mma %acc += %a * %v : !async_pipeline.accumulator<16x8xf32>, !async_pipeline.buffer<16x32xf16>, vector<32x8xf16>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    %b = async_pipeline.tile.alloc : !async_pipeline.buffer<32x8xf16>
    %acc = async_pipeline.tile.accumulator : !async_pipeline.accumulator<16x8xf32>
    %v = arith.constant dense<0.0> : vector<32x16xf16>
    // expected-error @below {{expected no transpose on an A that is a vector}}
    async_pipeline.work.mma %acc += transpose %v * %b : !async_pipeline.accumulator<16x8xf32>, vector<32x16xf16>, !async_pipeline.buffer<32x8xf16>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    %b = async_pipeline.tile.alloc : !async_pipeline.buffer<32x8xf16>
    %acc = async_pipeline.tile.accumulator : !async_pipeline.accumulator<16x8xf32>
    %v = arith.constant dense<0.0> : vector<32xf16>
    // expected-error @below {{expected A of rank 2, got rank 1}}
    async_pipeline.work.mma %acc += %v * %b : !async_pipeline.accumulator<16x8xf32>, vector<32xf16>, !async_pipeline.buffer<32x8xf16>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    %b = async_pipeline.tile.alloc : !async_pipeline.buffer<32x8xf16>
    %acc = async_pipeline.tile.accumulator : !async_pipeline.accumulator<16x8xf32>
    %v = arith.constant dense<0.0> : vector<16x32xf16>
    // expected-error @below {{expected no field on a vector, got 1}}
    async_pipeline.work.mma %acc += %v field(1) * %b : !async_pipeline.accumulator<16x8xf32>, vector<16x32xf16>, !async_pipeline.buffer<32x8xf16>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<16x32xf16>
    %b = async_pipeline.tile.alloc : !async_pipeline.buffer<32x8xf16>
    %acc = async_pipeline.tile.accumulator : !async_pipeline.accumulator<16x8xf32>
    // expected-error @below {{expected no field on a buffer, got 2}}
    async_pipeline.work.mma %acc += %a * %b field(2) : !async_pipeline.accumulator<16x8xf32>, !async_pipeline.buffer<16x32xf16>, !async_pipeline.buffer<32x8xf16>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<16x32xf16>
    %b = async_pipeline.tile.alloc : !async_pipeline.buffer<32x8xbf16>
    %acc = async_pipeline.tile.accumulator : !async_pipeline.accumulator<16x8xf32>
    // expected-error @below {{expected equal element types, or two of 8 bits, got f16 and bf16}}
    async_pipeline.work.mma %acc += %a * %b : !async_pipeline.accumulator<16x8xf32>, !async_pipeline.buffer<16x32xf16>, !async_pipeline.buffer<32x8xbf16>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<16x32xi8>
    %b = async_pipeline.tile.alloc : !async_pipeline.buffer<32x8xi8>
    %acc = async_pipeline.tile.accumulator : !async_pipeline.accumulator<16x8xf32>
    // expected-error @below {{expected elements of f16, bf16, f32, f8E4M3FN or f8E5M2, got i8}}
    async_pipeline.work.mma %acc += %a * %b : !async_pipeline.accumulator<16x8xf32>, !async_pipeline.buffer<16x32xi8>, !async_pipeline.buffer<32x8xi8>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%acc: !async_pipeline.accumulator<16x8xf32>) kernel {
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<16x32xf16>
    %b = async_pipeline.tile.alloc : !async_pipeline.buffer<32x8xf16>
    // expected-error @below {{expected !async_pipeline.accumulator<16x8xf32> to come from tile.accumulator, got an argument}}
    async_pipeline.work.mma %acc += %a * %b : !async_pipeline.accumulator<16x8xf32>, !async_pipeline.buffer<16x32xf16>, !async_pipeline.buffer<32x8xf16>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    %acc = async_pipeline.tile.accumulator : !async_pipeline.accumulator<16x8xf32>
    // expected-error @below {{expected a vector of 16x8 elements of f32, got vector<8x16xf32>}}
    %x = async_pipeline.work.load %acc : !async_pipeline.accumulator<16x8xf32> to vector<8x16xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<16x32xf16>
    // expected-error @below {{expected a vector of 16x32 elements of f16, got vector<16x32xf32>}}
    %x = async_pipeline.work.load %a : !async_pipeline.buffer<16x32xf16> to vector<16x32xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    %acc = async_pipeline.tile.accumulator : !async_pipeline.accumulator<16x8xf32>
    // expected-error @below {{expected no index on an accumulator}}
    %x = async_pipeline.work.load %acc[%i] : !async_pipeline.accumulator<16x8xf32> to vector<16x8xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    %acc = async_pipeline.tile.accumulator : !async_pipeline.accumulator<16x8xf32>
    // expected-error @below {{expected no field on an accumulator, got 1}}
    %x = async_pipeline.work.load %acc field(1) : !async_pipeline.accumulator<16x8xf32> to vector<16x8xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    // expected-error @below {{expected no field on global memory, got 1}}
    %x = async_pipeline.work.load %C[%i, %i] field(1) : memref<?x?xf32> to vector<8xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    %acc = async_pipeline.tile.accumulator : !async_pipeline.accumulator<16x8xf32>
    %z = arith.constant 0.0 : f32
    // expected-error @below {{expected `fill` on a load from global memory only, where there are bounds}}
    %x = async_pipeline.work.load %acc fill(%z : f32) : !async_pipeline.accumulator<16x8xf32> to vector<16x8xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    %z = arith.constant 0.0 : f16
    // expected-error @below {{expected a fill value of type f32, got f16}}
    %x = async_pipeline.work.load %C[%i, %i] fill(%z : f16) : memref<?x?xf32> to vector<8xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    // expected-error @below {{expected element type f16, got f32 in memref<?x?xf32>}}
    %x = async_pipeline.work.load %C[%i, %i] : memref<?x?xf32> to vector<8xf16>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    // expected-error @below {{expected a tensor of rank 3 or more for a tile of rank 3, got memref<?x?xf32>}}
    %x = async_pipeline.work.load %C[%i, %i] : memref<?x?xf32> to vector<2x2x8xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    // expected-error @below {{expected a vector of fixed length, got vector<[4]xf32>}}
    %x = async_pipeline.work.load %C[%i, %i] : memref<?x?xf32> to vector<[4]xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    %t = memref.alloc() : memref<8x8xf32, #gpu.address_space<workgroup>>
    // expected-error @below {{expected a memref in global memory or a window, got memref<8x8xf32, #gpu.address_space<workgroup>>}}
    %x = async_pipeline.work.load %t[%i, %i] : memref<8x8xf32, #gpu.address_space<workgroup>> to vector<8xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    %a = async_pipeline.tile.alloc : !async_pipeline.buffer<16x32xf16>
    %v = arith.constant dense<0.0> : vector<16x8xf32>
    // expected-error @below {{expected a vector of 16x32 elements of f16, got vector<16x8xf32>}}
    async_pipeline.work.store %v to %a : vector<16x8xf32> to !async_pipeline.buffer<16x32xf16>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    %acc = async_pipeline.tile.accumulator : !async_pipeline.accumulator<16x8xf32>
    %v = arith.constant dense<0.0> : vector<16x8xf32>
    // expected-error @below {{expected `reduce add` on a store to global memory only}}
    async_pipeline.work.store %v to %acc reduce add : vector<16x8xf32> to !async_pipeline.accumulator<16x8xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%X: memref<?xi8>, %i: index) kernel {
    %v = arith.constant dense<0> : vector<8xi8>
    // expected-error @below {{expected `reduce add` of f16, bf16, f32, i32 or i64, got i8}}
    async_pipeline.work.store %v to %X[%i] reduce add : vector<8xi8> to memref<?xi8>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %C: memref<?x?xf32>, %i: index) kernel {
    %v = arith.constant dense<0.0> : vector<16x8xf32>
    // expected-error @below {{expected 2 indices for memref<?x?xf32>, got 1}}
    async_pipeline.work.store %v to %C[%i] : vector<16x8xf32> to memref<?x?xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    %v = arith.constant dense<0.0> : vector<16x32xf16>
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<16x32xf16>
    async_pipeline.roles {
      async_pipeline.role @all warps(4) {
        // expected-note @below {{made here}}
        %s = async_pipeline.channel.wait %in : !async_pipeline.channel<16x32xf16>
        // expected-error @below {{expected a slot made by channel.acquire to write, got one made by async_pipeline.channel.wait}}
        async_pipeline.work.store %v to %s : vector<16x32xf16> to !async_pipeline.slot<16x32xf16>
        async_pipeline.channel.release %s : !async_pipeline.slot<16x32xf16>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    %v = arith.constant dense<0.0> : vector<16x32xf16>
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<16x32xf16>
    async_pipeline.roles {
      async_pipeline.role @all warps(4) {
        // expected-note @below {{made here}}
        %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<16x32xf16>
        // expected-error @below {{expected a slot made by channel.wait to read, got one made by async_pipeline.channel.acquire}}
        %x = async_pipeline.work.load %s : !async_pipeline.slot<16x32xf16> to vector<16x32xf16>
        async_pipeline.channel.commit %s : !async_pipeline.slot<16x32xf16>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    %v = arith.constant dense<0.0> : vector<16x32xf16>
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<16x32xf16>
    async_pipeline.roles {
      async_pipeline.role @all warps(4) {
        %s = async_pipeline.channel.wait %in : !async_pipeline.channel<16x32xf16>
        // expected-error @below {{expected a field from 0 to 0, got 1}}
        %x = async_pipeline.work.load %s field(1) : !async_pipeline.slot<16x32xf16> to vector<16x32xf16>
        async_pipeline.channel.release %s : !async_pipeline.slot<16x32xf16>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    %v = arith.constant dense<0.0> : vector<16x32xf16>
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<16x32xf16>
    async_pipeline.roles {
      // expected-note @below {{the role is here}}
      async_pipeline.role @all warps(4) {
        %s = async_pipeline.channel.wait %in : !async_pipeline.channel<16x32xf16>
        // expected-error @below {{expected to stand outside roles, at the tile level}}
        %x = async_pipeline.tile.alloc : !async_pipeline.buffer<4xf32>
        async_pipeline.channel.release %s : !async_pipeline.slot<16x32xf16>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{expected to stand inside a gpu.func}}
  %x = async_pipeline.tile.alloc : !async_pipeline.buffer<4xf32>
}

// -----

gpu.module @m {
  gpu.func @k(%i: index, %p: i1) kernel {
    %c1 = arith.constant 1 : index
    // expected-error @below {{expected async_pipeline.stages from 1 to 64, got 0}}
    scf.for %j = %i to %i step %c1 {
    } {async_pipeline.stages = 0 : i32}
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: index, %p: i1) kernel {
    %c1 = arith.constant 1 : index
    // expected-error @below {{expected async_pipeline.stages from 1 to 64, got 65}}
    scf.for %j = %i to %i step %c1 {
    } {async_pipeline.stages = 65 : i32}
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: index, %p: i1) kernel {
    %c1 = arith.constant 1 : index
    // expected-error @below {{expected async_pipeline.stages to be an integer, got "4"}}
    scf.for %j = %i to %i step %c1 {
    } {async_pipeline.stages = "4"}
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: index, %p: i1) kernel {
    %c1 = arith.constant 1 : index
    // expected-error @below {{expected async_pipeline.exactly without a value, got 1 : i32}}
    scf.for %j = %i to %i step %c1 {
    } {async_pipeline.stages = 4 : i32, async_pipeline.exactly = 1 : i32}
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: index, %p: i1) kernel {
    %c1 = arith.constant 1 : index
    // expected-error @below {{expected async_pipeline.stages beside async_pipeline.exactly}}
    scf.for %j = %i to %i step %c1 {
    } {async_pipeline.exactly}
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: index, %p: i1) kernel {
    %c1 = arith.constant 1 : index
    // expected-error @below {{expected async_pipeline.stages on an scf.for, got scf.if}}
    scf.if %p {
    } {async_pipeline.stages = 4 : i32}
    gpu.return
  }
}
