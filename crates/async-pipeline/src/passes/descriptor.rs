//! Memref descriptors, the structs that upstream's memref lowering works on.

use async_pipeline_sys::ir::{Builder, Type, Value};

/// The LLVM address space of a memref whose memory space is a number; 0 is generic.
pub(super) fn address_space(memref: Type) -> u32 {
    match memref.memory_space().as_str() {
        "1 : i64" | "#gpu.address_space<global>" => 1,
        "3 : i64" | "#gpu.address_space<workgroup>" => 3,
        "5 : i64" | "#gpu.address_space<private>" => 5,
        _ => 0,
    }
}

/// The struct of a memref's descriptor: allocated and aligned pointer, offset, sizes,
/// strides.
pub(super) fn struct_type(memref: Type) -> Type {
    let context = memref.context();
    let rank = memref.shape().len() as u32;
    let (ptr, i64) = (context.ptr(address_space(memref)), context.i64());
    if rank == 0 {
        return context.llvm_struct(&[ptr, ptr, i64]);
    }
    let array = context.llvm_array(i64, rank);
    context.llvm_struct(&[ptr, ptr, i64, array, array])
}

/// An i64 constant of the LLVM dialect.
pub(super) fn constant(builder: Builder, value: i64) -> Value {
    builder
        .op("llvm.mlir.constant")
        .attr("value", builder.context().i64_attr(value))
        .results(&[builder.context().i64()])
        .value()
}

/// A memref at `pointer` with offset 0 and these sizes and strides (i64 values), as a
/// value of the memref type.
pub(super) fn memref(
    builder: Builder,
    memref: Type,
    pointer: Value,
    sizes: &[Value],
    strides: &[Value],
) -> Value {
    let ty = struct_type(memref);
    let mut value = builder.op("llvm.mlir.poison").results(&[ty]).value();
    let mut insert = |field: Value, position: &[i64]| {
        value = builder
            .op("llvm.insertvalue")
            .operands(&[value, field])
            .attr("position", builder.context().dense_i64_attr(position))
            .results(&[ty])
            .value();
    };
    insert(pointer, &[0]);
    insert(pointer, &[1]);
    insert(constant(builder, 0), &[2]);
    for (dim, (size, stride)) in sizes.iter().zip(strides).enumerate() {
        insert(*size, &[3, dim as i64]);
        insert(*stride, &[4, dim as i64]);
    }
    builder
        .op("builtin.unrealized_conversion_cast")
        .operands(&[value])
        .results(&[memref])
        .value()
}
