//! The back end can select everything that is left.
//!
//! LLVM aborts the process, or calls a function that no GPU code provides, where it has
//! no instruction. So what reaches it is checked first: ops, intrinsics, types and
//! atomics against what LLVM 22 was seen to turn into PTX that ptxas accepts, on every
//! target; NVVM ops against `ptx_model::legality`. What nobody has tried is refused.

use super::{
    Failed, Options, Pass,
    options::{PTX_VERSION, TARGET},
};
use crate::diagnostics::{self, error};
use async_pipeline_sys::ir::{Op, Type};
use ptx_model::{
    legality::{self, Form},
    target::{PtxVersion, Target},
};
use std::collections::{HashMap, HashSet};

pub(super) const PASS: Pass = Pass {
    argument: "async-pipeline-verify-lowered",
    description: "Check that the back end can select everything that is left",
    options: &[TARGET, PTX_VERSION],
    run,
};

/// Intrinsics that every target has, whatever the type; `.` at the end: the whole family.
const INTRINSICS: &[&str] = &[
    "abs",
    "assume",
    "bitreverse",
    "bswap",
    "ceil",
    "copysign",
    "ctlz",
    "ctpop",
    "cttz",
    "expect",
    "fabs",
    "floor",
    "fma",
    "fmuladd",
    "fshl",
    "fshr",
    "ldexp",
    "lifetime.",
    "masked.",
    "maximum",
    "maxnum",
    "memcpy",
    "memcpy.inline",
    "memmove",
    "memset",
    "memset.inline",
    "minimum",
    "minnum",
    "nearbyint",
    "rint",
    "round",
    "roundeven",
    "sadd.",
    "smax",
    "smin",
    "smul.",
    "sqrt",
    "sshl.",
    "ssub.",
    "trunc",
    "uadd.",
    "umax",
    "umin",
    "umul.",
    "ushl.",
    "usub.",
    "vector.",
];

/// NVVM ops that every target has; `.` at the end: the whole family.
const NVVM: &[&str] = &[
    "bar.warp.sync",
    "barrier",
    "barrier.arrive",
    "barrier0",
    "cp.async.commit.group",
    "cp.async.shared.global",
    "cp.async.wait.group",
    "ldmatrix",
    "match.sync",
    "mma.sync",
    "nanosleep",
    "rcp.approx.ftz.f",
    "read.ptx.sreg.ctaid.",
    "read.ptx.sreg.laneid",
    "read.ptx.sreg.nctaid.",
    "read.ptx.sreg.ntid.",
    "read.ptx.sreg.tid.",
    "read.ptx.sreg.warpsize",
    "shfl.sync",
    "vote.sync",
];

/// NVVM ops that some targets have, and the form they end as.
const NVVM_FORMS: &[(&str, Form)] = &[
    ("cluster.arrive", Form::BarrierClusterArrive),
    ("cluster.arrive.relaxed", Form::BarrierClusterArriveRelaxed),
    ("cluster.wait", Form::BarrierClusterWait),
    ("elect.sync", Form::ElectSync),
    ("fence.mbarrier.init", Form::FenceMbarrierInit),
];

/// Ops of the LLVM dialect that have no meaning on a GPU.
const HOST_ONLY: &[&str] = &[
    "blockaddress",
    "blocktag",
    "call_intrinsic",
    "indirectbr",
    "invoke",
    "landingpad",
    "mlir.alias",
    "mlir.global_ctors",
    "mlir.global_dtors",
    "mlir.ifunc",
    "resume",
    "va_arg",
];

/// What may stand directly in the module of the kernels.
const MEMBERS: &[&str] = &["llvm.comdat", "llvm.func", "llvm.mlir.global"];

/// Scopes that the back end knows; no scope is the whole system.
const SCOPES: &[&str] = &["", "block", "cluster", "device", "singlethread"];

/// Constraints of inline PTX that the back end knows, one letter each; digits tie operands.
const CONSTRAINTS: &str = "bcdfhilnqr0123456789";

/// Local memory of a thread (CUDA C++ Programming Guide 13, "Compute Capabilities").
const MAX_LOCAL_BYTES: i64 = 512 * 1024;

/// Four times the registers of a thread; the back end takes seconds for 16 times as many.
const MAX_ELEMENTS: i64 = 1024;

fn run(module: Op, options: &Options<'_>) -> Result<(), Failed> {
    // Of every op what its description promises: nobody asks after each pass.
    if !module.verify() {
        return Err(Failed);
    }
    let target = diagnostics::option(module, options.target())?;
    let version = diagnostics::option(module, options.ptx_version(target))?;
    let ops = module.walk();
    let functions = ops
        .iter()
        .filter(|op| op.is("llvm.func"))
        .map(|function| (symbol(*function, "sym_name"), *function))
        .collect();
    let check = Check {
        target,
        version,
        functions,
    };
    // The cast around an op that could not be lowered says less than the op.
    let (casts, rest): (Vec<Op>, Vec<Op>) = ops
        .into_iter()
        .partition(|op| op.is("builtin.unrealized_conversion_cast"));
    let mut known = HashSet::new();
    for op in rest.into_iter().chain(casts) {
        check
            .op(op)
            .and_then(|()| types(op, &mut known))
            .map_err(|message| error(op, message))?;
    }
    Ok(())
}

struct Check {
    target: Target,
    version: PtxVersion,
    /// What may be called, by name.
    functions: HashMap<String, Op>,
}

impl Check {
    fn op(&self, op: Op) -> Result<(), String> {
        let name = op.name();
        if name == "gpu.module" || name == "builtin.module" {
            return Ok(());
        }
        // The translation puts instructions outside a function nowhere, and crashes.
        let directly = op.parent().is_some_and(|parent| parent.is("gpu.module"));
        if directly && !MEMBERS.contains(&name) {
            return Err(format!("'{name}' op cannot stand outside a function"));
        }
        if let Some(nvvm) = name.strip_prefix("nvvm.") {
            return self.nvvm(name, nvvm);
        }
        let Some(llvm) = name.strip_prefix("llvm.") else {
            return Err(leftover(op));
        };
        if let Some(intrinsic) = llvm.strip_prefix("intr.") {
            return self.intrinsic(op, intrinsic);
        }
        if HOST_ONLY.contains(&llvm) {
            return Err(format!("'{name}' op cannot be turned into PTX"));
        }
        match llvm {
            "call" => self.call(op),
            "atomicrmw" | "cmpxchg" | "fence" => atomic(op),
            "alloca" => self.stack(op),
            "inline_asm" => inline_asm(op),
            "mlir.global" if op.attr("thread_local_").is_some() => {
                Err("a thread-local global is not available on the GPU".into())
            }
            _ => Ok(()),
        }
    }

    fn nvvm(&self, full: &str, name: &str) -> Result<(), String> {
        if listed(NVVM, name) {
            return Ok(());
        }
        match NVVM_FORMS.iter().find(|(known, _)| *known == name) {
            Some((_, form)) => legality::check(*form, self.target, self.version)
                .map_err(|why| format!("'{full}' op is illegal on {}: {why}", self.target)),
            None => Err(format!(
                "'{full}' op: it is not known whether {} has it; use an op of async_pipeline, or write the PTX with llvm.inline_asm",
                self.target
            )),
        }
    }

    fn intrinsic(&self, op: Op, name: &str) -> Result<(), String> {
        let ty = op.operands().first().map(|value| value.ty());
        let known = match name {
            // PTX has ex2 for single and half precision only.
            "exp2" => ty.is_some_and(|ty| element(ty).bit_width() != Some(64)),
            // Blackwell's packed pairs have no byte swap in LLVM 22.
            "bswap" if self.target == Target::Sm100a => ty.is_some_and(|ty| !ty.is_vector()),
            _ => listed(INTRINSICS, name),
        };
        if known {
            return Ok(());
        }
        let on = ty.map(|ty| format!(" on {ty}")).unwrap_or_default();
        Err(format!(
            "'{name}'{on} has no PTX instruction, and GPU code has no library to call"
        ))
    }

    /// An allocation on the stack, of a size known while compiling or not.
    fn stack(&self, op: Op) -> Result<(), String> {
        let made = op.operand(0).defining_op();
        let count = made
            .filter(|made| made.is("llvm.mlir.constant"))
            .and_then(|made| made.attr("value")?.int());
        let Some(count) = count else {
            return dynamic_stack(self.version);
        };
        let element = op.attr("elem_type").and_then(|ty| ty.ty());
        let width = element.and_then(|ty| ty.byte_width()).unwrap_or(1);
        match count.saturating_mul(width) {
            0..=MAX_LOCAL_BYTES => Ok(()),
            bytes => Err(format!(
                "expected at most {MAX_LOCAL_BYTES} bytes of local memory per thread, got {bytes}"
            )),
        }
    }

    fn call(&self, op: Op) -> Result<(), String> {
        let callee = symbol(op, "callee");
        let found = self.functions.get(&callee);
        if found.is_some_and(|function| function.body(0).is_some()) {
            return Ok(());
        }
        Err(match callee.as_str() {
            "" => "a call through a pointer is not supported in a kernel".into(),
            name => format!("needs the function '{name}', which is not available on the GPU"),
        })
    }
}

/// Text that the assembly printer would abort on. What the instructions are, ptxas says.
fn inline_asm(op: Op) -> Result<(), String> {
    let text = |name: &str| {
        op.attr(name)
            .and_then(|attr| attr.string())
            .unwrap_or_default()
    };
    let (code, constraints) = (text("asm_string"), text("constraints"));
    let operands: Vec<&str> = constraints
        .split(',')
        .filter(|constraint| !constraint.is_empty() && !constraint.starts_with('~'))
        .collect();
    for constraint in &operands {
        let kind = constraint.trim_start_matches(['=', '&', '+']);
        if !(kind.len() == 1 && kind.contains(|c: char| CONSTRAINTS.contains(c))) {
            return Err(format!(
                "expected constraints among {CONSTRAINTS}, one letter or digit each; got '{constraint}'"
            ));
        }
    }
    // `$$` stands for a dollar sign, `$1`, `${1}` and `${1:x}` for an operand.
    for part in code.replace("$$", "").split('$').skip(1) {
        let digits = part.trim_start_matches('{');
        let end = digits.find(|c: char| !c.is_ascii_digit());
        let number = &digits[..end.unwrap_or(digits.len())];
        if !number
            .parse::<usize>()
            .is_ok_and(|number| number < operands.len())
        {
            return Err(format!(
                "expected `$` in front of an operand's number below {}, got '${}'",
                operands.len(),
                part.chars().take(8).collect::<String>()
            ));
        }
    }
    Ok(())
}

fn leftover(op: Op) -> String {
    if op.is("builtin.unrealized_conversion_cast") {
        let types = op.results().into_iter().chain(op.operands());
        let foreign = types
            .map(|value| value.ty())
            .find(|ty| !ty.to_string().starts_with("!llvm."));
        return match foreign {
            Some(ty) => format!("a value of type {ty} cannot be lowered to PTX"),
            None => "a conversion between types cannot be lowered to PTX".into(),
        };
    }
    format!("'{}' op cannot be lowered to PTX", op.name())
}

/// Name of a symbol or of what an op refers to; empty if there is none.
fn symbol(op: Op, attribute: &str) -> String {
    let Some(attr) = op.attr(attribute) else {
        return String::new();
    };
    attr.string()
        .unwrap_or_else(|| attr.to_string().trim_matches(['@', '"']).to_owned())
}

fn listed(list: &[&str], name: &str) -> bool {
    list.iter()
        .any(|known| *known == name || (known.ends_with('.') && name.starts_with(known)))
}

/// Stacks of dynamic size (PTX ISA 9.1, 9.7.14.3).
fn dynamic_stack(version: PtxVersion) -> Result<(), String> {
    let needs = PtxVersion::new(7, 3);
    if version < needs {
        return Err(format!(
            "an allocation of dynamic size needs PTX {needs}; {version} was asked for"
        ));
    }
    Ok(())
}

fn atomic(op: Op) -> Result<(), String> {
    let scope = op
        .attr("syncscope")
        .and_then(|scope| scope.string())
        .unwrap_or_default();
    if !SCOPES.contains(&scope.as_str()) {
        return Err(format!(
            "expected a scope among block, cluster, device and singlethread, got '{scope}'"
        ));
    }
    match op
        .operands()
        .get(1)
        .and_then(|value| value.ty().bit_width())
    {
        Some(bits) if bits > 64 => Err(format!("there is no atomic operation on {bits} bits")),
        _ => Ok(()),
    }
}

/// Types that PTX has no registers for; `known` holds those that were found good.
fn types(op: Op, known: &mut HashSet<Type>) -> Result<(), String> {
    for value in op.operands().into_iter().chain(op.results()) {
        let ty = value.ty();
        if known.contains(&ty) {
            continue;
        }
        let text = ty.to_string();
        let foreign = ["f80", "f128", "ppc_fp128", "x86_amx", "token", "target<"];
        let word = |word: &str| {
            text.match_indices(word).any(|(at, _)| {
                let before = text[..at].chars().next_back();
                !before.is_some_and(|c| c.is_ascii_alphanumeric() && c != 'x')
            })
        };
        if ty.is_vector() {
            let elements = ty
                .shape()
                .into_iter()
                .fold(1_i64, |all, extent| all.saturating_mul(extent.unwrap_or(1)));
            if elements > MAX_ELEMENTS {
                return Err(format!(
                    "expected vectors of at most {MAX_ELEMENTS} elements, which one thread holds; got {ty}"
                ));
            }
        }
        if foreign.into_iter().any(word) || text.contains("vector<[") {
            return Err(format!("a value of type {ty} cannot be lowered to PTX"));
        }
        known.insert(ty);
    }
    Ok(())
}

fn element(ty: Type) -> Type {
    if ty.is_vector() { ty.element() } else { ty }
}
