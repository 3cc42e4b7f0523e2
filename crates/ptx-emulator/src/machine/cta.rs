//! CTAs and clusters.

use std::collections::BTreeMap;

use super::{
    barriers::{ClusterBarrier, MbarrierCell, NamedBarrier},
    ids::CtaRef,
    warp::Warp,
};
use crate::isa;

/// A cluster that has started.
#[derive(Debug)]
pub struct Cluster {
    /// Its linear number in the grid.
    pub id: u32,
    /// Its CTAs by rank.
    pub ctas: Vec<Cta>,
    /// `barrier.cluster`.
    pub barrier: ClusterBarrier,
}

/// A CTA that has started.
#[derive(Debug)]
pub struct Cta {
    /// Its name.
    pub me: CtaRef,
    /// `%ctaid`.
    pub block_id: [u32; 3],
    /// Shared memory from offset 0, the reserved part included.
    pub shared: Vec<u8>,
    /// mbarrier objects by offset.
    pub mbarriers: BTreeMap<u32, MbarrierCell>,
    /// The 16 named barriers.
    pub named: [NamedBarrier; 16],
    /// Its warps; a warp that is executing is not there meanwhile.
    pub warps: Vec<Warp>,
    /// Threads that have not ended.
    pub live: u32,
    /// Registers per thread that are not owned by any warpgroup, times 128 (`setmaxnreg`).
    pub free_registers: i64,
    /// Bulk groups of its threads.
    pub bulk: isa::bulk::BulkState,
    /// Tensor memory.
    pub tensor: isa::tcgen05::TensorState,
}

impl Cta {
    /// Whether all threads have ended.
    pub fn ended(&self) -> bool {
        self.live == 0
    }
}
