// Tests that kernels are refused whose sums cannot lie in tensor memory, or whose loops cannot be shared by
// several roles.

// RUN: pipeline-opt %s --split-input-file --verify-diagnostics --async-pipeline-partition=target=sm_100a

// A sum that nobody loads.

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %a = async_pipeline.tile.alloc "a" : !async_pipeline.buffer<128x64xf16>
    %b = async_pipeline.tile.alloc "b" : !async_pipeline.buffer<64x64xf16>
    // expected-error @below {{expected an accumulator that is loaded, got none}}
    %sum = async_pipeline.tile.accumulator : !async_pipeline.accumulator<128x64xf32>
    async_pipeline.work.copy %A[%c0, %c0] to %a : memref<?x?xf16> to !async_pipeline.buffer<128x64xf16>
    async_pipeline.work.copy %B[%c0, %c0] to %b : memref<?x?xf16> to !async_pipeline.buffer<64x64xf16>
    async_pipeline.work.mma %sum += %a * transpose %b
        : !async_pipeline.accumulator<128x64xf32>, !async_pipeline.buffer<128x64xf16>, !async_pipeline.buffer<64x64xf16>
    gpu.return
  }
}

// -----

// A sum that is loaded while products still run.

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %a = async_pipeline.tile.alloc "a" : !async_pipeline.buffer<128x64xf16>
    %b = async_pipeline.tile.alloc "b" : !async_pipeline.buffer<64x64xf16>
    %sum = async_pipeline.tile.accumulator : !async_pipeline.accumulator<128x64xf32>
    async_pipeline.work.copy %A[%c0, %c0] to %a : memref<?x?xf16> to !async_pipeline.buffer<128x64xf16>
    async_pipeline.work.copy %B[%c0, %c0] to %b : memref<?x?xf16> to !async_pipeline.buffer<64x64xf16>
    async_pipeline.work.mma %sum += %a * transpose %b
        : !async_pipeline.accumulator<128x64xf32>, !async_pipeline.buffer<128x64xf16>, !async_pipeline.buffer<64x64xf16>
    // expected-error @below {{expected an accumulator in tensor memory to be loaded behind its last product}}
    %f = async_pipeline.work.load %sum : !async_pipeline.accumulator<128x64xf32> to vector<128x64xf32>
    async_pipeline.work.store %f to %C[%c0, %c0] : vector<128x64xf32> to memref<?x?xf32>
    // expected-note @below {{a product is here}}
    async_pipeline.work.mma %sum += %a * transpose %b
        : !async_pipeline.accumulator<128x64xf32>, !async_pipeline.buffer<128x64xf16>, !async_pipeline.buffer<64x64xf16>
    gpu.return
  }
}

// -----

// A sum that is loaded in the loop that adds to it.

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>, %n: index, %p: i1) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %a = async_pipeline.tile.alloc "a" : !async_pipeline.buffer<128x64xf16>
    %b = async_pipeline.tile.alloc "b" : !async_pipeline.buffer<64x64xf16>
    %sum = async_pipeline.tile.accumulator : !async_pipeline.accumulator<128x64xf32>
    // expected-error @below {{expected an accumulator in tensor memory to be loaded behind its last product}}
    // expected-note @below {{a product is here}}
    scf.for %k = %c0 to %n step %c64 {
      async_pipeline.work.copy %A[%c0, %c0] to %a : memref<?x?xf16> to !async_pipeline.buffer<128x64xf16>
      async_pipeline.work.copy %B[%c0, %c0] to %b : memref<?x?xf16> to !async_pipeline.buffer<64x64xf16>
      async_pipeline.work.mma %sum += %a * transpose %b
          : !async_pipeline.accumulator<128x64xf32>, !async_pipeline.buffer<128x64xf16>, !async_pipeline.buffer<64x64xf16>
      %f = async_pipeline.work.load %sum : !async_pipeline.accumulator<128x64xf32> to vector<128x64xf32>
      async_pipeline.work.store %f to %C[%c0, %c0] : vector<128x64xf32> to memref<?x?xf32>
    }
    gpu.return
  }
}

// -----

// A product in a loop in a branch: whether it runs is not known in front of the load.

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>, %n: index, %p: i1) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %a = async_pipeline.tile.alloc "a" : !async_pipeline.buffer<128x64xf16>
    %b = async_pipeline.tile.alloc "b" : !async_pipeline.buffer<64x64xf16>
    // expected-note @below {{the accumulator is made here}}
    %sum = async_pipeline.tile.accumulator : !async_pipeline.accumulator<128x64xf32>
    scf.if %p {
      scf.for %k = %c0 to %n step %c64 {
        async_pipeline.work.copy %A[%c0, %c0] to %a : memref<?x?xf16> to !async_pipeline.buffer<128x64xf16>
        async_pipeline.work.copy %B[%c0, %c0] to %b : memref<?x?xf16> to !async_pipeline.buffer<64x64xf16>
        // expected-error @below {{a product that stands deeper than in one scf.for or scf.if below its accumulator, here in scf.if, is not supported by the lowering of the tile level}}
        async_pipeline.work.mma %sum += %a * transpose %b
            : !async_pipeline.accumulator<128x64xf32>, !async_pipeline.buffer<128x64xf16>, !async_pipeline.buffer<64x64xf16>
      }
    }
    %f = async_pipeline.work.load %sum : !async_pipeline.accumulator<128x64xf32> to vector<128x64xf32>
    async_pipeline.work.store %f to %C[%c0, %c0] : vector<128x64xf32> to memref<?x?xf32>
    gpu.return
  }
}

// -----

// A loop of which one role would carry the values and another do the work.

gpu.module @m {
  gpu.func @k(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>, %n: index, %p: i1) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : vector<128x64xf32>
    %a = async_pipeline.tile.alloc "a" : !async_pipeline.buffer<128x64xf16>
    %b = async_pipeline.tile.alloc "b" : !async_pipeline.buffer<64x64xf16>
    // expected-error @below {{a loop that carries values and holds work of several roles is not supported by the lowering of the tile level}}
    %all = scf.for %k = %c0 to %n step %c64 iter_args(%before = %zero) -> (vector<128x64xf32>) {
      %sum = async_pipeline.tile.accumulator : !async_pipeline.accumulator<128x64xf32>
      // expected-note @below {{work of another role is here}}
      async_pipeline.work.copy %A[%c0, %c0] to %a : memref<?x?xf16> to !async_pipeline.buffer<128x64xf16>
      async_pipeline.work.copy %B[%c0, %c0] to %b : memref<?x?xf16> to !async_pipeline.buffer<64x64xf16>
      async_pipeline.work.mma %sum += %a * transpose %b
          : !async_pipeline.accumulator<128x64xf32>, !async_pipeline.buffer<128x64xf16>, !async_pipeline.buffer<64x64xf16>
      %f = async_pipeline.work.load %sum : !async_pipeline.accumulator<128x64xf32> to vector<128x64xf32>
      %after = arith.addf %before, %f : vector<128x64xf32>
      scf.yield %after : vector<128x64xf32>
    }
    async_pipeline.work.store %all to %C[%c0, %c0] : vector<128x64xf32> to memref<?x?xf32>
    gpu.return
  }
}
