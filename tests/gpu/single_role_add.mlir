// C = A + B by one role that both loads and adds: the multistage form without
// specialisation. Loads run ahead of the adds by stages - 1 tiles.
gpu.module @kernels {
  gpu.func @stream_add_single(%A: memref<?xf32> {async_pipeline.name = "A"},
                              %B: memref<?xf32> {async_pipeline.name = "B"},
                              %C: memref<?xf32> {async_pipeline.name = "C"}) kernel
      attributes {async_pipeline.grid =
        #async_pipeline.grid<"min(ceildiv(dim(0, 0), 1024), 2 * sm_count)">} {
    %c0 = arith.constant 0 : index
    %tile = arith.constant 1024 : index
    %n = memref.dim %A, %c0 : memref<?xf32>
    %block = gpu.block_id x
    %blocks = gpu.grid_dim x
    %tiles = arith.ceildivui %n, %tile : index
    %a = async_pipeline.channel.create "a" stages(6) : !async_pipeline.channel<1024xf32>
    %b = async_pipeline.channel.create "b" stages(4) : !async_pipeline.channel<1024xf32>
    async_pipeline.roles {
      async_pipeline.role @all warps(4) {
        %thread = async_pipeline.role.thread_id : index
        %threads = async_pipeline.role.thread_count : index
        scf.for %t = %block to %tiles step %blocks {
          %at = arith.muli %t, %tile : index
          %sa = async_pipeline.channel.acquire %a : !async_pipeline.channel<1024xf32>
          async_pipeline.work.copy %A[%at] to %sa : memref<?xf32> to !async_pipeline.slot<1024xf32>
          async_pipeline.channel.commit %sa : !async_pipeline.slot<1024xf32>
          %sb = async_pipeline.channel.acquire %b : !async_pipeline.channel<1024xf32>
          async_pipeline.work.copy %B[%at] to %sb : memref<?xf32> to !async_pipeline.slot<1024xf32>
          async_pipeline.channel.commit %sb : !async_pipeline.slot<1024xf32>
          %wa = async_pipeline.channel.wait %a : !async_pipeline.channel<1024xf32>
          %wb = async_pipeline.channel.wait %b : !async_pipeline.channel<1024xf32>
          %va = async_pipeline.channel.view %wa
              : !async_pipeline.slot<1024xf32> to memref<1024xf32, #gpu.address_space<workgroup>>
          %vb = async_pipeline.channel.view %wb
              : !async_pipeline.slot<1024xf32> to memref<1024xf32, #gpu.address_space<workgroup>>
          scf.for %i = %thread to %tile step %threads {
            %g = arith.addi %at, %i : index
            %x = memref.load %va[%i] : memref<1024xf32, #gpu.address_space<workgroup>>
            %y = memref.load %vb[%i] : memref<1024xf32, #gpu.address_space<workgroup>>
            %sum = arith.addf %x, %y : f32
            %there = arith.cmpi ult, %g, %n : index
            scf.if %there {
              memref.store %sum, %C[%g] : memref<?xf32>
            }
          }
          async_pipeline.channel.release %wa : !async_pipeline.slot<1024xf32>
          async_pipeline.channel.release %wb : !async_pipeline.slot<1024xf32>
        }
      }
    }
    gpu.return
  }
}
