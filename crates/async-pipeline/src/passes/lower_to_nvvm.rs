//! Barrier level → NVVM and LLVM ops.
//!
//! Needs: `llvm.func` kernels from `async-pipeline-lower-kernel-abi`. Leaves: no op
//! of ours and none of `gpu`; memrefs, `scf`, `arith` and `vector` stay for upstream's
//! conversions.
//!
//! Synchronising instructions become inline PTX, one op one form of the legality
//! table. The back end aborts on intrinsics it cannot select and describes some of
//! them wrongly; text it passes through. Each carries side effects and a memory
//! clobber, and the PTX stage marks every call convergent.

mod copies;
mod ids;
mod matrices;
mod mbarrier;
mod memory;
mod roles;
mod sync;
mod tensor;

use super::{
    Failed, Options, Pass,
    options::{TARGET, WAIT_TIMEOUT},
};
use crate::diagnostics::{self, error};
use async_pipeline_sys::ir::{Builder, Op, Type, Value};
use memory::Memory;
use ptx_model::target::Target;

pub(super) const PASS: Pass = Pass {
    argument: "async-pipeline-lower-to-nvvm",
    description: "Lower the barrier level to NVVM and LLVM ops",
    options: &[TARGET, WAIT_TIMEOUT],
    run,
};

/// One kernel being lowered.
struct Lowering {
    target: Target,
    /// Longest wait in microseconds, if there is a bound.
    timeout: Option<u64>,
    memory: Memory,
}

fn run(module: Op, options: &Options<'_>) -> Result<(), Failed> {
    let target = diagnostics::option(module, options.target())?;
    let timeout = diagnostics::option(module, options.wait_timeout())?;
    diagnostics::all(module.find("llvm.func"), |function| {
        let mut lowering = Lowering {
            target,
            timeout,
            memory: Memory::default(),
        };
        lowering.function(function)
    })
}

impl Lowering {
    fn function(&mut self, function: Op) -> Result<(), Failed> {
        memory::number_spaces(function);
        // Storage first: everything else asks for its addresses.
        for alloc in function
            .walk()
            .into_iter()
            .filter(|op| memory::is_alloc(*op))
        {
            self.memory.allocate(alloc)?;
        }
        let ops = function.walk();
        diagnostics::all(ops.iter().copied(), |op| self.op(op))?;
        // Roles last: ops inside ask which role they are in.
        if let Some(roles) = function.find("async_pipeline.roles").first() {
            roles::lower(*roles, self.target);
        }
        self.memory.finish();
        memory::drop_unused_casts(function);
        diagnostics::all(function.walk(), |op| {
            let foreign = op.name().starts_with("gpu.") || op.name().starts_with("async_pipeline.");
            if foreign && op.block().is_some() {
                return Err(error(
                    op,
                    format!("'{}' op cannot be lowered to NVVM", op.name()),
                ));
            }
            Ok(())
        })
    }

    fn op(&mut self, op: Op) -> Result<(), Failed> {
        let name = op.name();
        if let Some(gpu) = name.strip_prefix("gpu.") {
            return ids::gpu(op, gpu);
        }
        let Some(name) = name.strip_prefix("async_pipeline.") else {
            return Ok(());
        };
        match name {
            "role.thread_id" | "role.thread_count" => ids::role(op, name),
            "buffer.slot" => self.memory.slot(op),
            "ldmatrix" => self.load_matrices(op),
            _ if name.starts_with("mbarrier.") => self.mbarrier(op, name),
            _ if name.starts_with("cp_async.")
                || name.starts_with("bulk.")
                || name.starts_with("tma.") =>
            {
                self.copy(op, name)
            }
            _ if name.starts_with("tcgen05.") => self.tensor(op, name),
            _ => self.synchronise(op, name),
        }
    }
}

/// Inline PTX without result.
fn ptx(builder: Builder, text: &str, constraints: &str, operands: &[Value]) {
    inline(builder, text, constraints, operands, &[]);
}

/// Inline PTX with one result, which is `$0`.
fn ptx_value(
    builder: Builder,
    text: &str,
    constraints: &str,
    operands: &[Value],
    result: Type,
) -> Value {
    inline(builder, text, constraints, operands, &[result]).result(0)
}

fn inline(
    builder: Builder,
    text: &str,
    constraints: &str,
    operands: &[Value],
    results: &[Type],
) -> Op {
    let context = builder.context();
    let separator = if constraints.is_empty() { "" } else { "," };
    builder
        .op("llvm.inline_asm")
        .operands(operands)
        .results(results)
        .attr("asm_string", context.string_attr(text))
        .attr(
            "constraints",
            context.string_attr(&format!("{constraints}{separator}~{{memory}}")),
        )
        .attr("has_side_effects", context.unit_attr())
        .attr("asm_dialect", context.i64_attr(0))
        .build()
}
