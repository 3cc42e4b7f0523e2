//! Text to PTX, in process: the examples for every target.
#![allow(missing_docs, reason = "criterion makes the functions")]

use async_pipeline::{CompileOptions, Compiler, Target};
use criterion::{Criterion, criterion_group, criterion_main};
use std::{fs, path::Path};

fn compile(criterion: &mut Criterion) {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for name in ["stream_add", "stream_scale_2d", "handwritten_ring"] {
        let path = examples.join(format!("{name}.mlir"));
        let text = fs::read_to_string(path).expect("the example is there");
        let mut group = criterion.benchmark_group(name);
        for target in Target::ALL {
            let options = CompileOptions::builder(target)
                .build()
                .expect("legal options");
            let compiler = Compiler::new(options);
            group.bench_function(target.to_string(), |bencher| {
                bencher.iter(|| compiler.compile(&text).expect("the example compiles"));
            });
        }
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = compile
}
criterion_main!(benches);
