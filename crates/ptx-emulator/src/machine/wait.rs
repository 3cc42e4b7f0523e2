//! What threads wait for.

use super::ids::CtaRef;

/// Why a thread does not go on.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Why {
    /// For a phase of an mbarrier.
    Mbarrier {
        /// Whose shared memory it lies in.
        cta: CtaRef,
        /// Where.
        offset: u32,
        /// For the phase of this parity to complete; none for the state form.
        parity: Option<u32>,
    },
    /// For a named barrier of the CTA.
    Named(u32),
    /// For the other CTAs of the cluster.
    Cluster,
    /// For asynchronous work of its own: what kind, in words.
    Async(&'static str),
    /// For tensor memory to become free.
    TensorMemory,
    /// For registers.
    Registers,
    /// For other lanes of its warp.
    Lanes,
}
