//! The public API as an embedder uses it.

use async_pipeline::{
    CompileError, CompileOptions, Compiler, CpAsyncArrive, OptionsError, PtxVersion, Severity,
    Target,
};
use std::{fs, path::Path, thread, time::Duration};

fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../examples/{name}.mlir"));
    fs::read_to_string(path).expect("the example is there")
}

fn compiler(target: Target) -> Compiler {
    Compiler::new(
        CompileOptions::builder(target)
            .build()
            .expect("legal options"),
    )
}

const EXAMPLES: [&str; 3] = ["stream_add", "stream_scale_2d", "handwritten_ring"];

#[test]
fn every_example_compiles_for_every_target() {
    for name in EXAMPLES {
        for target in Target::ALL {
            let artifact = compiler(target).compile(&example(name)).expect("compiles");
            assert!(
                artifact.ptx.contains(&format!(".target {target}")),
                "{name} {target}"
            );
            assert_eq!(artifact.manifest.kernels.len(), 1);
            assert_eq!(artifact.manifest.kernels[0].name, name);
            artifact.manifest.validate().expect("a valid manifest");
            assert!(
                artifact.diagnostics.is_empty(),
                "{:?}",
                artifact.diagnostics
            );
        }
    }
}

#[test]
fn output_does_not_depend_on_what_ran_before_or_beside() {
    let text = example("stream_add");
    let expected: Vec<_> = Target::ALL
        .map(|target| compiler(target).compile(&text).expect("compiles"))
        .into();
    // An embedder's own context, alive throughout.
    let context = melior::Context::new();
    context.load_all_available_dialects();
    // Wrong input in between must leave no trace either.
    assert!(
        compiler(Target::Sm80)
            .compile("gpu.module @x { nonsense }")
            .is_err()
    );
    thread::scope(|scope| {
        let workers: Vec<_> = (0..6)
            .map(|index| {
                let (text, target) = (&text, Target::ALL[index % 3]);
                scope.spawn(move || (index % 3, compiler(target).compile(text).expect("compiles")))
            })
            .collect();
        for worker in workers {
            let (index, artifact) = worker.join().expect("no panic");
            assert!(
                artifact == expected[index],
                "output differs on {}",
                Target::ALL[index]
            );
        }
    });
    let module = melior::ir::Module::parse(&context, "module {}");
    assert!(module.is_some(), "the embedder's context still works");
}

#[test]
fn the_plan_follows_stages_and_tile() {
    let compile = |text: &str, stages: Option<u32>| {
        let mut builder = CompileOptions::builder(Target::Sm90a);
        if let Some(stages) = stages {
            builder = builder.stages(stages);
        }
        let options = builder.build().expect("legal options");
        Compiler::new(options)
            .compile(text)
            .expect("compiles")
            .manifest
            .kernels
            .remove(0)
    };
    let text = example("stream_add");
    let own = compile(&text, None);
    assert_eq!(
        (own.channels[0].stages, own.channels[0].slot_bytes),
        (8, 8192)
    );
    let three = compile(&text, Some(3));
    assert_eq!(three.channels[0].stages, 3);
    assert_eq!(three.barriers[0].stages, 3);
    assert_eq!(three.dynamic_shared_bytes, 3 * 8192 + 2 * 3 * 8);
    let wide = compile(&text.replace("1024", "2048"), Some(3));
    assert_eq!(wide.barriers[0].tx_bytes, 2 * 2048 * 4);
    assert_eq!(wide.dynamic_shared_bytes, 3 * 16384 + 2 * 3 * 8);
    // `exactly` wins over the option.
    let pinned = compile(&text.replace("stages(8)", "stages(5) exactly"), Some(3));
    assert_eq!(pinned.channels[0].stages, 5);
}

#[test]
fn counts_follow_the_form_of_the_arrive() {
    for arrive in [CpAsyncArrive::Noinc, CpAsyncArrive::Inc] {
        let options = CompileOptions::builder(Target::Sm80)
            .cp_async_arrive(arrive)
            .build();
        let artifact =
            Compiler::new(options.expect("legal options")).compile(&example("stream_add"));
        let artifact = artifact.expect("compiles");
        let full = &artifact.manifest.kernels[0].barriers[0];
        assert_eq!((full.name.as_str(), full.arrival_count), ("in.full", 128));
        let noinc = artifact
            .ptx
            .matches("cp.async.mbarrier.arrive.noinc")
            .count();
        let inc = artifact
            .ptx
            .matches("cp.async.mbarrier.arrive.shared")
            .count();
        assert_eq!(noinc > 0, arrive == CpAsyncArrive::Noinc);
        assert_eq!(inc > 0, arrive == CpAsyncArrive::Inc);
    }
}

#[test]
fn stages_of_a_compile_take_time_and_no_more_than_all_of_it() {
    let (compiler, text) = (compiler(Target::Sm90a), example("stream_add"));
    let (artifact, timings) = compiler.compile_timed(&text).expect("compiles");
    assert_eq!(artifact, compiler.compile(&text).expect("compiles"));
    let stages = [
        timings.parse,
        timings.passes,
        timings.llvm_passes,
        timings.emission,
    ];
    assert!(stages.iter().all(|stage| !stage.is_zero()), "{timings:?}");
    let sum: Duration = stages.iter().sum();
    assert!(sum <= timings.total, "{timings:?}");
}

#[test]
fn wrong_kernels_are_rejected_with_their_place() {
    let text = example("stream_add").replace(
        "async_pipeline.channel.release",
        "async_pipeline.channel.relaese",
    );
    let Err(CompileError::Rejected(diagnostics)) = compiler(Target::Sm90a).compile(&text) else {
        panic!("expected the kernel to be rejected");
    };
    let line = text
        .lines()
        .position(|line| line.contains("relaese"))
        .expect("is there")
        + 1;
    assert_eq!(diagnostics[0].severity, Severity::Error);
    assert!(
        diagnostics[0].location.contains(&format!(":{line}:")),
        "{}",
        diagnostics[0]
    );
}

#[test]
fn remarks_of_a_good_kernel_are_handed_out() {
    // A loop that fills two slots per iteration is compiled, but its loads do not run ahead.
    let text = r#"
gpu.module @kernels {
  gpu.func @k(%A: memref<?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %in = async_pipeline.channel.create "in" stages(4) : !async_pipeline.channel<64xf32>
    async_pipeline.roles {
      async_pipeline.role @all warps(4) {
        scf.for %i = %c0 to %c4 step %c1 {
          %s = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
          async_pipeline.work.copy %A[%i] to %s : memref<?xf32> to !async_pipeline.slot<64xf32>
          async_pipeline.channel.commit %s : !async_pipeline.slot<64xf32>
          %t = async_pipeline.channel.acquire %in : !async_pipeline.channel<64xf32>
          async_pipeline.work.copy %A[%i] to %t : memref<?xf32> to !async_pipeline.slot<64xf32>
          async_pipeline.channel.commit %t : !async_pipeline.slot<64xf32>
          %a = async_pipeline.channel.wait %in : !async_pipeline.channel<64xf32>
          async_pipeline.channel.release %a : !async_pipeline.slot<64xf32>
          %b = async_pipeline.channel.wait %in : !async_pipeline.channel<64xf32>
          async_pipeline.channel.release %b : !async_pipeline.slot<64xf32>
        }
      }
    }
    gpu.return
  }
}"#;
    let artifact = compiler(Target::Sm80).compile(text).expect("compiles");
    assert_eq!(artifact.diagnostics[0].severity, Severity::Remark);
}

#[test]
fn options_are_checked_when_they_are_built() {
    let builder = || CompileOptions::builder(Target::Sm80);
    assert_eq!(builder().stages(0).build(), Err(OptionsError::Stages(0)));
    assert_eq!(builder().stages(65).build(), Err(OptionsError::Stages(65)));
    assert_eq!(
        builder().wait_timeout_us(0).build(),
        Err(OptionsError::WaitTimeout(0))
    );
    assert!(builder().stages(64).wait_timeout_us(1).build().is_ok());
}

#[test]
fn a_ptx_version_without_an_instruction_is_refused() {
    let options = CompileOptions::builder(Target::Sm80)
        .ptx_version(PtxVersion::new(7, 0))
        .build();
    let result = Compiler::new(options.expect("legal options")).compile(&example("stream_add"));
    let Err(CompileError::Rejected(diagnostics)) = result else {
        panic!("expected the kernel to be rejected");
    };
    assert!(
        diagnostics[0].message.contains("PTX 7.8"),
        "{}",
        diagnostics[0]
    );
}

mod docs {
    use async_pipeline::{passes, tile_interpreter};
    use std::{env, fs, path::Path};

    /// Compares a page of the reference with what it is made from; `BLESS=1` writes it anew.
    fn check(name: &str, made: &str) {
        let page =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/reference/{name}"));
        if env::var_os("BLESS").is_some() {
            fs::write(&page, made).expect("docs/ can be written");
        }
        let stored = fs::read_to_string(&page).unwrap_or_default();
        assert!(
            stored == made,
            "docs/reference/{name} is stale; run ./dev doc"
        );
    }

    #[test]
    fn the_page_of_passes_is_up_to_date() {
        check("passes.md", &passes::render_markdown());
    }

    #[test]
    fn the_page_of_math_is_up_to_date() {
        check("math.md", &passes::render_math_markdown());
    }

    #[test]
    fn the_page_of_tile_semantics_is_up_to_date() {
        check("tile-semantics.md", &tile_interpreter::render_markdown());
    }
}
