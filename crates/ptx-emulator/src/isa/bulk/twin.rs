//! Stores to one place without an order between them.
//!
//! That is a race, unless both write the same bytes: Triton lets several warpgroups compute and
//! store one tile where a tile is too small to be divided. Which of the two finishes last is not
//! known when they are issued, so a conflict waits until both have: if the last one changed nothing,
//! nobody can tell them apart.

use crate::{
    detect::{Access, Conflict, Epoch, Mode},
    report::Kind,
};

/// Conflicts beyond these are reported at once: every store that finishes looks at all of them, and
/// a kernel that stores without end shall not make that quadratic.
const MOST_WAITING: usize = 1024;

/// Stores in flight, and conflicts between them.
#[derive(Debug, Default)]
pub struct TwinStores {
    issued: u64,
    /// Numbers and epochs of the stores that are not finished.
    open: Vec<(u64, Epoch)>,
    waiting: Vec<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    mine: u64,
    theirs: Vec<u64>,
    conflict: Conflict,
    access: Access,
}

impl TwinStores {
    /// A store is issued; its number.
    pub(super) fn begin(&mut self, epoch: Epoch) -> u64 {
        self.issued += 1;
        self.open.push((self.issued, epoch));
        self.issued
    }

    /// Puts a conflict off if it may turn out to be harmless. Whether it was.
    pub(super) fn defer(&mut self, mine: u64, conflict: &Conflict, access: &Access) -> bool {
        let between_stores = access.mode == Mode::Write
            && conflict.other_mode == Mode::Write
            && conflict.kind == Kind::ReadBeforeComplete;
        if !between_stores || self.waiting.len() >= MOST_WAITING {
            return false;
        }
        let open = self.open.iter();
        let theirs = open
            .filter(|(number, epoch)| *number != mine && *epoch == conflict.other)
            .map(|(number, _)| *number)
            .collect();
        self.waiting.push(Waiting {
            mine,
            theirs,
            conflict: conflict.clone(),
            access: *access,
        });
        true
    }

    /// A store has finished; `changed` says whether memory was different before. The conflicts
    /// that have turned out to be real.
    pub(super) fn end(&mut self, number: u64, changed: bool) -> Vec<(Conflict, Access)> {
        self.open.retain(|(open, _)| *open != number);
        let mut real = Vec::new();
        let open = &self.open;
        self.waiting.retain(|waiting| {
            let concerns = waiting.mine == number || waiting.theirs.contains(&number);
            let still = |n: &u64| open.iter().any(|(open, _)| open == n);
            if !concerns || still(&waiting.mine) || waiting.theirs.iter().any(still) {
                return true;
            }
            if changed {
                real.push((waiting.conflict.clone(), waiting.access));
            }
            false
        });
        real
    }
}
