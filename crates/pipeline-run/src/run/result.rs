//! What came out for one size, and its lines for people.

use std::{collections::BTreeSet, fmt, path::Path};

use ptx_emulator::{Kind, Report, Severity, syntax::ast::Span};

use crate::{device::Run, verify::Finding, wait_report::WaitReport};

/// What came out for one size.
#[derive(Debug, Default)]
pub(super) struct CaseResult {
    /// Kernel and sizes.
    pub(super) label: String,
    /// Name and sizes of every tensor.
    pub(super) sizes: Vec<(String, Vec<u64>)>,
    /// Blocks.
    pub(super) grid: [u32; 3],
    /// Whether results were compared with anything.
    pub(super) checked: bool,
    /// Runs that were watched from inside, without their reports.
    pub(super) runs: Vec<Run>,
    /// Reports of all runs, each defect once.
    pub(super) reports: Vec<Report>,
    /// What is wrong with the arguments.
    pub(super) findings: Vec<Finding>,
    /// How the kernel failed, where all that is known is one sentence.
    pub(super) failure: Option<String>,
    /// The wait that gave up.
    pub(super) wait: Option<WaitReport>,
    /// Defects that were reported before.
    pub(super) known: BTreeSet<(Kind, Option<Span>)>,
}

/// How many reports are printed; JSON has them all.
const SHOWN: usize = 10;

impl CaseResult {
    /// Takes in a run. Whether it was right so far.
    pub(super) fn add(&mut self, mut run: Run) -> bool {
        let right = run.completed && !run.reports.iter().any(is_error);
        for report in run.reports.drain(..) {
            let key = (report.kind, report.site.as_ref().map(|site| site.span));
            if self.known.insert(key) || is_error(&report) {
                self.reports.push(report);
            }
        }
        self.runs.push(run);
        right
    }

    pub(super) fn is_right(&self) -> bool {
        self.findings.is_empty()
            && self.failure.is_none()
            && self.runs.iter().all(|run| run.completed)
            && !self.reports.iter().any(is_error)
    }

    /// The lines for people; `file` is the PTX.
    pub(super) fn text(&self, file: &Path) -> String {
        let mut text = format!("{}: {}", self.label, self.verdict());
        match self.runs.as_slice() {
            _ if self.grid.contains(&0) => text += " (empty grid, nothing launched)",
            [] => {}
            runs if self.is_right() => {
                let steps: u64 = runs.iter().map(|run| run.steps).sum();
                let plural = if runs.len() == 1 { "" } else { "s" };
                text += &format!(
                    " ({} schedule{plural}, {steps} warp-instructions)",
                    runs.len()
                );
            }
            runs => {
                let schedule = runs.last().map_or("", |run| &run.schedule);
                text += &format!(" under schedule {}, {schedule}", runs.len() - 1);
            }
        }
        text.push('\n');
        let (errors, warnings): (Vec<_>, Vec<_>) = self.reports.iter().partition(|r| is_error(r));
        for report in errors.into_iter().chain(warnings).take(SHOWN) {
            indent(&mut text, &Located { report, file });
        }
        if let Some(more) = self.reports.len().checked_sub(SHOWN + 1) {
            let more = more + 1;
            text += &format!("  and {more} reports more; --report json shows all\n");
        }
        if let Some(wait) = &self.wait {
            indent(&mut text, wait);
        }
        for finding in &self.findings {
            indent(&mut text, finding);
        }
        text
    }

    fn verdict(&self) -> String {
        match &self.failure {
            Some(failure) => format!("FAILED, {failure}"),
            None if !self.is_right() => "FAILED".to_owned(),
            None if self.checked => "ok".to_owned(),
            None => "ran, guard bytes intact, results not checked".to_owned(),
        }
    }
}

fn is_error(report: &Report) -> bool {
    report.severity == Severity::Error
}

fn indent(text: &mut String, what: &dyn fmt::Display) {
    for line in what.to_string().lines() {
        *text += &format!("  {line}\n");
    }
}

/// A report as compilers write errors: the place first.
struct Located<'a> {
    report: &'a Report,
    file: &'a Path,
}

impl fmt::Display for Located<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let report = self.report;
        write!(f, "{}:", self.file.display())?;
        if let Some(site) = &report.site {
            write!(f, "{}:{}:", site.span.line, site.span.column)?;
        }
        let (severity, kind) = (severity_name(report.severity), report.kind.name());
        write!(f, " {severity}: {} [{kind}]", report.message)?;
        if let Some(site) = &report.site {
            let [x, y, z] = site.block;
            let (warp, thread) = (site.thread / 32, site.thread);
            write!(f, "\n  at {}", site.instruction)?;
            if let Some(source) = &site.source {
                write!(f, ", from {source}")?;
            }
            write!(f, "; block ({x},{y},{z}), warp {warp}, thread {thread}")?;
        }
        for note in &report.notes {
            write!(f, "\n  {note}")?;
        }
        if report.count > 1 {
            write!(f, "\n  seen {} times here", report.count)?;
        }
        Ok(())
    }
}

pub(super) fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}
