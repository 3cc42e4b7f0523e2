//! cp.async, bulk and tensor copies.

use super::{
    Lowering,
    memory::{address, element_pointer, global},
    ptx,
};
use crate::{diagnostics::error, passes::Failed};
use async_pipeline_sys::ir::{Builder, Op, Value};

impl Lowering {
    pub(super) fn copy(&mut self, op: Op, name: &str) -> Result<(), Failed> {
        let builder = Builder::before(op);
        let number = |name: &str| {
            op.attr(name)
                .and_then(|attr| attr.int())
                .unwrap_or_default()
        };
        match name {
            "cp_async.copy" => cp_async(op, builder, number("bytes")),
            "cp_async.mbarrier.arrive" => {
                let barrier = self
                    .memory
                    .barrier(builder, op, op.operand(0), op.operand(1))?;
                let noinc = if op.attr("noinc").is_some() {
                    ".noinc"
                } else {
                    ""
                };
                let text = format!("cp.async.mbarrier.arrive{noinc}.shared::cta.b64 [$0];");
                ptx(builder, &text, "r", &[barrier]);
            }
            "cp_async.commit_group" => ptx(builder, "cp.async.commit_group;", "", &[]),
            "cp_async.wait_group" => {
                ptx(
                    builder,
                    &format!("cp.async.wait_group {};", number("pending")),
                    "",
                    &[],
                );
            }
            "bulk.commit_group" => ptx(builder, "cp.async.bulk.commit_group;", "", &[]),
            "bulk.wait_group" => {
                let read = if op.attr("read").is_some() {
                    ".read"
                } else {
                    ""
                };
                let text = format!("cp.async.bulk.wait_group{read} {};", number("pending"));
                ptx(builder, &text, "", &[]);
            }
            "bulk.load" => {
                let (from, to) = bulk_sides(op, builder, false);
                let (barrier, stage) = (op.operand_segment(5)[0], op.operand_segment(6)[0]);
                let barrier = self.memory.barrier(builder, op, barrier, stage)?;
                ptx(
                    builder,
                    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];",
                    "r,l,r,r",
                    &[to, from, op.operand_segment(4)[0], barrier],
                );
            }
            "bulk.store" => {
                let (to, from) = bulk_sides(op, builder, true);
                ptx(
                    builder,
                    "cp.async.bulk.global.shared::cta.bulk_group [$0], [$1], $2;",
                    "l,r,r",
                    &[to, from, op.operand_segment(4)[0]],
                );
            }
            "tma.load" => self.tensor_load(op, builder)?,
            "tma.store" => self.tensor_store(op, builder)?,
            _ => {
                return Err(error(
                    op,
                    format!("'{}' op cannot be lowered to NVVM", op.name()),
                ));
            }
        }
        op.erase();
        Ok(())
    }

    fn tensor_load(&self, op: Op, builder: Builder) -> Result<(), Failed> {
        let operands = op.operands();
        let count = operands.len();
        let (map, coordinates) = (operands[0], &operands[1..count - 4]);
        let slot = self.memory.slot_element(
            builder,
            op,
            operands[count - 4],
            operands[count - 3],
            at(op),
        )?;
        let barrier = self
            .memory
            .barrier(builder, op, operands[count - 2], operands[count - 1])?;
        let rank = coordinates.len();
        let text = format!(
            "cp.async.bulk.tensor.{rank}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [$0], [$1, {}], [$2];",
            coordinate_list(rank, 3)
        );
        let mut values = vec![slot, self.map_pointer(builder, op, map)?, barrier];
        values.extend(coordinates.iter().rev());
        ptx(
            builder,
            &text,
            &format!("r,l,r{}", ",r".repeat(rank)),
            &values,
        );
        Ok(())
    }

    fn tensor_store(&self, op: Op, builder: Builder) -> Result<(), Failed> {
        let operands = op.operands();
        let coordinates = &operands[3..];
        let slot = self
            .memory
            .slot_element(builder, op, operands[0], operands[1], at(op))?;
        let rank = coordinates.len();
        let text = format!(
            "cp.async.bulk.tensor.{rank}d.global.shared::cta.tile.bulk_group [$0, {}], [$1];",
            coordinate_list(rank, 2)
        );
        let mut values = vec![self.map_pointer(builder, op, operands[2])?, slot];
        values.extend(coordinates.iter().rev());
        ptx(
            builder,
            &text,
            &format!("l,r{}", ",r".repeat(rank)),
            &values,
        );
        Ok(())
    }

    /// The parameter behind a tensor map.
    fn map_pointer(&self, _builder: Builder, op: Op, map: Value) -> Result<Value, Failed> {
        map.defining_op()
            .filter(|cast| cast.is("builtin.unrealized_conversion_cast"))
            .map(|cast| cast.operand(0))
            .ok_or_else(|| {
                error(op, "expected a tensor map of a kernel argument; run async-pipeline-materialize-tensor-maps first")
            })
    }
}

fn at(op: Op) -> i64 {
    op.attr("at").and_then(|at| at.int()).unwrap_or_default()
}

/// `{$3, $4}`: PTX wants the innermost dimension first.
fn coordinate_list(rank: usize, first: usize) -> String {
    let names: Vec<String> = (first..first + rank)
        .map(|number| format!("${number}"))
        .collect();
    format!("{{{}}}", names.join(", "))
}

fn cp_async(op: Op, builder: Builder, bytes: i64) {
    let from = element_pointer(builder, op.operand_segment(0)[0], &op.operand_segment(1));
    let from = global(builder, from);
    let to = element_pointer(builder, op.operand_segment(2)[0], &op.operand_segment(3));
    let to = address(builder, to);
    // .cg goes past L1, for 16 bytes only (PTX ISA 9.1, 9.7.9.25.3.1).
    let cache = if bytes == 16 { "cg" } else { "ca" };
    match op.operand_segment(4).first() {
        Some(valid) => ptx(
            builder,
            &format!("cp.async.{cache}.shared.global [$0], [$1], {bytes}, $2;"),
            "r,l,r",
            &[to, from, *valid],
        ),
        None => ptx(
            builder,
            &format!("cp.async.{cache}.shared.global [$0], [$1], {bytes};"),
            "r,l",
            &[to, from],
        ),
    }
}

/// (global pointer, shared address) of a bulk copy.
fn bulk_sides(op: Op, builder: Builder, store: bool) -> (Value, Value) {
    let source = element_pointer(builder, op.operand_segment(0)[0], &op.operand_segment(1));
    let target = element_pointer(builder, op.operand_segment(2)[0], &op.operand_segment(3));
    let (far, near) = if store {
        (target, source)
    } else {
        (source, target)
    };
    (global(builder, far), address(builder, near))
}
