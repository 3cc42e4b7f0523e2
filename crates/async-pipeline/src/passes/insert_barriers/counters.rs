//! Stage and parity of every ring, carried through all enclosing control flow.
//!
//! Each role has, per channel and side, a pair (stage, parity): the slot it takes
//! next and the parity it waits for there. A consumer starts with parity 0; a
//! producer with parity 1, because a fresh barrier lets parity 1 pass. Taking a slot
//! moves the pair on. Loops carry the pairs as iteration arguments, branches yield
//! them, each loop and branch once for all channels.

use crate::{
    build::{Build, Compare},
    diagnostics::error,
    passes::{
        Failed,
        carry::{append_to_terminator, rebuild},
    },
};
use async_pipeline_sys::ir::{Block, Builder, Op, Value};
use std::collections::BTreeMap;

/// Which ring position: channel index, and whether it is the producer's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) channel: usize,
    pub(super) produces: bool,
}

/// A ring position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Position {
    /// Slot to take next, i32.
    pub(super) stage: Value,
    /// Parity to wait for there, i32.
    pub(super) parity: Value,
}

pub(super) type Positions = BTreeMap<Key, Position>;

/// Stages per key and what to do at each op that takes a slot.
pub(super) struct Threading<'a> {
    /// Which ring an op takes a slot of; `None` for other ops.
    pub(super) key: &'a dyn Fn(Op) -> Option<Key>,
    /// Number of stages of a ring.
    pub(super) stages: &'a dyn Fn(Key) -> i64,
    /// Whether a ring starts anew at a loop, whatever was taken before.
    pub(super) restarts: &'a dyn Fn(Op, Key) -> bool,
    /// Filled with the position each taking op takes.
    pub(super) taken: Vec<(Op, Position)>,
}

/// The position before anything was taken.
pub(super) fn start(builder: Builder, produces: bool) -> Position {
    let build = Build(builder);
    Position {
        stage: build.i32(0),
        parity: build.i32(i64::from(produces)),
    }
}

/// The position behind another one: stage + 1, wrapping; the parity flips with the wrap.
pub(super) fn next(build: Build, stages: i64, position: Position) -> Position {
    let one = build.i32(1);
    if stages == 1 {
        let parity = build.xor(position.parity, one);
        return Position {
            stage: position.stage,
            parity,
        };
    }
    let next = build.add(position.stage, one);
    let wraps = build.compare(Compare::Eq, next, build.i32(stages));
    let stage = build.select(wraps, build.i32(0), next);
    let parity = build.xor(position.parity, build.extend(wraps));
    Position { stage, parity }
}

impl Threading<'_> {
    /// Rings taken from anywhere in an op.
    fn used_in(&self, op: Op) -> Vec<Key> {
        let mut keys: Vec<Key> = op.walk().into_iter().filter_map(self.key).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// Threads positions through a block; returns those at its end.
    pub(super) fn block(
        &mut self,
        block: Block,
        mut positions: Positions,
    ) -> Result<Positions, Failed> {
        for op in block.ops() {
            if let Some(key) = (self.key)(op) {
                let position = positions[&key];
                self.taken.push((op, position));
                positions.insert(key, self.advance(op, key, position));
                continue;
            }
            let keys = self.used_in(op);
            if keys.is_empty() {
                continue;
            }
            match op.name() {
                "scf.for" => self.for_loop(op, &keys, &mut positions)?,
                "scf.if" => self.branch(op, &keys, &mut positions)?,
                "scf.while" => self.while_loop(op, &keys, &mut positions)?,
                name => {
                    return Err(error(
                        op,
                        format!(
                            "slots of a channel are taken inside {name}, through which the ring's position cannot be carried; expected scf.for, scf.if or scf.while"
                        ),
                    ));
                }
            }
        }
        Ok(positions)
    }

    fn advance(&self, taker: Op, key: Key, position: Position) -> Position {
        next(Build(Builder::before(taker)), (self.stages)(key), position)
    }

    fn for_loop(&mut self, op: Op, keys: &[Key], positions: &mut Positions) -> Result<(), Failed> {
        for key in keys {
            if (self.restarts)(op, *key) {
                positions.insert(*key, start(Builder::before(op), key.produces));
            }
        }
        let new = rebuild(op, &flatten(keys, positions), &[]);
        self.carried_block(new, 0, keys, positions)?;
        finish(op, new, keys, positions);
        Ok(())
    }

    /// Threads a region whose block has just been given arguments for `keys`.
    fn carried_block(
        &mut self,
        op: Op,
        region: usize,
        keys: &[Key],
        outer: &Positions,
    ) -> Result<Positions, Failed> {
        let Some(block) = op.body(region) else {
            return Ok(outer.clone());
        };
        let mut inner = outer.clone();
        for key in keys {
            let stage = block.add_argument(op.context().i32(), op.location());
            let parity = block.add_argument(op.context().i32(), op.location());
            inner.insert(*key, Position { stage, parity });
        }
        let inner = self.block(block, inner)?;
        append_to_terminator(block, &flatten(keys, &inner));
        Ok(inner)
    }

    fn while_loop(
        &mut self,
        op: Op,
        keys: &[Key],
        positions: &mut Positions,
    ) -> Result<(), Failed> {
        let new = rebuild(op, &flatten(keys, positions), &[]);
        self.carried_block(new, 0, keys, positions)?;
        self.carried_block(new, 1, keys, positions)?;
        finish(op, new, keys, positions);
        Ok(())
    }

    fn branch(&mut self, op: Op, keys: &[Key], positions: &mut Positions) -> Result<(), Failed> {
        let new = rebuild(op, &[], &flatten(keys, positions));
        for region in 0..2 {
            let block = match new.body(region) {
                Some(block) => block,
                None => {
                    let (block, builder) =
                        new.regions()[region].new_block(&[], new.location(), new.context());
                    builder.op("scf.yield").build();
                    block
                }
            };
            let inner = self.block(block, positions.clone())?;
            append_to_terminator(block, &flatten(keys, &inner));
        }
        finish(op, new, keys, positions);
        Ok(())
    }
}

fn flatten(keys: &[Key], positions: &Positions) -> Vec<Value> {
    keys.iter()
        .flat_map(|key| [positions[key].stage, positions[key].parity])
        .collect()
}

/// Old results go to the first new ones; the positions behind the op are the rest.
fn finish(old: Op, new: Op, keys: &[Key], positions: &mut Positions) {
    let count = old.result_count();
    let results = new.results();
    old.replace(&results[..count]);
    for (key, pair) in keys.iter().zip(results[count..].chunks_exact(2)) {
        positions.insert(
            *key,
            Position {
                stage: pair[0],
                parity: pair[1],
            },
        );
    }
}
