//! Operands of `tcgen05.mma` and sources of `tcgen05.cp` in shared memory.

use crate::{
    detect::{Access, Epoch, Mode, Place, Proxy},
    formats::{
        operand::{Chunk, Major},
        swizzle::Swizzle,
        tile::{Element, OperandTile},
    },
    machine::{
        Machine,
        ids::{CtaRef, ThreadRef},
    },
    memory::RESERVED_SHARED,
    report::{Fault, Kind, Severity},
    tensor_memory::shared_descriptor::{SharedDescriptor, SharedDescriptorError},
};

impl From<SharedDescriptorError> for Fault {
    fn from(error: SharedDescriptorError) -> Self {
        Self::new(Kind::InvalidOperand, error.to_string())
    }
}

/// The part of an operand that lies in one CTA: rows of A or columns of B.
#[derive(Debug)]
pub(super) struct SharedOperand {
    element: Element,
    major: Major,
    rows: u32,
    depth: u32,
    chunks: Vec<Chunk>,
}

impl SharedOperand {
    /// From a descriptor; `name` is A or B.
    pub(super) fn new(
        descriptor: u64,
        name: &str,
        element: Element,
        major: Major,
        rows: u32,
        depth: u32,
    ) -> Result<Self, Fault> {
        let descriptor = SharedDescriptor::decode(descriptor)?;
        check_swizzle(name, element, major, descriptor.swizzle)?;
        let layout = descriptor.layout(major, element.per_chunk());
        Ok(Self {
            element,
            major,
            rows,
            depth,
            chunks: layout.chunks(rows, depth).collect(),
        })
    }

    /// The addresses of its pieces of 16 bytes.
    pub(super) fn addresses(&self) -> impl Iterator<Item = u32> + '_ {
        self.chunks.iter().map(|chunk| chunk.address)
    }

    /// Reads and decodes it.
    pub(super) fn load(&self, shared: &[u8]) -> OperandTile {
        let mut tile = OperandTile::zeros(self.rows as usize, self.depth as usize);
        for chunk in &self.chunks {
            // Bounds were checked when the instruction was issued.
            let bytes = shared
                .get(chunk.address as usize..)
                .and_then(|bytes| bytes.first_chunk());
            tile.put_chunk(
                self.major,
                self.element,
                *chunk,
                bytes.copied().unwrap_or_default(),
            );
        }
        tile
    }
}

/// Which swizzles an operand may have: atoms of 32 bytes belong to 32-bit MN-major operands, and
/// those have no other (PTX ISA 9.7.16.4.1; CUTLASS).
fn check_swizzle(
    name: &str,
    element: Element,
    major: Major,
    swizzle: Swizzle,
) -> Result<(), Fault> {
    let wide_atoms = swizzle == Swizzle::Span128Atom32;
    let needs_wide_atoms = major == Major::Mn && element == Element::Tf32;
    if wide_atoms == needs_wide_atoms {
        return Ok(());
    }
    Err(Fault::new(
        Kind::InvalidOperand,
        format!(
            "operand {name} of type {element:?}, {major:?}-major, cannot have the swizzle {swizzle:?}"
        ),
    ))
}

/// Tells the detector of reads of pieces of 16 bytes through the async proxy.
pub(super) fn watch_reads(
    machine: &mut Machine,
    cta: CtaRef,
    addresses: impl Iterator<Item = u32>,
    thread: ThreadRef,
    epoch: Epoch,
    pc: u32,
) -> Result<(), Fault> {
    let size = machine.cta(cta).map_or(0, |cta| cta.shared.len() as u64);
    let mut addresses: Vec<u32> = addresses.collect();
    addresses.sort_unstable();
    addresses.dedup();
    let outside = addresses
        .iter()
        .find(|&&at| u64::from(at) < RESERVED_SHARED || u64::from(at) + 16 > size);
    if let Some(at) = outside {
        return Err(Fault::new(
            Kind::OutOfBounds,
            format!(
                "the descriptor reaches shared memory {at:#x} of CTA {}, outside {RESERVED_SHARED:#x} to {size:#x}",
                cta.rank
            ),
        ));
    }
    if !machine.detector.enabled() {
        return Ok(());
    }
    let place = Place::Shared(cta);
    let access = Access {
        thread,
        epoch,
        mode: Mode::Read,
        proxy: Proxy::Async,
        pc,
    };
    for run in addresses.chunk_by(|low, high| low + 16 == *high) {
        let (start, len) = (u64::from(run[0]), 16 * run.len() as u64);
        if !machine.detector.is_written(place, start, len) {
            let message = format!(
                "{} is read before anybody has written it",
                machine.describe(place, start)
            );
            let kind = Kind::UninitialisedRead;
            machine.report(
                kind,
                Severity::Error,
                message,
                pc,
                thread,
                u32::MAX,
                Vec::new(),
            );
        }
        machine.watch(place, start, len, &access);
    }
    Ok(())
}
