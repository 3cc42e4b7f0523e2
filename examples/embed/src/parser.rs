//! Tokens to syntax tree, by recursive descent.
//!
//! ```text
//! file       = kernel*
//! kernel     = "kernel" NAME "(" [parameter ("," parameter)*] ")" "->" parameter NEWLINE statement+
//! parameter  = NAME ":" NAME ["[" dimension ("," dimension)* "]"]
//! statement  = NAME "=" expression NEWLINE
//! expression = term (("+" | "-") term)*
//! term       = factor (("*" | "/" | "@") factor)*
//! factor     = "-" factor | primary (".T")*
//! primary    = NUMBER | NAME | NAME "(" [expression ("," expression)*] ")" | "(" expression ")"
//! ```

use crate::{
    ast::{Dimension, Expression, ExpressionKind, Kernel, Name, Operator, Parameter, Statement},
    lexer::{Token, tokens},
    source::{Diagnostic, Span},
};

/// Deepest expression; what walks the tree recurses.
const MAX_DEPTH: usize = 200;

type Parsed<T> = Result<T, Diagnostic>;

/// Reads a program.
///
/// # Errors
/// The first place at which the text is no program.
pub fn parse(text: &str) -> Parsed<Vec<Kernel>> {
    let mut parser = Parser {
        tokens: tokens(text)?,
        at: 0,
        open: 0,
    };
    let mut kernels = Vec::new();
    while *parser.token() != Token::End {
        kernels.push(parser.kernel()?);
    }
    if kernels.is_empty() {
        return parser.unexpected("a kernel");
    }
    Ok(kernels)
}

struct Parser {
    tokens: Vec<(Token, Span)>,
    at: usize,
    /// Expressions that are being read inside each other.
    open: usize,
}

impl Parser {
    /// The next token; behind the last one, the end.
    fn token(&self) -> &Token {
        self.tokens.get(self.at).map_or(&Token::End, |next| &next.0)
    }

    fn span(&self) -> Span {
        let next = self.tokens.get(self.at).or(self.tokens.last());
        next.map(|next| next.1).unwrap_or_default()
    }

    fn unexpected<T>(&self, expected: &str) -> Parsed<T> {
        let message = format!("expected {expected}, got {}", self.token());
        Err(Diagnostic::error(self.span(), message))
    }

    fn eat(&mut self, token: &Token) -> Option<Span> {
        let span = self.span();
        let there = self.token() == token;
        self.at += usize::from(there);
        there.then_some(span)
    }

    fn symbol(&mut self, symbol: &'static str) -> Option<Span> {
        self.eat(&Token::Symbol(symbol))
    }

    fn expect(&mut self, symbol: &'static str, what: &str) -> Parsed<Span> {
        match self.symbol(symbol) {
            Some(span) => Ok(span),
            None => self.unexpected(&format!("`{symbol}` {what}")),
        }
    }

    fn name(&mut self, what: &str) -> Parsed<Name> {
        let span = self.span();
        match self.token() {
            Token::Name(text) if text != "kernel" => {
                let text = text.clone();
                self.at += 1;
                Ok(Name { text, span })
            }
            _ => self.unexpected(what),
        }
    }

    fn newline(&mut self, behind: &str) -> Parsed<()> {
        match self.eat(&Token::Newline) {
            Some(_) => Ok(()),
            None => self.unexpected(&format!("the end of the line behind {behind}")),
        }
    }

    fn kernel(&mut self) -> Parsed<Kernel> {
        let keyword = Token::Name("kernel".to_owned());
        if self.eat(&keyword).is_none() {
            return self.unexpected("`kernel`");
        }
        let name = self.name("the name of a kernel")?;
        self.expect("(", "before the parameters")?;
        let parameters = self.list(")", "parameters", Self::parameter)?.0;
        self.expect("->", "and the result")?;
        let result = self.parameter()?;
        self.newline("the result")?;
        let mut statements = vec![self.statement()?];
        while !matches!(self.token(), Token::End) && *self.token() != keyword {
            statements.push(self.statement()?);
        }
        Ok(Kernel {
            name,
            parameters,
            result,
            statements,
        })
    }

    /// Items with commas between them, up to a bracket.
    fn list<T>(
        &mut self,
        close: &'static str,
        what: &str,
        item: impl Fn(&mut Self) -> Parsed<T>,
    ) -> Parsed<(Vec<T>, Span)> {
        let mut items = Vec::new();
        if let Some(span) = self.symbol(close) {
            return Ok((items, span));
        }
        loop {
            items.push(item(self)?);
            if self.symbol(",").is_none() {
                return Ok((items, self.expect(close, &format!("behind the {what}"))?));
            }
        }
    }

    fn parameter(&mut self) -> Parsed<Parameter> {
        let name = self.name("the name of a parameter")?;
        self.expect(":", "and an element type")?;
        let element = self.name("an element type")?;
        let mut dimensions = Vec::new();
        if self.symbol("[").is_some() {
            dimensions = self.list("]", "dimensions", Self::dimension)?.0;
        }
        Ok(Parameter {
            name,
            element,
            dimensions,
        })
    }

    fn dimension(&mut self) -> Parsed<Dimension> {
        if let Token::Number(number) = *self.token() {
            // What a double holds exactly, and far above any tensor.
            if number.fract() != 0.0 || !(1.0..=1e15).contains(&number) {
                return self.unexpected("a whole number of at least 1");
            }
            self.at += 1;
            return Ok(Dimension::Fixed(number as u64));
        }
        Ok(Dimension::Named(self.name("a dimension")?.text))
    }

    fn statement(&mut self) -> Parsed<Statement> {
        let name = self.name("a statement such as `C = A @ B`")?;
        self.expect("=", "in a statement")?;
        let value = self.expression()?;
        self.newline("the statement")?;
        Ok(Statement { name, value })
    }

    fn expression(&mut self) -> Parsed<Expression> {
        self.operators(&[("+", Operator::Add), ("-", Operator::Sub)], |parser| {
            parser.operators(
                &[
                    ("*", Operator::Mul),
                    ("/", Operator::Div),
                    ("@", Operator::Product),
                ],
                Self::factor,
            )
        })
    }

    /// Operands with operators of one precedence between them, from left to right.
    fn operators(
        &mut self,
        operators: &[(&'static str, Operator)],
        operand: impl Fn(&mut Self) -> Parsed<Expression>,
    ) -> Parsed<Expression> {
        let mut left = operand(self)?;
        'more: loop {
            for (symbol, operator) in operators {
                let Some(span) = self.symbol(symbol) else {
                    continue;
                };
                let right = operand(self)?;
                let depth = left.depth.max(right.depth);
                let around = left.span.to(right.span);
                let (a, b) = (Box::new(left), Box::new(right));
                left = above(depth, ExpressionKind::Binary(*operator, span, a, b), around)?;
                continue 'more;
            }
            return Ok(left);
        }
    }

    fn factor(&mut self) -> Parsed<Expression> {
        self.open += 1;
        if self.open > MAX_DEPTH {
            return Err(too_deep(self.span()));
        }
        let factor = self.factor_within();
        self.open -= 1;
        factor
    }

    fn factor_within(&mut self) -> Parsed<Expression> {
        if let Some(sign) = self.symbol("-") {
            let operand = self.factor()?;
            let around = sign.to(operand.span);
            return above(
                operand.depth,
                ExpressionKind::Negate(Box::new(operand)),
                around,
            );
        }
        let mut factor = self.primary()?;
        while self.symbol(".").is_some() {
            let name = self.name("`T`, which transposes")?;
            if name.text != "T" {
                let message = format!("expected `T`, which transposes, got `{}`", name.text);
                return Err(Diagnostic::error(name.span, message));
            }
            let around = factor.span.to(name.span);
            factor = above(
                factor.depth,
                ExpressionKind::Transpose(Box::new(factor)),
                around,
            )?;
        }
        Ok(factor)
    }

    fn primary(&mut self) -> Parsed<Expression> {
        let span = self.span();
        if let Token::Number(number) = *self.token() {
            self.at += 1;
            return above(0, ExpressionKind::Number(number), span);
        }
        if self.symbol("(").is_some() {
            let inner = self.expression()?;
            self.expect(")", "behind the expression")?;
            return Ok(inner);
        }
        let name = self.name("an expression")?;
        if self.symbol("(").is_none() {
            return above(0, ExpressionKind::Name(name.text), span);
        }
        let (arguments, end) = self.list(")", "arguments", Self::expression)?;
        let depth = arguments.iter().map(|one| one.depth).max().unwrap_or(0);
        above(depth, ExpressionKind::Call(name, arguments), span.to(end))
    }
}

/// An expression above others of a depth.
fn above(depth: usize, kind: ExpressionKind, span: Span) -> Parsed<Expression> {
    if depth >= MAX_DEPTH {
        return Err(too_deep(span));
    }
    Ok(Expression {
        kind,
        span,
        depth: depth + 1,
    })
}

fn too_deep(span: Span) -> Diagnostic {
    Diagnostic::error(
        span,
        format!("expected an expression of at most {MAX_DEPTH} levels; give a part of it a name"),
    )
}
