//! Addresses to places in memory.

use super::{
    ids::CtaRef,
    step::{Location, Step, Window},
};
use crate::{
    memory::{SHARED_RANK_SHIFT, window},
    report::{Fault, Kind},
};

impl Step<'_> {
    /// Finds `bytes` bytes at an address. `align` is what the address has to be a multiple of.
    ///
    /// # Errors
    /// Misaligned or out of bounds.
    pub fn locate(
        &self,
        window: Window,
        lane: usize,
        address: u64,
        bytes: u64,
        align: u64,
    ) -> Result<Location, Fault> {
        if align > 1 && !address.is_multiple_of(align) {
            return Err(Fault::new(
                Kind::Misaligned,
                format!("the address {address:#x} of lane {lane} is no multiple of {align}"),
            ));
        }
        let outside = |what: &str, size: u64| {
            Fault::new(
                Kind::OutOfBounds,
                format!(
                    "{bytes} bytes of {what} at {address:#x} of lane {lane} are outside its {size} bytes"
                ),
            )
        };
        let within = |offset: u64, size: u64, what: &str| match offset.checked_add(bytes) {
            Some(end) if end <= size => Ok(offset),
            _ => Err(outside(what, size)),
        };
        let constants = self.machine.program.constants.len() as u64;
        let parameters = self.machine.program.parameter_bytes;
        let local = self.machine.program.local_bytes;
        match window {
            Window::Global => {
                let (index, offset) = self.machine.memory.locate(address, bytes)?;
                Ok(Location::Global(index as u32, offset as u64))
            }
            Window::SharedCta | Window::SharedCluster => {
                let in_window = address.wrapping_sub(window::SHARED) < window::SIZE;
                let address = if in_window {
                    address - window::SHARED
                } else {
                    address
                };
                self.shared_location(window == Window::SharedCluster, lane, address, bytes)
            }
            Window::Local => {
                let offset = address.checked_sub(window::LOCAL).unwrap_or(address);
                within(offset, local, "local memory").map(Location::Local)
            }
            Window::Const => {
                let offset = address.checked_sub(window::CONST).unwrap_or(address);
                within(offset, constants, "constant memory").map(Location::Const)
            }
            Window::Param => {
                let offset = address.checked_sub(window::PARAM).unwrap_or(address);
                within(offset, parameters, "the parameters").map(Location::Param)
            }
            Window::Generic => {
                let is_in = |base: u64| address.wrapping_sub(base) < window::SIZE;
                let actual = if is_in(window::SHARED) {
                    Window::SharedCluster
                } else if is_in(window::LOCAL) {
                    Window::Local
                } else if is_in(window::PARAM) {
                    Window::Param
                } else if is_in(window::CONST) {
                    Window::Const
                } else {
                    Window::Global
                };
                self.locate(actual, lane, address, bytes, 1)
            }
        }
    }

    fn shared_location(
        &self,
        cluster: bool,
        lane: usize,
        address: u64,
        bytes: u64,
    ) -> Result<Location, Fault> {
        let rank = address >> SHARED_RANK_SHIFT;
        let offset = address & ((1 << SHARED_RANK_SHIFT) - 1);
        let me = self.cta();
        let target = CtaRef {
            cluster: me.cluster,
            rank: u32::try_from(rank).unwrap_or(u32::MAX),
        };
        if !cluster && target != me {
            return Err(Fault::new(
                Kind::OutOfBounds,
                format!(
                    "the shared address {address:#x} of lane {lane} lies in CTA {rank} of the cluster, the instruction means the own CTA ({})",
                    me.rank
                ),
            ));
        }
        let Some(cta) = self.machine.cta(target) else {
            return Err(Fault::new(
                Kind::OutOfBounds,
                format!(
                    "the shared address {address:#x} of lane {lane} names CTA {rank}, which the cluster does not have"
                ),
            ));
        };
        let size = cta.shared.len() as u64;
        if target != me && cta.ended() {
            return Err(Fault::new(
                Kind::ExitWithWork,
                format!(
                    "the shared address {address:#x} of lane {lane} lies in CTA {rank} of the cluster, all of whose threads have ended"
                ),
            ));
        }
        match offset.checked_add(bytes) {
            Some(end) if end <= size && offset >= crate::memory::RESERVED_SHARED => {
                Ok(Location::Shared(target, offset as u32))
            }
            _ => Err(Fault::new(
                Kind::OutOfBounds,
                format!(
                    "{bytes} bytes of shared memory at {address:#x} of lane {lane} are outside the CTA's {:#x} to {size:#x}",
                    crate::memory::RESERVED_SHARED
                ),
            )),
        }
    }
}
