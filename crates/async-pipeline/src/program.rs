//! The barrier level as a program in plain Rust.
//!
//! ```text
//!   gpu.func at the barrier level ──extract──► Program ──► interpreter
//!                                                     └──► other analyses
//! ```
//!
//! Everything that reasons about synchronisation reads this form and no MLIR: roles, a
//! tree of statements over numbered registers, buffers and barrier arrays by number, a
//! source place per statement, and one table ([`Operation::effect`]) that says what a
//! statement does to barriers, memory and proxies. [`extract`] is the only way in.

pub mod effect;
pub mod extract;
mod float;
pub mod mutate;
mod operation;
mod place;
mod types;

pub use operation::{
    At, Element, FloatBinary, FloatPredicate, FloatUnary, Function, IntegerBinary,
    IntegerPredicate, MemoryAccess, Operation, Query, Reduction,
};
pub use place::Place;
pub use types::{FloatType, MemRefType, ScalarType, Space, ValueType};

/// A register: one SSA value of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Register(pub u32);

/// Index into [`Program::places`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlaceId(pub u32);

/// Number of a statement, in pre-order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StatementId(pub u32);

/// Index into [`Program::buffers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BufferId(pub u32);

/// Index into [`Program::barriers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BarrierId(pub u32);

/// One kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// Symbol name of the kernel.
    pub kernel: String,
    /// Where it is defined.
    pub place: PlaceId,
    /// Its arguments in order.
    pub arguments: Vec<Argument>,
    /// Buffers in shared memory, in order of allocation.
    pub buffers: Vec<Buffer>,
    /// Arrays of mbarriers, in order of allocation.
    pub barriers: Vec<Barrier>,
    /// The roles in order of their warps; empty if the kernel has none.
    pub roles: Vec<Role>,
    /// What every thread runs; [`Operation::Roles`] in it branches to the roles.
    pub body: Block,
    /// Number of registers.
    pub registers: u32,
    /// Source places, by [`PlaceId`].
    pub places: Vec<Place>,
    /// Threads of a CTA if the kernel states them and has no roles.
    pub block_size: Option<u32>,
    /// Grid expressions (x, y, z) as text; empty if the kernel states none.
    pub grid: Vec<String>,
}

/// A kernel argument.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// The register that holds it.
    pub register: Register,
    /// Its name in the manifest, if it has one.
    pub name: Option<String>,
    /// Its type.
    pub ty: ValueType,
    /// Bytes that base and row pitch are multiples of.
    pub alignment: u32,
}

/// A ring of equal tiles in shared memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    /// Its name.
    pub name: String,
    /// Number of slots.
    pub stages: u64,
    /// Extents of one tile, outermost first.
    pub shape: Vec<u64>,
    /// Element type.
    pub element: ScalarType,
    /// Byte offset in shared memory, if it has been decided.
    pub offset: Option<u64>,
    /// Where it is allocated.
    pub place: PlaceId,
}

/// An array of mbarriers.
#[derive(Clone, Debug, PartialEq)]
pub struct Barrier {
    /// Its name.
    pub name: String,
    /// Number of barriers.
    pub stages: u64,
    /// Where it is allocated.
    pub place: PlaceId,
}

/// A group of warps and what they do.
#[derive(Clone, Debug, PartialEq)]
pub struct Role {
    /// Its name.
    pub name: String,
    /// Index of its first warp in the CTA.
    pub first_warp: u32,
    /// Number of warps.
    pub warps: u32,
    /// Whether one thread of its first warp runs it alone.
    pub elected: bool,
    /// What it runs.
    pub body: Block,
    /// Where it is defined.
    pub place: PlaceId,
}

/// Statements in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// The statements.
    pub statements: Vec<Statement>,
}

/// One operation of the source.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// Its number.
    pub id: StatementId,
    /// Where it comes from.
    pub place: PlaceId,
    /// What it does.
    pub operation: Operation,
}

impl Buffer {
    /// Elements of one tile; saturates.
    pub fn tile_elements(&self) -> u64 {
        self.shape
            .iter()
            .fold(1, |product: u64, extent| product.saturating_mul(*extent))
    }

    /// Bytes of one tile; saturates.
    pub fn tile_bytes(&self) -> u64 {
        self.tile_elements()
            .saturating_mul(u64::from(self.element.bytes()))
    }

    /// Bytes from one slot to the next: slots start at multiples of 128.
    pub fn slot_pitch(&self) -> u64 {
        self.tile_bytes()
            .checked_next_multiple_of(128)
            .unwrap_or(u64::MAX)
    }
}

impl Program {
    /// The source place of an id; unknown for an id of another program.
    pub fn place(&self, id: PlaceId) -> Place {
        self.places.get(id.0 as usize).cloned().unwrap_or_default()
    }

    /// Threads of a CTA: 32 per warp of the roles, or what the kernel states.
    pub fn threads(&self) -> Option<u32> {
        match self.roles.last() {
            Some(role) => Some(
                role.first_warp
                    .saturating_add(role.warps)
                    .saturating_mul(32),
            ),
            None => self.block_size,
        }
    }

    /// Calls `visit` on every statement, in pre-order; the roles come where their
    /// [`Operation::Roles`] stands.
    pub fn for_each_statement(&self, visit: &mut impl FnMut(&Statement)) {
        visit_block(&self.body, &self.roles, visit);
    }

    /// Calls `visit` on every block, nested ones after their parents.
    pub fn for_each_block_mut(&mut self, visit: &mut impl FnMut(&mut Block)) {
        visit_block_mut(&mut self.body, visit);
        for role in &mut self.roles {
            visit_block_mut(&mut role.body, visit);
        }
    }
}

fn visit_block(block: &Block, roles: &[Role], visit: &mut impl FnMut(&Statement)) {
    for statement in &block.statements {
        visit(statement);
        if matches!(statement.operation, Operation::Roles) {
            for role in roles {
                visit_block(&role.body, &[], visit);
            }
        }
        for nested in statement.operation.blocks() {
            visit_block(nested, roles, visit);
        }
    }
}

fn visit_block_mut(block: &mut Block, visit: &mut impl FnMut(&mut Block)) {
    visit(block);
    for statement in &mut block.statements {
        for nested in statement.operation.blocks_mut() {
            visit_block_mut(nested, visit);
        }
    }
}
