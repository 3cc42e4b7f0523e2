//! Bytes: arguments, shared memory and the memory of threads.

use super::{
    input::{ArgumentValue, LaunchError},
    report::MemoryAt,
    shadow::Shadow,
    value::{Base, View, row_major},
};
use crate::program::{Buffer, Operation, Program, Register, Space, ValueType};
use std::collections::HashMap;

/// Bytes of shared memory that are modelled: more than any target has.
const SHARED_LIMIT: u64 = 1 << 20;

/// One memref argument.
#[derive(Debug)]
pub(super) struct ArgumentMemory {
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
    /// Kept for arguments that the kernel writes; reads of the others cannot race.
    pub(super) shadow: Option<Shadow>,
    pub(super) view: View,
}

/// Shared memory of the running CTA.
#[derive(Debug, Default)]
pub(super) struct Shared {
    pub(super) bytes: Vec<u8>,
    pub(super) shadow: Shadow,
    /// Start of each buffer.
    pub(super) starts: Vec<u64>,
    /// Number of each buffer's first slot.
    pub(super) first_slots: Vec<u32>,
}

/// Where bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) base: Base,
    /// From the start of the argument, of all shared memory, or of the allocation.
    pub(super) byte: u64,
    pub(super) length: u64,
}

impl Shared {
    /// Lays the buffers out, by their offsets or one behind the other.
    pub(super) fn layout(buffers: &[Buffer]) -> Result<Self, LaunchError> {
        let mut shared = Self::default();
        let (mut end, mut slots) = (0_u64, 0_u32);
        for buffer in buffers {
            let length = buffer.slot_pitch().saturating_mul(buffer.stages);
            let start = buffer.offset.unwrap_or_else(|| end.next_multiple_of(128));
            end = end.max(start.saturating_add(length));
            if end > SHARED_LIMIT {
                return Err(LaunchError::SharedMemory {
                    needed: end,
                    limit: SHARED_LIMIT,
                });
            }
            shared.starts.push(start);
            shared.first_slots.push(slots);
            slots = slots.saturating_add(buffer.stages as u32);
        }
        shared.bytes = vec![0; end as usize];
        Ok(shared)
    }

    /// Number of the slot that a byte is in.
    pub(super) fn slot(&self, program: &Program, byte: u64) -> Option<u32> {
        let buffers = program
            .buffers
            .iter()
            .zip(&self.starts)
            .zip(&self.first_slots);
        for ((buffer, start), first) in buffers {
            let pitch = buffer.slot_pitch();
            let inside = byte
                .checked_sub(*start)
                .filter(|b| *b < pitch * buffer.stages);
            if let Some(inside) = inside {
                return Some(first + (inside / pitch.max(1)) as u32);
            }
        }
        None
    }

    /// The buffer and slot of a byte, for reports. Of buffers that overlap, the last one.
    pub(super) fn name(&self, buffers: &[Buffer], byte: u64) -> MemoryAt {
        for (buffer, start) in buffers.iter().zip(&self.starts).rev() {
            let pitch = buffer.slot_pitch();
            let inside = byte
                .checked_sub(*start)
                .filter(|b| *b < pitch * buffer.stages);
            if let Some(inside) = inside {
                let slot = Some(inside / pitch.max(1));
                return MemoryAt {
                    name: buffer.name.clone(),
                    slot,
                    byte: inside % pitch.max(1),
                };
            }
        }
        MemoryAt {
            name: "shared memory".to_owned(),
            slot: None,
            byte,
        }
    }
}

/// Checks the values of a launch against the kernel's arguments.
pub(super) fn arguments(
    program: &Program,
    values: &[ArgumentValue],
) -> Result<Vec<Option<ArgumentMemory>>, LaunchError> {
    let (expected, got) = (program.arguments.len(), values.len());
    if expected != got {
        return Err(LaunchError::ArgumentCount { expected, got });
    }
    let written = written_arguments(program);
    let mut out = Vec::new();
    for (index, (argument, value)) in program.arguments.iter().zip(values).enumerate() {
        let memory = match (&argument.ty, value) {
            (
                ValueType::MemRef(ty),
                ArgumentValue::MemRef {
                    shape,
                    strides,
                    data,
                },
            ) => {
                if ty.space != Space::Global {
                    return Err(LaunchError::Space {
                        index,
                        space: ty.space,
                    });
                }
                let matches = ty.shape.len() == shape.len()
                    && ty
                        .shape
                        .iter()
                        .zip(shape)
                        .all(|(ty, e)| ty.is_none_or(|ty| ty == *e));
                if !matches {
                    return Err(LaunchError::Shape {
                        index,
                        got: shape.clone(),
                    });
                }
                let element_bytes = ty.element.bytes();
                let view = view(index, shape, strides.as_deref(), element_bytes)?;
                let expected = extent(&view).saturating_mul(u64::from(element_bytes));
                if expected != data.len() as u64 {
                    return Err(LaunchError::Data {
                        index,
                        expected,
                        got: data.len() as u64,
                    });
                }
                let name = argument
                    .name
                    .clone()
                    .unwrap_or_else(|| format!("argument {index}"));
                let shadow = written[index].then(Shadow::default);
                Some(ArgumentMemory {
                    name,
                    bytes: data.clone(),
                    shadow,
                    view,
                })
            }
            (ValueType::Scalar(_), ArgumentValue::Integer(_) | ArgumentValue::Float(_)) => None,
            (ValueType::Scalar(ty), _) => {
                return Err(LaunchError::ArgumentKind {
                    index,
                    expected: format!("a {ty}"),
                });
            }
            (ValueType::MemRef(ty), _) => {
                let expected = format!("a memref of {}", ty.element);
                return Err(LaunchError::ArgumentKind { index, expected });
            }
            (ValueType::Vector(_, ty), _) => return Err(LaunchError::Scalar { index, ty: *ty }),
        };
        out.push(memory);
    }
    Ok(out)
}

fn view(
    index: usize,
    shape: &[u64],
    strides: Option<&[u64]>,
    element_bytes: u32,
) -> Result<View, LaunchError> {
    let bad = || LaunchError::Shape {
        index,
        got: shape.to_vec(),
    };
    // No argument is larger than this, so that address arithmetic cannot overflow.
    let number = |value: u64| {
        i64::try_from(value)
            .ok()
            .filter(|v| *v < 1 << 40)
            .ok_or_else(bad)
    };
    let sizes = shape
        .iter()
        .map(|e| number(*e))
        .collect::<Result<Vec<_>, _>>()?;
    let strides = match strides {
        Some(strides) if strides.len() == shape.len() => strides
            .iter()
            .map(|s| number(*s))
            .collect::<Result<Vec<_>, _>>()?,
        Some(_) => return Err(bad()),
        None => {
            let strides = row_major(&sizes);
            strides
                .iter()
                .try_for_each(|s| number(s.cast_unsigned()).map(|_| ()))?;
            strides
        }
    };
    Ok(View {
        base: Base::Argument(index as u32),
        element_bytes,
        offset: 0,
        sizes,
        strides,
    })
}

/// Elements from the first to behind the last.
fn extent(view: &View) -> u64 {
    if view.sizes.contains(&0) {
        return 0;
    }
    view.sizes
        .iter()
        .zip(&view.strides)
        .fold(1_u64, |sum, (size, stride)| {
            sum.saturating_add(
                (size - 1)
                    .cast_unsigned()
                    .saturating_mul(stride.cast_unsigned()),
            )
        })
}

/// Which arguments the kernel writes. A store through a register whose origin is not plain
/// counts against all of them.
fn written_arguments(program: &Program) -> Vec<bool> {
    // `None`: the CTA's own memory.
    let mut origins: HashMap<Register, Option<usize>> = program
        .arguments
        .iter()
        .enumerate()
        .map(|(index, a)| (a.register, Some(index)))
        .collect();
    let mut written = vec![false; program.arguments.len()];
    program.for_each_statement(&mut |statement| {
        let stored = match &statement.operation {
            Operation::SubView {
                memref: source,
                result,
                ..
            }
            | Operation::Reinterpret {
                memref: source,
                result,
                ..
            }
            | Operation::Metadata {
                memref: source,
                base: result,
                ..
            } => {
                follow(&mut origins, *source, *result);
                return;
            }
            Operation::Compute {
                operands, result, ..
            } => {
                if let [source] = operands[..] {
                    follow(&mut origins, source, *result);
                }
                return;
            }
            Operation::BufferSlot { result, .. } | Operation::Local { result, .. } => {
                origins.insert(*result, None);
                return;
            }
            Operation::Store { access, .. } => access.at.memref,
            Operation::BulkStore { target, .. } => target.memref,
            Operation::TmaStore { map, .. } => *map,
            _ => return,
        };
        match origins.get(&stored) {
            Some(Some(argument)) => written[*argument] = true,
            Some(None) => {}
            None => written.fill(true),
        }
    });
    written
}

fn follow(origins: &mut HashMap<Register, Option<usize>>, source: Register, result: Register) {
    if let Some(origin) = origins.get(&source).copied() {
        origins.insert(result, origin);
    }
}
