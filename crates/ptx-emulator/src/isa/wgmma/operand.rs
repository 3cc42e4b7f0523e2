//! An operand of a product in shared memory: where it lies, who watches it, what it holds.

use crate::{
    detect::{Access, Mode, Place, Proxy, Stream},
    formats::{
        operand::{Chunk, Major, OperandLayout},
        tile::{Element, OperandTile},
        wgmma_descriptor,
    },
    isa::decode::Src,
    machine::step::Step,
    memory::RESERVED_SHARED,
    report::{Fault, Kind, Severity},
};

type Outcome<T> = std::result::Result<T, Fault>;

/// An operand in shared memory: the pieces that this warp reads.
#[derive(Debug)]
pub(super) struct SharedOperand {
    major: Major,
    /// Their rows begin at 0.
    chunks: Vec<Chunk>,
}

impl SharedOperand {
    pub(super) fn new(
        step: &Step<'_>,
        (descriptor, major): (Src, Major),
        element: Element,
        rows: std::ops::Range<u32>,
        depth: u32,
    ) -> Outcome<Self> {
        let descriptor = step.uniform(descriptor, "a matrix descriptor")?;
        let layout = wgmma_descriptor::decode(descriptor, major, element.per_chunk())
            .map_err(|error| Fault::new(Kind::InvalidOperand, error.to_string()))?;
        let first = rows.start;
        let mut chunks: Vec<Chunk> = layout.chunks_of(rows, depth).collect();
        for chunk in &mut chunks {
            chunk.mn -= first;
        }
        let operand = Self { major, chunks };
        operand.check_bounds(step, &layout)?;
        Ok(operand)
    }

    fn check_bounds(&self, step: &Step<'_>, layout: &OperandLayout) -> Outcome<()> {
        let size = step
            .machine
            .cta(step.cta())
            .map_or(0, |cta| cta.shared.len() as u64);
        let inside = |address| {
            let address = u64::from(address);
            address >= RESERVED_SHARED && address + 16 <= size
        };
        match self.chunks.iter().find(|chunk| !inside(chunk.address)) {
            None => Ok(()),
            Some(chunk) => Err(Fault::new(
                Kind::OutOfBounds,
                format!(
                    "the operand that begins at shared memory {:#x} (leading offset {}, stride offset {}) reaches {:#x}, outside {RESERVED_SHARED:#x} to {size:#x}",
                    layout.start, layout.leading, layout.stride, chunk.address
                ),
            )),
        }
    }

    /// Contiguous runs: first byte and length.
    fn runs(&self) -> Vec<(u32, u32)> {
        let mut addresses: Vec<u32> = self.chunks.iter().map(|chunk| chunk.address).collect();
        addresses.sort_unstable();
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for address in addresses {
            match runs.last_mut() {
                Some((start, len)) if address < *start + *len => {}
                Some((start, len)) if address == *start + *len => *len += 16,
                _ => runs.push((address, 16)),
            }
        }
        runs
    }

    pub(super) fn load(
        &self,
        shared: &[u8],
        element: Element,
        rows: u32,
        depth: u32,
    ) -> OperandTile {
        let mut tile = OperandTile::zeros(rows as usize, depth as usize);
        for chunk in &self.chunks {
            // Bounds were checked when the product was issued.
            let bytes = shared
                .get(chunk.address as usize..)
                .and_then(|bytes| bytes.first_chunk());
            tile.put_chunk(
                self.major,
                element,
                *chunk,
                bytes.copied().unwrap_or_default(),
            );
        }
        tile
    }
}

/// Tells the detector of the reads. They stay open until a `wait_group` covers the group.
pub(super) fn watch(step: &mut Step<'_>, operand: &SharedOperand) {
    if !step.machine.detector.enabled() {
        return;
    }
    let thread = step.thread(0);
    let place = Place::Shared(step.cta());
    let group = step.warp.wgmma.open_group();
    let access = Access {
        thread,
        epoch: step
            .machine
            .detector
            .stream_epoch(thread, Stream::Wgmma(thread), group),
        mode: Mode::Read,
        proxy: Proxy::Async,
        pc: step.pc,
    };
    for (start, len) in operand.runs() {
        let (start, len) = (u64::from(start), u64::from(len));
        if !step.machine.detector.is_written(place, start, len) {
            let what = step.machine.describe(place, start);
            let message = format!("{what} is read before anybody has written it");
            let kind = Kind::UninitialisedRead;
            let (pc, severity) = (step.pc, Severity::Error);
            step.machine
                .report(kind, severity, message, pc, thread, u32::MAX, Vec::new());
        }
        step.machine.watch(place, start, len, &access);
    }
}
