//! Vector clocks: who can have seen what.
//!
//! One component per thread counts that thread's releases and fences (an access is stamped
//! with the component's value), and one per mbarrier counts the phases whose completion was
//! acquired. A copy belongs to no thread once it is under way: it is visible to whoever has
//! acquired the phase it completed in.

/// A component and the value it has to reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) component: u32,
    pub(super) value: u32,
}

/// One vector clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Clock(Box<[u32]>);

impl Clock {
    fn new(components: usize) -> Self {
        Self(vec![0; components].into())
    }

    pub(super) fn get(&self, component: usize) -> u32 {
        self.0.get(component).copied().unwrap_or(0)
    }

    pub(super) fn knows(&self, mark: Mark) -> bool {
        self.get(mark.component as usize) >= mark.value
    }

    pub(super) fn raise(&mut self, component: usize, value: u32) {
        if let Some(slot) = self.0.get_mut(component) {
            *slot = (*slot).max(value);
        }
    }

    pub(super) fn join(&mut self, other: &Clock) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
    }
}

/// What a thread knows, or what a barrier hands on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Knowledge {
    /// What happened before, by the memory model.
    pub(super) seen: Clock,
    /// The part of it with a generic-to-async proxy fence behind it.
    pub(super) fenced: Clock,
    /// What must have happened earlier in time: also by way of asynchronous arrives, which
    /// publish copies but none of their thread's other accesses.
    pub(super) caused: Clock,
}

impl Knowledge {
    pub(super) fn new(components: usize) -> Self {
        Self {
            seen: Clock::new(components),
            fenced: Clock::new(components),
            caused: Clock::new(components),
        }
    }

    pub(super) fn join(&mut self, other: &Knowledge) {
        self.seen.join(&other.seen);
        self.fenced.join(&other.fenced);
        self.caused.join(&other.caused);
    }

    /// The stamp of what this thread does now.
    pub(super) fn now(&self, thread: usize) -> Mark {
        Mark {
            component: thread as u32,
            value: self.seen.get(thread),
        }
    }

    /// Begins a new stamp, so that what follows is told from what was released or fenced.
    pub(super) fn tick(&mut self, thread: usize) {
        let next = self.seen.get(thread).saturating_add(1);
        self.seen.raise(thread, next);
        self.caused.raise(thread, next);
    }

    /// `fence.proxy.async`: everything seen so far counts as fenced.
    pub(super) fn fence(&mut self, thread: usize) {
        self.fenced.join(&self.seen);
        self.tick(thread);
    }

    /// A phase of a barrier has been acquired.
    pub(super) fn acquire_phase(&mut self, mark: Mark) {
        self.seen.raise(mark.component as usize, mark.value);
        self.caused.raise(mark.component as usize, mark.value);
    }
}

#[cfg(test)]
mod tests {
    use super::Knowledge;

    #[test]
    fn a_release_carries_earlier_accesses_and_no_later_ones() {
        let mut writer = Knowledge::new(2);
        let mut reader = Knowledge::new(2);
        writer.tick(0);
        let before = writer.now(0);
        let released = writer.clone();
        writer.tick(0);
        let after = writer.now(0);
        reader.join(&released);
        assert!(reader.seen.knows(before));
        assert!(!reader.seen.knows(after));
    }

    #[test]
    fn a_fence_covers_what_came_before_it_only() {
        let mut thread = Knowledge::new(1);
        thread.tick(0);
        let before = thread.now(0);
        thread.fence(0);
        let after = thread.now(0);
        assert!(thread.fenced.knows(before) && !thread.fenced.knows(after));
    }
}
