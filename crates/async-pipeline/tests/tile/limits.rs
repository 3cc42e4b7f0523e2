//! Kernels and launches that cannot be run: each is an error with a place, none a panic.

use super::{array, data, nonsense, problem};
use async_pipeline::tile_interpreter::{Argument, Array, Element, Kernel, Launch, run};

fn kernel(arguments: &str, body: &str) -> String {
    format!(
        "gpu.module @m {{\n  gpu.func @k({arguments}) kernel {{\n    {body}\n    gpu.return\n  }}\n}}"
    )
}

fn one_block(arguments: Vec<Argument>) -> Launch {
    let mut launch = Launch::new(arguments);
    launch.grid = Some([1; 3]);
    launch
}

#[test]
fn ops_and_types_without_a_meaning_have_a_place() {
    for (body, expected) in [
        (
            "%t = gpu.thread_id x",
            "3:10: cannot interpret 'gpu.thread_id' at the tile level",
        ),
        (
            "%t = arith.constant dense<0.0> : vector<4xf8E5M2>
%u = arith.addf %t, %t : vector<4xf8E5M2>",
            "4:6: cannot interpret this form of 'arith.addf': there is no arithmetic on its elements",
        ),
        (
            "%t = arith.constant 0.0 : f80",
            "3:10: cannot interpret a value of type f80",
        ),
        (
            "%t = arith.constant dense<0> : vector<16777216x16xi32>",
            "3:10: expected values of at most 33554432 elements in all, got 268435456",
        ),
        (
            "cf.br ^next
^next:",
            "2:3: cannot interpret branches between blocks; expected structured control flow",
        ),
        (
            "%b = async_pipeline.tile.alloc : !async_pipeline.buffer<4xf32>
%v = async_pipeline.work.load %b : !async_pipeline.buffer<4xf32> to vector<4xf32>",
            "4:6: reads a buffer that nothing has been copied or stored into",
        ),
        (
            "%z = arith.constant 0 : i32
%d = arith.divsi %z, %z : i32",
            "4:6: a division by zero, or one whose quotient does not fit",
        ),
        (
            "%z = arith.constant 0 : index
scf.for %i = %z to %z step %z {
}",
            "4:1: expected a step of at least 1, got 0",
        ),
    ] {
        let said = problem(&kernel("", body), &one_block(Vec::new()));
        assert_eq!(said, format!("-:{expected}"));
    }
}

#[test]
fn endless_kernels_are_given_up() {
    let endless = "%z = arith.constant 0 : index
      %o = arith.constant 1 : index
      %n = arith.constant 9223372036854775807 : index
      scf.for %i = %z to %n step %o {
      }";
    let mut launch = one_block(Vec::new());
    launch.max_steps = 10_000;
    let said = problem(&kernel("", endless), &launch);
    assert!(said.contains("given up after 10000 steps"), "{said}");
    launch.grid = Some([u32::MAX; 3]);
    let said = problem(&kernel("", ""), &launch);
    assert!(said.contains("given up after 10000 steps"), "{said}");
}

#[test]
fn indices_far_outside_read_nothing() {
    let text = kernel(
        "%X: memref<?xf32>, %Y: memref<?xf32>, %i: index",
        "%c0 = arith.constant 0 : index
         %w = async_pipeline.tile.window %X[%i] sizes [%i] : memref<?xf32> to !async_pipeline.window<?xf32>
         %u = async_pipeline.tile.window %w[%i] sizes [%i] : !async_pipeline.window<?xf32> to !async_pipeline.window<?xf32>
         %v = async_pipeline.work.load %u[%i] : !async_pipeline.window<?xf32> to vector<4xf32>
         async_pipeline.work.store %v to %Y[%c0] : vector<4xf32> to memref<?xf32>
         async_pipeline.work.store %v to %Y[%i] reduce add : vector<4xf32> to memref<?xf32>",
    );
    for far in [i64::MAX, i64::MIN, i64::MAX - 2, 1 << 40] {
        let launch = one_block(vec![
            array(Element::F32, &[4], vec![1.0; 4]),
            nonsense(Element::F32, &[4]),
            Argument::Integer(far),
        ]);
        let after = run(&text, &launch).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(data(&after[1]), [0.0; 4]);
    }
    let text = kernel(
        "%X: memref<?xf32>, %i: index",
        "%v = memref.load %X[%i] : memref<?xf32>",
    );
    let launch = one_block(vec![nonsense(Element::F32, &[4]), Argument::Integer(4)]);
    let said = problem(&text, &launch);
    assert!(
        said.contains("index 4 is outside dimension 0 of extent 4"),
        "{said}"
    );
}

#[test]
fn launches_must_fit() {
    let text = kernel("%X: memref<?x4xf32>, %n: i32", "");
    let x = || nonsense(Element::F32, &[2, 4]);
    let one = || Argument::Integer(1);
    for (arguments, expected) in [
        (vec![x()], "expected 2 arguments, got 1"),
        (
            vec![x(), Argument::Float(1.0)],
            "argument 1: expected an integer for i32",
        ),
        (
            vec![one(), one()],
            "argument 0: expected an array of rank 2 of f32",
        ),
        (
            vec![nonsense(Element::F16, &[2, 4]), one()],
            "argument 0: expected an array of rank 2 of f32",
        ),
        (
            vec![nonsense(Element::F32, &[2, 5]), one()],
            "argument 0: expected extents and strides that match its type, got [2, 5] and [5, 1]",
        ),
        (
            vec![array(Element::F32, &[2, 4], vec![0.0; 7]), one()],
            "argument 0: expected 8 elements of data, got 7",
        ),
    ] {
        assert_eq!(problem(&text, &one_block(arguments)), expected);
    }
    let huge = Argument::Array(Array {
        element: Element::F32,
        shape: vec![u64::MAX, 4],
        strides: vec![4, 1],
        data: Vec::new(),
    });
    assert!(problem(&text, &one_block(vec![huge, one()])).contains("elements of data"));
    let said = problem(&text, &Launch::new(vec![x(), one()]));
    assert_eq!(
        said,
        "expected a grid: the kernel has no async_pipeline.grid"
    );
}

#[test]
fn kernels_are_found_by_name() {
    let two = "gpu.module @m {
      gpu.func @a() kernel { gpu.return }
      gpu.func @b() kernel { gpu.return }
    }";
    assert_eq!(Kernel::parse(two, Some("b")).expect("is there").name(), "b");
    let said = |name| {
        Kernel::parse(two, name)
            .expect_err("is not there")
            .to_string()
    };
    assert_eq!(said(Some("c")), "expected a kernel c, the module has: a, b");
    assert_eq!(
        said(None),
        "expected one kernel or the name of one, the module has 2"
    );
    let wrong = Kernel::parse("gpu.module @m { nonsense }", None).expect_err("does not parse");
    assert!(wrong.to_string().contains(":1:"), "{wrong}");
}
