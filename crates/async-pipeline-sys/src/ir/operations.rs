//! Reading and moving ops, blocks, regions and values.

use super::{Attr, Block, Ctx, Loc, Op, Region, Type, Value, borrow_str, string_ref};

impl Op {
    /// The op's full name, such as `scf.for`.
    pub fn name(self) -> &'static str {
        // SAFETY: op names are interned in the context for its lifetime, which no handle outlives.
        unsafe {
            borrow_str(mlir_sys::mlirIdentifierStr(mlir_sys::mlirOperationGetName(
                self.raw(),
            )))
        }
    }

    /// Whether the op has this name.
    pub fn is(self, name: &str) -> bool {
        self.name() == name
    }

    /// Its location.
    pub fn location(self) -> Loc {
        // SAFETY: the op is live.
        Loc(unsafe { mlir_sys::mlirOperationGetLocation(self.raw()) })
    }

    /// Its context.
    pub fn context(self) -> Ctx {
        // SAFETY: the op is live.
        Ctx(unsafe { mlir_sys::mlirOperationGetContext(self.raw()) })
    }

    /// Number of operands.
    pub fn operand_count(self) -> usize {
        // SAFETY: the op is live.
        unsafe { mlir_sys::mlirOperationGetNumOperands(self.raw()) as usize }
    }

    /// The operands in order.
    pub fn operands(self) -> Vec<Value> {
        (0..self.operand_count())
            .map(|index| self.operand(index))
            .collect()
    }

    /// One operand.
    ///
    /// # Panics
    /// Panics if there is no such operand.
    pub fn operand(self, index: usize) -> Value {
        assert!(
            index < self.operand_count(),
            "{} has no operand {index}",
            self.name()
        );
        // SAFETY: the index is in range.
        Value(unsafe { mlir_sys::mlirOperationGetOperand(self.raw(), index as isize) })
    }

    /// Replaces one operand.
    pub fn set_operand(self, index: usize, value: Value) {
        assert!(
            index < self.operand_count(),
            "{} has no operand {index}",
            self.name()
        );
        // SAFETY: the index is in range.
        unsafe { mlir_sys::mlirOperationSetOperand(self.raw(), index as isize, value.raw()) };
    }

    /// Replaces all operands.
    pub fn set_operands(self, values: &[Value]) {
        let raw: Vec<_> = values.iter().map(|value| value.raw()).collect();
        // SAFETY: the array holds `len` live values.
        unsafe { mlir_sys::mlirOperationSetOperands(self.raw(), raw.len() as isize, raw.as_ptr()) };
    }

    /// The operands of one segment of an op with `operandSegmentSizes`.
    pub fn operand_segment(self, segment: usize) -> Vec<Value> {
        let sizes: Vec<usize> = self
            .attr("operandSegmentSizes")
            .map(|attr| {
                attr.dense_i32()
                    .into_iter()
                    .map(|size| size as usize)
                    .collect()
            })
            .unwrap_or_default();
        let start: usize = sizes.iter().take(segment).sum();
        let length = sizes.get(segment).copied().unwrap_or(0);
        (start..start + length)
            .map(|index| self.operand(index))
            .collect()
    }

    /// Number of results.
    pub fn result_count(self) -> usize {
        // SAFETY: the op is live.
        unsafe { mlir_sys::mlirOperationGetNumResults(self.raw()) as usize }
    }

    /// The results in order.
    pub fn results(self) -> Vec<Value> {
        (0..self.result_count())
            .map(|index| self.result(index))
            .collect()
    }

    /// One result.
    ///
    /// # Panics
    /// Panics if there is no such result.
    pub fn result(self, index: usize) -> Value {
        assert!(
            index < self.result_count(),
            "{} has no result {index}",
            self.name()
        );
        // SAFETY: the index is in range.
        Value(unsafe { mlir_sys::mlirOperationGetResult(self.raw(), index as isize) })
    }

    /// An attribute, inherent or discardable.
    pub fn attr(self, name: &str) -> Option<Attr> {
        // SAFETY: the string lives for the call.
        Attr::optional(unsafe {
            mlir_sys::mlirOperationGetAttributeByName(self.raw(), string_ref(name))
        })
    }

    /// Sets an attribute, inherent or discardable.
    pub fn set_attr(self, name: &str, value: Attr) {
        // SAFETY: the string is copied by the call.
        unsafe {
            mlir_sys::mlirOperationSetAttributeByName(self.raw(), string_ref(name), value.raw());
        }
    }

    /// Removes an attribute if it is there.
    pub fn remove_attr(self, name: &str) {
        // SAFETY: the string lives for the call.
        unsafe { mlir_sys::mlirOperationRemoveAttributeByName(self.raw(), string_ref(name)) };
    }

    /// All attributes with their names.
    pub fn attrs(self) -> Vec<(String, Attr)> {
        // SAFETY: the index is below the count; names are copied.
        unsafe {
            (0..mlir_sys::mlirOperationGetNumAttributes(self.raw()))
                .map(|index| {
                    let named = mlir_sys::mlirOperationGetAttribute(self.raw(), index);
                    (
                        borrow_str(mlir_sys::mlirIdentifierStr(named.name)).to_owned(),
                        Attr(named.attribute),
                    )
                })
                .collect()
        }
    }

    /// Its regions.
    pub fn regions(self) -> Vec<Region> {
        // SAFETY: the index is below the count.
        unsafe {
            (0..mlir_sys::mlirOperationGetNumRegions(self.raw()))
                .map(|index| Region(mlir_sys::mlirOperationGetRegion(self.raw(), index)))
                .collect()
        }
    }

    /// The first block of a region, if there is one.
    pub fn body(self, region: usize) -> Option<Block> {
        self.regions().get(region)?.blocks().first().copied()
    }

    /// The block that holds the op.
    pub fn block(self) -> Option<Block> {
        // SAFETY: the op is live.
        Block::optional(unsafe { mlir_sys::mlirOperationGetBlock(self.raw()) })
    }

    /// The op whose region holds this op.
    pub fn parent(self) -> Option<Op> {
        // SAFETY: the op is live.
        Op::optional(unsafe { mlir_sys::mlirOperationGetParentOperation(self.raw()) })
    }

    /// The closest enclosing op of a name.
    pub fn ancestor(self, name: &str) -> Option<Op> {
        let mut op = self.parent();
        while let Some(parent) = op {
            if parent.is(name) {
                return Some(parent);
            }
            op = parent.parent();
        }
        None
    }

    /// The op of a block that is this one or holds it.
    pub fn ancestor_in(self, block: Option<Block>) -> Option<Op> {
        let mut current = Some(self);
        while let Some(op) = current {
            if op.block() == block {
                return Some(op);
            }
            current = op.parent();
        }
        None
    }

    /// Whether this op is `other` or lies within it.
    pub fn is_within(self, other: Op) -> bool {
        let mut op = Some(self);
        while let Some(current) = op {
            if current == other {
                return true;
            }
            op = current.parent();
        }
        false
    }

    /// Every op within this one, in pre-order, this one excluded.
    pub fn walk(self) -> Vec<Op> {
        let mut out = Vec::new();
        // An explicit stack: nesting depth comes from the input.
        let mut stack = vec![self];
        while let Some(op) = stack.pop() {
            if op != self {
                out.push(op);
            }
            let mut nested: Vec<Op> = op
                .regions()
                .into_iter()
                .flat_map(Region::blocks)
                .flat_map(Block::ops)
                .collect();
            nested.reverse();
            stack.append(&mut nested);
        }
        out
    }

    /// Every op of a name within this one, in pre-order.
    pub fn find(self, name: &str) -> Vec<Op> {
        self.walk().into_iter().filter(|op| op.is(name)).collect()
    }

    /// Takes the op out of its block and destroys it. Its results have no uses.
    pub fn erase(self) {
        // SAFETY: the caller drops every handle to the op.
        unsafe {
            mlir_sys::mlirOperationRemoveFromParent(self.raw());
            mlir_sys::mlirOperationDestroy(self.raw());
        }
    }

    /// Takes the op out of its block; the caller inserts it elsewhere.
    pub fn detach(self) {
        // SAFETY: the op is live and stays so.
        unsafe { mlir_sys::mlirOperationRemoveFromParent(self.raw()) };
    }

    /// Moves the op in front of another.
    pub fn move_before(self, other: Op) {
        // SAFETY: both ops are live.
        unsafe { mlir_sys::mlirOperationMoveBefore(self.raw(), other.raw()) };
    }

    /// Moves the op behind another.
    pub fn move_after(self, other: Op) {
        // SAFETY: both ops are live.
        unsafe { mlir_sys::mlirOperationMoveAfter(self.raw(), other.raw()) };
    }

    /// A detached copy of the op with everything in it.
    pub fn clone_detached(self) -> Op {
        // SAFETY: the op is live; the caller inserts the copy.
        Op(unsafe { mlir_sys::mlirOperationClone(self.raw()) })
    }

    /// Replaces the op's results one by one and erases it.
    pub fn replace(self, values: &[Value]) {
        assert_eq!(self.result_count(), values.len());
        for (old, new) in self.results().into_iter().zip(values) {
            old.replace_all_uses(*new);
        }
        self.erase();
    }

    /// Whether the op stands in front of another of the same block.
    pub fn is_before(self, other: Op) -> bool {
        // SAFETY: asked only for ops of one block.
        self.block() == other.block()
            && unsafe { mlir_sys::mlirOperationIsBeforeInBlock(self.raw(), other.raw()) }
    }

    /// Verifies the op and everything in it; diagnostics go to the handler.
    pub fn verify(self) -> bool {
        // SAFETY: the op is live.
        unsafe { mlir_sys::mlirOperationVerify(self.raw()) }
    }
}

impl Region {
    /// Its blocks in order.
    pub fn blocks(self) -> Vec<Block> {
        let mut out = Vec::new();
        // SAFETY: the region is live.
        let mut block = Block::optional(unsafe { mlir_sys::mlirRegionGetFirstBlock(self.raw()) });
        while let Some(current) = block {
            out.push(current);
            // SAFETY: the block is live.
            block = Block::optional(unsafe { mlir_sys::mlirBlockGetNextInRegion(current.raw()) });
        }
        out
    }

    /// Takes over all blocks of another region; its own are dropped.
    pub fn take_body(self, source: Region) {
        // SAFETY: both regions are live.
        unsafe { mlir_sys::mlirRegionTakeBody(self.raw(), source.raw()) };
    }

    /// Appends an empty block.
    pub fn append_block(self, arguments: &[(Type, Loc)]) -> Block {
        let block = Block::detached(arguments);
        // SAFETY: the region takes the block over.
        unsafe { mlir_sys::mlirRegionAppendOwnedBlock(self.raw(), block.raw()) };
        block
    }
}

impl Block {
    fn detached(arguments: &[(Type, Loc)]) -> Block {
        let types: Vec<_> = arguments.iter().map(|(ty, _)| ty.raw()).collect();
        let locations: Vec<_> = arguments
            .iter()
            .map(|(_, location)| location.raw())
            .collect();
        // SAFETY: both arrays have as many elements as announced.
        Block(unsafe {
            mlir_sys::mlirBlockCreate(types.len() as isize, types.as_ptr(), locations.as_ptr())
        })
    }

    /// Its ops in order.
    pub fn ops(self) -> Vec<Op> {
        let mut out = Vec::new();
        // SAFETY: the block is live.
        let mut op = Op::optional(unsafe { mlir_sys::mlirBlockGetFirstOperation(self.raw()) });
        while let Some(current) = op {
            out.push(current);
            // SAFETY: the op is live.
            op = Op::optional(unsafe { mlir_sys::mlirOperationGetNextInBlock(current.raw()) });
        }
        out
    }

    /// Its last op if that is a terminator.
    pub fn terminator(self) -> Option<Op> {
        // SAFETY: the block is live.
        Op::optional(unsafe { mlir_sys::mlirBlockGetTerminator(self.raw()) })
    }

    /// The op whose region holds the block.
    pub fn parent(self) -> Option<Op> {
        // SAFETY: the block is live.
        Op::optional(unsafe { mlir_sys::mlirBlockGetParentOperation(self.raw()) })
    }

    /// Its arguments.
    pub fn arguments(self) -> Vec<Value> {
        // SAFETY: the index is below the count.
        unsafe {
            (0..mlir_sys::mlirBlockGetNumArguments(self.raw()))
                .map(|index| Value(mlir_sys::mlirBlockGetArgument(self.raw(), index)))
                .collect()
        }
    }

    /// Appends an argument.
    pub fn add_argument(self, ty: Type, location: Loc) -> Value {
        // SAFETY: the block is live.
        Value(unsafe { mlir_sys::mlirBlockAddArgument(self.raw(), ty.raw(), location.raw()) })
    }

    /// Removes an argument without uses.
    pub fn erase_argument(self, index: usize) {
        // SAFETY: the caller checked that the argument exists and has no uses.
        unsafe { mlir_sys::mlirBlockEraseArgument(self.raw(), index as u32) };
    }

    /// Appends a detached op.
    pub fn append(self, op: Op) {
        // SAFETY: the block takes the op over.
        unsafe { mlir_sys::mlirBlockAppendOwnedOperation(self.raw(), op.raw()) };
    }
}

impl Value {
    /// Its type.
    pub fn ty(self) -> Type {
        // SAFETY: the value is live.
        Type(unsafe { mlir_sys::mlirValueGetType(self.raw()) })
    }

    /// Changes its type in place.
    pub fn set_type(self, ty: Type) {
        // SAFETY: the value is live.
        unsafe { mlir_sys::mlirValueSetType(self.raw(), ty.raw()) };
    }

    /// The op that makes it; none for block arguments.
    pub fn defining_op(self) -> Option<Op> {
        // SAFETY: the value is live; the owner is asked for results only.
        unsafe {
            mlir_sys::mlirValueIsAOpResult(self.raw())
                .then(|| Op(mlir_sys::mlirOpResultGetOwner(self.raw())))
        }
    }

    /// Block and index, if it is a block argument.
    pub fn as_block_argument(self) -> Option<(Block, usize)> {
        // SAFETY: asked for block arguments only.
        unsafe {
            mlir_sys::mlirValueIsABlockArgument(self.raw()).then(|| {
                (
                    Block(mlir_sys::mlirBlockArgumentGetOwner(self.raw())),
                    mlir_sys::mlirBlockArgumentGetArgNumber(self.raw()) as usize,
                )
            })
        }
    }

    /// The op, or the op around the block, that makes it.
    pub fn owner(self) -> Option<Op> {
        self.defining_op()
            .or_else(|| self.as_block_argument()?.0.parent())
    }

    /// Its uses as (op, operand number).
    pub fn uses(self) -> Vec<(Op, usize)> {
        let mut out = Vec::new();
        // SAFETY: the value is live; the list is not changed while it is read.
        unsafe {
            let mut current = mlir_sys::mlirValueGetFirstUse(self.raw());
            while !current.ptr.is_null() {
                out.push((
                    Op(mlir_sys::mlirOpOperandGetOwner(current)),
                    mlir_sys::mlirOpOperandGetOperandNumber(current) as usize,
                ));
                current = mlir_sys::mlirOpOperandGetNextUse(current);
            }
        }
        out
    }

    /// Replaces every use.
    pub fn replace_all_uses(self, other: Value) {
        // SAFETY: both values are live.
        unsafe { mlir_sys::mlirValueReplaceAllUsesOfWith(self.raw(), other.raw()) };
    }

    /// The integer if it is made by `arith.constant` (integers, index, booleans).
    pub fn constant_int(self) -> Option<i64> {
        let op = self.defining_op().filter(|op| op.is("arith.constant"))?;
        op.attr("value")?.int()
    }
}
