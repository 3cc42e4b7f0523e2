//! The library's side of the hooks, and its registration.

use crate::{
    passes::{self, Options, PASSES, PIPELINE, PIPELINE_DESCRIPTION, PIPELINE_OPTIONS},
    ptx, text, verify,
};
use async_pipeline_sys::{
    Hooks,
    dialect::{self, DriverOption},
    hooks::Located,
    ir::{Attr, Op},
};
use ptx_model::grid::{GridEnv, GridExpr};

struct Library;

/// Options of the command-line tool beside mlir-opt's own.
pub static DRIVER_OPTIONS: &[DriverOption] = &[
    DriverOption {
        name: "target",
        description: "Target: sm_80, sm_90a or sm_100a",
        in_pipeline: true,
    },
    DriverOption {
        name: "stages",
        description: "Slots of every channel that does not say `exactly`",
        in_pipeline: true,
    },
    DriverOption {
        name: "ptx-version",
        description: "PTX ISA version (default by target)",
        in_pipeline: true,
    },
    DriverOption {
        name: "cp-async-arrive",
        description: "noinc (default) or inc",
        in_pipeline: true,
    },
    DriverOption {
        name: "sync",
        description: "Rings that one role fills by cp.async: mbarrier (default) or groups",
        in_pipeline: true,
    },
    DriverOption {
        name: "debug-lines",
        description: "Write source lines into the PTX as .loc",
        in_pipeline: true,
    },
    DriverOption {
        name: "wait-timeout",
        description: "Trap when a wait lasts longer than this many microseconds",
        in_pipeline: true,
    },
    DriverOption {
        name: "ptxas",
        description: "The ptxas for --emit=cubin (default: on PATH)",
        in_pipeline: false,
    },
];

/// What a constant expression asks for: nothing.
struct NoArguments;

impl GridEnv for NoArguments {
    fn dim(&self, _: u32, _: u32) -> Option<i64> {
        None
    }

    fn scalar(&self, _: u32) -> Option<i64> {
        None
    }

    fn sm_count(&self) -> Option<i64> {
        None
    }
}

impl Hooks for Library {
    fn verify_op(&self, op: Op) -> Result<(), Located> {
        verify::verify_op(op)
    }

    fn verify_attribute(
        &self,
        op: Op,
        argument: Option<usize>,
        name: &str,
        value: Attr,
    ) -> Result<(), Located> {
        verify::verify_attribute(op, argument, name, value)
    }

    fn verify_grid(&self, text: &str) -> Result<(), String> {
        let expression: GridExpr = text
            .parse()
            .map_err(|error| format!("grid expression: {error}"))?;
        let mut constant = true;
        expression.for_each_leaf(&mut |leaf| constant &= matches!(leaf, GridExpr::Const(_)));
        if !constant {
            return Ok(());
        }
        match expression.eval(&NoArguments) {
            Ok(blocks) if blocks > 0 => Ok(()),
            Ok(blocks) => Err(format!(
                "grid expression: expected at least 1 block, got {blocks}"
            )),
            Err(error) => Err(format!("grid expression: {error}")),
        }
    }

    fn check_text(&self, text: &[u8]) -> Result<(), (usize, usize, String)> {
        text::check(text).map_err(|why| (why.line, why.column, why.message))
    }

    fn run_pass(&self, pass: usize, module: Op, options: &[&str]) -> bool {
        let pass = &PASSES[pass];
        (pass.run)(module, &Options::new(pass.options, options)).is_ok()
    }

    fn pipeline(&self, options: &[&str]) -> Result<String, String> {
        passes::pipeline(options)
    }

    fn emit_module(&self, module: Op, kind: &str, path: &str, options: &[&str]) -> bool {
        ptx::emit_for_tool(module, kind, path, options).is_ok()
    }
}

/// Registers dialect hooks, passes and the pipeline. Called by everything that
/// needs it; only the first call does something. It also sets a panic hook that is silent
/// about panics which become internal errors and hands all others to the hook before it.
pub fn initialize() {
    let passes: Vec<_> = PASSES
        .iter()
        .map(|pass| (pass.argument, pass.description, pass.options.to_vec()))
        .collect();
    dialect::initialize(
        &Library,
        &passes,
        (PIPELINE, PIPELINE_DESCRIPTION, PIPELINE_OPTIONS.to_vec()),
    );
}
