//! From a lowered module to LLVM IR and PTX text.

use crate::{PtxVersion, Target, Timings};
use async_pipeline_sys::ir::Op;
use inkwell::{
    OptimizationLevel,
    attributes::{Attribute, AttributeLoc},
    context::Context,
    llvm_sys::{
        LLVMDiagnosticSeverity,
        core::{
            LLVMContextSetDiagnosticHandler, LLVMDisposeMessage, LLVMGetDiagInfoDescription,
            LLVMGetDiagInfoSeverity,
        },
        prelude::{LLVMDiagnosticInfoRef, LLVMModuleRef},
    },
    module::Module,
    passes::PassBuilderOptions,
    targets::{
        CodeModel, FileType, InitializationConfig, RelocMode, Target as LlvmTarget, TargetMachine,
        TargetTriple,
    },
    values::InstructionOpcode,
};
use mlir_sys as _;
use ptx_model::manifest::{Kernel, Manifest, SCHEMA_VERSION};
use std::{
    ffi::{CStr, c_void},
    sync::{Mutex, Once},
    time::Instant,
};
use thiserror::Error;

/// Why a module could not be turned into PTX.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LowerError {
    /// There is no single `gpu.module` with lowered kernels.
    #[error("expected one gpu.module with kernels lowered to llvm.func, got {0}")]
    NoKernelModule(usize),
    /// MLIR could not translate the module; it has said why.
    #[error("the module cannot be translated to LLVM IR")]
    Translation,
    /// LLVM refuses its own input: a bug of ours.
    #[error("internal error: {0}; this is a bug in async-pipeline, please report it")]
    Internal(String),
    /// The kernel calls a function that no GPU code provides.
    #[error(
        "the kernel calls {0}, which is not available on the GPU; use operations that do not need a library"
    )]
    ExternalCall(String),
}

/// PTX text with its manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lowered {
    /// The PTX.
    pub ptx: String,
    /// What a launcher needs to know.
    pub manifest: Manifest,
}

/// Runs in front of code generation: scalar clean-up and full unrolling of constant
/// loops. No partial unrolling, peeling or unswitching: each duplicates the main loop
/// and its waits.
const PASSES: &str = "function(sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,\
loop-mssa(licm),loop(indvars,loop-unroll-full),sroa,instcombine<no-verify-fixpoint>,\
simplifycfg,gvn,loop-mssa(licm),separate-const-offset-from-gep,early-cse<memssa>,\
instcombine<no-verify-fixpoint>,simplifycfg,adce)";

/// An LLVM context whose errors are collected; by default LLVM prints them and ends the
/// process.
struct Llvm {
    // The context goes first, then what its handler writes to.
    context: Context,
    errors: Box<Mutex<Vec<String>>>,
}

impl Llvm {
    fn new() -> Self {
        let context = Context::create();
        let errors: Box<Mutex<Vec<String>>> = Box::default();
        // SAFETY: the box does not move and outlives the context's last use.
        unsafe {
            LLVMContextSetDiagnosticHandler(
                context.raw(),
                Some(collect_error),
                (&raw const *errors).cast_mut().cast(),
            );
        }
        Self { context, errors }
    }

    /// The first error that LLVM has reported, as a bug of ours.
    fn check(&self) -> Result<(), LowerError> {
        match self
            .errors
            .lock()
            .ok()
            .and_then(|errors| errors.first().cloned())
        {
            Some(message) => Err(LowerError::Internal(message)),
            None => Ok(()),
        }
    }
}

extern "C" fn collect_error(info: LLVMDiagnosticInfoRef, errors: *mut c_void) {
    // SAFETY: LLVM hands back what `Llvm::new` gave it; the description is freed as told.
    unsafe {
        if !matches!(
            LLVMGetDiagInfoSeverity(info),
            LLVMDiagnosticSeverity::LLVMDSError
        ) {
            return;
        }
        let text = LLVMGetDiagInfoDescription(info);
        let message = CStr::from_ptr(text).to_string_lossy().into_owned();
        LLVMDisposeMessage(text);
        if let Ok(mut errors) = (*errors.cast::<Mutex<Vec<String>>>()).lock() {
            errors.push(message);
        }
    }
}

/// The optimised LLVM IR of a lowered module.
///
/// # Errors
/// See [`LowerError`].
pub fn llvm_ir(module: Op, target: Target, version: PtxVersion) -> Result<String, LowerError> {
    let state = Llvm::new();
    let (llvm, _) = translate(&state, module, target, version)?;
    Ok(llvm.print_to_string().to_string())
}

/// The PTX of a lowered module.
///
/// # Errors
/// See [`LowerError`].
pub fn ptx(module: Op, target: Target, version: PtxVersion) -> Result<Lowered, LowerError> {
    ptx_timed(module, target, version, &mut Timings::default())
}

/// [`ptx`], which also writes down how long LLVM's stages take.
pub(crate) fn ptx_timed(
    module: Op,
    target: Target,
    version: PtxVersion,
    timings: &mut Timings,
) -> Result<Lowered, LowerError> {
    let begin = Instant::now();
    let state = Llvm::new();
    let (llvm, machine) = translate(&state, module, target, version)?;
    timings.llvm_passes = begin.elapsed();
    let begin = Instant::now();
    let buffer = machine
        .write_to_memory_buffer(&llvm, FileType::Assembly)
        .map_err(|message| LowerError::Internal(message.to_string()))?;
    state.check()?;
    // The buffer ends with a zero byte that is no part of the text.
    let bytes = buffer.as_slice();
    let text = String::from_utf8_lossy(bytes.strip_suffix(&[0]).unwrap_or(bytes)).into_owned();
    if let Some(name) = external_call(&text) {
        return Err(LowerError::ExternalCall(name));
    }
    let manifest = manifest(module, target, version)?;
    timings.emission = begin.elapsed();
    Ok(Lowered {
        ptx: text,
        manifest,
    })
}

fn kernel_module(module: Op) -> Result<Op, LowerError> {
    let holders: Vec<Op> = module
        .find("gpu.module")
        .into_iter()
        .filter(|holder| !holder.find("llvm.func").is_empty())
        .collect();
    match holders.as_slice() {
        [only] => Ok(*only),
        other => Err(LowerError::NoKernelModule(other.len())),
    }
}

fn manifest(module: Op, target: Target, version: PtxVersion) -> Result<Manifest, LowerError> {
    let kernels = module
        .find("llvm.func")
        .into_iter()
        .filter_map(|function| function.attr("async_pipeline.kernel")?.string())
        .map(|text| serde_json::from_str::<Kernel>(&text))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| LowerError::Internal(format!("launch manifest: {error}")))?;
    Ok(Manifest {
        schema_version: SCHEMA_VERSION,
        target: target.to_string(),
        ptx_version: version.to_string(),
        kernels,
    })
}

fn machine(target: Target, version: PtxVersion) -> Result<TargetMachine, LowerError> {
    static INIT: Once = Once::new();
    INIT.call_once(|| LlvmTarget::initialize_nvptx(&InitializationConfig::default()));
    let triple = TargetTriple::create("nvptx64-nvidia-cuda");
    let features = format!("+ptx{}{}", version.major, version.minor);
    LlvmTarget::from_triple(&triple)
        .map_err(|message| LowerError::Internal(message.to_string()))?
        .create_target_machine(
            &triple,
            &target.to_string(),
            &features,
            OptimizationLevel::Aggressive,
            RelocMode::PIC,
            CodeModel::Default,
        )
        .ok_or_else(|| LowerError::Internal(format!("LLVM has no machine for {target}")))
}

fn translate<'a>(
    state: &'a Llvm,
    module: Op,
    target: Target,
    version: PtxVersion,
) -> Result<(Module<'a>, TargetMachine), LowerError> {
    let holder = kernel_module(module)?;
    let context = &state.context;
    // SAFETY: the op is live; the new module belongs to `context`, which outlives it.
    let llvm = unsafe {
        let raw = mlir_sys::mlirTranslateModuleToLLVMIR(
            holder.raw(),
            context.raw().cast::<mlir_sys::LLVMOpaqueContext>(),
        );
        if raw.is_null() {
            return Err(LowerError::Translation);
        }
        Module::new(raw as LLVMModuleRef)
    };
    let machine = machine(target, version)?;
    llvm.set_triple(&machine.get_triple());
    llvm.set_data_layout(&machine.get_target_data().get_data_layout());
    // The name would put a path of the compiling machine into the output.
    llvm.set_name("async_pipeline");
    mark_convergent(context, &llvm);
    llvm.verify()
        .map_err(|message| LowerError::Internal(message.to_string()))?;
    llvm.run_passes(PASSES, &machine, PassBuilderOptions::create())
        .map_err(|message| LowerError::Internal(message.to_string()))?;
    state.check()?;
    Ok((llvm, machine))
}

/// Inline PTX must not be duplicated into, or moved across, divergent branches.
fn mark_convergent(context: &Context, module: &Module<'_>) {
    let convergent =
        context.create_enum_attribute(Attribute::get_named_enum_kind_id("convergent"), 0);
    for function in module.get_functions() {
        function.add_attribute(AttributeLoc::Function, convergent);
        for block in function.get_basic_blocks() {
            for instruction in block.get_instructions() {
                if instruction.get_opcode() == InstructionOpcode::Call
                    && let Ok(call) = inkwell::values::CallSiteValue::try_from(instruction)
                    && call.get_called_fn_value().is_none()
                {
                    call.add_attribute(AttributeLoc::Function, convergent);
                }
            }
        }
    }
}

/// The name of a function that the PTX declares but nobody provides.
fn external_call(text: &str) -> Option<String> {
    let mut lines = text
        .lines()
        .skip_while(|line| !line.trim_start().starts_with(".extern .func"));
    let declaration: String = lines.by_ref().take(4).collect::<Vec<_>>().join(" ");
    if declaration.is_empty() {
        return None;
    }
    declaration
        .split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | ',' | ';'))
        .find(|word| !word.is_empty() && !word.starts_with('.') && !word.starts_with("func_retval"))
        .map(str::to_owned)
}
