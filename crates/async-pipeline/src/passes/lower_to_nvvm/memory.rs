//! Addresses: shared memory, slots, elements of memrefs.

use crate::{
    build::Build,
    diagnostics::error,
    passes::{
        Failed,
        allocate::{MBARRIER_BYTES, buffer_stride},
        descriptor,
        lower_kernel_abi::SHARED,
    },
};
use async_pipeline_sys::ir::{Builder, Op, Type, TypeKind, Value};
use std::collections::HashMap;

/// Where buffers and barriers lie.
#[derive(Default)]
pub(super) struct Memory {
    /// Pointer to the first slot, `!llvm.ptr<3>`, and the same as a 32-bit address.
    bases: HashMap<Value, (Value, Value)>,
    allocs: Vec<Op>,
}

pub(super) fn is_alloc(op: Op) -> bool {
    op.is("async_pipeline.buffer.alloc") || op.is("async_pipeline.mbarrier.alloc")
}

/// `#gpu.address_space` means nothing to upstream's memref lowering: numbers do.
pub(super) fn number_spaces(function: Op) {
    let context = function.context();
    let renumber = |value: Value| {
        if !value.ty().is_memref() {
            return;
        }
        let number = match value.ty().memory_space().as_str() {
            "#gpu.address_space<global>" => 1,
            "#gpu.address_space<workgroup>" => 3,
            "#gpu.address_space<private>" => 5,
            _ => return,
        };
        value.set_type(value.ty().with_memory_space(context.i64_attr(number)));
    };
    for op in function.walk().into_iter().chain([function]) {
        op.results().into_iter().for_each(renumber);
        for block in op.regions().into_iter().flat_map(|region| region.blocks()) {
            block.arguments().into_iter().for_each(renumber);
        }
    }
}

/// Tensor maps have become the pointers behind their casts, ranges of tensor memory the
/// addresses.
pub(super) fn drop_unused_casts(function: Op) {
    for cast in function.find("builtin.unrealized_conversion_cast") {
        let results = cast.results();
        let ours = results
            .iter()
            .all(|result| matches!(result.ty().kind(), TypeKind::TensorMap | TypeKind::Tmem));
        if ours && results.iter().all(|result| result.uses().is_empty()) {
            cast.erase();
        }
    }
}

impl Memory {
    pub(super) fn allocate(&mut self, alloc: Op) -> Result<(), Failed> {
        let Some(offset) = alloc.attr("offset").and_then(|offset| offset.int()) else {
            return Err(error(
                alloc,
                format!(
                    "'{}' op has no offset; run async-pipeline-allocate first",
                    alloc.name()
                ),
            ));
        };
        let builder = Builder::before(alloc);
        let context = builder.context();
        let shared = context.ptr(3);
        let start = builder
            .op("llvm.mlir.addressof")
            .attr("global_name", context.symbol_ref(SHARED))
            .results(&[shared])
            .value();
        let pointer = byte_offset(builder, start, &[], offset as i32);
        let address = address(builder, pointer);
        self.bases.insert(alloc.result(0), (pointer, address));
        self.allocs.push(alloc);
        Ok(())
    }

    /// Destroys the allocations once nothing refers to them.
    pub(super) fn finish(&mut self) {
        self.bases.clear();
        for alloc in self.allocs.drain(..) {
            alloc.erase();
        }
    }

    fn base(&self, op: Op, storage: Value) -> Result<(Value, Value), Failed> {
        self.bases.get(&storage).copied().ok_or_else(|| {
            error(op, "expected storage made by mbarrier.alloc or buffer.alloc in the kernel, got another value")
        })
    }

    /// 32-bit shared address of one mbarrier.
    pub(super) fn barrier(
        &self,
        builder: Builder,
        op: Op,
        barrier: Value,
        stage: Value,
    ) -> Result<Value, Failed> {
        self.element(builder, op, barrier, stage, MBARRIER_BYTES, 0)
    }

    /// 32-bit shared address of an element of a slot.
    pub(super) fn slot_element(
        &self,
        builder: Builder,
        op: Op,
        buffer: Value,
        slot: Value,
        element: i64,
    ) -> Result<Value, Failed> {
        let tile = buffer.ty().fields()[0];
        let bytes = element * tile.element().byte_width().unwrap_or(1);
        self.element(builder, op, buffer, slot, buffer_stride(buffer.ty()), bytes)
    }

    fn element(
        &self,
        builder: Builder,
        op: Op,
        storage: Value,
        index: Value,
        stride: i64,
        bytes: i64,
    ) -> Result<Value, Failed> {
        let (_, base) = self.base(op, storage)?;
        let build = Build(builder);
        let offset = match index.constant_int() {
            Some(index) => build.i32(index * stride + bytes),
            None => build.add(build.mul(index, build.i32(stride)), build.i32(bytes)),
        };
        Ok(build.add(base, offset))
    }

    /// Offset of a barrier from the start of dynamic shared memory, i32.
    pub(super) fn barrier_offset(&self, builder: Builder, barrier: Value, stage: Value) -> Value {
        let build = Build(builder);
        let start = barrier
            .defining_op()
            .and_then(|alloc| alloc.attr("offset")?.int())
            .unwrap_or_default();
        build.add(
            build.mul(stage, build.i32(MBARRIER_BYTES)),
            build.i32(start),
        )
    }

    /// `buffer.slot`: a memref descriptor at the slot's address.
    pub(super) fn slot(&self, op: Op) -> Result<(), Failed> {
        let (buffer, stage) = (op.operand(0), op.operand(1));
        let (base, _) = self.base(op, buffer)?;
        let builder = Builder::before(op);
        let build = Build(builder);
        let stride = buffer_stride(buffer.ty());
        let bytes = build.mul(stage, build.i32(stride));
        let pointer = byte_offset(builder, base, &[bytes], i32::MIN);
        let memref = op.result(0).ty();
        let shape = memref.static_shape();
        let constants = |values: &[i64]| -> Vec<Value> {
            values
                .iter()
                .map(|value| descriptor::constant(builder, *value))
                .collect()
        };
        let strides: Vec<i64> = (0..shape.len())
            .map(|dim| shape[dim + 1..].iter().product())
            .collect();
        let cast = descriptor::memref(
            builder,
            memref,
            pointer,
            &constants(&shape),
            &constants(&strides),
        );
        op.replace(&[cast]);
        Ok(())
    }
}

/// Pointer to an element of a memref.
pub(super) fn element_pointer(builder: Builder, memref: Value, indices: &[Value]) -> Value {
    let context = builder.context();
    let build = Build(builder);
    let ty = descriptor::struct_type(memref.ty());
    let descriptor = builder
        .op("builtin.unrealized_conversion_cast")
        .operands(&[memref])
        .results(&[ty])
        .value();
    let field = |position: &[i64], ty: Type| {
        builder
            .op("llvm.extractvalue")
            .operands(&[descriptor])
            .attr("position", context.dense_i64_attr(position))
            .results(&[ty])
            .value()
    };
    let space = descriptor::address_space(memref.ty());
    let pointer = field(&[1], context.ptr(space));
    let (strides, offset) = memref.ty().strides_and_offset().unwrap_or_default();
    let mut linear = match offset {
        Some(offset) => build.i64(offset),
        None => field(&[2], context.i64()),
    };
    for (dim, index) in indices.iter().enumerate() {
        let index = build.index_cast(*index, context.i64());
        let stride = match strides.get(dim).copied().flatten() {
            Some(stride) => build.i64(stride),
            None => field(&[4, dim as i64], context.i64()),
        };
        linear = build.add(build.mul(index, stride), linear);
    }
    builder
        .op("llvm.getelementptr")
        .operands(&[pointer, linear])
        .attr("elem_type", context.type_attr(memref.ty().element()))
        .attr("rawConstantIndices", context.dense_i32_attr(&[i32::MIN]))
        .results(&[pointer.ty()])
        .value()
}

/// 32-bit address of a pointer into shared memory.
pub(super) fn address(builder: Builder, pointer: Value) -> Value {
    builder
        .op("llvm.ptrtoint")
        .operands(&[pointer])
        .results(&[builder.context().i32()])
        .value()
}

/// A pointer into global memory as `!llvm.ptr<1>`.
pub(super) fn global(builder: Builder, pointer: Value) -> Value {
    let ty = builder.context().ptr(1);
    if pointer.ty() == ty {
        return pointer;
    }
    builder
        .op("llvm.addrspacecast")
        .operands(&[pointer])
        .results(&[ty])
        .value()
}

/// `pointer` plus a number of bytes: a constant, or one value when the constant is the
/// marker for a dynamic index.
fn byte_offset(builder: Builder, pointer: Value, dynamic: &[Value], constant: i32) -> Value {
    let context = builder.context();
    builder
        .op("llvm.getelementptr")
        .operands(&[pointer])
        .operands(dynamic)
        .attr("elem_type", context.type_attr(context.int(8)))
        .attr("rawConstantIndices", context.dense_i32_attr(&[constant]))
        .results(&[pointer.ty()])
        .value()
}
