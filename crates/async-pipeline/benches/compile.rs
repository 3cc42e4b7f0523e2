//! Text to PTX, in process: the examples for every target that takes them.
#![allow(missing_docs, reason = "criterion makes the functions")]

mod examples;

use async_pipeline::Target;
use criterion::{Criterion, criterion_group, criterion_main};
use examples::{compiler, examples, refused};

fn compile(criterion: &mut Criterion) {
    for (name, text) in examples() {
        let mut group = criterion.benchmark_group(name);
        for target in Target::ALL {
            let compiler = compiler(target);
            if refused(compiler.compile(&text)) {
                continue;
            }
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
