//! What is compiled when compile time is measured.

use async_pipeline::{CompileError, CompileOptions, Compiler, Target};
use std::{fs, path::Path};

/// Names and texts of all examples and of the products of tests/tile, in order of their names.
pub(crate) fn examples() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let entries = fs::read_dir(root.join("examples")).expect("the folder is there");
    let mut found: Vec<(String, String)> = entries
        .map(|entry| entry.expect("the folder can be read").path())
        .chain([root.join("tests/tile/gemm_128x128x32.mlir")])
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "mlir")
        })
        .map(|path| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let text = fs::read_to_string(&path).expect("the example can be read");
            (name.into_owned(), text)
        })
        .collect();
    found.sort();
    found
}

/// A compiler with default options.
pub(crate) fn compiler(target: Target) -> Compiler {
    let options = CompileOptions::builder(target).build();
    Compiler::new(options.expect("legal options"))
}

/// Whether a target has no form for an example; any other failure ends the run.
pub(crate) fn refused<T>(result: Result<T, CompileError>) -> bool {
    match result {
        Ok(_) => false,
        Err(CompileError::Rejected(_)) => true,
        Err(error) => panic!("{error}"),
    }
}
