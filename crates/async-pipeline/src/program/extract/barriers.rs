//! Barrier-level ops.

use super::{
    Extractor, MAX_BARRIERS, Problem, Result, int_attr, problem, tile, u32_attr, unknown_form,
};
use crate::program::{
    At, Barrier, BarrierId, Block, Buffer, BufferId, Function, Operation, Query, Role,
};
use async_pipeline_sys::ir::{Attr, Op, Value};

impl Extractor {
    pub(super) fn barrier_op(
        &mut self,
        block: &mut Block,
        op: Op,
        name: &str,
        depth: usize,
    ) -> Result<()> {
        let operation = match name {
            "buffer.alloc" => return self.buffer_alloc(op),
            "mbarrier.alloc" => return self.barrier_alloc(op),
            "roles" => self.roles(op, depth)?,
            "mbarrier.init" => Operation::Init {
                barrier: self.array(op, 0)?,
                count: self.number(op, "count")?,
            },
            "mbarrier.inval" => Operation::Inval {
                barrier: self.array(op, 0)?,
            },
            "mbarrier.arrive" | "mbarrier.arrive_drop" => Operation::Arrive {
                at: self.at(op, 0)?,
                count: u32_attr(op, "count").unwrap_or(1),
                no_complete: op.attr("no_complete").is_some(),
                drop: name == "mbarrier.arrive_drop",
                state: if op.result_count() == 0 {
                    None
                } else {
                    Some(self.result(op)?)
                },
            },
            "mbarrier.arrive.expect_tx" => Operation::ArriveExpectTx {
                at: self.at(op, 0)?,
                bytes: self.operand(op, 2)?,
            },
            "mbarrier.expect_tx" => Operation::ExpectTx {
                at: self.at(op, 0)?,
                bytes: self.operand(op, 2)?,
            },
            "mbarrier.complete_tx" => Operation::CompleteTx {
                at: self.at(op, 0)?,
                bytes: self.operand(op, 2)?,
            },
            "mbarrier.wait" => Operation::Wait {
                at: self.at(op, 0)?,
                parity: self.operand(op, 2)?,
            },
            "mbarrier.test_wait.parity" | "mbarrier.try_wait.parity" => Operation::PollParity {
                at: self.at(op, 0)?,
                parity: self.operand(op, 2)?,
                suspends: name == "mbarrier.try_wait.parity",
                done: self.result(op)?,
            },
            "mbarrier.test_wait" | "mbarrier.try_wait" => Operation::PollState {
                at: self.at(op, 0)?,
                state: self.operand(op, 2)?,
                suspends: name == "mbarrier.try_wait",
                done: self.result(op)?,
            },
            "mbarrier.pending_count" => Operation::PendingCount {
                state: self.operand(op, 0)?,
                result: self.result(op)?,
            },
            "fence.mbarrier_init" => Operation::FenceMbarrierInit,
            "fence.proxy_async" => Operation::FenceProxyAsync,
            "cta.barrier" => Operation::CtaBarrier,
            "warp.sync" => Operation::WarpSync,
            "elect" => Operation::Elect {
                result: self.result(op)?,
            },
            "named_barrier.sync" | "named_barrier.arrive" => Operation::NamedBarrier {
                id: self.number(op, "id")?,
                threads: self.number(op, "threads")?,
                waits: name == "named_barrier.sync",
            },
            "role.thread_id" => Operation::Ask {
                query: Query::RoleThreadId,
                result: self.result(op)?,
            },
            "role.thread_count" => Operation::Ask {
                query: Query::RoleThreadCount,
                result: self.result(op)?,
            },
            _ => self.copy_op(op, name)?,
        };
        self.push(block, op, operation);
        Ok(())
    }

    fn copy_op(&mut self, op: Op, name: &str) -> Result<Operation> {
        Ok(match name {
            "buffer.slot" => Operation::BufferSlot {
                buffer: self.buffer(op, 0)?,
                stage: self.operand(op, 1)?,
                result: self.result(op)?,
            },
            "cp_async.copy" => {
                let (source, target) = self.two_elements(op)?;
                let valid = op.operand_segment(4).first().copied();
                Operation::CpAsync {
                    source,
                    target,
                    bytes: self.number(op, "bytes")?,
                    valid: valid.map(|value| self.read(op, value)).transpose()?,
                }
            }
            "cp_async.mbarrier.arrive" => Operation::CpAsyncArrive {
                at: self.at(op, 0)?,
                noinc: op.attr("noinc").is_some(),
            },
            "cp_async.commit_group" => Operation::CpAsyncCommit,
            "cp_async.wait_group" => Operation::CpAsyncWait {
                pending: self.number(op, "pending")?,
            },
            "bulk.load" => {
                let (source, target) = self.two_elements(op)?;
                let segment = |index| one(op, op.operand_segment(index));
                let (bytes, barrier, stage) = (segment(4)?, segment(5)?, segment(6)?);
                Operation::BulkLoad {
                    source,
                    target,
                    bytes: self.read(op, bytes)?,
                    at: self.at_values(op, barrier, stage)?,
                }
            }
            "bulk.store" => {
                let (source, target) = self.two_elements(op)?;
                let bytes = one(op, op.operand_segment(4))?;
                Operation::BulkStore {
                    source,
                    target,
                    bytes: self.read(op, bytes)?,
                }
            }
            "bulk.commit_group" => Operation::BulkCommit,
            "bulk.wait_group" => Operation::BulkWait {
                pending: self.number(op, "pending")?,
                read: op.attr("read").is_some(),
            },
            "tma.descriptor" => {
                let operands = vec![self.operand(op, 0)?];
                // The map is the memref it describes; its box is in the type of each use.
                let result = one(op, op.results())?;
                let result = self.define(result);
                Operation::Compute {
                    function: Function::Copy,
                    operands,
                    result,
                }
            }
            "tma.load" => self.tma_load(op)?,
            "tma.store" => self.tma_store(op)?,
            _ if name.starts_with("channel.") || name.starts_with("work.") => {
                return problem(op, Problem::ChannelLevel(op.name().to_owned()));
            }
            _ => return problem(op, Problem::UnknownOp(op.name().to_owned())),
        })
    }

    fn tma_load(&mut self, op: Op) -> Result<Operation> {
        let operands = op.operands();
        let [map, ref coordinates @ .., buffer, slot, barrier, stage] = operands[..] else {
            return unknown_form(op, "an operand is missing");
        };
        Ok(Operation::TmaLoad {
            map: self.read(op, map)?,
            coordinates: self.read_all(op, coordinates)?,
            extents: extents(op, map)?,
            buffer: self.buffer_value(op, buffer)?,
            slot: self.read(op, slot)?,
            first: int_attr(op, "at")
                .and_then(|at| u64::try_from(at).ok())
                .unwrap_or(0),
            at: self.at_values(op, barrier, stage)?,
        })
    }

    fn tma_store(&mut self, op: Op) -> Result<Operation> {
        let operands = op.operands();
        let [buffer, slot, map, ref coordinates @ ..] = operands[..] else {
            return unknown_form(op, "an operand is missing");
        };
        Ok(Operation::TmaStore {
            map: self.read(op, map)?,
            coordinates: self.read_all(op, coordinates)?,
            extents: extents(op, map)?,
            buffer: self.buffer_value(op, buffer)?,
            slot: self.read(op, slot)?,
            first: int_attr(op, "at")
                .and_then(|at| u64::try_from(at).ok())
                .unwrap_or(0),
        })
    }

    fn two_elements(&self, op: Op) -> Result<(crate::program::Element, crate::program::Element)> {
        let segment = |index| op.operand_segment(index);
        let (source, target) = (one(op, segment(0))?, one(op, segment(2))?);
        Ok((
            self.element(op, source, &segment(1))?,
            self.element(op, target, &segment(3))?,
        ))
    }

    fn buffer_alloc(&mut self, op: Op) -> Result<()> {
        let value = one(op, op.results())?;
        let Some((shape, element)) = tile(value.ty()) else {
            return problem(op, Problem::UnknownType(value.ty().to_string()));
        };
        if value.ty().swizzle() != 0 {
            return unknown_form(op, "a swizzle is not supported");
        }
        let place = self.place(op);
        self.buffer_ids
            .insert(value, BufferId(self.buffers.len() as u32));
        self.buffers.push(Buffer {
            name: op.attr("name").and_then(Attr::string).unwrap_or_default(),
            stages: value.ty().stages().max(0).cast_unsigned(),
            shape,
            element,
            offset: int_attr(op, "offset").and_then(|offset| u64::try_from(offset).ok()),
            place,
        });
        Ok(())
    }

    fn barrier_alloc(&mut self, op: Op) -> Result<()> {
        let value = one(op, op.results())?;
        let place = self.place(op);
        self.barrier_ids
            .insert(value, BarrierId(self.barriers.len() as u32));
        self.barriers.push(Barrier {
            name: op.attr("name").and_then(Attr::string).unwrap_or_default(),
            stages: value.ty().stages().max(0).cast_unsigned(),
            place,
        });
        let total = self
            .barriers
            .iter()
            .fold(0_u64, |sum, b| sum.saturating_add(b.stages));
        if total > MAX_BARRIERS {
            return problem(op, Problem::TooManyBarriers(total));
        }
        Ok(())
    }

    fn roles(&mut self, op: Op, depth: usize) -> Result<Operation> {
        if self.has_roles {
            return problem(op, Problem::SecondRoles);
        }
        self.has_roles = true;
        let mut first_warp = 0_u32;
        let ops = op.body(0).map(|body| body.ops()).unwrap_or_default();
        for role in ops {
            if !role.is("async_pipeline.role") {
                return problem(role, Problem::UnknownOp(role.name().to_owned()));
            }
            let warps = self.number(role, "warps")?;
            if !(1..=32).contains(&warps) || first_warp + warps > 32 {
                return unknown_form(role, "expected 1 to 32 warps in all");
            }
            let body = self.region(role, 0, depth + 1)?;
            let place = self.place(role);
            self.roles.push(Role {
                name: role
                    .attr("sym_name")
                    .and_then(Attr::string)
                    .unwrap_or_default(),
                first_warp,
                warps,
                elected: role.attr("elected").is_some(),
                body,
                place,
            });
            first_warp += warps;
        }
        Ok(Operation::Roles)
    }

    fn number(&self, op: Op, name: &str) -> Result<u32> {
        u32_attr(op, name).map_or_else(|| unknown_form(op, "an attribute is missing"), Ok)
    }

    fn array(&self, op: Op, index: usize) -> Result<BarrierId> {
        match op
            .operands()
            .get(index)
            .and_then(|value| self.barrier_ids.get(value))
        {
            Some(id) => Ok(*id),
            None => problem(op, Problem::Unresolved("mbarrier array")),
        }
    }

    fn at(&self, op: Op, index: usize) -> Result<At> {
        Ok(At {
            barrier: self.array(op, index)?,
            stage: self.operand(op, index + 1)?,
        })
    }

    fn at_values(&self, op: Op, barrier: Value, stage: Value) -> Result<At> {
        match self.barrier_ids.get(&barrier) {
            Some(id) => Ok(At {
                barrier: *id,
                stage: self.read(op, stage)?,
            }),
            None => problem(op, Problem::Unresolved("mbarrier array")),
        }
    }

    fn buffer(&self, op: Op, index: usize) -> Result<BufferId> {
        match op.operands().get(index) {
            Some(value) => self.buffer_value(op, *value),
            None => unknown_form(op, "an operand is missing"),
        }
    }

    fn buffer_value(&self, op: Op, value: Value) -> Result<BufferId> {
        match self.buffer_ids.get(&value) {
            Some(id) => Ok(*id),
            None => problem(op, Problem::Unresolved("buffer")),
        }
    }
}

fn one(op: Op, values: Vec<Value>) -> Result<Value> {
    match values[..] {
        [value] => Ok(value),
        _ => unknown_form(op, "expected one value"),
    }
}

fn extents(op: Op, map: Value) -> Result<Vec<u64>> {
    match tile(map.ty()) {
        Some((shape, _)) => Ok(shape),
        None => problem(op, Problem::UnknownType(map.ty().to_string())),
    }
}
