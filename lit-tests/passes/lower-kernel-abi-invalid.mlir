// Tests that kernels which no launcher could start from a manifest are refused.

// RUN: pipeline-opt %s --split-input-file --verify-diagnostics --async-pipeline-lower-kernel-abi=target=sm_90a

// expected-error @below {{expected a gpu.func kernel in a gpu.module, got none}}
module {
  gpu.module @m {
  }
}

// -----

gpu.module @m {
  // expected-error @below {{expected a gpu.func that is a `kernel`; calls of other functions are not supported}}
  gpu.func @k() {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{expected async_pipeline.roles or known_block_size: the number of threads is not known}}
  gpu.func @k() kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{expected known_block_size to be N, 1, 1 with N from 1 to 1024}}
  gpu.func @k() kernel attributes {known_block_size = array<i32: 0, 1, 1>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{expected known_block_size to be N, 1, 1 with N from 1 to 1024}}
  gpu.func @k() kernel attributes {known_block_size = array<i32: 1025, 1, 1>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{expected known_block_size to be N, 1, 1 with N from 1 to 1024}}
  gpu.func @k() kernel attributes {known_block_size = array<i32: 32, 2, 1>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{known_block_size contradicts the roles, which take 64 threads}}
  gpu.func @k() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    async_pipeline.roles {
      async_pipeline.role @a warps(2) {
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{expected no workgroup or private attributions; use channels or buffer.alloc}}
  gpu.func @k() workgroup(%w: memref<4xf32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{argument 0: expected a memref, an index, or an integer or float of 8 to 64 bits, got i1}}
  gpu.func @k(%x: i1) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{argument 0: expected a memref, an index, or an integer or float of 8 to 64 bits, got i128}}
  gpu.func @k(%x: i128) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{argument 0: expected a memref, an index, or an integer or float of 8 to 64 bits, got tensor<4xf32>}}
  gpu.func @k(%x: tensor<4xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{argument 0: expected a memref, an index, or an integer or float of 8 to 64 bits, got vector<4xf32>}}
  gpu.func @k(%x: vector<4xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{argument 0: expected a memref, an index, or an integer or float of 8 to 64 bits, got !llvm.ptr}}
  gpu.func @k(%x: !llvm.ptr) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{argument 0: expected a memref, an index, or an integer or float of 8 to 64 bits, got memref<*xf32>}}
  gpu.func @k(%x: memref<*xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{argument 0: expected a memref, an index, or an integer or float of 8 to 64 bits, got !async_pipeline.mbarrier<1>}}
  gpu.func @k(%x: !async_pipeline.mbarrier<1>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{argument 1: expected a memref in global memory, got memref<4xf32, #gpu.address_space<workgroup>>}}
  gpu.func @k(%n: i32, %x: memref<4xf32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{argument 0: expected elements of a type that a launcher knows, got i1}}
  gpu.func @k(%x: memref<?xi1>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{argument 0: expected elements of a type that a launcher knows, got index}}
  gpu.func @k(%x: memref<?xindex>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{argument 0: expected elements of a type that a launcher knows, got vector<4xf32>}}
  gpu.func @k(%x: memref<?xvector<4xf32>>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{argument 0: expected elements of a type that a launcher knows, got i65}}
  gpu.func @k(%x: memref<?xi65>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{argument 0: expected a strided memref with offset 0, got memref<?xf32, strided<[1], offset: 4>>}}
  gpu.func @k(%x: memref<?xf32, strided<[1], offset: 4>>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{expected argument names to be unique, got "A" twice}}
  gpu.func @k(%A: memref<?xf32> {async_pipeline.name = "A"}, %B: memref<?xf32> {async_pipeline.name = "A"}) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{expected argument names to be unique, got "arg1" twice}}
  gpu.func @k(%A: memref<?xf32> {async_pipeline.name = "arg1"}, %B: memref<?xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{grid expression: there is no dim(0, 1)}}
  gpu.func @k(%A: memref<?xf32>, %n: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>, async_pipeline.grid = #async_pipeline.grid<"dim(0, 1)">} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{grid expression: there is no dim(1, 0)}}
  gpu.func @k(%A: memref<?xf32>, %n: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>, async_pipeline.grid = #async_pipeline.grid<"dim(1, 0)">} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{grid expression: there is no dim(2, 0)}}
  gpu.func @k(%A: memref<?xf32>, %n: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>, async_pipeline.grid = #async_pipeline.grid<"dim(2, 0)">} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{grid expression: there is no scalar(0)}}
  gpu.func @k(%A: memref<?xf32>, %n: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>, async_pipeline.grid = #async_pipeline.grid<"scalar(0)">} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{grid expression: there is no scalar(2)}}
  gpu.func @k(%A: memref<?xf32>, %n: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>, async_pipeline.grid = #async_pipeline.grid<"scalar(2)">} {
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
}
gpu.module @n {
  // expected-error @below {{expected all kernels in one gpu.module}}
  gpu.func @l() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
}
