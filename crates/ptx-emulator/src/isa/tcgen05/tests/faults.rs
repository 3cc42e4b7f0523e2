//! Wrong kernels, each wrong in one way.

use super::*;
use crate::{Kind, Severity};

/// A report of this class at a line that contains `at`, under every schedule.
fn reported(kernel: &Kernel, kind: Kind, at: &str) {
    let text = kernel.text();
    for schedule in SCHEDULES {
        let options = Options {
            schedule,
            ..Options::default()
        };
        let (outcome, _) = kernel.run(&[], options);
        let there = |report: &crate::Report| {
            let line = report
                .site
                .as_ref()
                .and_then(|site| text.lines().nth(site.span.line as usize - 1));
            report.kind == kind
                && report.severity == Severity::Error
                && line.is_some_and(|line| line.contains(at))
        };
        let reports: Vec<String> = outcome.reports.iter().map(ToString::to_string).collect();
        assert!(
            outcome.reports.iter().any(there),
            "{schedule:?}: no {kind:?} at `{at}`:\n{}\n{text}",
            reports.join("\n")
        );
    }
}

const ST: &str = "tcgen05.st.sync.aligned.32x32b.x2.b32 [%q], {%v0, %v1};\n";
const WAIT_ST: &str = "tcgen05.wait::st.sync.aligned;\n";
const LD: &str = "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%v0, %v1}, [%q];\n";
const WAIT_LD: &str = "tcgen05.wait::ld.sync.aligned;\n";
const SYNC: &str =
    "tcgen05.fence::before_thread_sync;\nbar.sync 0;\ntcgen05.fence::after_thread_sync;\n";

/// Operands and the instruction descriptor of a product of 128×16 in columns 0 to 15.
fn setup() -> String {
    format!(
        "{}{}mov.b32 %x2, {};\nsetp.ne.u32 %p1, 0, 0;\nsetp.eq.u32 %p2, 0, 0;\n",
        descriptor(0, 0, 4096, 128, 0),
        descriptor(1, 8192, 4096, 128, 0),
        0x10 | 2 << 17 | 8 << 24,
    )
}

const MMA: &str = "tcgen05.mma.cta_group::1.kind::f16 [%taddr], %y0, %y1, %x2, %p1;\n";

#[test]
fn the_right_order_has_no_reports() {
    let body = format!(
        "{}{ST}{WAIT_ST}{LD}{WAIT_LD}{SYNC}{}{LD}{WAIT_LD}",
        setup(),
        issue(MMA.trim_end())
    );
    Kernel::new(body).run_clean(&[]);
}

#[test]
fn columns_overwritten_under_a_load() {
    let body = format!(
        "{}{ST}{WAIT_ST}{LD}{SYNC}{}{WAIT_LD}",
        setup(),
        issue(MMA.trim_end())
    );
    reported(&Kernel::new(body), Kind::OverwriteWhileRead, "tcgen05.mma");
}

#[test]
fn columns_freed_under_a_load() {
    let mut kernel = Kernel::new(format!("{ST}{WAIT_ST}{LD}"));
    kernel.end = Some(format!(
        "{SYNC}@%w0 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %taddr, 128;\n{WAIT_LD}"
    ));
    reported(&kernel, Kind::OverwriteWhileRead, "dealloc");
}

/// Warps 1 to 3 may still load when warp 0 frees.
#[test]
fn freed_without_a_barrier() {
    let mut kernel = Kernel::new(format!("{ST}{WAIT_ST}{LD}{WAIT_LD}"));
    kernel.end = Some("@%w0 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %taddr, 128;\n".into());
    let text = kernel.text();
    for schedule in SCHEDULES {
        let options = Options {
            schedule,
            ..Options::default()
        };
        let (outcome, _) = kernel.run(&[], options);
        // Whoever comes second is reported: the free, or a use of what is free.
        let seen = outcome.reports.iter().any(|report| {
            matches!(
                report.kind,
                Kind::OverwriteWhileRead | Kind::ReadBeforeComplete | Kind::TensorMemory
            )
        });
        assert!(seen, "{schedule:?}\n{text}");
    }
}

#[test]
fn a_store_that_is_not_waited_for() {
    reported(
        &Kernel::new(format!("{ST}{LD}{WAIT_LD}")),
        Kind::ReadBeforeComplete,
        "tcgen05.ld",
    );
    let body = format!(
        "{}{ST}{SYNC}{}{WAIT_ST}",
        setup(),
        issue(&MMA.trim_end().replace("%p1", "%p2"))
    );
    reported(&Kernel::new(body), Kind::ReadBeforeComplete, "tcgen05.mma");
}

#[test]
fn a_product_that_is_not_waited_for() {
    let body = format!("{}@%one {MMA}{LD}{WAIT_LD}", setup());
    reported(&Kernel::new(body), Kind::ReadBeforeComplete, "tcgen05.ld");
}

/// The operand is written again by ordinary stores before the product has read it.
#[test]
fn an_operand_overwritten_under_a_product() {
    let body = format!("{}@%one {MMA}@%one st.shared.b32 [%s], %x2;\n", setup());
    reported(
        &Kernel::new(body),
        Kind::OverwriteWhileRead,
        "st.shared.b32",
    );
}

/// The commit goes to another barrier than the one waited for.
#[test]
fn a_commit_to_another_barrier() {
    let body =
        format!("{}{}", setup(), issue(MMA.trim_end())).replace("b64 [%bar];", "b64 [%bar+8];");
    let (outcome, _) = Kernel::new(body).run(&[], Options::default());
    assert!(
        outcome
            .reports
            .iter()
            .any(|report| report.kind == Kind::Deadlock)
    );
}

#[test]
fn missing_fences_are_warnings_unless_strict() {
    let body = format!("{}{}{LD}{WAIT_LD}", setup(), issue(MMA.trim_end()))
        .replace("tcgen05.fence::after_thread_sync;\n", "");
    let kernel = Kernel::new(body);
    for (strict, severity) in [(false, Severity::Warning), (true, Severity::Error)] {
        let options = Options {
            strict,
            ..Options::default()
        };
        let (outcome, _) = kernel.run(&[], options);
        assert!(outcome.completed);
        let kinds: Vec<_> = outcome
            .reports
            .iter()
            .map(|r| (r.kind, r.severity))
            .collect();
        assert_eq!(kinds, [(Kind::MissingTensorFence, severity)]);
    }
}

#[test]
fn uninitialised_columns() {
    reported(
        &Kernel::new(format!("{LD}{WAIT_LD}")),
        Kind::UninitialisedRead,
        "tcgen05.ld",
    );
    let body = format!(
        "{}{}",
        setup(),
        issue(&MMA.trim_end().replace("%p1", "%p2"))
    );
    reported(&Kernel::new(body), Kind::UninitialisedRead, "tcgen05.mma");
}

#[test]
fn outside_the_allocation() {
    let at =
        |offset| format!("tcgen05.st.sync.aligned.32x32b.x2.b32 [%q + {offset}], {{%v0, %v1}};\n");
    reported(&Kernel::new(at(127)), Kind::OutOfBounds, "tcgen05.st");
    reported(&Kernel::new(at(511)), Kind::OutOfBounds, "tcgen05.st");
    let body =
        setup() + &issue("tcgen05.mma.cta_group::1.kind::f16 [%taddr + 120], %y0, %y1, %x2, %p1;");
    reported(&Kernel::new(body), Kind::OutOfBounds, "tcgen05.mma");
    let body = setup().replace("8192", "200000") + &issue(MMA.trim_end());
    reported(&Kernel::new(body), Kind::OutOfBounds, "tcgen05.mma");
}

#[test]
fn another_warps_lanes() {
    reported(
        &Kernel::new(ST.replace("%q", "%taddr")),
        Kind::InvalidOperand,
        "tcgen05.st",
    );
}

#[test]
fn allocation_rules() {
    let dealloc = "@%w0 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %taddr, 128;\n";
    let mut kernel = Kernel::new("");
    kernel.end = Some(String::new());
    reported(&kernel, Kind::TensorMemory, "tcgen05.alloc");
    kernel.end = Some(dealloc.replace("128", "64"));
    reported(&kernel, Kind::TensorMemory, "dealloc");
    kernel.end = Some(format!("{dealloc}{dealloc}"));
    reported(&kernel, Kind::TensorMemory, "dealloc");
    kernel.end = Some(format!("bar.sync 0;\n{dealloc}bar.sync 0;\n{ST}"));
    reported(&kernel, Kind::TensorMemory, "tcgen05.st");
    let alloc = "@%w0 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;\n";
    kernel.end = Some(format!(
        "@%w0 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n{alloc}"
    ));
    reported(&kernel, Kind::TensorMemory, "32;");
    kernel.end = Some(alloc.replace("32;", "256;"));
    reported(&kernel, Kind::TensorMemory, "256;");
    kernel.end = Some(alloc.replace("32;", "48;"));
    reported(&kernel, Kind::InvalidOperand, "48;");
    kernel.end = Some(dealloc.replace("::1", "::2"));
    reported(&kernel, Kind::InvalidOperand, "dealloc");
}

#[test]
fn allocating_more_than_there_is_blocks() {
    let mut kernel = Kernel::new("");
    kernel.columns = 512;
    kernel.end =
        Some("@%w0 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;\n".into());
    reported(&kernel, Kind::Deadlock, "32;");
}
