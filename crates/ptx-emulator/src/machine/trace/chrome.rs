//! The timeline as JSON for Chrome and Perfetto ("Trace Event Format").
//!
//! A process per block. In it: a track per warp with what it runs and waits for, tracks per
//! asynchronous unit with the work in flight, and a counter per mbarrier with its phase. One step
//! is shown as one nanosecond.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use super::{Entry, Trace};
use crate::machine::{events::Unit, ids::CtaRef};

/// The tracks of units lie behind those of warps; a block has at most 32 warps.
const UNIT_TRACKS: u64 = 1_000_000;
/// Tracks that one warp or unit may spread over when its slices overlap.
const LANES: u64 = 10_000;

struct Slice<'a> {
    process: u64,
    /// Warp or unit as a number; tracks of one group follow each other.
    group: u64,
    begin: u64,
    end: u64,
    name: &'a str,
    line: u32,
}

struct Warp {
    begin: u64,
    end: Option<u64>,
}

impl Trace {
    /// Writes the timeline as one JSON object. `barrier` names the mbarrier at an address in shared
    /// memory, where it has a name.
    ///
    /// # Errors
    /// What `out` fails with.
    pub fn write_chrome(
        &self,
        out: &mut dyn Write,
        barrier: &dyn Fn(u32) -> Option<String>,
    ) -> io::Result<()> {
        out.write_all(b"{\"displayTimeUnit\":\"ns\",\"otherData\":{\"time\":\"1 ns is one warp-instruction of the machine\"")?;
        if self.dropped > 0 {
            write!(out, ",\"dropped\":\"{}\"", self.dropped)?;
        }
        out.write_all(b"},\"traceEvents\":[")?;
        let mut events = Events { out, first: true };
        let mut blocks: BTreeMap<[u32; 3], u64> = BTreeMap::new();
        let mut warps: BTreeMap<(u64, u64), Warp> = BTreeMap::new();
        let mut last = 0;
        for entry in &self.entries {
            match entry {
                Entry::Start {
                    at,
                    cta,
                    block,
                    warps: count,
                } => {
                    let process = process(*cta);
                    blocks.insert(*block, process);
                    let [x, y, z] = block;
                    events.name(process, None, &format!("block ({x},{y},{z})"))?;
                    for warp in 0..u64::from(*count) {
                        warps.insert(
                            (process, warp),
                            Warp {
                                begin: *at,
                                end: None,
                            },
                        );
                    }
                }
                Entry::End { at, cta, warp } => {
                    if let Some(warp) = warps.get_mut(&(process(*cta), u64::from(*warp))) {
                        warp.end = Some(*at);
                    }
                    last = last.max(*at);
                }
                Entry::Phase {
                    at,
                    cta,
                    offset,
                    phase,
                } => {
                    last = last.max(*at);
                    let name = barrier(*offset).unwrap_or_else(|| format!("mbarrier {offset:#x}"));
                    events.begin()?;
                    write!(
                        events.out,
                        "{{\"ph\":\"C\",\"name\":{},\"pid\":{},\"ts\":{},\"args\":{{\"phase\":{phase}}}}}",
                        quoted(&name),
                        process(*cta),
                        time(*at)
                    )?;
                }
                Entry::Warp { end, .. } | Entry::Work { end, .. } => last = last.max(*end),
            }
        }
        let mut slices: Vec<Slice<'_>> = self
            .entries
            .iter()
            .filter_map(|entry| slice(entry, &blocks))
            .collect();
        slices.sort_by_key(|slice| (slice.process, slice.group, slice.begin, slice.end));
        for ((process, warp), life) in &warps {
            let track = *warp * LANES;
            events.name(*process, Some(track), &track_name(track, 0))?;
            let first = slices.partition_point(|s| (s.process, s.group) < (*process, track));
            let waits = slices[first..]
                .iter()
                .take_while(|s| (s.process, s.group) == (*process, track));
            let mut running = life.begin;
            for wait in waits {
                events.running(*process, *warp, running, wait.begin)?;
                running = running.max(wait.end);
            }
            events.running(*process, *warp, running, life.end.unwrap_or(last))?;
        }
        events.tracks(&slices)?;
        events.out.write_all(b"\n]}\n")
    }
}

/// Blocks as process numbers; a cluster has at most 16.
fn process(cta: CtaRef) -> u64 {
    u64::from(cta.cluster) * 16 + u64::from(cta.rank) + 1
}

fn slice<'a>(entry: &'a Entry, blocks: &BTreeMap<[u32; 3], u64>) -> Option<Slice<'a>> {
    match entry {
        Entry::Warp {
            cta,
            warp,
            begin,
            end,
            what,
            line,
        } => Some(Slice {
            process: process(*cta),
            group: u64::from(*warp) * LANES,
            begin: *begin,
            end: *end,
            name: what,
            line: *line,
        }),
        Entry::Work {
            cluster,
            block,
            unit,
            begin,
            end,
            what,
            line,
        } => {
            let issuer = CtaRef {
                cluster: *cluster,
                rank: 0,
            };
            Some(Slice {
                process: blocks.get(block).copied().unwrap_or(process(issuer)),
                group: UNIT_TRACKS + *unit as u64 * LANES,
                begin: *begin,
                end: *end,
                name: what,
                line: *line,
            })
        }
        _ => None,
    }
}

/// Nanoseconds in the format's microseconds.
fn time(steps: u64) -> String {
    format!("{}.{:03}", steps / 1000, steps % 1000)
}

struct Events<'a> {
    out: &'a mut dyn Write,
    first: bool,
}

impl Events<'_> {
    fn begin(&mut self) -> io::Result<()> {
        self.out
            .write_all(if self.first { b"\n" } else { b",\n" })?;
        self.first = false;
        Ok(())
    }

    /// Names a process, or a track of it.
    fn name(&mut self, process: u64, track: Option<u64>, name: &str) -> io::Result<()> {
        let kind = if track.is_some() { "thread" } else { "process" };
        let track = track.unwrap_or(0);
        for (what, argument) in [
            ("name", format!("\"name\":{}", quoted(name))),
            (
                "sort_index",
                format!(
                    "\"sort_index\":{}",
                    if kind == "thread" { track } else { process }
                ),
            ),
        ] {
            self.begin()?;
            write!(
                self.out,
                "{{\"ph\":\"M\",\"name\":\"{kind}_{what}\",\"pid\":{process},\"tid\":{track},\"args\":{{{argument}}}}}"
            )?;
        }
        Ok(())
    }

    fn slice(&mut self, slice: &Slice<'_>, track: u64) -> io::Result<()> {
        self.begin()?;
        write!(
            self.out,
            "{{\"ph\":\"X\",\"name\":{},\"pid\":{},\"tid\":{track},\"ts\":{},\"dur\":{}",
            quoted(slice.name),
            slice.process,
            time(slice.begin),
            time(slice.end.saturating_sub(slice.begin))
        )?;
        if slice.line > 0 {
            write!(self.out, ",\"args\":{{\"line\":{}}}", slice.line)?;
        }
        self.out.write_all(b"}")
    }

    fn running(&mut self, process: u64, warp: u64, begin: u64, end: u64) -> io::Result<()> {
        if begin >= end {
            return Ok(());
        }
        let slice = Slice {
            process,
            group: 0,
            begin,
            end,
            name: "run",
            line: 0,
        };
        self.slice(&slice, warp * LANES)
    }

    /// Writes slices, sorted, with overlapping ones on tracks of their own.
    fn tracks(&mut self, slices: &[Slice<'_>]) -> io::Result<()> {
        for group in slices.chunk_by(|a, b| (a.process, a.group) == (b.process, b.group)) {
            // The time until which each track of the group is taken.
            let mut taken: Vec<u64> = Vec::new();
            for slice in group {
                let free = taken.iter().position(|until| *until <= slice.begin);
                let lane = free.unwrap_or(taken.len());
                if lane == taken.len() {
                    taken.push(0);
                    // The first track of a warp has its name already.
                    if lane > 0 || slice.group >= UNIT_TRACKS {
                        let name = track_name(slice.group, lane);
                        self.name(slice.process, Some(slice.group + lane as u64), &name)?;
                    }
                }
                taken[lane] = slice.end.max(slice.begin + 1);
                self.slice(slice, slice.group + lane as u64)?;
            }
        }
        Ok(())
    }
}

fn track_name(group: u64, lane: usize) -> String {
    const UNITS: [Unit; 5] = [
        Unit::CpAsync,
        Unit::Copy,
        Unit::Wgmma,
        Unit::Tensor,
        Unit::Launch,
    ];
    let name = match group.checked_sub(UNIT_TRACKS) {
        None => format!("warp {}", group / LANES),
        Some(unit) => {
            let unit = UNITS.into_iter().find(|u| *u as u64 == unit / LANES);
            unit.map_or("work", Unit::name).to_owned()
        }
    };
    if lane == 0 {
        name
    } else {
        format!("{name} ({})", lane + 1)
    }
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            c if c < ' ' => quoted += &format!("\\u{:04x}", u32::from(c)),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(entries: Vec<Entry>) -> serde_json::Value {
        let mut out = Vec::new();
        let trace = Trace {
            entries,
            dropped: 0,
        };
        trace.write_chrome(&mut out, &|_| None).expect("writes");
        serde_json::from_slice(&out).expect("is JSON")
    }

    const CTA: CtaRef = CtaRef {
        cluster: 2,
        rank: 0,
    };

    #[test]
    fn a_wait_cuts_the_running_of_its_warp() {
        let value = json(vec![
            Entry::Start {
                at: 10,
                cta: CTA,
                block: [2, 0, 0],
                warps: 1,
            },
            Entry::Warp {
                cta: CTA,
                warp: 0,
                begin: 20,
                end: 50,
                what: "wait: \"x\"".into(),
                line: 7,
            },
            Entry::End {
                at: 1060,
                cta: CTA,
                warp: 0,
            },
        ]);
        let slices: Vec<_> = value["traceEvents"]
            .as_array()
            .expect("events")
            .iter()
            .filter(|event| event["ph"] == "X")
            .map(|event| {
                (
                    event["name"].as_str().unwrap(),
                    event["ts"].as_f64().unwrap(),
                    event["dur"].as_f64().unwrap(),
                )
            })
            .collect();
        assert_eq!(
            slices,
            [
                ("run", 0.010, 0.010),
                ("run", 0.050, 1.010),
                ("wait: \"x\"", 0.020, 0.030)
            ]
        );
    }

    #[test]
    fn work_in_flight_at_once_gets_tracks_of_its_own_and_phases_count() {
        let work = |begin, end| Entry::Work {
            cluster: 2,
            block: [2, 0, 0],
            unit: Unit::Copy,
            begin,
            end,
            what: "cp.async.bulk".into(),
            line: 1,
        };
        let value = json(vec![
            Entry::Start {
                at: 0,
                cta: CTA,
                block: [2, 0, 0],
                warps: 0,
            },
            work(0, 10),
            work(5, 15),
            work(12, 20),
            Entry::Phase {
                at: 15,
                cta: CTA,
                offset: 0x400,
                phase: 1,
            },
        ]);
        let events = value["traceEvents"].as_array().expect("events");
        let tracks: Vec<_> = events
            .iter()
            .filter(|e| e["ph"] == "X")
            .map(|e| e["tid"].as_u64().unwrap())
            .collect();
        assert_eq!(tracks[0], tracks[2]);
        assert_ne!(tracks[0], tracks[1]);
        let names: Vec<_> = events
            .iter()
            .filter(|e| e["name"] == "thread_name")
            .map(|e| e["args"]["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["bulk copies", "bulk copies (2)"]);
        let counter = events.iter().find(|e| e["ph"] == "C").expect("counter");
        assert_eq!(
            (&counter["name"], &counter["args"]["phase"]),
            (&"mbarrier 0x400".into(), &1.into())
        );
    }
}
