//! Verifiers of the dialect's attributes on kernels and their arguments.

use super::{MAX_STAGES, Verified, in_range};
use async_pipeline_sys::{
    dialect::grid_dims,
    ir::{Attr, Op},
};
use ptx_model::manifest::Kernel;

/// Verifies `async_pipeline.*` on `op` or on one of its entry arguments.
pub(crate) fn verify_attribute(
    op: Op,
    argument: Option<usize>,
    name: &str,
    value: Attr,
) -> Verified {
    if let (Some(index), "async_pipeline.align" | "async_pipeline.may_alias") = (argument, name) {
        on_memref(op, index, name)?;
    }
    match (argument, name) {
        (None, "async_pipeline.grid") => {
            if !op.is("gpu.func") {
                return Err(format!("expected {name} on a gpu.func, got {}", op.name()).into());
            }
            if grid_dims(value).is_empty() {
                return Err(format!("expected {name} to be an #async_pipeline.grid, got {value}").into());
            }
            Ok(())
        }
        (None, "async_pipeline.stages" | "async_pipeline.exactly") => on_loop(op, name, value),
        // Set by our own passes for those behind them.
        (None, "async_pipeline.plan") if value.array().is_some() => Ok(()),
        (None, "async_pipeline.shared_bytes") if value.int().is_some_and(|bytes| bytes >= 0) => {
            Ok(())
        }
        (None, "async_pipeline.kernel") if is_manifest(value) => Ok(()),
        (None, "async_pipeline.plan" | "async_pipeline.shared_bytes" | "async_pipeline.kernel") => {
            Err(format!("expected {name} as a pass of async-pipeline writes it, got {value}").into())
        }
        (Some(_), "async_pipeline.name") => match value.string() {
            Some(text) if is_identifier(&text) => Ok(()),
            _ => Err(format!("expected {name} to be an identifier in quotes, got {value}").into()),
        },
        (Some(_), "async_pipeline.align") => match value.int() {
            Some(4 | 8 | 16) => Ok(()),
            _ => Err(format!("expected {name} to be 4, 8 or 16, got {value}").into()),
        },
        (Some(_), "async_pipeline.may_alias") if value.is_unit() => Ok(()),
        (Some(_), "async_pipeline.may_alias") => {
            Err(format!("expected {name} without a value, got {value}").into())
        }
        (None, _) => Err(format!("unknown attribute {name}; a kernel may have async_pipeline.grid, an scf.for async_pipeline.stages and async_pipeline.exactly").into()),
        (Some(_), _) => Err(format!(
            "unknown argument attribute {name}; there are async_pipeline.name, async_pipeline.align and async_pipeline.may_alias"
        )
        .into()),
    }
}

/// How many slots the buffers of a loop may have.
fn on_loop(op: Op, name: &str, value: Attr) -> Verified {
    if !op.is("scf.for") {
        return Err(format!("expected {name} on an scf.for, got {}", op.name()).into());
    }
    if name == "async_pipeline.stages" {
        return match value.int() {
            Some(stages) => in_range(name, stages, 1..=MAX_STAGES),
            None => Err(format!("expected {name} to be an integer, got {value}").into()),
        };
    }
    if !value.is_unit() {
        return Err(format!("expected {name} without a value, got {value}").into());
    }
    if op.attr("async_pipeline.stages").is_none() {
        return Err(format!("expected async_pipeline.stages beside {name}").into());
    }
    Ok(())
}

/// A kernel's part of the launch manifest.
fn is_manifest(value: Attr) -> bool {
    value
        .string()
        .is_some_and(|text| serde_json::from_str::<Kernel>(&text).is_ok())
}

/// Contracts about memory belong to arguments that are memory.
fn on_memref(op: Op, index: usize, name: &str) -> Verified {
    let arguments = op.body(0).map(|entry| entry.arguments());
    match arguments.as_ref().and_then(|all| all.get(index)) {
        Some(argument) if !argument.ty().is_memref() => Err(format!(
            "expected {name} on a memref argument, got {}",
            argument.ty()
        )
        .into()),
        _ => Ok(()),
    }
}

fn is_identifier(text: &str) -> bool {
    let mut chars = text.chars();
    chars
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && chars.all(|next| next.is_ascii_alphanumeric() || next == '_')
}
