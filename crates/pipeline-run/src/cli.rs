//! The command line.

use std::{
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
    time::Duration,
};

use clap::{Args, Parser, Subcommand};

use crate::{
    bind::BindOptions,
    counts,
    device::{
        Runs, cuda,
        emulator::{DEFAULT_MEMORY, DEFAULT_SCHEDULES, EmulatorOptions},
    },
    error::{EXIT_RIGHT, EXIT_UNUSABLE, EXIT_WRONG, RunError},
    expect::Expectation,
    fill::Fill,
    options::{Named, SizeOption, Tolerance, parse_shape, parse_triple},
    run::{self, BenchOptions, DeviceKind, Outcome, ReportFormat, Request},
    summary,
    verify::ValueOptions,
};

const EXAMPLES: &str = "\
Examples:
  pipeline-run add.ptx --size 1000 --expect 'C = A + B'
  pipeline-run add.ptx --lengths 0,1,997,4096 --expect 'C = A + B'
  pipeline-run scale.mlir --size 64x100 --pitch A=128 --arg alpha=2 --expect 'B = alpha * A'
  pipeline-run add.ptx --size 268435456 --bench --bench-copy
  pipeline-run add.ptx --device emulator --size 5000 --expect 'C = A + B' --schedules 20
  pipeline-run counts add.ptx --sass add.sass
  pipeline-run summary add.json

Exit codes: 0 right (the emulator may have warned), 1 wrong result, failed kernel or a defect that
the emulator found, 2 unusable input.";

/// Launches a compiled kernel from its manifest on a GPU or an emulator, checks the results, and
/// measures.
#[derive(Debug, Parser)]
#[command(name = "pipeline-run", version, after_help = EXAMPLES)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Commands>,
    #[command(flatten)]
    run: Option<RunArgs>,
}

#[derive(Debug, Subcommand)]
enum Commands {
    /// Counts synchronisation instructions per iteration of each main loop.
    Counts(CountsArgs),
    /// Prints a manifest as a table.
    Summary(SummaryArgs),
}

#[derive(Debug, Args)]
struct CountsArgs {
    /// The PTX file.
    ptx: PathBuf,
    /// The same kernels as SASS, as `nvdisasm -c` prints it. Code of sm_80 has no wait
    /// instruction, so waits show as 0 there.
    #[arg(long, value_name = "FILE")]
    sass: Option<PathBuf>,
    /// Only this kernel.
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
}

#[derive(Debug, Args)]
struct SummaryArgs {
    /// The manifests.
    #[arg(required = true)]
    manifests: Vec<PathBuf>,
}

/// `--lengths` as one list, so that clap does not take it for a repeatable option.
#[derive(Debug, Clone)]
struct Lengths(Vec<Vec<u64>>);

fn lengths(text: &str) -> Result<Lengths, String> {
    let shapes: Result<_, _> = text.split(',').map(parse_shape).collect();
    shapes.map(Lengths).map_err(|error| error.to_string())
}

#[derive(Debug, Args)]
struct RunArgs {
    /// The kernel: .ptx or .cubin with a manifest beside it, or .mlir.
    input: PathBuf,
    /// The manifest [default: the input's name with .json].
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,
    /// Which kernel; needed where the manifest has several.
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Where to run [default: a GPU where one is, else the emulator].
    #[arg(long, value_enum)]
    device: Option<DeviceKind>,
    /// Which GPU.
    #[arg(long, value_name = "N", default_value_t = 0)]
    ordinal: u32,
    /// Seconds after which a kernel counts as hanging [default: 20 on a GPU, none on the
    /// emulator].
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
    /// What to print: lines, or one JSON object with everything in it.
    #[arg(long, value_enum, default_value = "text")]
    report: ReportFormat,
    /// Writes the JSON object to a file as well.
    #[arg(long, value_name = "FILE")]
    report_file: Option<PathBuf>,
    /// For .mlir: the target to compile for [default: the GPU's, sm_90a on the emulator].
    #[arg(long)]
    target: Option<String>,
    /// For .mlir: the number of pipeline stages.
    #[arg(long, value_name = "N")]
    stages: Option<u32>,

    /// Sizes of a memref argument, such as A=64x32, or of all that have dynamic sizes, such as
    /// 1000. Repeatable.
    #[arg(long, value_name = "[NAME=]SIZES", help_heading = "Arguments")]
    size: Vec<SizeOption>,
    /// Runs once for each of these sizes, such as 0,1,997 or 64x32,1x1.
    #[arg(long, value_name = "SIZES,...", value_parser = lengths, help_heading = "Arguments")]
    lengths: Option<Lengths>,
    /// Elements from row to row [default: the smallest that the alignment allows]. Repeatable.
    #[arg(long, value_name = "NAME=N", help_heading = "Arguments")]
    pitch: Vec<Named<u64>>,
    /// Moves an argument's start by this many bytes. Repeatable.
    #[arg(long, value_name = "NAME=BYTES", help_heading = "Arguments")]
    misalign: Vec<Named<u64>>,
    /// The value of a scalar argument. Repeatable.
    #[arg(long, value_name = "NAME=VALUE", help_heading = "Arguments")]
    arg: Vec<Named<String>>,
    /// Blocks to launch [default: the manifest's expression].
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_triple, help_heading = "Arguments")]
    grid: Option<[u32; 3]>,

    /// How inputs are filled.
    #[arg(long, value_enum, default_value = "integer", help_heading = "Values")]
    fill: Fill,
    /// Seed of the fill.
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Values")]
    seed: u64,
    /// Takes an argument's elements from a file, raw and in row-major order. Repeatable.
    #[arg(long, value_name = "NAME=FILE", help_heading = "Values")]
    input_file: Vec<Named<PathBuf>>,
    /// What an argument should hold afterwards, element by element: + - * /, numbers, argument
    /// names, abs exp max min relu sqrt. Arguments without an expectation must not change.
    /// Repeatable.
    #[arg(long, value_name = "NAME = EXPR", help_heading = "Values")]
    expect: Vec<String>,
    /// The same from a file, raw and in row-major order. Repeatable.
    #[arg(long, value_name = "NAME=FILE", help_heading = "Values")]
    expect_file: Vec<Named<PathBuf>>,
    /// Allowed difference [default: none for integer fill, four units in the last place for
    /// random fill].
    #[arg(long, value_name = "RELATIVE[,ABSOLUTE]", help_heading = "Values")]
    tolerance: Option<Tolerance>,
    /// Writes an argument's elements to a file after the launch, raw and in row-major order.
    /// Repeatable.
    #[arg(long, value_name = "NAME=FILE", help_heading = "Values")]
    save: Vec<Named<PathBuf>>,

    /// Runs the kernel under this many schedules, up to the first that goes wrong: a fair one, one
    /// in which asynchronous work finishes as late as it may, one in which it finishes at once,
    /// then random ones [default: 3].
    #[arg(long, help_heading = "Emulator", value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    schedules: Option<u64>,
    /// Runs only this one of them, counted from 0.
    #[arg(
        long,
        help_heading = "Emulator",
        value_name = "I",
        conflicts_with = "schedules"
    )]
    schedule: Option<u64>,
    /// Seed of the schedules [default: 1].
    #[arg(long, help_heading = "Emulator", value_name = "N")]
    schedule_seed: Option<u64>,
    /// Makes errors of the fences that the PTX ISA asks for and NVIDIA's own compilers leave out.
    #[arg(long, help_heading = "Emulator")]
    strict: bool,
    /// Does not look for races, missing fences and uninitialised reads; faster.
    #[arg(long, help_heading = "Emulator")]
    no_detect: bool,
    /// Ends a run after this many warp-instructions [default: 2000000000].
    #[arg(long, help_heading = "Emulator", value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_steps: Option<u64>,
    /// Memory for arguments in MiB [default: 512].
    #[arg(long, help_heading = "Emulator", value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    device_memory: Option<u64>,
    /// Writes a timeline of the first schedule of the first size, for ui.perfetto.dev.
    #[arg(long, help_heading = "Emulator", value_name = "FILE")]
    trace: Option<PathBuf>,

    /// Measures after the check.
    #[arg(long, help_heading = "Measuring")]
    bench: bool,
    /// Also measures a copy on the device that moves as many bytes, and prints the ratio.
    #[arg(long, help_heading = "Measuring")]
    bench_copy: bool,
    /// Measured launches.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 100,
        help_heading = "Measuring"
    )]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100_000))]
    iterations: u32,
    /// Launches before them.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 10,
        help_heading = "Measuring"
    )]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=100_000))]
    warm_up: u32,
    /// Bytes moved per launch, as a grid expression such as 'dim(0, 0) * 12' [default: all memref
    /// arguments once].
    #[arg(long, value_name = "EXPR", help_heading = "Measuring")]
    bytes: Option<String>,
    /// Floating-point operations per launch, as a grid expression; prints TFLOP/s.
    #[arg(long, value_name = "EXPR", help_heading = "Measuring")]
    flops: Option<String>,
}

impl RunArgs {
    /// The name of an option of the emulator that was given, if any was.
    fn emulator_option(&self) -> Option<&'static str> {
        let all = [
            ("schedules", self.schedules.is_some()),
            ("schedule", self.schedule.is_some()),
            ("schedule-seed", self.schedule_seed.is_some()),
            ("strict", self.strict),
            ("no-detect", self.no_detect),
            ("max-steps", self.max_steps.is_some()),
            ("device-memory", self.device_memory.is_some()),
            ("trace", self.trace.is_some()),
        ];
        all.into_iter()
            .find(|(_, given)| *given)
            .map(|(name, _)| name)
    }

    fn emulator(&self) -> EmulatorOptions {
        let default = EmulatorOptions::default();
        let all = 0..self.schedules.unwrap_or(DEFAULT_SCHEDULES);
        EmulatorOptions {
            schedules: self.schedule.map_or(all, |n| n..n.saturating_add(1)),
            schedule_seed: self.schedule_seed.unwrap_or(default.schedule_seed),
            detect: !self.no_detect,
            strict: self.strict,
            trace: self.trace.is_some(),
            max_steps: self.max_steps.unwrap_or(default.max_steps),
            memory: self.device_memory.map_or(DEFAULT_MEMORY, |mib| mib << 20),
        }
    }
}

/// Runs the program with the arguments of this process.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are no errors; printing can only fail if nobody reads.
            let code = if error.use_stderr() {
                EXIT_UNUSABLE
            } else {
                EXIT_RIGHT
            };
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    let mut out = io::stdout().lock();
    let result = dispatch(cli, &mut out);
    let flushed = out.flush();
    let outcome = result.and_then(|outcome| flushed.map(|()| outcome).map_err(RunError::Output));
    match outcome {
        Ok(Outcome {
            right,
            device_hangs,
        }) => {
            let code = if right { EXIT_RIGHT } else { EXIT_WRONG };
            if device_hangs {
                cuda::exit_immediately(code);
            }
            ExitCode::from(code)
        }
        Err(error) => {
            // Standard error may be closed; the exit code still says it.
            let _ = writeln!(io::stderr(), "{}", error.line());
            ExitCode::from(error.exit_code())
        }
    }
}

fn dispatch(cli: Cli, out: &mut dyn Write) -> Result<Outcome, RunError> {
    match (cli.command, cli.run) {
        (Some(Commands::Counts(args)), _) => {
            counts::command(&args.ptx, args.sass.as_deref(), args.kernel.as_deref(), out)?;
        }
        (Some(Commands::Summary(args)), _) => {
            for path in &args.manifests {
                let text = summary::summary(&run::read_manifest(path)?);
                out.write_all(text.as_bytes()).map_err(RunError::Output)?;
            }
        }
        (None, Some(args)) => return run::run(&request(args)?, out),
        // Without any argument clap has printed the help.
        (None, None) => {}
    }
    Ok(Outcome::RIGHT)
}

fn request(args: RunArgs) -> Result<Request, RunError> {
    let (emulator, emulator_option) = (args.emulator(), args.emulator_option());
    let expect = args.expect.iter().map(|text| Expectation::parse(text));
    let expression = |option, text: Option<String>| {
        text.map(|text| {
            let parsed = text.parse();
            parsed.map_err(|source| RunError::Expression {
                option,
                text,
                source,
            })
        })
        .transpose()
    };
    let bench = BenchOptions {
        runs: Runs {
            warm_up: args.warm_up,
            iterations: args.iterations,
        },
        copy: args.bench_copy,
        bytes: expression("bytes", args.bytes)?,
        flops: expression("flops", args.flops)?,
    };
    Ok(Request {
        values: ValueOptions {
            expect: expect.collect::<Result<_, _>>()?,
            expect_file: args.expect_file,
            input: args.input_file,
            fill: args.fill,
            seed: args.seed,
            tolerance: args.tolerance,
        },
        bind: BindOptions {
            sizes: args.size,
            pitches: args.pitch,
            misalign: args.misalign,
            scalars: args.arg,
        },
        input: args.input,
        manifest: args.manifest,
        kernel: args.kernel,
        device: args.device,
        ordinal: args.ordinal,
        emulator,
        emulator_option,
        timeout: args.timeout.map(Duration::from_secs),
        trace: args.trace,
        report: args.report,
        report_file: args.report_file,
        target: args.target,
        stages: args.stages,
        lengths: args.lengths.map(|lengths| lengths.0),
        grid: args.grid,
        save: args.save,
        bench: (args.bench || args.bench_copy).then_some(bench),
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
