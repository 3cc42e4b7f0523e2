//! Who runs next.

use super::input::{Completion, Order};
use crate::program::Program;

/// A small seeded generator (SplitMix64).
#[derive(Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0xd1b5_4a32_d192_ed03)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`, which is not 0.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

/// Runnable threads, kept in the order in which they are preferred.
#[derive(Debug)]
pub(super) struct Scheduler {
    order: Order,
    random: Random,
    /// Thread at each rank, and the reverse.
    threads: Vec<u32>,
    ranks: Vec<u32>,
    /// One bit per rank.
    ready: Vec<u64>,
    cursor: usize,
}

impl Scheduler {
    pub(super) fn new(order: Order, program: &Program, threads: u32) -> Self {
        let seed = match order {
            Order::Random(seed) => seed,
            _ => 0,
        };
        let mut scheduler = Self {
            order,
            random: Random::new(seed),
            threads: (0..threads).collect(),
            ranks: (0..threads).collect(),
            ready: vec![0; threads.div_ceil(64) as usize],
            cursor: 0,
        };
        scheduler.sort(program);
        scheduler
    }

    fn sort(&mut self, program: &Program) {
        let role_of = |thread: u32| {
            let warp = thread / 32;
            program
                .roles
                .iter()
                .position(|r| (r.first_warp..r.first_warp + r.warps).contains(&warp))
        };
        match self.order {
            Order::RoundRobin | Order::ProducerFirst => {}
            Order::ConsumerFirst => {
                self.threads
                    .sort_by_key(|thread| std::cmp::Reverse(role_of(*thread)));
            }
            Order::LaggingWarp(warp) => self.threads.sort_by_key(|thread| thread / 32 == warp),
            Order::LaggingThread(last) => self.threads.sort_by_key(|thread| *thread == last),
            Order::Random(_) => {
                let warps = self.threads.len().div_ceil(32);
                let mut priority: Vec<usize> = (0..warps).collect();
                for warp in (1..warps).rev() {
                    priority.swap(warp, self.random.below(warp + 1));
                }
                self.threads
                    .sort_by_key(|thread| priority[*thread as usize / 32]);
            }
        }
        self.index();
    }

    /// Brings ranks and bits in line with a new order of `threads`.
    fn index(&mut self) {
        let ready: Vec<bool> = self
            .threads
            .iter()
            .map(|thread| {
                let rank = self.ranks[*thread as usize] as usize;
                self.ready[rank / 64] >> (rank % 64) & 1 == 1
            })
            .collect();
        self.ready.fill(0);
        for (rank, (thread, ready)) in self.threads.iter().zip(ready).enumerate() {
            self.ranks[*thread as usize] = rank as u32;
            self.ready[rank / 64] |= u64::from(ready) << (rank % 64);
        }
    }

    /// Number of threads.
    pub(super) fn threads(&self) -> usize {
        self.threads.len()
    }

    /// Marks a thread as able to run, or not.
    pub(super) fn set_ready(&mut self, thread: usize, ready: bool) {
        let rank = self.ranks[thread] as usize;
        let (word, bit) = (&mut self.ready[rank / 64], 1_u64 << (rank % 64));
        if ready { *word |= bit } else { *word &= !bit }
    }

    /// The thread to run next. `rotate` passes the turn on, so that a thread that spins
    /// cannot keep others from running.
    pub(super) fn next(&mut self, rotate: bool) -> Option<usize> {
        if matches!(self.order, Order::Random(_)) && self.random.below(32) == 0 {
            self.reshuffle();
        }
        let from = match self.order {
            Order::RoundRobin => self.cursor,
            _ if rotate => self.cursor,
            _ => 0,
        };
        let rank = self.first_from(from).or_else(|| self.first_from(0))?;
        self.cursor = rank + 1;
        Some(self.threads[rank] as usize)
    }

    /// Gives another warp the first turn.
    fn reshuffle(&mut self) {
        let warps = self.threads.len().div_ceil(32);
        let warp = self.random.below(warps) as u32;
        let front = self.random.below(2) == 0;
        self.threads
            .sort_by_key(|thread| (thread / 32 == warp) != front);
        self.index();
    }

    fn first_from(&self, from: usize) -> Option<usize> {
        let first = from / 64;
        (first..self.ready.len()).find_map(|word| {
            let mut bits = self.ready[word];
            if word == first {
                bits &= u64::MAX << (from % 64);
            }
            (bits != 0).then(|| word * 64 + bits.trailing_zeros() as usize)
        })
    }
}

/// When pending completions happen.
#[derive(Debug)]
pub(super) struct Completions {
    policy: Completion,
    random: Random,
}

impl Completions {
    pub(super) fn new(policy: Completion) -> Self {
        let seed = match policy {
            Completion::Random(seed) => seed ^ 0x5eed,
            _ => 0,
        };
        Self {
            policy,
            random: Random::new(seed),
        }
    }

    /// Which of `pending` completions, in order of issue, happens now, if any; `idle` says
    /// that no thread can run.
    pub(super) fn choose(&mut self, pending: usize, idle: bool) -> Option<usize> {
        let last = pending.checked_sub(1)?;
        match self.policy {
            Completion::Early => Some(0),
            Completion::Late => idle.then_some(0),
            Completion::LateReversed => idle.then_some(last),
            Completion::Random(_) => {
                (idle || self.random.below(4) == 0).then(|| self.random.below(pending))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scheduler(order: Order, threads: u32) -> Scheduler {
        let program = Program {
            kernel: String::new(),
            place: crate::program::PlaceId(0),
            arguments: Vec::new(),
            buffers: Vec::new(),
            barriers: Vec::new(),
            roles: Vec::new(),
            body: crate::program::Block::default(),
            registers: 0,
            places: Vec::new(),
            block_size: None,
            grid: Vec::new(),
        };
        Scheduler::new(order, &program, threads)
    }

    #[test]
    fn every_order_runs_exactly_the_ready_threads() {
        let orders = [
            Order::RoundRobin,
            Order::Random(7),
            Order::LaggingWarp(0),
            Order::LaggingThread(5),
        ];
        for order in orders {
            let mut scheduler = scheduler(order, 100);
            for thread in 0..100 {
                scheduler.set_ready(thread, true);
            }
            let mut ran = Vec::new();
            while let Some(thread) = scheduler.next(false) {
                scheduler.set_ready(thread, false);
                ran.push(thread);
            }
            if order == Order::LaggingThread(5) {
                assert_eq!(ran.last(), Some(&5));
            }
            ran.sort_unstable();
            assert_eq!(ran, (0..100).collect::<Vec<_>>(), "{order:?}");
        }
    }

    #[test]
    fn round_robin_passes_the_turn_on() {
        let mut scheduler = scheduler(Order::RoundRobin, 3);
        (0..3).for_each(|thread| scheduler.set_ready(thread, true));
        let turns: Vec<_> = (0..5).map(|_| scheduler.next(false)).collect();
        assert_eq!(turns, [Some(0), Some(1), Some(2), Some(0), Some(1)]);
    }
}
