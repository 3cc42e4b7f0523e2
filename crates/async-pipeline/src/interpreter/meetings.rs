//! Barriers without phases: the CTA's, named ones, and the warp's.

use super::{clock::Knowledge, machine::Machine, report::Fault, step::Flow, thread::Status};
use crate::program::PlaceId;
use std::collections::BTreeMap;

/// One meeting point.
#[derive(Debug, Default)]
pub(super) struct Meeting {
    /// Threads that have come and wait.
    pub(super) waiting: Vec<u32>,
    /// Threads that have come.
    pub(super) arrived: u32,
    /// Threads that are waited for, as the first to come stated it.
    pub(super) of: u32,
    knowledge: Option<Knowledge>,
    place: Option<PlaceId>,
}

/// All meeting points of a CTA.
#[derive(Debug, Default)]
pub(super) struct Meetings {
    pub(super) cta: Meeting,
    pub(super) named: BTreeMap<u32, Meeting>,
    pub(super) warps: Vec<Meeting>,
}

impl Meetings {
    pub(super) fn new(threads: usize) -> Self {
        let warps = (0..threads.div_ceil(32))
            .map(|_| Meeting::default())
            .collect();
        Self {
            warps,
            ..Self::default()
        }
    }
}

impl Meeting {
    /// Where the first thread came.
    pub(super) fn place(&self) -> Option<PlaceId> {
        self.place
    }

    fn come(&mut self, t: usize, knowledge: &Knowledge, waits: bool) {
        self.arrived += 1;
        match &mut self.knowledge {
            Some(all) => all.join(knowledge),
            None => self.knowledge = Some(knowledge.clone()),
        }
        if waits {
            self.waiting.push(t as u32);
        }
    }
}

impl Machine<'_> {
    pub(super) fn meet_cta(&mut self, t: usize, place: PlaceId) -> Flow {
        let of = self.threads.len() as u32;
        self.threads[t].status = Status::Cta { place };
        let mut meeting = std::mem::take(&mut self.meetings.cta);
        self.check_meeting(t, 0, &mut meeting, (of, place), true);
        self.come(t, &mut meeting, true);
        self.meetings.cta = meeting;
        self.stops(t)
    }

    pub(super) fn meet_warp(&mut self, t: usize, place: PlaceId) -> Flow {
        self.threads[t].status = Status::Warp { place };
        let warp = t / 32;
        let lanes = (self.threads.len() - warp * 32).min(32) as u32;
        let mut meeting = std::mem::take(&mut self.meetings.warps[warp]);
        meeting.of = lanes;
        self.come(t, &mut meeting, true);
        self.meetings.warps[warp] = meeting;
        self.stops(t)
    }

    pub(super) fn meet_named(
        &mut self,
        t: usize,
        id: u32,
        threads: u32,
        waits: bool,
        place: PlaceId,
    ) -> Flow {
        if waits {
            self.threads[t].status = Status::Named { id, place };
        }
        let mut meeting = self.meetings.named.remove(&id).unwrap_or_default();
        self.check_meeting(t, id, &mut meeting, (threads, place), false);
        self.come(t, &mut meeting, waits);
        self.meetings.named.insert(id, meeting);
        self.stops(t)
    }

    /// Whether the thread stops: not if it was the last to come.
    fn stops(&self, t: usize) -> Flow {
        if self.threads[t].status == Status::Ready {
            Flow::Visible
        } else {
            Flow::Stop
        }
    }

    /// Compares a thread's idea of the meeting with that of the first to come.
    fn check_meeting(
        &mut self,
        t: usize,
        id: u32,
        meeting: &mut Meeting,
        (of, place): (u32, PlaceId),
        one_place: bool,
    ) {
        let Some(first) = meeting.place.filter(|_| meeting.arrived > 0) else {
            (meeting.of, meeting.place) = (of, Some(place));
            return;
        };
        if meeting.of != of || (one_place && first != place) {
            let fault = Fault::MeetingMismatch {
                id,
                first: meeting.of,
                second: of,
            };
            self.report(
                fault,
                place,
                Some(t),
                Some((first, "the first thread to come is here")),
            );
        }
    }

    /// A thread has come; if it was the last one, all go on with what all knew.
    fn come(&mut self, t: usize, meeting: &mut Meeting, waits: bool) {
        meeting.come(t, &self.threads[t].knowledge, waits);
        if !waits {
            self.threads[t].knowledge.tick(t);
        }
        self.progress += 1;
        if meeting.arrived < meeting.of {
            return;
        }
        let met = std::mem::take(meeting);
        for thread in met.waiting {
            let thread = thread as usize;
            if let Some(all) = &met.knowledge {
                self.threads[thread].knowledge.join(all);
            }
            self.threads[thread].knowledge.tick(thread);
            self.wake(thread);
        }
    }
}
