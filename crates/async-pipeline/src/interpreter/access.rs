//! Ordinary loads and stores, and what every access goes through: bounds, alignment, shadow.

use super::{
    machine::Machine,
    memory::Span,
    report::Fault,
    shadow::{Attempt, Conflict, Copy, Past},
    value::{Base, Value, View, row_major, signed},
};
use crate::program::{BufferId, Element, MemoryAccess, PlaceId, Register};
use ptx_model::access::Access;
use std::rc::Rc;

/// One side of a copy or an ordinary access, as the shadow sees it.
#[derive(Clone, Debug)]
pub(super) struct Touch {
    pub(super) who: Past,
    pub(super) kind: Access,
    pub(super) writes: bool,
    pub(super) async_proxy: bool,
}

impl Machine<'_> {
    /// Start and length of the memory behind a base.
    pub(super) fn region(&self, t: usize, base: Base) -> (u64, u64) {
        match base {
            Base::Argument(index) => {
                let memory = self.arguments.get(index as usize).and_then(Option::as_ref);
                (0, memory.map_or(0, |memory| memory.bytes.len() as u64))
            }
            Base::Shared { start, length } => (start, length),
            Base::Local(index) => (
                0,
                self.threads[t]
                    .local
                    .get(index as usize)
                    .map_or(0, |b| b.len() as u64),
            ),
        }
    }

    /// A slot of a buffer.
    pub(super) fn slot_view(
        &mut self,
        t: usize,
        buffer: BufferId,
        stage: Register,
        place: PlaceId,
    ) -> Option<View> {
        let stage = self.number(t, stage, 32, place);
        let source = self.program.buffers.get(buffer.0 as usize)?;
        let Some(slot) = u64::try_from(stage).ok().filter(|s| *s < source.stages) else {
            let (name, stages) = (source.name.clone(), source.stages);
            self.report(
                Fault::NoSuchStage {
                    name,
                    stage,
                    stages,
                },
                place,
                Some(t),
                None,
            );
            return None;
        };
        let start = self.shared.starts.get(buffer.0 as usize)? + slot * source.slot_pitch();
        let sizes: Vec<i64> = source.shape.iter().map(|e| e.cast_signed()).collect();
        Some(View {
            base: Base::Shared {
                start,
                length: source.tile_bytes(),
            },
            element_bytes: source.element.bytes(),
            offset: 0,
            strides: row_major(&sizes),
            sizes,
        })
    }

    /// Element offset of an index list, with the bounds of every dimension checked.
    fn offset(
        &self,
        t: usize,
        element: &Element,
        view: &View,
        lanes: i64,
    ) -> Result<i128, Box<Fault>> {
        let mut offset = i128::from(view.offset);
        let last = element.indices.len().saturating_sub(1);
        for (dimension, register) in element.indices.iter().enumerate() {
            let bits = self.threads[t].get(*register).bits().unwrap_or(0);
            let index = signed(bits, 64);
            let reach = if dimension == last {
                index.saturating_add(lanes - 1)
            } else {
                index
            };
            let extent = view.sizes.get(dimension).copied().unwrap_or(0);
            if index < 0 || reach >= extent {
                let index = reach;
                return Err(Box::new(Fault::OutOfBounds {
                    dimension,
                    index,
                    extent,
                }));
            }
            let stride = view.strides.get(dimension).copied().unwrap_or(0);
            offset = offset.saturating_add(i128::from(index) * i128::from(stride));
        }
        Ok(offset)
    }

    /// The bytes from an element on. With `lanes` 0, nothing is accessed and nothing checked
    /// but the start.
    pub(super) fn span(
        &mut self,
        t: usize,
        element: &Element,
        bytes: u64,
        lanes: i64,
        place: PlaceId,
    ) -> Option<Span> {
        let view = self.view(t, element.memref, place)?;
        let offset = match self.offset(t, element, &view, lanes) {
            Ok(offset) => offset,
            Err(fault) => {
                self.report(*fault, place, Some(t), None);
                return None;
            }
        };
        self.span_at(t, &view, offset, bytes, place)
    }

    /// The bytes from an element offset on, within the memory behind the view.
    pub(super) fn span_at(
        &mut self,
        t: usize,
        view: &View,
        offset: i128,
        length: u64,
        place: PlaceId,
    ) -> Option<Span> {
        let (start, size) = self.region(t, view.base);
        let byte = offset.saturating_mul(i128::from(view.element_bytes));
        let inside = u64::try_from(byte)
            .ok()
            .filter(|byte| byte.checked_add(length).is_some_and(|end| end <= size));
        match inside {
            Some(byte) => Some(Span {
                base: view.base,
                byte: start + byte,
                length,
            }),
            None => {
                let memory = self.memory_at(view.base, start.saturating_add(byte.max(0) as u64));
                let fault = Fault::OutsideMemory {
                    memory,
                    bytes: length,
                    size,
                };
                self.report(fault, place, Some(t), None);
                None
            }
        }
    }

    /// Reports an address that is no multiple of `alignment`. Arguments and slots start at
    /// addresses that are multiples of 128.
    pub(super) fn check_alignment(&mut self, t: usize, span: Span, alignment: u64, place: PlaceId) {
        if alignment > 1 && !span.byte.is_multiple_of(alignment) {
            let memory = self.memory_at(span.base, span.byte);
            self.report(
                Fault::Misaligned { memory, alignment },
                place,
                Some(t),
                None,
            );
        }
    }

    /// Notes an access in the shadow and reports what it conflicts with.
    pub(super) fn touch(&mut self, t: usize, span: Span, touch: &Touch, place: PlaceId) {
        let shared = matches!(span.base, Base::Shared { .. });
        let shadow = match span.base {
            Base::Shared { .. } => Some(&mut self.shared.shadow),
            Base::Argument(index) => self
                .arguments
                .get_mut(index as usize)
                .and_then(Option::as_mut)
                .and_then(|memory| memory.shadow.as_mut()),
            Base::Local(_) => None,
        };
        let Some(shadow) = shadow else { return };
        let attempt = Attempt {
            who: &touch.who,
            knowledge: &self.threads[t].knowledge,
            // Proxies are told apart in shared memory only, as `fence.proxy_async` does.
            async_proxy: touch.async_proxy && shared,
            initialised: !shared,
        };
        let (mut found, mut sources) = (Vec::new(), Vec::new());
        if touch.writes {
            shadow.write(span.byte, span.length, attempt, &mut found);
        } else {
            shadow.read(span.byte, span.length, attempt, &mut found, &mut sources);
        }
        for conflict in found {
            self.report_conflict(t, span.base, touch, conflict, place);
        }
        if matches!(touch.who, Past::Thread { .. }) {
            for copy in sources {
                self.check_contents(t, span, &copy, place);
            }
        }
    }

    fn report_conflict(
        &mut self,
        t: usize,
        base: Base,
        touch: &Touch,
        conflict: Conflict,
        place: PlaceId,
    ) {
        let second = touch.kind;
        let (fault, past) = match conflict {
            Conflict::Unwritten { byte } => {
                let memory = self.memory_at(base, byte);
                return self.report(Fault::Uninitialised { memory }, place, Some(t), None);
            }
            Conflict::Unfenced {
                past,
                past_writes,
                byte,
            } => {
                let (memory, first) = (self.memory_at(base, byte), past.kind(past_writes));
                (
                    Fault::MissingProxyFence {
                        memory,
                        first,
                        second,
                    },
                    past,
                )
            }
            Conflict::Unordered {
                past,
                past_writes,
                byte,
            } => {
                let (memory, first) = (self.memory_at(base, byte), past.kind(past_writes));
                let uses = !matches!(second, Access::CpAsyncWrite | Access::BulkWrite);
                let fault = if matches!(past, Past::Copy(_)) && past_writes && uses {
                    Fault::BeforeCopyDone {
                        memory,
                        copy: first,
                        access: second,
                    }
                } else {
                    Fault::Race {
                        memory,
                        first,
                        second,
                    }
                };
                (fault, past)
            }
        };
        self.report(
            fault,
            place,
            Some(t),
            Some((past.place(), "the earlier access is here")),
        );
    }

    /// Reports a read of a filling older than the phase its reader has waited for.
    fn check_contents(&mut self, t: usize, span: Span, copy: &Rc<Copy>, place: PlaceId) {
        let Some((barrier, holds)) = copy.phase.get() else {
            return;
        };
        let barrier = barrier as usize;
        let Some(waited) = self.barriers.get(barrier).and_then(|b| b.waited_for(t)) else {
            return;
        };
        let regular = copy
            .slot
            .and_then(|slot| self.rhythms.get(&slot))
            .is_some_and(|rhythm| rhythm.is_regular(barrier));
        if waited <= holds || !regular {
            return;
        }
        let memory = self.memory_at(span.base, span.byte);
        let fault = Fault::StaleContents {
            memory,
            barrier: self.facts(barrier),
            holds,
            waited,
        };
        self.report(
            fault,
            place,
            Some(t),
            Some((copy.place, "the slot was last filled here")),
        );
    }

    fn thread_touch(&self, t: usize, writes: bool, place: PlaceId) -> Touch {
        let epoch = self.threads[t].knowledge.now(t).value;
        Touch {
            who: Past::Thread {
                thread: t as u32,
                epoch,
                place,
            },
            kind: if writes {
                Access::GenericWrite
            } else {
                Access::GenericRead
            },
            writes,
            async_proxy: false,
        }
    }

    /// Bytes of a span, if they are there.
    pub(super) fn bytes(&self, t: usize, span: Span) -> &[u8] {
        let memory = match span.base {
            Base::Shared { .. } => Some(&self.shared.bytes),
            Base::Argument(index) => self
                .arguments
                .get(index as usize)
                .and_then(Option::as_ref)
                .map(|m| &m.bytes),
            Base::Local(index) => self.threads[t].local.get(index as usize),
        };
        let start = span.byte as usize;
        memory
            .and_then(|bytes| bytes.get(start..start.saturating_add(span.length as usize)))
            .unwrap_or_default()
    }

    /// The same, for writing.
    pub(super) fn bytes_mut(&mut self, t: usize, span: Span) -> &mut [u8] {
        let memory = match span.base {
            Base::Shared { .. } => Some(&mut self.shared.bytes),
            Base::Argument(index) => self
                .arguments
                .get_mut(index as usize)
                .and_then(Option::as_mut)
                .map(|m| &mut m.bytes),
            Base::Local(index) => self.threads[t].local.get_mut(index as usize),
        };
        let start = span.byte as usize;
        memory
            .and_then(|bytes| bytes.get_mut(start..start.saturating_add(span.length as usize)))
            .unwrap_or_default()
    }

    /// How many lanes of a padded access are inside its memref.
    fn lanes_inside(&mut self, t: usize, access: &MemoryAccess, place: PlaceId) -> i64 {
        let lanes = i64::from(access.lanes.unwrap_or(1));
        if access.padding.is_none() {
            return lanes;
        }
        let Some(view) = self.view(t, access.at.memref, place) else {
            return 0;
        };
        let mut inside = lanes;
        for (dimension, register) in access.at.indices.iter().enumerate() {
            let index = signed(self.threads[t].get(*register).bits().unwrap_or(0), 64);
            let left = view
                .sizes
                .get(dimension)
                .copied()
                .unwrap_or(0)
                .saturating_sub(index);
            let innermost = dimension + 1 == access.at.indices.len();
            inside = match (index < 0 || left <= 0, innermost) {
                (true, _) => 0,
                (false, true) => inside.min(left),
                (false, false) => inside,
            };
        }
        inside
    }

    pub(super) fn load(&mut self, t: usize, access: &MemoryAccess, place: PlaceId) -> Value {
        let width = access.element.bytes() as usize;
        let lanes = access.lanes.unwrap_or(1) as usize;
        let inside = self.lanes_inside(t, access, place);
        let padding = access
            .padding
            .and_then(|r| self.threads[t].get(r).bits())
            .unwrap_or(0);
        let mut out = vec![padding; lanes];
        let length = inside.max(0).cast_unsigned() * width as u64;
        let span = if inside > 0 {
            self.span(t, &access.at, length, inside, place)
        } else {
            None
        };
        if let Some(span) = span {
            self.check_alignment(t, span, u64::from(access.alignment), place);
            self.touch(t, span, &self.thread_touch(t, false, place), place);
            for (lane, bytes) in out.iter_mut().zip(self.bytes(t, span).chunks(width)) {
                *lane = bytes
                    .iter()
                    .rev()
                    .fold(0, |value, byte| value << 8 | u64::from(*byte));
            }
        }
        self.steps += lanes as u64 / 4;
        match (access.lanes, out.first()) {
            (None, Some(bits)) => Value::Bits(*bits),
            _ => Value::Vector(out.into()),
        }
    }

    pub(super) fn store(
        &mut self,
        t: usize,
        access: &MemoryAccess,
        value: Register,
        place: PlaceId,
    ) {
        let width = access.element.bytes() as usize;
        let inside = self.lanes_inside(t, access, place);
        if inside <= 0 {
            return;
        }
        let length = inside.cast_unsigned() * width as u64;
        let Some(span) = self.span(t, &access.at, length, inside, place) else {
            return;
        };
        self.check_alignment(t, span, u64::from(access.alignment), place);
        self.touch(t, span, &self.thread_touch(t, true, place), place);
        let value = self.threads[t].get(value).clone();
        self.steps += value.lanes().len() as u64 / 4;
        for (bytes, lane) in self.bytes_mut(t, span).chunks_mut(width).zip(value.lanes()) {
            bytes.copy_from_slice(&lane.to_le_bytes()[..width]);
        }
        self.progress += 1;
    }
}
