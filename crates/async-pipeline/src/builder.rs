//! Builds kernels of the tile level from Rust, without MLIR syntax or MLIR handles.
//!
//! ```text
//!   front end ──► KernelBuilder ──► Kernel (text) ──► Compiler::compile ──► PTX + manifest
//!                                        └──────────► tile_interpreter::run
//! ```
//!
//! A [`KernelBuilder`] makes typed handles: a [`Tensor`] in global memory, a [`Buffer`] in shared
//! memory, an [`Accumulator`], an [`Index`], a register [`Value`]. What types do not exclude is a
//! [`BuildError`] at the place that [`KernelBuilder::at`] was told last; an op that fails leaves
//! nothing behind. The same places become the places of the compiler's own diagnostics. The same
//! calls give the same text.
//!
//! What each op computes is written in `docs/reference/tile-semantics.md`.
//!
//! ```
//! use async_pipeline::builder::{Axis, BuildError, Element, Kernel, KernelBuilder, Loop, TensorType};
//!
//! /// C = A · Bᵀ for row-major A (M×K), B (N×K) and C (M×N), any sizes.
//! fn gemm() -> Result<Kernel, BuildError> {
//!     let mut k = KernelBuilder::new("gemm")?;
//!     let matrix = TensorType::new(Element::F16, 2);
//!     let a = k.tensor("A", &matrix)?;
//!     let b = k.tensor("B", &matrix)?;
//!     let c = k.tensor("C", &matrix)?;
//!     k.grid(&[c.extent(0).ceil_div(128), c.extent(1).ceil_div(256)])?;
//!
//!     let (zero, rows, columns, depth) = (k.index(0), k.index(128), k.index(256), k.index(64));
//!     let (x, y) = (k.block_id(Axis::X), k.block_id(Axis::Y));
//!     let (m, n) = (k.mul(x, rows)?, k.mul(y, columns)?);
//!     let a_tile = k.buffer("a", Element::F16, &[128, 64])?;
//!     let b_tile = k.buffer("b", Element::F16, &[256, 64])?;
//!     let sum = k.accumulator(128, 256)?;
//!     let end = k.dim(a, 1)?;
//!     k.for_each(Loop::new(zero, end, depth).stages(4), |k, i| {
//!         k.copy_in(a, &[m, i], a_tile)?;
//!         k.copy_in(b, &[n, i], b_tile)?;
//!         k.mma(sum, a_tile, b_tile.transposed())
//!     })?;
//!     let product = k.load(sum)?;
//!     let rounded = k.convert(product, Element::F16)?;
//!     k.store_global(rounded, c, &[m, n])?;
//!     Ok(k.finish())
//! }
//!
//! let kernel = gemm()?;
//! assert!(kernel.text().contains("async_pipeline.work.mma"));
//! # Ok::<(), BuildError>(())
//! ```

mod arithmetic;
mod constants;
mod control;
mod error;
mod grid;
mod handle;
mod memory;
mod ops;
mod product;
mod shapes;
mod types;

pub use crate::{program::Place, tile_interpreter::Element};
pub use control::Loop;
pub use error::{BuildError, BuildProblem};
pub use grid::GridExtent;
pub use handle::{
    Accumulator, Buffer, FactorA, FactorB, Global, Index, Operand, Storage, Tensor, Transposed,
    Value, Window,
};
pub use ops::{BinaryOp, Predicate, ReduceOp, UnaryOp};
pub use types::{Shape, TensorType, ValueType};

use handle::{Id, Name};
use std::{
    fmt,
    sync::atomic::{AtomicU64, Ordering},
};

/// Tells the handles of one builder from those of another; no text depends on it.
static BUILDERS: AtomicU64 = AtomicU64::new(0);

/// Direction in a kernel's grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// Along which blocks are numbered first.
    X,
    /// The second.
    Y,
    /// The third.
    Z,
}

impl Axis {
    fn letter(self) -> char {
        match self {
            Axis::X => 'x',
            Axis::Y => 'y',
            Axis::Z => 'z',
        }
    }
}

/// A kernel that has been built: the text of a module with one `gpu.func`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    name: String,
    text: String,
}

impl Kernel {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What [`Compiler::compile`](crate::Compiler::compile) and
    /// [`tile_interpreter::run`](crate::tile_interpreter::run) take.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

/// Builds one kernel, op after op. See the [module](self) for an example.
#[derive(Debug)]
pub struct KernelBuilder {
    id: u64,
    name: String,
    arguments: Vec<Argument>,
    grid: Vec<String>,
    body: String,
    /// Numbers given to values.
    values: u32,
    /// Loops and branches that are open, outermost first; the kernel itself is 0.
    scopes: Vec<u32>,
    /// Loops and branches there have been.
    scopes_made: u32,
    place: Place,
    /// Where the kernel begins.
    start: Place,
}

#[derive(Debug)]
struct Argument {
    name: String,
    ty: String,
    attributes: String,
    location: String,
}

impl KernelBuilder {
    /// Begins a kernel.
    ///
    /// # Errors
    /// A name that is not of letters, digits and `_`, or begins with a digit.
    pub fn new(name: &str) -> Result<Self, BuildError> {
        let builder = Self {
            id: BUILDERS.fetch_add(1, Ordering::Relaxed),
            name: name.to_owned(),
            arguments: Vec::new(),
            grid: Vec::new(),
            body: String::new(),
            values: 0,
            scopes: vec![0],
            scopes_made: 0,
            place: Place::default(),
            start: Place::default(),
        };
        builder.located(identifier("a kernel name", name))?;
        Ok(builder)
    }

    /// Says where in the front end's source the following ops come from, until the next call;
    /// a loop or branch gets back its own place when its body ends. Line and column count from
    /// 1; line 0 means that nothing is known. The first place is also that of the kernel.
    pub fn at(&mut self, file: &str, line: u32, column: u32) -> &mut Self {
        self.place = Place {
            file: file.into(),
            line,
            column,
        };
        if self.start.is_unknown() {
            self.start = self.place.clone();
        }
        self
    }

    /// Adds an argument in global memory.
    ///
    /// # Errors
    /// A name that is taken or no identifier, or a type that no kernel takes.
    pub fn tensor(&mut self, name: &str, ty: &TensorType) -> Result<Tensor, BuildError> {
        let memref = self.located(ty.memref())?;
        let mut attributes = String::new();
        if let Some(bytes) = ty.align {
            attributes += &format!(", async_pipeline.align = {bytes} : i32");
        }
        if ty.may_alias {
            attributes += ", async_pipeline.may_alias";
        }
        let argument = self.argument(name, memref, attributes)?;
        Ok(Tensor {
            id: self.id(Name::Argument(argument)),
            argument,
            element: ty.element,
            rank: ty.rank,
        })
    }

    /// Adds a scalar argument: f16, bf16, f32, f64, or an integer of 8, 16, 32 or 64 bits.
    ///
    /// # Errors
    /// A name that is taken or no identifier, or another element type.
    pub fn scalar(&mut self, name: &str, element: Element) -> Result<Value, BuildError> {
        let known = match element {
            Element::Int(bits) => bits > 1 && types::is_width(bits),
            other => other.computes() && other != Element::Index,
        };
        if !known {
            return self.wrong(BuildProblem::Elements {
                what: "scalar arguments",
                allowed: "f16, bf16, f32, f64, i8, i16, i32 or i64",
                got: element,
            });
        }
        let argument = self.argument(name, element.to_string(), String::new())?;
        Ok(self.value(Name::Argument(argument), element.into()))
    }

    /// Adds an index argument: a size or position of 64 bits.
    ///
    /// # Errors
    /// A name that is taken or no identifier.
    pub fn index_argument(&mut self, name: &str) -> Result<Index, BuildError> {
        let argument = self.argument(name, Element::Index.to_string(), String::new())?;
        Ok(Index {
            id: self.id(Name::Argument(argument)),
        })
    }

    fn argument(&mut self, name: &str, ty: String, attributes: String) -> Result<u32, BuildError> {
        self.located(identifier("an argument name", name))?;
        if self.arguments.iter().any(|other| other.name == name) {
            return self.wrong(BuildProblem::Duplicate(name.to_owned()));
        }
        let location = self.location();
        self.arguments.push(Argument {
            name: name.to_owned(),
            ty,
            attributes,
            location,
        });
        // Values of arguments live as long as the kernel, wherever they are added.
        Ok(self.arguments.len() as u32 - 1)
    }

    /// Sets how many blocks the kernel is launched with: x, then y, then z. Without it, whoever
    /// launches decides.
    ///
    /// # Errors
    /// No extent or more than three, a dimension that a tensor does not have, an argument of
    /// another kernel, a value that is no integer argument.
    pub fn grid(&mut self, extents: &[GridExtent]) -> Result<(), BuildError> {
        self.located(types::range("grid extents", extents.len() as u64, 1, 3))?;
        let texts: Result<Vec<String>, BuildProblem> =
            extents.iter().map(|extent| extent.text(self.id)).collect();
        self.grid = self.located(texts)?;
        Ok(())
    }

    /// Ends the kernel.
    pub fn finish(self) -> Kernel {
        let location = location(&self.start);
        let arguments: Vec<String> = self
            .arguments
            .iter()
            .map(|argument| {
                format!(
                    "%{0}: {1} {{async_pipeline.name = \"{0}\"{2}}}{3}",
                    argument.name, argument.ty, argument.attributes, argument.location
                )
            })
            .collect();
        let indent = " ".repeat("  gpu.func @(".len() + self.name.len());
        let mut text = format!(
            "gpu.module @kernels {{\n  gpu.func @{}({}) kernel",
            self.name,
            arguments.join(&format!(",\n{indent}"))
        );
        if !self.grid.is_empty() {
            let grid: Vec<String> = self.grid.iter().map(|text| format!("\"{text}\"")).collect();
            text += &format!(
                "\n      attributes {{async_pipeline.grid = #async_pipeline.grid<{}>}}",
                grid.join(", ")
            );
        }
        text += &format!(
            " {{\n{}    gpu.return{location}\n  }}{location}\n}}{location}\n",
            self.body
        );
        Kernel {
            name: self.name,
            text,
        }
    }

    // What the other files of the module are made of.

    /// An error at the current place.
    fn wrong<T>(&self, problem: BuildProblem) -> Result<T, BuildError> {
        Err(BuildError {
            place: self.place.clone(),
            problem,
        })
    }

    fn located<T>(&self, checked: Result<T, BuildProblem>) -> Result<T, BuildError> {
        checked.or_else(|problem| self.wrong(problem))
    }

    fn location(&self) -> String {
        location(&self.place)
    }

    fn id(&self, name: Name) -> Id {
        Id {
            kernel: self.id,
            scope: match name {
                Name::Argument(_) => 0,
                _ => self.scopes.last().copied().unwrap_or_default(),
            },
            name,
        }
    }

    fn value(&self, name: Name, ty: ValueType) -> Value {
        Value {
            id: self.id(name),
            ty,
        }
    }

    /// A number for the results of one op.
    fn number(&mut self) -> u32 {
        self.values += 1;
        self.values - 1
    }

    /// What a handle is called, if it may be used here.
    fn used(&self, id: Id) -> Result<String, BuildError> {
        if id.kernel != self.id {
            return self.wrong(BuildProblem::Foreign);
        }
        if !self.scopes.contains(&id.scope) {
            return self.wrong(BuildProblem::OutOfScope);
        }
        Ok(match id.name {
            Name::Argument(number) => match self.arguments.get(number as usize) {
                Some(argument) => format!("%{}", argument.name),
                None => return self.wrong(BuildProblem::Foreign),
            },
            Name::Value(number) => format!("%{number}"),
            Name::Result(number, part) => format!("%{number}#{part}"),
        })
    }

    fn used_all(&self, ids: impl IntoIterator<Item = Id>) -> Result<Vec<String>, BuildError> {
        ids.into_iter().map(|id| self.used(id)).collect()
    }

    fn line(&mut self, text: &str) {
        let depth = 2 + 2 * self.scopes.len();
        self.body.extend(std::iter::repeat_n(' ', depth));
        self.body += text;
        self.body.push('\n');
    }

    /// Writes an op without results.
    fn op(&mut self, text: &str) {
        let location = self.location();
        self.line(&format!("{text}{location}"));
    }

    /// Writes an op with one result.
    fn result(&mut self, text: &str) -> Id {
        let number = self.number();
        self.op(&format!("%{number} = {text}"));
        self.id(Name::Value(number))
    }

    fn valued(&mut self, text: &str, ty: ValueType) -> Value {
        Value {
            id: self.result(text),
            ty,
        }
    }
}

/// ` loc("file":line:column)`, or nothing. The text is ASCII whatever the file is called.
fn location(place: &Place) -> String {
    if place.is_unknown() {
        return String::new();
    }
    let mut file = String::new();
    for byte in place.file.bytes() {
        match byte {
            b'"' | b'\\' => file += &format!("\\{byte:02X}"),
            b' '..=b'~' => file.push(char::from(byte)),
            _ => file += &format!("\\{byte:02X}"),
        }
    }
    format!(" loc(\"{file}\":{}:{})", place.line, place.column)
}

/// Names of kernels and arguments end up in PTX, the manifest and MLIR.
fn identifier(what: &'static str, name: &str) -> Result<(), BuildProblem> {
    let head = |c: char| c.is_ascii_alphabetic() || c == '_';
    let fine = name.chars().next().is_some_and(head)
        && name.chars().all(|c| head(c) || c.is_ascii_digit());
    if fine {
        return Ok(());
    }
    Err(BuildProblem::Identifier {
        what,
        got: name.to_owned(),
    })
}
