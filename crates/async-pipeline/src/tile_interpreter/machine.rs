//! Runs a kernel, block after block.

use super::{
    TileError,
    compute::{self, reduce},
    element::Element,
    input::{Array, Problem},
    memory::{Memory, Tensor},
    program::{Action, Block, Node, Register, TileType},
    tile::{Data, Tile, elements},
};
use crate::{
    interpreter::{ComputeError, signed},
    program::Place,
};
use std::{cell::RefCell, rc::Rc, sync::Arc};

/// What a register holds.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Tile(Arc<Tile>),
    Tensor(Rc<Tensor>),
    /// Sums in double precision, row-major.
    Accumulator(Rc<RefCell<Vec<f64>>>),
    /// Nothing until it is filled.
    Buffer(Rc<RefCell<Option<Data>>>),
}

pub(super) struct Machine {
    memory: Vec<Memory>,
    registers: Vec<Option<Value>>,
    block: [u32; 3],
    grid: [u32; 3],
    steps: u64,
    max_steps: u64,
}

type Outcome<T> = Result<T, Problem>;

impl Machine {
    pub(super) fn new(memory: Vec<Memory>, grid: [u32; 3], max_steps: u64) -> Self {
        Self {
            memory,
            registers: Vec::new(),
            block: [0; 3],
            grid,
            steps: 0,
            max_steps,
        }
    }

    /// Runs one block of the grid.
    pub(super) fn run_block(
        &mut self,
        block: [u32; 3],
        arguments: &[(Register, Value)],
        registers: usize,
        body: &Block,
        place: &Place,
    ) -> Result<(), TileError> {
        located(place, self.step(1))?;
        self.block = block;
        self.registers.clear();
        self.registers.resize(registers, None);
        for (register, value) in arguments {
            self.set(*register, value.clone());
        }
        self.run(body)
    }

    pub(super) fn into_arrays(self) -> Vec<Array> {
        self.memory.into_iter().map(Memory::into_array).collect()
    }

    fn run(&mut self, block: &Block) -> Result<(), TileError> {
        for node in &block.nodes {
            self.node(node)?;
        }
        Ok(())
    }

    fn node(&mut self, node: &Node) -> Result<(), TileError> {
        match &node.action {
            Action::For { .. } => self.for_loop(node),
            Action::If { arms, yielded } => {
                let condition = located(&node.place, self.bits(node.operands[0]))?;
                located(&node.place, self.step(1))?;
                let arm = usize::from(condition == 0);
                self.run(&arms[arm])?;
                located(&node.place, self.hand_on(&yielded[arm], &node.results))
            }
            _ => {
                let value = located(&node.place, self.execute(node))?;
                if let (Some(value), Some(result)) = (value, node.results.first()) {
                    self.set(*result, value);
                }
                Ok(())
            }
        }
    }

    fn for_loop(&mut self, node: &Node) -> Result<(), TileError> {
        let Action::For {
            counter,
            element,
            unsigned,
            carried,
            body,
            yielded,
        } = &node.action
        else {
            return Ok(());
        };
        let here = |problem| located(&node.place, problem);
        let number = |bits: u64| {
            if *unsigned {
                i128::from(bits)
            } else {
                i128::from(signed(bits, element.bits()))
            }
        };
        let bound = |register: usize| {
            let bits = self.bits(node.operands[register]);
            located(&node.place, bits).map(number)
        };
        let (mut at, upper, step) = (bound(0)?, bound(1)?, bound(2)?);
        if step < 1 {
            return here(Err(Problem::Step(i64::try_from(step).unwrap_or(0))));
        }
        here(self.hand_on(&node.operands[3..], carried))?;
        while at < upper {
            here(self.step(1))?;
            let value = Tile::int(*element, at as u64);
            self.set(*counter, Value::Tile(Arc::new(value)));
            self.run(body)?;
            here(self.hand_on(yielded, carried))?;
            at += step;
        }
        here(self.hand_on(carried, &node.results))
    }

    /// Copies registers, all at once.
    fn hand_on(&mut self, from: &[Register], to: &[Register]) -> Outcome<()> {
        let values: Vec<Value> = from
            .iter()
            .map(|register| self.get(*register))
            .collect::<Outcome<_>>()?;
        for (register, value) in to.iter().zip(values) {
            self.set(*register, value);
        }
        Ok(())
    }

    fn set(&mut self, register: Register, value: Value) {
        if let Some(slot) = self.registers.get_mut(register.0) {
            *slot = Some(value);
        }
    }

    fn get(&self, register: Register) -> Outcome<Value> {
        let value = self.registers.get(register.0).cloned().flatten();
        value.ok_or(Problem::Compute(ComputeError::Operand))
    }

    fn tile(&self, register: Register) -> Outcome<Arc<Tile>> {
        match self.get(register)? {
            Value::Tile(tile) => Ok(tile),
            _ => Err(Problem::Compute(ComputeError::Operand)),
        }
    }

    fn tensor(&self, register: Register) -> Outcome<Rc<Tensor>> {
        match self.get(register)? {
            Value::Tensor(tensor) => Ok(tensor),
            _ => Err(Problem::Compute(ComputeError::Operand)),
        }
    }

    /// The bits of an integer scalar.
    fn bits(&self, register: Register) -> Outcome<u64> {
        let tile = self.tile(register)?;
        let bits = tile.data.ints().first().copied();
        bits.ok_or(Problem::Compute(ComputeError::Operand))
    }

    fn indices(&self, registers: &[Register]) -> Outcome<Vec<i64>> {
        registers
            .iter()
            .map(|register| Ok(self.bits(*register)?.cast_signed()))
            .collect()
    }

    fn step(&mut self, amount: u64) -> Outcome<()> {
        self.steps = self.steps.saturating_add(amount);
        if self.steps > self.max_steps {
            return Err(Problem::Steps(self.max_steps));
        }
        Ok(())
    }

    /// Everything but control flow.
    fn execute(&mut self, node: &Node) -> Outcome<Option<Value>> {
        let operands = &node.operands[..];
        let tile = |tile: Tile| Some(Value::Tile(Arc::new(tile)));
        let index = |value: i64| tile(Tile::int(Element::Index, value.cast_unsigned()));
        self.step(cost(&node.action))?;
        Ok(match &node.action {
            Action::For { .. } | Action::If { .. } => None,
            Action::Constant(value) => Some(Value::Tile(Arc::clone(value))),
            Action::Apply(row, ty) => {
                let values = self.tiles(operands)?;
                self.step(values.iter().map(|value| value.data.len() as u64).sum())?;
                tile(compute::apply(row, ty, &values)?)
            }
            Action::CompareInt(predicate, ty) => {
                let values = self.tiles(operands)?;
                tile(compute::compare_ints(*predicate, ty, &values)?)
            }
            Action::CompareFloat(predicate, ty) => {
                let values = self.tiles(operands)?;
                tile(compute::compare_all_floats(*predicate, ty, &values)?)
            }
            Action::Reduce {
                combine,
                dimensions,
                ty,
            } => {
                let (source, start) = (self.tile(operands[0])?, self.tile(operands[1])?);
                self.step(source.data.len() as u64)?;
                tile(reduce(*combine, dimensions, ty, &source, &start)?)
            }
            Action::BlockId(dimension) => index(i64::from(self.block[*dimension])),
            Action::GridDim(dimension) => index(i64::from(self.grid[*dimension])),
            Action::Dim => {
                let tensor = self.tensor(operands[0])?;
                let dimension = self.bits(operands[1])?.cast_signed();
                let sizes = &self.memory[tensor.memory].shape;
                let size = usize::try_from(dimension).ok().and_then(|d| sizes.get(d));
                match size {
                    Some(size) => index(*size),
                    None => {
                        return Err(Problem::Outside {
                            index: dimension,
                            dimension: 0,
                            extent: sizes.len() as i64,
                        });
                    }
                }
            }
            Action::LoadScalar(element) => {
                let tensor = self.tensor(operands[0])?;
                let indices = self.indices(&operands[1..])?;
                let memory = &self.memory[tensor.memory];
                let at = memory.position(&indices)?;
                tile(Tile {
                    shape: Arc::default(),
                    element: *element,
                    data: memory.data.pick([at].into_iter()),
                })
            }
            Action::Accumulator(ty) => Some(Value::Accumulator(Rc::new(RefCell::new(vec![
                0.0;
                elements(&ty.shape)
            ])))),
            Action::Buffer => Some(Value::Buffer(Rc::default())),
            Action::Window { rank } => {
                let base = self.tensor(operands[0])?;
                let indices = self.indices(&operands[1..1 + rank])?;
                let sizes = self.indices(&operands[1 + rank..])?;
                Some(Value::Tensor(Rc::new(base.window(&indices, &sizes))))
            }
            Action::CopyIn(ty) => {
                let fill = Data::zeros(ty.element, 1);
                let data = self.load(operands[0], &operands[2..], ty, &fill)?;
                *self.buffer(operands[1])?.borrow_mut() = Some(data);
                None
            }
            Action::CopyOut(ty) => {
                let buffer = self.buffer(operands[1])?;
                let data = buffer.borrow();
                let data = data.as_ref().ok_or(Problem::Undefined)?;
                self.store(data, operands[0], &operands[2..], ty, false)?;
                None
            }
            Action::Mma { .. } => {
                self.mma(node)?;
                None
            }
            Action::LoadTile(ty) => {
                let data = match self.get(operands[0])? {
                    Value::Accumulator(sums) => {
                        let sums = sums.borrow();
                        Data::Float(sums.iter().map(|sum| ty.element.round(*sum)).collect())
                    }
                    Value::Buffer(buffer) => buffer.borrow().clone().ok_or(Problem::Undefined)?,
                    _ => return Err(Problem::Compute(ComputeError::Operand)),
                };
                tile(ty.with(data))
            }
            Action::LoadGlobal { ty, rank } => {
                let fill = match operands.get(1 + rank) {
                    Some(fill) => self.tile(*fill)?.data.clone(),
                    None => Data::zeros(ty.element, 1),
                };
                let data = self.load(operands[0], &operands[1..1 + rank], ty, &fill)?;
                tile(ty.with(data))
            }
            Action::StoreTile => {
                let value = self.tile(operands[0])?;
                match self.get(operands[1])? {
                    Value::Accumulator(sums) => *sums.borrow_mut() = value.data.floats().to_vec(),
                    Value::Buffer(buffer) => *buffer.borrow_mut() = Some(value.data.clone()),
                    _ => return Err(Problem::Compute(ComputeError::Operand)),
                }
                None
            }
            Action::StoreGlobal { ty, add } => {
                let value = self.tile(operands[0])?;
                self.store(&value.data, operands[1], &operands[2..], ty, *add)?;
                None
            }
        })
    }

    fn tiles(&self, registers: &[Register]) -> Outcome<Vec<Arc<Tile>>> {
        registers
            .iter()
            .map(|register| self.tile(*register))
            .collect()
    }

    fn buffer(&self, register: Register) -> Outcome<Rc<RefCell<Option<Data>>>> {
        match self.get(register)? {
            Value::Buffer(buffer) => Ok(buffer),
            _ => Err(Problem::Compute(ComputeError::Operand)),
        }
    }

    fn load(
        &self,
        tensor: Register,
        indices: &[Register],
        ty: &TileType,
        fill: &Data,
    ) -> Outcome<Data> {
        let tensor = self.tensor(tensor)?;
        let positions = tensor.positions(
            &self.memory[tensor.memory],
            &self.indices(indices)?,
            &ty.shape,
        );
        Ok(self.memory[tensor.memory].read(&positions, fill))
    }

    fn store(
        &mut self,
        data: &Data,
        tensor: Register,
        indices: &[Register],
        ty: &TileType,
        add: bool,
    ) -> Outcome<()> {
        let tensor = self.tensor(tensor)?;
        let indices = self.indices(indices)?;
        let memory = &mut self.memory[tensor.memory];
        let positions = tensor.positions(memory, &indices, &ty.shape);
        memory.write(&positions, data, add);
        Ok(())
    }

    fn mma(&self, node: &Node) -> Outcome<()> {
        let Action::Mma {
            m,
            n,
            k,
            transpose_a,
            transpose_b,
        } = node.action
        else {
            return Ok(());
        };
        let Value::Accumulator(sums) = self.get(node.operands[0])? else {
            return Err(Problem::Compute(ComputeError::Operand));
        };
        let a = compute::matrix(&self.factor(node.operands[1])?, m, k, transpose_a);
        let b = compute::matrix(&self.factor(node.operands[2])?, k, n, transpose_b);
        let mut sums = sums.borrow_mut();
        for (row, sums) in sums.chunks_exact_mut(n).enumerate() {
            for (a, b) in a[row * k..][..k].iter().zip(b.chunks_exact(n)) {
                for (sum, b) in sums.iter_mut().zip(b) {
                    *sum += a * b;
                }
            }
        }
        Ok(())
    }

    /// An operand of `mma`, f32 as tf32.
    fn factor(&self, register: Register) -> Outcome<Vec<f64>> {
        let (mut values, ty) = match self.get(register)? {
            Value::Tile(tile) => (tile.data.floats().to_vec(), tile.element),
            Value::Buffer(buffer) => match &*buffer.borrow() {
                // A buffer's type is known by its width: only f32 has more bits than tf32.
                Some(data) => (data.floats().to_vec(), Element::F32),
                None => return Err(Problem::Undefined),
            },
            _ => return Err(Problem::Compute(ComputeError::Operand)),
        };
        if ty == Element::F32 {
            // Narrower types have no bits there.
            for value in &mut values {
                *value = compute::tf32(*value);
            }
        }
        Ok(values)
    }
}

impl TileType {
    fn with(&self, data: Data) -> Tile {
        Tile {
            shape: Arc::clone(&self.shape),
            element: self.element,
            data,
        }
    }
}

/// Steps that an action counts as.
fn cost(action: &Action) -> u64 {
    let all = |ty: &TileType| elements(&ty.shape) as u64;
    1 + match action {
        Action::CompareInt(_, ty)
        | Action::CompareFloat(_, ty)
        | Action::Accumulator(ty)
        | Action::CopyIn(ty)
        | Action::CopyOut(ty)
        | Action::LoadTile(ty)
        | Action::LoadGlobal { ty, .. }
        | Action::StoreGlobal { ty, .. }
        | Action::Apply(_, ty) => all(ty),
        Action::Mma { m, n, k, .. } => (*m as u64)
            .saturating_mul(*n as u64)
            .saturating_mul(*k as u64),
        _ => 0,
    }
}

fn located<T>(place: &Place, outcome: Outcome<T>) -> Result<T, TileError> {
    outcome.map_err(|problem| TileError::At {
        place: place.clone(),
        problem,
    })
}
