// C = A + B over a ring of four stages, written by hand at the barrier level.
//
// This is what a kernel engineer would write without the compiler's channels: every
// barrier, count, parity and wait is spelled out, and the same text runs on sm_80, sm_90a
// and sm_100a, since it needs nothing that sm_80 lacks.
//
//   4 warps load     wait empty ─► 16-byte cp.async of A and B ─► asynchronous arrive on full
//   8 warps compute  wait full  ─► load, add, store C          ─► one arrive per warp on empty
//
// Counts. `full` wants 128 arrivals, one from each loading thread: the `noinc` form of the
// asynchronous arrive counts each thread's arrive when its copies have landed. `empty` wants
// 8, one per computing warp; `warp.sync` stands in front of it so that no lane still reads
// the slot, and so that no lane still waits for a phase that is about to be overtaken.
//
// Parity. Stage and parity run on through all tiles of a CTA and are never reset. The loads
// wait for the opposite parity: on a fresh barrier that passes at once, since every slot
// starts out empty.
//
// Lengths. Any, 0 included: the last tile is filled up with zeros (`valid`), and of the last
// vector only the elements that exist are stored. A, B and C start at multiples of 16 bytes
// and have gapless elements.
gpu.module @handwritten {
  gpu.func @handwritten_ring(%A: memref<?xf32> {async_pipeline.name = "A"},
                             %B: memref<?xf32> {async_pipeline.name = "B"},
                             %C: memref<?xf32> {async_pipeline.name = "C"}) kernel
      attributes {async_pipeline.grid = #async_pipeline.grid<"min(ceildiv(dim(0, 0), 2048), 8 * sm_count)">} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %c128 = arith.constant 128 : index
    %c256 = arith.constant 256 : index
    %c512 = arith.constant 512 : index
    %c2048 = arith.constant 2048 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %four = arith.constant 4 : i32

    %a = async_pipeline.buffer.alloc "a" : !async_pipeline.buffer<4, 2048xf32>
    %b = async_pipeline.buffer.alloc "b" : !async_pipeline.buffer<4, 2048xf32>
    %full = async_pipeline.mbarrier.alloc "full" : !async_pipeline.mbarrier<4>
    %empty = async_pipeline.mbarrier.alloc "empty" : !async_pipeline.mbarrier<4>

    %n = memref.dim %A, %c0 : memref<?xf32>
    %tiles = arith.ceildivui %n, %c2048 : index
    %block = gpu.block_id x
    %blocks = gpu.grid_dim x
    %thread = gpu.thread_id x
    %first = arith.cmpi eq, %thread, %c0 : index

    scf.if %first {
      async_pipeline.mbarrier.init %full count(128) : !async_pipeline.mbarrier<4>
      async_pipeline.mbarrier.init %empty count(8) : !async_pipeline.mbarrier<4>
    }
    async_pipeline.cta.barrier

    async_pipeline.roles {
      async_pipeline.role @load warps(4) {
        %t = async_pipeline.role.thread_id : index
        scf.for %tile = %block to %tiles step %blocks
            iter_args(%stage = %zero, %parity = %zero) -> (i32, i32) {
          %free = arith.xori %parity, %one : i32
          async_pipeline.mbarrier.wait %empty[%stage], %free : !async_pipeline.mbarrier<4>
          %ta = async_pipeline.buffer.slot %a[%stage]
              : !async_pipeline.buffer<4, 2048xf32> to memref<2048xf32, #gpu.address_space<workgroup>>
          %tb = async_pipeline.buffer.slot %b[%stage]
              : !async_pipeline.buffer<4, 2048xf32> to memref<2048xf32, #gpu.address_space<workgroup>>
          %start = arith.muli %tile, %c2048 : index
          // 512 vectors of four elements over 128 threads.
          scf.for %v = %t to %c512 step %c128 {
            %e = arith.muli %v, %c4 : index
            %g = arith.addi %start, %e : index
            // How many of the four exist, in bytes.
            %left = arith.subi %n, %g : index
            %low = arith.maxsi %left, %c0 : index
            %some = arith.minsi %low, %c4 : index
            %bytes = arith.muli %some, %c4 : index
            %valid = arith.index_cast %bytes : index to i32
            async_pipeline.cp_async.copy %A[%g] to %ta[%e] bytes(16) valid(%valid)
                : memref<?xf32> to memref<2048xf32, #gpu.address_space<workgroup>>
            async_pipeline.cp_async.copy %B[%g] to %tb[%e] bytes(16) valid(%valid)
                : memref<?xf32> to memref<2048xf32, #gpu.address_space<workgroup>>
          }
          async_pipeline.cp_async.mbarrier.arrive %full[%stage] noinc : !async_pipeline.mbarrier<4>
          %up = arith.addi %stage, %one : i32
          %wrap = arith.cmpi eq, %up, %four : i32
          %next = arith.select %wrap, %zero, %up : i32
          %flipped = arith.xori %parity, %one : i32
          %turned = arith.select %wrap, %flipped, %parity : i32
          scf.yield %next, %turned : i32, i32
        }
      }
      async_pipeline.role @compute warps(8) {
        %t = async_pipeline.role.thread_id : index
        %lane = arith.remui %t, %c32 : index
        %leader = arith.cmpi eq, %lane, %c0 : index
        scf.for %tile = %block to %tiles step %blocks
            iter_args(%stage = %zero, %parity = %zero) -> (i32, i32) {
          async_pipeline.mbarrier.wait %full[%stage], %parity : !async_pipeline.mbarrier<4>
          %ta = async_pipeline.buffer.slot %a[%stage]
              : !async_pipeline.buffer<4, 2048xf32> to memref<2048xf32, #gpu.address_space<workgroup>>
          %tb = async_pipeline.buffer.slot %b[%stage]
              : !async_pipeline.buffer<4, 2048xf32> to memref<2048xf32, #gpu.address_space<workgroup>>
          %start = arith.muli %tile, %c2048 : index
          // 512 vectors of four elements over 256 threads.
          scf.for %v = %t to %c512 step %c256 {
            %e = arith.muli %v, %c4 : index
            %x = vector.load %ta[%e] {alignment = 16 : i64}
                : memref<2048xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            %y = vector.load %tb[%e] {alignment = 16 : i64}
                : memref<2048xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            %sum = arith.addf %x, %y : vector<4xf32>
            %g = arith.addi %start, %e : index
            %left = arith.subi %n, %g : index
            %whole = arith.cmpi sge, %left, %c4 : index
            scf.if %whole {
              vector.store %sum, %C[%g] {alignment = 16 : i64} : memref<?xf32>, vector<4xf32>
            } else {
              // The last vector: at most three elements, or none.
              scf.for %i = %c0 to %left step %c1 {
                %ei = arith.addi %e, %i : index
                %at = arith.addi %g, %i : index
                %xi = memref.load %ta[%ei] : memref<2048xf32, #gpu.address_space<workgroup>>
                %yi = memref.load %tb[%ei] : memref<2048xf32, #gpu.address_space<workgroup>>
                %si = arith.addf %xi, %yi : f32
                memref.store %si, %C[%at] : memref<?xf32>
              }
            }
          }
          async_pipeline.warp.sync
          scf.if %leader {
            async_pipeline.mbarrier.arrive %empty[%stage] : !async_pipeline.mbarrier<4>
          }
          %up = arith.addi %stage, %one : i32
          %wrap = arith.cmpi eq, %up, %four : i32
          %next = arith.select %wrap, %zero, %up : i32
          %flipped = arith.xori %parity, %one : i32
          %turned = arith.select %wrap, %flipped, %parity : i32
          scf.yield %next, %turned : i32, i32
        }
      }
    }

    async_pipeline.cta.barrier
    scf.if %first {
      async_pipeline.mbarrier.inval %full : !async_pipeline.mbarrier<4>
      async_pipeline.mbarrier.inval %empty : !async_pipeline.mbarrier<4>
    }
    gpu.return
  }
}
