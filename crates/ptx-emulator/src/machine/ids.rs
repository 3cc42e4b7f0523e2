//! Names of CTAs and threads.

/// A CTA: its cluster's linear number in the grid and its rank in the cluster. Without clusters
/// every CTA is a cluster of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CtaRef {
    /// Linear number of the cluster.
    pub cluster: u32,
    /// `%cluster_ctarank`.
    pub rank: u32,
}

/// A thread of a CTA.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadRef {
    /// Its CTA.
    pub cta: CtaRef,
    /// Its linear number in the CTA.
    pub thread: u32,
}

impl ThreadRef {
    /// The first thread of its warp.
    pub fn warp_leader(self) -> Self {
        Self {
            thread: self.thread & !31,
            ..self
        }
    }
}
