//! Runs a tile-level kernel on the CPU, in order, as one thread that owns whole tiles: the
//! meaning that every lowering has to keep.
//!
//! ```text
//!   text ──► Kernel::parse ──► Kernel::run(Launch) ──► the arguments afterwards
//! ```
//!
//! What each op computes, with rounding and special values, is one table; it is printed in
//! `docs/reference/tile-semantics.md`, and the pass `async-pipeline-verify-tiles` accepts the
//! ops that have a row in it.

mod compute;
mod element;
mod extract;
mod functions;
mod input;
mod machine;
mod memory;
mod page;
mod program;
pub(crate) mod table;
mod tile;

pub use element::Element;
pub use input::{Argument, Array, KernelError, Launch, LaunchError, Problem, TileError};
pub use page::render_markdown;

use crate::compile;
use async_pipeline_sys::{dialect::grid_dims, hooks::guarded, ir::Op};
use extract::Extracted;
use machine::{Machine, Value};
use memory::{Memory, Tensor};
use program::Parameter;
use ptx_model::grid::{GridEnv, GridExpr};
use std::{rc::Rc, sync::Arc};
use tile::Tile;

/// A kernel that can be run.
pub struct Kernel {
    name: String,
    grid: Vec<String>,
    extracted: Extracted,
}

/// Runs the only kernel of a module.
///
/// # Errors
/// See [`TileError`].
pub fn run(text: &str, launch: &Launch) -> Result<Vec<Argument>, TileError> {
    Kernel::parse(text, None)?.run(launch)
}

impl Kernel {
    /// Reads a kernel from the text of a module: the one of this name, or the only one.
    ///
    /// # Errors
    /// Text that is wrong, a kernel that is not there, or one with ops that have no
    /// meaning at the tile level.
    pub fn parse(text: &str, name: Option<&str>) -> Result<Self, TileError> {
        crate::initialize();
        guarded(|| compile::parsed(text, |module| Self::find(module, name)))
            .map_err(TileError::Internal)?
            .map_err(TileError::Rejected)?
    }

    /// Finds and reads a kernel of a module.
    fn find(module: Op, name: Option<&str>) -> Result<Self, TileError> {
        let name_of = |function: &Op| {
            function
                .attr("sym_name")
                .and_then(|name| name.string())
                .unwrap_or_default()
        };
        let kernels: Vec<Op> = module
            .find("gpu.func")
            .into_iter()
            .filter(|function| function.attr("gpu.kernel").is_some())
            .collect();
        let function = match (name, &kernels[..]) {
            (Some(name), all) => all
                .iter()
                .find(|function| name_of(function) == name)
                .copied()
                .ok_or_else(|| KernelError::Unknown {
                    name: name.to_owned(),
                    known: all.iter().map(name_of).collect(),
                })?,
            (None, [only]) => *only,
            (None, all) => return Err(KernelError::Count(all.len()).into()),
        };
        Ok(Self {
            name: name_of(&function),
            grid: function
                .attr("async_pipeline.grid")
                .map(grid_dims)
                .unwrap_or_default(),
            extracted: extract::extract(function)?,
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs every block of the grid, x fastest, and hands out the arguments as they are
    /// afterwards.
    ///
    /// # Errors
    /// A launch that does not fit, or a kernel that goes wrong; see [`TileError`].
    pub fn run(&self, launch: &Launch) -> Result<Vec<Argument>, TileError> {
        guarded(|| self.run_unguarded(launch)).unwrap_or_else(|bug| Err(TileError::Internal(bug)))
    }

    fn run_unguarded(&self, launch: &Launch) -> Result<Vec<Argument>, TileError> {
        let Extracted {
            parameters,
            arguments,
            body,
            registers,
            place,
        } = &self.extracted;
        if parameters.len() != launch.arguments.len() {
            return Err(LaunchError::ArgumentCount {
                expected: parameters.len(),
                got: launch.arguments.len(),
            }
            .into());
        }
        let mut memory = Vec::new();
        let mut values = Vec::new();
        for (index, (parameter, given)) in parameters.iter().zip(&launch.arguments).enumerate() {
            let value = match (parameter, given) {
                (Parameter::Array { .. }, Argument::Array(array)) => {
                    fits(index, parameter, array)?;
                    memory.push(Memory::new(array));
                    let at = memory.len() - 1;
                    Value::Tensor(Rc::new(Tensor::whole(at, &memory[at].shape)))
                }
                (Parameter::Scalar(element), Argument::Integer(value)) if !element.is_float() => {
                    Value::Tile(Arc::new(Tile::int(*element, value.cast_unsigned())))
                }
                (Parameter::Scalar(element), Argument::Float(value)) if element.is_float() => {
                    Value::Tile(Arc::new(Tile::float(*element, element.round(*value))))
                }
                _ => return Err(kind(index, parameter).into()),
            };
            values.push((arguments[index], value));
        }
        let grid = self.grid(launch)?;
        let mut machine = Machine::new(memory, grid, launch.max_steps);
        for z in 0..grid[2] {
            for y in 0..grid[1] {
                for x in 0..grid[0] {
                    machine.run_block([x, y, z], &values, *registers, body, place)?;
                }
            }
        }
        let mut arrays = machine.into_arrays().into_iter();
        let after = launch.arguments.iter().map(|given| match given {
            Argument::Array(array) => {
                Argument::Array(arrays.next().unwrap_or_else(|| array.clone()))
            }
            other => other.clone(),
        });
        Ok(after.collect())
    }

    fn grid(&self, launch: &Launch) -> Result<[u32; 3], LaunchError> {
        if let Some(grid) = launch.grid {
            return Ok(grid);
        }
        if self.grid.is_empty() {
            return Err(LaunchError::Grid(
                "expected a grid: the kernel has no async_pipeline.grid".to_owned(),
            ));
        }
        let mut grid = [1; 3];
        for (extent, text) in grid.iter_mut().zip(&self.grid) {
            let expression: GridExpr = text
                .parse()
                .map_err(|why| LaunchError::Grid(format!("grid '{text}': {why}")))?;
            let value = expression
                .eval(&Environment(launch))
                .map_err(|why| LaunchError::Grid(format!("grid '{text}': {why}")))?;
            *extent = u32::try_from(value).map_err(|_| {
                LaunchError::Grid(format!(
                    "expected a grid extent from 0 to {}, got {value}",
                    u32::MAX
                ))
            })?;
        }
        Ok(grid)
    }
}

struct Environment<'a>(&'a Launch);

impl GridEnv for Environment<'_> {
    fn dim(&self, argument: u32, dimension: u32) -> Option<i64> {
        match self.0.arguments.get(argument as usize)? {
            Argument::Array(array) => i64::try_from(*array.shape.get(dimension as usize)?).ok(),
            _ => None,
        }
    }

    fn scalar(&self, argument: u32) -> Option<i64> {
        match self.0.arguments.get(argument as usize)? {
            Argument::Integer(value) => Some(*value),
            _ => None,
        }
    }

    fn sm_count(&self) -> Option<i64> {
        Some(self.0.sm_count)
    }
}

fn kind(index: usize, parameter: &Parameter) -> LaunchError {
    let expected = match parameter {
        Parameter::Array { element, shape, .. } => {
            format!("an array of rank {} of {element}", shape.len())
        }
        Parameter::Scalar(element) if element.is_float() => format!("a float for {element}"),
        Parameter::Scalar(element) => format!("an integer for {element}"),
    };
    LaunchError::ArgumentKind { index, expected }
}

/// Whether an array is what a memref parameter takes.
fn fits(index: usize, parameter: &Parameter, array: &Array) -> Result<(), LaunchError> {
    let Parameter::Array {
        element,
        shape,
        strides,
    } = parameter
    else {
        return Err(kind(index, parameter));
    };
    if array.element != *element {
        return Err(kind(index, parameter));
    }
    let same = |given: &[u64], known: &[Option<u64>]| {
        given.len() == known.len()
            && given
                .iter()
                .zip(known)
                .all(|(given, known)| known.is_none_or(|known| known == *given))
    };
    let strides: Vec<Option<u64>> = strides
        .iter()
        .map(|stride| stride.map(|stride| stride.max(0).cast_unsigned()))
        .collect();
    if !same(&array.shape, shape) || !same(&array.strides, &strides) {
        return Err(LaunchError::Shape {
            index,
            shape: array.shape.clone(),
            strides: array.strides.clone(),
        });
    }
    let got = array.data.len() as u64;
    match array.extent() {
        Some(expected) if expected == got => Ok(()),
        expected => Err(LaunchError::Data {
            index,
            expected: expected.unwrap_or(u64::MAX),
            got,
        }),
    }
}

impl std::fmt::Debug for Kernel {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Kernel {}", self.name)
    }
}
