//! Structured control flow and hardware coordinates.

use super::{Extractor, Problem, Result, problem, scalar_type, unknown_form};
use crate::program::{Block, Operation, Query, ScalarType};
use async_pipeline_sys::ir::Op;

impl Extractor {
    pub(super) fn control_op(
        &mut self,
        block: &mut Block,
        op: Op,
        name: &str,
        depth: usize,
    ) -> Result<()> {
        let operation = match name {
            "if" => self.if_op(op, depth)?,
            "for" => self.for_op(op, depth)?,
            "while" => self.while_op(op, depth)?,
            "yield" => Operation::Yield {
                values: self.read_all(op, &op.operands())?,
            },
            "condition" => match op.operands()[..] {
                [condition, ref values @ ..] => Operation::Condition {
                    condition: self.read(op, condition)?,
                    values: self.read_all(op, values)?,
                },
                [] => return unknown_form(op, "the condition is missing"),
            },
            _ => return problem(op, Problem::UnknownOp(op.name().to_owned())),
        };
        self.push(block, op, operation);
        Ok(())
    }

    fn if_op(&mut self, op: Op, depth: usize) -> Result<Operation> {
        let condition = self.operand(op, 0)?;
        let then = self.region(op, 0, depth + 1)?;
        let otherwise = self.region(op, 1, depth + 1)?;
        let results = op
            .results()
            .into_iter()
            .map(|value| self.define(value))
            .collect();
        Ok(Operation::If {
            condition,
            then,
            otherwise,
            results,
        })
    }

    fn for_op(&mut self, op: Op, depth: usize) -> Result<Operation> {
        let operands = op.operands();
        let [lower, upper, step, ref initial @ ..] = operands[..] else {
            return unknown_form(op, "a bound is missing");
        };
        let Some(body) = op.body(0) else {
            return unknown_form(op, "it has no body");
        };
        let width = match scalar_type(lower.ty()) {
            Some(ScalarType::Index) => 64,
            Some(ScalarType::Int(width)) => width,
            _ => return unknown_form(op, "expected an integer or index counter"),
        };
        let (lower, upper, step) = (
            self.read(op, lower)?,
            self.read(op, upper)?,
            self.read(op, step)?,
        );
        let initial = self.read_all(op, initial)?;
        let mut arguments: Vec<_> = body
            .arguments()
            .into_iter()
            .map(|value| self.define(value))
            .collect();
        if arguments.is_empty() {
            return unknown_form(op, "the counter is missing");
        }
        let counter = arguments.remove(0);
        let body = self.region(op, 0, depth + 1)?;
        let results = op
            .results()
            .into_iter()
            .map(|value| self.define(value))
            .collect();
        Ok(Operation::For {
            lower,
            upper,
            step,
            counter,
            width,
            unsigned: op.attr("unsignedCmp").is_some(),
            initial,
            carried: arguments,
            results,
            body,
        })
    }

    fn while_op(&mut self, op: Op, depth: usize) -> Result<Operation> {
        let initial = self.read_all(op, &op.operands())?;
        let (Some(before), Some(after)) = (op.body(0), op.body(1)) else {
            return unknown_form(op, "it has no body");
        };
        let before_arguments = before
            .arguments()
            .into_iter()
            .map(|v| self.define(v))
            .collect();
        let before = self.region(op, 0, depth + 1)?;
        let after_arguments = after
            .arguments()
            .into_iter()
            .map(|v| self.define(v))
            .collect();
        let after = self.region(op, 1, depth + 1)?;
        let results = op
            .results()
            .into_iter()
            .map(|value| self.define(value))
            .collect();
        Ok(Operation::While {
            initial,
            before_arguments,
            before,
            after_arguments,
            after,
            results,
        })
    }

    pub(super) fn gpu_op(&mut self, block: &mut Block, op: Op, name: &str) -> Result<()> {
        let operation = match name {
            "return" => Operation::Return,
            "barrier" | "barrier0" => Operation::CtaBarrier,
            _ => {
                let Some(query) = query(op, name) else {
                    return problem(op, Problem::UnknownOp(op.name().to_owned()));
                };
                Operation::Ask {
                    query,
                    result: self.result(op)?,
                }
            }
        };
        self.push(block, op, operation);
        Ok(())
    }
}

fn query(op: Op, name: &str) -> Option<Query> {
    // `gpu.thread_id x` keeps the dimension in an attribute, `nvvm.read.ptx.sreg.tid.x` in its name.
    let (what, dimension) = match name.strip_prefix("read.ptx.sreg.") {
        Some(register) => match register.split_once('.') {
            Some((what, dimension)) => (what, dimension.to_owned()),
            None => (register, String::new()),
        },
        None => {
            let printed = op
                .attr("dimension")
                .map(|attr| attr.to_string())
                .unwrap_or_default();
            let letter = printed.trim_end_matches('>').trim_end().chars().last();
            (name, letter.map(String::from).unwrap_or_default())
        }
    };
    let dimension = || match dimension.as_str() {
        "x" => Some(0),
        "y" => Some(1),
        "z" => Some(2),
        _ => None,
    };
    Some(match what {
        "thread_id" | "tid" => Query::ThreadId(dimension()?),
        "block_id" | "ctaid" => Query::BlockId(dimension()?),
        "block_dim" | "ntid" => Query::BlockDim(dimension()?),
        "grid_dim" | "nctaid" => Query::GridDim(dimension()?),
        "lane_id" | "laneid" => Query::LaneId,
        "subgroup_id" => Query::WarpId,
        _ => return None,
    })
}
