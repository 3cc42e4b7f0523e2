// Tests that types are held to their limits where they are written.

// RUN: pipeline-opt %s --split-input-file --verify-diagnostics

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected 1 to 16 fields, got 0}}
    %x = async_pipeline.channel.create "x" : !async_pipeline.channel<>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected 1 to 16 fields, got 17}}
    %x = async_pipeline.channel.create "x" : !async_pipeline.channel<4xf32, 4xf32, 4xf32, 4xf32, 4xf32, 4xf32, 4xf32, 4xf32, 4xf32, 4xf32, 4xf32, 4xf32, 4xf32, 4xf32, 4xf32, 4xf32, 4xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected a tile such as 64x64xf16}}
    %x = async_pipeline.channel.create "x" : !async_pipeline.channel<f32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected a tile of rank 1 to 5, got rank 6}}
    %x = async_pipeline.channel.create "x" : !async_pipeline.channel<1x1x1x1x1x4xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected tile extents of at least 1, got 0}}
    %x = async_pipeline.channel.create "x" : !async_pipeline.channel<0xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected static shape}}
    %x = async_pipeline.channel.create "x" : !async_pipeline.channel<?xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected an integer or float element type, got 'index'}}
    %x = async_pipeline.channel.create "x" : !async_pipeline.channel<4xindex>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected an integer or float element type, got 'vector<4xf32>'}}
    %x = async_pipeline.channel.create "x" : !async_pipeline.channel<4xvector<4xf32>>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected elements of 8, 16, 32 or 64 bits, got 'i1'}}
    %x = async_pipeline.channel.create "x" : !async_pipeline.channel<64xi1>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected elements of 8, 16, 32 or 64 bits, got 'i24'}}
    %x = async_pipeline.channel.create "x" : !async_pipeline.channel<64xi24>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected elements of 8, 16, 32 or 64 bits, got 'f128'}}
    %x = async_pipeline.channel.create "x" : !async_pipeline.channel<64xf128>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected a tile of at most 2^28 bytes}}
    %x = async_pipeline.channel.create "x" : !async_pipeline.channel<268435457xi8>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected a tile of at most 2^28 bytes}}
    %x = async_pipeline.channel.create "x" : !async_pipeline.channel<4294967296x4294967296xf64>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected '<'}}
    %x = async_pipeline.channel.create "x" : !async_pipeline.channel
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected 1 to 1024 stages, got 0}}
    %x = async_pipeline.mbarrier.alloc "x" : !async_pipeline.mbarrier<0>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected 1 to 1024 stages, got -1}}
    %x = async_pipeline.mbarrier.alloc "x" : !async_pipeline.mbarrier<-1>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected 1 to 1024 stages, got 1025}}
    %x = async_pipeline.mbarrier.alloc "x" : !async_pipeline.mbarrier<1025>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{integer value too large}}
    %x = async_pipeline.mbarrier.alloc "x" : !async_pipeline.mbarrier<99999999999999999999>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected integer value}}
    %x = async_pipeline.mbarrier.alloc "x" : !async_pipeline.mbarrier<four>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected 1 to 1024 stages, got 0}}
    %x = async_pipeline.buffer.alloc "x" : !async_pipeline.buffer<0, 4xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected 1 to 1024 stages, got 1025}}
    %x = async_pipeline.buffer.alloc "x" : !async_pipeline.buffer<1025, 4xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected ','}}
    %x = async_pipeline.buffer.alloc "x" : !async_pipeline.buffer<4>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected tile extents of at least 1, got 0}}
    %x = async_pipeline.buffer.alloc "x" : !async_pipeline.buffer<4, 0xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>) kernel {
    // expected-error @below {{expected box extents of at most 256, got 257}}
    %m = async_pipeline.tma.descriptor %A : memref<?xf32> to !async_pipeline.tensor_map<257xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>) kernel {
    // expected-error @below {{expected an innermost box extent of a multiple of 16 bytes, got 12}}
    %m = async_pipeline.tma.descriptor %A : memref<?xf32> to !async_pipeline.tensor_map<4x3xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<?xf32>) kernel {
    // expected-error @below {{expected a tile of rank 1 to 5, got rank 6}}
    %m = async_pipeline.tma.descriptor %A : memref<?xf32> to !async_pipeline.tensor_map<2x2x2x2x2x4xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{unknown  type `ring` in dialect `async_pipeline`}}
  gpu.func @k(%x: !async_pipeline.ring<4>) kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{expected swizzle 32, 64 or 128, got 16}}
  gpu.func @k(%x: !async_pipeline.buffer<2, 64x64xf16, swizzle 16>) kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{expected rows of a multiple of 128 bytes for swizzle 128, got 64}}
  gpu.func @k(%x: !async_pipeline.buffer<2, 64x32xf16, swizzle 128>) kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{expected stages for a buffer with a swizzle}}
  gpu.func @k(%x: !async_pipeline.buffer<64x64xf16, swizzle 128>) kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{expected 'swizzle'}}
  gpu.func @k(%x: !async_pipeline.buffer<2, 64x64xf16, 128>) kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{expected rows of 128 bytes for swizzle 128, got 64}}
  gpu.func @k(%x: !async_pipeline.tensor_map<64x32xf16, swizzle 128>) kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{expected a power of two from 32 to 512 columns, got 16}}
  gpu.func @k(%x: !async_pipeline.tmem<16>) kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{expected a power of two from 32 to 512 columns, got 96}}
  gpu.func @k(%x: !async_pipeline.tmem<96>) kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{expected a power of two from 32 to 512 columns, got 1024}}
  gpu.func @k(%x: !async_pipeline.tmem<1024>) kernel {
    gpu.return
  }
}
