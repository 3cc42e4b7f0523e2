//! One statement of one thread.

use super::{
    compute,
    machine::Machine,
    report::Fault,
    thread::{FrameKind, Loop, counter_value},
    value::{Base, Value, View, row_major, signed, truncate},
};
use crate::program::{Operation, PlaceId, Query, Register, ScalarType, Statement};
use std::rc::Rc;

/// Bytes of thread-private memory that are modelled.
const LOCAL_LIMIT: u64 = 65536;

/// What a statement did to its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// It goes on.
    On,
    /// It goes on, and others could have noticed what it did.
    Visible,
    /// It stops in front of the statement and will try it again.
    Retry,
    /// It stops behind the statement until others let it go on.
    Stop,
}

impl<'p> Machine<'p> {
    pub(super) fn execute(&mut self, t: usize, statement: &'p Statement) -> Flow {
        let place = statement.place;
        match &statement.operation {
            Operation::Compute {
                function,
                operands,
                result,
            } => {
                let thread = &self.threads[t];
                let values: Vec<&Value> = operands.iter().map(|r| thread.get(*r)).collect();
                let value = compute::evaluate(function, &values);
                match value {
                    Ok(value) => {
                        self.steps += value.lanes().len() as u64 / 16;
                        self.threads[t].set(*result, value);
                    }
                    Err(error) => self.report(Fault::Computation(error), place, Some(t), None),
                }
            }
            Operation::Ask { query, result } => {
                let value = self.ask(t, *query);
                self.threads[t].set(*result, Value::Bits(value));
            }
            Operation::Elect { result } => {
                self.threads[t].set(*result, Value::Bits(u64::from(t.is_multiple_of(32))));
            }
            Operation::Load { access, result } => {
                let value = self.load(t, access, place);
                self.threads[t].set(*result, value);
            }
            Operation::Store { access, value } => self.store(t, access, *value, place),
            Operation::If { .. }
            | Operation::For { .. }
            | Operation::While { .. }
            | Operation::Yield { .. }
            | Operation::Condition { .. }
            | Operation::Roles
            | Operation::Return => self.control(t, &statement.operation, place),
            Operation::Dim { .. }
            | Operation::Metadata { .. }
            | Operation::SubView { .. }
            | Operation::Reinterpret { .. }
            | Operation::Local { .. }
            | Operation::BufferSlot { .. } => self.view_op(t, statement),
            operation => return self.synchronise(t, operation, place),
        }
        Flow::On
    }

    /// What others can notice.
    fn synchronise(&mut self, t: usize, operation: &'p Operation, place: PlaceId) -> Flow {
        match operation {
            Operation::CtaBarrier => self.meet_cta(t, place),
            Operation::NamedBarrier { id, threads, waits } => {
                self.meet_named(t, *id, *threads, *waits, place)
            }
            Operation::WarpSync => self.meet_warp(t, place),
            Operation::FenceProxyAsync => {
                self.threads[t].knowledge.fence(t);
                Flow::On
            }
            Operation::FenceMbarrierInit => {
                self.fence_init(t);
                Flow::On
            }
            Operation::CpAsync { .. }
            | Operation::CpAsyncArrive { .. }
            | Operation::CpAsyncCommit
            | Operation::CpAsyncWait { .. }
            | Operation::BulkLoad { .. }
            | Operation::BulkStore { .. }
            | Operation::TmaLoad { .. }
            | Operation::TmaStore { .. }
            | Operation::BulkCommit
            | Operation::BulkWait { .. } => self.copy_op(t, operation, place),
            _ => self.barrier_op(t, operation, place),
        }
    }

    /// An integer operand; a register without one is reported and reads as 0.
    pub(super) fn number(
        &mut self,
        t: usize,
        register: Register,
        width: u32,
        place: PlaceId,
    ) -> i64 {
        match self.threads[t].get(register).bits() {
            Some(bits) => signed(bits, width),
            None => {
                let fault = Fault::Computation(compute::ComputeError::Operand);
                self.report(fault, place, Some(t), None);
                0
            }
        }
    }

    fn numbers(&mut self, t: usize, registers: &[Register], place: PlaceId) -> Vec<i64> {
        registers
            .iter()
            .map(|register| self.number(t, *register, 64, place))
            .collect()
    }

    pub(super) fn view(
        &mut self,
        t: usize,
        register: Register,
        place: PlaceId,
    ) -> Option<Rc<View>> {
        if let Value::View(view) = self.threads[t].get(register) {
            return Some(Rc::clone(view));
        }
        self.report(
            Fault::Computation(compute::ComputeError::Operand),
            place,
            Some(t),
            None,
        );
        None
    }

    fn ask(&self, t: usize, query: Query) -> u64 {
        let role = self.threads[t]
            .role
            .and_then(|role| self.program.roles.get(role));
        let along = |values: [u32; 3], dimension: u8| {
            u64::from(values.get(usize::from(dimension)).copied().unwrap_or(0))
        };
        let threads = self.threads.len() as u32;
        match query {
            Query::ThreadId(dimension) => along([t as u32, 0, 0], dimension),
            Query::BlockDim(dimension) => along([threads, 1, 1], dimension),
            Query::BlockId(dimension) => along(self.block, dimension),
            Query::GridDim(dimension) => along(self.input.grid, dimension),
            Query::RoleThreadId => {
                (t as u64).saturating_sub(role.map_or(0, |role| u64::from(role.first_warp) * 32))
            }
            Query::RoleThreadCount => {
                role.map_or(u64::from(threads), |role| u64::from(role.warps) * 32)
            }
            Query::LaneId => t as u64 % 32,
            Query::WarpId => t as u64 / 32,
        }
    }

    fn control(&mut self, t: usize, operation: &'p Operation, place: PlaceId) {
        match operation {
            Operation::If {
                condition,
                then,
                otherwise,
                results,
            } => {
                let taken = self.number(t, *condition, 1, place) != 0;
                let block = if taken { then } else { otherwise };
                self.threads[t].enter(block, FrameKind::If { results });
            }
            Operation::For { .. } => self.enter_for(t, operation, place),
            Operation::While {
                initial,
                before_arguments,
                before,
                after_arguments,
                after,
                results,
            } => {
                let thread = &mut self.threads[t];
                thread.set_all(before_arguments, thread.values(initial));
                let parts = Loop {
                    before_arguments,
                    before,
                    after_arguments,
                    after,
                    results,
                };
                thread.enter(before, FrameKind::Before(parts));
            }
            Operation::Yield { values } => {
                let values = self.threads[t].values(values);
                self.threads[t].leave(values);
            }
            Operation::Condition { condition, values } => {
                let go_on = self.number(t, *condition, 1, place) != 0;
                let values = self.threads[t].values(values);
                self.threads[t].decide(go_on, values);
            }
            Operation::Roles => self.enter_role(t),
            _ => self.threads[t].frames.clear(),
        }
    }

    fn enter_for(&mut self, t: usize, operation: &'p Operation, place: PlaceId) {
        let Operation::For {
            lower,
            upper,
            step,
            counter,
            width,
            unsigned,
            initial,
            carried,
            results,
            body,
        } = operation
        else {
            return;
        };
        let mut bound = |register: &Register| {
            let value = self.number(t, *register, *width, place);
            if *unsigned {
                i128::from(truncate(value.cast_unsigned(), *width))
            } else {
                i128::from(value)
            }
        };
        let (current, upper, step) = (bound(lower), bound(upper), bound(step));
        if step <= 0 {
            self.report(Fault::BadStep { step: step as i64 }, place, Some(t), None);
        }
        let thread = &mut self.threads[t];
        let values = thread.values(initial);
        if current >= upper || step <= 0 {
            thread.set_all(results, values);
            return;
        }
        thread.set_all(carried, values);
        thread.set(*counter, counter_value(current, *width));
        let (counter, width) = (*counter, *width);
        thread.enter(
            body,
            FrameKind::For {
                counter,
                width,
                carried,
                results,
                current,
                upper,
                step,
            },
        );
    }

    fn enter_role(&mut self, t: usize) {
        let program = self.program;
        let warp = t as u32 / 32;
        let found = program
            .roles
            .iter()
            .enumerate()
            .find(|(_, role)| (role.first_warp..role.first_warp + role.warps).contains(&warp));
        let Some((index, role)) = found else { return };
        self.threads[t].role = Some(index);
        if !role.elected || t as u32 == role.first_warp * 32 {
            self.threads[t].enter(&role.body, FrameKind::Body);
        }
    }

    fn view_op(&mut self, t: usize, statement: &'p Statement) {
        let place = statement.place;
        match &statement.operation {
            Operation::Dim {
                memref,
                dimension,
                result,
            } => {
                let dimension = self.number(t, *dimension, 64, place);
                let Some(view) = self.view(t, *memref, place) else {
                    return;
                };
                let size = usize::try_from(dimension)
                    .ok()
                    .and_then(|d| view.sizes.get(d));
                match size {
                    Some(size) => {
                        self.threads[t].set(*result, Value::Bits(size.cast_unsigned()));
                    }
                    None => {
                        let extent = view.sizes.len() as i64;
                        let fault = Fault::OutOfBounds {
                            dimension: 0,
                            index: dimension,
                            extent,
                        };
                        self.report(fault, place, Some(t), None);
                    }
                }
            }
            Operation::Metadata {
                memref,
                base,
                numbers,
            } => {
                let Some(view) = self.view(t, *memref, place) else {
                    return;
                };
                let values = std::iter::once(view.offset)
                    .chain(view.sizes.iter().copied())
                    .chain(view.strides.iter().copied())
                    .map(|number| Value::Bits(number.cast_unsigned()));
                let thread = &mut self.threads[t];
                thread.set_all(numbers, values.collect());
                let whole = View {
                    offset: 0,
                    sizes: Vec::new(),
                    strides: Vec::new(),
                    ..*view
                };
                thread.set(*base, Value::View(whole.into()));
            }
            Operation::SubView {
                memref,
                offsets,
                sizes,
                strides,
                dropped,
                result,
            } => {
                let (offsets, sizes, steps) = (
                    self.numbers(t, offsets, place),
                    self.numbers(t, sizes, place),
                    self.numbers(t, strides, place),
                );
                let Some(view) = self.view(t, *memref, place) else {
                    return;
                };
                let mut part = View {
                    sizes: Vec::new(),
                    strides: Vec::new(),
                    ..*view
                };
                for (d, stride) in view.strides.iter().enumerate() {
                    let of = |list: &[i64]| list.get(d).copied().unwrap_or(0);
                    part.offset = part.offset.wrapping_add(of(&offsets).wrapping_mul(*stride));
                    if !dropped.get(d).copied().unwrap_or(false) {
                        part.sizes.push(of(&sizes));
                        part.strides.push(stride.wrapping_mul(of(&steps)));
                    }
                }
                self.threads[t].set(*result, Value::View(part.into()));
            }
            Operation::Reinterpret {
                memref,
                offset,
                sizes,
                strides,
                result,
            } => {
                let offset = self.number(t, *offset, 64, place);
                let sizes = self.numbers(t, sizes, place);
                let strides = self.numbers(t, strides, place);
                let Some(view) = self.view(t, *memref, place) else {
                    return;
                };
                let view = View {
                    offset,
                    sizes,
                    strides,
                    ..*view
                };
                self.threads[t].set(*result, Value::View(view.into()));
            }
            Operation::Local {
                element,
                shape,
                dynamic,
                result,
            } => {
                let dynamic = self.numbers(t, dynamic, place);
                self.allocate_local(t, statement, *element, shape, &dynamic, *result);
            }
            Operation::BufferSlot {
                buffer,
                stage,
                result,
            } => {
                if let Some(view) = self.slot_view(t, *buffer, *stage, place) {
                    self.threads[t].set(*result, Value::View(view.into()));
                }
            }
            _ => {}
        }
    }

    fn allocate_local(
        &mut self,
        t: usize,
        statement: &Statement,
        element: ScalarType,
        shape: &[u64],
        dynamic: &[i64],
        result: Register,
    ) {
        let mut dynamic = dynamic.iter();
        let sizes: Vec<i64> = shape
            .iter()
            .map(|extent| match i64::try_from(*extent) {
                Ok(extent) => extent,
                // The mark of a dynamic extent.
                Err(_) => dynamic.next().copied().unwrap_or(0).max(0),
            })
            .collect();
        let elements = sizes
            .iter()
            .fold(1_u64, |p, e| p.saturating_mul(e.cast_unsigned()));
        let bytes = elements.saturating_mul(u64::from(element.bytes()));
        if bytes > LOCAL_LIMIT {
            self.report(Fault::LocalMemory { bytes }, statement.place, Some(t), None);
            return;
        }
        let strides = row_major(&sizes);
        let thread = &mut self.threads[t];
        let next = thread.local.len() as u32;
        let index = *thread.local_of.entry(statement.id).or_insert(next);
        if index == next {
            thread.local.push(Vec::new());
        }
        thread.local[index as usize].resize(bytes as usize, 0);
        let base = Base::Local(index);
        let view = View {
            base,
            element_bytes: element.bytes(),
            offset: 0,
            sizes,
            strides,
        };
        thread.set(result, Value::View(view.into()));
    }
}
