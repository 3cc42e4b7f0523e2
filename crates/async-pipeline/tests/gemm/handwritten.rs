//! The harness on a kernel written by hand for sm_100a: it accepts the right one, and finds every
//! planted error.

use crate::{
    harness::{Compiled, Failure, Memories, Run, Sizes, check_memory, images, named},
    reference::Reference,
    text,
};
use async_pipeline::Target;
use pipeline_run::bind::Binding;

fn kernel() -> String {
    text("tests/tensor/gemm_sm100.mlir").expect("the kernel is there")
}

/// The kernel with one place changed.
fn with(from: &str, to: &str) -> Compiled {
    let text = kernel();
    assert!(text.contains(from), "{from}");
    compiled(&text.replacen(from, to, 1))
}

fn compiled(text: &str) -> Compiled {
    Compiled::new(text, Target::Sm100a).unwrap_or_else(|error| panic!("{error}"))
}

fn run(kernel: &Compiled, sizes: Sizes, memories: Memories) -> Result<Run, Failure> {
    kernel.emulate(&kernel.options(sizes, memories), 3, 1)
}

#[test]
fn right_products_are_accepted() {
    let kernel = compiled(&kernel());
    assert_eq!(kernel.stages(), 3);
    for (sizes, memories) in [
        (Sizes::new(1, 8, 8), Memories::Spread),
        (Sizes::new(127, 136, 72), Memories::Spread),
        (Sizes::new(40, 24, 7 * 64 - 8), Memories::Tight),
    ] {
        let run =
            run(&kernel, sizes, memories).unwrap_or_else(|error| panic!("{sizes:?}: {error}"));
        let right = Reference::product(&run, sizes).check(&run, sizes);
        right.unwrap_or_else(|error| panic!("{sizes:?}: {error}"));
    }
}

#[test]
fn a_result_a_little_too_far_away_is_found() {
    let kernel = compiled(&kernel());
    let sizes = Sizes::new(3, 8, 72);
    let mut run = run(&kernel, sizes, Memories::Tight).unwrap_or_else(|error| panic!("{error}"));
    let reference = Reference::product(&run, sizes);
    let allowed = 2_f64.powi(-24) * reference.c[13].abs() + 2_f64.powi(-18) * reference.scale[13];
    run.c[13] = reference.c[13] + 0.99 * allowed;
    assert_eq!(reference.check(&run, sizes), Ok(()));
    for wrong in [reference.c[13] + 1.01 * allowed, f64::NAN] {
        run.c[13] = wrong;
        let error = reference.check(&run, sizes).expect_err("too far away");
        assert!(error.starts_with("C[1, 5] is "), "{error}");
    }
}

#[test]
fn planted_errors_of_synchronisation_are_found() {
    let wait = "async_pipeline.mbarrier.wait %full[%stage], %parity : !async_pipeline.mbarrier<3>\n          async_pipeline.tcgen05.fence_after";
    let planted = [
        // The load role goes round a ring of two, the multiply role round one of three.
        (
            "%wrap = arith.cmpi eq, %up, %three",
            "%wrap = arith.cmpi eq, %up, %two",
            "deadlock",
        ),
        (wait, "", "read-before-complete"),
        (
            "arith.constant 32768 : i32",
            "arith.constant 16384 : i32",
            "read-before-complete",
        ),
        (
            "mbarrier.init %empty count(1)",
            "mbarrier.init %empty count(2)",
            "deadlock",
        ),
        (
            "%done[%zero], %zero : !async_pipeline.mbarrier<1>\n        async_pipeline.tcgen05.fence_after",
            "%done[%zero], %zero : !async_pipeline.mbarrier<1>",
            "missing-tensor-fence",
        ),
    ];
    for (from, to, expected) in planted {
        let text = kernel().replace(
            "%three = arith.constant 3 : i32",
            "%three = arith.constant 3 : i32\n    %two = arith.constant 2 : i32",
        );
        assert!(text.contains(from), "{from}");
        let kernel = compiled(&text.replacen(from, to, 1));
        match run(&kernel, Sizes::new(128, 128, 320), Memories::Tight) {
            Err(Failure::Defect(report)) if report.contains(expected) => {}
            Err(other) => panic!("`{from}`: expected a defect with {expected}, got {other}"),
            Ok(_) => panic!("`{from}` is missing and nothing noticed"),
        }
    }
}

#[test]
fn planted_errors_of_addresses_are_found() {
    let sizes = Sizes::new(127, 136, 72);
    let kernel = with(
        "%inside = arith.cmpi ult, %row, %rows",
        "%inside = arith.cmpi ule, %row, %rows",
    );
    match run(&kernel, sizes, Memories::Tight) {
        Err(Failure::Defect(_)) => {}
        Err(other) => panic!("expected an access outside C, got {other}"),
        Ok(_) => panic!("a row too many was not noticed"),
    }
    let kernel = with("arith.subi %cols, %col", "arith.addi %cols, %c0");
    match run(&kernel, sizes, Memories::Tight) {
        Err(Failure::Defect(_)) => {}
        Err(other) => panic!("expected two writers of one element, got {other}"),
        Ok(_) => panic!("columns too many were not noticed"),
    }
    // The second tile of B again and again.
    let kernel = with("%k = arith.muli %step, %c64", "%k = arith.muli %c1, %c64");
    let run = run(&kernel, sizes, Memories::Tight).unwrap_or_else(|error| panic!("{error}"));
    let wrong = Reference::product(&run, sizes).check(&run, sizes);
    wrong.expect_err("a wrong sum");
}

#[test]
fn bytes_around_arguments_and_in_gaps_are_watched() {
    let kernel = compiled(&kernel());
    let options = kernel.options(Sizes::new(3, 8, 8), Memories::Spread);
    let binding = Binding::new(&kernel.kernel, &options).expect("a right launch");
    let before = images(&binding, 1);
    assert!(check_memory(&binding, &before, &before).is_ok());
    // A's rows of 16 bytes are 32 apart; byte 4 is an element, byte 20 is between two rows.
    for (argument, offset, expected) in [
        (0, 4_isize, "A was written to"),
        (0, 20, "around A"),
        (1, -1, "around B"),
        (2, 96, "around C"),
    ] {
        let mut after = before.clone();
        let at = after[argument]
            .start()
            .checked_add_signed(offset)
            .expect("inside");
        after[argument].bytes_mut()[at] ^= 1;
        let damage = check_memory(&binding, &before, &after).expect_err("a changed byte");
        assert!(damage.to_string().contains(expected), "{damage}");
    }
}

#[test]
fn launches_outside_the_contract_are_refused() {
    let kernel = compiled(&kernel());
    let sizes = Sizes::new(40, 24, 72);
    crate::tiles::refuses_misaligned(&kernel, sizes, &["A", "B", "C"]);
    let mut options = kernel.options(sizes, Memories::Tight);
    options.pitches.push(named("A", 64));
    match kernel.emulate(&options, 1, 1) {
        Err(Failure::Launch(error)) => assert!(error.contains("layout"), "{error}"),
        other => panic!(
            "expected rows that overlap to be refused, got {:?}",
            other.err()
        ),
    }
}
