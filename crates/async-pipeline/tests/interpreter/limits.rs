//! Input that no kernel should be made of: located errors, typed refusals, an end.

use super::{program, run, texts::kernel, try_programs, vectors};
use async_pipeline::{
    Target,
    interpreter::{
        ArgumentValue, Completion, Fault, Interpreter, LaunchError, LaunchInput, Order, Schedule,
    },
    program::extract::{MAX_NESTING, Problem},
};

fn in_kernel(body: &str) -> String {
    format!("gpu.module @m {{ gpu.func @k() kernel {{ {body} gpu.return }} }}")
}

#[track_caller]
fn refusal(body: &str) -> Problem {
    try_programs(&in_kernel(body))
        .expect_err("this has no program form")
        .problem
}

#[test]
fn what_cannot_be_interpreted_is_named() {
    let printf = refusal("gpu.printf \"x\"");
    assert_eq!(printf.to_string(), "cannot interpret 'gpu.printf'");
    let channel =
        refusal("%in = async_pipeline.channel.create \"in\" : !async_pipeline.channel<64xf32>");
    assert_eq!(
        channel,
        Problem::ChannelLevel("async_pipeline.channel.create".to_owned())
    );
    let wide = refusal("%x = arith.constant 1 : i128");
    assert!(
        matches!(wide, Problem::UnknownType(_) | Problem::UnknownForm { .. }),
        "{wide}"
    );
    let large = refusal("%x = arith.constant dense<0.0> : vector<1048576xf32>");
    assert!(matches!(large, Problem::UnknownType(_)), "{large}");
    let branches = refusal("cf.br ^next\n^next:");
    assert_eq!(branches, Problem::Unstructured);
    let many = refusal(
        "%a = async_pipeline.mbarrier.alloc \"a\" : !async_pipeline.mbarrier<1000>
         %b = async_pipeline.mbarrier.alloc \"b\" : !async_pipeline.mbarrier<1000>",
    );
    assert_eq!(many, Problem::TooManyBarriers(2000));
}

#[test]
fn deep_nesting_ends_in_an_error() {
    let depth = MAX_NESTING + 10;
    let body = format!(
        "%true = arith.constant true {} {}",
        "scf.if %true {".repeat(depth),
        "}".repeat(depth)
    );
    assert_eq!(refusal(&body), Problem::TooDeep);
    let legal = format!(
        "%true = arith.constant true {} {}",
        "scf.if %true {".repeat(MAX_NESTING - 2),
        "}".repeat(MAX_NESTING - 2)
    );
    let program = program(&in_kernel(&legal));
    let schedule = Schedule {
        order: Order::RoundRobin,
        completion: Completion::Early,
    };
    assert!(run(&program, Target::Sm80, Vec::new(), schedule).is_clean());
}

#[test]
fn loops_without_end_are_given_up() {
    let for_ever = "%true = arith.constant true
        scf.while : () -> () { scf.condition(%true) } do { scf.yield }";
    let long = "%c0 = arith.constant 0 : index %c1 = arith.constant 1 : index
        %n = arith.constant 9000000000000000000 : index scf.for %i = %c0 to %n step %c1 { }";
    for body in [for_ever, long] {
        let input = LaunchInput {
            max_steps: 100_000,
            ..LaunchInput::new(Target::Sm80, Vec::new())
        };
        let outcome = Interpreter::run(&program(&in_kernel(body)), &input).unwrap();
        let faults: Vec<_> = outcome.reports.iter().map(|report| &report.fault).collect();
        assert!(
            matches!(faults[..], [Fault::StepBound { .. }]),
            "{faults:?}"
        );
    }
}

#[test]
fn launches_that_do_not_fit_are_refused() {
    let program = program(super::texts::CP_ASYNC_RING);
    let refuse = |arguments, change: &dyn Fn(&mut LaunchInput)| {
        let mut input = LaunchInput::new(Target::Sm80, arguments);
        change(&mut input);
        Interpreter::run(&program, &input).expect_err("this launch does not fit")
    };
    let none = refuse(Vec::new(), &|_| {});
    assert_eq!(
        none,
        LaunchError::ArgumentCount {
            expected: 3,
            got: 0
        }
    );
    let kind = refuse(vec![ArgumentValue::Integer(1); 3], &|_| {});
    assert!(matches!(kind, LaunchError::ArgumentKind { index: 0, .. }));
    let mut short = vectors(8);
    short[1] = ArgumentValue::MemRef {
        shape: vec![8],
        strides: None,
        data: vec![0; 31],
    };
    assert_eq!(
        refuse(short, &|_| {}),
        LaunchError::Data {
            index: 1,
            expected: 32,
            got: 31
        }
    );
    let mut huge = vectors(8);
    huge[0] = ArgumentValue::MemRef {
        shape: vec![u64::MAX],
        strides: None,
        data: Vec::new(),
    };
    assert!(matches!(
        refuse(huge, &|_| {}),
        LaunchError::Shape { index: 0, .. }
    ));
    let mut flat = vectors(8);
    flat[0] = ArgumentValue::f32(&[2, 4], &[0.0; 8]);
    assert!(matches!(
        refuse(flat, &|_| {}),
        LaunchError::Shape { index: 0, .. }
    ));
    let grid = refuse(vectors(8), &|input| input.grid = [u32::MAX; 3]);
    assert!(matches!(grid, LaunchError::Grid { .. }));
}

#[test]
fn more_shared_memory_than_there_is_is_refused() {
    let text = in_kernel(
        "%b = async_pipeline.buffer.alloc \"b\" : !async_pipeline.buffer<64, 256x256xf32>",
    );
    let input = LaunchInput::new(Target::Sm80, Vec::new());
    let refused = Interpreter::run(&program(&text), &input).unwrap_err();
    assert!(
        matches!(refused, LaunchError::SharedMemory { .. }),
        "{refused}"
    );
}

#[test]
fn thread_memory_has_a_limit() {
    let text = in_kernel(
        "%n = arith.constant 1000000000000 : index %m = memref.alloca(%n, %n) : memref<?x?xf32>",
    );
    let input = LaunchInput::new(Target::Sm80, Vec::new());
    let outcome = Interpreter::run(&program(&text), &input).unwrap();
    assert!(matches!(
        outcome.reports[0].fault,
        Fault::LocalMemory { .. }
    ));
}

#[test]
fn reports_beyond_the_limit_are_counted() {
    let divisions: String = (0..10)
        .map(|n| format!("%x{n} = arith.divui %c1, %c0 : index\n"))
        .collect();
    let text = kernel(
        "",
        &[],
        &format!("async_pipeline.role @r warps(1) elected {{ {divisions} }}"),
    );
    let argument = ArgumentValue::f32(&[1024], &[0.0; 1024]);
    let input = LaunchInput {
        max_reports: 3,
        ..LaunchInput::new(Target::Sm80, vec![argument])
    };
    let outcome = Interpreter::run(&program(&text), &input).unwrap();
    assert_eq!((outcome.reports.len(), outcome.more_reports), (3, 7));
}

#[test]
fn reports_carry_source_places() {
    let text = "gpu.module @m {\n gpu.func @k() kernel {\n  %c0 = arith.constant 0 : index\n  \
                %x = arith.divui %c0, %c0 : index loc(\"kernel.py\":12:5)\n  gpu.return\n }\n}";
    let outcome =
        Interpreter::run(&program(text), &LaunchInput::new(Target::Sm80, Vec::new())).unwrap();
    assert_eq!(outcome.reports[0].place.to_string(), "kernel.py:12:5");
    assert_eq!(outcome.reports[0].count, 32);
}
