//! Building ops.

use super::{Attr, Block, Ctx, Loc, Op, Region, Type, Value, string_ref};

#[derive(Clone, Copy, Debug)]
enum Point {
    Before(Op),
    End(Block),
}

/// Makes ops at one place.
#[derive(Clone, Copy, Debug)]
pub struct Builder {
    context: Ctx,
    location: Loc,
    point: Point,
}

impl std::fmt::Debug for Ctx {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Ctx")
    }
}

impl std::fmt::Debug for Loc {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{self}")
    }
}

impl std::fmt::Debug for Block {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Block")
    }
}

impl Builder {
    /// In front of an op, with its location.
    pub fn before(op: Op) -> Self {
        crate::hooks::at_work(op.location());
        Self {
            context: op.context(),
            location: op.location(),
            point: Point::Before(op),
        }
    }

    /// At the end of a block (behind all ops, a terminator included).
    pub fn at_end(block: Block, location: Loc, context: Ctx) -> Self {
        Self {
            context,
            location,
            point: Point::End(block),
        }
    }

    /// At the end of a block, in front of its terminator if it has one.
    pub fn at_exit(block: Block, location: Loc, context: Ctx) -> Self {
        match block.terminator() {
            Some(terminator) => Self {
                context,
                location,
                point: Point::Before(terminator),
            },
            None => Self::at_end(block, location, context),
        }
    }

    /// At the start of a block.
    pub fn at_start(block: Block, location: Loc, context: Ctx) -> Self {
        match block.ops().first() {
            Some(first) => Self {
                context,
                location,
                point: Point::Before(*first),
            },
            None => Self::at_end(block, location, context),
        }
    }

    /// The same place with another location.
    pub fn with_location(self, location: Loc) -> Self {
        Self { location, ..self }
    }

    /// The context.
    pub fn context(self) -> Ctx {
        self.context
    }

    /// The location that new ops get.
    pub fn location(self) -> Loc {
        self.location
    }

    /// Starts an op.
    pub fn op(self, name: &'static str) -> OpBuilder {
        OpBuilder {
            builder: self,
            name,
            operands: Vec::new(),
            results: Vec::new(),
            attributes: Vec::new(),
            regions: 0,
        }
    }

    /// Inserts a detached op here.
    pub fn insert(self, op: Op) {
        match self.point {
            // SAFETY: the block takes the op over; the reference op lies in the block.
            Point::Before(other) => unsafe {
                if let Some(block) = other.block() {
                    mlir_sys::mlirBlockInsertOwnedOperationBefore(
                        block.raw(),
                        other.raw(),
                        op.raw(),
                    );
                }
            },
            Point::End(block) => block.append(op),
        }
    }
}

/// An op in the making.
#[derive(Debug)]
pub struct OpBuilder {
    builder: Builder,
    name: &'static str,
    operands: Vec<Value>,
    results: Vec<Type>,
    attributes: Vec<(std::borrow::Cow<'static, str>, Attr)>,
    regions: usize,
}

impl std::fmt::Debug for Value {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "value of type {}", self.ty())
    }
}

impl std::fmt::Debug for Attr {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{self}")
    }
}

impl OpBuilder {
    /// Adds operands.
    pub fn operands(mut self, values: &[Value]) -> Self {
        self.operands.extend_from_slice(values);
        self
    }

    /// Adds operands of an op with `AttrSizedOperandSegments`, one slice per segment.
    pub fn segments(mut self, segments: &[&[Value]]) -> Self {
        let sizes: Vec<i32> = segments
            .iter()
            .map(|segment| segment.len() as i32)
            .collect();
        for segment in segments {
            self.operands.extend_from_slice(segment);
        }
        let sizes = self.builder.context.dense_i32_attr(&sizes);
        self.attr("operandSegmentSizes", sizes)
    }

    /// Adds result types.
    pub fn results(mut self, types: &[Type]) -> Self {
        self.results.extend_from_slice(types);
        self
    }

    /// Adds an attribute.
    pub fn attr(mut self, name: &'static str, value: Attr) -> Self {
        self.attributes.push((name.into(), value));
        self
    }

    /// Adds an attribute whose name was read from another op.
    pub fn attr_owned(mut self, name: String, value: Attr) -> Self {
        self.attributes.push((name.into(), value));
        self
    }

    /// Adds empty regions.
    pub fn regions(mut self, count: usize) -> Self {
        self.regions += count;
        self
    }

    /// Makes the op and inserts it.
    ///
    /// # Panics
    /// Panics if MLIR refuses the op, which is a bug in the caller.
    pub fn build(self) -> Op {
        let name = self.name;
        // SAFETY: arrays are as long as announced, strings live for the call, and
        // the new op is inserted at once.
        let raw = unsafe {
            let mut state =
                mlir_sys::mlirOperationStateGet(string_ref(self.name), self.builder.location.raw());
            let operands: Vec<_> = self.operands.iter().map(|value| value.raw()).collect();
            mlir_sys::mlirOperationStateAddOperands(
                &raw mut state,
                operands.len() as isize,
                operands.as_ptr(),
            );
            let results: Vec<_> = self.results.iter().map(|ty| ty.raw()).collect();
            mlir_sys::mlirOperationStateAddResults(
                &raw mut state,
                results.len() as isize,
                results.as_ptr(),
            );
            let attributes: Vec<_> = self
                .attributes
                .iter()
                .map(|(name, value)| {
                    mlir_sys::mlirNamedAttributeGet(
                        mlir_sys::mlirIdentifierGet(self.builder.context.raw(), string_ref(name)),
                        value.raw(),
                    )
                })
                .collect();
            mlir_sys::mlirOperationStateAddAttributes(
                &raw mut state,
                attributes.len() as isize,
                attributes.as_ptr(),
            );
            let regions: Vec<_> = (0..self.regions)
                .map(|_| mlir_sys::mlirRegionCreate())
                .collect();
            mlir_sys::mlirOperationStateAddOwnedRegions(
                &raw mut state,
                regions.len() as isize,
                regions.as_ptr(),
            );
            mlir_sys::mlirOperationCreate(&raw mut state)
        };
        let op = Op::optional(raw).unwrap_or_else(|| panic!("MLIR refuses to make {name}"));
        self.builder.insert(op);
        op
    }

    /// Makes the op and returns its only result.
    pub fn value(self) -> Value {
        self.build().result(0)
    }
}

impl Region {
    /// A builder at the end of a new block in the region.
    pub fn new_block(
        self,
        arguments: &[(Type, Loc)],
        location: Loc,
        context: Ctx,
    ) -> (Block, Builder) {
        let block = self.append_block(arguments);
        (block, Builder::at_end(block, location, context))
    }
}
