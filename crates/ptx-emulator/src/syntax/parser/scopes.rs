//! Names and the scopes they are declared in.

use std::collections::HashMap;

use crate::syntax::ast::{Register, RegisterId, ScalarType, VariableId};

/// Register ranges in one scope. Real code has one per type; a bound keeps the search for
/// overlaps short.
const MAX_RANGES: usize = 64;

/// Digits of the largest register number: more registers than that cannot be declared.
const MAX_DIGITS: usize = 6;

/// What a name stands for where it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Symbol {
    Register(RegisterId),
    Variable(VariableId),
    Parameter(u32),
}

/// What a name stands for where it is declared. A register gets its number when it is first used.
#[derive(Debug, Clone, Copy)]
enum Declared {
    Unused(ScalarType),
    Used(Symbol),
}

/// `%r<count>`.
#[derive(Debug, Clone, Copy)]
struct Range {
    ty: ScalarType,
    count: u32,
}

/// Why a register range cannot be declared.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RangeFault {
    /// One of its registers is declared in this scope already.
    Duplicate,
    /// The scope has too many ranges.
    TooMany,
}

/// The open scopes, the module's first.
///
/// Each name has a stack of its declarations, so that looking it up does not walk the scopes, and
/// a range is one entry however many registers it declares.
#[derive(Debug, Default)]
pub(super) struct Scopes<'a> {
    names: HashMap<&'a str, Vec<(usize, Declared)>>,
    ranges: HashMap<&'a str, Vec<(usize, Range)>>,
    levels: Vec<Level<'a>>,
}

/// What to forget when a scope ends.
#[derive(Debug, Default)]
struct Level<'a> {
    names: Vec<&'a str>,
    ranges: Vec<&'a str>,
}

impl<'a> Scopes<'a> {
    pub(super) fn enter(&mut self) {
        self.levels.push(Level::default());
    }

    pub(super) fn leave(&mut self) {
        let level = self.levels.pop().expect("a scope is open");
        for name in level.names {
            pop(&mut self.names, name);
        }
        for prefix in level.ranges {
            pop(&mut self.ranges, prefix);
        }
    }

    /// Declares a variable or parameter; false if the scope has the name already.
    pub(super) fn declare(&mut self, name: &'a str, symbol: Symbol) -> bool {
        self.insert(name, Declared::Used(symbol))
    }

    /// Declares a register; false if the scope has the name already.
    pub(super) fn declare_register(&mut self, name: &'a str, ty: ScalarType) -> bool {
        self.insert(name, Declared::Unused(ty))
    }

    /// What the innermost scope itself declares under this name.
    pub(super) fn declared_here(&self, name: &str) -> Option<Symbol> {
        match self.names.get(name)?.last() {
            Some(&(level, Declared::Used(symbol))) if level == self.levels.len() => Some(symbol),
            _ => None,
        }
    }

    /// Declares `count` registers named by `prefix` and a number.
    pub(super) fn declare_range(
        &mut self,
        prefix: &'a str,
        ty: ScalarType,
        count: u32,
    ) -> Result<(), RangeFault> {
        let depth = self.levels.len();
        let level = self.levels.last_mut().expect("a scope is open");
        if level.ranges.len() == MAX_RANGES {
            return Err(RangeFault::TooMany);
        }
        let ranges = &self.ranges;
        let overlaps = |other: &&str| {
            let theirs = ranges[*other].last().expect("declared").1.count;
            overlap(prefix, count, other) || overlap(other, theirs, prefix)
        };
        let contains =
            |name: &&str| splits(name).any(|(before, number)| before == prefix && number < count);
        if level.ranges.iter().any(overlaps) || level.names.iter().any(contains) {
            return Err(RangeFault::Duplicate);
        }
        level.ranges.push(prefix);
        let range = Range { ty, count };
        self.ranges.entry(prefix).or_default().push((depth, range));
        Ok(())
    }

    /// Looks a name up from the innermost scope outwards; a register used for the first time is
    /// appended to `registers`.
    pub(super) fn resolve(
        &mut self,
        name: &'a str,
        registers: &mut Vec<Register>,
    ) -> Option<Symbol> {
        let single = self.names.get(name).and_then(|stack| stack.last()).copied();
        let depth = single.map_or(0, |(depth, _)| depth);
        let ranged = match depth == self.levels.len() {
            true => None,
            false => self.ranged(name, depth),
        };
        let (depth, ty) = match (ranged, single) {
            (Some((depth, ty)), _) => (depth, ty),
            (None, Some((depth, Declared::Unused(ty)))) => (depth, ty),
            (None, Some((_, Declared::Used(symbol)))) => return Some(symbol),
            (None, None) => return None,
        };
        let symbol = Symbol::Register(RegisterId(registers.len() as u32));
        registers.push(Register {
            name: name.into(),
            ty,
        });
        // A register of a range becomes a name of the range's scope. No scope further in declares
        // the name, so the stack stays sorted.
        let stack = self.names.entry(name).or_default();
        if ranged.is_some() {
            stack.push((depth, Declared::Used(symbol)));
            self.levels[depth - 1].names.push(name);
        } else if let Some(top) = stack.last_mut() {
            top.1 = Declared::Used(symbol);
        }
        Some(symbol)
    }

    /// The innermost range with this register in a scope deeper than `outside`.
    fn ranged(&self, name: &str, outside: usize) -> Option<(usize, ScalarType)> {
        splits(name)
            .filter_map(|(prefix, number)| {
                let stack = self.ranges.get(prefix)?;
                let deeper = stack.iter().rev().take_while(|(depth, _)| *depth > outside);
                let mut holding = deeper.filter(|(_, range)| number < range.count);
                holding.next().map(|(depth, range)| (*depth, range.ty))
            })
            .max_by_key(|(depth, _)| *depth)
    }

    fn insert(&mut self, name: &'a str, declared: Declared) -> bool {
        let depth = self.levels.len();
        let stack = self.names.entry(name).or_default();
        if stack.last().is_some_and(|(level, _)| *level == depth) {
            return false;
        }
        stack.push((depth, declared));
        self.levels
            .last_mut()
            .expect("a scope is open")
            .names
            .push(name);
        // Checked last, for the borrow's sake: a failed parse throws the scopes away.
        self.ranged(name, depth - 1).is_none()
    }
}

fn pop<T>(stacks: &mut HashMap<&str, Vec<T>>, name: &str) {
    if let Some(stack) = stacks.get_mut(name) {
        stack.pop();
        if stack.is_empty() {
            stacks.remove(name);
        }
    }
}

/// Every way in which a name is a prefix and a number as a range would write it.
fn splits(name: &str) -> impl Iterator<Item = (&str, u32)> {
    let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
    (1..=digits.min(MAX_DIGITS)).filter_map(|count| {
        let (prefix, number) = name.split_at(name.len() - count);
        if prefix.is_empty() || (count > 1 && number.starts_with('0')) {
            return None;
        }
        Some((prefix, number.parse().ok()?))
    })
}

/// Whether `prefix<count>` holds a register of `other<…>`, where `other` is `prefix` and perhaps
/// more digits: the first to collide of `%r1<…>` with `%r<…>` is `%r10`.
fn overlap(prefix: &str, count: u32, other: &str) -> bool {
    match other.strip_prefix(prefix) {
        Some("") => true,
        Some(digits) if digits.len() < MAX_DIGITS && digits.bytes().all(|b| b.is_ascii_digit()) => {
            !digits.starts_with('0') && digits.parse().is_ok_and(|n: u32| n * 10 < count)
        }
        _ => false,
    }
}
