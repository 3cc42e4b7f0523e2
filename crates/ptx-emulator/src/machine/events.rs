//! Asynchronous work that has been issued and is not finished.

use std::collections::{HashMap, VecDeque, hash_map::Entry};

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

    /// Whether it is in order that this finishes after the CTA that issued it has ended: what
    /// goes to global memory does.
    fn may_outlive_its_cta(&self) -> bool {
        false
    }
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

/// Work in flight. Of each order only the oldest may finish; orders do not wait for each other.
#[derive(Debug, Default)]
pub struct Events {
    /// What may finish now, oldest first, with its number in the order of issue.
    heads: VecDeque<(u64, Event)>,
    /// What stands behind a head in its order; an entry for each order that has a head.
    behind: HashMap<Order, VecDeque<(u64, Event)>>,
    /// How many pieces each cluster has.
    of_cluster: HashMap<u32, usize>,
    issued: u64,
    len: usize,
}

impl Events {
    pub(super) fn push(&mut self, event: Event) {
        let number = self.issued;
        self.issued += 1;
        self.len += 1;
        *self.of_cluster.entry(event.cluster).or_default() += 1;
        if event.order == 0 {
            self.heads.push_back((number, event));
            return;
        }
        match self.behind.get_mut(&event.order) {
            Some(behind) => behind.push_back((number, event)),
            None => {
                self.behind.insert(event.order, VecDeque::new());
                self.heads.push_back((number, event));
            }
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether a cluster has any.
    pub(super) fn has_any_of(&self, cluster: u32) -> bool {
        self.of_cluster.contains_key(&cluster)
    }

    /// Those that may finish now, oldest first.
    pub(super) fn ready(&self) -> impl Iterator<Item = &Event> {
        self.heads.iter().map(|(_, event)| event)
    }

    /// The oldest one's time of issue.
    pub(super) fn oldest(&self) -> Option<u64> {
        self.heads.front().map(|(_, event)| event.issued)
    }

    /// Takes the `n`-th of those that may finish now (heads of their orders), counted over.
    pub(super) fn take_nth(&mut self, n: usize, newest_first: bool) -> Option<Event> {
        let n = n.checked_rem(self.heads.len())?;
        let index = if newest_first {
            self.heads.len() - 1 - n
        } else {
            n
        };
        self.take(index)
    }

    /// Takes the oldest of all.
    pub(super) fn take_oldest(&mut self) -> Option<Event> {
        self.take(0)
    }

    fn take(&mut self, index: usize) -> Option<Event> {
        let (_, event) = self.heads.remove(index)?;
        self.len -= 1;
        if let Entry::Occupied(mut count) = self.of_cluster.entry(event.cluster) {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
        if let Entry::Occupied(mut behind) = self.behind.entry(event.order) {
            match behind.get_mut().pop_front() {
                Some(next) => {
                    let place = self.heads.partition_point(|(number, _)| *number < next.0);
                    self.heads.insert(place, next);
                }
                None => {
                    behind.remove();
                }
            }
        }
        Some(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::ast::Span;

    #[derive(Debug)]
    struct Nothing;

    impl Work for Nothing {
        fn finish(self: Box<Self>, _: &mut Machine) -> Result<(), Fault> {
            Ok(())
        }
    }

    /// Pieces with these orders, issued at times 0, 1, ….
    fn events(orders: &[Order]) -> Events {
        let mut events = Events::default();
        for (issued, &order) in (0..).zip(orders) {
            events.push(Event {
                issued,
                order,
                unit: Unit::Copy,
                site: Site {
                    span: Span::default(),
                    source: None,
                    instruction: "copy".into(),
                    block: [0; 3],
                    thread: 0,
                },
                cluster: order as u32,
                work: Box::new(Nothing),
            });
        }
        events
    }

    #[test]
    fn the_newest_that_may_finish_is_the_head_of_its_order() {
        let mut events = events(&[7, 0, 7, 8, 8, 0]);
        let mut times = Vec::new();
        while let Some(event) = events.take_nth(0, true) {
            times.push(event.issued);
        }
        assert_eq!(times, [5, 3, 4, 1, 0, 2]);
        assert!(events.is_empty() && !events.has_any_of(7));
    }

    #[test]
    fn the_oldest_goes_first() {
        let mut events = events(&[7, 7, 0, 7]);
        assert_eq!((events.len(), events.oldest()), (4, Some(0)));
        for time in 0..4 {
            assert!(events.has_any_of(7));
            assert_eq!(events.take_oldest().map(|event| event.issued), Some(time));
        }
        assert!(events.take_oldest().is_none() && events.take_nth(3, false).is_none());
    }
}
