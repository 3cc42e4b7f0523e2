//! What the arguments hold before the launch, and whether they are right after it.

mod finding;

use std::{
    collections::{BTreeSet, TryReserveError},
    path::PathBuf,
};

use ptx_model::manifest::ElementType;

use crate::{
    bind::{Binding, Bound, Tensor},
    expect::{Expectation, Name},
    fill::{self, Fill},
    image::Image,
    layout::shape_text,
    numeric,
    options::{Named, Tolerance},
};

pub use finding::{Finding, Mismatch};

/// How many mismatches of one argument are shown.
const SHOWN: usize = 5;

/// What the command line says about values.
#[derive(Debug, Clone)]
pub struct ValueOptions {
    /// Expectations by expression.
    pub expect: Vec<Expectation>,
    /// Expectations by file: raw elements in row-major order.
    pub expect_file: Vec<Named<PathBuf>>,
    /// Inputs from files: raw elements in row-major order.
    pub input: Vec<Named<PathBuf>>,
    /// How the other inputs are filled.
    pub fill: Fill,
    /// Seed of the fill.
    pub seed: u64,
    /// How near results must be; none for the default of the fill.
    pub tolerance: Option<Tolerance>,
}

/// Why values cannot be prepared or compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ValueError {
    /// A name is no memref argument.
    #[error("{what} names `{name}`, which is no memref argument of the kernel")]
    UnknownTarget {
        /// The option.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A name on the right side is no argument.
    #[error("--expect: at byte {offset}: `{name}` is no argument of the kernel")]
    UnknownName {
        /// Where in the expression.
        offset: usize,
        /// The name.
        name: String,
    },
    /// Sizes differ, so that there is no "same element".
    #[error("--expect: at byte {offset}: `{name}` has sizes {got}, `{target}` has {expected}")]
    ShapeMismatch {
        /// Where in the expression.
        offset: usize,
        /// The operand.
        name: String,
        /// Its sizes.
        got: String,
        /// The left side.
        target: String,
        /// Its sizes.
        expected: String,
    },
    /// Two expectations for one argument.
    #[error("argument `{0}` has more than one expectation")]
    Twice(String),
    /// The host has no room for an argument.
    #[error("not enough memory for argument `{name}`")]
    Memory {
        /// The argument.
        name: String,
        /// Why.
        source: TryReserveError,
    },
    /// A file cannot be read.
    #[error("cannot read `{path}`")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file has the wrong size.
    #[error("`{path}` has {got} bytes, argument `{name}` has {expected}")]
    FileSize {
        /// The file.
        path: PathBuf,
        /// Its size.
        got: usize,
        /// The argument.
        name: String,
        /// The size of the argument's elements.
        expected: u64,
    },
}

/// All tensors of a launch, before it.
#[derive(Debug)]
pub struct Prepared {
    /// One image per tensor, in the order of [`Binding::tensors`].
    pub images: Vec<Image>,
    targets: Vec<Target>,
    tolerance: Option<Tolerance>,
    fill: Fill,
}

/// What one tensor should hold afterwards.
#[derive(Debug)]
struct Target {
    tensor: u32,
    source: Source,
}

#[derive(Debug)]
enum Source {
    Expression(Expectation),
    Bytes(Vec<u8>),
}

impl Prepared {
    /// Fills inputs, puts a canary into outputs, and resolves the expectations.
    ///
    /// # Errors
    /// Names that do not exist, sizes that differ, files that cannot be read or do not fit.
    pub fn new(binding: &Binding, options: &ValueOptions) -> Result<Self, ValueError> {
        let targets = resolve(binding, options)?;
        let inputs = read_inputs(binding, options)?;
        let read: BTreeSet<&str> = options
            .expect
            .iter()
            .flat_map(|expectation| &expectation.names)
            .map(|name| name.text.as_str())
            .collect();
        let mut images = Vec::new();
        for tensor in binding.tensors() {
            let image = Image::new(&tensor.layout, tensor.alignment, tensor.misalign);
            let mut image = image.map_err(|source| ValueError::Memory {
                name: tensor.name.clone(),
                source,
            })?;
            let given = inputs.iter().find(|(index, _)| *index == tensor.index);
            let written = targets.iter().any(|target| target.tensor == tensor.index);
            if let Some((_, elements)) = given {
                let size = tensor.layout.element_bytes();
                let mut chunks = elements.chunks_exact(size);
                image.for_each_element(&tensor.layout, |_, bytes| {
                    bytes.copy_from_slice(chunks.next().unwrap_or(&[0; 8][..size]));
                });
            } else if !written || read.contains(tensor.name.as_str()) {
                let (element, seed) = (tensor.element, options.seed);
                fill::fill(
                    &mut image,
                    &tensor.layout,
                    element,
                    options.fill,
                    seed,
                    tensor.index,
                );
            }
            images.push(image);
        }
        Ok(Self {
            images,
            targets,
            tolerance: options.tolerance,
            fill: options.fill,
        })
    }

    /// Checks the names in `options` without reading files or filling memory.
    ///
    /// # Errors
    /// Names that do not exist, sizes that differ.
    pub fn check_names(binding: &Binding, options: &ValueOptions) -> Result<(), ValueError> {
        for expectation in &options.expect {
            let target = tensor_named(binding, "--expect", &expectation.target.text)?;
            for name in &expectation.names {
                resolve_operand(binding, target, name)?;
            }
        }
        for file in &options.expect_file {
            tensor_named(binding, "--expect-file", &file.argument)?;
        }
        for file in &options.input {
            tensor_named(binding, "--input-file", &file.argument)?;
        }
        Ok(())
    }

    /// Checks that the name given to option `what` is a memref argument.
    ///
    /// # Errors
    /// A name that is none.
    pub fn check_target(
        binding: &Binding,
        what: &'static str,
        name: &str,
    ) -> Result<(), ValueError> {
        tensor_named(binding, what, name).map(|_| ())
    }

    /// How many arguments have an expectation.
    pub fn expectations(&self) -> usize {
        self.targets.len()
    }

    /// Compares the tensors after the launch with what they should be.
    ///
    /// Where nothing is expected of any argument, all of them may have been written, and only the
    /// guards are looked at.
    pub fn check(&self, binding: &Binding, after: &[Image]) -> Vec<Finding> {
        let mut findings = Vec::new();
        for ((tensor, before), after) in binding.tensors().zip(&self.images).zip(after) {
            let target = self.targets.iter().find(|t| t.tensor == tensor.index);
            let values = match target {
                Some(target) => self.compare(binding, tensor, target, after),
                None if self.targets.is_empty() => None,
                None => unchanged(tensor, before, after),
            };
            findings.extend(values);
            if let Some(damage) = after.guard_damage(&tensor.layout) {
                let name = tensor.name.clone();
                findings.push(Finding::Guard { name, damage });
            }
        }
        findings
    }

    fn tolerance_for(&self, element: ElementType) -> Tolerance {
        let default = match self.fill {
            Fill::Integer => Tolerance::EXACT,
            // A few roundings, each half a unit in the last place.
            Fill::Random => Tolerance {
                relative: 4.0 * numeric::epsilon(element),
                absolute: 4.0 * numeric::epsilon(element),
            },
        };
        self.tolerance.unwrap_or(default)
    }

    fn compare(
        &self,
        binding: &Binding,
        tensor: &Tensor,
        target: &Target,
        after: &Image,
    ) -> Option<Finding> {
        let tolerance = self.tolerance_for(tensor.element);
        let size = tensor.layout.element_bytes();
        let got = after.packed(&tensor.layout);
        let wanted = match &target.source {
            Source::Bytes(bytes) => bytes.clone(),
            Source::Expression(expectation) => self.evaluate(binding, tensor, expectation),
        };
        let mut count = 0;
        let mut first = Vec::new();
        let pairs = got.chunks_exact(size).zip(wanted.chunks_exact(size));
        for (linear, (got, expected)) in (0..).zip(pairs) {
            let got = numeric::decode(tensor.element, got);
            let expected = numeric::decode(tensor.element, expected);
            if tolerance.accepts(got, expected) {
                continue;
            }
            count += 1;
            if first.len() < SHOWN {
                first.push(Mismatch {
                    indices: tensor.layout.indices(linear),
                    got,
                    expected,
                });
            }
        }
        (count > 0).then(|| Finding::Mismatch {
            name: tensor.name.clone(),
            count,
            elements: tensor.layout.elements(),
            first,
        })
    }

    /// The expected elements of `tensor`, rounded to its type, from the values before the launch.
    fn evaluate(&self, binding: &Binding, tensor: &Tensor, expectation: &Expectation) -> Vec<u8> {
        let operands: Vec<Operand> = expectation
            .names
            .iter()
            .map(|name| self.operand(binding, name))
            .collect();
        let size = tensor.layout.element_bytes();
        let mut expected = Vec::new();
        let mut stack = Vec::new();
        let elements = usize::try_from(tensor.layout.elements()).unwrap_or(0);
        for linear in 0..elements {
            let value = expectation.eval(&mut stack, |name| operands[name].at(linear));
            expected.extend_from_slice(&numeric::encode(tensor.element, value)[..size]);
        }
        expected
    }

    fn operand(&self, binding: &Binding, name: &Name) -> Operand {
        match binding.by_name(&name.text) {
            Some(Bound::Scalar(scalar)) => Operand::Scalar(scalar.value),
            Some(Bound::Tensor(tensor)) => {
                let mut tensors = binding.tensors().zip(&self.images);
                let image = tensors.find(|(t, _)| t.index == tensor.index);
                Operand::Tensor {
                    element: tensor.element,
                    size: tensor.layout.element_bytes(),
                    packed: image.map_or_else(Vec::new, |(t, image)| image.packed(&t.layout)),
                }
            }
            // Names were resolved before the launch.
            None => Operand::Scalar(f64::NAN),
        }
    }
}

/// The values of one name.
enum Operand {
    Scalar(f64),
    Tensor {
        element: ElementType,
        size: usize,
        packed: Vec<u8>,
    },
}

impl Operand {
    fn at(&self, linear: usize) -> f64 {
        match self {
            Self::Scalar(value) => *value,
            Self::Tensor {
                element,
                size,
                packed,
            } => {
                let bytes = packed.get(linear * size..).unwrap_or(&[]);
                numeric::decode(*element, bytes)
            }
        }
    }
}

fn unchanged(tensor: &Tensor, before: &Image, after: &Image) -> Option<Finding> {
    // Nearly always nothing has changed, and then this is all the work.
    if before.bytes() == after.bytes() {
        return None;
    }
    let size = tensor.layout.element_bytes();
    let (before, after) = (before.packed(&tensor.layout), after.packed(&tensor.layout));
    let pairs = before.chunks_exact(size).zip(after.chunks_exact(size));
    let differing = (0..)
        .zip(pairs)
        .filter(|(_, (before, after))| before != after);
    let mut changed = differing.map(|(linear, _)| linear);
    let first = changed.next()?;
    Some(Finding::InputChanged {
        name: tensor.name.clone(),
        count: 1 + u64::try_from(changed.count()).unwrap_or(u64::MAX - 1),
        indices: tensor.layout.indices(first),
    })
}

fn tensor_named<'a>(
    binding: &'a Binding,
    what: &'static str,
    name: &str,
) -> Result<&'a Tensor, ValueError> {
    match binding.by_name(name) {
        Some(Bound::Tensor(tensor)) => Ok(tensor),
        _ => Err(ValueError::UnknownTarget {
            what,
            name: name.to_owned(),
        }),
    }
}

fn resolve(binding: &Binding, options: &ValueOptions) -> Result<Vec<Target>, ValueError> {
    Prepared::check_names(binding, options)?;
    let mut targets: Vec<Target> = Vec::new();
    for expectation in &options.expect {
        targets.push(Target {
            tensor: tensor_named(binding, "--expect", &expectation.target.text)?.index,
            source: Source::Expression(expectation.clone()),
        });
    }
    for file in &options.expect_file {
        let target = tensor_named(binding, "--expect-file", &file.argument)?;
        targets.push(Target {
            tensor: target.index,
            source: Source::Bytes(read_elements(target, &file.value)?),
        });
    }
    for (position, target) in targets.iter().enumerate() {
        let earlier = &targets[..position];
        if earlier.iter().any(|other| other.tensor == target.tensor) {
            let name = binding.tensor(target.tensor).map(|t| t.name.clone());
            return Err(ValueError::Twice(name.unwrap_or_default()));
        }
    }
    Ok(targets)
}

fn resolve_operand(binding: &Binding, target: &Tensor, name: &Name) -> Result<(), ValueError> {
    match binding.by_name(&name.text) {
        None => Err(ValueError::UnknownName {
            offset: name.offset,
            name: name.text.clone(),
        }),
        Some(Bound::Tensor(operand)) if operand.layout.shape() != target.layout.shape() => {
            Err(ValueError::ShapeMismatch {
                offset: name.offset,
                name: name.text.clone(),
                got: shape_text(operand.layout.shape()),
                target: target.name.clone(),
                expected: shape_text(target.layout.shape()),
            })
        }
        Some(_) => Ok(()),
    }
}

fn read_inputs(
    binding: &Binding,
    options: &ValueOptions,
) -> Result<Vec<(u32, Vec<u8>)>, ValueError> {
    let files = options.input.iter().map(|file| {
        let tensor = tensor_named(binding, "--input-file", &file.argument)?;
        Ok((tensor.index, read_elements(tensor, &file.value)?))
    });
    files.collect()
}

fn read_elements(tensor: &Tensor, path: &PathBuf) -> Result<Vec<u8>, ValueError> {
    let bytes = std::fs::read(path).map_err(|source| ValueError::Read {
        path: path.clone(),
        source,
    })?;
    let expected = tensor.layout.data_bytes();
    if u64::try_from(bytes.len()) != Ok(expected) {
        return Err(ValueError::FileSize {
            path: path.clone(),
            got: bytes.len(),
            name: tensor.name.clone(),
            expected,
        });
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests;
