//! What a valid barrier holds, and how its numbers move.

use super::{MAX_COUNT, MAX_TX, MbarrierError, Result, State, Token};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Counts {
    pub(super) phase: u64,
    pub(super) expected: u32,
    pub(super) pending: u32,
    pub(super) tx: i64,
}

impl Counts {
    pub(super) fn is_complete(&self) -> bool {
        self.pending == 0 && self.tx == 0
    }

    pub(super) fn token(&self, no_complete: bool) -> State {
        State(Token::Local {
            phase: self.phase,
            pending: self.pending,
            no_complete,
        })
    }

    pub(super) fn arrive(&mut self, count: u32) -> Result<()> {
        check_count(count)?;
        let left = self.pending.checked_sub(count);
        let pending = self.pending;
        self.pending = left.ok_or(MbarrierError::OverArrival {
            count,
            pending,
            phase: self.phase,
        })?;
        Ok(())
    }

    pub(super) fn drop_arrive(&mut self, count: u32) -> Result<()> {
        check_count(count)?;
        if count >= self.expected {
            return Err(MbarrierError::NobodyExpected {
                count,
                expected: self.expected,
            });
        }
        self.expected -= count;
        self.arrive(count)
    }

    pub(super) fn add_tx(&mut self, bytes: i64) -> Result<()> {
        let tx = self.tx + bytes;
        if tx.unsigned_abs() > u64::from(MAX_TX) {
            return Err(MbarrierError::TxOutOfRange { tx });
        }
        self.tx = tx;
        Ok(())
    }
}

/// Refuses a count that no barrier can hold.
pub(super) fn check_count(count: u32) -> Result<()> {
    if (1..=MAX_COUNT).contains(&count) {
        return Ok(());
    }
    Err(MbarrierError::CountOutOfRange { count })
}
