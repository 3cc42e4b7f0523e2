//! Reading a manifest: JSON first, then the rules that types cannot say.

use super::{
    Argument, Fill, GridExpr, Kernel, Manifest, MemrefArgument, Parameter, SCHEMA_VERSION,
    TensorMap,
};
use crate::grid::MAX_DEPTH;

/// Why a text is no usable manifest.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// Not JSON, or not of the manifest's shape.
    #[error("the manifest cannot be read")]
    Json(#[from] serde_json::Error),
    /// Written by a version of the format that this program does not know.
    #[error("the manifest has schema_version {found}, expected {SCHEMA_VERSION}")]
    Version {
        /// The version that the file states.
        found: u64,
    },
    /// Well-formed, but it contradicts itself.
    #[error("the manifest contradicts itself")]
    Invalid(#[from] InvalidManifest),
}

/// How a well-formed manifest contradicts itself.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("kernel `{kernel}`, {place}: {message}")]
pub struct InvalidManifest {
    /// The kernel's name.
    pub kernel: String,
    /// Where in the kernel, for example `parameter 2`.
    pub place: String,
    /// What is wrong there.
    pub message: String,
}

impl Manifest {
    /// Reads and validates a manifest.
    ///
    /// # Errors
    /// Malformed JSON, an unknown version, unknown fields, and anything that contradicts itself:
    /// argument indices out of range, ranks that differ, sizes of 0 where there is no such thing.
    pub fn from_json(text: &str) -> Result<Self, ManifestError> {
        // A newer file has fields that this version would call unknown, so the version is looked
        // at before the rest.
        let tree: serde_json::Value = serde_json::from_str(text)?;
        if let Some(found) = tree.get("schema_version").and_then(|v| v.as_u64())
            && found != u64::from(SCHEMA_VERSION)
        {
            return Err(ManifestError::Version { found });
        }
        // From the text again, because its errors name the line.
        let manifest: Self = serde_json::from_str(text)?;
        manifest.validate()?;
        Ok(manifest)
    }

    /// Checks the rules that [`from_json`](Self::from_json) checks after parsing.
    ///
    /// # Errors
    /// The first contradiction found.
    pub fn validate(&self) -> Result<(), InvalidManifest> {
        for (index, kernel) in self.kernels.iter().enumerate() {
            let first = self.kernels.iter().position(|k| k.name == kernel.name);
            let unique = first == Some(index);
            let checked = rule(unique, || "another kernel has the same name".to_owned())
                .map_err(|message| ("name".to_owned(), message))
                .and_then(|()| kernel_rules(kernel));
            checked.map_err(|(place, message)| InvalidManifest {
                kernel: kernel.name.clone(),
                place,
                message,
            })?;
        }
        Ok(())
    }
}

fn rule(holds: bool, message: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(message()) }
}

fn kernel_rules(kernel: &Kernel) -> Result<(), (String, String)> {
    let at = |place: String| move |message: String| (place, message);
    let block = volume(kernel.block);
    rule((1..=1024).contains(&block), || {
        format!("expected 1 to 1024 threads, got {block}")
    })
    .map_err(at("block".to_owned()))?;
    // 16 where the kernel allows it, 8 else: CUDA C++ programming guide, thread block clusters.
    let cluster = kernel.cluster.map_or(1, volume);
    rule((1..=16).contains(&cluster), || {
        format!("expected 1 to 16 blocks, got {cluster}")
    })
    .map_err(at("cluster".to_owned()))?;
    for expr in kernel.grid.iter().flatten() {
        grid_rules(kernel, expr).map_err(at(format!("grid `{expr}`")))?;
    }
    for (index, argument) in kernel.arguments.iter().enumerate() {
        let name = argument.name();
        let first = kernel.arguments.iter().position(|a| a.name() == name);
        let place = format!("argument `{name}`");
        rule(first == Some(index), || {
            "another argument has the same name".to_owned()
        })
        .map_err(at(place.clone()))?;
        if let Argument::Memref(memref) = argument {
            memref_rules(memref).map_err(at(place))?;
        }
    }
    for (index, parameter) in kernel.parameters.iter().enumerate() {
        parameter_rules(kernel, parameter).map_err(at(format!("parameter {index}")))?;
    }
    for channel in &kernel.channels {
        rule(channel.stages > 0, || "it has no stages".to_owned())
            .map_err(at(format!("channel `{}`", channel.name)))?;
    }
    for barrier in &kernel.barriers {
        barrier_rules(kernel, barrier).map_err(at(format!("barrier `{}`", barrier.name)))?;
    }
    let report = kernel.wait_report.as_ref();
    rule(report.is_none_or(|report| report.bytes >= 32), || {
        "expected at least 32 bytes".to_owned()
    })
    .map_err(at("wait_report".to_owned()))
}

fn volume(sizes: [u32; 3]) -> u64 {
    let sizes = sizes.into_iter().map(u64::from);
    sizes.fold(1, u64::saturating_mul)
}

fn barrier_rules(kernel: &Kernel, barrier: &super::Barrier) -> Result<(), String> {
    rule(barrier.stages > 0, || "it has no stages".to_owned())?;
    rule(barrier.arrival_count > 0, || {
        "the arrival count is 0".to_owned()
    })?;
    rule(barrier.shared_offset.is_multiple_of(8), || {
        format!("offset {} is no multiple of 8", barrier.shared_offset)
    })?;
    let end = u64::from(barrier.shared_offset) + 8 * u64::from(barrier.stages);
    let available = kernel.dynamic_shared_bytes;
    rule(end <= u64::from(available), || {
        format!("it ends at byte {end} of {available} bytes of dynamic shared memory")
    })
}

fn grid_rules(kernel: &Kernel, expr: &GridExpr) -> Result<(), String> {
    rule(expr.depth() <= MAX_DEPTH, || {
        format!("nested deeper than {MAX_DEPTH} levels")
    })?;
    let mut result = Ok(());
    expr.for_each_leaf(&mut |leaf| {
        let checked = match leaf {
            GridExpr::Dim {
                argument,
                dimension,
            } => dimension_rules(kernel, *argument, *dimension).map(|_| ()),
            GridExpr::Scalar { argument } => scalar_rules(kernel, *argument).and_then(|scalar| {
                rule(scalar.scalar_type.is_integer(), || {
                    format!("argument `{}` is no integer", scalar.name)
                })
            }),
            _ => Ok(()),
        };
        if result.is_ok() {
            result = checked;
        }
    });
    result
}

fn memref_rules(memref: &MemrefArgument) -> Result<(), String> {
    let (sizes, strides) = (memref.shape.len(), memref.strides.len());
    rule(sizes == strides, || {
        format!("{sizes} sizes but {strides} strides")
    })?;
    rule(memref.alignment.is_power_of_two(), || {
        format!("alignment {} is no power of two", memref.alignment)
    })
}

fn memref_at(kernel: &Kernel, argument: u32) -> Result<&MemrefArgument, String> {
    kernel.memref(argument).ok_or_else(|| {
        let count = kernel.arguments.len();
        format!("argument {argument} is not one of the memrefs among {count} arguments")
    })
}

fn scalar_rules(kernel: &Kernel, argument: u32) -> Result<&super::ScalarArgument, String> {
    kernel.scalar(argument).ok_or_else(|| {
        let count = kernel.arguments.len();
        format!("argument {argument} is not one of the scalars among {count} arguments")
    })
}

fn dimension_rules(
    kernel: &Kernel,
    argument: u32,
    dimension: u32,
) -> Result<&MemrefArgument, String> {
    let memref = memref_at(kernel, argument)?;
    let rank = memref.shape.len();
    let known = usize::try_from(dimension).is_ok_and(|d| d < rank);
    rule(known, || {
        format!(
            "dimension {dimension} of argument `{}`, which has {rank}",
            memref.name
        )
    })?;
    Ok(memref)
}

fn parameter_rules(kernel: &Kernel, parameter: &Parameter) -> Result<(), String> {
    match parameter {
        Parameter::TensorMap(map) => tensor_map_rules(kernel, map),
        Parameter::Pointer { argument } => memref_at(kernel, *argument).map(|_| ()),
        Parameter::Size {
            argument,
            dimension,
        }
        | Parameter::Stride {
            argument,
            dimension,
        } => dimension_rules(kernel, *argument, *dimension).map(|_| ()),
        Parameter::Scalar {
            argument,
            scalar_type,
        } => {
            let scalar = scalar_rules(kernel, *argument)?;
            rule(scalar.scalar_type == *scalar_type, || {
                format!(
                    "type {scalar_type}, but argument `{}` has {}",
                    scalar.name, scalar.scalar_type
                )
            })
        }
    }
}

/// The rules of `cuTensorMapEncodeTiled` that do not depend on the sizes at launch.
fn tensor_map_rules(kernel: &Kernel, map: &TensorMap) -> Result<(), String> {
    let memref = memref_at(kernel, map.argument)?;
    let rank = memref.shape.len();
    let name = &memref.name;
    rule((1..=5).contains(&rank), || {
        format!("argument `{name}` has rank {rank}, tensor maps have 1 to 5")
    })?;
    let boxed = map.box_shape.len();
    rule(boxed == rank, || {
        format!("the box has rank {boxed}, argument `{name}` has {rank}")
    })?;
    let stepped = map.element_strides.len();
    rule(stepped == rank, || {
        format!("{stepped} element strides, argument `{name}` has rank {rank}")
    })?;
    for &size in &map.box_shape {
        rule((1..=256).contains(&size), || {
            format!("box size {size} is not within 1 to 256")
        })?;
    }
    for &step in &map.element_strides {
        rule((1..=8).contains(&step), || {
            format!("element stride {step} is not within 1 to 8")
        })?;
    }
    let (have, want) = (map.element_type, memref.element_type);
    rule(have.size_bytes() == want.size_bytes(), || {
        format!("element type {have}, but argument `{name}` holds {want}")
    })?;
    let inner = map.box_shape.last().copied().unwrap_or(0) * have.size_bytes();
    rule(inner.is_multiple_of(16), || {
        format!("rows of the box have {inner} bytes, expected a multiple of 16")
    })?;
    if let Some(span) = map.swizzle.span_bytes() {
        rule(inner <= span, || {
            format!("rows of the box have {inner} bytes, the swizzle allows {span}")
        })?;
    }
    let stride = memref.strides.last().copied().flatten();
    rule(stride.is_none_or(|stride| stride == 1), || {
        format!("argument `{name}` is not contiguous in its last dimension")
    })?;
    rule(map.fill == Fill::Zero || !have.is_integer(), || {
        format!("{have} has no NaN to fill with")
    })
}
