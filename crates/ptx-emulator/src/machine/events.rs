//! Asynchronous work that has been issued and is not finished.

use crate::{
    machine::Machine,
    report::{Fault, Site},
};

/// Work that finishes by itself some time after it was issued.
pub trait Work: std::fmt::Debug {
    /// Moves the data, and tells whoever waits.
    ///
    /// # Errors
    /// What the hardware would fault on.
    fn finish(self: Box<Self>, machine: &mut Machine) -> Result<(), Fault>;
}

/// Which unit does it: a track of the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unit {
    /// `cp.async`.
    CpAsync,
    /// Bulk and tensor copies.
    Copy,
    /// `wgmma`.
    Wgmma,
    /// tcgen05 pipe.
    Tensor,
    /// Cluster launch control.
    Launch,
}

impl Unit {
    /// Its name in the trace.
    pub fn name(self) -> &'static str {
        match self {
            Self::CpAsync => "cp.async",
            Self::Copy => "bulk copies",
            Self::Wgmma => "wgmma",
            Self::Tensor => "tcgen05",
            Self::Launch => "launch control",
        }
    }
}

/// Work in one order finishes in the order it was issued; 0 stands for no order.
pub type Order = u64;

/// One piece of work in the queue.
#[derive(Debug)]
pub struct Event {
    /// When it was issued, in steps.
    pub issued: u64,
    /// Its order.
    pub order: Order,
    /// Who does it.
    pub unit: Unit,
    /// Which instruction of which thread.
    pub site: Site,
    /// The cluster that it belongs to.
    pub cluster: u32,
    /// What to do.
    pub work: Box<dyn Work>,
}

/// The queue, in the order of issue.
#[derive(Debug, Default)]
pub struct Events {
    queue: std::collections::VecDeque<Event>,
}

impl Events {
    pub(super) fn push(&mut self, event: Event) {
        self.queue.push_back(event);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// All of them, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Event> {
        self.queue.iter()
    }

    /// The oldest one's time of issue.
    pub(super) fn oldest(&self) -> Option<u64> {
        self.queue.front().map(|event| event.issued)
    }

    /// Takes the `n`-th of those that may finish now (heads of their orders), counted over.
    pub(super) fn take_nth(&mut self, n: usize, newest_first: bool) -> Option<Event> {
        let mut seen = std::collections::HashSet::new();
        let mut heads = Vec::new();
        for (index, event) in self.queue.iter().enumerate() {
            if event.order == 0 || seen.insert(event.order) {
                heads.push(index);
            }
        }
        if heads.is_empty() {
            return None;
        }
        let n = n % heads.len();
        let index = if newest_first {
            heads[heads.len() - 1 - n]
        } else {
            heads[n]
        };
        self.queue.remove(index)
    }

    /// Takes the oldest that may finish and for which `wanted` holds, or that stands before such
    /// a one in its order.
    pub(super) fn take_oldest(&mut self) -> Option<Event> {
        self.queue.pop_front()
    }
}
