// Tests that the examples in the reference of the tile level parse.

// RUN: pipeline-opt %s
// RUN: %python %S/Inputs/examples.py %s %S/../../dialect/TileOps.td

gpu.module @m {
  gpu.func @tiles(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf16>, %X: memref<?x?xf32>,
                  %i: index, %j: index, %k: index, %m: index, %n: index, %low: f32) kernel {
    %a = async_pipeline.tile.alloc "a" : !async_pipeline.buffer<128x64xf16>
    %b = async_pipeline.tile.alloc : !async_pipeline.buffer<256x64xf16>
    %acc = async_pipeline.tile.accumulator : !async_pipeline.accumulator<128x256xf32>
    %w = async_pipeline.tile.window %A[%i, %j] sizes [%m, %n]
        : memref<?x?xf16> to !async_pipeline.window<?x?xf16>
    async_pipeline.work.copy %B[%n, %k] to %b
        : memref<?x?xf16> to !async_pipeline.buffer<256x64xf16>
    async_pipeline.work.mma %acc += %a * transpose %b
        : !async_pipeline.accumulator<128x256xf32>, !async_pipeline.buffer<128x64xf16>, !async_pipeline.buffer<256x64xf16>
    %f = async_pipeline.work.load %acc : !async_pipeline.accumulator<128x256xf32> to vector<128x256xf32>
    %x = async_pipeline.work.load %X[%i, %j] fill(%low : f32) : memref<?x?xf32> to vector<16x1024xf32>
    %h = arith.truncf %f : vector<128x256xf32> to vector<128x256xf16>
    async_pipeline.work.store %h to %C[%i, %j] : vector<128x256xf16> to memref<?x?xf16>
    async_pipeline.work.store %f to %X[%i, %j] reduce add : vector<128x256xf32> to memref<?x?xf32>
    gpu.return
  }

  gpu.func @slots(%X: memref<?x?xf32>, %i: index, %j: index) kernel {
    %in = async_pipeline.channel.create "in" : !async_pipeline.channel<64x64xf32>
    %tiles = async_pipeline.channel.create "tiles" : !async_pipeline.channel<128x64xf16, 256x64xf16>
    async_pipeline.roles {
      async_pipeline.role @load warps(1) {
        %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64x64xf32>
        async_pipeline.work.copy %X[%i, %j] to %s field(0)
            : memref<?x?xf32> to !async_pipeline.slot<64x64xf32>
        async_pipeline.channel.commit %s : !async_pipeline.slot<64x64xf32>
      }
      async_pipeline.role @multiply warps(4) {
        %acc = async_pipeline.tile.accumulator : !async_pipeline.accumulator<128x256xf32>
        %t = async_pipeline.channel.wait %tiles : !async_pipeline.channel<128x64xf16, 256x64xf16>
        async_pipeline.work.mma %acc += %t field(0) * transpose %t field(1)
            : !async_pipeline.accumulator<128x256xf32>, !async_pipeline.slot<128x64xf16, 256x64xf16>, !async_pipeline.slot<128x64xf16, 256x64xf16>
        async_pipeline.channel.release %t : !async_pipeline.slot<128x64xf16, 256x64xf16>
      }
    }
    gpu.return
  }
}
