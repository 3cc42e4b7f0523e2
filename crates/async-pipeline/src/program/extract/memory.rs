//! `memref` ops.

use super::{Extractor, Problem, Result, i64_array, int_attr, problem, unknown_form};
use crate::program::{
    Block, Element, Function, MemRefType, MemoryAccess, Operation, Register, ValueType,
};
use async_pipeline_sys::ir::{Op, Value};

impl Extractor {
    pub(super) fn memory_op(&mut self, block: &mut Block, op: Op, name: &str) -> Result<()> {
        let operation = match name {
            "load" => {
                let access = self.scalar_access(op, 0)?;
                Operation::Load {
                    access,
                    result: self.result(op)?,
                }
            }
            "store" => {
                let value = self.operand(op, 0)?;
                Operation::Store {
                    access: self.scalar_access(op, 1)?,
                    value,
                }
            }
            "dim" => Operation::Dim {
                memref: self.operand(op, 0)?,
                dimension: self.operand(op, 1)?,
                result: self.result(op)?,
            },
            "cast" | "memory_space_cast" | "assume_alignment" => {
                let operands = vec![self.operand(op, 0)?];
                if op.result_count() == 0 {
                    return Ok(());
                }
                Operation::Compute {
                    function: Function::Copy,
                    operands,
                    result: self.result(op)?,
                }
            }
            "extract_strided_metadata" => {
                let memref = self.operand(op, 0)?;
                let mut results: Vec<_> = op
                    .results()
                    .into_iter()
                    .map(|value| self.define(value))
                    .collect();
                if results.is_empty() {
                    return unknown_form(op, "expected results");
                }
                let base = results.remove(0);
                Operation::Metadata {
                    memref,
                    base,
                    numbers: results,
                }
            }
            "subview" => self.subview(block, op)?,
            "reinterpret_cast" => self.reinterpret(block, op)?,
            "alloca" => self.alloca(op)?,
            _ => return problem(op, Problem::UnknownOp(op.name().to_owned())),
        };
        self.push(block, op, operation);
        Ok(())
    }

    pub(super) fn memref_type(&self, op: Op, value: Value) -> Result<MemRefType> {
        match self.type_of(op, value)? {
            ValueType::MemRef(memref) => Ok(memref),
            _ => unknown_form(op, "expected a memref"),
        }
    }

    /// A memref operand followed by its indices.
    fn scalar_access(&self, op: Op, memref: usize) -> Result<MemoryAccess> {
        let operands = op.operands();
        let Some(value) = operands.get(memref) else {
            return unknown_form(op, "the memref is missing");
        };
        let element = self.memref_type(op, *value)?.element;
        Ok(MemoryAccess {
            at: self.element(op, *value, &operands[memref + 1..])?,
            lanes: None,
            alignment: int_attr(op, "alignment")
                .and_then(|bytes| u32::try_from(bytes).ok())
                .unwrap_or(element.bytes()),
            element,
            padding: None,
        })
    }

    pub(super) fn element(&self, op: Op, memref: Value, indices: &[Value]) -> Result<Element> {
        if self.memref_type(op, memref)?.shape.len() != indices.len() {
            return unknown_form(op, "expected one index per dimension");
        }
        Ok(Element {
            memref: self.read(op, memref)?,
            indices: self.read_all(op, indices)?,
        })
    }

    /// A register with a constant.
    pub(super) fn constant(&mut self, block: &mut Block, op: Op, value: i64) -> Register {
        let result = self.fresh();
        let function = Function::Scalar(value.cast_unsigned());
        self.push(
            block,
            op,
            Operation::Compute {
                function,
                operands: Vec::new(),
                result,
            },
        );
        result
    }

    /// Registers of a list that is partly in an attribute, partly in operands.
    fn mixed(
        &mut self,
        block: &mut Block,
        op: Op,
        attribute: &str,
        segment: usize,
    ) -> Result<Vec<Register>> {
        let Some(values) = i64_array(op, attribute) else {
            return unknown_form(op, "an attribute is missing");
        };
        let mut dynamic = op.operand_segment(segment).into_iter();
        let mut out = Vec::new();
        for value in values {
            out.push(match value {
                Some(value) => self.constant(block, op, value),
                None => match dynamic.next() {
                    Some(value) => self.read(op, value)?,
                    None => return unknown_form(op, "an operand is missing"),
                },
            });
        }
        Ok(out)
    }

    fn subview(&mut self, block: &mut Block, op: Op) -> Result<Operation> {
        let memref = self.operand(op, 0)?;
        let offsets = self.mixed(block, op, "static_offsets", 1)?;
        let sizes = self.mixed(block, op, "static_sizes", 2)?;
        let strides = self.mixed(block, op, "static_strides", 3)?;
        let Some(kept) = op.results().first().copied() else {
            return unknown_form(op, "expected a result");
        };
        let kept = self.memref_type(op, kept)?.shape;
        let mut kept = kept.iter().peekable();
        let mut dropped = Vec::new();
        for size in i64_array(op, "static_sizes").unwrap_or_default() {
            let size = size.map(i64::cast_unsigned);
            let keep = kept.next_if(|extent| **extent == size).is_some();
            if !keep && size != Some(1) {
                return unknown_form(op, "the result's shape does not follow from its sizes");
            }
            dropped.push(!keep);
        }
        let result = self.result(op)?;
        Ok(Operation::SubView {
            memref,
            offsets,
            sizes,
            strides,
            dropped,
            result,
        })
    }

    fn reinterpret(&mut self, block: &mut Block, op: Op) -> Result<Operation> {
        let memref = self.operand(op, 0)?;
        let offsets = self.mixed(block, op, "static_offsets", 1)?;
        let sizes = self.mixed(block, op, "static_sizes", 2)?;
        let strides = self.mixed(block, op, "static_strides", 3)?;
        let [offset] = offsets[..] else {
            return unknown_form(op, "expected one offset");
        };
        let result = self.result(op)?;
        Ok(Operation::Reinterpret {
            memref,
            offset,
            sizes,
            strides,
            result,
        })
    }

    fn alloca(&mut self, op: Op) -> Result<Operation> {
        let Some(value) = op.results().first().copied() else {
            return unknown_form(op, "expected a result");
        };
        let ty = self.memref_type(op, value)?;
        let dynamic = self.read_all(op, &op.operand_segment(0))?;
        let missing = ty.shape.iter().filter(|extent| extent.is_none()).count();
        if missing != dynamic.len() {
            return unknown_form(op, "expected one size per dynamic dimension and no symbols");
        }
        // The largest number marks a dynamic extent.
        let shape = ty
            .shape
            .iter()
            .map(|extent| extent.unwrap_or(u64::MAX))
            .collect();
        Ok(Operation::Local {
            element: ty.element,
            shape,
            dynamic,
            result: self.result(op)?,
        })
    }
}
