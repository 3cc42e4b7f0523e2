//! The groups of lanes of a warp: which goes next, how they part and meet.

use super::{
    schedule::TURN,
    warp::{Fragment, State, Warp},
};

/// After how many warp-instructions lanes that were passed over go first, for a turn.
const PATIENCE: u64 = 512;

/// Whether a fragment in this state can go on, when so many changes have been made.
pub(super) fn can_run(state: &State, version: u64) -> bool {
    match state {
        State::Ready | State::Expired => true,
        State::Waiting { version: then, .. } | State::Yielded { version: then, .. } => {
            *then != version
        }
        State::Converging => false,
    }
}

/// The fragment to run: of those that can, the one that is furthest behind in the text, so that
/// lanes meet again after a branch; it takes in all others that stand at the same instruction.
///
/// One that has not run for [`PATIENCE`] goes first: lanes that spin must not keep those from
/// running that they wait for (threads of a warp make progress independently since sm_70).
pub(super) fn choose_fragment(warp: &mut Warp, version: u64, now: u64) -> Option<usize> {
    if warp.fragments.len() == 1 {
        return can_run(&warp.fragments[0].state, version).then_some(0);
    }
    let best = warp
        .fragments
        .iter()
        .enumerate()
        .filter(|(_, f)| can_run(&f.state, version))
        .min_by_key(|(_, f)| {
            let favoured = f.favoured > now;
            let neglected = f.ran + PATIENCE < now;
            let rank = if neglected { f.ran } else { u64::from(f.pc) };
            (!favoured, !neglected, rank, f.ticket.is_some())
        })
        .map(|(index, _)| index)?;
    if warp.fragments[best].ran + PATIENCE < now {
        warp.fragments[best].favoured = now + u64::from(TURN);
    }
    let pc = warp.fragments[best].pc;
    if warp.fragments[best].ticket.is_some() {
        return Some(best);
    }
    let mut merged = 0;
    let mut index = 0;
    let mut target = best;
    while index < warp.fragments.len() {
        let other = &warp.fragments[index];
        let joins = index != target
            && other.pc == pc
            && other.ticket.is_none()
            && (can_run(&other.state, version) || other.state == State::Converging);
        if joins {
            merged |= other.mask;
            warp.fragments.swap_remove(index);
            if target == warp.fragments.len() {
                target = index;
            }
        } else {
            index += 1;
        }
    }
    warp.fragments[target].mask |= merged;
    Some(target)
}

/// Leaves `mask` in the fragment and sends the rest to `pc`.
pub(super) fn split_off_others(warp: &mut Warp, index: usize, mask: u32, pc: u32) {
    let others = warp.fragments[index].mask & !mask;
    if others != 0 {
        warp.fragments[index].mask &= mask;
        warp.fragments.push(Fragment {
            pc,
            mask: others,
            ticket: None,
            state: State::Ready,
            since: 0,
            ran: warp.fragments[index].ran,
            favoured: 0,
        });
    }
}
