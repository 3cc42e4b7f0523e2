//! The kernel's part of the launch manifest, read off barrier-level IR.

use crate::{
    diagnostics::error,
    passes::{Failed, allocate::slot_stride, insert_barriers::plan::WARP},
};
use async_pipeline_sys::{
    dialect::grid_dims,
    ir::{Attr, Op, Type, Value},
};
use ptx_model::{
    grid::GridExpr,
    manifest::{
        Argument, Barrier, Channel, ChannelField, Completion, ElementType, Fill, Kernel,
        MemrefArgument, Parameter, Role, ScalarArgument, Swizzle, TensorMap, WaitReport,
    },
};

/// Bytes of a wait report: eight 32-bit words.
const WAIT_REPORT_BYTES: u32 = 32;

/// Types of the declared arguments; the entry block may have more.
pub(super) fn argument_types(function: Op) -> Vec<Value> {
    let count = function
        .attr("function_type")
        .and_then(|ty| ty.ty())
        .map(|ty| ty.function_input_count())
        .unwrap_or_default();
    function
        .body(0)
        .map(|entry| entry.arguments())
        .unwrap_or_default()
        .into_iter()
        .take(count)
        .collect()
}

/// An `async_pipeline.*` attribute of an argument.
pub(super) fn argument_attr(function: Op, argument: usize, name: &str) -> Option<Attr> {
    function
        .attr("arg_attrs")?
        .array()?
        .get(argument)?
        .entry(&format!("async_pipeline.{name}"))
}

/// JSON of one kernel.
pub(super) fn to_text(kernel: &Kernel) -> String {
    serde_json::to_string(kernel).unwrap_or_default()
}

/// Threads of the CTA.
pub(super) fn threads(function: Op) -> Result<i32, Failed> {
    let warps: i64 = function
        .find("async_pipeline.role")
        .iter()
        .map(|role| {
            role.attr("warps")
                .and_then(|warps| warps.int())
                .unwrap_or(1)
        })
        .sum();
    let known = function
        .attr("known_block_size")
        .map(|size| size.dense_i32());
    match (warps, known.as_deref()) {
        (0, Some([x, 1, 1])) if (1..=1024).contains(x) => Ok(*x),
        (0, Some(_)) => Err(error(
            function,
            "expected known_block_size to be N, 1, 1 with N from 1 to 1024",
        )),
        (0, None) => Err(error(
            function,
            "expected async_pipeline.roles or known_block_size: the number of threads is not known",
        )),
        (warps, None) => Ok((warps * WARP) as i32),
        (warps, Some([x, 1, 1])) if i64::from(*x) == warps * WARP => Ok(*x),
        (warps, Some(_)) => Err(error(
            function,
            format!(
                "known_block_size contradicts the roles, which take {} threads",
                warps * WARP
            ),
        )),
    }
}

/// Everything a launcher needs to know of a kernel.
pub(super) fn kernel(function: Op, maps: &[Op], reports_waits: bool) -> Result<Kernel, Failed> {
    let name = function
        .attr("sym_name")
        .and_then(|name| name.string())
        .unwrap_or_default();
    let values = argument_types(function);
    let arguments = values
        .iter()
        .enumerate()
        .map(|(index, value)| argument(function, index, value.ty()))
        .collect::<Result<Vec<_>, Failed>>()?;
    for (index, argument) in arguments.iter().enumerate() {
        if arguments[..index]
            .iter()
            .any(|other| other.name() == argument.name())
        {
            return Err(error(
                function,
                format!(
                    "expected argument names to be unique, got \"{}\" twice",
                    argument.name()
                ),
            ));
        }
    }
    let roles = roles(function);
    let wait_report = reports_waits.then(|| WaitReport {
        symbol: super::WAIT_REPORT.to_owned(),
        bytes: WAIT_REPORT_BYTES,
        roles: roles.iter().map(|role| role.name.clone()).collect(),
    });
    Ok(Kernel {
        name,
        block: [threads(function)? as u32, 1, 1],
        cluster: None,
        grid: grid(function, &arguments)?,
        dynamic_shared_bytes: function
            .attr("async_pipeline.shared_bytes")
            .and_then(|bytes| bytes.int())
            .unwrap_or_default() as u32,
        parameters: parameters(&arguments, maps, &values),
        arguments,
        roles,
        channels: channels(function),
        barriers: barriers(function),
        registers_per_warpgroup: None,
        wait_report,
    })
}

fn element(ty: Type) -> Option<ElementType> {
    let name = ty.to_string();
    ElementType::ALL
        .into_iter()
        .find(|element| element.name() == name)
}

fn argument(function: Op, index: usize, ty: Type) -> Result<Argument, Failed> {
    let name = argument_attr(function, index, "name")
        .and_then(|name| name.string())
        .unwrap_or_else(|| format!("arg{index}"));
    let refuse = |what: String| Err(error(function, format!("argument {index}: {what}")));
    if !ty.is_memref() {
        let element = if ty.is_index() {
            Some(ElementType::I64)
        } else {
            element(ty)
        };
        return match element {
            Some(scalar_type) => Ok(Argument::Scalar(ScalarArgument { name, scalar_type })),
            None => refuse(format!(
                "expected a memref, an index, or an integer or float of 8 to 64 bits, got {ty}"
            )),
        };
    }
    if !ty.is_global_memref() {
        return refuse(format!("expected a memref in global memory, got {ty}"));
    }
    let Some(element_type) = element(ty.element()) else {
        return refuse(format!(
            "expected elements of a type that a launcher knows, got {}",
            ty.element()
        ));
    };
    let strides = match ty.strides_and_offset() {
        Some((strides, Some(0))) => strides,
        _ => return refuse(format!("expected a strided memref with offset 0, got {ty}")),
    };
    let alignment = argument_attr(function, index, "align")
        .and_then(|align| align.int())
        .unwrap_or(16);
    Ok(Argument::Memref(MemrefArgument {
        name,
        element_type,
        shape: ty
            .shape()
            .into_iter()
            .map(|extent| extent.map(|extent| extent as u64))
            .collect(),
        strides,
        alignment: alignment as u32,
        aliases: argument_attr(function, index, "may_alias").is_some(),
    }))
}

fn parameters(arguments: &[Argument], maps: &[Op], values: &[Value]) -> Vec<Parameter> {
    let mut out = Vec::new();
    for map in maps {
        let memref = map.operand(0);
        let Some(argument) = values.iter().position(|value| *value == memref) else {
            continue;
        };
        let tile = map.result(0).ty().fields()[0];
        let Some(element_type) = element(tile.element()) else {
            continue;
        };
        let box_shape: Vec<u32> = tile
            .static_shape()
            .into_iter()
            .map(|extent| extent as u32)
            .collect();
        out.push(Parameter::TensorMap(TensorMap {
            argument: argument as u32,
            element_type,
            element_strides: vec![1; box_shape.len()],
            box_shape,
            swizzle: match map.result(0).ty().swizzle() {
                0 => Swizzle::None,
                32 => Swizzle::B32,
                64 => Swizzle::B64,
                _ => Swizzle::B128,
            },
            fill: Fill::Zero,
        }));
    }
    let memrefs = || {
        arguments
            .iter()
            .enumerate()
            .filter_map(|(index, argument)| match argument {
                Argument::Memref(memref) => Some((index as u32, memref)),
                Argument::Scalar(_) => None,
            })
    };
    out.extend(memrefs().map(|(argument, _)| Parameter::Pointer { argument }));
    for (argument, memref) in memrefs() {
        let dynamic = |extents: &mut dyn Iterator<Item = bool>| -> Vec<u32> {
            extents
                .enumerate()
                .filter(|(_, dynamic)| *dynamic)
                .map(|(dim, _)| dim as u32)
                .collect()
        };
        for dimension in dynamic(&mut memref.shape.iter().map(Option::is_none)) {
            out.push(Parameter::Size {
                argument,
                dimension,
            });
        }
        // Strides that follow from the sizes are no parameters.
        if !is_identity(values[argument as usize].ty()) {
            for dimension in dynamic(&mut memref.strides.iter().map(Option::is_none)) {
                out.push(Parameter::Stride {
                    argument,
                    dimension,
                });
            }
        }
    }
    for (index, argument) in arguments.iter().enumerate() {
        if let Argument::Scalar(scalar) = argument {
            out.push(Parameter::Scalar {
                argument: index as u32,
                scalar_type: scalar.scalar_type,
            });
        }
    }
    out
}

/// Whether a memref's strides follow from its sizes.
fn is_identity(memref: Type) -> bool {
    memref.has_identity_layout()
}

fn grid(function: Op, arguments: &[Argument]) -> Result<Option<[GridExpr; 3]>, Failed> {
    let Some(attribute) = function.attr("async_pipeline.grid") else {
        return Ok(None);
    };
    let mut out = [GridExpr::Const(1), GridExpr::Const(1), GridExpr::Const(1)];
    for (slot, text) in out.iter_mut().zip(grid_dims(attribute)) {
        let expression: GridExpr = text
            .parse()
            .map_err(|why| error(function, format!("grid expression: {why}")))?;
        let mut wrong = None;
        expression.for_each_leaf(&mut |leaf| match leaf {
            GridExpr::Dim {
                argument,
                dimension,
            } => {
                let rank = match arguments.get(*argument as usize) {
                    Some(Argument::Memref(memref)) => memref.shape.len(),
                    _ => 0,
                };
                if *dimension as usize >= rank {
                    wrong = Some(format!(
                        "grid expression: there is no dim({argument}, {dimension})"
                    ));
                }
            }
            GridExpr::Scalar { argument }
                if !matches!(arguments.get(*argument as usize), Some(Argument::Scalar(_))) =>
            {
                wrong = Some(format!("grid expression: there is no scalar({argument})"));
            }
            _ => {}
        });
        if let Some(message) = wrong {
            return Err(error(function, message));
        }
        *slot = expression;
    }
    Ok(Some(out))
}

fn roles(function: Op) -> Vec<Role> {
    let mut first_warp = 0;
    function
        .find("async_pipeline.role")
        .into_iter()
        .map(|role| {
            let warps = role
                .attr("warps")
                .and_then(|warps| warps.int())
                .unwrap_or(1) as u32;
            let described = Role {
                name: role
                    .attr("sym_name")
                    .and_then(|name| name.string())
                    .unwrap_or_default(),
                first_warp,
                warps,
                elected: role.attr("elected").is_some(),
                registers: None,
            };
            first_warp += warps;
            described
        })
        .collect()
}

fn offset(alloc: Op) -> u32 {
    alloc
        .attr("offset")
        .and_then(|offset| offset.int())
        .unwrap_or_default() as u32
}

fn name_of(op: Op) -> String {
    op.attr("name")
        .and_then(|name| name.string())
        .unwrap_or_default()
}

fn channels(function: Op) -> Vec<Channel> {
    let plans = function
        .attr("async_pipeline.plan")
        .and_then(|plan| plan.array())
        .unwrap_or_default();
    let buffers = function.find("async_pipeline.buffer.alloc");
    plans
        .into_iter()
        .map(|plan| {
            let text = |key: &str| {
                plan.entry(key)
                    .and_then(|value| value.string())
                    .unwrap_or_default()
            };
            let name = text("name");
            let tiles: Vec<Type> = plan
                .entry("fields")
                .and_then(|fields| fields.array())
                .unwrap_or_default()
                .into_iter()
                .filter_map(|field| field.ty())
                .collect();
            let first = format!("{name}.0");
            Channel {
                stages: plan
                    .entry("stages")
                    .and_then(|stages| stages.int())
                    .unwrap_or(1) as u32,
                slot_bytes: tiles
                    .iter()
                    .map(|tile| slot_stride(tile.tile_bytes()))
                    .sum::<i64>() as u32,
                completion: completion(&text("completion")),
                fields: tiles
                    .iter()
                    .filter_map(|tile| {
                        Some(ChannelField {
                            shape: tile
                                .static_shape()
                                .into_iter()
                                .map(|extent| extent as u64)
                                .collect(),
                            element_type: element(tile.element())?,
                        })
                    })
                    .collect(),
                shared_offset: buffers
                    .iter()
                    .find(|buffer| name_of(**buffer) == first)
                    .map_or(0, |buffer| offset(*buffer)),
                name,
            }
        })
        .collect()
}

/// The name under which `insert-barriers` leaves a completion kind.
pub(crate) fn completion_name(completion: Completion) -> &'static str {
    match completion {
        Completion::Tma => "tma",
        Completion::CpAsync => "cp_async",
        Completion::Tcgen05 => "tcgen05",
        Completion::Wgmma => "wgmma",
        Completion::Threads => "threads",
    }
}

fn completion(name: &str) -> Completion {
    [
        Completion::Tma,
        Completion::CpAsync,
        Completion::Tcgen05,
        Completion::Wgmma,
    ]
    .into_iter()
    .find(|kind| completion_name(*kind) == name)
    .unwrap_or(Completion::Threads)
}

fn barriers(function: Op) -> Vec<Barrier> {
    function
        .find("async_pipeline.mbarrier.alloc")
        .into_iter()
        .map(|alloc| {
            let uses: Vec<Op> = alloc
                .result(0)
                .uses()
                .into_iter()
                .map(|(user, _)| user)
                .collect();
            let count = uses
                .iter()
                .find(|user| user.is("async_pipeline.mbarrier.init"))
                .and_then(|init| init.attr("count")?.int())
                .unwrap_or_default();
            // Bytes of a phase are known when every expectation is the same constant.
            let mut bytes: Vec<Option<i64>> = uses
                .iter()
                .filter(|user| user.is("async_pipeline.mbarrier.arrive.expect_tx"))
                .map(|user| user.operand(2).constant_int())
                .collect();
            bytes.sort_unstable();
            bytes.dedup();
            Barrier {
                name: name_of(alloc),
                stages: alloc.result(0).ty().stages() as u32,
                arrival_count: count as u32,
                tx_bytes: match bytes.as_slice() {
                    [Some(bytes)] => *bytes as u32,
                    _ => 0,
                },
                shared_offset: offset(alloc),
            }
        })
        .collect()
}
