//! More values through loops and branches.

use async_pipeline_sys::ir::{Block, Builder, Op, Value};

/// Appends operands to the op that ends a block.
pub(crate) fn append_to_terminator(block: Block, values: &[Value]) {
    if let Some(terminator) = block.terminator() {
        let mut operands = terminator.operands();
        operands.extend_from_slice(values);
        terminator.set_operands(&operands);
    }
}

/// The same op with more operands and results, its regions taken over.
pub(crate) fn rebuild(op: Op, operands: &[Value], results_like: &[Value]) -> Op {
    let mut types: Vec<_> = op.results().into_iter().map(|result| result.ty()).collect();
    types.extend(operands.iter().chain(results_like).map(|value| value.ty()));
    let mut builder = Builder::before(op)
        .op(op.name())
        .operands(&op.operands())
        .operands(operands)
        .results(&types)
        .regions(op.regions().len());
    for (name, value) in op.attrs() {
        // Attribute names live in the context; the builder wants them for its own call only.
        builder = builder.attr_owned(name, value);
    }
    let new = builder.build();
    for (target, source) in new.regions().into_iter().zip(op.regions()) {
        target.take_body(source);
    }
    new
}
