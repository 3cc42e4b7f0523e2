// B = alpha * A for matrices of any size.
//
// Two rings in a row: a load role fills tiles of A, the compute role scales them
// into a second ring, a store role writes that ring to B. On sm_90a and sm_100a both
// transfers are tensor copies, asked for by one thread each; on sm_80 loads are
// cp.async and the store role writes with ordinary stores.
//
//   pipeline-opt examples/stream_scale_2d.mlir --target=sm_90a --emit=ptx -o scale.ptx
//   pipeline-run scale.ptx --size 1000x1048 --arg alpha=2 --expect 'B = alpha * A'

gpu.module @kernels {
  gpu.func @stream_scale_2d(%A: memref<?x?xf32, strided<[?, 1]>> {async_pipeline.name = "A"},
                            %B: memref<?x?xf32, strided<[?, 1]>> {async_pipeline.name = "B"},
                            %alpha: f32 {async_pipeline.name = "alpha"}) kernel
      attributes {async_pipeline.grid =
        #async_pipeline.grid<"min(ceildiv(dim(0, 0), 32) * ceildiv(dim(0, 1), 64), 3 * sm_count)">} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %rows = arith.constant 32 : index
    %columns = arith.constant 64 : index
    %elements = arith.constant 2048 : index
    %m = memref.dim %A, %c0 : memref<?x?xf32, strided<[?, 1]>>
    %n = memref.dim %A, %c1 : memref<?x?xf32, strided<[?, 1]>>
    %down = arith.ceildivui %m, %rows : index
    %across = arith.ceildivui %n, %columns : index
    %tiles = arith.muli %down, %across : index
    %block = gpu.block_id x
    %blocks = gpu.grid_dim x

    %in = async_pipeline.channel.create "in" stages(4) : !async_pipeline.channel<32x64xf32>
    %out = async_pipeline.channel.create "out" stages(2) : !async_pipeline.channel<32x64xf32>

    async_pipeline.roles {
      async_pipeline.role @load warps(4) {
        scf.for %t = %block to %tiles step %blocks {
          %r = arith.divui %t, %across : index
          %c = arith.remui %t, %across : index
          %i = arith.muli %r, %rows : index
          %j = arith.muli %c, %columns : index
          %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<32x64xf32>
          async_pipeline.work.copy %A[%i, %j] to %s
              : memref<?x?xf32, strided<[?, 1]>> to !async_pipeline.slot<32x64xf32>
          async_pipeline.channel.commit %s : !async_pipeline.slot<32x64xf32>
        }
      }
      async_pipeline.role @compute warps(4) {
        %thread = async_pipeline.role.thread_id : index
        %threads = async_pipeline.role.thread_count : index
        %first = arith.muli %thread, %c4 : index
        %step = arith.muli %threads, %c4 : index
        %factor = vector.broadcast %alpha : f32 to vector<4xf32>
        scf.for %t = %block to %tiles step %blocks {
          %s = async_pipeline.channel.wait %in : !async_pipeline.channel<32x64xf32>
          %a = async_pipeline.channel.view %s
              : !async_pipeline.slot<32x64xf32> to memref<32x64xf32, #gpu.address_space<workgroup>>
          %d = async_pipeline.channel.acquire %out : !async_pipeline.channel<32x64xf32>
          %b = async_pipeline.channel.view %d
              : !async_pipeline.slot<32x64xf32> to memref<32x64xf32, #gpu.address_space<workgroup>>
          scf.for %k = %c0 to %elements step %step {
            %e = arith.addi %k, %first : index
            %r = arith.divui %e, %columns : index
            %c = arith.remui %e, %columns : index
            %v = vector.load %a[%r, %c] {alignment = 16 : i64}
                : memref<32x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            %w = arith.mulf %v, %factor : vector<4xf32>
            vector.store %w, %b[%r, %c] {alignment = 16 : i64}
                : memref<32x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
          }
          async_pipeline.channel.release %s : !async_pipeline.slot<32x64xf32>
          async_pipeline.channel.commit %d : !async_pipeline.slot<32x64xf32>
        }
      }
      async_pipeline.role @store warps(4) {
        scf.for %t = %block to %tiles step %blocks {
          %r = arith.divui %t, %across : index
          %c = arith.remui %t, %across : index
          %i = arith.muli %r, %rows : index
          %j = arith.muli %c, %columns : index
          %s = async_pipeline.channel.wait %out : !async_pipeline.channel<32x64xf32>
          async_pipeline.work.copy %s to %B[%i, %j]
              : !async_pipeline.slot<32x64xf32> to memref<?x?xf32, strided<[?, 1]>>
          async_pipeline.channel.release %s : !async_pipeline.slot<32x64xf32>
        }
      }
    }
    gpu.return
  }
}
