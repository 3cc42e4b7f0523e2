//! Vector clocks that share what is equal.

use std::{collections::BTreeMap, sync::Arc};

use super::{Agent, Epoch};

/// How far somebody knows each agent's life: of the own cluster by agent number, of others by
/// cluster.
///
/// Clocks are shared until one changes: after a barrier all threads of a CTA hold the same one.
#[derive(Debug, Clone, Default)]
pub struct Clock(Option<Arc<Inner>>);

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Inner {
    own: Vec<u32>,
    /// What arrived from other clusters; almost always empty.
    foreign: BTreeMap<u32, Vec<u32>>,
}

fn at(times: &[u32], agent: Agent) -> u32 {
    times.get(agent as usize).copied().unwrap_or(0)
}

fn below(low: &[u32], high: &[u32]) -> bool {
    low.iter()
        .enumerate()
        .all(|(agent, &time)| time <= at(high, agent as Agent))
}

fn join(into: &mut Vec<u32>, from: &[u32]) {
    if into.len() < from.len() {
        into.resize(from.len(), 0);
    }
    for (mine, theirs) in into.iter_mut().zip(from) {
        *mine = (*mine).max(*theirs);
    }
}

impl Inner {
    fn is_below(&self, other: &Self) -> bool {
        below(&self.own, &other.own)
            && self.foreign.iter().all(|(cluster, times)| {
                other
                    .foreign
                    .get(cluster)
                    .is_some_and(|theirs| below(times, theirs))
            })
    }
}

impl Clock {
    /// Whether an epoch is known to somebody of `cluster` who holds this clock.
    pub fn covers(&self, cluster: u32, epoch: Epoch) -> bool {
        if epoch.time == 0 {
            return true;
        }
        let Some(inner) = &self.0 else {
            return false;
        };
        let times = if epoch.cluster == cluster {
            &inner.own
        } else {
            match inner.foreign.get(&epoch.cluster) {
                Some(times) => times,
                None => return false,
            }
        };
        at(times, epoch.agent) >= epoch.time
    }

    /// Knows an agent of the own cluster up to `time`.
    pub fn advance(&mut self, agent: Agent, time: u32) {
        if time == 0 || self.0.as_ref().is_some_and(|i| at(&i.own, agent) >= time) {
            return;
        }
        let inner = Arc::make_mut(self.0.get_or_insert_default());
        let index = agent as usize;
        if inner.own.len() <= index {
            inner.own.resize(index + 1, 0);
        }
        inner.own[index] = time;
    }

    /// Knows what either knows.
    pub fn join(&mut self, other: &Self) {
        let Some(theirs) = &other.0 else {
            return;
        };
        let Some(mine) = &mut self.0 else {
            self.0 = Some(theirs.clone());
            return;
        };
        if Arc::ptr_eq(mine, theirs) || theirs.is_below(mine) {
            return;
        }
        if mine.is_below(theirs) {
            *mine = theirs.clone();
            return;
        }
        let inner = Arc::make_mut(mine);
        join(&mut inner.own, &theirs.own);
        for (cluster, times) in &theirs.foreign {
            join(inner.foreign.entry(*cluster).or_default(), times);
        }
    }

    /// The same knowledge as somebody of another cluster holds it.
    pub fn translated(&self, from: u32, to: u32) -> Self {
        let Some(inner) = &self.0 else {
            return Self::default();
        };
        if from == to {
            return self.clone();
        }
        let mut foreign = inner.foreign.clone();
        let own = foreign.remove(&to).unwrap_or_default();
        if !inner.own.is_empty() {
            foreign.insert(from, inner.own.clone());
        }
        Self(Some(Arc::new(Inner { own, foreign })))
    }
}
