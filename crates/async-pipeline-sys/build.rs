//! Generates the dialect's C++ from ODS and compiles it with the shim.

use std::{
    env,
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

const GENERATED: &[(&str, &str)] = &[
    ("AsyncPipelineDialect.h.inc", "-gen-dialect-decls"),
    ("AsyncPipelineDialect.cpp.inc", "-gen-dialect-defs"),
    ("AsyncPipelineTypes.h.inc", "-gen-typedef-decls"),
    ("AsyncPipelineTypes.cpp.inc", "-gen-typedef-defs"),
    ("AsyncPipelineAttrs.h.inc", "-gen-attrdef-decls"),
    ("AsyncPipelineAttrs.cpp.inc", "-gen-attrdef-defs"),
    ("AsyncPipelineOps.h.inc", "-gen-op-decls"),
    ("AsyncPipelineOps.cpp.inc", "-gen-op-defs"),
];

fn main() -> Result<(), Box<dyn Error>> {
    let prefix = PathBuf::from(
        env::var("MLIR_SYS_220_PREFIX")
            .map_err(|_| "MLIR_SYS_220_PREFIX is not set: it names the prefix of LLVM/MLIR 22")?,
    );
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let dialect = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../../dialect");
    println!("cargo::rerun-if-env-changed=MLIR_SYS_220_PREFIX");
    println!("cargo::rerun-if-changed={}", dialect.display());

    let include = prefix.join("include");
    for (file, action) in GENERATED {
        run(Command::new(prefix.join("bin/mlir-tblgen"))
            .arg(action)
            .args(
                if action.contains("typedef")
                    || action.contains("attrdef")
                    || action.contains("dialect")
                {
                    &["-dialect=async_pipeline"][..]
                } else {
                    &[]
                },
            )
            .arg("-I")
            .arg(&include)
            .arg("-I")
            .arg(&dialect)
            .arg(dialect.join("AsyncPipeline.td"))
            .arg("-o")
            .arg(out.join(file)))?;
    }
    fs::write(out.join("AsyncPipelineOpNames.inc"), verified_ops(&out)?)?;

    let debug = env::var("PROFILE").is_ok_and(|profile| profile == "debug");
    let mut build = cc::Build::new();
    build
        .cpp(true)
        .std("c++17")
        .include(&dialect)
        // Generated code is not ours to keep free of warnings.
        .flag("-isystem")
        .flag(out.display().to_string())
        .flag("-isystem")
        .flag(include.display().to_string())
        .flag("-fno-exceptions")
        .flag("-Wall")
        .flag("-Wextra")
        .flag("-Wno-misleading-indentation")
        .define("_GNU_SOURCE", None)
        .define("__STDC_CONSTANT_MACROS", None)
        .define("__STDC_FORMAT_MACROS", None)
        .define("__STDC_LIMIT_MACROS", None)
        // The shim forwards; without optimisation it compiles faster.
        .opt_level(if debug { 0 } else { 2 })
        .debug(false);
    if debug {
        build.define("AP_VERIFY_EACH", None);
    }
    for file in ["Dialect.cpp", "RustPass.cpp", "Driver.cpp"] {
        build.file(dialect.join(file));
    }
    build.compile("async_pipeline_dialect");
    Ok(())
}

/// `VERIFY(Op)` for every generated op class that declares a verifier.
fn verified_ops(out: &Path) -> Result<String, Box<dyn Error>> {
    let classes = fs::read_to_string(out.join("AsyncPipelineOps.h.inc"))?;
    let mut text = String::new();
    for line in classes.lines() {
        if let Some(rest) = line.strip_prefix("class ")
            && let Some((name, _)) = rest.split_once(" : public ::mlir::Op<")
        {
            text += &format!("VERIFY(async_pipeline::{name})\n");
        }
    }
    if text.is_empty() {
        return Err("mlir-tblgen wrote no op classes".into());
    }
    Ok(text)
}

fn run(command: &mut Command) -> Result<(), Box<dyn Error>> {
    let output = command
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{command:?}\n{}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(())
}
