//! The state of a run and its main loop.

use super::{
    Outcome, PhaseCount, Statistics,
    barriers::BarrierState,
    completion::{Pending, Rhythm},
    input::{ArgumentValue, LaunchError, LaunchInput},
    meetings::Meetings,
    memory::{self, ArgumentMemory, Shared},
    report::{Fault, MemoryAt, Note, Party, Report},
    schedule::{Completions, Scheduler},
    shadow::{Copy, Shadow},
    step::Flow,
    thread::{Status, Thread},
    value::{Base, Value, truncate},
};
use crate::program::{BarrierId, Operation, PlaceId, Program, ScalarType, ValueType};
use ptx_model::mbarrier::State;
use std::{
    collections::{HashMap, VecDeque},
    mem::{Discriminant, discriminant},
    rc::Rc,
};

/// Registers of all threads together.
const REGISTER_LIMIT: u64 = 1 << 25;
/// CTAs of one run.
const BLOCK_LIMIT: u64 = 1 << 20;
/// Statements after which a thread passes its turn on.
const SLICE: u32 = 4096;

/// What makes two faults the same: kind, place, place of the other side, role.
type Key = (Discriminant<Fault>, PlaceId, Option<PlaceId>, Option<usize>);

/// A run.
#[derive(Debug)]
pub(super) struct Machine<'p> {
    pub(super) program: &'p Program,
    pub(super) input: &'p LaunchInput,
    pub(super) arguments: Vec<Option<ArgumentMemory>>,
    pub(super) steps: u64,
    pub(super) statistics: Statistics,
    reports: Vec<Report>,
    known: HashMap<Key, Option<usize>>,

    // Of the CTA that runs.
    pub(super) block: [u32; 3],
    pub(super) threads: Vec<Thread<'p>>,
    pub(super) shared: Shared,
    pub(super) barriers: Vec<BarrierState>,
    /// Number of each array's first barrier.
    pub(super) first_barriers: Vec<usize>,
    /// States that arrives handed out, and the barriers they belong to.
    pub(super) states: Vec<(State, usize)>,
    pub(super) meetings: Meetings,
    pub(super) pending: VecDeque<Pending>,
    /// Bulk loads whose end nobody is known to have waited for.
    pub(super) bulk_loads: Vec<Rc<Copy>>,
    /// Whether the program waits for groups of `cp.async` copies anywhere.
    pub(super) waits_for_cp_async_groups: bool,
    pub(super) rhythms: HashMap<u32, Rhythm>,
    pub(super) scheduler: Scheduler,
    completions: Completions,
    /// Goes up with everything that a poll could have waited for.
    pub(super) progress: u64,
}

impl<'p> Machine<'p> {
    pub(super) fn new(program: &'p Program, input: &'p LaunchInput) -> Result<Self, LaunchError> {
        let arguments = memory::arguments(program, &input.arguments)?;
        let count = program.threads().or(input.threads).unwrap_or(32);
        if !(1..=1024).contains(&count) {
            return Err(LaunchError::Threads(count));
        }
        let needed = u64::from(count) * u64::from(program.registers);
        if needed > REGISTER_LIMIT {
            return Err(LaunchError::Registers {
                needed,
                limit: REGISTER_LIMIT,
            });
        }
        let mut first_barriers = Vec::new();
        let mut phases = Vec::new();
        for barrier in &program.barriers {
            first_barriers.push(phases.len());
            let count = |stage| PhaseCount {
                name: barrier.name.clone(),
                stage,
                phases: 0,
            };
            phases.extend((0..barrier.stages).map(count));
        }
        let mut waits_for_cp_async_groups = false;
        program.for_each_statement(&mut |statement| {
            waits_for_cp_async_groups |=
                matches!(statement.operation, Operation::CpAsyncWait { .. });
        });
        Ok(Self {
            program,
            input,
            arguments,
            steps: 0,
            statistics: Statistics {
                phases,
                ..Statistics::default()
            },
            reports: Vec::new(),
            known: HashMap::new(),
            block: [0; 3],
            threads: Vec::new(),
            shared: Shared::layout(&program.buffers)?,
            barriers: Vec::new(),
            first_barriers,
            states: Vec::new(),
            meetings: Meetings::default(),
            pending: VecDeque::new(),
            bulk_loads: Vec::new(),
            waits_for_cp_async_groups,
            rhythms: HashMap::new(),
            scheduler: Scheduler::new(input.schedule.order, program, count),
            completions: Completions::new(input.schedule.completion),
            progress: 0,
        })
    }

    /// The CTAs to run.
    pub(super) fn blocks(&self) -> Result<Vec<[u32; 3]>, LaunchError> {
        if let Some(blocks) = &self.input.blocks {
            return Ok(blocks.clone());
        }
        let [x, y, z] = self.input.grid;
        let got = [x, y, z]
            .into_iter()
            .fold(1_u64, |p, e| p.saturating_mul(u64::from(e)));
        if !(1..=BLOCK_LIMIT).contains(&got) {
            return Err(LaunchError::Grid {
                limit: BLOCK_LIMIT,
                got,
            });
        }
        let plane = |z| (0..y).flat_map(move |y| (0..x).map(move |x| [x, y, z]));
        Ok((0..z).flat_map(plane).collect())
    }

    fn reset(&mut self, block: [u32; 3]) -> Result<(), LaunchError> {
        let count = self.scheduler.threads();
        let program = self.program;
        self.block = block;
        self.shared = Shared::layout(&program.buffers)?;
        let components = count + self.statistics.phases.len();
        self.barriers = Vec::new();
        for (index, barrier) in program.barriers.iter().enumerate() {
            for stage in 0..barrier.stages {
                let array = BarrierId(index as u32);
                self.barriers
                    .push(BarrierState::new(array, stage, count, components));
            }
        }
        for argument in self.arguments.iter_mut().flatten() {
            argument.shadow = argument.shadow.take().map(|_| Shadow::default());
        }
        self.states.clear();
        self.meetings = Meetings::new(count);
        self.pending.clear();
        self.bulk_loads.clear();
        self.rhythms.clear();
        let registers = self.initial_registers();
        self.threads = (0..count)
            .map(|index| Thread::new(index, registers.clone(), &program.body, components))
            .collect();
        for thread in 0..count {
            self.scheduler.set_ready(thread, true);
        }
        Ok(())
    }

    fn initial_registers(&self) -> Vec<Value> {
        let mut registers = vec![Value::Empty; self.program.registers as usize];
        for (index, argument) in self.program.arguments.iter().enumerate() {
            let value = match (&self.arguments[index], &self.input.arguments[index]) {
                (Some(memory), _) => Value::View(memory.view.clone().into()),
                (None, value) => Value::Bits(scalar_bits(&argument.ty, value)),
            };
            if let Some(slot) = registers.get_mut(argument.register.0 as usize) {
                *slot = value;
            }
        }
        registers
    }

    /// Runs one CTA to its end; whether the run goes on.
    pub(super) fn run_block(&mut self, block: [u32; 3]) -> bool {
        if self.reset(block).is_err() {
            return false;
        }
        let mut rotate = false;
        let mut idle_rounds = (0, self.progress);
        loop {
            if let Some(index) = self.completions.choose(self.pending.len(), false) {
                self.complete(index);
            } else if let Some(thread) = self.scheduler.next(rotate) {
                rotate = self.run_slice(thread);
            } else if let Some(index) = self.completions.choose(self.pending.len(), true) {
                self.complete(index);
            } else if !self.release_polls(&mut idle_rounds) {
                break;
            }
            if self.steps > self.input.max_steps {
                let place = self.program.place;
                self.report(Fault::StepBound { steps: self.steps }, place, None, None);
                return false;
            }
        }
        self.finish();
        true
    }

    /// Runs a thread until others could notice; whether it used its whole turn.
    fn run_slice(&mut self, t: usize) -> bool {
        for _ in 0..SLICE {
            let Some(frame) = self.threads[t].frames.last_mut() else {
                self.threads[t].status = Status::Done;
                self.scheduler.set_ready(t, false);
                self.progress += 1;
                return false;
            };
            let Some(statement) = frame.statements.get(frame.next) else {
                self.threads[t].leave(Vec::new());
                continue;
            };
            frame.next += 1;
            self.steps += 1;
            match self.execute(t, statement) {
                Flow::On => {}
                Flow::Visible => return false,
                Flow::Retry => {
                    if let Some(frame) = self.threads[t].frames.last_mut() {
                        frame.next -= 1;
                    }
                    self.scheduler.set_ready(t, false);
                    return false;
                }
                Flow::Stop => {
                    self.scheduler.set_ready(t, false);
                    return false;
                }
            }
            if self.steps > self.input.max_steps {
                return false;
            }
        }
        true
    }

    /// Lets a thread go on.
    pub(super) fn wake(&mut self, t: usize) {
        self.threads[t].status = Status::Ready;
        self.scheduler.set_ready(t, true);
    }

    /// Answers standing polls with no; whether that is worth trying.
    fn release_polls(&mut self, idle_rounds: &mut (u32, u64)) -> bool {
        if idle_rounds.1 != self.progress {
            *idle_rounds = (0, self.progress);
        }
        idle_rounds.0 += 1;
        if idle_rounds.0 > 64 {
            return false;
        }
        let polling: Vec<usize> = (0..self.threads.len())
            .filter(|t| matches!(self.threads[*t].status, Status::Barrier { polls: true, .. }))
            .collect();
        for t in &polling {
            self.threads[*t].told_no = true;
            self.wake(*t);
        }
        !polling.is_empty()
    }

    pub(super) fn party(&self, t: usize) -> Party {
        let role = self.threads[t]
            .role
            .and_then(|role| self.program.roles.get(role));
        Party {
            role: role.map(|role| role.name.clone()),
            warp: t as u32 / 32,
            lane: t as u32 % 32,
        }
    }

    /// Notes a fault, once per kind, place and role.
    pub(super) fn report(
        &mut self,
        fault: Fault,
        place: PlaceId,
        thread: Option<usize>,
        note: Option<(PlaceId, &'static str)>,
    ) {
        let role = thread.and_then(|t| self.threads[t].role);
        let key = (
            discriminant(&fault),
            place,
            note.map(|(place, _)| place),
            role,
        );
        match self.known.get(&key) {
            Some(Some(index)) => self.reports[*index].count += 1,
            Some(None) => {}
            None if self.reports.len() >= self.input.max_reports => {
                self.known.insert(key, None);
            }
            None => {
                self.known.insert(key, Some(self.reports.len()));
                self.reports.push(Report {
                    fault,
                    place: self.program.place(place),
                    place_id: place,
                    party: thread.map(|t| self.party(t)),
                    note: note.map(|(place_id, text)| Note {
                        place: self.program.place(place_id),
                        place_id,
                        text,
                    }),
                    block: self.block,
                    count: 1,
                });
            }
        }
    }

    /// The name of a byte, for reports.
    pub(super) fn memory_at(&self, base: Base, byte: u64) -> MemoryAt {
        match base {
            Base::Shared { .. } => self.shared.name(&self.program.buffers, byte),
            Base::Argument(index) => {
                let memory = self.arguments.get(index as usize).and_then(Option::as_ref);
                let name = memory.map(|memory| memory.name.clone()).unwrap_or_default();
                MemoryAt {
                    name,
                    slot: None,
                    byte,
                }
            }
            Base::Local(_) => MemoryAt {
                name: "thread memory".to_owned(),
                slot: None,
                byte,
            },
        }
    }

    pub(super) fn into_outcome(self) -> Outcome {
        let more_reports = self.known.len() - self.reports.len();
        let arguments = self
            .arguments
            .into_iter()
            .map(|memory| memory.map(|memory| memory.bytes).unwrap_or_default())
            .collect();
        let statistics = Statistics {
            steps: self.steps,
            ..self.statistics
        };
        Outcome {
            reports: self.reports,
            more_reports,
            arguments,
            statistics,
        }
    }
}

fn scalar_bits(ty: &ValueType, value: &ArgumentValue) -> u64 {
    let element = ty.element();
    match (element, value) {
        (ScalarType::Float(format), ArgumentValue::Float(value)) => format.encode(*value),
        (ScalarType::Float(format), ArgumentValue::Integer(value)) => format.encode(*value as f64),
        (_, ArgumentValue::Integer(value)) => truncate(value.cast_unsigned(), element.bits()),
        (_, ArgumentValue::Float(value)) => {
            truncate((*value as i64).cast_unsigned(), element.bits())
        }
        (_, ArgumentValue::MemRef { .. }) => 0,
    }
}
