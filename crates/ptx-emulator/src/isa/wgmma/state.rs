//! What a warp has in flight.

use std::{collections::BTreeMap, sync::Arc};

use crate::isa::decode::{Dst, Src};

/// The products of a warp and the groups they are in. Groups are numbered from 1 in the order of
/// `commit_group`.
#[derive(Debug, Default)]
pub struct WgmmaState {
    /// Groups that have been committed.
    committed: u32,
    /// Products of each group that the queue has not finished.
    unfinished: BTreeMap<u32, u32>,
    /// Products that no `wait_group` has covered, oldest first.
    busy: Vec<Busy>,
    fenced: bool,
}

/// The registers of a product.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Registers {
    /// D, read and written.
    pub(super) accumulators: Vec<Dst>,
    /// A, if it is in registers.
    pub(super) a: Vec<Src>,
}

#[derive(Debug)]
struct Busy {
    group: u32,
    pc: u32,
    registers: Arc<Registers>,
}

/// A register of a product in flight that somebody touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Touch {
    /// The product's instruction.
    pub(super) pc: u32,
    /// Whether the register is an accumulator, or else of A.
    pub(super) accumulator: bool,
}

impl WgmmaState {
    /// Whether products are in flight, as far as the program knows.
    pub fn is_busy(&self) -> bool {
        !self.busy.is_empty()
    }

    /// The instruction of the oldest product that nobody has waited for.
    pub(super) fn oldest(&self) -> Option<u32> {
        self.busy.first().map(|busy| busy.pc)
    }

    pub(super) fn fence(&mut self) {
        self.fenced = true;
    }

    /// Whether there was any `wgmma.fence` yet.
    pub(super) fn is_fenced(&self) -> bool {
        self.fenced
    }

    /// The group that products go into now.
    pub(super) fn open_group(&self) -> u32 {
        self.committed + 1
    }

    /// A product is issued.
    pub(super) fn issue(&mut self, pc: u32, registers: Arc<Registers>) {
        let group = self.open_group();
        *self.unfinished.entry(group).or_default() += 1;
        self.busy.push(Busy {
            group,
            pc,
            registers,
        });
    }

    /// The queue has finished a product of a group.
    pub(super) fn finish(&mut self, group: u32) {
        if let Some(count) = self.unfinished.get_mut(&group) {
            *count -= 1;
            if *count == 0 {
                self.unfinished.remove(&group);
            }
        }
    }

    pub(super) fn commit(&mut self) {
        self.committed += 1;
    }

    /// Waits for all but the latest `most` groups. `None` while one of them is unfinished; the
    /// number of the last of them otherwise, 0 if there is none.
    pub(super) fn wait(&mut self, most: u32) -> Option<u32> {
        let last = self.committed.saturating_sub(most);
        if self.unfinished.range(..=last).next().is_some() {
            return None;
        }
        self.busy.retain(|busy| busy.group > last);
        Some(last)
    }

    /// The product that an access to a register disturbs.
    pub(super) fn touch(&self, row: u32, writes: bool) -> Option<Touch> {
        self.busy.iter().find_map(|busy| {
            let accumulator = busy.registers.accumulators.contains(&Dst(row));
            let disturbed = accumulator || writes && busy.registers.a.contains(&Src(row));
            disturbed.then_some(Touch {
                pc: busy.pc,
                accumulator,
            })
        })
    }

    /// The same for a product that is about to be issued. It may go on with the accumulators of an
    /// earlier one if they are the very same: products of one shape are in order.
    pub(super) fn touched_by(&self, registers: &Registers) -> Option<(Touch, bool)> {
        self.busy.iter().find_map(|busy| {
            let earlier = &*busy.registers;
            if earlier == registers {
                return None;
            }
            let touch = |accumulator| Touch {
                pc: busy.pc,
                accumulator,
            };
            let same = earlier.accumulators == registers.accumulators;
            let shares = |dst: &Dst| earlier.accumulators.contains(dst);
            if !same && registers.accumulators.iter().any(shares) {
                return Some((touch(true), true));
            }
            if registers.a.iter().any(|src| shares(&Dst(src.0))) {
                return Some((touch(true), false));
            }
            let overwrites = |dst: &Dst| earlier.a.contains(&Src(dst.0));
            let overwritten = registers.accumulators.iter().any(overwrites);
            overwritten.then(|| (touch(false), true))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registers(accumulators: &[u32], a: &[u32]) -> Arc<Registers> {
        Arc::new(Registers {
            accumulators: accumulators.iter().map(|&row| Dst(row)).collect(),
            a: a.iter().map(|&row| Src(row)).collect(),
        })
    }

    #[test]
    fn waiting_covers_all_but_the_latest_groups() {
        let mut state = WgmmaState::default();
        assert_eq!(state.wait(0), Some(0));
        state.issue(10, registers(&[1], &[]));
        assert_eq!(state.wait(0), Some(0), "nothing is committed");
        assert_eq!(state.touch(1, false).map(|touch| touch.pc), Some(10));
        state.commit();
        state.issue(11, registers(&[2], &[]));
        state.commit();
        assert_eq!(
            (state.wait(2), state.wait(1), state.wait(0)),
            (Some(0), None, None)
        );
        state.finish(1);
        assert_eq!((state.wait(1), state.wait(0)), (Some(1), None));
        assert_eq!((state.touch(1, true), state.oldest()), (None, Some(11)));
        state.finish(2);
        assert!(
            state.touch(2, false).is_some(),
            "finished, and nobody knows it"
        );
        assert_eq!(state.wait(0), Some(2));
        assert!(!state.is_busy());
    }

    #[test]
    fn registers_of_a_may_be_read_but_not_written() {
        let mut state = WgmmaState::default();
        state.issue(3, registers(&[1, 2], &[5, 6]));
        assert_eq!(state.touch(5, false), None);
        let touch = Touch {
            pc: 3,
            accumulator: false,
        };
        assert_eq!(state.touch(6, true), Some(touch));
        assert_eq!(state.touch(7, true), None);
    }

    #[test]
    fn products_may_share_whole_accumulators_only() {
        let mut state = WgmmaState::default();
        state.issue(3, registers(&[1, 2], &[5]));
        assert_eq!(state.touched_by(&registers(&[1, 2], &[5])), None);
        assert_eq!(state.touched_by(&registers(&[1, 2], &[6])), None);
        assert_eq!(state.touched_by(&registers(&[3, 4], &[5])), None);
        for (accumulators, a, accumulator) in
            [(&[2, 3], 9, true), (&[7, 8], 2, true), (&[5, 7], 9, false)]
        {
            let touch = state.touched_by(&registers(accumulators, &[a]));
            assert_eq!(touch.map(|(touch, _)| touch.accumulator), Some(accumulator));
        }
    }
}
