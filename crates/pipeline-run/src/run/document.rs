//! What came out as one JSON object. Its names are a promise to those who read it by program.

use std::{collections::BTreeMap, fs, io::Write};

use ptx_emulator::Report;
use serde::Serialize;

use super::{
    LoadedKernel, ReportFormat, Request,
    result::{CaseResult, severity_name},
};
use crate::error::{EXIT_RIGHT, EXIT_WRONG, RunError};

/// Version of the format below.
const SCHEMA_VERSION: u32 = 1;

#[derive(Debug, Serialize)]
pub(super) struct Document<'a> {
    schema_version: u32,
    /// `ok`, `failed` or `unusable`.
    outcome: &'static str,
    exit_code: u8,
    /// Why the input is unusable.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Unusable<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel: Option<&'a str>,
    /// Of the manifest.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<&'a str>,
    /// The file that lines and columns are in.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// One per size.
    cases: Vec<Case<'a>>,
}

#[derive(Debug, Serialize)]
struct Unusable<'a> {
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<&'a u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<&'a u32>,
}

#[derive(Debug, Serialize)]
struct Case<'a> {
    /// `ok` or `failed`.
    outcome: &'static str,
    /// Sizes of each memref argument.
    sizes: BTreeMap<&'a str, &'a [u64]>,
    grid: [u32; 3],
    /// Whether results were compared with an expectation.
    checked: bool,
    /// Those that were run; a failing one is the last.
    schedules: Vec<Schedule<'a>>,
    reports: Vec<Defect<'a>>,
    findings: Vec<Value<'a>>,
    /// How the kernel failed on a GPU.
    failure: Option<&'a str>,
    /// The wait that gave up.
    wait: Option<String>,
}

#[derive(Debug, Serialize)]
struct Schedule<'a> {
    name: &'a str,
    completed: bool,
    warp_instructions: u64,
    thread_instructions: u64,
}

#[derive(Debug, Serialize)]
struct Defect<'a> {
    kind: &'static str,
    severity: &'static str,
    message: &'a str,
    /// Place in the PTX, counted from 1; null for what belongs to no instruction.
    line: Option<u32>,
    column: Option<u32>,
    /// What the instruction was compiled from.
    source: Option<Source<'a>>,
    instruction: Option<&'a str>,
    block: Option<[u32; 3]>,
    /// The thread's linear number in its block.
    thread: Option<u32>,
    notes: &'a [String],
    count: u64,
}

#[derive(Debug, Serialize)]
struct Source<'a> {
    file: &'a str,
    line: u32,
    column: u32,
}

#[derive(Debug, Serialize)]
struct Value<'a> {
    kind: &'static str,
    argument: &'a str,
    message: String,
}

fn outcome(right: bool) -> &'static str {
    if right { "ok" } else { "failed" }
}

impl<'a> Document<'a> {
    /// What came out of a run.
    pub(super) fn new(
        loaded: &'a LoadedKernel,
        device: &'a str,
        results: &'a [CaseResult],
    ) -> Self {
        let right = results.iter().all(CaseResult::is_right);
        Self {
            schema_version: SCHEMA_VERSION,
            outcome: outcome(right),
            exit_code: if right { EXIT_RIGHT } else { EXIT_WRONG },
            error: None,
            kernel: Some(&loaded.kernel.name),
            target: Some(&loaded.target),
            device: Some(device),
            file: Some(loaded.shown.display().to_string()),
            cases: results.iter().map(case).collect(),
        }
    }

    /// A run that did not come about.
    pub(super) fn unusable(error: &'a RunError) -> Self {
        let (file, line, column) = match error {
            RunError::Source {
                path, line, column, ..
            } => (Some(path.display().to_string()), Some(line), Some(column)),
            _ => (None, None, None),
        };
        let message = match error {
            RunError::Source { message, .. } => message.clone(),
            _ => error.report(),
        };
        Self {
            schema_version: SCHEMA_VERSION,
            outcome: "unusable",
            exit_code: error.exit_code(),
            error: Some(Unusable {
                message,
                file,
                line,
                column,
            }),
            kernel: None,
            target: None,
            device: None,
            file: None,
            cases: Vec::new(),
        }
    }

    /// Writes it where the command line wants it, if it does.
    ///
    /// # Errors
    /// Output that cannot be written.
    pub(super) fn write(&self, request: &Request, out: &mut dyn Write) -> Result<(), RunError> {
        let print = request.report == ReportFormat::Json;
        if !print && request.report_file.is_none() {
            return Ok(());
        }
        // Plain data with string keys: serialising it into memory has no way to fail.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        if let Some(path) = &request.report_file {
            fs::write(path, &text).map_err(|source| RunError::Write {
                path: path.clone(),
                source,
            })?;
        }
        if print {
            out.write_all(text.as_bytes()).map_err(RunError::Output)?;
        }
        Ok(())
    }
}

fn case(result: &CaseResult) -> Case<'_> {
    Case {
        outcome: outcome(result.is_right()),
        sizes: result
            .sizes
            .iter()
            .map(|(name, shape)| (name.as_str(), shape.as_slice()))
            .collect(),
        grid: result.grid,
        checked: result.checked,
        schedules: result
            .runs
            .iter()
            .map(|run| Schedule {
                name: &run.schedule,
                completed: run.completed,
                warp_instructions: run.steps,
                thread_instructions: run.thread_instructions,
            })
            .collect(),
        reports: result.reports.iter().map(defect).collect(),
        findings: result
            .findings
            .iter()
            .map(|finding| Value {
                kind: finding.kind(),
                argument: finding.argument(),
                message: finding.to_string(),
            })
            .collect(),
        failure: result.failure.as_deref(),
        wait: result.wait.as_ref().map(ToString::to_string),
    }
}

fn defect(report: &Report) -> Defect<'_> {
    let site = report.site.as_ref();
    Defect {
        kind: report.kind.name(),
        severity: severity_name(report.severity),
        message: &report.message,
        line: site.map(|site| site.span.line),
        column: site.map(|site| site.span.column),
        source: site
            .and_then(|site| site.source.as_ref())
            .map(|source| Source {
                file: &source.file,
                line: source.line,
                column: source.column,
            }),
        instruction: site.map(|site| &*site.instruction),
        block: site.map(|site| site.block),
        thread: site.map(|site| site.thread),
        notes: &report.notes,
        count: report.count,
    }
}
