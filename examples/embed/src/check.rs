//! Names, shapes and element types: from the syntax tree to a program that is right.
//!
//! All arithmetic between values is done in f32; elements of parameters are widened when they
//! are read, and the result is rounded to its element type when it is written. A value is a
//! number, a scalar, a row (one element per column of the result) or a tile (the shape of the
//! result); numbers, scalars and rows repeat to the shape of what they are combined with.

use crate::{
    ast::{self, Dimension, Expression, ExpressionKind, Operator},
    source::{Diagnostic, Span},
    typed::{Factor, Function, Kernel, Node, NodeKind, Parameter, Shape},
};
use async_pipeline::builder::Element;
use std::fmt::Write as _;

const FUNCTIONS: [(&str, Function, usize); 11] = [
    ("relu", Function::Relu, 1),
    ("gelu", Function::Gelu, 1),
    ("silu", Function::Silu, 1),
    ("sigmoid", Function::Sigmoid, 1),
    ("tanh", Function::Tanh, 1),
    ("exp", Function::Exp, 1),
    ("log", Function::Log, 1),
    ("sqrt", Function::Sqrt, 1),
    ("abs", Function::Abs, 1),
    ("max", Function::Max, 2),
    ("min", Function::Min, 2),
];

type Checked<T> = Result<T, Diagnostic>;

/// Checks a program.
///
/// # Errors
/// What is wrong, at most one message per parameter and statement.
pub fn check(program: &[ast::Kernel]) -> Result<Vec<Kernel>, Vec<Diagnostic>> {
    let (mut kernels, mut errors) = (Vec::new(), Vec::new());
    for (number, kernel) in program.iter().enumerate() {
        let first = program[..number]
            .iter()
            .find(|other| other.name.text == kernel.name.text);
        if let Some(first) = first {
            errors.push(twice("kernel", &kernel.name, first.name.span));
        }
        match Checker::kernel(kernel) {
            Ok(kernel) => kernels.push(kernel),
            Err(more) => errors.extend(more),
        }
    }
    if errors.is_empty() {
        Ok(kernels)
    } else {
        Err(errors)
    }
}

fn twice(what: &str, name: &ast::Name, first: Span) -> Diagnostic {
    let message = format!("there is already a {what} `{}`", name.text);
    Diagnostic::error(name.span, message).note(first, "it is here")
}

fn parameter(written: &ast::Parameter) -> Checked<Parameter> {
    let element = match written.element.text.as_str() {
        "f16" => Element::F16,
        "bf16" => Element::BF16,
        "f32" => Element::F32,
        other => {
            return Err(Diagnostic::error(
                written.element.span,
                format!("expected f16, bf16 or f32, got `{other}`"),
            ));
        }
    };
    if written.dimensions.len() > 2 {
        return Err(Diagnostic::error(
            written.name.span,
            format!(
                "expected at most 2 dimensions, got {}",
                written.dimensions.len()
            ),
        ));
    }
    Ok(Parameter {
        name: written.name.text.clone(),
        span: written.name.span,
        element,
        dimensions: written.dimensions.clone(),
    })
}

struct Checker {
    parameters: Vec<Parameter>,
    result: Parameter,
    /// Names of statements, with where they stand and their shapes; none if they are wrong.
    statements: Vec<(ast::Name, Option<Shape>)>,
}

impl Checker {
    fn kernel(kernel: &ast::Kernel) -> Result<Kernel, Vec<Diagnostic>> {
        let mut errors = Vec::new();
        let mut parameters: Vec<Parameter> = Vec::new();
        for written in kernel.parameters.iter().chain([&kernel.result]) {
            match parameter(written) {
                Ok(made) => match parameters.iter().find(|other| other.name == made.name) {
                    Some(first) => errors.push(twice("parameter", &written.name, first.span)),
                    None => parameters.push(made),
                },
                Err(error) => errors.push(error),
            }
        }
        if kernel.result.dimensions.len() != 2 {
            errors.push(Diagnostic::error(
                kernel.result.name.span,
                format!(
                    "expected a result of 2 dimensions, got {}",
                    kernel.result.dimensions.len()
                ),
            ));
        }
        // Statements are about parameters: those have to be right first.
        let Some(result) = parameters.pop().filter(|_| errors.is_empty()) else {
            return Err(errors);
        };
        let mut checker = Checker {
            parameters,
            result,
            statements: Vec::new(),
        };
        let mut values = Vec::new();
        for statement in &kernel.statements {
            let value = checker.statement(statement);
            let shape = value.as_ref().ok().map(|value| value.shape.clone());
            checker.statements.push((statement.name.clone(), shape));
            match value {
                Ok(value) => values.push(value),
                // A name whose own statement is wrong is no second error.
                Err(error) if error.message.is_empty() => {}
                Err(error) => errors.push(error),
            }
        }
        let last = kernel.statements.last().map(|last| &last.name);
        if let Some(last) = last.filter(|last| last.text != checker.result.name) {
            let message = format!(
                "expected the last statement to make `{}`, got `{}`",
                checker.result.name, last.text
            );
            errors.push(
                Diagnostic::error(last.span, message)
                    .note(checker.result.span, "the result is here"),
            );
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        Ok(Kernel {
            name: kernel.name.text.clone(),
            span: kernel.name.span,
            parameters: checker.parameters,
            result: checker.result,
            values,
        })
    }

    fn statement(&self, statement: &ast::Statement) -> Checked<Node> {
        let name = &statement.name;
        if let Some(first) = self.parameters.iter().find(|one| one.name == name.text) {
            return Err(twice("parameter", name, first.span));
        }
        if let Some((first, _)) = self.statements.iter().find(|one| one.0.text == name.text) {
            return Err(twice("value", name, first.span));
        }
        let value = self.expression(&statement.value)?;
        let expected = &self.result.dimensions;
        let is_result = name.text == self.result.name;
        // A scalar or row may have a name as well; a tile has to lie where the result does.
        let fits = match value.shape[..] {
            [] => !is_result,
            [ref columns] => !is_result && *columns == expected[1],
            _ => value.shape == *expected,
        };
        if !fits {
            let message = format!(
                "expected `{}` to have the shape {}{}, got {}",
                name.text,
                shape(expected),
                if is_result { "" } else { ", as the result" },
                shape(&value.shape)
            );
            return Err(Diagnostic::error(value.at, message)
                .around(statement.value.span)
                .note(self.result.span, "the result is here"));
        }
        Ok(value)
    }

    fn expression(&self, written: &Expression) -> Checked<Node> {
        let node = |kind, shape| Node {
            kind,
            shape,
            at: written.span,
        };
        match &written.kind {
            ExpressionKind::Number(number) => Ok(node(NodeKind::Number(*number), Vec::new())),
            ExpressionKind::Name(name) => self.name(name, written.span),
            ExpressionKind::Transpose(_) => Err(Diagnostic::error(
                written.span,
                "expected `.T` on an operand of `@` only",
            )),
            ExpressionKind::Negate(operand) => {
                let operand = self.expression(operand)?;
                let shape = operand.shape.clone();
                Ok(node(NodeKind::Negate(Box::new(operand)), shape))
            }
            ExpressionKind::Binary(Operator::Product, at, left, right) => {
                self.product(*at, written.span, left, right)
            }
            ExpressionKind::Binary(operator, at, left, right) => {
                let (left, right) = (self.expression(left)?, self.expression(right)?);
                let shape = common(*at, written.span, &left, &right)?;
                Ok(Node {
                    kind: NodeKind::Binary(*operator, Box::new(left), Box::new(right)),
                    shape,
                    at: *at,
                })
            }
            ExpressionKind::Call(name, arguments) => self.call(name, written.span, arguments),
        }
    }

    fn name(&self, name: &str, span: Span) -> Checked<Node> {
        let find = |text: &str| self.parameters.iter().position(|one| one.name == text);
        if let Some(number) = find(name) {
            return Ok(Node {
                kind: NodeKind::Parameter(number),
                shape: self.parameters[number].dimensions.clone(),
                at: span,
            });
        }
        let earlier = self.statements.iter().position(|one| one.0.text == name);
        if let Some(number) = earlier {
            let Some(shape) = &self.statements[number].1 else {
                return Err(Diagnostic::error(span, ""));
            };
            return Ok(Node {
                kind: NodeKind::Statement(number),
                shape: shape.clone(),
                at: span,
            });
        }
        if name == self.result.name {
            let message = format!("expected a value, got the result `{name}`, which is written");
            return Err(Diagnostic::error(span, message).note(self.result.span, "it is here"));
        }
        let mut known: Vec<&str> = self
            .parameters
            .iter()
            .map(|one| one.name.as_str())
            .collect();
        known.extend(self.statements.iter().map(|one| one.0.text.as_str()));
        let message = format!("unknown name `{name}`; there are: {}", known.join(", "));
        Err(Diagnostic::error(span, message))
    }

    fn call(&self, name: &ast::Name, span: Span, arguments: &[Expression]) -> Checked<Node> {
        let found = FUNCTIONS.iter().find(|(known, ..)| *known == name.text);
        let Some((_, function, count)) = found else {
            let known: Vec<&str> = FUNCTIONS.iter().map(|(known, ..)| *known).collect();
            let message = format!(
                "unknown function `{}`; there are: {}",
                name.text,
                known.join(", ")
            );
            return Err(Diagnostic::error(name.span, message));
        };
        if arguments.len() != *count {
            let message = format!(
                "expected {count} argument{} of `{}`, got {}",
                if *count == 1 { "" } else { "s" },
                name.text,
                arguments.len()
            );
            return Err(Diagnostic::error(name.span, message).around(span));
        }
        let mut nodes = Vec::new();
        for argument in arguments {
            nodes.push(self.expression(argument)?);
        }
        let shape = match &nodes[..] {
            [left, right] => common(name.span, span, left, right)?,
            _ => nodes
                .first()
                .map(|one| one.shape.clone())
                .unwrap_or_default(),
        };
        Ok(Node {
            kind: NodeKind::Call(*function, nodes),
            shape,
            at: name.span,
        })
    }

    fn product(
        &self,
        at: Span,
        around: Span,
        left: &Expression,
        right: &Expression,
    ) -> Checked<Node> {
        let (a, b) = (self.factor(left)?, self.factor(right)?);
        let wrong = |message: String| Err(Diagnostic::error(at, message).around(around));
        let (left, right) = (&self.parameters[a.parameter], &self.parameters[b.parameter]);
        if left.element != right.element {
            return wrong(format!(
                "expected equal element types in a product, got {} and {}",
                left.element, right.element
            ));
        }
        let ([m, k], [b_k, n]) = (self.extents(a), self.extents(b));
        if k != b_k {
            return wrong(format!(
                "expected as many columns on the left as rows on the right, got {} @ {}",
                shape(&[m, k]),
                shape(&[b_k, n])
            ));
        }
        Ok(Node {
            kind: NodeKind::Product(a, b),
            shape: vec![m, n],
            at,
        })
    }

    /// Rows and columns as a product sees them.
    fn extents(&self, factor: Factor) -> [Dimension; 2] {
        match &self.parameters[factor.parameter].dimensions[..] {
            [rows, columns] if factor.transposed => [columns.clone(), rows.clone()],
            [rows, columns] => [rows.clone(), columns.clone()],
            // Factors have two dimensions.
            _ => [Dimension::Fixed(1), Dimension::Fixed(1)],
        }
    }

    /// An operand of `@`: tiles of it are copied from memory.
    fn factor(&self, written: &Expression) -> Checked<Factor> {
        let (inner, transposed) = match &written.kind {
            ExpressionKind::Transpose(inner) => (&**inner, true),
            _ => (written, false),
        };
        let ExpressionKind::Name(name) = &inner.kind else {
            return Err(Diagnostic::error(
                written.span,
                "expected a parameter as an operand of `@`, or its transpose, got an expression",
            ));
        };
        let node = self.name(name, inner.span)?;
        let NodeKind::Parameter(parameter) = node.kind else {
            return Err(Diagnostic::error(
                written.span,
                format!("expected a parameter as an operand of `@`, got the value `{name}`"),
            ));
        };
        if node.shape.len() != 2 {
            let message = format!(
                "expected a matrix as an operand of `@`, got `{name}` of shape {}",
                shape(&node.shape)
            );
            return Err(Diagnostic::error(written.span, message)
                .note(self.parameters[parameter].span, "it is here"));
        }
        Ok(Factor {
            parameter,
            transposed,
        })
    }
}

/// The shape that two values repeat to.
fn common(at: Span, around: Span, left: &Node, right: &Node) -> Checked<Shape> {
    let (large, small) = if left.shape.len() >= right.shape.len() {
        (&left.shape, &right.shape)
    } else {
        (&right.shape, &left.shape)
    };
    if large.ends_with(small) {
        return Ok(large.clone());
    }
    let message = format!(
        "shapes {} and {} do not fit",
        shape(&left.shape),
        shape(&right.shape)
    );
    Err(Diagnostic::error(at, message).around(around))
}

/// `[M, 64]`
fn shape(dimensions: &[Dimension]) -> String {
    let mut text = String::new();
    for dimension in dimensions {
        let comma = if text.is_empty() { "" } else { ", " };
        // Writing to a string does not fail.
        let _ = match dimension {
            Dimension::Fixed(extent) => write!(text, "{comma}{extent}"),
            Dimension::Named(name) => write!(text, "{comma}{name}"),
        };
    }
    format!("[{text}]")
}
