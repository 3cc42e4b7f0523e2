//! The tile level's products against the tile interpreter, for every target that takes them.

use crate::{
    harness::{Compiled, Failure, Memories, Sizes, images, named, prepare},
    reference::{Reference, unrounded},
    text,
};
use async_pipeline::{Sync, Target};
use pipeline_run::{
    bind::Binding,
    device::{Device, Value},
    options::SizeOption,
    plan,
};

const GEMM: &str = "examples/gemm.mlir";
const FUSED: &str = "examples/gemm_bias_gelu.mlir";

/// What schedules and memory contents are drawn from.
const SEEDS: [u64; 2] = [1, 7];

/// The kernel compiled for each target, for sm_80 with mbarriers and with groups.
///
/// sm_90a may refuse one, and is then left out; the other targets may not.
fn compiled(text: &str) -> Vec<(Target, Compiled)> {
    let mut all = Vec::new();
    for target in Target::ALL {
        match Compiled::new(text, target) {
            Ok(kernel) => all.push((target, kernel)),
            Err(error) if target == Target::Sm90a => eprintln!("left out: {target}: {error}"),
            Err(error) => panic!("{target}: {error}"),
        }
    }
    let groups = Compiled::with(text, Target::Sm80, Sync::Groups);
    let groups = groups.unwrap_or_else(|error| panic!("sm_80 in groups: {error}"));
    all.push((Target::Sm80, groups));
    all
}

/// How a result is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// The tile interpreter.
    Interpreter,
    /// The product in f64.
    Product,
}

/// Runs every target on one size, under `schedules` schedules for every seed.
fn check(
    kernels: &[(Target, Compiled)],
    text: &str,
    sizes: Sizes,
    how: (By, Memories),
    seeds: &[u64],
    schedules: u64,
) {
    let (by, memories) = how;
    for &seed in seeds {
        // Inputs depend on sizes and seed only, so that all targets have the same reference.
        let mut reference = None;
        for (target, kernel) in kernels {
            let options = kernel.options(sizes, memories);
            let run = kernel
                .emulate(&options, schedules, seed)
                .unwrap_or_else(|error| panic!("{target}, {sizes:?}, seed {seed}: {error}"));
            let reference = reference.get_or_insert_with(|| match by {
                By::Interpreter => Reference::interpreted(text, &run, sizes),
                By::Product => Reference::product(&run, sizes),
            });
            let right = reference.check(&run, sizes);
            right.unwrap_or_else(|error| panic!("{target}, {sizes:?}, seed {seed}: {error}"));
        }
    }
}

/// Numbers of steps along K from none to one more than twice the ring, with a last step that is
/// whole and one that is not.
fn depths(kernels: &[(Target, Compiled)]) -> Vec<u64> {
    let stages = kernels.iter().map(|(_, kernel)| kernel.stages()).max();
    let steps = 1..=2 * stages.unwrap_or(1) + 1;
    [0].into_iter()
        .chain(steps.flat_map(|i| [64 * i - 8, 64 * i]))
        .collect()
}

#[test]
fn products_are_what_the_interpreter_says() {
    let Some(text) = text(GEMM) else { return };
    let kernels = compiled(&text);
    for (sizes, memories) in [
        (Sizes::new(1, 8, 8), Memories::Spread),
        (Sizes::new(127, 136, 72), Memories::Spread),
        (Sizes::new(128, 256, 64), Memories::Tight),
        (Sizes::new(129, 264, 0), Memories::Spread),
    ] {
        check(
            &kernels,
            &text,
            sizes,
            (By::Interpreter, memories),
            &SEEDS,
            4,
        );
        check(
            &kernels,
            &text,
            sizes,
            (By::Product, memories),
            &SEEDS[..1],
            1,
        );
    }
}

#[test]
fn products_go_round_the_ring() {
    let Some(text) = text(GEMM) else { return };
    let kernels = compiled(&text);
    for k in depths(&kernels) {
        let sizes = Sizes::new(40, 24, k);
        check(
            &kernels,
            &text,
            sizes,
            (By::Product, Memories::Tight),
            &SEEDS,
            3,
        );
    }
}

#[test]
fn large_products_are_right() {
    let Some(text) = text(GEMM) else { return };
    let sizes = Sizes::new(1000, 1048, 1000);
    check(
        &compiled(&text),
        &text,
        sizes,
        (By::Product, Memories::Spread),
        &SEEDS[..1],
        1,
    );
}

#[test]
fn epilogues_are_what_the_interpreter_says() {
    let Some(text) = text(FUSED) else { return };
    let kernels = compiled(&text);
    for (sizes, memories) in [
        (Sizes::new(1, 8, 8), Memories::Spread),
        (Sizes::new(127, 136, 72), Memories::Spread),
        (Sizes::new(128, 256, 64), Memories::Tight),
        (Sizes::new(40, 24, 0), Memories::Tight),
        (Sizes::new(130, 264, 200), Memories::Spread),
    ] {
        check(
            &kernels,
            &text,
            sizes,
            (By::Interpreter, memories),
            &SEEDS,
            3,
        );
    }
    for k in depths(&kernels) {
        let sizes = Sizes::new(24, 40, k);
        check(
            &kernels,
            &text,
            sizes,
            (By::Interpreter, Memories::Tight),
            &SEEDS[..1],
            3,
        );
    }
}

#[test]
fn large_epilogues_are_right() {
    let Some(text) = text(FUSED) else { return };
    let sizes = Sizes::new(1000, 1048, 1000);
    check(
        &compiled(&text),
        &text,
        sizes,
        (By::Interpreter, Memories::Spread),
        &SEEDS[..1],
        1,
    );
}

#[test]
fn products_outside_the_contract_are_refused() {
    for path in [GEMM, FUSED] {
        let Some(text) = text(path) else { continue };
        for (_, kernel) in compiled(&text) {
            refuses_misaligned(&kernel, Sizes::new(40, 24, 72), &["A", "B", "C"]);
        }
    }
}

/// Rows or a base that are no multiples of 16 bytes are an error, whoever finds them first: the
/// binding of arguments, the plan of a launch, or the tensor map.
pub(crate) fn refuses_misaligned(kernel: &Compiled, sizes: Sizes, names: &[&str]) {
    for name in names {
        let columns = sizes.of(name)[1];
        let mut options = kernel.options(sizes, Memories::Tight);
        if kernel.spaces(name) {
            options.pitches.push(named(name, columns + 1));
        } else {
            options.sizes.push(SizeOption {
                argument: Some((*name).to_owned()),
                shape: vec![sizes.of(name)[0], columns + 1],
            });
        }
        expect_refusal(kernel.emulate(&options, 1, 1).err(), name);

        let mut options = kernel.options(sizes, Memories::Tight);
        options.misalign.push(named(name, 4));
        expect_refusal(kernel.emulate(&options, 1, 1).err(), name);
    }
    let binding = Binding::new(&kernel.kernel, &kernel.options(sizes, Memories::Tight));
    let binding = binding.expect("a right launch");
    let planned = plan::launch(&kernel.kernel, &binding, [1; 3], |_| 0x1004);
    assert!(planned.is_err(), "the plan takes an address of 4 mod 16");

    // Past both checks the emulator has the rule of the hardware's tensor maps.
    let mut device = kernel.device(1);
    let before = images(&binding, 1);
    let (mut launch, _) = prepare(&mut device, &kernel.kernel, &binding, &before)
        .unwrap_or_else(|error| panic!("{error}"));
    let mut maps = 0;
    for value in &mut launch.parameters {
        if let Value::TensorMap(map) = value {
            map.address += 8;
            maps += 1;
        }
    }
    if maps > 0 {
        let launched = device.launch(&launch, 0, None);
        let error = launched.expect_err("a tensor map of a misaligned address");
        assert!(error.to_string().contains("tensor map"), "{error}");
    }
}

fn expect_refusal(failure: Option<Failure>, name: &str) {
    match failure {
        Some(Failure::Launch(error)) => {
            assert!(error.contains(&format!("`{name}`")), "{error}");
            assert!(error.contains("multiple of 16 bytes"), "{error}");
        }
        other => panic!("expected {name} to be refused, got {other:?}"),
    }
}

/// The interpreter and the f64 product agree on the tile level's product, and the rewritten text
/// differs from the original in nothing but the last rounding.
#[test]
fn the_two_references_agree() {
    let text = text("tests/tile/gemm.mlir").expect("the kernel is there");
    let handwritten = crate::text("tests/tensor/gemm_sm100.mlir").expect("the kernel is there");
    let kernel =
        Compiled::new(&handwritten, Target::Sm100a).unwrap_or_else(|error| panic!("{error}"));
    for sizes in [Sizes::new(5, 16, 200), Sizes::new(129, 8, 64)] {
        let run = kernel
            .emulate(&kernel.options(sizes, Memories::Tight), 1, 3)
            .unwrap_or_else(|error| panic!("{error}"));
        let (exact, interpreted) = (
            Reference::product(&run, sizes),
            Reference::interpreted(&text, &run, sizes),
        );
        assert_ne!(exact.c, vec![0.0; exact.c.len()]);
        for (at, (exact_value, interpreted)) in exact.c.iter().zip(&interpreted.c).enumerate() {
            let allowed = 2_f64.powi(-20) * exact.scale[at];
            let error = (exact_value - interpreted).abs();
            assert!(error <= allowed, "{sizes:?}: {exact_value}, {interpreted}");
        }
        interpreted
            .check(&run, sizes)
            .unwrap_or_else(|error| panic!("{error}"));
    }
    let changed: Vec<String> = text
        .lines()
        .zip(unrounded(&text).lines())
        .filter(|(before, after)| before != after)
        .map(|(_, after)| after.trim().to_owned())
        .collect();
    assert_eq!(changed.len(), 2, "{changed:?}");
    assert!(changed[0].contains("%C: memref<?x?xf32>"));
    assert!(changed[1].contains("work.store %f to %C[%m, %n] : vector<128x256xf32>"));
}
