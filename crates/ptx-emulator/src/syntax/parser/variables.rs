//! Declarations of variables and kernel parameters.

use super::{Parser, Result, clip, constants::Constant, dotted, fail, scopes::Symbol, unexpected};
use crate::syntax::{
    ast::{Parameter, ScalarType, Space, Span, Variable, VariableId},
    lexer::{Kind, Token},
};

/// Larger variables are refused.
const MAX_VARIABLE: u64 = 1 << 32;

/// Initial values further behind are refused: they are kept as bytes.
const MAX_INITIALISER: u64 = 64 << 20;

/// What one kernel's parameters may take (PTX ISA 8.1 and later).
const MAX_PARAMETERS: u64 = 32_764;

/// Dimensions of one array.
const MAX_DIMENSIONS: usize = 16;

/// Whether a variable is defined here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Linkage {
    Own,
    Extern,
}

/// The state space of a variable, by its directive's name.
pub(super) fn space(name: &str) -> Option<Space> {
    Some(match name {
        "global" => Space::Global,
        "shared" => Space::Shared,
        "local" => Space::Local,
        "const" => Space::Const,
        "param" => Space::Param,
        _ => return None,
    })
}

/// What stands before the name.
#[derive(Debug, Clone, Copy)]
struct Shape {
    align: u32,
    vector: u64,
    ty: ScalarType,
}

impl<'a> Parser<'a> {
    /// Parses what follows a state space: declarators and `;`.
    pub(super) fn variables(&mut self, space: Space, linkage: Linkage) -> Result<()> {
        let shape = self.shape()?;
        loop {
            self.variable(space, linkage, shape)?;
            if !self.accept(Kind::Comma)? {
                break;
            }
        }
        self.expect(Kind::Semicolon, "`,` or `;` after a variable")?;
        Ok(())
    }

    /// Parses `.align`, vector size and type.
    fn shape(&mut self) -> Result<Shape> {
        let mut align = None;
        let mut vector = 1;
        loop {
            let token = self.expect(Kind::Dotted, "a type")?;
            match &*dotted(token) {
                "align" => align = Some(self.alignment()?),
                "v2" => vector = 2,
                "v4" => vector = 4,
                "pred" => return fail(token.span, "variables cannot be predicates"),
                name => {
                    let Some(ty) = ScalarType::from_name(name) else {
                        return fail(
                            token.span,
                            format!("unknown type `.{}` of a variable", clip(name)),
                        );
                    };
                    let natural = ty.bytes() * vector as u32;
                    return Ok(Shape {
                        align: align.unwrap_or(natural),
                        vector,
                        ty,
                    });
                }
            }
        }
    }

    /// Parses the number of `.align`.
    fn alignment(&mut self) -> Result<u32> {
        let (align, span) = self.literal("an alignment")?;
        match align.is_power_of_two() {
            true => Ok(align),
            false => fail(span, format!("alignment {align} is not a power of two")),
        }
    }

    fn variable(&mut self, space: Space, linkage: Linkage, shape: Shape) -> Result<()> {
        let name = self.expect(Kind::Name, "a variable's name")?;
        let mut dimensions = self.dimensions()?;
        if shape.vector > 1 {
            dimensions.push(Some(shape.vector));
        }
        let assign = self.peek()?;
        let mut init = Vec::new();
        if self.accept(Kind::Assign)? {
            if linkage == Linkage::Extern || !matches!(space, Space::Global | Space::Const) {
                return fail(
                    assign.span,
                    "only `.global` and `.const` variables defined here can have initial values",
                );
            }
            init = self.initialiser(shape.ty, &mut dimensions)?;
        }
        let is_extern = linkage == Linkage::Extern;
        let bytes = match dimensions.first() {
            Some(None) if is_extern => 0,
            Some(None) => {
                return fail(
                    name.span,
                    format!("array `{}` has no size", clip(name.text)),
                );
            }
            _ => size(shape.ty, &dimensions, name)?,
        };
        self.declare_variable(
            name,
            Variable {
                span: name.span,
                name: name.text.into(),
                space,
                align: shape.align,
                bytes,
                is_extern,
                init,
            },
        )
    }

    fn declare_variable(&mut self, name: Token<'a>, variable: Variable) -> Result<()> {
        let in_body = self.in_body();
        let list = match in_body {
            true => &mut self.body.variables,
            false => &mut self.variables,
        };
        let index = list.len() as u32;
        let id = match in_body {
            true => VariableId::Local(index),
            false => VariableId::Module(index),
        };
        // An extern declaration and the definition are one variable.
        if let Some(Symbol::Variable(VariableId::Module(earlier))) =
            self.scopes.declared_here(name.text)
        {
            let earlier = &mut list[earlier as usize];
            if !in_body && (earlier.is_extern || variable.is_extern) {
                if earlier.is_extern {
                    *earlier = variable;
                }
                return Ok(());
            }
        }
        list.push(variable);
        if self.scopes.declare(name.text, Symbol::Variable(id)) {
            return Ok(());
        }
        fail(
            name.span,
            format!("`{}` is declared twice in this scope", clip(name.text)),
        )
    }

    /// Parses `[2][3]`; only the first may be empty.
    fn dimensions(&mut self) -> Result<Vec<Option<u64>>> {
        let mut dimensions = Vec::new();
        loop {
            let open = self.peek()?;
            if !self.accept(Kind::OpenBracket)? {
                return Ok(dimensions);
            }
            if dimensions.len() == MAX_DIMENSIONS {
                return fail(open.span, format!("more than {MAX_DIMENSIONS} dimensions"));
            }
            if dimensions.is_empty() && self.accept(Kind::CloseBracket)? {
                dimensions.push(None);
                continue;
            }
            let (count, span) = self.integer_constant()?;
            if count < 1 {
                return fail(span, format!("an array cannot have {count} elements"));
            }
            self.expect(Kind::CloseBracket, "`]`")?;
            dimensions.push(Some(count as u64));
        }
    }

    /// Parses the value after `=` and fills in the first dimension if it is open.
    fn initialiser(&mut self, ty: ScalarType, dimensions: &mut [Option<u64>]) -> Result<Vec<u8>> {
        // The elements of one entry of each dimension.
        let mut strides = Vec::new();
        let mut elements = Some(1u64);
        for dimension in dimensions.iter().rev() {
            strides.insert(0, elements.unwrap_or(u64::MAX));
            elements = elements.and_then(|e| e.checked_mul(dimension.unwrap_or(u64::MAX)));
        }
        let mut init = Initialiser {
            ty,
            strides,
            bytes: Vec::new(),
        };
        let token = self.peek()?;
        if dimensions.is_empty() {
            self.value(&mut init, 0)?;
            return Ok(init.bytes);
        }
        let end = self.braced(&mut init, 0, 0, elements.unwrap_or(u64::MAX))?;
        if let Some(first @ None) = dimensions.first_mut() {
            let entries = end.div_ceil(init.strides[0]);
            if entries == 0 {
                return fail(token.span, "expected a value, got `{}`");
            }
            *first = Some(entries);
        }
        Ok(init.bytes)
    }

    /// Parses `{…}` for the elements from `start` up to `end`, and returns where the values stop.
    fn braced(
        &mut self,
        init: &mut Initialiser,
        dimension: usize,
        start: u64,
        end: u64,
    ) -> Result<u64> {
        let open = self.expect(Kind::OpenBrace, "`{`")?;
        if dimension == init.strides.len() {
            return fail(
                open.span,
                "braces nested deeper than the array's dimensions",
            );
        }
        let stride = init.strides[dimension];
        let mut at = start;
        while !self.accept(Kind::CloseBrace)? {
            if at > start {
                self.expect(Kind::Comma, "`,` or `}` after a value")?;
            }
            let token = self.peek()?;
            if at >= end {
                return fail(token.span, "more initial values than elements");
            }
            if token.kind == Kind::OpenBrace {
                let past = at.saturating_add(stride);
                self.braced(init, dimension + 1, at, past)?;
                at = past;
            } else {
                self.value(init, at)?;
                at += 1;
            }
        }
        Ok(at)
    }

    /// Parses the value of element `at`.
    fn value(&mut self, init: &mut Initialiser, at: u64) -> Result<()> {
        let token = self.peek()?;
        match token.kind {
            Kind::Name if token.text != "WARP_SZ" => {
                return fail(
                    token.span,
                    format!(
                        "address `{}` as an initial value is not supported",
                        clip(token.text)
                    ),
                );
            }
            Kind::String => return unexpected(token, "a value"),
            _ => {}
        }
        let constant = self.constant()?;
        let Some(bits) = encode(constant, init.ty) else {
            return fail(token.span, "the value does not fit the variable's type");
        };
        let size = u64::from(init.ty.bytes());
        let end = at.saturating_add(1).saturating_mul(size);
        if end > MAX_INITIALISER {
            return fail(
                token.span,
                format!("initial values beyond {} MiB", MAX_INITIALISER >> 20),
            );
        }
        init.bytes.resize((end - size) as usize, 0);
        init.bytes
            .extend_from_slice(&bits.to_le_bytes()[..size as usize]);
        Ok(())
    }

    /// Parses the parameters of a kernel and the `)`.
    pub(super) fn parameters(&mut self) -> Result<Vec<Parameter>> {
        let mut parameters = Vec::new();
        let mut total = 0u64;
        if self.accept(Kind::CloseParen)? {
            return Ok(parameters);
        }
        loop {
            let parameter = self.parameter(parameters.len() as u32)?;
            let align = u64::from(parameter.align);
            total = total.next_multiple_of(align) + parameter.bytes;
            if total > MAX_PARAMETERS {
                return fail(
                    parameter.span,
                    format!("parameters take more than {MAX_PARAMETERS} bytes"),
                );
            }
            parameters.push(parameter);
            if self.accept(Kind::CloseParen)? {
                return Ok(parameters);
            }
            self.expect(Kind::Comma, "`,` or `)` after a parameter")?;
        }
    }

    fn parameter(&mut self, index: u32) -> Result<Parameter> {
        let start = self.peek()?;
        if !self.accept_dotted("param")? {
            return unexpected(start, "`.param`");
        }
        let shape = self.shape()?;
        if self.accept_dotted("ptr")? {
            // What the pointer points to is of no use here.
            let next = self.peek()?;
            if next.kind == Kind::Dotted && space(&dotted(next)).is_some() {
                self.take()?;
            }
            if self.accept_dotted("align")? {
                self.alignment()?;
            }
        }
        let name = self.expect(Kind::Name, "a parameter's name")?;
        let mut dimensions = self.dimensions()?;
        dimensions.push(Some(shape.vector));
        if dimensions[0].is_none() {
            return fail(
                name.span,
                format!("parameter `{}` has no size", clip(name.text)),
            );
        }
        let bytes = size(shape.ty, &dimensions, name)?;
        if !self.scopes.declare(name.text, Symbol::Parameter(index)) {
            return fail(
                name.span,
                format!("parameter `{}` is declared twice", clip(name.text)),
            );
        }
        Ok(Parameter {
            span: name.span,
            name: name.text.into(),
            align: shape.align,
            bytes,
        })
    }
}

/// The initial values of one variable.
struct Initialiser {
    ty: ScalarType,
    strides: Vec<u64>,
    bytes: Vec<u8>,
}

fn size(ty: ScalarType, dimensions: &[Option<u64>], name: Token<'_>) -> Result<u64> {
    let bytes = dimensions
        .iter()
        .flatten()
        .try_fold(u64::from(ty.bytes()), |size, count| {
            size.checked_mul(*count)
        });
    match bytes.filter(|bytes| *bytes <= MAX_VARIABLE) {
        Some(bytes) => Ok(bytes),
        None => too_large(name.span, name.text),
    }
}

fn too_large<T>(span: Span, name: &str) -> Result<T> {
    fail(
        span,
        format!("`{}` is larger than {} GiB", clip(name), MAX_VARIABLE >> 30),
    )
}

/// The bits of a constant as a value of this type.
fn encode(constant: Constant, ty: ScalarType) -> Option<u128> {
    let (bits, unsigned) = match (constant, ty) {
        (Constant::Float32(bits), ScalarType::F64) => {
            return Some(f64::from(f32::from_bits(bits)).to_bits().into());
        }
        (Constant::Float32(bits), _) => return (ty.bits() == 32).then_some(bits.into()),
        (Constant::Float64(bits), ScalarType::F32) => {
            return Some((f64::from_bits(bits) as f32).to_bits().into());
        }
        (Constant::Float64(bits), _) => return (ty.bits() == 64).then_some(bits.into()),
        (Constant::Integer { bits, unsigned }, _) => (bits, unsigned),
    };
    let value = match unsigned {
        true => i128::from(bits),
        false => i128::from(bits as i64),
    };
    match ty {
        ScalarType::F32 => return Some((value as f32).to_bits().into()),
        ScalarType::F64 => return Some((value as f64).to_bits().into()),
        _ if ty.bits() == 128 => return Some(value as u128),
        _ => {}
    }
    let range = -(1i128 << (ty.bits() - 1))..1i128 << ty.bits();
    range.contains(&value).then_some(value as u128)
}
