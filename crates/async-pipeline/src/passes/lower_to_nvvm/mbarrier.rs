//! The mbarrier family.

use super::{Lowering, ptx, ptx_value};
use crate::{
    build::{Build, Compare},
    diagnostics::error,
    passes::{Failed, lower_kernel_abi::WAIT_REPORT},
};
use async_pipeline_sys::ir::{Builder, Op, Value};

/// Nanoseconds between polls where no wait can suspend the thread.
const POLL_NS: u32 = 20;
/// Role number in a report of a wait outside any role.
const NO_ROLE: i64 = u32::MAX as i64;

impl Lowering {
    pub(super) fn mbarrier(&mut self, op: Op, name: &str) -> Result<(), Failed> {
        let builder = Builder::before(op);
        let flag = |name: &str| op.attr(name).is_some();
        let count = op.attr("count").and_then(|count| count.int()).unwrap_or(1);
        match name {
            // Handled with the allocations.
            "mbarrier.alloc" => return Ok(()),
            "mbarrier.init" | "mbarrier.inval" => self.each_stage(op, name, count)?,
            "mbarrier.arrive" | "mbarrier.arrive_drop" => {
                let address = self.barrier_of(builder, op)?;
                let verb = name.trim_start_matches("mbarrier.");
                let form = match (flag("no_complete"), count) {
                    (true, count) => {
                        format!("mbarrier.{verb}.noComplete.shared::cta.b64 $0, [$1], {count};")
                    }
                    (false, 1) => format!("mbarrier.{verb}.shared::cta.b64 $0, [$1];"),
                    (false, count) => format!("mbarrier.{verb}.shared::cta.b64 $0, [$1], {count};"),
                };
                self.arrive(op, builder, &form, &[address]);
            }
            "mbarrier.arrive.expect_tx" => {
                let address = self.barrier_of(builder, op)?;
                ptx(
                    builder,
                    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;",
                    "r,r",
                    &[address, op.operand(2)],
                );
            }
            "mbarrier.expect_tx" | "mbarrier.complete_tx" => {
                let address = self.barrier_of(builder, op)?;
                let text = format!("{name}.relaxed.cta.shared::cta.b64 [$0], $1;");
                ptx(builder, &text, "r,r", &[address, op.operand(2)]);
            }
            "mbarrier.wait" => self.wait(op, builder)?,
            "mbarrier.test_wait.parity"
            | "mbarrier.try_wait.parity"
            | "mbarrier.test_wait"
            | "mbarrier.try_wait" => {
                let address = self.barrier_of(builder, op)?;
                let kind = if name.ends_with("parity") { "r" } else { "l" };
                let text = format!(
                    "{{\n\t.reg .pred done;\n\t{name}.shared::cta.b64 done, [$1], $2;\n\tselp.b32 $0, 1, 0, done;\n\t}}"
                );
                let raw = ptx_value(
                    builder,
                    &text,
                    &format!("=r,r,{kind}"),
                    &[address, op.operand(2)],
                    builder.context().i32(),
                );
                let done = Build(builder).compare(Compare::Eq, raw, Build(builder).i32(1));
                op.replace(&[done]);
                return Ok(());
            }
            "mbarrier.pending_count" => {
                let value = ptx_value(
                    builder,
                    "mbarrier.pending_count.b64 $0, $1;",
                    "=r,l",
                    &[op.operand(0)],
                    builder.context().i32(),
                );
                op.replace(&[value]);
                return Ok(());
            }
            _ => {
                return Err(error(
                    op,
                    format!("'{}' op cannot be lowered to NVVM", op.name()),
                ));
            }
        }
        if op.result_count() == 0 {
            op.erase();
        }
        Ok(())
    }

    fn barrier_of(&self, builder: Builder, op: Op) -> Result<Value, Failed> {
        self.memory
            .barrier(builder, op, op.operand(0), op.operand(1))
    }

    fn arrive(&self, op: Op, builder: Builder, text: &str, operands: &[Value]) {
        let state = ptx_value(builder, text, "=l,r", operands, builder.context().i64());
        if op.result_count() == 1 {
            op.replace(&[state]);
        }
    }

    fn each_stage(&self, op: Op, name: &str, count: i64) -> Result<(), Failed> {
        let builder = Builder::before(op);
        let barrier = op.operand(0);
        for stage in 0..barrier.ty().stages() {
            let stage = Build(builder).i32(stage);
            let address = self.memory.barrier(builder, op, barrier, stage)?;
            let text = if name == "mbarrier.init" {
                format!("mbarrier.init.shared::cta.b64 [$0], {count};")
            } else {
                "mbarrier.inval.shared::cta.b64 [$0];".to_owned()
            };
            ptx(builder, &text, "r", &[address]);
        }
        Ok(())
    }

    /// The whole loop is one piece of PTX: no optimisation of ours or LLVM's peels,
    /// duplicates or hoists an attempt. Labels are local to the braces.
    fn wait(&self, op: Op, builder: Builder) -> Result<(), Failed> {
        let address = self.barrier_of(builder, op)?;
        let suspends = self.target.has_try_wait();
        let attempt = if suspends {
            "mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1;"
        } else {
            "mbarrier.test_wait.parity.shared::cta.b64 done, [$0], $1;"
        };
        let pause = if suspends {
            String::new()
        } else {
            format!("\tnanosleep.u32 {POLL_NS};\n")
        };
        let Some(micros) = self.timeout else {
            let text = if suspends {
                format!(
                    "{{\n\t.reg .pred done;\nwaiting:\n\t{attempt}\n\t@!done bra waiting;\n\t}}"
                )
            } else {
                format!(
                    "{{\n\t.reg .pred done;\nwaiting:\n\t{attempt}\n\t@done bra passed;\n{pause}\tbra waiting;\npassed:\n\t}}"
                )
            };
            ptx(builder, &text, "r,r", &[address, op.operand(2)]);
            return Ok(());
        };
        let offset = self
            .memory
            .barrier_offset(builder, op.operand(0), op.operand(1));
        let role = op.ancestor("async_pipeline.role").map_or(NO_ROLE, |role| {
            let block = role.block().into_iter().flat_map(|block| block.ops());
            block.take_while(|other| *other != role).count() as i64
        });
        let nanos = micros * 1000;
        // The first thread that gives up writes the report; the others wait on until
        // its trap ends the grid.
        let text = format!(
            "{{\n\t.reg .pred done, more;\n\t.reg .b64 since, now, to;\n\t.reg .b32 won, n;\n\
             \tmov.u64 since, %globaltimer;\n\
             waiting:\n\t{attempt}\n\t@done bra passed;\n{pause}\
             \tmov.u64 now, %globaltimer;\n\tsub.u64 now, now, since;\n\
             \tsetp.lt.u64 more, now, {nanos};\n\t@more bra waiting;\n\
             \tatom.global.cas.b32 won, [{WAIT_REPORT}+8], 0, 1;\n\
             \tsetp.ne.u32 more, won, 0;\n\t@more bra waiting;\n\
             \tld.global.u64 to, [{WAIT_REPORT}];\n\
             \tsetp.eq.u64 more, to, 0;\n\t@more bra stop;\n\
             \tst.u32 [to+4], $2;\n\tst.u32 [to+8], $1;\n\tst.u32 [to+12], {role};\n\
             \tmov.u32 n, %ctaid.x;\n\tst.u32 [to+16], n;\n\
             \tmov.u32 n, %ctaid.y;\n\tst.u32 [to+20], n;\n\
             \tmov.u32 n, %ctaid.z;\n\tst.u32 [to+24], n;\n\
             \tmov.u32 n, %tid.x;\n\tst.u32 [to+28], n;\n\
             \tfence.sc.sys;\n\tst.u32 [to], 1;\n\tfence.sc.sys;\n\
             stop:\n\ttrap;\npassed:\n\t}}"
        );
        ptx(builder, &text, "r,r,r", &[address, op.operand(2), offset]);
        Ok(())
    }
}
