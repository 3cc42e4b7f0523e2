//! Kernels as text.

/// The example of a ring that runs on every target.
pub(crate) const CP_ASYNC_RING: &str = include_str!("../../../../examples/handwritten_ring.mlir");

/// C = A + B over a ring of tensor loads, with a tensor store out of a staging buffer.
pub(crate) const TMA_RING: &str = r#"
gpu.module @m {
  gpu.func @add(%A: memref<?xf32> {async_pipeline.name = "A"},
                %B: memref<?xf32> {async_pipeline.name = "B"},
                %C: memref<?xf32> {async_pipeline.name = "C"}) kernel {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %c256 = arith.constant 256 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %three = arith.constant 3 : i32
    %bytes = arith.constant 2048 : i32
    %a = async_pipeline.buffer.alloc "a" : !async_pipeline.buffer<3, 256xf32>
    %b = async_pipeline.buffer.alloc "b" : !async_pipeline.buffer<3, 256xf32>
    %out = async_pipeline.buffer.alloc "out" : !async_pipeline.buffer<1, 256xf32>
    %full = async_pipeline.mbarrier.alloc "full" : !async_pipeline.mbarrier<3>
    %empty = async_pipeline.mbarrier.alloc "empty" : !async_pipeline.mbarrier<3>
    %mapA = async_pipeline.tma.descriptor %A : memref<?xf32> to !async_pipeline.tensor_map<256xf32>
    %mapB = async_pipeline.tma.descriptor %B : memref<?xf32> to !async_pipeline.tensor_map<256xf32>
    %mapC = async_pipeline.tma.descriptor %C : memref<?xf32> to !async_pipeline.tensor_map<256xf32>
    %n = memref.dim %A, %c0 : memref<?xf32>
    %tiles = arith.ceildivui %n, %c256 : index
    %block = gpu.block_id x
    %blocks = gpu.grid_dim x
    %thread = gpu.thread_id x
    %first = arith.cmpi eq, %thread, %c0 : index
    scf.if %first {
      async_pipeline.mbarrier.init %full count(1) : !async_pipeline.mbarrier<3>
      async_pipeline.mbarrier.init %empty count(2) : !async_pipeline.mbarrier<3>
      async_pipeline.fence.mbarrier_init
    }
    async_pipeline.cta.barrier
    async_pipeline.roles {
      async_pipeline.role @load warps(1) elected {
        scf.for %tile = %block to %tiles step %blocks
            iter_args(%stage = %zero, %parity = %zero) -> (i32, i32) {
          %free = arith.xori %parity, %one : i32
          async_pipeline.mbarrier.wait %empty[%stage], %free : !async_pipeline.mbarrier<3>
          async_pipeline.mbarrier.arrive.expect_tx %full[%stage], %bytes : !async_pipeline.mbarrier<3>
          %start = arith.muli %tile, %c256 : index
          %i = arith.index_cast %start : index to i32
          async_pipeline.tma.load %mapA[%i] to %a[%stage], %full[%stage]
            : !async_pipeline.tensor_map<256xf32> to !async_pipeline.buffer<3, 256xf32>, !async_pipeline.mbarrier<3>
          async_pipeline.tma.load %mapB[%i] to %b[%stage], %full[%stage]
            : !async_pipeline.tensor_map<256xf32> to !async_pipeline.buffer<3, 256xf32>, !async_pipeline.mbarrier<3>
          %up = arith.addi %stage, %one : i32
          %wrap = arith.cmpi eq, %up, %three : i32
          %next = arith.select %wrap, %zero, %up : i32
          %flipped = arith.xori %parity, %one : i32
          %turned = arith.select %wrap, %flipped, %parity : i32
          scf.yield %next, %turned : i32, i32
        }
      }
      async_pipeline.role @compute warps(2) {
        %t = async_pipeline.role.thread_id : index
        %e = arith.muli %t, %c4 : index
        %leads = arith.cmpi eq, %t, %c0 : index
        scf.for %tile = %block to %tiles step %blocks
            iter_args(%stage = %zero, %parity = %zero) -> (i32, i32) {
          async_pipeline.mbarrier.wait %full[%stage], %parity : !async_pipeline.mbarrier<3>
          %ta = async_pipeline.buffer.slot %a[%stage]
            : !async_pipeline.buffer<3, 256xf32> to memref<256xf32, #gpu.address_space<workgroup>>
          %tb = async_pipeline.buffer.slot %b[%stage]
            : !async_pipeline.buffer<3, 256xf32> to memref<256xf32, #gpu.address_space<workgroup>>
          %tc = async_pipeline.buffer.slot %out[%zero]
            : !async_pipeline.buffer<1, 256xf32> to memref<256xf32, #gpu.address_space<workgroup>>
          %x = vector.load %ta[%e] : memref<256xf32, #gpu.address_space<workgroup>>, vector<4xf32>
          %y = vector.load %tb[%e] : memref<256xf32, #gpu.address_space<workgroup>>, vector<4xf32>
          async_pipeline.fence.proxy_async
          async_pipeline.warp.sync
          %leader = async_pipeline.elect : i1
          scf.if %leader {
            async_pipeline.mbarrier.arrive %empty[%stage] : !async_pipeline.mbarrier<3>
          }
          %sum = arith.addf %x, %y : vector<4xf32>
          scf.if %leads {
            async_pipeline.bulk.wait_group pending(0) read
          }
          async_pipeline.named_barrier.sync id(1) threads(64)
          vector.store %sum, %tc[%e] : memref<256xf32, #gpu.address_space<workgroup>>, vector<4xf32>
          async_pipeline.fence.proxy_async
          async_pipeline.named_barrier.sync id(2) threads(64)
          scf.if %leads {
            %start = arith.muli %tile, %c256 : index
            %i = arith.index_cast %start : index to i32
            async_pipeline.tma.store %out[%zero] to %mapC[%i]
              : !async_pipeline.buffer<1, 256xf32> to !async_pipeline.tensor_map<256xf32>
            async_pipeline.bulk.commit_group
          }
          %up = arith.addi %stage, %one : i32
          %wrap = arith.cmpi eq, %up, %three : i32
          %next = arith.select %wrap, %zero, %up : i32
          %flipped = arith.xori %parity, %one : i32
          %turned = arith.select %wrap, %flipped, %parity : i32
          scf.yield %next, %turned : i32, i32
        }
        scf.if %leads {
          async_pipeline.bulk.wait_group pending(0)
        }
      }
    }
    async_pipeline.cta.barrier
    scf.if %first {
      async_pipeline.mbarrier.inval %full : !async_pipeline.mbarrier<3>
      async_pipeline.mbarrier.inval %empty : !async_pipeline.mbarrier<3>
    }
    gpu.return
  }
}
"#;

/// A kernel of an argument %A with 1024 numbers: `declarations`, barriers that thread 0 initialises as
/// (name, stages, count), then the roles.
/// The memref type of a slot of 16 numbers.
pub(crate) const SLOT: &str = "memref<16xf32, #gpu.address_space<workgroup>>";

/// One barrier operand.
pub(crate) fn at(name: &str, stage: usize) -> String {
    format!("%{name}[%i{stage}]")
}

/// Statements on barriers of `stages` stages.
pub(crate) fn wait(name: &str, stage: usize, parity: usize, stages: usize) -> String {
    format!(
        "async_pipeline.mbarrier.wait {}, %i{parity} : !async_pipeline.mbarrier<{stages}>\n",
        at(name, stage)
    )
}

pub(crate) fn arrive(name: &str, stage: usize, stages: usize) -> String {
    format!(
        "async_pipeline.mbarrier.arrive {} : !async_pipeline.mbarrier<{stages}>\n",
        at(name, stage)
    )
}

/// A ring `tile` of slots with 16 numbers.
pub(crate) fn tile(stages: usize) -> String {
    format!(
        "%tile = async_pipeline.buffer.alloc \"tile\" : !async_pipeline.buffer<{stages}, 16xf32>
         %bytes = arith.constant 64 : i32
         %c16 = arith.constant 16 : index
         %c32 = arith.constant 32 : index
         %c64 = arith.constant 64 : index"
    )
}

/// A view of a slot of `tile`, under a name that nothing else has.
pub(crate) fn slot(name: &str, stage: usize, stages: usize) -> String {
    format!(
        "%{name} = async_pipeline.buffer.slot %tile[%i{stage}]
           : !async_pipeline.buffer<{stages}, 16xf32> to {SLOT}\n"
    )
}

/// A bulk load of 64 bytes into a slot of `tile`, counted on `full`.
pub(crate) fn bulk_load(name: &str, stage: usize, stages: usize) -> String {
    format!(
        "{}async_pipeline.bulk.load %A[%c0] to %{name}[%c0], %bytes, {}
           : memref<1024xf32> to {SLOT}, !async_pipeline.mbarrier<{stages}>\n",
        slot(name, stage, stages),
        at("full", stage)
    )
}

pub(crate) fn expect(stage: usize, stages: usize) -> String {
    format!(
        "async_pipeline.mbarrier.arrive.expect_tx {}, %bytes : !async_pipeline.mbarrier<{stages}>\n",
        at("full", stage)
    )
}

/// A read of the first number of a slot, and the fence behind it that the next load needs.
pub(crate) fn read(name: &str, stage: usize, stages: usize) -> String {
    format!(
        "{}%v{name} = memref.load %{name}[%c0] : {SLOT}
         async_pipeline.fence.proxy_async\n",
        slot(name, stage, stages)
    )
}

pub(crate) fn kernel(declarations: &str, barriers: &[(&str, u32, u32)], roles: &str) -> String {
    let each = |line: &dyn Fn(&str, u32, u32) -> String| -> String {
        barriers
            .iter()
            .map(|(name, stages, count)| line(name, *stages, *count))
            .collect()
    };
    let allocs = each(&|name, stages, _| {
        format!(
            "%{name} = async_pipeline.mbarrier.alloc \"{name}\" : !async_pipeline.mbarrier<{stages}>\n"
        )
    });
    let inits = each(&|name, stages, count| {
        format!(
            "async_pipeline.mbarrier.init %{name} count({count}) : !async_pipeline.mbarrier<{stages}>\n"
        )
    });
    let constants: String = (0..8)
        .map(|n| format!("%i{n} = arith.constant {n} : i32\n%c{n} = arith.constant {n} : index\n"))
        .collect();
    format!(
        "gpu.module @m {{ gpu.func @k(%A: memref<1024xf32>) kernel {{
           {constants}
           {allocs}
           {declarations}
           %thread = gpu.thread_id x
           %first = arith.cmpi eq, %thread, %c0 : index
           scf.if %first {{ {inits} async_pipeline.fence.mbarrier_init }}
           async_pipeline.cta.barrier
           async_pipeline.roles {{ {roles} }}
           async_pipeline.cta.barrier
           gpu.return
         }} }}"
    )
}
