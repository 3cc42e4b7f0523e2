//! Gives every argument of a kernel its sizes, strides or value, and checks the contract.

mod error;

use ptx_model::manifest::{
    Argument, ElementType, GridEnv, Kernel, MemrefArgument, Parameter, ScalarArgument,
};

use crate::{
    layout::{Layout, shape_text},
    numeric,
    options::{Named, SizeOption},
};

pub use error::BindError;

/// What the command line says about arguments.
#[derive(Debug, Clone, Default)]
pub struct BindOptions {
    /// Sizes; a named one goes before one for all, a later one before an earlier one.
    pub sizes: Vec<SizeOption>,
    /// Row pitches in elements.
    pub pitches: Vec<Named<u64>>,
    /// Bytes by which base addresses are moved off their alignment.
    pub misalign: Vec<Named<u64>>,
    /// Values of scalars.
    pub scalars: Vec<Named<String>>,
}

/// A memref argument with everything known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tensor {
    /// Which argument of the kernel.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// What it holds.
    pub element: ElementType,
    /// Where its elements lie.
    pub layout: Layout,
    /// What base and row pitch must be multiples of, in bytes.
    pub alignment: u32,
    /// By how many bytes the base is moved on purpose.
    pub misalign: u32,
}

/// A scalar argument with its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Scalar {
    /// Its name.
    pub name: String,
    /// Its type.
    pub element: ElementType,
    /// Its value in memory; the type's size of these bytes count.
    pub bytes: [u8; 8],
    /// Its value as a number.
    pub value: f64,
    /// Its value, where it is an integer.
    pub integer: Option<i64>,
}

/// An argument with everything known.
#[derive(Debug, Clone, PartialEq)]
pub enum Bound {
    /// A tensor in memory.
    Tensor(Tensor),
    /// A number.
    Scalar(Scalar),
}

/// All arguments of a kernel, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Binding {
    /// The arguments.
    pub arguments: Vec<Bound>,
}

impl Binding {
    /// Binds all arguments of `kernel`.
    ///
    /// # Errors
    /// Missing or contradicting options, and a layout that breaks the alignment contract.
    pub fn new(kernel: &Kernel, options: &BindOptions) -> Result<Self, BindError> {
        check_names(kernel, options)?;
        let arguments = (0..).zip(&kernel.arguments).map(|(index, argument)| {
            Ok(match argument {
                Argument::Memref(memref) => {
                    Bound::Tensor(bind_memref(kernel, index, memref, options)?)
                }
                Argument::Scalar(scalar) => Bound::Scalar(bind_scalar(scalar, options)?),
            })
        });
        Ok(Self {
            arguments: arguments.collect::<Result<_, BindError>>()?,
        })
    }

    /// The memref arguments.
    pub fn tensors(&self) -> impl Iterator<Item = &Tensor> {
        self.arguments.iter().filter_map(|argument| match argument {
            Bound::Tensor(tensor) => Some(tensor),
            Bound::Scalar(_) => None,
        })
    }

    /// The argument of this name.
    pub fn by_name(&self, name: &str) -> Option<&Bound> {
        self.arguments.iter().find(|argument| match argument {
            Bound::Tensor(tensor) => tensor.name == name,
            Bound::Scalar(scalar) => scalar.name == name,
        })
    }

    /// The memref argument with this number.
    pub fn tensor(&self, index: u32) -> Option<&Tensor> {
        self.tensors().find(|tensor| tensor.index == index)
    }

    /// The scalar argument with this number.
    pub fn scalar(&self, index: u32) -> Option<&Scalar> {
        match self.arguments.get(usize::try_from(index).ok()?)? {
            Bound::Scalar(scalar) => Some(scalar),
            Bound::Tensor(_) => None,
        }
    }

    /// Bytes of all tensors, each counted once.
    pub fn data_bytes(&self) -> u64 {
        self.tensors()
            .map(|tensor| tensor.layout.data_bytes())
            .sum()
    }

    /// Names and sizes for a line of output: `A 64x32, B 32`.
    pub fn describe(&self) -> String {
        let shapes: Vec<String> = self
            .tensors()
            .map(|tensor| format!("{} {}", tensor.name, shape_text(tensor.layout.shape())))
            .collect();
        shapes.join(", ")
    }

    /// This binding as the environment of grid expressions, on a device with `sm_count`
    /// multiprocessors.
    pub fn env(&self, sm_count: u32) -> Env<'_> {
        Env {
            binding: self,
            sm_count,
        }
    }
}

/// A binding as the environment of grid expressions.
#[derive(Debug, Clone, Copy)]
pub struct Env<'a> {
    binding: &'a Binding,
    sm_count: u32,
}

impl GridEnv for Env<'_> {
    fn dim(&self, argument: u32, dimension: u32) -> Option<i64> {
        let shape = self.binding.tensor(argument)?.layout.shape();
        let size = shape.get(usize::try_from(dimension).ok()?)?;
        i64::try_from(*size).ok()
    }

    fn scalar(&self, argument: u32) -> Option<i64> {
        self.binding.scalar(argument)?.integer
    }

    fn sm_count(&self) -> Option<i64> {
        Some(i64::from(self.sm_count))
    }
}

/// Refuses options for arguments that do not exist: a typing error would otherwise go unnoticed.
fn check_names(kernel: &Kernel, options: &BindOptions) -> Result<(), BindError> {
    let sized = options
        .sizes
        .iter()
        .filter_map(|size| size.argument.as_ref());
    let sized = sized.map(|name| ("size", name, true));
    let pitched = options.pitches.iter().map(|p| ("pitch", &p.argument, true));
    let moved = options
        .misalign
        .iter()
        .map(|m| ("misalign", &m.argument, true));
    let valued = options.scalars.iter().map(|s| ("arg", &s.argument, false));
    for (option, name, memref) in sized.chain(pitched).chain(moved).chain(valued) {
        let of_kind = |a: &&Argument| matches!(a, Argument::Memref(_)) == memref;
        let names: Vec<&str> = kernel
            .arguments
            .iter()
            .filter(of_kind)
            .map(Argument::name)
            .collect();
        if !names.contains(&name.as_str()) {
            return Err(BindError::UnknownName {
                option,
                name: name.clone(),
                what: if memref { "memref" } else { "scalar" },
                known: if names.is_empty() {
                    "none".to_owned()
                } else {
                    names.join(", ")
                },
            });
        }
    }
    Ok(())
}

fn last_named<'a, T>(options: &'a [Named<T>], name: &str) -> Option<&'a T> {
    let found = options.iter().rev().find(|option| option.argument == name);
    found.map(|option| &option.value)
}

fn bind_scalar(scalar: &ScalarArgument, options: &BindOptions) -> Result<Scalar, BindError> {
    let name = scalar.name.clone();
    let element = scalar.scalar_type;
    let Some(text) = last_named(&options.scalars, &name) else {
        return Err(BindError::NoValue { name });
    };
    let bad = || BindError::BadValue {
        name: name.clone(),
        value: text.clone(),
        element,
    };
    if !element.is_integer() {
        let value: f64 = text.parse().map_err(|_| bad())?;
        let bytes = numeric::encode(element, value);
        return Ok(Scalar {
            value: numeric::decode(element, &bytes),
            name,
            element,
            bytes,
            integer: None,
        });
    }
    let value: i64 = text.parse().map_err(|_| bad())?;
    let fits = match element {
        ElementType::I8 => i8::try_from(value).is_ok(),
        ElementType::I16 => i16::try_from(value).is_ok(),
        ElementType::I32 => i32::try_from(value).is_ok(),
        _ => true,
    };
    if !fits {
        return Err(bad());
    }
    Ok(Scalar {
        name,
        element,
        bytes: value.to_le_bytes(),
        value: value as f64,
        integer: Some(value),
    })
}

fn bind_memref(
    kernel: &Kernel,
    index: u32,
    memref: &MemrefArgument,
    options: &BindOptions,
) -> Result<Tensor, BindError> {
    let name = memref.name.clone();
    let shape = bind_shape(memref, options)?;
    let strides = bind_strides(kernel, index, memref, &shape, options)?;
    let element_bytes = memref.element_type.size_bytes();
    let layout = Layout::new(shape, strides, element_bytes).map_err(|source| {
        let name = name.clone();
        BindError::Layout { name, source }
    })?;
    let alignment = memref.alignment;
    let moved = last_named(&options.misalign, &name).copied().unwrap_or(0);
    let misalign = match u32::try_from(moved) {
        Ok(bytes) if bytes <= 65536 => bytes,
        _ => return Err(BindError::MisalignTooLarge { name, bytes: moved }),
    };
    if !misalign.is_multiple_of(alignment) {
        return Err(BindError::MisalignedBase {
            name,
            alignment,
            misalign,
        });
    }
    let outer = layout
        .strides()
        .split_last()
        .map_or(&[][..], |(_, outer)| outer);
    for (dimension, stride) in outer.iter().enumerate() {
        let bytes = stride.saturating_mul(u64::from(element_bytes));
        if !bytes.is_multiple_of(u64::from(alignment)) {
            return Err(BindError::MisalignedPitch {
                name,
                alignment,
                dimension,
                bytes,
            });
        }
    }
    Ok(Tensor {
        index,
        name,
        element: memref.element_type,
        layout,
        alignment,
        misalign,
    })
}

fn bind_shape(memref: &MemrefArgument, options: &BindOptions) -> Result<Vec<u64>, BindError> {
    let name = memref.name.as_str();
    let fixed: Option<Vec<u64>> = memref.shape.iter().copied().collect();
    let mut sizes = options.sizes.iter().rev();
    let named = sizes.clone().find(|s| s.argument.as_deref() == Some(name));
    // A size for all means the arguments that need one.
    let general = || sizes.find(|s| s.argument.is_none() && fixed.is_none());
    let Some(given) = named.or_else(general) else {
        return fixed.clone().ok_or_else(|| BindError::NoSize {
            name: name.to_owned(),
            example: vec!["N"; memref.shape.len()].join("x"),
        });
    };
    let agrees = |(declared, given): (&Option<u64>, &u64)| declared.is_none_or(|d| d == *given);
    let same_rank = given.shape.len() == memref.shape.len();
    if same_rank && memref.shape.iter().zip(&given.shape).all(agrees) {
        return Ok(given.shape.clone());
    }
    let declared: Vec<String> = memref
        .shape
        .iter()
        .map(|size| size.map_or("?".to_owned(), |size| size.to_string()))
        .collect();
    Err(BindError::WrongSize {
        name: name.to_owned(),
        declared: declared.join("x"),
        given: shape_text(&given.shape),
    })
}

/// Whether the kernel is told the stride of a dimension, so that the launcher may choose it: as a
/// parameter of its own, or inside a tensor map.
fn takes_stride(kernel: &Kernel, index: u32, dimension: usize) -> bool {
    kernel.parameters.iter().any(|parameter| match parameter {
        Parameter::Stride {
            argument,
            dimension: d,
        } => *argument == index && usize::try_from(*d) == Ok(dimension),
        Parameter::TensorMap(map) => map.argument == index,
        _ => false,
    })
}

/// Strides from the innermost outwards: as declared, else as given, else the smallest that the
/// contract allows.
fn bind_strides(
    kernel: &Kernel,
    index: u32,
    memref: &MemrefArgument,
    shape: &[u64],
    options: &BindOptions,
) -> Result<Vec<u64>, BindError> {
    let name = &memref.name;
    let rank = shape.len();
    let pitch = last_named(&options.pitches, name).copied();
    let pitched = rank.checked_sub(2).filter(|_| pitch.is_some());
    let free = |dimension: usize| {
        memref.strides.get(dimension).copied().flatten().is_none()
            && takes_stride(kernel, index, dimension)
    };
    if pitch.is_some() && !pitched.is_some_and(free) {
        return Err(BindError::FixedPitch { name: name.clone() });
    }
    let mut strides = vec![1; rank];
    let mut next: u64 = 1;
    for dimension in (0..rank).rev() {
        let declared = memref.strides.get(dimension).copied().flatten();
        let stride = match declared {
            Some(stride) if stride <= 0 => {
                return Err(BindError::NegativeStride {
                    name: name.clone(),
                    stride,
                });
            }
            Some(stride) => stride.unsigned_abs(),
            None if pitched == Some(dimension) => pitch.unwrap_or(next),
            None if dimension + 1 < rank && free(dimension) => round_up(next.max(1), memref),
            None => next,
        };
        strides[dimension] = stride;
        next = stride.saturating_mul(shape[dimension]);
    }
    Ok(strides)
}

/// The smallest number of elements from `elements` on whose bytes keep the alignment.
fn round_up(elements: u64, memref: &MemrefArgument) -> u64 {
    let size = memref.element_type.size_bytes();
    // Both are powers of two, so the larger is a multiple of the smaller.
    let unit = u64::from((memref.alignment / size).max(1));
    elements.checked_next_multiple_of(unit).unwrap_or(elements)
}

#[cfg(test)]
mod tests;
