//! `gpu.func` kernels become `llvm.func` with a flat parameter list.
//!
//! Needs: barrier level, tensor maps at the entry, shared memory allocated. Leaves:
//! `llvm.func` with `nvvm.kernel`, the body unchanged but for its arguments, and the
//! kernel's part of the launch manifest as text in `async_pipeline.kernel`.
//!
//! Parameters in order: tensor maps, base pointers, then per memref its dynamic
//! sizes and strides (i64), scalars. Inside, memref descriptors are rebuilt from
//! them. Upstream's own conventions do not serve: theirs pass 5 values and more per
//! memref, or refuse dynamic shapes, and drop `byval` from tensor maps.

mod manifest;

pub(crate) use manifest::completion_name;

use super::{
    Failed, Options, Pass, descriptor,
    options::{PTX_VERSION, TARGET, WAIT_TIMEOUT},
};
use crate::diagnostics::{self, error};
use async_pipeline_sys::ir::{Attr, Block, Builder, Ctx, Loc, Op, Type, Value};
use ptx_model::manifest::Parameter;

pub(super) const PASS: Pass = Pass {
    argument: "async-pipeline-lower-kernel-abi",
    description: "Turn gpu.func kernels into llvm.func with a flat parameter list",
    options: &[TARGET, PTX_VERSION, WAIT_TIMEOUT],
    run,
};

/// The dynamic shared memory of a module.
pub(crate) const SHARED: &str = "async_pipeline_shared";
/// Holds the address of the host's buffer for reports of waits that lasted too long.
pub(crate) const WAIT_REPORT: &str = "async_pipeline_wait_report";
/// Alignment of dynamic shared memory that a launch gives, bytes.
const SHARED_ALIGN: i64 = 1024;
/// Bytes of a tensor map, and their alignment (CUDA driver API, CUtensorMap).
const TENSOR_MAP: (u32, i64) = (128, 64);

fn run(module: Op, options: &Options<'_>) -> Result<(), Failed> {
    diagnostics::option(module, options.target())?;
    let timeout = diagnostics::option(module, options.wait_timeout())?;
    let functions = module.find("gpu.func");
    let Some(first) = functions.first() else {
        return Err(error(
            module,
            "expected a gpu.func kernel in a gpu.module, got none",
        ));
    };
    let holder = first.parent();
    diagnostics::all(functions.iter().copied(), |function| {
        if function.parent() != holder {
            return Err(error(function, "expected all kernels in one gpu.module"));
        }
        kernel(function, timeout.is_some())
    })?;
    if let Some(holder) = holder
        && let Some(body) = holder.body(0)
    {
        let builder = Builder::at_start(body, holder.location(), holder.context());
        shared_global(builder);
        if timeout.is_some() {
            report_global(builder);
        }
    }
    Ok(())
}

fn shared_global(builder: Builder) {
    let context = builder.context();
    builder
        .op("llvm.mlir.global")
        .attr("sym_name", context.string_attr(SHARED))
        .attr(
            "global_type",
            context.type_attr(context.llvm_array(context.int(8), 0)),
        )
        .attr("linkage", parse(context, "#llvm.linkage<external>"))
        .attr("addr_space", context.i32_attr(3))
        .attr("alignment", context.i64_attr(SHARED_ALIGN))
        .regions(1)
        .build();
}

fn report_global(builder: Builder) {
    let context = builder.context();
    builder
        .op("llvm.mlir.global")
        .attr("sym_name", context.string_attr(WAIT_REPORT))
        // The host's address, then a word that the first reporting thread claims.
        .attr(
            "global_type",
            context.type_attr(context.llvm_array(context.i64(), 2)),
        )
        .attr("linkage", parse(context, "#llvm.linkage<external>"))
        .attr("addr_space", context.i32_attr(1))
        .attr("value", parse(context, "dense<0> : tensor<2xi64>"))
        .regions(1)
        .build();
}

pub(crate) fn parse(context: Ctx, text: &str) -> Attr {
    context
        .parse_attr(text)
        .unwrap_or_else(|| panic!("MLIR refuses the attribute {text}"))
}

/// The parameters, with type and attributes of each.
struct Parameters {
    types: Vec<Type>,
    attrs: Vec<Attr>,
    described: Vec<Parameter>,
}

fn kernel(function: Op, reports_waits: bool) -> Result<(), Failed> {
    let context = function.context();
    if function.attr("gpu.kernel").is_none() {
        return Err(error(
            function,
            "expected a gpu.func that is a `kernel`; calls of other functions are not supported",
        ));
    }
    let Some(entry) = function.body(0) else {
        return Err(error(function, "expected a kernel with a body"));
    };
    let arguments = entry.arguments();
    let attribution = arguments.len() != manifest::argument_types(function).len();
    if attribution {
        return Err(error(
            function,
            "expected no workgroup or private attributions; use channels or buffer.alloc",
        ));
    }
    let maps: Vec<Op> = entry
        .ops()
        .into_iter()
        .filter(|op| op.is("async_pipeline.tma.descriptor"))
        .collect();
    let description = manifest::kernel(function, &maps, reports_waits)?;
    let parameters = parameters(context, &description.parameters, &arguments, function);

    let block = manifest::threads(function)?;
    let lowered = Builder::before(function)
        .op("llvm.func")
        .attr("sym_name", context.string_attr(&description.name))
        .attr(
            "function_type",
            context.type_attr(context.llvm_function(context.llvm_void(), &parameters.types)),
        )
        .attr("linkage", parse(context, "#llvm.linkage<external>"))
        .attr("arg_attrs", context.array_attr(&parameters.attrs))
        .attr("nvvm.kernel", context.unit_attr())
        .attr("nvvm.reqntid", context.dense_i32_attr(&[block, 1, 1]))
        .attr(
            "async_pipeline.kernel",
            context.string_attr(&manifest::to_text(&description)),
        )
        .regions(1)
        .build();
    lowered.regions()[0].take_body(function.regions()[0]);
    let Some(entry) = lowered.body(0) else {
        return Ok(());
    };
    rewire(entry, &parameters, &arguments, &maps, lowered.location());
    for ret in lowered.find("gpu.return") {
        Builder::before(ret).op("llvm.return").build();
        ret.erase();
    }
    function.erase();
    Ok(())
}

fn parameters(
    context: Ctx,
    described: &[Parameter],
    arguments: &[Value],
    function: Op,
) -> Parameters {
    let mut out = Parameters {
        types: Vec::new(),
        attrs: Vec::new(),
        described: described.to_vec(),
    };
    for parameter in described {
        let (ty, attrs) = match parameter {
            Parameter::TensorMap(_) => {
                let bytes = context.llvm_array(context.int(8), TENSOR_MAP.0);
                (
                    context.ptr(0),
                    vec![
                        ("llvm.align", context.i64_attr(TENSOR_MAP.1)),
                        ("llvm.byval", context.type_attr(bytes)),
                        ("nvvm.grid_constant", context.unit_attr()),
                    ],
                )
            }
            Parameter::Pointer { argument } => {
                let align = manifest::argument_attr(function, *argument as usize, "align")
                    .and_then(|align| align.int())
                    .unwrap_or(16);
                let mut attrs = vec![("llvm.align", context.i64_attr(align))];
                if manifest::argument_attr(function, *argument as usize, "may_alias").is_none() {
                    attrs.push(("llvm.noalias", context.unit_attr()));
                }
                (context.ptr(1), attrs)
            }
            Parameter::Size { .. } | Parameter::Stride { .. } => (context.i64(), Vec::new()),
            Parameter::Scalar { argument, .. } => {
                let ty = arguments[*argument as usize].ty();
                (if ty.is_index() { context.i64() } else { ty }, Vec::new())
            }
        };
        out.types.push(ty);
        out.attrs.push(context.dict_attr(&attrs));
    }
    out
}

/// Replaces the memref and scalar arguments by values rebuilt from the parameters.
fn rewire(entry: Block, parameters: &Parameters, old: &[Value], maps: &[Op], location: Loc) {
    let context = match old.first() {
        Some(argument) => argument.ty().context(),
        None => return,
    };
    let new: Vec<Value> = parameters
        .types
        .iter()
        .map(|ty| entry.add_argument(*ty, location))
        .collect();
    let builder = Builder::at_start(entry, location, context);
    for (index, argument) in old.iter().enumerate() {
        let of = |wanted: &dyn Fn(&Parameter) -> bool| {
            parameters
                .described
                .iter()
                .position(wanted)
                .map(|position| new[position])
        };
        let is = |number: &u32| *number as usize == index;
        if argument.ty().is_memref() {
            let Some(pointer) = of(
                &|parameter| matches!(parameter, Parameter::Pointer { argument } if is(argument)),
            ) else {
                continue;
            };
            let size = |dim: usize| {
                of(
                    &|parameter| matches!(parameter, Parameter::Size { argument, dimension } if is(argument) && *dimension as usize == dim),
                )
            };
            let stride = |dim: usize| {
                of(
                    &|parameter| matches!(parameter, Parameter::Stride { argument, dimension } if is(argument) && *dimension as usize == dim),
                )
            };
            let rebuilt = rebuild(builder, argument.ty(), pointer, &size, &stride);
            argument.replace_all_uses(rebuilt);
        } else if let Some(scalar) =
            of(&|parameter| matches!(parameter, Parameter::Scalar { argument, .. } if is(argument)))
        {
            let value = if argument.ty().is_index() {
                builder
                    .op("arith.index_cast")
                    .operands(&[scalar])
                    .results(&[context.index()])
                    .value()
            } else {
                scalar
            };
            argument.replace_all_uses(value);
        }
    }
    // Tensor maps are pointers from here on; lowering to NVVM resolves the cast.
    let pointers = parameters
        .described
        .iter()
        .zip(&new)
        .filter(|(parameter, _)| matches!(parameter, Parameter::TensorMap(_)));
    for (map, (_, pointer)) in maps.iter().zip(pointers) {
        let cast = builder
            .op("builtin.unrealized_conversion_cast")
            .operands(&[*pointer])
            .results(&[map.result(0).ty()])
            .value();
        map.replace(&[cast]);
    }
    for _ in old {
        entry.erase_argument(0);
    }
}

/// A memref from its base pointer, dynamic sizes and dynamic strides.
fn rebuild(
    builder: Builder,
    memref: Type,
    pointer: Value,
    size: &dyn Fn(usize) -> Option<Value>,
    stride: &dyn Fn(usize) -> Option<Value>,
) -> Value {
    let context = builder.context();
    let shape = memref.shape();
    let constant = |value: i64| descriptor::constant(builder, value);
    // The default memory space is the generic one; the address-space inference of the
    // back end recovers that these pointers are global.
    let ptr = context.ptr(descriptor::address_space(memref));
    let pointer = if pointer.ty() == ptr {
        pointer
    } else {
        builder
            .op("llvm.addrspacecast")
            .operands(&[pointer])
            .results(&[ptr])
            .value()
    };
    let sizes: Vec<Value> = shape
        .iter()
        .enumerate()
        .map(|(dim, extent)| {
            extent
                .map(constant)
                .or_else(|| size(dim))
                .unwrap_or_else(|| constant(0))
        })
        .collect();
    let known = memref
        .strides_and_offset()
        .map(|(strides, _)| strides)
        .unwrap_or_default();
    let mut strides = vec![constant(1); shape.len()];
    for dim in (0..shape.len()).rev() {
        strides[dim] = match known.get(dim).copied().flatten() {
            Some(known) => constant(known),
            // Identity layouts have no stride parameter: a row follows from the sizes.
            None => stride(dim).unwrap_or_else(|| {
                builder
                    .op("llvm.mul")
                    .operands(&[strides[dim + 1], sizes[dim + 1]])
                    .results(&[context.i64()])
                    .value()
            }),
        };
    }
    descriptor::memref(builder, memref, pointer, &sizes, &strides)
}
