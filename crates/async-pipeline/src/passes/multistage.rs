//! Loads run ahead in roles that both fill and drain a channel.
//!
//! Needs: channel level. Leaves: channel level; each loop in which one role fills and
//! drains the same channel by copies starts `stages - 1` fills in front of the loop,
//! and iteration `i` fills for iteration `i + stages - 1`.
//!
//! ```mlir
//! scf.for %i = %lb to %ub step %s { fill(%i)  drain }
//! ```
//! becomes, with 3 stages,
//! ```mlir
//! scf.for %i = %lb to min(%ub, %lb + 2 * %s) step %s { fill(%i) }
//! scf.for %i = %lb to %ub step %s { if (%i + 2 * %s < %ub) { fill(%i + 2 * %s) }  drain }
//! ```
//! The slot that iteration `i` fills was drained in iteration `i - 1`, so no fill
//! waits for a drain that stands behind it.
//!
//! With `sync=groups`, where the copies are `cp.async` of the role's threads, the fill stands
//! behind the wait:
//! ```mlir
//! scf.for %j = 0 to 2 step 1 { fill(%lb + %j * %s) }
//! scf.for %i = %lb to %ub step %s { wait  fill(%i + 2 * %s)  rest of the drain }
//! ```
//! One barrier of the role's threads at the wait then says both: the copies of all threads have
//! landed, and all threads are done with the slot that is filled next. Behind the end of the loop
//! a slot is taken without a copy: each is a group, so that counting groups tells slots.

use super::{
    Failed, Options, Pass,
    insert_barriers::analyse::stages,
    options::{STAGES, SYNC, Sync, TARGET},
};
use crate::{
    build::{Build, Compare},
    diagnostics,
};
use async_pipeline_sys::ir::{Builder, Op, Value, emit_remark};
use std::collections::{BTreeMap, HashMap, HashSet};

pub(super) const PASS: Pass = Pass {
    argument: "async-pipeline-multistage",
    description: "Let loads run ahead in roles that both fill and drain a channel",
    options: &[TARGET, STAGES, SYNC],
    run,
};

fn run(module: Op, options: &Options<'_>) -> Result<(), Failed> {
    let target = diagnostics::option(module, options.target())?;
    let sync = diagnostics::option(module, options.sync())?;
    let asked = diagnostics::option(module, options.stages())?;
    for create in module.find("async_pipeline.channel.create") {
        let depth = stages(create, asked) - 1;
        let mut fills = find_fills(create);
        let by_threads = create.attr("cp_async").is_some() || !target.has_tensor_copies();
        if sync == Sync::Groups && by_threads && depth > 0 {
            if let [Ok(fill)] = &fills[..]
                && let Some(wait) = fill.only_wait(create)
            {
                fill.in_groups(depth, wait);
                create.set_attr("groups", create.context().unit_attr());
                continue;
            }
            if !fills.is_empty() {
                emit_remark(
                    create.location(),
                    "mbarriers are used: groups need one loop that fills and drains one slot per iteration",
                );
            }
        }
        for fill in fills.drain(..) {
            match fill {
                Ok(fill) if depth > 0 => fill.run_ahead(depth),
                Ok(_) => {}
                Err((op, why)) => emit_remark(
                    op.location(),
                    &format!("loads do not run ahead here: {why}"),
                ),
            }
        }
    }
    Ok(())
}

/// One filling of a slot inside the loop that also drains it.
struct Fill {
    looped: Op,
    /// Acquire, copies and commit in order.
    ops: Vec<Op>,
    /// Scalar ops of the loop body that the copies' indices need, in order.
    scalars: Vec<Op>,
}

fn find_fills(create: Op) -> Vec<Result<Fill, (Op, String)>> {
    let mut by_block: BTreeMap<usize, (Vec<Op>, bool)> = BTreeMap::new();
    let mut order = HashMap::new();
    for (user, _) in create.result(0).uses().into_iter().rev() {
        let Some(block) = user.block() else { continue };
        let next = order.len();
        let entry = by_block
            .entry(*order.entry(block).or_insert(next))
            .or_default();
        match user.name() {
            "async_pipeline.channel.acquire" => entry.0.push(user),
            _ => entry.1 = true,
        }
    }
    by_block
        .into_values()
        .filter(|(acquires, drains)| *drains && !acquires.is_empty())
        .filter_map(|(acquires, _)| match acquires.as_slice() {
            [only] => fill(*only),
            [first, ..] => Some(Err((
                *first,
                "the loop fills more than one slot per iteration".into(),
            ))),
            [] => None,
        })
        .collect()
}

fn fill(acquire: Op) -> Option<Result<Fill, (Op, String)>> {
    let looped = acquire.parent()?;
    if !looped.is("scf.for") {
        return None;
    }
    if looped.attr("unsignedCmp").is_some() {
        return Some(Err((looped, "the loop compares unsigned".into())));
    }
    let mut ops = vec![acquire];
    ops.extend(acquire.result(0).uses().into_iter().map(|(user, _)| user));
    ops.sort_by(|left, right| {
        if left.is_before(*right) {
            std::cmp::Ordering::Less
        } else {
            std::cmp::Ordering::Greater
        }
    });
    if let Some(view) = ops.iter().find(|op| op.is("async_pipeline.channel.view")) {
        return Some(Err((*view, "threads write the slot themselves".into())));
    }
    Some(scalars(looped, &ops).map(|scalars| Fill {
        looped,
        ops,
        scalars,
    }))
}

/// The backward slice of the copies' operands within the loop body.
fn scalars(looped: Op, ops: &[Op]) -> Result<Vec<Op>, (Op, String)> {
    let body = looped.body(0);
    let mut needed: HashSet<Op> = HashSet::new();
    let mut pending: Vec<(Op, Value)> = ops
        .iter()
        .flat_map(|op| op.operands().into_iter().map(move |value| (*op, value)))
        .collect();
    while let Some((user, value)) = pending.pop() {
        if let Some((block, index)) = value.as_block_argument() {
            if Some(block) == body && index > 0 {
                return Err((user, "a copy depends on a value carried by the loop".into()));
            }
            continue;
        }
        let Some(made) = value.defining_op() else {
            continue;
        };
        if made.block() != body || ops.contains(&made) || !needed.insert(made) {
            continue;
        }
        let scalar = made.name().starts_with("arith.")
            || made.name().starts_with("index.")
            || made.is("memref.dim");
        if !scalar {
            return Err((
                user,
                format!("a copy depends on '{}' in the loop", made.name()),
            ));
        }
        pending.extend(made.operands().into_iter().map(|value| (made, value)));
    }
    Ok(body
        .into_iter()
        .flat_map(|body| body.ops())
        .filter(|op| needed.contains(op))
        .collect())
}

impl Fill {
    fn run_ahead(&self, depth: i64) {
        let (lower, upper, step) = (
            self.looped.operand(0),
            self.looped.operand(1),
            self.looped.operand(2),
        );
        let induction = self.looped.body(0).map(|body| body.arguments()[0]);
        let Some(induction) = induction else { return };

        let before = Build(Builder::before(self.looped).with_location(self.ops[0].location()));
        let ahead = before.mul(step, self.constant(before, induction, depth));
        let end = before.min(upper, before.add(lower, ahead));
        let prologue = before
            .0
            .op("scf.for")
            .operands(&[lower, end, step])
            .regions(1)
            .build();
        let (block, inner) = prologue.regions()[0].new_block(
            &[(induction.ty(), self.looped.location())],
            self.ops[0].location(),
            self.looped.context(),
        );
        self.copy_to(inner, induction, block.arguments()[0]);
        inner.op("scf.yield").build();

        let here = Build(Builder::before(self.ops[0]));
        let next = here.add(induction, ahead);
        let there = here.compare(Compare::SignedLess, next, upper);
        here.when(there, |build| self.copy_to(build.0, induction, next));
        for op in self.ops.iter().rev() {
            op.erase();
        }
    }

    /// The wait of the same loop, if the channel is not used anywhere else.
    fn only_wait(&self, create: Op) -> Option<Op> {
        let takers: Vec<Op> = create
            .result(0)
            .uses()
            .into_iter()
            .map(|(user, _)| user)
            .collect();
        let wait = takers
            .iter()
            .copied()
            .find(|op| op.is("async_pipeline.channel.wait"))?;
        (takers.len() == 2 && wait.parent() == Some(self.looped)).then_some(wait)
    }

    fn in_groups(&self, depth: i64, wait: Op) {
        let (lower, step) = (self.looped.operand(0), self.looped.operand(2));
        let induction = self.looped.body(0).map(|body| body.arguments()[0]);
        let Some(induction) = induction else { return };
        let before = Build(Builder::before(self.looped).with_location(self.ops[0].location()));
        let ahead = before.mul(step, self.constant(before, induction, depth));
        let (zero, one) = (before.index(0), before.index(1));
        before.count(zero, before.index(depth), one, |build, round| {
            let round = build.index_cast(round, induction.ty());
            let value = build.add(build.mul(round, step), lower);
            self.copy_guarded(build, induction, value);
        });
        let next = wait
            .block()
            .and_then(|block| block.ops().into_iter().skip_while(|op| *op != wait).nth(1));
        let Some(next) = next else { return };
        let here = Build(Builder::before(next));
        let value = here.add(induction, ahead);
        self.copy_guarded(here, induction, value);
        for op in self.ops.iter().rev() {
            op.erase();
        }
    }

    /// Takes and commits a slot; copies into it if the loop has an iteration for the value.
    fn copy_guarded(&self, build: Build, induction: Value, value: Value) {
        let [acquire, copies @ .., commit] = self.ops.as_slice() else {
            return;
        };
        let taken = acquire.clone_detached();
        build.0.insert(taken);
        let mut map = HashMap::from([(induction, value), (acquire.result(0), taken.result(0))]);
        let there = build.compare(Compare::SignedLess, value, self.looped.operand(1));
        build.when(there, |build| {
            for op in self.scalars.iter().chain(copies) {
                build.0.insert(copied(*op, &mut map));
            }
        });
        build.0.insert(copied(*commit, &mut map));
    }

    fn constant(&self, build: Build, like: Value, value: i64) -> Value {
        if like.ty().is_index() {
            return build.index(value);
        }
        let attr = build.0.context().int_attr(like.ty(), value);
        build
            .0
            .op("arith.constant")
            .results(&[like.ty()])
            .attr("value", attr)
            .value()
    }

    /// Clones the fill for another value of the induction variable.
    fn copy_to(&self, builder: Builder, induction: Value, value: Value) {
        let mut map: HashMap<Value, Value> = HashMap::from([(induction, value)]);
        for op in self.scalars.iter().chain(&self.ops) {
            builder.insert(copied(*op, &mut map));
        }
    }
}

/// A copy of an op on the copies of its operands.
fn copied(op: Op, map: &mut HashMap<Value, Value>) -> Op {
    let copy = op.clone_detached();
    for index in 0..copy.operand_count() {
        if let Some(new) = map.get(&copy.operand(index)) {
            copy.set_operand(index, *new);
        }
    }
    map.extend(op.results().into_iter().zip(copy.results()));
    copy
}
