//! `--emit` of the command-line tool.

use super::{assemble, llvm_ir, ptx};
use crate::{
    DRIVER_OPTIONS,
    diagnostics::error,
    passes::{Failed, Options, PIPELINE_OPTIONS},
};
use async_pipeline_sys::ir::Op;
use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

/// Writes a lowered module as `kind` to `path`; PTX and cubin get their manifest
/// beside them. Nothing is written when anything fails.
pub(crate) fn emit_for_tool(
    module: Op,
    kind: &str,
    path: &str,
    values: &[&str],
) -> Result<(), Failed> {
    let value = |name: &str| {
        DRIVER_OPTIONS
            .iter()
            .position(|option| option.name == name)
            .and_then(|index| values.get(index).copied())
            .unwrap_or_default()
    };
    let pipeline: Vec<&str> = PIPELINE_OPTIONS
        .iter()
        .map(|option| value(option.name))
        .collect();
    let options = Options::new(PIPELINE_OPTIONS, &pipeline);
    let fail = |message: String| error(module, message);
    let target = options.target().map_err(fail)?;
    let version = options.ptx_version(target).map_err(fail)?;
    match kind {
        "nvvm" => write(module, path, format!("{module}\n").as_bytes(), None),
        "llvm" => {
            let text = llvm_ir(module, target, version).map_err(|why| fail(why.to_string()))?;
            write(module, path, text.as_bytes(), None)
        }
        "ptx" | "cubin" => {
            let lowered = ptx(module, target, version).map_err(|why| fail(why.to_string()))?;
            let manifest = lowered.manifest.to_json();
            if kind == "ptx" {
                return write(module, path, lowered.ptx.as_bytes(), Some(&manifest));
            }
            let ptxas = match value("ptxas") {
                "" => "ptxas",
                given => given,
            };
            let cubin = assemble(&lowered.ptx, target, Path::new(ptxas))
                .map_err(|why| fail(why.to_string()))?;
            write(module, path, &cubin, Some(&manifest))
        }
        other => Err(fail(format!(
            "expected --emit to be mlir, nvvm, llvm, ptx or cubin, got '{other}'"
        ))),
    }
}

fn write(module: Op, path: &str, bytes: &[u8], manifest: Option<&str>) -> Result<(), Failed> {
    let failed = |path: &Path, why: io::Error| {
        error(module, format!("cannot write {}: {why}", path.display()))
    };
    if path == "-" {
        return io::stdout()
            .write_all(bytes)
            .and_then(|()| io::stdout().flush())
            .map_err(|why| failed(Path::new("standard output"), why));
    }
    let path = PathBuf::from(path);
    // Beside the target, so that the rename stays on one file system.
    let mut staged = vec![(path.clone(), bytes)];
    if let Some(manifest) = manifest {
        let beside = path.with_extension("json");
        if beside == path {
            return Err(error(
                module,
                format!(
                    "expected an output name without .json, which the manifest beside it has; got {}",
                    path.display()
                ),
            ));
        }
        staged.push((beside, manifest.as_bytes()));
    }
    let mut done = Vec::new();
    for (target, bytes) in staged {
        let mut name = target.file_name().unwrap_or_default().to_owned();
        name.push(".partial");
        let partial = target.with_file_name(name);
        if let Err(why) = fs::write(&partial, bytes) {
            for (partial, _) in &done {
                let _ = fs::remove_file(partial);
            }
            let _ = fs::remove_file(&partial);
            return Err(failed(&target, why));
        }
        done.push((partial, target));
    }
    for (index, (partial, target)) in done.iter().enumerate() {
        if let Err(why) = fs::rename(partial, target) {
            // All or nothing: what has been renamed goes as well.
            let renamed = done[..index].iter().map(|(_, target)| target);
            let partial = done[index..].iter().map(|(partial, _)| partial);
            for path in renamed.chain(partial) {
                let _ = fs::remove_file(path);
            }
            return Err(failed(target, why));
        }
    }
    Ok(())
}
