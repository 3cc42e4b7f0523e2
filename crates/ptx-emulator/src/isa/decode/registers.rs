//! A kernel's register file, and the special registers.

use std::collections::HashMap;

use super::Src;
use crate::syntax::ast::{Register, RegisterId, ScalarType};

/// Special registers that are the same for a thread during its whole life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Fixed {
    Tid(u8),
    Ntid(u8),
    Ctaid(u8),
    Nctaid(u8),
    Clusterid(u8),
    Nclusterid(u8),
    ClusterCtaid(u8),
    ClusterNctaid(u8),
    ClusterCtarank,
    ClusterNctarank,
    Laneid,
    Warpid,
    Nwarpid,
    Smid,
    Nsmid,
    Gridid,
    LanemaskEq,
    LanemaskLe,
    LanemaskLt,
    LanemaskGe,
    LanemaskGt,
    DynamicSmemSize,
    TotalSmemSize,
    AggrSmemSize,
}

/// Special registers that change while a thread runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Moving {
    Clock,
    ClockHi,
    Clock64,
    Globaltimer,
    GlobaltimerLo,
    GlobaltimerHi,
}

impl Moving {
    /// The special register of this name, with the `%`.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "%clock" => Self::Clock,
            "%clock_hi" => Self::ClockHi,
            "%clock64" => Self::Clock64,
            "%globaltimer" => Self::Globaltimer,
            "%globaltimer_lo" => Self::GlobaltimerLo,
            "%globaltimer_hi" => Self::GlobaltimerHi,
            _ => return None,
        })
    }
}

impl Fixed {
    /// The special register of this name, with the `%`.
    pub fn from_name(name: &str) -> Option<Self> {
        if let Some((stem, axis)) = name.rsplit_once('.') {
            let axis = match axis {
                "x" => 0,
                "y" => 1,
                "z" => 2,
                _ => return None,
            };
            return Some(match stem {
                "%tid" => Self::Tid(axis),
                "%ntid" => Self::Ntid(axis),
                "%ctaid" => Self::Ctaid(axis),
                "%nctaid" => Self::Nctaid(axis),
                "%clusterid" => Self::Clusterid(axis),
                "%nclusterid" => Self::Nclusterid(axis),
                "%cluster_ctaid" => Self::ClusterCtaid(axis),
                "%cluster_nctaid" => Self::ClusterNctaid(axis),
                _ => return None,
            });
        }
        Some(match name {
            "%cluster_ctarank" => Self::ClusterCtarank,
            "%cluster_nctarank" => Self::ClusterNctarank,
            "%laneid" => Self::Laneid,
            "%warpid" => Self::Warpid,
            "%nwarpid" => Self::Nwarpid,
            "%smid" => Self::Smid,
            "%nsmid" => Self::Nsmid,
            "%gridid" => Self::Gridid,
            "%lanemask_eq" => Self::LanemaskEq,
            "%lanemask_le" => Self::LanemaskLe,
            "%lanemask_lt" => Self::LanemaskLt,
            "%lanemask_ge" => Self::LanemaskGe,
            "%lanemask_gt" => Self::LanemaskGt,
            "%dynamic_smem_size" => Self::DynamicSmemSize,
            "%total_smem_size" => Self::TotalSmemSize,
            "%aggr_smem_size" => Self::AggrSmemSize,
            _ => return None,
        })
    }
}

/// The register file of a kernel as decoding lays it out: registers first (128-bit ones take two
/// rows, low half first), then constants and fixed special registers in the order of first use.
#[derive(Debug, Default)]
pub struct RegisterFile {
    /// Row or predicate index of each register of the entry.
    pub(super) places: Vec<u32>,
    pub(super) types: Vec<ScalarType>,
    /// Rows that are registers.
    pub(crate) rows: u32,
    /// Predicate registers.
    pub(crate) predicates: u32,
    /// What stands in the rows after the registers.
    pub(crate) extra: Vec<Extra>,
    pub(super) known: HashMap<Extra, u32>,
}

/// A row that is filled when a warp starts and read only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Extra {
    Constant(u64),
    Fixed(Fixed),
    /// The address of something in the own CTA's shared memory: an offset to which the rank is
    /// added.
    Shared(u64),
    /// The `%envreg`s and whatever else always reads as zero need no kind of their own.
    Clusters,
}

impl RegisterFile {
    pub(crate) fn new(registers: &[Register]) -> Self {
        let mut file = Self::default();
        for register in registers {
            let place = if register.ty == ScalarType::Pred {
                file.predicates += 1;
                file.predicates - 1
            } else {
                let place = file.rows;
                file.rows += if register.ty == ScalarType::B128 {
                    2
                } else {
                    1
                };
                place
            };
            file.places.push(place);
            file.types.push(register.ty);
        }
        file
    }

    /// The row of a register; none for predicates.
    pub(crate) fn row(&self, id: RegisterId) -> Option<u32> {
        let index = id.0 as usize;
        let ty = self.types.get(index)?;
        (*ty != ScalarType::Pred).then(|| self.places[index])
    }

    pub(super) fn extra(&mut self, extra: Extra) -> Src {
        let next = self.rows + self.extra.len() as u32;
        let row = *self.known.entry(extra).or_insert(next);
        if row == next {
            self.extra.push(extra);
        }
        Src(row)
    }
}
