//! What C has to be, and how far from it a right kernel may end.
//!
//! The reference is the tile interpreter's result before the last rounding: the same text with
//! the store of C, and C itself, in f32. With the rounding in both, a sum that lies on the edge
//! between two values of f16 could differ by twice as much as the bound allows, for no fault.
//!
//! The interpreter goes through whole tiles and is slow for large or many products, so these have
//! the product in f64 as their reference; a test compares the two where both are affordable.

use crate::harness::{Run, Sizes};
use async_pipeline::tile_interpreter::{Argument, Array, Element, Kernel, Launch};
use ptx_model::manifest::ElementType;

/// Reference values and what their errors scale with, one for each element of C.
pub(crate) struct Reference {
    /// The exact result, up to roundings of f32.
    pub(crate) c: Vec<f64>,
    /// The sum of the magnitudes of all that was added up.
    pub(crate) scale: Vec<f64>,
}

impl Run {
    fn input(&self, name: &str) -> Option<&[f64]> {
        let found = self.inputs.iter().find(|(input, ..)| input == name);
        found.map(|(.., values)| values.as_slice())
    }
}

fn index(value: u64) -> usize {
    usize::try_from(value).expect("fits in memory")
}

impl Reference {
    /// A·Bᵀ in f64, where products of f16 are exact, with the sums of |a||b|, and of what an
    /// epilogue adds.
    pub(crate) fn product(run: &Run, sizes: Sizes) -> Self {
        let (a, b) = (run.input("A").expect("A"), run.input("B").expect("B"));
        let (bias, residual) = (run.input("bias"), run.input("R"));
        let (m, n, k) = (index(sizes.m), index(sizes.n), index(sizes.k));
        let mut reference = Self {
            c: Vec::with_capacity(m * n),
            scale: Vec::with_capacity(m * n),
        };
        for row in 0..m {
            for column in 0..n {
                let (mut sum, mut scale) = (0.0, 0.0);
                let a = &a[row * k..(row + 1) * k];
                for (a, b) in a.iter().zip(&b[column * k..(column + 1) * k]) {
                    let product = a * b;
                    sum += product;
                    scale += product.abs();
                }
                scale += bias.map_or(0.0, |bias| bias[column].abs());
                scale += residual.map_or(0.0, |residual| residual[row * n + column].abs());
                reference.c.push(sum);
                reference.scale.push(scale);
            }
        }
        reference
    }

    /// The tile interpreter's result for these inputs, with the scales of
    /// [`product`](Self::product).
    pub(crate) fn interpreted(text: &str, run: &Run, sizes: Sizes) -> Self {
        let mut reference = Self::product(run, sizes);
        reference.c = interpret(text, run, sizes);
        reference
    }

    /// The first element of a run that is too far away.
    ///
    /// Half a unit in the last place of f16 is 2^-11 of a normal value and 2^-25 below; 2^-18 of
    /// what was added up covers sums in f32 in any order, as tensor cores make them.
    pub(crate) fn check(&self, run: &Run, sizes: Sizes) -> Result<(), String> {
        assert_eq!(run.c.len(), self.c.len());
        let (relative, absolute) = match run.element {
            ElementType::F16 => (2_f64.powi(-11), 2_f64.powi(-25)),
            ElementType::F32 => (2_f64.powi(-24), 0.0),
            other => panic!("expected C in f16 or f32, got {other}"),
        };
        for (at, (&got, (&expected, &scale))) in
            run.c.iter().zip(self.c.iter().zip(&self.scale)).enumerate()
        {
            let allowed = relative * expected.abs() + absolute + 2_f64.powi(-18) * scale;
            let error = (got - expected).abs();
            // NaN is no right result either.
            if error <= allowed {
                continue;
            }
            let (row, column) = (at / index(sizes.n), at % index(sizes.n));
            return Err(format!(
                "C[{row}, {column}] is {got}, expected {expected} within {allowed:e}"
            ));
        }
        Ok(())
    }
}

/// Runs the text with C in f32 on the inputs of a run.
fn interpret(text: &str, run: &Run, sizes: Sizes) -> Vec<f64> {
    let text = unrounded(text);
    let kernel = Kernel::parse(&text, None).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let inputs = run.inputs.iter().map(|(name, element, values)| {
        assert_eq!(*element, ElementType::F16, "{name}");
        let array = Array::new(Element::F16, &sizes.of(name), values.clone());
        (name.as_str(), Argument::Array(array))
    });
    let mut arguments: Vec<_> = inputs.collect();
    let nonsense = vec![-77.0; index(sizes.m * sizes.n)];
    let c = Array::new(Element::F32, &sizes.of("C"), nonsense);
    arguments.insert(c_position(&text), ("C", Argument::Array(c)));
    let launch = Launch::new(
        arguments
            .iter()
            .map(|(_, argument)| argument.clone())
            .collect(),
    );
    let after = kernel
        .run(&launch)
        .unwrap_or_else(|error| panic!("{error}"));
    match &after[c_position(&text)] {
        Argument::Array(array) => array.data.clone(),
        other => panic!("expected an array, got {other:?}"),
    }
}

/// Which argument C is: the arguments' names stand in order in the text.
fn c_position(text: &str) -> usize {
    let before = text.split_once("%C:").expect("an argument %C").0;
    let (_, arguments) = before.split_once("gpu.func").expect("a kernel");
    arguments.matches(": memref<").count()
}

/// The text without the rounding of what is stored to C.
pub(crate) fn unrounded(text: &str) -> String {
    let store = text
        .lines()
        .find(|line| line.contains("work.store") && line.contains(" to %C["))
        .expect("a store to C");
    let rounded = store
        .split_once("work.store ")
        .and_then(|(_, rest)| rest.split_once(' '))
        .expect("a stored value")
        .0;
    let definition = text
        .lines()
        .find(|line| {
            line.trim_start()
                .starts_with(&format!("{rounded} = arith.truncf "))
        })
        .expect("the stored value is a truncation");
    let exact = definition
        .split_once("arith.truncf ")
        .and_then(|(_, rest)| rest.split_once(' '))
        .expect("a truncated value")
        .0;
    let stores = store.replace(rounded, exact).replace("f16", "f32");
    let lines = text.lines().map(|line| {
        if line == store {
            return stores.clone();
        }
        let of_c = line.contains("memref.dim %C,");
        let line = line.replace("%C: memref<?x?xf16>", "%C: memref<?x?xf32>");
        if of_c {
            line.replace("f16", "f32")
        } else {
            line
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}
