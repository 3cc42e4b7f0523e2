//! Registration of the dialect, the passes and the command-line driver.

use crate::{
    ffi,
    hooks::{self, Hooks, OptionSpec},
    ir::{Op, borrow_str, collect_text, string_ref},
};
use melior::dialect::DialectRegistry;
use std::{
    ffi::{CString, c_char, c_int},
    sync::Once,
};

/// A registry with our dialect and the upstream dialects our IR uses, and nothing else.
pub fn registry() -> DialectRegistry {
    let registry = DialectRegistry::new();
    // SAFETY: the registry is live; the handles are static.
    unsafe {
        ffi::apRegisterDialect(registry.to_raw());
        for handle in [
            mlir_sys::mlirGetDialectHandle__arith__(),
            mlir_sys::mlirGetDialectHandle__cf__(),
            mlir_sys::mlirGetDialectHandle__gpu__(),
            mlir_sys::mlirGetDialectHandle__index__(),
            mlir_sys::mlirGetDialectHandle__llvm__(),
            mlir_sys::mlirGetDialectHandle__math__(),
            mlir_sys::mlirGetDialectHandle__memref__(),
            mlir_sys::mlirGetDialectHandle__nvvm__(),
            mlir_sys::mlirGetDialectHandle__scf__(),
            mlir_sys::mlirGetDialectHandle__vector__(),
        ] {
            mlir_sys::mlirDialectHandleInsertDialect(handle, registry.to_raw());
        }
        ffi::apRegisterTranslations(registry.to_raw());
    }
    registry
}

/// Sets the hooks and registers passes, once per process.
///
/// `passes` are (argument, description, options); a pass's number is its index.
/// `pipeline` is the named pipeline's (argument, description, options).
pub fn initialize(
    hooks: &'static dyn Hooks,
    passes: &[(&str, &str, Vec<OptionSpec>)],
    pipeline: (&str, &str, Vec<OptionSpec>),
) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        hooks::install(hooks);
        // SAFETY: the shim copies every string before it returns.
        unsafe {
            ffi::apRegisterUpstreamPasses();
            for (id, (argument, description, options)) in passes.iter().enumerate() {
                let raw = raw_options(options);
                ffi::apRegisterPass(
                    id,
                    string_ref(argument),
                    string_ref(description),
                    raw.as_ptr(),
                    raw.len(),
                );
            }
            let raw = raw_options(&pipeline.2);
            ffi::apRegisterPipeline(
                string_ref(pipeline.0),
                string_ref(pipeline.1),
                raw.as_ptr(),
                raw.len(),
            );
        }
    });
}

fn raw_options(options: &[OptionSpec]) -> Vec<ffi::ApOption> {
    options
        .iter()
        .map(|option| ffi::ApOption {
            name: string_ref(option.name),
            description: string_ref(option.description),
            default_value: string_ref(option.default),
        })
        .collect()
}

/// Runs a textual pass pipeline on a module. Diagnostics go to the context's
/// handler; the error is the parser's message, empty if a pass failed.
pub fn run_pipeline(module: Op, pipeline: &str) -> Result<(), String> {
    let mut message = String::new();
    // SAFETY: the sink writes into `message` during the call only.
    let ok = unsafe {
        ffi::apRunPipeline(
            module.raw(),
            string_ref(pipeline),
            collect_text,
            (&raw mut message).cast(),
        )
    };
    if ok { Ok(()) } else { Err(message) }
}

/// One option of the command line beside mlir-opt's own.
#[derive(Debug)]
pub struct DriverOption {
    /// Its name, without dashes.
    pub name: &'static str,
    /// Its help text.
    pub description: &'static str,
    /// Whether the named pipeline has an option of the same name.
    pub in_pipeline: bool,
}

/// Runs the command-line driver on the process's arguments; returns the exit code.
pub fn driver_main(arguments: Vec<Vec<u8>>, pipeline: &str, options: &[DriverOption]) -> i32 {
    let registry = registry();
    let arguments: Vec<CString> = arguments
        .into_iter()
        .filter_map(|argument| CString::new(argument).ok())
        .collect();
    let mut argv: Vec<*mut c_char> = arguments
        .iter()
        .map(|argument| argument.as_ptr().cast_mut())
        .collect();
    let argc = argv.len() as c_int;
    argv.push(std::ptr::null_mut());
    let names: Vec<_> = options
        .iter()
        .map(|option| string_ref(option.name))
        .collect();
    let texts: Vec<_> = options
        .iter()
        .map(|option| string_ref(option.description))
        .collect();
    let flags: Vec<_> = options.iter().map(|option| option.in_pipeline).collect();
    // SAFETY: all arrays outlive the call; argv ends with a null pointer.
    unsafe {
        ffi::apDriverMain(
            argc,
            argv.as_mut_ptr(),
            registry.to_raw(),
            string_ref(pipeline),
            names.as_ptr(),
            texts.as_ptr(),
            flags.as_ptr(),
            options.len(),
        )
    }
}

/// The expressions of a grid attribute; empty for any other attribute.
pub fn grid_dims(attribute: crate::ir::Attr) -> Vec<String> {
    // SAFETY: the index is below the count; the text is copied at once.
    unsafe {
        (0..ffi::apGridDimCount(attribute.raw()))
            .map(|index| borrow_str(ffi::apGridDim(attribute.raw(), index)).to_owned())
            .collect()
    }
}
