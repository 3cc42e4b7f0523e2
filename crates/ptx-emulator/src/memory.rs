//! Device memory and the windows of the generic address space.

use std::sync::Arc;

use crate::report::{Fault, Kind};

/// Where the windows of the generic address space begin. Each is 2^40 bytes wide; below all of
/// them lies global memory. The values are ours: PTX leaves them open, and hardware has others.
pub mod window {
    /// Constants.
    pub const CONST: u64 = 0x7c00_0000_0000;
    /// Kernel parameters.
    pub const PARAM: u64 = 0x7d00_0000_0000;
    /// A thread's local memory.
    pub const LOCAL: u64 = 0x7e00_0000_0000;
    /// Shared memory: the low 32 bits are `rank << 24 | offset` (measured on an H200).
    pub const SHARED: u64 = 0x7f00_0000_0000;
    /// Width of each.
    pub const SIZE: u64 = 1 << 40;
}

/// Bits of a 32-bit shared address below the CTA's rank (measured on an H200).
pub const SHARED_RANK_SHIFT: u32 = 24;

/// Shared memory that the system keeps for itself at offset 0 (measured on an H200), so that no
/// variable lies at address 0.
pub const RESERVED_SHARED: u64 = 1024;

/// One allocation.
#[derive(Debug, Clone)]
pub struct Allocation {
    /// Its first address.
    pub base: u64,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// What it is, for reports.
    pub name: Arc<str>,
}

/// Global memory: allocations with unmapped gaps between them.
#[derive(Debug, Clone)]
pub struct GlobalMemory {
    allocations: Vec<Allocation>,
    next: u64,
    limit: u64,
    used: u64,
}

const FIRST: u64 = 0x0002_0000_0000;
const GAP: u64 = 1 << 16;

impl GlobalMemory {
    /// Empty memory that holds at most `limit` bytes.
    pub fn new(limit: u64) -> Self {
        Self {
            allocations: Vec::new(),
            next: FIRST,
            limit,
            used: 0,
        }
    }

    /// Allocates zeroed memory; its address is a multiple of 1024.
    ///
    /// # Errors
    /// More than the limit in all.
    pub fn allocate(&mut self, bytes: u64, name: &str) -> Result<u64, Fault> {
        let used = self
            .used
            .checked_add(bytes)
            .filter(|&used| used <= self.limit);
        let Some(used) = used else {
            return Err(Fault::new(
                Kind::Limit,
                format!(
                    "{bytes} bytes for {name} exceed the limit of {} bytes",
                    self.limit
                ),
            ));
        };
        self.used = used;
        let base = self.next;
        self.next = (base + bytes + GAP).next_multiple_of(GAP);
        self.allocations.push(Allocation {
            base,
            bytes: vec![0; bytes as usize],
            name: name.into(),
        });
        Ok(base)
    }

    /// All allocations in the order of their addresses.
    pub fn allocations(&self) -> &[Allocation] {
        &self.allocations
    }

    /// The allocation that `address` lies in, by index.
    pub fn find(&self, address: u64) -> Option<usize> {
        let after = self.allocations.partition_point(|a| a.base <= address);
        let index = after.checked_sub(1)?;
        let allocation = &self.allocations[index];
        (address - allocation.base < allocation.bytes.len() as u64).then_some(index)
    }

    /// The allocation and the offset in it of `len` bytes.
    ///
    /// # Errors
    /// Out of bounds, with the nearest allocation named.
    pub fn locate(&self, address: u64, len: u64) -> Result<(usize, usize), Fault> {
        if let Some(index) = self.find(address) {
            let allocation = &self.allocations[index];
            let offset = address - allocation.base;
            if len <= allocation.bytes.len() as u64 - offset {
                return Ok((index, offset as usize));
            }
        }
        Err(Fault::new(
            Kind::OutOfBounds,
            format!(
                "{len} bytes of global memory at {address:#x} {}",
                self.describe_outside(address)
            ),
        ))
    }

    fn describe_outside(&self, address: u64) -> String {
        let after = self.allocations.partition_point(|a| a.base <= address);
        let before = after.checked_sub(1).map(|i| &self.allocations[i]);
        match (before, self.allocations.get(after)) {
            (Some(before), next) => {
                let end = before.base + before.bytes.len() as u64;
                let past = address.saturating_sub(end);
                match next {
                    Some(next) if next.base - address < past => {
                        format!("lie {} bytes before {}", next.base - address, next.name)
                    }
                    _ if address < end => {
                        format!(
                            "run past the end of {} ({} bytes)",
                            before.name,
                            before.bytes.len()
                        )
                    }
                    _ if past == 0 => format!(
                        "begin where {} ends ({} bytes)",
                        before.name,
                        before.bytes.len()
                    ),
                    _ => format!(
                        "lie {past} bytes past the end of {} ({} bytes)",
                        before.name,
                        before.bytes.len()
                    ),
                }
            }
            (None, Some(_)) => "lie in no allocation".to_owned(),
            (None, None) => "were never allocated".to_owned(),
        }
    }

    /// Reads bytes.
    ///
    /// # Errors
    /// Out of bounds.
    pub fn read(&self, address: u64, out: &mut [u8]) -> Result<(), Fault> {
        let (index, offset) = self.locate(address, out.len() as u64)?;
        out.copy_from_slice(&self.allocations[index].bytes[offset..offset + out.len()]);
        Ok(())
    }

    /// Writes bytes.
    ///
    /// # Errors
    /// Out of bounds.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Fault> {
        let (index, offset) = self.locate(address, bytes.len() as u64)?;
        self.allocations[index].bytes[offset..offset + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    /// Writes bytes into an allocation; what would be outside is dropped.
    pub(crate) fn write_at(&mut self, index: usize, offset: usize, bytes: &[u8]) {
        let Some(allocation) = self.allocations.get_mut(index) else {
            return;
        };
        for (to, from) in allocation.bytes.iter_mut().skip(offset).zip(bytes) {
            *to = *from;
        }
    }

    /// The bytes from an address to the end of its allocation, none outside.
    pub fn bytes_from(&self, address: u64) -> &[u8] {
        match self.find(address) {
            Some(index) => {
                let allocation = &self.allocations[index];
                &allocation.bytes[(address - allocation.base) as usize..]
            }
            None => &[],
        }
    }
}
