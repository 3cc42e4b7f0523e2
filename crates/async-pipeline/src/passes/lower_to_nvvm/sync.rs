//! Fences, CTA and warp synchronisation, election.

use super::{Lowering, ptx};
use crate::{
    build::{Build, Compare},
    diagnostics::error,
    passes::Failed,
};
use async_pipeline_sys::ir::{Builder, Op, Value};
use ptx_model::target::Target;

/// True in one lane of a converged warp.
pub(super) fn elect(builder: Builder, target: Target) -> Value {
    let context = builder.context();
    if target.has_elect() {
        return builder
            .op("nvvm.elect.sync")
            .results(&[context.i1()])
            .value();
    }
    let build = Build(builder);
    let lane = super::ids::register(builder, "nvvm.read.ptx.sreg.laneid");
    build.compare(Compare::Eq, lane, build.i32(0))
}

impl Lowering {
    pub(super) fn synchronise(&mut self, op: Op, name: &str) -> Result<(), Failed> {
        let builder = Builder::before(op);
        let number = |name: &str| {
            op.attr(name)
                .and_then(|attr| attr.int())
                .unwrap_or_default()
        };
        match name {
            // Handled with their contents.
            "roles" | "role" | "buffer.alloc" => return Ok(()),
            "elect" => {
                let leader = elect(builder, self.target);
                op.replace(&[leader]);
                return Ok(());
            }
            "fence.mbarrier_init" => ptx(builder, "fence.mbarrier_init.release.cluster;", "", &[]),
            "fence.proxy_async" => ptx(builder, "fence.proxy.async.shared::cta;", "", &[]),
            "cta.barrier" => ptx(builder, "bar.sync 0;", "", &[]),
            "warp.sync" => ptx(builder, "bar.warp.sync 0xffffffff;", "", &[]),
            "named_barrier.sync" => {
                let text = format!("barrier.sync {}, {};", number("id"), number("threads"));
                ptx(builder, &text, "", &[]);
            }
            "named_barrier.arrive" => {
                let text = format!("barrier.arrive {}, {};", number("id"), number("threads"));
                ptx(builder, &text, "", &[]);
            }
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
}
