//! `ldmatrix`: matrices from shared memory to the registers of a warp.

use super::{Lowering, inline};
use crate::{build::Build, passes::Failed};
use async_pipeline_sys::ir::{Builder, Op, Value};

impl Lowering {
    pub(super) fn load_matrices(&self, op: Op) -> Result<(), Failed> {
        let builder = Builder::before(op);
        let i32 = builder.context().i32();
        let count = op.result_count();
        let slot = self
            .memory
            .slot_element(builder, op, op.operand(0), op.operand(1), 0)?;
        let address = Build(builder).add(slot, op.operand(2));
        let plus = op
            .attr("plus")
            .and_then(|plus| plus.int())
            .unwrap_or_default();
        let trans = match op.attr("transpose") {
            Some(_) => ".trans",
            None => "",
        };
        let words: Vec<String> = (0..count).map(|word| format!("${word}")).collect();
        // The constant stands in the instruction: the back end would add it in a register.
        let text = format!(
            "ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {{{}}}, [${count}+{plus}];",
            words.join(", ")
        );
        let constraints = format!("{}r", "=r,".repeat(count));
        let loaded: Vec<Value> = if count == 1 {
            inline(builder, &text, &constraints, &[address], &[i32]).results()
        } else {
            let all = builder.context().llvm_struct(&vec![i32; count]);
            let all = inline(builder, &text, &constraints, &[address], &[all]).result(0);
            (0..count)
                .map(|word| {
                    builder
                        .op("llvm.extractvalue")
                        .operands(&[all])
                        .attr("position", builder.context().dense_i64_attr(&[word as i64]))
                        .results(&[i32])
                        .value()
                })
                .collect()
        };
        op.replace(&loaded);
        Ok(())
    }
}
