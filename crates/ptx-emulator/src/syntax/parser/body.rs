//! The body of a kernel: scopes, declarations, labels and instructions.

use super::{
    MAX_NESTING, Parser, Result, clip, dotted, fail,
    labels::Labels,
    operands::MAX_OPERANDS,
    scopes::RangeFault,
    unexpected,
    variables::{Linkage, space},
};
use crate::syntax::{
    ast::{Guard, Instruction, Register, ScalarType, Span, Variable},
    lexer::{Kind, Token},
};

/// Registers that one kernel may declare, used or not.
const MAX_REGISTERS: u32 = 200_000;

/// Instructions that one module may have.
const MAX_INSTRUCTIONS: usize = 1 << 21;

/// The kernel at hand.
#[derive(Debug, Default)]
pub(super) struct Body<'a> {
    pub(super) registers: Vec<Register>,
    pub(super) variables: Vec<Variable>,
    pub(super) tables: Vec<Vec<u32>>,
    pub(super) instructions: Vec<Instruction>,
    /// The `.loc` of each instruction.
    pub(super) locations: Vec<Option<Location>>,
    /// The last `.loc`.
    location: Option<Location>,
    declared_registers: u32,
    /// The open scopes.
    open: Vec<(u32, Span)>,
    pub(super) labels: Labels<'a>,
}

/// A `.loc` whose file is still a number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Location {
    pub(super) file: u32,
    pub(super) line: u32,
    pub(super) column: u32,
}

impl<'a> Parser<'a> {
    /// Parses what follows the body's `{`, up to its `}`.
    pub(super) fn body(&mut self, open: Span) -> Result<()> {
        self.open_scope(open)?;
        while !self.body.open.is_empty() {
            self.statement()?;
        }
        self.resolve_labels()
    }

    fn open_scope(&mut self, span: Span) -> Result<()> {
        if self.body.open.len() == MAX_NESTING {
            return fail(span, format!("nested deeper than {MAX_NESTING} levels"));
        }
        let parent = self.body.open.last().map(|(scope, _)| *scope);
        let scope = self.body.labels.open_scope(parent);
        self.body.open.push((scope, span));
        self.scopes.enter();
        Ok(())
    }

    fn statement(&mut self) -> Result<()> {
        let token = self.take()?;
        match token.kind {
            Kind::Semicolon => Ok(()),
            Kind::OpenBrace => self.open_scope(token.span),
            Kind::CloseBrace => {
                self.scopes.leave();
                self.body.open.pop();
                Ok(())
            }
            Kind::Dotted => self.directive(token),
            Kind::At => self.guarded(token.span),
            Kind::Name if self.peek()?.kind == Kind::Colon => {
                self.take()?;
                self.label(token)
            }
            Kind::Name => self.instruction(token.span, None, token),
            Kind::End => {
                let (_, open) = self.body.open.last().expect("the body is open");
                fail(*open, "the `{` has no `}`")
            }
            _ => unexpected(token, "an instruction"),
        }
    }

    fn directive(&mut self, token: Token<'a>) -> Result<()> {
        let name = dotted(token);
        if let Some(space) = space(&name) {
            return self.variables(space, Linkage::Own);
        }
        match &*name {
            "reg" => self.registers(),
            "loc" => self.location(),
            "pragma" => self.pragma(),
            "branchtargets" => fail(token.span, "`.branchtargets` needs a label before it"),
            _ => fail(
                token.span,
                format!("directive `.{}` is not supported in a kernel", clip(&name)),
            ),
        }
    }

    /// Parses what follows `.reg`.
    fn registers(&mut self) -> Result<()> {
        let token = self.expect(Kind::Dotted, "a register's type")?;
        let name = dotted(token);
        if matches!(&*name, "v2" | "v4" | "v8") {
            return fail(token.span, "vector registers are not supported");
        }
        let Some(ty) = ScalarType::from_name(&name) else {
            return fail(
                token.span,
                format!("unknown type `.{}` of a register", clip(&name)),
            );
        };
        loop {
            let name = self.expect(Kind::Name, "a register's name")?;
            match self.accept(Kind::Less)? {
                true => self.register_range(name, ty)?,
                false => {
                    self.count_registers(1, name.span)?;
                    if !self.scopes.declare_register(name.text, ty) {
                        return twice(name);
                    }
                }
            }
            if !self.accept(Kind::Comma)? {
                break;
            }
        }
        self.expect(Kind::Semicolon, "`,` or `;` after a register")?;
        Ok(())
    }

    fn register_range(&mut self, name: Token<'a>, ty: ScalarType) -> Result<()> {
        let (count, span) = self.literal("the number of registers")?;
        self.expect(Kind::Greater, "`>`")?;
        self.count_registers(count, span)?;
        match self.scopes.declare_range(name.text, ty, count) {
            Ok(()) => Ok(()),
            Err(RangeFault::Duplicate) => fail(
                name.span,
                format!(
                    "`{}<…>` overlaps registers declared in this scope",
                    clip(name.text)
                ),
            ),
            Err(RangeFault::TooMany) => fail(name.span, "too many register ranges in one scope"),
        }
    }

    fn count_registers(&mut self, count: u32, span: Span) -> Result<()> {
        let declared = self.body.declared_registers.saturating_add(count);
        if declared > MAX_REGISTERS {
            return fail(
                span,
                format!("the kernel declares more than {MAX_REGISTERS} registers"),
            );
        }
        self.body.declared_registers = declared;
        Ok(())
    }

    /// Parses what follows `.loc`.
    fn location(&mut self) -> Result<()> {
        let (file, span) = self.literal("the number of a file")?;
        let (line, _) = self.literal("a line number")?;
        let (column, _) = self.literal("a column number")?;
        while self.accept(Kind::Comma)? {
            let attribute = self.expect(Kind::Name, "`function_name` or `inlined_at`")?;
            match attribute.text {
                "function_name" => {
                    self.expect(Kind::Name, "the label of a name")?;
                    self.offset()?;
                }
                "inlined_at" => {
                    self.literal("the number of a file")?;
                    self.literal("a line number")?;
                    self.literal("a column number")?;
                }
                _ => return unexpected(attribute, "`function_name` or `inlined_at`"),
            }
        }
        self.used_files.entry(file).or_insert(span);
        self.body.location = Some(Location { file, line, column });
        Ok(())
    }

    /// Parses what follows `@`.
    fn guarded(&mut self, span: Span) -> Result<()> {
        let negated = self.accept(Kind::Not)?;
        let name = self.expect(Kind::Name, "a predicate")?;
        let register = self.register(name)?;
        if self.body.registers[register.0 as usize].ty != ScalarType::Pred {
            return fail(
                name.span,
                format!("guard `{}` is not a predicate", clip(name.text)),
            );
        }
        let opcode = self.take()?;
        if opcode.kind != Kind::Name {
            return unexpected(opcode, "an instruction");
        }
        self.instruction(span, Some(Guard { register, negated }), opcode)
    }

    /// Parses what follows an opcode.
    fn instruction(&mut self, span: Span, guard: Option<Guard>, opcode: Token<'a>) -> Result<()> {
        if opcode.text.starts_with('%') {
            return unexpected(opcode, "an instruction");
        }
        if self.instructions == MAX_INSTRUCTIONS {
            return fail(span, format!("more than {MAX_INSTRUCTIONS} instructions"));
        }
        self.instructions += 1;
        let mut modifiers = Vec::new();
        while self.peek()?.kind == Kind::Dotted {
            modifiers.push(dotted(self.take()?).into_owned());
        }
        if opcode.text == "call" {
            return self.refuse_call(opcode.span);
        }
        let mut operands = Vec::new();
        while !self.accept(Kind::Semicolon)? {
            if !operands.is_empty() {
                self.expect(Kind::Comma, "`,` or `;` after an operand")?;
            }
            if operands.len() == MAX_OPERANDS {
                return fail(span, format!("more than {MAX_OPERANDS} operands"));
            }
            let operand = self.jump_operand(opcode.text, operands.len())?;
            operands.push(operand);
        }
        self.body.instructions.push(Instruction {
            span,
            source: None,
            guard,
            opcode: opcode.text.into(),
            modifiers,
            operands,
        });
        self.body.locations.push(self.body.location);
        Ok(())
    }

    /// The innermost open scope.
    pub(super) fn scope(&self) -> u32 {
        self.body.open.last().expect("the body is open").0
    }

    fn refuse_call(&mut self, span: Span) -> Result<()> {
        let mut depth = 0usize;
        loop {
            let token = self.take()?;
            match token.kind {
                Kind::OpenParen => depth += 1,
                Kind::CloseParen => depth = depth.saturating_sub(1),
                Kind::Name if depth == 0 => {
                    return fail(
                        span,
                        format!(
                            "calls of functions are not supported: `{}`",
                            clip(token.text)
                        ),
                    );
                }
                Kind::Semicolon | Kind::End => return unexpected(token, "a function's name"),
                _ => {}
            }
        }
    }

    /// Whether a kernel's body is open.
    pub(super) fn in_body(&self) -> bool {
        !self.body.open.is_empty()
    }
}

fn twice<T>(name: Token<'_>) -> Result<T> {
    fail(
        name.span,
        format!("`{}` is declared twice in this scope", clip(name.text)),
    )
}
