// Tests that the examples in the reference of tensor cores parse.

// RUN: pipeline-opt %s
// RUN: %python %S/Inputs/examples.py %s %S/../../dialect/TensorOps.td
// RUN: %python %S/Inputs/examples.py %s %S/../../dialect/MmaOps.td

gpu.module @m {
  gpu.func @k(%stage: i32, %accumulate: i1) kernel {
    %c0 = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<1, 1xi32>
    %a = async_pipeline.buffer.alloc "a" : !async_pipeline.buffer<3, 128x64xf16, swizzle 128>
    %b = async_pipeline.buffer.alloc "b" : !async_pipeline.buffer<3, 128x64xf16, swizzle 128>
    %empty = async_pipeline.mbarrier.alloc "empty" : !async_pipeline.mbarrier<3>
    async_pipeline.tcgen05.alloc %where[%c0] columns(128) : !async_pipeline.buffer<1, 1xi32>
    async_pipeline.tcgen05.relinquish
    async_pipeline.tcgen05.fence_before
    async_pipeline.cta.barrier
    async_pipeline.tcgen05.fence_after
    %acc = async_pipeline.tcgen05.address %where[%c0] : !async_pipeline.buffer<1, 1xi32> to !async_pipeline.tmem<128>
    async_pipeline.tcgen05.mma %acc[%c0], %a[%stage], %b[%stage], %accumulate
        : !async_pipeline.tmem<128>, !async_pipeline.buffer<3, 128x64xf16, swizzle 128>, !async_pipeline.buffer<3, 128x64xf16, swizzle 128>
    async_pipeline.tcgen05.commit %empty[%stage] : !async_pipeline.mbarrier<3>
    %v = async_pipeline.tcgen05.ld %acc[%c0] : !async_pipeline.tmem<128> -> vector<32xf32>
    async_pipeline.tcgen05.wait_ld
    async_pipeline.tcgen05.st %v to %acc[%c0] : vector<32xf32> to !async_pipeline.tmem<128>
    async_pipeline.tcgen05.wait_st
    async_pipeline.tcgen05.dealloc %acc : !async_pipeline.tmem<128>
    gpu.return
  }
  gpu.func @slice(%at: i32) kernel {
    %c0 = arith.constant 0 : i32
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<1, 1xi32>
    async_pipeline.tcgen05.alloc %where[%c0] columns(256) : !async_pipeline.buffer<1, 1xi32>
    %acc = async_pipeline.tcgen05.address %where[%c0] : !async_pipeline.buffer<1, 1xi32> to !async_pipeline.tmem<256>
    %half = async_pipeline.tcgen05.slice %acc[%at] : !async_pipeline.tmem<256> to !async_pipeline.tmem<128>
    gpu.return
  }
  gpu.func @registers(%stage: i32, %offset: i32) kernel {
    %a = async_pipeline.buffer.alloc "a" : !async_pipeline.buffer<3, 128x64xf16, swizzle 128>
    %b = async_pipeline.buffer.alloc "b" : !async_pipeline.buffer<3, 128x64xf16, swizzle 128>
    async_pipeline.roles {
      async_pipeline.role @compute warps(4) {
        %acc = async_pipeline.tile.accumulator : !async_pipeline.accumulator<128x128xf32>
        async_pipeline.mma.sync %acc += %a[%stage] * transpose %b[%stage]
            : !async_pipeline.accumulator<128x128xf32>, !async_pipeline.buffer<3, 128x64xf16, swizzle 128>, !async_pipeline.buffer<3, 128x64xf16, swizzle 128>
        %w:4 = async_pipeline.ldmatrix %a[%stage], %offset plus(2048)
            : !async_pipeline.buffer<3, 128x64xf16, swizzle 128> -> i32, i32, i32, i32
      }
    }
    gpu.return
  }
}
