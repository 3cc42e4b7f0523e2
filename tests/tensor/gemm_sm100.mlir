// C = A · Bᵀ on the tensor core of sm_100a, written by hand at the barrier level.
//
// A is M x K and B is N x K, both f16; C is M x N in f32. Each CTA makes one tile of
// 128 x 128, in steps of 64 along K over a ring of three stages.
//
//   1 warp  load      wait empty ─► announce bytes ─► tensor copies of A and B, on full
//   1 warp  multiply  wait full  ─► mma ─► commit on empty; behind the last one commit on done
//   4 warps store     wait done  ─► tensor memory ─► registers ─► C
//
// Counts. `full` wants the one arrival that announces bytes, `empty` and `done` the one of a
// commit, which comes when the tensor core has read the slots and written its sums.
//
// Tensor memory. Warp 0 allocates the 128 columns of the sum and gives up the right to
// allocate more; every thread reads the address behind the CTA barrier. Warp 0 frees them
// when all have met again. Between tensor memory and each barrier or wait stands a fence;
// a commit needs none.
//
// Sizes. Any, with K at least 1: what the copies read outside A and B is zero, and only what
// exists of C is stored.
gpu.module @tensor {
  gpu.func @gemm_sm100(%A: memref<?x?xf16> {async_pipeline.name = "A"},
                       %B: memref<?x?xf16> {async_pipeline.name = "B"},
                       %C: memref<?x?xf32> {async_pipeline.name = "C"}) kernel
      attributes {async_pipeline.grid = #async_pipeline.grid<"ceildiv(dim(1, 0), 128)", "ceildiv(dim(0, 0), 128)">} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %three = arith.constant 3 : i32
    %bytes = arith.constant 32768 : i32

    %map_a = async_pipeline.tma.descriptor %A
        : memref<?x?xf16> to !async_pipeline.tensor_map<128x64xf16, swizzle 128>
    %map_b = async_pipeline.tma.descriptor %B
        : memref<?x?xf16> to !async_pipeline.tensor_map<128x64xf16, swizzle 128>
    %a = async_pipeline.buffer.alloc "a" : !async_pipeline.buffer<3, 128x64xf16, swizzle 128>
    %b = async_pipeline.buffer.alloc "b" : !async_pipeline.buffer<3, 128x64xf16, swizzle 128>
    %where = async_pipeline.buffer.alloc "where" : !async_pipeline.buffer<1, 1xi32>
    %full = async_pipeline.mbarrier.alloc "full" : !async_pipeline.mbarrier<3>
    %empty = async_pipeline.mbarrier.alloc "empty" : !async_pipeline.mbarrier<3>
    %done = async_pipeline.mbarrier.alloc "done" : !async_pipeline.mbarrier<1>

    %rows = memref.dim %A, %c0 : memref<?x?xf16>
    %cols = memref.dim %B, %c0 : memref<?x?xf16>
    %depth = memref.dim %A, %c1 : memref<?x?xf16>
    %steps = arith.ceildivui %depth, %c64 : index
    %block_x = gpu.block_id x
    %block_y = gpu.block_id y
    %n = arith.muli %block_x, %c128 : index
    %m = arith.muli %block_y, %c128 : index
    %thread = gpu.thread_id x
    %first = arith.cmpi eq, %thread, %c0 : index
    %warp_0 = arith.cmpi ult, %thread, %c32 : index

    scf.if %first {
      async_pipeline.mbarrier.init %full count(1) : !async_pipeline.mbarrier<3>
      async_pipeline.mbarrier.init %empty count(1) : !async_pipeline.mbarrier<3>
      async_pipeline.mbarrier.init %done count(1) : !async_pipeline.mbarrier<1>
      async_pipeline.fence.mbarrier_init
    }
    scf.if %warp_0 {
      async_pipeline.warp.sync
      async_pipeline.tcgen05.alloc %where[%zero] columns(128) : !async_pipeline.buffer<1, 1xi32>
      async_pipeline.tcgen05.relinquish
    }
    async_pipeline.tcgen05.fence_before
    async_pipeline.cta.barrier
    async_pipeline.tcgen05.fence_after
    %acc = async_pipeline.tcgen05.address %where[%zero]
        : !async_pipeline.buffer<1, 1xi32> to !async_pipeline.tmem<128>

    async_pipeline.roles {
      async_pipeline.role @load warps(1) elected {
        %mi = arith.index_cast %m : index to i32
        %ni = arith.index_cast %n : index to i32
        scf.for %step = %c0 to %steps step %c1
            iter_args(%stage = %zero, %parity = %zero) -> (i32, i32) {
          %k = arith.muli %step, %c64 : index
          %ki = arith.index_cast %k : index to i32
          %free = arith.xori %parity, %one : i32
          async_pipeline.mbarrier.wait %empty[%stage], %free : !async_pipeline.mbarrier<3>
          async_pipeline.mbarrier.arrive.expect_tx %full[%stage], %bytes : !async_pipeline.mbarrier<3>
          async_pipeline.tma.load %map_a[%mi, %ki] to %a[%stage], %full[%stage]
              : !async_pipeline.tensor_map<128x64xf16, swizzle 128> to !async_pipeline.buffer<3, 128x64xf16, swizzle 128>, !async_pipeline.mbarrier<3>
          async_pipeline.tma.load %map_b[%ni, %ki] to %b[%stage], %full[%stage]
              : !async_pipeline.tensor_map<128x64xf16, swizzle 128> to !async_pipeline.buffer<3, 128x64xf16, swizzle 128>, !async_pipeline.mbarrier<3>
          %up = arith.addi %stage, %one : i32
          %wrap = arith.cmpi eq, %up, %three : i32
          %next = arith.select %wrap, %zero, %up : i32
          %flipped = arith.xori %parity, %one : i32
          %turned = arith.select %wrap, %flipped, %parity : i32
          scf.yield %next, %turned : i32, i32
        }
      }
      async_pipeline.role @multiply warps(1) elected {
        scf.for %step = %c0 to %steps step %c1
            iter_args(%stage = %zero, %parity = %zero) -> (i32, i32) {
          async_pipeline.mbarrier.wait %full[%stage], %parity : !async_pipeline.mbarrier<3>
          async_pipeline.tcgen05.fence_after
          %adds = arith.cmpi ne, %step, %c0 : index
          async_pipeline.tcgen05.mma %acc[%zero], %a[%stage], %b[%stage], %adds
              : !async_pipeline.tmem<128>, !async_pipeline.buffer<3, 128x64xf16, swizzle 128>, !async_pipeline.buffer<3, 128x64xf16, swizzle 128>
          async_pipeline.tcgen05.commit %empty[%stage] : !async_pipeline.mbarrier<3>
          %up = arith.addi %stage, %one : i32
          %wrap = arith.cmpi eq, %up, %three : i32
          %next = arith.select %wrap, %zero, %up : i32
          %flipped = arith.xori %parity, %one : i32
          %turned = arith.select %wrap, %flipped, %parity : i32
          scf.yield %next, %turned : i32, i32
        }
        async_pipeline.tcgen05.commit %done[%zero] : !async_pipeline.mbarrier<1>
      }
      async_pipeline.role @store warps(4) {
        // Row of the tile: the lane of tensor memory that this thread reaches.
        %lane = arith.remui %thread, %c128 : index
        %row = arith.addi %m, %lane : index
        %inside = arith.cmpi ult, %row, %rows : index
        async_pipeline.mbarrier.wait %done[%zero], %zero : !async_pipeline.mbarrier<1>
        async_pipeline.tcgen05.fence_after
        scf.for %at = %c0 to %c128 step %c32 {
          %column = arith.index_cast %at : index to i32
          %v = async_pipeline.tcgen05.ld %acc[%column] : !async_pipeline.tmem<128> -> vector<32xf32>
          async_pipeline.tcgen05.wait_ld
          scf.if %inside {
            %col = arith.addi %n, %at : index
            %left = arith.subi %cols, %col : index
            %whole = arith.cmpi sge, %left, %c32 : index
            scf.if %whole {
              vector.store %v, %C[%row, %col] {alignment = 16 : i64} : memref<?x?xf32>, vector<32xf32>
            } else {
              %mask = vector.create_mask %left : vector<32xi1>
              vector.maskedstore %C[%row, %col], %mask, %v
                  : memref<?x?xf32>, vector<32xi1>, vector<32xf32>
            }
          }
        }
        async_pipeline.tcgen05.fence_before
      }
    }

    async_pipeline.cta.barrier
    async_pipeline.tcgen05.fence_after
    scf.if %warp_0 {
      async_pipeline.tcgen05.dealloc %acc : !async_pipeline.tmem<128>
    }
    scf.if %first {
      async_pipeline.mbarrier.inval %full : !async_pipeline.mbarrier<3>
      async_pipeline.mbarrier.inval %empty : !async_pipeline.mbarrier<3>
      async_pipeline.mbarrier.inval %done : !async_pipeline.mbarrier<1>
    }
    gpu.return
  }
}
