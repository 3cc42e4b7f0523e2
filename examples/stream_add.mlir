// C = A + B for vectors of any length.
//
// A load role fills a ring of slots, each with a tile of A and a tile of B; the
// compute role adds them and stores to C. Nothing is said about barriers, bytes or
// parities: async-pipeline inserts them. Try
//
//   pipeline-opt examples/stream_add.mlir --target=sm_90a --emit=ptx -o stream_add.ptx
//   pipeline-run stream_add.ptx --size 1000003 --expect 'C = A + B'
//
// The grid is persistent: each CTA takes every gridDim-th tile.

gpu.module @kernels {
  gpu.func @stream_add(%A: memref<?xf32> {async_pipeline.name = "A"},
                       %B: memref<?xf32> {async_pipeline.name = "B"},
                       %C: memref<?xf32> {async_pipeline.name = "C"}) kernel
      attributes {async_pipeline.grid =
        #async_pipeline.grid<"min(ceildiv(dim(0, 0), 1024), 2 * sm_count)">} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %tile = arith.constant 1024 : index
    %n = memref.dim %A, %c0 : memref<?xf32>
    %block = gpu.block_id x
    %blocks = gpu.grid_dim x
    %tiles = arith.ceildivui %n, %tile : index

    %in = async_pipeline.channel.create "in" stages(8)
        : !async_pipeline.channel<1024xf32, 1024xf32>

    async_pipeline.roles {
      async_pipeline.role @load warps(4) {
        scf.for %t = %block to %tiles step %blocks {
          %at = arith.muli %t, %tile : index
          %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<1024xf32, 1024xf32>
          async_pipeline.work.copy %A[%at] to %s field(0)
              : memref<?xf32> to !async_pipeline.slot<1024xf32, 1024xf32>
          async_pipeline.work.copy %B[%at] to %s field(1)
              : memref<?xf32> to !async_pipeline.slot<1024xf32, 1024xf32>
          async_pipeline.channel.commit %s : !async_pipeline.slot<1024xf32, 1024xf32>
        }
      }
      async_pipeline.role @compute warps(4) {
        %thread = async_pipeline.role.thread_id : index
        %threads = async_pipeline.role.thread_count : index
        %first = arith.muli %thread, %c4 : index
        %step = arith.muli %threads, %c4 : index
        scf.for %t = %block to %tiles step %blocks {
          %at = arith.muli %t, %tile : index
          %s = async_pipeline.channel.wait %in : !async_pipeline.channel<1024xf32, 1024xf32>
          %a = async_pipeline.channel.view %s field(0)
              : !async_pipeline.slot<1024xf32, 1024xf32> to memref<1024xf32, #gpu.address_space<workgroup>>
          %b = async_pipeline.channel.view %s field(1)
              : !async_pipeline.slot<1024xf32, 1024xf32> to memref<1024xf32, #gpu.address_space<workgroup>>
          // Four elements per thread and step; the last tile may end within four.
          scf.for %k = %c0 to %tile step %step {
            %i = arith.addi %k, %first : index
            %g = arith.addi %at, %i : index
            %va = vector.load %a[%i] {alignment = 16 : i64}
                : memref<1024xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            %vb = vector.load %b[%i] {alignment = 16 : i64}
                : memref<1024xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            %sum = arith.addf %va, %vb : vector<4xf32>
            %end = arith.addi %g, %c4 : index
            %whole = arith.cmpi ule, %end, %n : index
            scf.if %whole {
              vector.store %sum, %C[%g] {alignment = 16 : i64} : memref<?xf32>, vector<4xf32>
            } else {
              scf.for %j = %c0 to %c4 step %c1 {
                %gj = arith.addi %g, %j : index
                %there = arith.cmpi ult, %gj, %n : index
                scf.if %there {
                  %x = vector.extract %sum[%j] : f32 from vector<4xf32>
                  memref.store %x, %C[%gj] : memref<?xf32>
                }
              }
            }
          }
          async_pipeline.channel.release %s : !async_pipeline.slot<1024xf32, 1024xf32>
        }
      }
    }
    gpu.return
  }
}
