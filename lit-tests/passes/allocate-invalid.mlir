// Tests that shared memory is counted to the byte, barriers included, and that the error has the numbers
// and what would fit.

// RUN: pipeline-opt %s --split-input-file --verify-diagnostics --async-pipeline-allocate=target=sm_90a

gpu.module @m {
  // expected-error @below {{shared memory: 278528 bytes of tiles and 32 bytes of barriers exceed the 232448 bytes that a CTA has on sm_90a; the largest number of stages that fits is 1}}
  gpu.func @k() kernel {
    // expected-note @below {{the largest ring is this one: 2 stages, 147456 bytes}}
    %kv = async_pipeline.buffer.alloc "kv" : !async_pipeline.buffer<2, 64x576xbf16>
    %q = async_pipeline.buffer.alloc "q" : !async_pipeline.buffer<2, 64x512xbf16>
    %full = async_pipeline.mbarrier.alloc "full" : !async_pipeline.mbarrier<2>
    %empty = async_pipeline.mbarrier.alloc "empty" : !async_pipeline.mbarrier<2>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    %kv = async_pipeline.buffer.alloc "kv" : !async_pipeline.buffer<1, 64x576xbf16>
    %q = async_pipeline.buffer.alloc "q" : !async_pipeline.buffer<1, 64x512xbf16>
    %full = async_pipeline.mbarrier.alloc "full" : !async_pipeline.mbarrier<1>
    %empty = async_pipeline.mbarrier.alloc "empty" : !async_pipeline.mbarrier<1>
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{shared memory: 232448 bytes of tiles and 16 bytes of barriers exceed the 232448 bytes that a CTA has on sm_90a; not even 1 stage fits; use smaller tiles}}
  gpu.func @k() kernel {
    // expected-note @below {{the largest ring is this one: 1 stages, 232448 bytes}}
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<1, 227x1024xi8>
    %full = async_pipeline.mbarrier.alloc "full" : !async_pipeline.mbarrier<1>
    %empty = async_pipeline.mbarrier.alloc "empty" : !async_pipeline.mbarrier<1>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<1, 227x1024xi8>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<1, 1815x128xi8>
    %full = async_pipeline.mbarrier.alloc "full" : !async_pipeline.mbarrier<8>
    %empty = async_pipeline.mbarrier.alloc "empty" : !async_pipeline.mbarrier<8>
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{shared memory: 232320 bytes of tiles and 136 bytes of barriers exceed the 232448 bytes that a CTA has on sm_90a; the largest number of stages that fits is 1}}
  gpu.func @k() kernel {
    // expected-note @below {{the largest ring is this one: 1 stages, 232320 bytes}}
    %t = async_pipeline.buffer.alloc "t" : !async_pipeline.buffer<1, 1815x128xi8>
    %full = async_pipeline.mbarrier.alloc "full" : !async_pipeline.mbarrier<8>
    %empty = async_pipeline.mbarrier.alloc "empty" : !async_pipeline.mbarrier<9>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-note @below {{that allocation is here}}
    %a = async_pipeline.mbarrier.alloc "a" offset(0) : !async_pipeline.mbarrier<2>
    // expected-error @below {{starts at byte 8, within an allocation that ends at byte 16}}
    %b = async_pipeline.mbarrier.alloc "b" offset(8) : !async_pipeline.mbarrier<1>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-note @below {{this one}}
    %a = async_pipeline.mbarrier.alloc "a" offset(0) : !async_pipeline.mbarrier<2>
    // expected-error @below {{expected an offset here too, since another allocation has one}}
    %b = async_pipeline.mbarrier.alloc "b" : !async_pipeline.mbarrier<1>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected an offset within shared memory, got 4294967296}}
    %a = async_pipeline.mbarrier.alloc "a" offset(4294967296) : !async_pipeline.mbarrier<1>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{ends at byte 232456, beyond the 232448 bytes of shared memory that a CTA has on sm_90a}}
    %a = async_pipeline.mbarrier.alloc "a" offset(232448) : !async_pipeline.mbarrier<1>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    %a = async_pipeline.mbarrier.alloc "a" offset(232440) : !async_pipeline.mbarrier<1>
    gpu.return
  }
}
