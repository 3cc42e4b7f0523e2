//! The embedder's API: text in, PTX, manifest and diagnostics out.

use crate::{
    hooks,
    passes::{CpAsyncArrive, PIPELINE, Sync},
    ptx::{self, LowerError},
    text,
};
use async_pipeline_sys::{dialect, ir::Op};
use melior::{
    Context,
    diagnostic::{DiagnosticHandlerId, DiagnosticSeverity},
    ir::Module,
};
use ptx_model::{
    manifest::Manifest,
    target::{PtxVersion, Target},
};
use std::{
    fmt::{self, Display, Formatter},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};
use thiserror::Error;

/// What to compile for, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompileOptions {
    target: Target,
    stages: Option<u32>,
    ptx_version: PtxVersion,
    cp_async_arrive: CpAsyncArrive,
    sync: Sync,
    debug_lines: bool,
    wait_timeout_us: Option<u64>,
}

/// Builds [`CompileOptions`]; every option but the target has a default.
#[derive(Clone, Debug)]
pub struct CompileOptionsBuilder {
    options: CompileOptions,
}

/// Why options are refused.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum OptionsError {
    /// The number of stages is out of range.
    #[error("expected stages from 1 to 64, got {0}")]
    Stages(u32),
    /// The wait timeout is out of range.
    #[error("expected a wait timeout from 1 to 1000000000 microseconds, got {0}")]
    WaitTimeout(u64),
}

impl CompileOptions {
    /// Starts with a target and the defaults: stages as the channels say (else 4), the
    /// target's PTX version, `noinc` arrives, mbarriers for every ring, no line tables, waits without a bound.
    pub fn builder(target: Target) -> CompileOptionsBuilder {
        CompileOptionsBuilder {
            options: CompileOptions {
                target,
                stages: None,
                ptx_version: target.default_ptx_version(),
                cp_async_arrive: CpAsyncArrive::Noinc,
                sync: Sync::Mbarrier,
                debug_lines: false,
                wait_timeout_us: None,
            },
        }
    }

    /// The target.
    pub fn target(&self) -> Target {
        self.target
    }

    fn pipeline(&self) -> String {
        let mut text = format!(
            "{PIPELINE}{{target={} ptx-version={} cp-async-arrive={} sync={} debug-lines={} wait-timeout={}",
            self.target,
            self.ptx_version,
            self.cp_async_arrive.as_str(),
            self.sync.as_str(),
            self.debug_lines,
            self.wait_timeout_us.unwrap_or(0)
        );
        if let Some(stages) = self.stages {
            text += &format!(" stages={stages}");
        }
        text + "}"
    }
}

impl CompileOptionsBuilder {
    /// Slots of every channel that does not say `exactly`, 1 to 64.
    pub fn stages(mut self, stages: u32) -> Self {
        self.options.stages = Some(stages);
        self
    }

    /// PTX ISA version; one that lacks an instruction of the kernel is refused.
    pub fn ptx_version(mut self, version: PtxVersion) -> Self {
        self.options.ptx_version = version;
        self
    }

    /// Form of the asynchronous arrive behind cp.async copies.
    pub fn cp_async_arrive(mut self, arrive: CpAsyncArrive) -> Self {
        self.options.cp_async_arrive = arrive;
        self
    }

    /// How a role keeps a ring that it fills by `cp.async` and drains itself.
    pub fn sync(mut self, sync: Sync) -> Self {
        self.options.sync = sync;
        self
    }

    /// Writes source lines into the PTX.
    pub fn debug_lines(mut self, wanted: bool) -> Self {
        self.options.debug_lines = wanted;
        self
    }

    /// Traps on waits that last longer, in microseconds.
    pub fn wait_timeout_us(mut self, micros: u64) -> Self {
        self.options.wait_timeout_us = Some(micros);
        self
    }

    /// Checks and hands out the options.
    ///
    /// # Errors
    /// See [`OptionsError`].
    pub fn build(self) -> Result<CompileOptions, OptionsError> {
        if let Some(stages) = self.options.stages
            && !(1..=64).contains(&stages)
        {
            return Err(OptionsError::Stages(stages));
        }
        if let Some(micros) = self.options.wait_timeout_us
            && !(1..=1_000_000_000).contains(&micros)
        {
            return Err(OptionsError::WaitTimeout(micros));
        }
        Ok(self.options)
    }
}

/// How serious a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The kernel is refused.
    Error,
    /// Something to look at.
    Warning,
    /// What the compiler chose.
    Remark,
    /// More about the diagnostic in front of it.
    Note,
}

/// One message about the source text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How serious it is.
    pub severity: Severity,
    /// Where, as MLIR prints it: `"file":line:column`.
    pub location: String,
    /// What.
    pub message: String,
}

impl Display for Diagnostic {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Remark => "remark",
            Severity::Note => "note",
        };
        write!(formatter, "{}: {severity}: {}", self.location, self.message)
    }
}

/// What a compile yields.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Artifact {
    /// The PTX text.
    pub ptx: String,
    /// What a launcher needs to know.
    pub manifest: Manifest,
    /// Warnings and remarks.
    pub diagnostics: Vec<Diagnostic>,
}

/// How long each stage of a compile took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timings {
    /// The text is checked and parsed in a fresh MLIR context.
    pub parse: Duration,
    /// The named pipeline runs, down to the LLVM dialect.
    pub passes: Duration,
    /// The module is translated to LLVM IR and LLVM's passes run.
    pub llvm_passes: Duration,
    /// Code is generated; text and manifest are made.
    pub emission: Duration,
    /// All of it, the teardown of both contexts included.
    pub total: Duration,
}

/// Why a compile failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CompileError {
    /// The kernel is refused; the diagnostics say where and why.
    #[error("{}", list(.0))]
    Rejected(Vec<Diagnostic>),
    /// The back end failed.
    #[error(transparent)]
    BackEnd(#[from] LowerError),
    /// A bug of ours.
    #[error("{0}")]
    Internal(String),
}

fn list(diagnostics: &[Diagnostic]) -> String {
    diagnostics
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("\n")
}

/// Compiles kernels. Cheap to make; compiles share nothing, so any number may run at
/// once, also beside an embedder's own MLIR contexts.
#[derive(Clone, Debug)]
pub struct Compiler {
    options: CompileOptions,
}

impl Compiler {
    /// A compiler with these options.
    pub fn new(options: CompileOptions) -> Self {
        hooks::initialize();
        Self { options }
    }

    /// Compiles the text of one module.
    ///
    /// # Errors
    /// [`CompileError::Rejected`] with located diagnostics when the kernel is wrong.
    pub fn compile(&self, text: &str) -> Result<Artifact, CompileError> {
        self.compile_timed(text).map(|(artifact, _)| artifact)
    }

    /// [`compile`](Self::compile), and how long its stages took.
    ///
    /// # Errors
    /// As [`compile`](Self::compile).
    pub fn compile_timed(&self, text: &str) -> Result<(Artifact, Timings), CompileError> {
        let begin = Instant::now();
        checked(text).map_err(CompileError::Rejected)?;
        let mut timings = Timings::default();
        let compiled = || self.compile_unguarded(text, begin, &mut timings);
        let artifact = async_pipeline_sys::hooks::guarded(compiled)
            .unwrap_or_else(|message| Err(CompileError::Internal(message)))?;
        timings.total = begin.elapsed();
        Ok((artifact, timings))
    }

    fn compile_unguarded(
        &self,
        text: &str,
        begin: Instant,
        timings: &mut Timings,
    ) -> Result<Artifact, CompileError> {
        let (context, handler, sink) = context();
        let take = || take(&sink);
        let Some(module) = Module::parse(&context, text) else {
            return Err(CompileError::Rejected(take()));
        };
        timings.parse = begin.elapsed();
        let begin = Instant::now();
        let op = Op::from_raw(module.as_operation().to_raw());
        let run = dialect::run_pipeline(op, &self.options.pipeline());
        timings.passes = begin.elapsed();
        if let Err(message) = run {
            let diagnostics = take();
            if diagnostics.is_empty() {
                return Err(CompileError::Internal(format!("internal error: {message}")));
            }
            return Err(CompileError::Rejected(diagnostics));
        }
        let (target, version) = (self.options.target, self.options.ptx_version);
        let lowered = ptx::ptx_timed(op, target, version, timings)?;
        context.detach_diagnostic_handler(handler);
        Ok(Artifact {
            ptx: lowered.ptx,
            manifest: lowered.manifest,
            diagnostics: take(),
        })
    }
}

type Sink = Arc<Mutex<Vec<Diagnostic>>>;

/// A context of its own, whose diagnostics go to the sink.
fn context() -> (Context, DiagnosticHandlerId, Sink) {
    let registry = dialect::registry();
    let context = Context::new();
    context.append_dialect_registry(&registry);
    // Diagnostics come in order and output never depends on threads.
    context.enable_multi_threading(false);
    let sink: Sink = Arc::default();
    let handler = {
        let sink = Arc::clone(&sink);
        context.attach_diagnostic_handler(move |diagnostic| {
            collect(&diagnostic, &sink);
            true
        })
    };
    (context, handler, sink)
}

fn take(sink: &Sink) -> Vec<Diagnostic> {
    sink.lock()
        .map(|mut list| std::mem::take(&mut *list))
        .unwrap_or_default()
}

/// Refuses a text that must not reach the parser.
fn checked(text: &str) -> Result<(), Vec<Diagnostic>> {
    text::check(text.as_bytes()).map_err(|why| {
        vec![Diagnostic {
            severity: Severity::Error,
            location: format!("\"-\":{}:{}", why.line, why.column),
            message: why.message,
        }]
    })
}

/// Parses the text of a module and hands it to `body`, which keeps no handle to it.
pub(crate) fn parsed<T>(text: &str, body: impl FnOnce(Op) -> T) -> Result<T, Vec<Diagnostic>> {
    checked(text)?;
    let (context, _, sink) = context();
    let Some(module) = Module::parse(&context, text) else {
        return Err(take(&sink));
    };
    Ok(body(Op::from_raw(module.as_operation().to_raw())))
}

fn collect(diagnostic: &melior::diagnostic::Diagnostic<'_>, sink: &Mutex<Vec<Diagnostic>>) {
    let severity = match diagnostic.severity() {
        DiagnosticSeverity::Error => Severity::Error,
        DiagnosticSeverity::Warning => Severity::Warning,
        DiagnosticSeverity::Remark => Severity::Remark,
        DiagnosticSeverity::Note => Severity::Note,
    };
    let location = diagnostic.location().to_string();
    let location = location
        .strip_prefix("loc(")
        .and_then(|inner| inner.strip_suffix(')'))
        .unwrap_or(&location)
        .to_owned();
    if let Ok(mut list) = sink.lock() {
        list.push(Diagnostic {
            severity,
            location,
            message: diagnostic.to_string(),
        });
    }
    for index in 0..diagnostic.note_count() {
        if let Ok(note) = diagnostic.note(index) {
            collect(&note, sink);
        }
    }
}
