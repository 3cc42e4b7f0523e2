// Tests that attributes of kernels and arguments are held to their values and places.

// RUN: pipeline-opt %s --split-input-file --verify-diagnostics

gpu.module @m {
  // expected-error @below {{expected 1 to 3 grid expressions, got 4}}
  gpu.func @k() kernel attributes {async_pipeline.grid = #async_pipeline.grid<"1", "1", "1", "1">} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{expected string}}
  gpu.func @k() kernel attributes {async_pipeline.grid = #async_pipeline.grid<>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{expected string}}
  gpu.func @k() kernel attributes {async_pipeline.grid = #async_pipeline.grid<4>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{grid expression: at byte 0: unknown name `blocks`; known are ceildiv, dim, floordiv, max, min, scalar and sm_count}}
  gpu.func @k() kernel attributes {async_pipeline.grid = #async_pipeline.grid<"blocks">} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{grid expression: at byte 20: expected `)`, got end of the expression}}
  gpu.func @k() kernel attributes {async_pipeline.grid = #async_pipeline.grid<"ceildiv(dim(0, 0), 4">} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{grid expression: at byte 3: expected a number, a name or `(`, got end of the expression}}
  gpu.func @k() kernel attributes {async_pipeline.grid = #async_pipeline.grid<"1 +">} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{grid expression: at byte 0: the number does not fit in 64 bits}}
  gpu.func @k() kernel attributes {async_pipeline.grid = #async_pipeline.grid<"99999999999999999999">} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{the expression is nested deeper than 48 levels}}
  gpu.func @k() kernel attributes {async_pipeline.grid = #async_pipeline.grid<"((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))">} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{expected async_pipeline.grid to be an #async_pipeline.grid, got "1"}}
  gpu.func @k() kernel attributes {async_pipeline.grid = "1"} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{unknown attribute async_pipeline.cluster; a kernel may have async_pipeline.grid, an scf.for async_pipeline.stages and async_pipeline.exactly}}
  gpu.func @k() kernel attributes {async_pipeline.cluster = 2 : i32} {
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected async_pipeline.grid on a gpu.func, got arith.constant}}
    %c = arith.constant {async_pipeline.grid = #async_pipeline.grid<"1">} 0 : index
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{expected async_pipeline.align to be 4, 8 or 16, got 3 : i64}}
  gpu.func @k(%A: memref<?xf32> {async_pipeline.align = 3 : i64}) kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{expected async_pipeline.align to be 4, 8 or 16, got 32 : i64}}
  gpu.func @k(%A: memref<?xf32> {async_pipeline.align = 32 : i64}) kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{expected async_pipeline.align to be 4, 8 or 16, got "16"}}
  gpu.func @k(%A: memref<?xf32> {async_pipeline.align = "16"}) kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{expected async_pipeline.align on a memref argument, got f32}}
  gpu.func @k(%A: f32 {async_pipeline.align = 16 : i64}) kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{expected async_pipeline.may_alias on a memref argument, got index}}
  gpu.func @k(%A: index {async_pipeline.may_alias}) kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{expected async_pipeline.may_alias without a value, got false}}
  gpu.func @k(%A: memref<?xf32> {async_pipeline.may_alias = false}) kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{expected async_pipeline.name to be an identifier in quotes, got "a b"}}
  gpu.func @k(%A: memref<?xf32> {async_pipeline.name = "a b"}) kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{expected async_pipeline.name to be an identifier in quotes, got ""}}
  gpu.func @k(%A: memref<?xf32> {async_pipeline.name = ""}) kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{expected async_pipeline.name to be an identifier in quotes, got "1a"}}
  gpu.func @k(%A: memref<?xf32> {async_pipeline.name = "1a"}) kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{expected async_pipeline.name to be an identifier in quotes, got 3 : i32}}
  gpu.func @k(%A: memref<?xf32> {async_pipeline.name = 3 : i32}) kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{unknown argument attribute async_pipeline.alignment; there are async_pipeline.name, async_pipeline.align and async_pipeline.may_alias}}
  gpu.func @k(%A: memref<?xf32> {async_pipeline.alignment = 16 : i64}) kernel {
    gpu.return
  }
}
