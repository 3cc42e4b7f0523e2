//! The language's compiler as a tool.

use async_pipeline::builder::Kernel;
use embed::{
    cli::{self, Command, Emit, HELP},
    compile::compile,
    kernels,
    source::Source,
};
use std::{
    fs,
    io::{self, Read, Write},
    path::PathBuf,
    process::ExitCode,
};

/// A program is refused.
const REFUSED: u8 = 1;
/// The call is wrong, or a file cannot be read or written.
const BAD_CALL: u8 = 2;

fn main() -> ExitCode {
    let mut arguments = Vec::new();
    for argument in std::env::args_os().skip(1) {
        match argument.into_string() {
            Ok(argument) => arguments.push(argument),
            Err(argument) => {
                return bad_call(&format!("expected UTF-8, got {}", argument.display()));
            }
        }
    }
    match cli::parse(arguments) {
        Ok(Command::Help) => match io::stdout().write_all(HELP.as_bytes()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => bad_call(&format!("cannot write: {error}")),
        },
        Ok(Command::Compile {
            file,
            emit,
            targets,
            out,
        }) => {
            let source = match read(&file) {
                Ok(source) => source,
                Err(message) => return bad_call(&message),
            };
            let kernels = match kernels(&source) {
                Ok(kernels) => kernels,
                Err(errors) => {
                    for error in errors {
                        eprint!("{}", source.render(&error));
                    }
                    return ExitCode::from(REFUSED);
                }
            };
            let made = match emit {
                Emit::Tile => Ok(kernels
                    .iter()
                    .map(|kernel| (format!("{}.mlir", kernel.name()), kernel.to_string()))
                    .collect()),
                Emit::Ptx => compiled(&source, &kernels, &targets),
            };
            match made {
                Ok(files) => match write(files, out) {
                    Ok(()) => ExitCode::SUCCESS,
                    Err(message) => bad_call(&message),
                },
                Err(Refused) => ExitCode::from(REFUSED),
            }
        }
        Err(message) => bad_call(&format!("{message}; see embed --help")),
    }
}

fn bad_call(message: &str) -> ExitCode {
    eprintln!("embed: {message}");
    ExitCode::from(BAD_CALL)
}

fn read(file: &str) -> Result<Source, String> {
    if file != "-" {
        let text = fs::read_to_string(file);
        let text = text.map_err(|error| format!("cannot read {file}: {error}"))?;
        return Ok(Source::new(file, &text));
    }
    let mut text = String::new();
    match io::stdin().read_to_string(&mut text) {
        Ok(_) => Ok(Source::new("<stdin>", &text)),
        Err(error) => Err(format!("cannot read the standard input: {error}")),
    }
}

/// A program is refused; why is on the standard error.
struct Refused;

type Files = Vec<(String, String)>;

/// PTX and manifest of every kernel for every target.
fn compiled(
    source: &Source,
    kernels: &[Kernel],
    targets: &[async_pipeline::Target],
) -> Result<Files, Refused> {
    let mut files = Vec::new();
    let mut refused = false;
    for kernel in kernels {
        for target in targets {
            let (artifact, messages) = compile(source, kernel, *target);
            eprint!("{messages}");
            let Some(artifact) = artifact else {
                refused = true;
                continue;
            };
            let stem = format!("{}.{target}", kernel.name());
            files.push((format!("{stem}.ptx"), artifact.ptx));
            files.push((format!("{stem}.json"), artifact.manifest.to_json()));
        }
    }
    if refused { Err(Refused) } else { Ok(files) }
}

fn write(files: Files, out: Option<PathBuf>) -> Result<(), String> {
    let Some(folder) = out else {
        let mut stdout = io::stdout().lock();
        let several = files.len() > 1;
        for (name, text) in files {
            let head = if several {
                format!("==> {name} <==\n")
            } else {
                String::new()
            };
            let done = stdout.write_all(format!("{head}{}\n", text.trim_end()).as_bytes());
            done.map_err(|error| format!("cannot write {name}: {error}"))?;
        }
        return Ok(());
    };
    let cannot = |path: &PathBuf, error| format!("cannot write {}: {error}", path.display());
    fs::create_dir_all(&folder).map_err(|error| cannot(&folder, error))?;
    for (name, text) in files {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| cannot(&path, error))?;
    }
    Ok(())
}
