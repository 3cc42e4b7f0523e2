//! Runs every kernel on the CPU and reports what is wrong with its synchronisation.
//!
//! Takes the barrier level, as `async-pipeline-insert-barriers` leaves it or as written by
//! hand, and changes nothing. A kernel is run under several schedules, on arguments full of
//! zeros; the first schedule that shows a fault decides what is reported.
//!
//! ```mlir
//! async_pipeline.mbarrier.wait %full[%stage], %parity : !async_pipeline.mbarrier<4>
//! // error: deadlock: nothing can go on; @compute warp 1 lane 0 waits for phase 0 of
//! //        "in.full"[0] (phase 0 (parity 0), pending 1 of 1, tx 0) by parity 0 …
//! ```

use super::{Failed, Options, Pass, options::TARGET};
use crate::{
    diagnostics,
    interpreter::{ArgumentValue, Interpreter, LaunchInput, Outcome, Schedule},
    program::{
        Argument, MemRefType, Program, ScalarType, ValueType,
        extract::{Extracted, extract},
    },
};
use async_pipeline_sys::{
    OptionSpec,
    ir::{Loc, Op, emit_error, emit_remark, emit_warning},
};
use ptx_model::{
    access::Severity,
    grid::{GridEnv, GridExpr},
};

pub(super) const PASS: Pass = Pass {
    argument: "async-pipeline-interpret",
    description: "Run kernels at the barrier level on the CPU and report protocol faults",
    options: &[
        TARGET,
        SIZES,
        SCALARS,
        GRID,
        SM_COUNT,
        SEEDS,
        MAX_REPORTS,
        MAX_STEPS,
        STRICT,
    ],
    run,
};

const SIZES: OptionSpec = OptionSpec {
    name: "sizes",
    description: "Dynamic extents, such as 4096 or 130x70; a comma separates memref arguments, \
                  the last ones given hold for all that follow",
    default: "256",
};
const SCALARS: OptionSpec = OptionSpec {
    name: "scalars",
    description: "Values of the scalar arguments, separated by commas (default: 1 each)",
    default: "",
};
const GRID: OptionSpec = OptionSpec {
    name: "grid",
    description: "CTAs, such as 2 or 2x3 (default: what the kernel's grid says)",
    default: "",
};
const SM_COUNT: OptionSpec = OptionSpec {
    name: "sm-count",
    description: "Multiprocessors, where the kernel's grid asks for them",
    default: "1",
};
const SEEDS: OptionSpec = OptionSpec {
    name: "seeds",
    description: "Random schedules that are tried after the fixed ones",
    default: "4",
};
const MAX_REPORTS: OptionSpec = OptionSpec {
    name: "max-reports",
    description: "Faults that are reported; further ones are counted",
    default: "8",
};
const MAX_STEPS: OptionSpec = OptionSpec {
    name: "max-steps",
    description: "Steps after which a run is given up",
    default: "20000000",
};
const STRICT: OptionSpec = OptionSpec {
    name: "strict",
    description: "Whether a missing fence between an ordinary read and the next bulk load is an \
                  error (true) or a warning (false)",
    default: "true",
};

/// Bytes of one argument that a run is made for.
const ARGUMENT_LIMIT: u64 = 1 << 28;

/// The options, parsed.
struct Settings {
    sizes: Vec<Vec<u64>>,
    scalars: Vec<i64>,
    grid: Option<[u32; 3]>,
    sm_count: i64,
    seeds: u64,
    strict: bool,
    input: LaunchInput,
}

fn run(module: Op, options: &Options<'_>) -> Result<(), Failed> {
    let settings = diagnostics::option(module, settings(options))?;
    let kernels = extract(module).map_err(|failure| {
        emit_error(failure.location, &failure.to_string(), None);
        Failed
    })?;
    diagnostics::all(kernels, |kernel| interpret(module, &kernel, &settings))
}

fn settings(options: &Options<'_>) -> Result<Settings, String> {
    let sizes = options.text(SIZES.name);
    let argument = |text: &str| numbers::<u64>(SIZES.name, text, 'x');
    let grid = numbers::<u32>(GRID.name, options.text(GRID.name), 'x')?;
    if grid.len() > 3 {
        return Err("expected grid to have at most three extents".to_owned());
    }
    let grid = (!grid.is_empty()).then(|| {
        let along = |dimension| grid.get(dimension).copied().unwrap_or(1);
        [along(0), along(1), along(2)]
    });
    let mut input = LaunchInput::new(options.target()?, Vec::new());
    input.max_steps = number(options, &MAX_STEPS)?;
    input.max_reports = number(options, &MAX_REPORTS)?;
    Ok(Settings {
        sizes: sizes.split(',').map(argument).collect::<Result<_, _>>()?,
        scalars: numbers(SCALARS.name, options.text(SCALARS.name), ',')?,
        grid,
        sm_count: number(options, &SM_COUNT)?,
        seeds: number(options, &SEEDS)?,
        strict: match options.text(STRICT.name) {
            "" | "true" | "1" => true,
            "false" | "0" => false,
            text => return Err(format!("expected strict to be true or false, got '{text}'")),
        },
        input,
    })
}

fn number<T: std::str::FromStr>(options: &Options<'_>, spec: &OptionSpec) -> Result<T, String> {
    let text = match options.text(spec.name) {
        "" => spec.default,
        text => text,
    };
    text.parse()
        .map_err(|_| format!("expected {} to be a number, got '{text}'", spec.name))
}

fn numbers<T: std::str::FromStr>(
    name: &str,
    text: &str,
    separator: char,
) -> Result<Vec<T>, String> {
    text.split(separator)
        .map(str::trim)
        .filter(|item| !item.is_empty())
        .map(|item| {
            item.parse()
                .map_err(|_| format!("expected {name} to hold numbers, got '{item}'"))
        })
        .collect()
}

fn interpret(module: Op, kernel: &Extracted, settings: &Settings) -> Result<(), Failed> {
    let program = &kernel.program;
    let location = |index: usize| {
        kernel
            .locations
            .get(index)
            .copied()
            .unwrap_or(module.location())
    };
    let refuse = |message: String| {
        emit_error(location(program.place.0 as usize), &message, None);
        Failed
    };
    let mut input = settings.input.clone();
    input.arguments = arguments(program, settings).map_err(refuse)?;
    input.grid = grid(program, &input.arguments, settings).map_err(refuse)?;
    if input.grid.contains(&0) {
        return Ok(());
    }
    for schedule in Schedule::standard(settings.seeds) {
        input.schedule = schedule;
        let outcome =
            Interpreter::run(program, &input).map_err(|failure| refuse(failure.to_string()))?;
        if !outcome.is_clean() {
            return show(&outcome, settings.strict, location);
        }
    }
    Ok(())
}

/// Emits what a run found; fails if an error is among it.
fn show(outcome: &Outcome, strict: bool, location: impl Fn(usize) -> Loc) -> Result<(), Failed> {
    let mut result = Ok(());
    for report in &outcome.reports {
        let place = location(report.place_id.0 as usize);
        if report.fault.severity() == Severity::Pedantic && !strict {
            emit_warning(place, &report.to_string());
            continue;
        }
        let note = report.note.as_ref();
        let note = note.map(|note| (location(note.place_id.0 as usize), note.text.to_owned()));
        emit_error(place, &report.to_string(), note);
        result = Err(Failed);
    }
    if outcome.more_reports > 0
        && let Some(last) = outcome.reports.last()
    {
        let text = format!("{} more faults are not shown", outcome.more_reports);
        emit_remark(location(last.place_id.0 as usize), &text);
    }
    result
}

/// Arguments full of zeros.
fn arguments(program: &Program, settings: &Settings) -> Result<Vec<ArgumentValue>, String> {
    let (mut sizes, mut scalars) = (settings.sizes.iter(), settings.scalars.iter());
    let mut last: &[u64] = &[];
    let mut value = |argument: &Argument| match &argument.ty {
        ValueType::MemRef(ty) => {
            last = sizes.next().map_or(last, Vec::as_slice);
            memref(argument, ty, last)
        }
        ValueType::Scalar(ScalarType::Float(_)) => Ok(ArgumentValue::Float(
            scalars.next().copied().unwrap_or(1) as f64,
        )),
        _ => Ok(ArgumentValue::Integer(scalars.next().copied().unwrap_or(1))),
    };
    program.arguments.iter().map(&mut value).collect()
}

/// A memref whose dynamic extents come from the option and whose dynamic strides are
/// row-major, with the row pitch that the argument's alignment asks for.
fn memref(argument: &Argument, ty: &MemRefType, sizes: &[u64]) -> Result<ArgumentValue, String> {
    let mut given = sizes.iter();
    let mut last = sizes.last().copied().unwrap_or(1);
    let shape: Vec<u64> = ty
        .shape
        .iter()
        .map(|extent| {
            extent.unwrap_or_else(|| {
                last = given.next().copied().unwrap_or(last);
                last
            })
        })
        .collect();
    let width = u64::from(ty.element.bytes());
    let pitch = (u64::from(argument.alignment) / width).max(1);
    let (mut strides, mut stride) = (Vec::new(), 1_u64);
    for (dimension, extent) in shape.iter().enumerate().rev() {
        let fixed = ty.strides.get(dimension).copied().flatten();
        let stride_here = match fixed.and_then(|fixed| u64::try_from(fixed).ok()) {
            Some(fixed) => fixed,
            None if dimension + 1 == shape.len() => 1,
            None => stride.checked_next_multiple_of(pitch).unwrap_or(u64::MAX),
        };
        strides.push(stride_here);
        stride = stride_here.saturating_mul((*extent).max(1));
    }
    strides.reverse();
    let elements = if shape.contains(&0) {
        0
    } else {
        shape
            .iter()
            .zip(&strides)
            .fold(1_u64, |sum, (extent, stride)| {
                sum.saturating_add((extent - 1).saturating_mul(*stride))
            })
    };
    let bytes = elements.saturating_mul(width);
    if bytes > ARGUMENT_LIMIT {
        return Err(format!(
            "expected arguments of at most {ARGUMENT_LIMIT} bytes, got {bytes}"
        ));
    }
    Ok(ArgumentValue::MemRef {
        shape,
        strides: Some(strides),
        data: vec![0; bytes as usize],
    })
}

struct Environment<'a> {
    arguments: &'a [ArgumentValue],
    sm_count: i64,
}

impl GridEnv for Environment<'_> {
    fn dim(&self, argument: u32, dimension: u32) -> Option<i64> {
        match self.arguments.get(argument as usize)? {
            ArgumentValue::MemRef { shape, .. } => {
                i64::try_from(*shape.get(dimension as usize)?).ok()
            }
            _ => None,
        }
    }

    fn scalar(&self, argument: u32) -> Option<i64> {
        match self.arguments.get(argument as usize)? {
            ArgumentValue::Integer(value) => Some(*value),
            _ => None,
        }
    }

    fn sm_count(&self) -> Option<i64> {
        Some(self.sm_count)
    }
}

fn grid(
    program: &Program,
    arguments: &[ArgumentValue],
    settings: &Settings,
) -> Result<[u32; 3], String> {
    if let Some(grid) = settings.grid {
        return Ok(grid);
    }
    let environment = Environment {
        arguments,
        sm_count: settings.sm_count,
    };
    let mut grid = [1; 3];
    for (extent, text) in grid.iter_mut().zip(&program.grid) {
        let expression: GridExpr = text
            .parse()
            .map_err(|why| format!("grid '{text}': {why}"))?;
        let value = expression
            .eval(&environment)
            .map_err(|why| format!("grid '{text}': {why}"))?;
        *extent = u32::try_from(value)
            .map_err(|_| format!("expected a grid extent from 0 to {}, got {value}", u32::MAX))?;
    }
    Ok(grid)
}
