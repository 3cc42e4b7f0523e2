//! Natural loops of one function and what each of them counts.

use std::collections::{BTreeMap, BTreeSet};

use super::{Event, Instruction};

/// A main loop with its counts, in the order of [`Event::ALL`].
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MainLoop {
    pub(super) label: String,
    pub(super) line: usize,
    pub(super) counts: [u32; Event::ALL.len()],
}

/// A stretch of instructions that is entered at its start and left at its end.
struct Block {
    first: usize,
    end: usize,
    successors: Vec<usize>,
    predecessors: Vec<usize>,
}

/// A back edge and the blocks between its ends.
struct Loop {
    header: usize,
    blocks: BTreeSet<usize>,
}

pub(super) fn main_loops(instructions: &[Instruction]) -> Vec<MainLoop> {
    let function = Graph::new(instructions);
    let loops = function.loops();
    let spins: Vec<bool> = loops.iter().map(|l| function.is_spin(l, &loops)).collect();
    let mut found = Vec::new();
    for (this, spin) in loops.iter().zip(&spins) {
        if *spin {
            continue;
        }
        let own = own_blocks(this, &loops, &spins);
        let inner = waits_inside(this, &loops, &spins);
        let counts = function.count(&own, &inner);
        let is_main = Event::ALL
            .iter()
            .zip(&counts)
            .any(|((event, _), count)| *count > 0 && event.makes_main());
        if is_main {
            let header = &instructions[function.blocks[this.header].first];
            found.push(MainLoop {
                label: header.label.clone().unwrap_or_else(|| "?".to_owned()),
                line: header.line,
                counts,
            });
        }
    }
    found
}

/// The spin loops inside a loop, one per header: a wait with a back-off has several back edges.
fn waits_inside(this: &Loop, loops: &[Loop], spins: &[bool]) -> Vec<Loop> {
    let mut merged: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for (spin, is_spin) in loops.iter().zip(spins) {
        if *is_spin && spin.blocks.is_subset(&this.blocks) {
            merged.entry(spin.header).or_default().extend(&spin.blocks);
        }
    }
    let loops = merged.into_iter();
    loops
        .map(|(header, blocks)| Loop { header, blocks })
        .collect()
}

/// The blocks of a loop without those of main loops inside it.
fn own_blocks(this: &Loop, loops: &[Loop], spins: &[bool]) -> BTreeSet<usize> {
    let mut own = this.blocks.clone();
    for (other, spin) in loops.iter().zip(spins) {
        // Two back edges to one header are two ways through one loop, not a loop in another.
        let inside = other.header != this.header
            && other.blocks.len() < this.blocks.len()
            && other.blocks.is_subset(&this.blocks);
        if inside && !spin {
            own.retain(|block| !other.blocks.contains(block));
        }
    }
    own
}

struct Graph<'a> {
    instructions: &'a [Instruction],
    blocks: Vec<Block>,
}

impl<'a> Graph<'a> {
    fn new(instructions: &'a [Instruction]) -> Self {
        let mut leaders = BTreeSet::from([0]);
        for (index, instruction) in instructions.iter().enumerate() {
            leaders.extend(instruction.targets.iter().copied());
            if !instruction.targets.is_empty() || !instruction.falls_through {
                leaders.insert(index + 1);
            }
        }
        let starts: Vec<usize> = leaders
            .into_iter()
            .filter(|&start| start < instructions.len())
            .collect();
        let block_of = |index: usize| starts.binary_search(&index).ok();
        let mut blocks: Vec<Block> = Vec::new();
        for (number, &first) in starts.iter().enumerate() {
            let end = starts
                .get(number + 1)
                .copied()
                .unwrap_or(instructions.len());
            let last = &instructions[end - 1];
            // A branch that only serialises lanes is no loop of the program.
            let taken = last.targets.iter().filter(|_| !last.serialises);
            let next = last.falls_through.then_some(end);
            let successors: BTreeSet<usize> =
                taken.copied().chain(next).filter_map(block_of).collect();
            blocks.push(Block {
                first,
                end,
                successors: successors.into_iter().collect(),
                predecessors: Vec::new(),
            });
        }
        for number in 0..blocks.len() {
            for successor in blocks[number].successors.clone() {
                blocks[successor].predecessors.push(number);
            }
        }
        Self {
            instructions,
            blocks,
        }
    }

    /// One loop per back edge, ordered by header and then by size.
    fn loops(&self) -> Vec<Loop> {
        let Some(dominators) = self.dominators() else {
            return Vec::new();
        };
        let mut loops = Vec::new();
        for (latch, block) in self.blocks.iter().enumerate() {
            for &header in &block.successors {
                if dominates(&dominators, header, latch) {
                    loops.push(self.natural_loop(header, latch));
                }
            }
        }
        loops.sort_by_key(|l| (self.blocks[l.header].first, l.blocks.len()));
        loops
    }

    fn natural_loop(&self, header: usize, latch: usize) -> Loop {
        let mut blocks = BTreeSet::from([header]);
        let mut open = vec![latch];
        while let Some(block) = open.pop() {
            if blocks.insert(block) {
                open.extend(&self.blocks[block].predecessors);
            }
        }
        Loop { header, blocks }
    }

    /// The immediate dominator of each reachable block, by Cooper, Harvey and Kennedy's "A Simple,
    /// Fast Dominance Algorithm"; none where there is no code.
    fn dominators(&self) -> Option<Vec<Option<usize>>> {
        let order = self.reverse_postorder()?;
        let mut position = vec![usize::MAX; self.blocks.len()];
        for (place, &block) in order.iter().enumerate() {
            position[block] = place;
        }
        let mut immediate: Vec<Option<usize>> = vec![None; self.blocks.len()];
        immediate[0] = Some(0);
        let mut changed = true;
        while changed {
            changed = false;
            for &block in order.iter().skip(1) {
                let mut new = None;
                for &predecessor in &self.blocks[block].predecessors {
                    if immediate[predecessor].is_none() {
                        continue;
                    }
                    new = Some(match new {
                        None => predecessor,
                        Some(other) => meet(&immediate, &position, predecessor, other),
                    });
                }
                if new != immediate[block] {
                    immediate[block] = new;
                    changed = true;
                }
            }
        }
        Some(immediate)
    }

    fn reverse_postorder(&self) -> Option<Vec<usize>> {
        let mut seen = vec![false; self.blocks.len()];
        *seen.first_mut()? = true;
        let mut order = Vec::new();
        // Block and how many of its successors were followed; a stack of our own, because code
        // may have any number of blocks.
        let mut open = vec![(0, 0)];
        while let Some((block, followed)) = open.pop() {
            match self.blocks[block].successors.get(followed) {
                Some(&next) => {
                    open.push((block, followed + 1));
                    if !seen[next] {
                        seen[next] = true;
                        open.push((next, 0));
                    }
                }
                None => order.push(block),
            }
        }
        order.reverse();
        Some(order)
    }

    fn body(&self, block: usize) -> &'a [Instruction] {
        let Block { first, end, .. } = self.blocks[block];
        &self.instructions[first..end]
    }

    /// Whether a loop does nothing but wait.
    fn is_spin(&self, this: &Loop, loops: &[Loop]) -> bool {
        let body = || this.blocks.iter().flat_map(|&block| self.body(block));
        let mut events = body().filter_map(|instruction| instruction.event);
        let idle = |event: Event| {
            event.is_wait() || matches!(event, Event::Nanosleep | Event::BarWarpSync)
        };
        let waits = body().any(|instruction| instruction.event.is_some_and(Event::is_wait));
        let works = body().any(|instruction| instruction.works);
        let nested = loops
            .iter()
            .any(|other| other.header != this.header && other.blocks.is_subset(&this.blocks));
        waits && !works && !nested && events.all(idle)
    }

    /// Counts the events of `blocks`. The waits of a spin loop count once per address, and not at
    /// all where the try before it was counted.
    fn count(&self, blocks: &BTreeSet<usize>, spins: &[Loop]) -> [u32; Event::ALL.len()] {
        let mut counts = [0; Event::ALL.len()];
        let mut add = |event: Event| {
            for ((known, _), count) in Event::ALL.iter().zip(&mut counts) {
                *count += u32::from(*known == event);
            }
        };
        let spin_of = |block: &usize| spins.iter().position(|spin| spin.blocks.contains(block));
        let mut counted: BTreeSet<(usize, &str)> = BTreeSet::new();
        for block in blocks {
            let spin = spin_of(block);
            for instruction in self.body(*block) {
                let Some(event) = instruction.event else {
                    continue;
                };
                let Some(spin) = spin.filter(|_| event.is_wait()) else {
                    add(event);
                    continue;
                };
                let operands = instruction.operands.as_str();
                let tried = self.tried_before(&spins[spin], operands, blocks);
                if !tried && counted.insert((spin, operands)) {
                    add(event);
                }
            }
        }
        counts
    }

    /// Whether a block from which the spin loop is entered ends with the same wait.
    fn tried_before(&self, spin: &Loop, operands: &str, blocks: &BTreeSet<usize>) -> bool {
        let predecessors = &self.blocks[spin.header].predecessors;
        let mut outside = predecessors
            .iter()
            .filter(|block| !spin.blocks.contains(block) && blocks.contains(block));
        outside.any(|&block| {
            let last = self.body(block).iter().rev().find(|i| i.event.is_some());
            last.is_some_and(|wait| {
                wait.event.is_some_and(Event::is_wait) && wait.operands == operands
            })
        })
    }
}

/// The nearest block that dominates both.
fn meet(immediate: &[Option<usize>], position: &[usize], a: usize, b: usize) -> usize {
    let (mut a, mut b) = (a, b);
    while a != b {
        let later = if position[a] > position[b] {
            &mut a
        } else {
            &mut b
        };
        match immediate[*later] {
            Some(up) => *later = up,
            // Only blocks with a dominator are asked about.
            None => return 0,
        }
    }
    a
}

fn dominates(immediate: &[Option<usize>], above: usize, below: usize) -> bool {
    let mut block = below;
    loop {
        if block == above {
            return true;
        }
        match immediate[block] {
            Some(up) if up != block => block = up,
            _ => return false,
        }
    }
}
