//! The one list of passes and the named pipeline. Help, docs and the tool read it.

mod allocate;
mod insert_barriers;
mod lower_kernel_abi;
mod lower_to_nvvm;
mod materialize_tensor_maps;
mod multistage;
mod options;
mod refuse;
mod verify_barriers;
mod verify_channels;

pub use options::{CpAsyncArrive, Options, PassOption};

use async_pipeline_sys::{OptionSpec, ir::Op};

/// Diagnostics have been emitted; the pass has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed;

/// One pass: a name, options, and what it does to a module.
#[derive(Debug)]
pub struct Pass {
    /// Its name on the command line and in textual pipelines.
    pub argument: &'static str,
    /// One sentence for `--help` and the reference.
    pub description: &'static str,
    /// Its options with defaults.
    pub options: &'static [OptionSpec],
    /// Runs it; on failure diagnostics have been emitted.
    pub run: fn(Op, &Options<'_>) -> Result<(), Failed>,
}

/// Every pass of the project, in the order in which the named pipeline runs them.
pub static PASSES: &[Pass] = &[
    verify_channels::PASS,
    multistage::PASS,
    insert_barriers::PASS,
    verify_barriers::PASS,
    materialize_tensor_maps::PASS,
    allocate::PASS,
    lower_kernel_abi::PASS,
    lower_to_nvvm::PASS,
    refuse::PASS,
];

/// Name of the pipeline from any level down to the LLVM dialect.
pub const PIPELINE: &str = "async-pipeline-compile";
/// Its sentence for `--help`.
pub const PIPELINE_DESCRIPTION: &str =
    "Compile a kernel at the channel or barrier level down to the LLVM dialect";
/// Its options.
pub static PIPELINE_OPTIONS: &[OptionSpec] = &[
    options::TARGET,
    options::STAGES,
    options::PTX_VERSION,
    options::CP_ASYNC_ARRIVE,
    options::DEBUG_LINES,
    options::WAIT_TIMEOUT,
];

/// The textual pass pipeline for option values in the order of [`PIPELINE_OPTIONS`].
///
/// # Errors
/// A sentence about the option that is wrong.
pub fn pipeline(values: &[&str]) -> Result<String, String> {
    let options = Options::new(PIPELINE_OPTIONS, values);
    let target = options.target()?;
    let version = options.ptx_version(target)?;
    let stages = options
        .stages()?
        .map(|stages| format!(" stages={stages}"))
        .unwrap_or_default();
    let arrive = options.cp_async_arrive()?;
    let timeout = options.wait_timeout()?.unwrap_or(0);
    let mut passes = vec![
        // Rules of the channel level that need more than one op; everything behind relies on them.
        "async-pipeline-verify-channels".to_owned(),
        // Loads run ahead in roles that both fill and drain a channel; needs channels still whole.
        format!("async-pipeline-multistage{{target={target}{stages}}}"),
        // The step to the barrier level.
        format!(
            "async-pipeline-insert-barriers{{target={target}{stages} cp-async-arrive={}}}",
            arrive.as_str()
        ),
        // Nothing of the channel level is left, and every op exists on the target.
        format!("async-pipeline-verify-barriers{{target={target} ptx-version={version}}}"),
        // Tensor maps become kernel parameters, so they must be known before the ABI.
        "async-pipeline-materialize-tensor-maps".to_owned(),
        // Offsets before the ABI, which writes them into the manifest.
        format!("async-pipeline-allocate{{target={target}}}"),
        // Cleans index arithmetic while it is still structured, so that loops stay small.
        "canonicalize".to_owned(),
        "cse".to_owned(),
        format!(
            "async-pipeline-lower-kernel-abi{{target={target} ptx-version={version} wait-timeout={timeout}}}"
        ),
        format!("async-pipeline-lower-to-nvvm{{target={target} wait-timeout={timeout}}}"),
        // The last mile is upstream's. Structured control flow goes first, then memory
        // and arithmetic, and the casts between them cancel.
        "convert-vector-to-scf".to_owned(),
        "convert-scf-to-cf".to_owned(),
        "expand-strided-metadata".to_owned(),
        "lower-affine".to_owned(),
        "arith-expand".to_owned(),
        "convert-math-to-llvm".to_owned(),
        "convert-vector-to-llvm".to_owned(),
        "finalize-memref-to-llvm".to_owned(),
        "convert-arith-to-llvm".to_owned(),
        "convert-index-to-llvm".to_owned(),
        "convert-cf-to-llvm".to_owned(),
        "reconcile-unrealized-casts".to_owned(),
        "canonicalize".to_owned(),
    ];
    if options.debug_lines()? {
        // Scopes for `.loc`; on the final functions, or conversions would drop them.
        passes
            .push("ensure-debug-info-scope-on-llvm-func{emission-kind=LineTablesOnly}".to_owned());
    }
    Ok(passes.join(","))
}
