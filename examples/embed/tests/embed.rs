//! The language from the outside: what is refused and how, what kernels compute, and the tool.

#[path = "embed/errors.rs"]
mod errors;
#[path = "embed/numbers.rs"]
mod numbers;
#[path = "embed/tool.rs"]
mod tool;

use embed::source::Source;
use std::{env, fs, path::Path};

const SAMPLES: [&str; 3] = ["linear", "residual", "gated"];

fn sample(name: &str) -> Source {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("samples/{name}.embed"));
    let text = fs::read_to_string(path).expect("the sample is there");
    Source::new(&format!("{name}.embed"), &text)
}

/// The tile-level kernels of a program, or its messages.
fn kernels(source: &Source) -> Result<Vec<async_pipeline::builder::Kernel>, String> {
    embed::kernels(source)
        .map_err(|errors| errors.iter().map(|error| source.render(error)).collect())
}

#[test]
fn the_tile_level_of_every_sample_is_as_stored() {
    for name in SAMPLES {
        let made = kernels(&sample(name)).expect("a right program");
        let made: String = made.iter().map(|kernel| kernel.text()).collect();
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.mlir"));
        if env::var_os("BLESS").is_some() {
            fs::write(&path, &made).expect("tests/golden can be written");
        }
        let stored = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            stored == made,
            "tests/golden/{name}.mlir differs; if that is right: BLESS=1 cargo test"
        );
    }
}
