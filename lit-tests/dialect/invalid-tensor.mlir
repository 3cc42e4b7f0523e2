// Tests that the verifiers of the tensor core, of tensor memory and of swizzles hold each op to its rules.

// RUN: pipeline-opt %s --split-input-file --verify-diagnostics

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    // expected-error @below {{expected columns to be a power of two from 32 to 512, got 48}}
    async_pipeline.tcgen05.alloc %where[%zero] columns(48) : !async_pipeline.buffer<2, 1xi32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    // expected-error @below {{expected columns to be a power of two from 32 to 512, got 1024}}
    async_pipeline.tcgen05.alloc %where[%zero] columns(1024) : !async_pipeline.buffer<2, 1xi32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    %wide = async_pipeline.buffer.alloc "wide" : !async_pipeline.buffer<1, 2xi32>
    // expected-error @below {{expected a buffer of 1xi32, which holds an address, got !async_pipeline.buffer<1, 2xi32>}}
    async_pipeline.tcgen05.alloc %wide[%zero] columns(32) : !async_pipeline.buffer<1, 2xi32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    // expected-note @above {{created here}}
    %two = arith.constant 2 : i32
    // expected-error @below {{expected a stage from 0 to 1, got 2}}
    async_pipeline.tcgen05.alloc %where[%two] columns(32) : !async_pipeline.buffer<2, 1xi32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    async_pipeline.tcgen05.alloc %where[%zero] columns(128) : !async_pipeline.buffer<2, 1xi32>
    %acc = async_pipeline.tcgen05.address %where[%zero] : !async_pipeline.buffer<2, 1xi32> to !async_pipeline.tmem<128>
    async_pipeline.roles {
      // expected-note @below {{the role is here}}
      async_pipeline.role @r warps(1) elected {
        // expected-error @below {{expected to stand outside an elected role, which one lane runs}}
        async_pipeline.tcgen05.alloc %where[%zero] columns(128) : !async_pipeline.buffer<2, 1xi32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    async_pipeline.tcgen05.alloc %where[%zero] columns(128) : !async_pipeline.buffer<2, 1xi32>
    %acc = async_pipeline.tcgen05.address %where[%zero] : !async_pipeline.buffer<2, 1xi32> to !async_pipeline.tmem<128>
    async_pipeline.roles {
      // expected-note @below {{the role is here}}
      async_pipeline.role @r warps(4) {
        // expected-error @below {{expected to stand in a role of one warp, got one of 4}}
        async_pipeline.tcgen05.alloc %where[%zero] columns(128) : !async_pipeline.buffer<2, 1xi32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    async_pipeline.tcgen05.alloc %where[%zero] columns(128) : !async_pipeline.buffer<2, 1xi32>
    %acc = async_pipeline.tcgen05.address %where[%zero] : !async_pipeline.buffer<2, 1xi32> to !async_pipeline.tmem<128>
    async_pipeline.roles {
      // expected-note @below {{the role is here}}
      async_pipeline.role @r warps(1) elected {
        // expected-error @below {{expected to stand outside an elected role, which one lane runs}}
        async_pipeline.tcgen05.relinquish
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    async_pipeline.tcgen05.alloc %where[%zero] columns(128) : !async_pipeline.buffer<2, 1xi32>
    %acc = async_pipeline.tcgen05.address %where[%zero] : !async_pipeline.buffer<2, 1xi32> to !async_pipeline.tmem<128>
    async_pipeline.roles {
      // expected-note @below {{the role is here}}
      async_pipeline.role @r warps(4) {
        // expected-error @below {{expected to stand in a role of one warp, got one of 4}}
        async_pipeline.tcgen05.relinquish
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    async_pipeline.tcgen05.alloc %where[%zero] columns(128) : !async_pipeline.buffer<2, 1xi32>
    %acc = async_pipeline.tcgen05.address %where[%zero] : !async_pipeline.buffer<2, 1xi32> to !async_pipeline.tmem<128>
    async_pipeline.roles {
      // expected-note @below {{the role is here}}
      async_pipeline.role @r warps(1) elected {
        // expected-error @below {{expected to stand outside an elected role, which one lane runs}}
        async_pipeline.tcgen05.dealloc %acc : !async_pipeline.tmem<128>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    async_pipeline.tcgen05.alloc %where[%zero] columns(128) : !async_pipeline.buffer<2, 1xi32>
    %acc = async_pipeline.tcgen05.address %where[%zero] : !async_pipeline.buffer<2, 1xi32> to !async_pipeline.tmem<128>
    async_pipeline.roles {
      // expected-note @below {{the role is here}}
      async_pipeline.role @r warps(4) {
        // expected-error @below {{expected to stand in a role of one warp, got one of 4}}
        async_pipeline.tcgen05.dealloc %acc : !async_pipeline.tmem<128>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    async_pipeline.tcgen05.alloc %where[%zero] columns(128) : !async_pipeline.buffer<2, 1xi32>
    %acc = async_pipeline.tcgen05.address %where[%zero] : !async_pipeline.buffer<2, 1xi32> to !async_pipeline.tmem<128>
    async_pipeline.roles {
      // expected-note @below {{the role is here}}
      async_pipeline.role @r warps(1) elected {
        // expected-error @below {{expected to stand outside an elected role, which one lane runs}}
        async_pipeline.tcgen05.wait_ld
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    async_pipeline.tcgen05.alloc %where[%zero] columns(128) : !async_pipeline.buffer<2, 1xi32>
    %acc = async_pipeline.tcgen05.address %where[%zero] : !async_pipeline.buffer<2, 1xi32> to !async_pipeline.tmem<128>
    async_pipeline.roles {
      // expected-note @below {{the role is here}}
      async_pipeline.role @r warps(1) elected {
        // expected-error @below {{expected to stand outside an elected role, which one lane runs}}
        async_pipeline.tcgen05.wait_st
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    async_pipeline.tcgen05.alloc %where[%zero] columns(128) : !async_pipeline.buffer<2, 1xi32>
    %acc = async_pipeline.tcgen05.address %where[%zero] : !async_pipeline.buffer<2, 1xi32> to !async_pipeline.tmem<128>
    async_pipeline.roles {
      // expected-note @below {{the role is here}}
      async_pipeline.role @r warps(1) elected {
        // expected-error @below {{expected to stand outside an elected role, which one lane runs}}
        %v = async_pipeline.tcgen05.ld %acc[%zero] : !async_pipeline.tmem<128> -> vector<32xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    // expected-error @below {{expected a tcgen05.alloc into the same slot}}
    %acc = async_pipeline.tcgen05.address %where[%zero] : !async_pipeline.buffer<2, 1xi32> to !async_pipeline.tmem<128>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    async_pipeline.tcgen05.alloc %where[%zero] columns(128) : !async_pipeline.buffer<2, 1xi32>
    %one = arith.constant 1 : i32
    // expected-error @below {{expected a tcgen05.alloc into the same slot}}
    %acc = async_pipeline.tcgen05.address %where[%one] : !async_pipeline.buffer<2, 1xi32> to !async_pipeline.tmem<128>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    // expected-note @below {{allocated here}}
    async_pipeline.tcgen05.alloc %where[%zero] columns(128) : !async_pipeline.buffer<2, 1xi32>
    // expected-error @below {{expected as many columns as are allocated, 128, got 64}}
    %acc = async_pipeline.tcgen05.address %where[%zero] : !async_pipeline.buffer<2, 1xi32> to !async_pipeline.tmem<64>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    // expected-error @below {{expected a range made by tcgen05.address, got an argument}}
    async_pipeline.tcgen05.dealloc %range : !async_pipeline.tmem<128>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    // expected-error @below {{expected a range made by tcgen05.address, got an argument}}
    %v = async_pipeline.tcgen05.ld %range[%zero] : !async_pipeline.tmem<128> -> vector<32xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    async_pipeline.tcgen05.alloc %where[%zero] columns(128) : !async_pipeline.buffer<2, 1xi32>
    %acc = async_pipeline.tcgen05.address %where[%zero] : !async_pipeline.buffer<2, 1xi32> to !async_pipeline.tmem<128>
    // expected-note @below {{made here}}
    %other = arith.select %p, %acc, %acc : !async_pipeline.tmem<128>
    // expected-error @below {{expected a range made by tcgen05.address, got one made by arith.select}}
    async_pipeline.tcgen05.dealloc %other : !async_pipeline.tmem<128>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    async_pipeline.tcgen05.alloc %where[%zero] columns(128) : !async_pipeline.buffer<2, 1xi32>
    %acc = async_pipeline.tcgen05.address %where[%zero] : !async_pipeline.buffer<2, 1xi32> to !async_pipeline.tmem<128>
    // expected-error @below {{expected a vector of i32 or f32 whose length is a power of two from 1 to 128, got vector<32xf16>}}
    %v = async_pipeline.tcgen05.ld %acc[%zero] : !async_pipeline.tmem<128> -> vector<32xf16>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    async_pipeline.tcgen05.alloc %where[%zero] columns(128) : !async_pipeline.buffer<2, 1xi32>
    %acc = async_pipeline.tcgen05.address %where[%zero] : !async_pipeline.buffer<2, 1xi32> to !async_pipeline.tmem<128>
    // expected-error @below {{expected a vector of i32 or f32 whose length is a power of two from 1 to 128, got vector<3xf32>}}
    %v = async_pipeline.tcgen05.ld %acc[%zero] : !async_pipeline.tmem<128> -> vector<3xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    async_pipeline.tcgen05.alloc %where[%zero] columns(128) : !async_pipeline.buffer<2, 1xi32>
    %acc = async_pipeline.tcgen05.address %where[%zero] : !async_pipeline.buffer<2, 1xi32> to !async_pipeline.tmem<128>
    // expected-error @below {{expected a vector of i32 or f32 whose length is a power of two from 1 to 128, got vector<256xf32>}}
    %v = async_pipeline.tcgen05.ld %acc[%zero] : !async_pipeline.tmem<128> -> vector<256xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    async_pipeline.tcgen05.alloc %where[%zero] columns(128) : !async_pipeline.buffer<2, 1xi32>
    %acc = async_pipeline.tcgen05.address %where[%zero] : !async_pipeline.buffer<2, 1xi32> to !async_pipeline.tmem<128>
    // expected-error @below {{expected a vector of i32 or f32 whose length is a power of two from 1 to 128, got vector<2x2xf32>}}
    %v = async_pipeline.tcgen05.ld %acc[%zero] : !async_pipeline.tmem<128> -> vector<2x2xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    async_pipeline.tcgen05.alloc %where[%zero] columns(128) : !async_pipeline.buffer<2, 1xi32>
    %acc = async_pipeline.tcgen05.address %where[%zero] : !async_pipeline.buffer<2, 1xi32> to !async_pipeline.tmem<128>
    // expected-error @below {{expected a vector of i32 or f32 whose length is a power of two from 1 to 128, got vector<[4]xf32>}}
    %v = async_pipeline.tcgen05.ld %acc[%zero] : !async_pipeline.tmem<128> -> vector<[4]xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    async_pipeline.tcgen05.alloc %where[%zero] columns(128) : !async_pipeline.buffer<2, 1xi32>
    %acc = async_pipeline.tcgen05.address %where[%zero] : !async_pipeline.buffer<2, 1xi32> to !async_pipeline.tmem<128>
    %last = arith.constant 97 : i32
    // expected-error @below {{expected 32 columns from column 97 on to be in 128}}
    %v = async_pipeline.tcgen05.ld %acc[%last] : !async_pipeline.tmem<128> -> vector<32xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    async_pipeline.tcgen05.alloc %where[%zero] columns(128) : !async_pipeline.buffer<2, 1xi32>
    %acc = async_pipeline.tcgen05.address %where[%zero] : !async_pipeline.buffer<2, 1xi32> to !async_pipeline.tmem<128>
    %minus = arith.constant -1 : i32
    // expected-error @below {{expected 32 columns from column -1 on to be in 128}}
    %v = async_pipeline.tcgen05.ld %acc[%minus] : !async_pipeline.tmem<128> -> vector<32xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    async_pipeline.tcgen05.alloc %where[%zero] columns(128) : !async_pipeline.buffer<2, 1xi32>
    %acc = async_pipeline.tcgen05.address %where[%zero] : !async_pipeline.buffer<2, 1xi32> to !async_pipeline.tmem<128>
    %last = arith.constant 128 : i32
    %v = arith.constant dense<1> : vector<1xi32>
    // expected-error @below {{expected 1 columns from column 128 on to be in 128}}
    async_pipeline.tcgen05.st %v to %acc[%last] : vector<1xi32> to !async_pipeline.tmem<128>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    async_pipeline.tcgen05.alloc %where[%zero] columns(128) : !async_pipeline.buffer<2, 1xi32>
    %acc = async_pipeline.tcgen05.address %where[%zero] : !async_pipeline.buffer<2, 1xi32> to !async_pipeline.tmem<128>
    %bars = async_pipeline.mbarrier.alloc "bars" : !async_pipeline.mbarrier<2>
    // expected-note @above {{created here}}
    %two = arith.constant 2 : i32
    // expected-error @below {{expected a stage from 0 to 1, got 2}}
    async_pipeline.tcgen05.commit %bars[%two] : !async_pipeline.mbarrier<2>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    async_pipeline.tcgen05.alloc %where[%zero] columns(128) : !async_pipeline.buffer<2, 1xi32>
    %acc = async_pipeline.tcgen05.address %where[%zero] : !async_pipeline.buffer<2, 1xi32> to !async_pipeline.tmem<128>
    %a = async_pipeline.buffer.alloc "a" : !async_pipeline.buffer<2, 128x64xf16>
    %b = async_pipeline.buffer.alloc "b" : !async_pipeline.buffer<2, 128x64xf16, swizzle 128>
    // expected-error @below {{expected A with a swizzle, got !async_pipeline.buffer<2, 128x64xf16>}}
    async_pipeline.tcgen05.mma %acc[%zero], %a[%zero], %b[%zero], %p
        : !async_pipeline.tmem<128>, !async_pipeline.buffer<2, 128x64xf16>, !async_pipeline.buffer<2, 128x64xf16, swizzle 128>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    async_pipeline.tcgen05.alloc %where[%zero] columns(128) : !async_pipeline.buffer<2, 1xi32>
    %acc = async_pipeline.tcgen05.address %where[%zero] : !async_pipeline.buffer<2, 1xi32> to !async_pipeline.tmem<128>
    %a = async_pipeline.buffer.alloc "a" : !async_pipeline.buffer<2, 128x64xf16, swizzle 128>
    %b = async_pipeline.buffer.alloc "b" : !async_pipeline.buffer<2, 128x32xf16>
    // expected-error @below {{expected B with a swizzle, got !async_pipeline.buffer<2, 128x32xf16>}}
    async_pipeline.tcgen05.mma %acc[%zero], %a[%zero], %b[%zero], %p
        : !async_pipeline.tmem<128>, !async_pipeline.buffer<2, 128x64xf16, swizzle 128>, !async_pipeline.buffer<2, 128x32xf16>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    async_pipeline.tcgen05.alloc %where[%zero] columns(128) : !async_pipeline.buffer<2, 1xi32>
    %acc = async_pipeline.tcgen05.address %where[%zero] : !async_pipeline.buffer<2, 1xi32> to !async_pipeline.tmem<128>
    %a = async_pipeline.buffer.alloc "a" : !async_pipeline.buffer<2, 2x128x64xf16, swizzle 128>
    %b = async_pipeline.buffer.alloc "b" : !async_pipeline.buffer<2, 128x64xf16, swizzle 128>
    // expected-error @below {{expected A of rank 2, got !async_pipeline.buffer<2, 2x128x64xf16, swizzle 128>}}
    async_pipeline.tcgen05.mma %acc[%zero], %a[%zero], %b[%zero], %p
        : !async_pipeline.tmem<128>, !async_pipeline.buffer<2, 2x128x64xf16, swizzle 128>, !async_pipeline.buffer<2, 128x64xf16, swizzle 128>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    async_pipeline.tcgen05.alloc %where[%zero] columns(128) : !async_pipeline.buffer<2, 1xi32>
    %acc = async_pipeline.tcgen05.address %where[%zero] : !async_pipeline.buffer<2, 1xi32> to !async_pipeline.tmem<128>
    %a = async_pipeline.buffer.alloc "a" : !async_pipeline.buffer<2, 128x64xf16, swizzle 128>
    %b = async_pipeline.buffer.alloc "b" : !async_pipeline.buffer<2, 128x64xi16, swizzle 128>
    // expected-error @below {{expected B of f16, bf16, f32, f8E4M3FN or f8E5M2, got i16}}
    async_pipeline.tcgen05.mma %acc[%zero], %a[%zero], %b[%zero], %p
        : !async_pipeline.tmem<128>, !async_pipeline.buffer<2, 128x64xf16, swizzle 128>, !async_pipeline.buffer<2, 128x64xi16, swizzle 128>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    async_pipeline.tcgen05.alloc %where[%zero] columns(128) : !async_pipeline.buffer<2, 1xi32>
    %acc = async_pipeline.tcgen05.address %where[%zero] : !async_pipeline.buffer<2, 1xi32> to !async_pipeline.tmem<128>
    %a = async_pipeline.buffer.alloc "a" : !async_pipeline.buffer<2, 128x64xf16, swizzle 128>
    %b = async_pipeline.buffer.alloc "b" : !async_pipeline.buffer<2, 128x64xbf16, swizzle 128>
    // expected-error @below {{expected equal element types, got f16 and bf16}}
    async_pipeline.tcgen05.mma %acc[%zero], %a[%zero], %b[%zero], %p
        : !async_pipeline.tmem<128>, !async_pipeline.buffer<2, 128x64xf16, swizzle 128>, !async_pipeline.buffer<2, 128x64xbf16, swizzle 128>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    async_pipeline.tcgen05.alloc %where[%zero] columns(128) : !async_pipeline.buffer<2, 1xi32>
    %acc = async_pipeline.tcgen05.address %where[%zero] : !async_pipeline.buffer<2, 1xi32> to !async_pipeline.tmem<128>
    %a = async_pipeline.buffer.alloc "a" : !async_pipeline.buffer<2, 128x128xf8E4M3FN, swizzle 128>
    %b = async_pipeline.buffer.alloc "b" : !async_pipeline.buffer<2, 128x64xbf16, swizzle 128>
    // expected-error @below {{expected equal element types, got f8E4M3FN and bf16}}
    async_pipeline.tcgen05.mma %acc[%zero], %a[%zero], %b[%zero], %p
        : !async_pipeline.tmem<128>, !async_pipeline.buffer<2, 128x128xf8E4M3FN, swizzle 128>, !async_pipeline.buffer<2, 128x64xbf16, swizzle 128>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    async_pipeline.tcgen05.alloc %where[%zero] columns(128) : !async_pipeline.buffer<2, 1xi32>
    %acc = async_pipeline.tcgen05.address %where[%zero] : !async_pipeline.buffer<2, 1xi32> to !async_pipeline.tmem<128>
    %a = async_pipeline.buffer.alloc "a" : !async_pipeline.buffer<2, 64x64xf16, swizzle 128>
    %b = async_pipeline.buffer.alloc "b" : !async_pipeline.buffer<2, 128x64xf16, swizzle 128>
    // expected-error @below {{expected A of 128 rows, got 64}}
    async_pipeline.tcgen05.mma %acc[%zero], %a[%zero], %b[%zero], %p
        : !async_pipeline.tmem<128>, !async_pipeline.buffer<2, 64x64xf16, swizzle 128>, !async_pipeline.buffer<2, 128x64xf16, swizzle 128>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    async_pipeline.tcgen05.alloc %where[%zero] columns(128) : !async_pipeline.buffer<2, 1xi32>
    %acc = async_pipeline.tcgen05.address %where[%zero] : !async_pipeline.buffer<2, 1xi32> to !async_pipeline.tmem<128>
    %a = async_pipeline.buffer.alloc "a" : !async_pipeline.buffer<2, 128x64xf16, swizzle 128>
    %b = async_pipeline.buffer.alloc "b" : !async_pipeline.buffer<2, 257x64xf16, swizzle 128>
    // expected-error @below {{expected rows of B from 16 to 256, got 257}}
    async_pipeline.tcgen05.mma %acc[%zero], %a[%zero], %b[%zero], %p
        : !async_pipeline.tmem<128>, !async_pipeline.buffer<2, 128x64xf16, swizzle 128>, !async_pipeline.buffer<2, 257x64xf16, swizzle 128>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    async_pipeline.tcgen05.alloc %where[%zero] columns(128) : !async_pipeline.buffer<2, 1xi32>
    %acc = async_pipeline.tcgen05.address %where[%zero] : !async_pipeline.buffer<2, 1xi32> to !async_pipeline.tmem<128>
    %a = async_pipeline.buffer.alloc "a" : !async_pipeline.buffer<2, 128x64xf16, swizzle 128>
    %b = async_pipeline.buffer.alloc "b" : !async_pipeline.buffer<2, 24x64xf16, swizzle 128>
    // expected-error @below {{expected rows of B to be a multiple of 16, got 24}}
    async_pipeline.tcgen05.mma %acc[%zero], %a[%zero], %b[%zero], %p
        : !async_pipeline.tmem<128>, !async_pipeline.buffer<2, 128x64xf16, swizzle 128>, !async_pipeline.buffer<2, 24x64xf16, swizzle 128>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    async_pipeline.tcgen05.alloc %where[%zero] columns(128) : !async_pipeline.buffer<2, 1xi32>
    %acc = async_pipeline.tcgen05.address %where[%zero] : !async_pipeline.buffer<2, 1xi32> to !async_pipeline.tmem<128>
    %a = async_pipeline.buffer.alloc "a" : !async_pipeline.buffer<2, 128x64xf16, swizzle 128>
    %b = async_pipeline.buffer.alloc "b" : !async_pipeline.buffer<2, 256x64xf16, swizzle 128>
    // expected-error @below {{expected 256 columns from column 0 on to be in 128}}
    async_pipeline.tcgen05.mma %acc[%zero], %a[%zero], %b[%zero], %p
        : !async_pipeline.tmem<128>, !async_pipeline.buffer<2, 128x64xf16, swizzle 128>, !async_pipeline.buffer<2, 256x64xf16, swizzle 128>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    async_pipeline.tcgen05.alloc %where[%zero] columns(128) : !async_pipeline.buffer<2, 1xi32>
    %acc = async_pipeline.tcgen05.address %where[%zero] : !async_pipeline.buffer<2, 1xi32> to !async_pipeline.tmem<128>
    %a = async_pipeline.buffer.alloc "a" : !async_pipeline.buffer<2, 128x64xf16, swizzle 128>
    %b = async_pipeline.buffer.alloc "b" : !async_pipeline.buffer<2, 128x64xf16, swizzle 128>
    // expected-error @below {{expected a range made by tcgen05.address, got an argument}}
    async_pipeline.tcgen05.mma %range[%zero], %a[%zero], %b[%zero], %p
        : !async_pipeline.tmem<128>, !async_pipeline.buffer<2, 128x64xf16, swizzle 128>, !async_pipeline.buffer<2, 128x64xf16, swizzle 128>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    %a = async_pipeline.buffer.alloc "a" : !async_pipeline.buffer<2, 128x64xf16, swizzle 128>
    // expected-error @below {{expected a view of type memref<8192xf16, #gpu.address_space<workgroup>>, which a swizzle leaves of a slot}}
    %v = async_pipeline.buffer.slot %a[%i]
        : !async_pipeline.buffer<2, 128x64xf16, swizzle 128> to memref<128x64xf16, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    // expected-error @below {{expected an offset that is a multiple of 1024, got 128}}
    %a = async_pipeline.buffer.alloc "a" offset(128) : !async_pipeline.buffer<2, 128x64xf16, swizzle 128>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    %a = async_pipeline.buffer.alloc "a" : !async_pipeline.buffer<2, 64x64xf16, swizzle 128>
    %bars = async_pipeline.mbarrier.alloc "bars" : !async_pipeline.mbarrier<2>
    %map = async_pipeline.tma.descriptor %A : memref<?x?xf16> to !async_pipeline.tensor_map<64x64xf16>
    // expected-error @below {{expected the swizzle of the slot and of the box to be equal, got !async_pipeline.buffer<2, 64x64xf16, swizzle 128> and !async_pipeline.tensor_map<64x64xf16>}}
    async_pipeline.tma.load %map[%i, %i] to %a[%i], %bars[%i]
        : !async_pipeline.tensor_map<64x64xf16> to !async_pipeline.buffer<2, 64x64xf16, swizzle 128>, !async_pipeline.mbarrier<2>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    %a = async_pipeline.buffer.alloc "a" : !async_pipeline.buffer<2, 64x64xf16>
    %bars = async_pipeline.mbarrier.alloc "bars" : !async_pipeline.mbarrier<2>
    %map = async_pipeline.tma.descriptor %A : memref<?x?xf16> to !async_pipeline.tensor_map<64x64xf16, swizzle 128>
    // expected-error @below {{expected the swizzle of the slot and of the box to be equal, got !async_pipeline.buffer<2, 64x64xf16> and !async_pipeline.tensor_map<64x64xf16, swizzle 128>}}
    async_pipeline.tma.load %map[%i, %i] to %a[%i], %bars[%i]
        : !async_pipeline.tensor_map<64x64xf16, swizzle 128> to !async_pipeline.buffer<2, 64x64xf16>, !async_pipeline.mbarrier<2>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1, %A: memref<?x?xf16>, %range: !async_pipeline.tmem<128>) kernel {
    %zero = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<2, 1xi32>
    %a = async_pipeline.buffer.alloc "a" : !async_pipeline.buffer<2, 64x64xf16, swizzle 128>
    %bars = async_pipeline.mbarrier.alloc "bars" : !async_pipeline.mbarrier<2>
    %map = async_pipeline.tma.descriptor %A : memref<?x?xf16> to !async_pipeline.tensor_map<8x64xf16, swizzle 128>
    // expected-error @below {{expected the box to start at a multiple of 1024 bytes, got 128}}
    async_pipeline.tma.load %map[%i, %i] to %a[%i] at(64), %bars[%i]
        : !async_pipeline.tensor_map<8x64xf16, swizzle 128> to !async_pipeline.buffer<2, 64x64xf16, swizzle 128>, !async_pipeline.mbarrier<2>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1) kernel {
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<1, 1xi32>
    %a = async_pipeline.buffer.alloc "a" : !async_pipeline.buffer<2, 128x64xf16, swizzle 128>
    %b = async_pipeline.buffer.alloc "b" : !async_pipeline.buffer<2, 128x32xf16, swizzle 64>
    %zero = arith.constant 0 : i32
    async_pipeline.tcgen05.alloc %where[%zero] columns(128) : !async_pipeline.buffer<1, 1xi32>
    %acc = async_pipeline.tcgen05.address %where[%zero] : !async_pipeline.buffer<1, 1xi32> to !async_pipeline.tmem<128>
    // expected-error @below {{expected A and B of one K, got 64 and 32}}
    async_pipeline.tcgen05.mma %acc[%zero], %a[%zero], %b[%zero], %p
        : !async_pipeline.tmem<128>, !async_pipeline.buffer<2, 128x64xf16, swizzle 128>, !async_pipeline.buffer<2, 128x32xf16, swizzle 64>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%i: i32, %p: i1) kernel {
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<1, 1xi32>
    %a = async_pipeline.buffer.alloc "a" : !async_pipeline.buffer<2, 32x128xf32, swizzle 128>
    %zero = arith.constant 0 : i32
    async_pipeline.tcgen05.alloc %where[%zero] columns(128) : !async_pipeline.buffer<1, 1xi32>
    %acc = async_pipeline.tcgen05.address %where[%zero] : !async_pipeline.buffer<1, 1xi32> to !async_pipeline.tmem<128>
    // expected-error @below {{expected no transpose on A of f32, which the tensor core reads along K only}}
    async_pipeline.tcgen05.mma %acc[%zero], transpose %a[%zero], %a[%zero], %p
        : !async_pipeline.tmem<128>, !async_pipeline.buffer<2, 32x128xf32, swizzle 128>, !async_pipeline.buffer<2, 32x128xf32, swizzle 128>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<1, 1xi32>
    %zero = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    async_pipeline.tcgen05.alloc %where[%zero] columns(128) : !async_pipeline.buffer<1, 1xi32>
    %acc = async_pipeline.tcgen05.address %where[%zero] : !async_pipeline.buffer<1, 1xi32> to !async_pipeline.tmem<128>
    %half = async_pipeline.tcgen05.slice %acc[%c64] : !async_pipeline.tmem<128> to !async_pipeline.tmem<64>
    // expected-error @below {{expected 128 columns from column 64 on to be in 128}}
    %whole = async_pipeline.tcgen05.slice %acc[%c64] : !async_pipeline.tmem<128> to !async_pipeline.tmem<128>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<1, 1xi32>
    %zero = arith.constant 0 : i32
    async_pipeline.tcgen05.alloc %where[%zero] columns(128) : !async_pipeline.buffer<1, 1xi32>
    %acc = async_pipeline.tcgen05.address %where[%zero] : !async_pipeline.buffer<1, 1xi32> to !async_pipeline.tmem<128>
    // expected-note @below {{the slice is here}}
    %half = async_pipeline.tcgen05.slice %acc[%zero] : !async_pipeline.tmem<128> to !async_pipeline.tmem<64>
    // expected-error @below {{expected a whole allocation, got a slice of one}}
    async_pipeline.tcgen05.dealloc %half : !async_pipeline.tmem<64>
    gpu.return
  }
}
