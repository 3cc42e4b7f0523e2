//! A warp: registers, and its lanes in groups that stand at the same instruction.

use crate::{
    isa::{
        cp_async::CpAsyncState,
        decode::{Extra, Fixed},
    },
    machine::{
        ids::{CtaRef, ThreadRef},
        wait::Why,
    },
    program::Program,
};

/// The values of one register in all lanes. Values narrower than 64 bits have zeros above.
pub type Row = [u64; 32];

/// Lanes that go together.
#[derive(Debug, Clone)]
pub struct Fragment {
    /// The next instruction.
    pub pc: u32,
    /// The lanes.
    pub mask: u32,
    /// What a waiting instruction remembers.
    pub ticket: Option<u64>,
    /// Whether it can go on.
    pub state: State,
    /// When it began to wait, for the trace.
    pub since: u64,
    /// When it ran last.
    pub ran: u64,
    /// Until when it goes before others.
    pub favoured: u64,
}

/// Whether a fragment can go on.
#[derive(Debug, Clone, PartialEq)]
pub enum State {
    /// It can.
    Ready,
    /// Its instruction waits and is tried again when something has changed since `version`.
    Waiting {
        /// For what.
        why: Why,
        /// [`crate::machine::Machine::version`] then.
        version: u64,
        /// Whether the instruction may give up ([`crate::machine::step::Step::expired`]).
        may_expire: bool,
    },
    /// It has found nothing to do and goes on when something has changed, or nothing else can.
    Yielded {
        /// [`crate::machine::Machine::version`] then.
        version: u64,
        /// The instruction that looked, and for what.
        polled: Option<(u32, Why)>,
    },
    /// It waits for other lanes to come to the same instruction.
    Converging,
    /// As waiting, but the next attempt may give up.
    Expired,
}

/// A warp.
#[derive(Debug, Default)]
pub struct Warp {
    /// Its number in the CTA.
    pub index: u32,
    /// Its CTA.
    pub cta: CtaRef,
    /// Registers, then constants and fixed special registers.
    pub rows: Vec<Row>,
    /// Predicates, a bit per lane.
    pub predicates: Vec<u32>,
    /// Lanes that have not ended.
    pub live: u32,
    /// Lanes that exist.
    pub all: u32,
    /// The groups.
    pub fragments: Vec<Fragment>,
    /// Local memory, lane after lane.
    pub local: Vec<u8>,
    /// `cp.async` of each lane.
    pub cp_async: CpAsyncState,
    /// Registers that the warp's threads own each (`setmaxnreg`).
    pub registers: u32,
    /// `wgmma` in flight.
    pub wgmma: crate::isa::wgmma::WgmmaState,
}

impl Default for CtaRef {
    fn default() -> Self {
        Self {
            cluster: u32::MAX,
            rank: 0,
        }
    }
}

/// What the fixed special registers depend on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Surroundings {
    pub block: [u32; 3],
    pub block_id: [u32; 3],
    pub grid: [u32; 3],
    pub cluster: [u32; 3],
    pub explicit_cluster: bool,
    pub sm: u32,
    pub sm_count: u32,
    pub dynamic_shared: u32,
    pub total_shared: u32,
}

impl Warp {
    pub(crate) fn new(cta: CtaRef, index: u32, program: &Program, around: &Surroundings) -> Self {
        let threads: u32 = around.block.iter().product();
        let lanes = (threads - index * 32).min(32);
        let all = if lanes == 32 {
            u32::MAX
        } else {
            (1 << lanes) - 1
        };
        let mut rows = vec![[0; 32]; program.file.rows as usize];
        for extra in &program.file.extra {
            rows.push(std::array::from_fn(|lane| {
                extra_value(*extra, cta, index, lane as u32, around)
            }));
        }
        Self {
            index,
            cta,
            rows,
            predicates: vec![0; program.file.predicates as usize],
            live: all,
            all,
            fragments: vec![Fragment {
                pc: 0,
                mask: all,
                ticket: None,
                state: State::Ready,
                since: 0,
                ran: 0,
                favoured: 0,
            }],
            local: vec![0; program.local_bytes as usize * 32],
            cp_async: CpAsyncState::default(),
            registers: 0,
            wgmma: Default::default(),
        }
    }

    /// A lane as a thread.
    pub fn thread(&self, lane: u32) -> ThreadRef {
        ThreadRef {
            cta: self.cta,
            thread: self.index * 32 + lane,
        }
    }

    /// Removes ended lanes from the groups.
    pub(crate) fn end_lanes(&mut self, mask: u32) {
        self.live &= !mask;
        for fragment in &mut self.fragments {
            fragment.mask &= !mask;
            // Those who wait for company may now be complete.
            if fragment.state == State::Converging {
                fragment.state = State::Ready;
            }
        }
        self.fragments.retain(|fragment| fragment.mask != 0);
    }
}

fn extra_value(extra: Extra, cta: CtaRef, warp: u32, lane: u32, around: &Surroundings) -> u64 {
    let fixed = match extra {
        Extra::Constant(value) => return value,
        Extra::Shared(offset) => {
            return u64::from(cta.rank) << crate::memory::SHARED_RANK_SHIFT | offset;
        }
        Extra::Clusters => return u64::from(around.explicit_cluster),
        Extra::Fixed(fixed) => fixed,
    };
    let thread = warp * 32 + lane;
    let of = |sizes: [u32; 3], axis: u8| sizes[usize::from(axis) % 3];
    let position = |linear: u32, sizes: [u32; 3], axis: u8| match axis {
        0 => linear % sizes[0],
        1 => linear / sizes[0] % sizes[1],
        _ => linear / sizes[0] / sizes[1],
    };
    let value = match fixed {
        Fixed::Tid(axis) => position(thread, around.block, axis),
        Fixed::Ntid(axis) => of(around.block, axis),
        Fixed::Ctaid(axis) => of(around.block_id, axis),
        Fixed::Nctaid(axis) => of(around.grid, axis),
        Fixed::Clusterid(axis) => of(around.block_id, axis) / of(around.cluster, axis),
        Fixed::Nclusterid(axis) => of(around.grid, axis) / of(around.cluster, axis),
        Fixed::ClusterCtaid(axis) => of(around.block_id, axis) % of(around.cluster, axis),
        Fixed::ClusterNctaid(axis) => of(around.cluster, axis),
        Fixed::ClusterCtarank => cta.rank,
        Fixed::ClusterNctarank => around.cluster.iter().product(),
        Fixed::Laneid => lane,
        Fixed::Warpid => warp,
        Fixed::Nwarpid => around.block.iter().product::<u32>().div_ceil(32),
        Fixed::Smid => around.sm,
        Fixed::Nsmid => around.sm_count,
        Fixed::Gridid => 1,
        Fixed::LanemaskEq => 1 << lane,
        Fixed::LanemaskLe => u32::MAX >> (31 - lane),
        Fixed::LanemaskLt => (1 << lane) - 1,
        Fixed::LanemaskGe => u32::MAX << lane,
        Fixed::LanemaskGt => (u32::MAX << lane) & !(1 << lane),
        Fixed::DynamicSmemSize => around.dynamic_shared,
        Fixed::TotalSmemSize => around.total_shared,
        Fixed::AggrSmemSize => around.total_shared + crate::memory::RESERVED_SHARED as u32,
    };
    u64::from(value)
}
