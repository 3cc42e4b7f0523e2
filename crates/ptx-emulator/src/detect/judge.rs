//! Whether an access knows of the ones before it.

use super::{
    Access, Agent, Conflict, Epoch, Mind, Mode, Place, Proxy,
    shadow::{Cell, Reads},
};
use crate::report::Kind;

/// Whether `mind` (of thread-agent `own`) knows of an epoch, seen through a proxy.
pub(super) fn knows(mind: &Mind, own: Agent, cluster: u32, epoch: Epoch, proxy: Proxy) -> bool {
    if epoch.time == 0 {
        return true;
    }
    if epoch.cluster == cluster && epoch.agent == own {
        return match proxy {
            Proxy::Generic => true,
            Proxy::Async => epoch.time <= mind.proxied_own,
            Proxy::Tensor => true,
        };
    }
    let clock = match proxy {
        Proxy::Generic => &mind.known.generic,
        Proxy::Async => &mind.known.proxied,
        Proxy::Tensor => &mind.known.tensor,
    };
    clock.covers(cluster, epoch)
}

/// One access against what memory remembers.
pub(super) struct Judge<'a> {
    pub(super) mind: &'a Mind,
    pub(super) agent: Agent,
    /// Agents from here on are streams of asynchronous work.
    pub(super) threads: u32,
    pub(super) access: &'a Access,
    pub(super) operations: &'a [Option<Epoch>],
}

impl Judge<'_> {
    /// What is wrong between the access and what a cell remembers.
    pub(super) fn look(&self, place: Place, at: u64, cell: &Cell, found: &mut Vec<Conflict>) {
        let mode = self.access.mode;
        let harmless = mode == Mode::Atomic && cell.write_is_atomic()
            || mode == Mode::Rewrite && cell.write_proxy() == Proxy::Generic;
        if cell.write.time != 0 && !harmless {
            self.pair(
                place,
                at,
                cell.write,
                cell.write_pc,
                Mode::Write,
                cell.write_proxy(),
                found,
            );
        }
        if mode == Mode::Read {
            return;
        }
        match &cell.reads {
            Reads::None => {}
            Reads::One(read) => {
                self.pair(
                    place,
                    at,
                    read.epoch,
                    read.pc,
                    Mode::Read,
                    read.proxy,
                    found,
                );
            }
            Reads::Many(reads) => {
                for read in reads.iter() {
                    self.pair(
                        place,
                        at,
                        read.epoch,
                        read.pc,
                        Mode::Read,
                        read.proxy,
                        found,
                    );
                }
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn pair(
        &self,
        place: Place,
        at: u64,
        other: Epoch,
        other_pc: u32,
        other_mode: Mode,
        other_proxy: Proxy,
        found: &mut Vec<Conflict>,
    ) {
        // Work of one stream is in order among itself.
        if other == self.access.epoch
            || (other.agent == self.access.epoch.agent
                && other.cluster == self.access.epoch.cluster
                && other.agent != Epoch::OPERATION
                && other_proxy == self.access.proxy)
        {
            return;
        }
        let cluster = self.access.thread.cta.cluster;
        let in_flight = other.agent == Epoch::OPERATION
            && self
                .operations
                .get(other.time as usize)
                .copied()
                .flatten()
                .is_none();
        let resolved = if other.agent == Epoch::OPERATION {
            self.operations.get(other.time as usize).copied().flatten()
        } else {
            Some(other)
        };
        let ordered = !in_flight
            && resolved.is_some_and(|e| knows(self.mind, self.agent, cluster, e, Proxy::Generic));
        let kind = if !ordered {
            match (other_mode, other.agent >= self.threads) {
                (Mode::Read, true) => Kind::OverwriteWhileRead,
                (_, true) => Kind::ReadBeforeComplete,
                (_, false) => Kind::Race,
            }
        } else if self.access.proxy == Proxy::Async
            && other_proxy == Proxy::Generic
            && !resolved.is_some_and(|e| knows(self.mind, self.agent, cluster, e, Proxy::Async))
        {
            Kind::MissingProxyFence
        } else if self.access.proxy == Proxy::Tensor
            && !resolved.is_some_and(|e| knows(self.mind, self.agent, cluster, e, Proxy::Tensor))
        {
            Kind::MissingTensorFence
        } else {
            return;
        };
        if found.iter().all(|conflict| conflict.kind != kind) {
            found.push(Conflict {
                kind,
                other,
                other_pc,
                other_mode,
                place,
                position: at,
            });
        }
    }

    /// Writes the access down.
    pub(super) fn note(&self, cell: &mut Cell) {
        let access = self.access;
        match access.mode {
            Mode::Read => {
                let cluster = access.thread.cta.cluster;
                cell.add_read(access.epoch, access.pc, access.proxy, |epoch| {
                    let resolved = if epoch.agent == Epoch::OPERATION {
                        self.operations.get(epoch.time as usize).copied().flatten()
                    } else {
                        Some(epoch)
                    };
                    // A read that this one knows of is implied by it, if both come through the
                    // same door.
                    resolved
                        .is_some_and(|e| knows(self.mind, self.agent, cluster, e, Proxy::Generic))
                });
            }
            Mode::Write | Mode::Rewrite => {
                cell.set_write(access.epoch, access.pc, access.proxy, false)
            }
            Mode::Atomic => cell.set_write(access.epoch, access.pc, access.proxy, true),
        }
    }
}
