//! Labels: a use may come before the label, so uses are filled in when the body ends.

use std::{collections::HashMap, mem};

use super::{Parser, Result, clip, fail};
use crate::syntax::{
    ast::Operand,
    lexer::{Kind, Token},
};

/// The labels of a kernel and their uses.
#[derive(Debug, Default)]
pub(super) struct Labels<'a> {
    targets: HashMap<(u32, &'a str), Target>,
    pending: Vec<Pending<'a>>,
    /// The parent of each scope, the body its own. Closed scopes stay.
    parents: Vec<u32>,
}

/// What a label stands in front of.
#[derive(Debug, Clone, Copy)]
enum Target {
    Instruction(u32),
    Table(u32),
}

/// A use of a label that is resolved when the whole body is known.
#[derive(Debug)]
struct Pending<'a> {
    place: Place,
    scope: u32,
    label: Token<'a>,
}

/// Where the label is used.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// An operand of `bra`.
    Jump { instruction: usize, operand: usize },
    /// An operand of `brx`.
    Table { instruction: usize, operand: usize },
    /// An entry of a table.
    Entry { table: usize, entry: usize },
}

impl<'a> Labels<'a> {
    /// Numbers a new scope.
    pub(super) fn open_scope(&mut self, parent: Option<u32>) -> u32 {
        let scope = self.parents.len() as u32;
        self.parents.push(parent.unwrap_or(scope));
        scope
    }

    /// Looks a label up from this scope outwards.
    fn find(&self, mut scope: u32, name: &'a str) -> Option<Target> {
        loop {
            if let Some(target) = self.targets.get(&(scope, name)) {
                return Some(*target);
            }
            let parent = self.parents[scope as usize];
            if parent == scope {
                return None;
            }
            scope = parent;
        }
    }
}

impl<'a> Parser<'a> {
    /// Handles a label whose colon was taken.
    pub(super) fn label(&mut self, name: Token<'a>) -> Result<()> {
        let target = match self.accept_dotted("branchtargets")? {
            true => Target::Table(self.table()?),
            false => Target::Instruction(self.body.instructions.len() as u32),
        };
        if self
            .body
            .labels
            .targets
            .insert((self.scope(), name.text), target)
            .is_some()
        {
            return fail(
                name.span,
                format!(
                    "label `{}` is declared twice in this scope",
                    clip(name.text)
                ),
            );
        }
        Ok(())
    }

    /// Parses what follows `.branchtargets`.
    fn table(&mut self) -> Result<u32> {
        let table = self.body.tables.len();
        self.body.tables.push(Vec::new());
        loop {
            let label = self.expect(Kind::Name, "a label")?;
            let entry = self.body.tables[table].len();
            self.body.tables[table].push(0);
            self.refer(Place::Entry { table, entry }, label);
            if !self.accept(Kind::Comma)? {
                break;
            }
        }
        self.expect(Kind::Semicolon, "`,` or `;` after a label")?;
        Ok(table as u32)
    }

    /// Parses the operand with this number; the labels of `bra` and `brx` become zeros that are
    /// filled in later.
    pub(super) fn jump_operand(&mut self, opcode: &str, operand: usize) -> Result<Operand> {
        let instruction = self.body.instructions.len();
        let token = self.peek()?;
        match opcode {
            "bra" if token.kind == Kind::Name => {
                self.take()?;
                self.refer(
                    Place::Jump {
                        instruction,
                        operand,
                    },
                    token,
                );
                Ok(Operand::Label(0))
            }
            "brx" if token.kind == Kind::Name && operand > 0 => {
                self.take()?;
                self.refer(
                    Place::Table {
                        instruction,
                        operand,
                    },
                    token,
                );
                Ok(Operand::Table(0))
            }
            _ => self.operand(),
        }
    }

    fn refer(&mut self, place: Place, label: Token<'a>) {
        let scope = self.scope();
        self.body.labels.pending.push(Pending {
            place,
            scope,
            label,
        });
    }

    /// Fills in all uses of labels, each from its own scope outwards.
    pub(super) fn resolve_labels(&mut self) -> Result<()> {
        for pending in mem::take(&mut self.body.labels.pending) {
            let Pending {
                place,
                scope,
                label,
            } = pending;
            let name = clip(label.text);
            let Some(target) = self.body.labels.find(scope, label.text) else {
                return fail(label.span, format!("label `{name}` is not declared"));
            };
            match (place, target) {
                (
                    Place::Jump {
                        instruction,
                        operand,
                    },
                    Target::Instruction(at),
                ) => {
                    self.body.instructions[instruction].operands[operand] = Operand::Label(at);
                }
                (
                    Place::Table {
                        instruction,
                        operand,
                    },
                    Target::Table(table),
                ) => {
                    self.body.instructions[instruction].operands[operand] = Operand::Table(table);
                }
                (Place::Entry { table, entry }, Target::Instruction(at)) => {
                    self.body.tables[table][entry] = at;
                }
                (Place::Table { .. }, _) => {
                    return fail(
                        label.span,
                        format!("expected a `.branchtargets` table, got label `{name}`"),
                    );
                }
                _ => {
                    return fail(
                        label.span,
                        format!("expected a label, got `.branchtargets` table `{name}`"),
                    );
                }
            }
        }
        Ok(())
    }
}
