//! Reading and making types.

use super::{Attr, Ctx, Type};
use crate::ffi;

/// The types of our own dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeKind {
    /// `!async_pipeline.channel`
    Channel,
    /// `!async_pipeline.slot`
    Slot,
    /// `!async_pipeline.mbarrier`
    MBarrier,
    /// `!async_pipeline.buffer`
    Buffer,
    /// `!async_pipeline.tensor_map`
    TensorMap,
    /// `!async_pipeline.accumulator`
    Accumulator,
    /// `!async_pipeline.window`
    Window,
    /// `!async_pipeline.tmem`
    Tmem,
    /// A type of another dialect.
    Other,
}

impl Type {
    /// Its context.
    pub fn context(self) -> Ctx {
        // SAFETY: the type is live.
        Ctx(unsafe { mlir_sys::mlirTypeGetContext(self.raw()) })
    }

    /// Which of our types it is.
    pub fn kind(self) -> TypeKind {
        // SAFETY: the type is live.
        match unsafe { ffi::apTypeKind(self.raw()) } {
            1 => TypeKind::Channel,
            2 => TypeKind::Slot,
            3 => TypeKind::MBarrier,
            4 => TypeKind::Buffer,
            5 => TypeKind::TensorMap,
            6 => TypeKind::Accumulator,
            7 => TypeKind::Window,
            8 => TypeKind::Tmem,
            _ => TypeKind::Other,
        }
    }

    /// Tiles of a channel or slot, the tile of a buffer or accumulator, the box of a
    /// tensor map, the extents of a window, each as a ranked tensor type.
    pub fn fields(self) -> Vec<Type> {
        // SAFETY: the index is below the count.
        unsafe {
            (0..ffi::apTypeFieldCount(self.raw()))
                .map(|index| Type(ffi::apTypeField(self.raw(), index)))
                .collect()
        }
    }

    /// Stages of a buffer or mbarrier array; 0 for a buffer of the tile level and any
    /// other type.
    pub fn stages(self) -> i64 {
        // SAFETY: the type is live.
        unsafe { ffi::apTypeStages(self.raw()) }
    }

    /// Bytes of the swizzle of a buffer or tensor map; 0 for none.
    pub fn swizzle(self) -> i64 {
        // SAFETY: the type is live.
        unsafe { ffi::apTypeSwizzle(self.raw()) }
    }

    /// Columns of a range of tensor memory; 0 for any other type.
    pub fn columns(self) -> i64 {
        // SAFETY: the type is live.
        unsafe { ffi::apTypeColumns(self.raw()) }
    }

    /// Whether it is a ranked memref.
    pub fn is_memref(self) -> bool {
        // SAFETY: the type is live.
        unsafe { mlir_sys::mlirTypeIsAMemRef(self.raw()) }
    }

    /// Whether it is a vector.
    pub fn is_vector(self) -> bool {
        // SAFETY: the type is live.
        unsafe { mlir_sys::mlirTypeIsAVector(self.raw()) }
    }

    /// Whether it is a vector of a length that is known when the kernel runs.
    pub fn is_scalable(self) -> bool {
        // SAFETY: guarded by the test.
        unsafe { self.is_vector() && mlir_sys::mlirVectorTypeIsScalable(self.raw()) }
    }

    /// Whether it is `index`.
    pub fn is_index(self) -> bool {
        // SAFETY: the type is live.
        unsafe { mlir_sys::mlirTypeIsAIndex(self.raw()) }
    }

    /// Whether it is a signless integer or `index`.
    pub fn is_signless_or_index(self) -> bool {
        // SAFETY: each reader is guarded by its own test.
        unsafe {
            self.is_index()
                || (mlir_sys::mlirTypeIsAInteger(self.raw())
                    && mlir_sys::mlirIntegerTypeIsSignless(self.raw()))
        }
    }

    /// Whether it is a float type.
    pub fn is_float(self) -> bool {
        // SAFETY: the type is live.
        unsafe { mlir_sys::mlirTypeIsAFloat(self.raw()) }
    }

    /// Bits of an integer or float type.
    pub fn bit_width(self) -> Option<u32> {
        // SAFETY: each reader is guarded by its own test.
        unsafe {
            if mlir_sys::mlirTypeIsAInteger(self.raw()) {
                Some(mlir_sys::mlirIntegerTypeGetWidth(self.raw()))
            } else if mlir_sys::mlirTypeIsAFloat(self.raw()) {
                Some(mlir_sys::mlirFloatTypeGetWidth(self.raw()))
            } else {
                None
            }
        }
    }

    /// Bytes of one element of an integer or float type.
    pub fn byte_width(self) -> Option<i64> {
        self.bit_width().map(|bits| i64::from(bits.div_ceil(8)))
    }

    /// Element type of a shaped type.
    ///
    /// # Panics
    /// Panics on a type without elements.
    pub fn element(self) -> Type {
        // SAFETY: guarded by the test.
        unsafe {
            assert!(
                mlir_sys::mlirTypeIsAShaped(self.raw()),
                "{self} has no elements"
            );
            Type(mlir_sys::mlirShapedTypeGetElementType(self.raw()))
        }
    }

    /// Shape of a ranked shaped type; `None` marks a dynamic extent.
    ///
    /// # Panics
    /// Panics on a type without shape.
    pub fn shape(self) -> Vec<Option<i64>> {
        // SAFETY: guarded by the test; the index is below the rank.
        unsafe {
            assert!(
                mlir_sys::mlirTypeIsAShaped(self.raw()),
                "{self} has no shape"
            );
            (0..mlir_sys::mlirShapedTypeGetRank(self.raw()) as isize)
                .map(|dim| {
                    (!mlir_sys::mlirShapedTypeIsDynamicDim(self.raw(), dim))
                        .then(|| mlir_sys::mlirShapedTypeGetDimSize(self.raw(), dim))
                })
                .collect()
        }
    }

    /// Shape of a type whose extents are all static.
    pub fn static_shape(self) -> Vec<i64> {
        self.shape()
            .into_iter()
            .map(|extent| extent.unwrap_or(0))
            .collect()
    }

    /// Number of bytes of a tile (a ranked tensor type of static shape).
    pub fn tile_bytes(self) -> i64 {
        self.static_shape().iter().product::<i64>() * self.element().byte_width().unwrap_or(0)
    }

    /// Strides and offset of a memref, in elements; the outer `None` means that its
    /// layout is not strided, an inner one that the value is dynamic.
    pub fn strides_and_offset(self) -> Option<(Vec<Option<i64>>, Option<i64>)> {
        let rank = self.shape().len();
        let mut strides = vec![0_i64; rank];
        let mut offset = 0_i64;
        // SAFETY: the buffer has one element per dimension.
        let result = unsafe {
            mlir_sys::mlirMemRefTypeGetStridesAndOffset(
                self.raw(),
                strides.as_mut_ptr(),
                &raw mut offset,
            )
        };
        // SAFETY: a constant function.
        let dynamic = unsafe { mlir_sys::mlirShapedTypeGetDynamicStrideOrOffset() };
        let known = |value: i64| (value != dynamic).then_some(value);
        (result.value != 0).then(|| (strides.into_iter().map(known).collect(), known(offset)))
    }

    /// Number of inputs of a builtin function type; 0 for any other type.
    pub fn function_input_count(self) -> usize {
        // SAFETY: guarded by the test.
        unsafe {
            if mlir_sys::mlirTypeIsAFunction(self.raw()) {
                mlir_sys::mlirFunctionTypeGetNumInputs(self.raw()) as usize
            } else {
                0
            }
        }
    }

    /// Whether a memref has the row-major layout that follows from its sizes.
    pub fn has_identity_layout(self) -> bool {
        // SAFETY: the type is a memref; an affine map is asked for only where there is one.
        unsafe {
            let layout = mlir_sys::mlirMemRefTypeGetLayout(self.raw());
            mlir_sys::mlirAttributeIsAAffineMap(layout)
                && mlir_sys::mlirAffineMapIsIdentity(mlir_sys::mlirAffineMapAttrGetValue(layout))
        }
    }

    /// Memory space of a memref, printed; empty for the default.
    pub fn memory_space(self) -> String {
        // SAFETY: the type is a memref.
        let space = unsafe { mlir_sys::mlirMemRefTypeGetMemorySpace(self.raw()) };
        Attr::optional(space)
            .map(|space| space.to_string())
            .unwrap_or_default()
    }

    /// Whether it is a memref in `#gpu.address_space<workgroup>`.
    pub fn is_workgroup_memref(self) -> bool {
        self.is_memref() && self.memory_space() == "#gpu.address_space<workgroup>"
    }

    /// Whether it is a memref in global memory: the default space or
    /// `#gpu.address_space<global>`.
    pub fn is_global_memref(self) -> bool {
        self.is_memref()
            && matches!(
                self.memory_space().as_str(),
                "" | "#gpu.address_space<global>" | "1 : i64"
            )
    }

    /// The memref type with another memory space.
    pub fn with_memory_space(self, space: Attr) -> Type {
        // SAFETY: the type is a memref.
        unsafe {
            let layout = mlir_sys::mlirMemRefTypeGetLayout(self.raw());
            let shape: Vec<i64> = (0..mlir_sys::mlirShapedTypeGetRank(self.raw()) as isize)
                .map(|dim| mlir_sys::mlirShapedTypeGetDimSize(self.raw(), dim))
                .collect();
            Type(mlir_sys::mlirMemRefTypeGet(
                self.element().raw(),
                shape.len() as isize,
                shape.as_ptr(),
                layout,
                space.raw(),
            ))
        }
    }
}

impl Ctx {
    /// The `index` type.
    pub fn index(self) -> Type {
        // SAFETY: the context is live.
        Type(unsafe { mlir_sys::mlirIndexTypeGet(self.raw()) })
    }

    /// A signless integer type.
    pub fn int(self, bits: u32) -> Type {
        // SAFETY: the context is live.
        Type(unsafe { mlir_sys::mlirIntegerTypeGet(self.raw(), bits) })
    }

    /// `i1`
    pub fn i1(self) -> Type {
        self.int(1)
    }

    /// `i32`
    pub fn i32(self) -> Type {
        self.int(32)
    }

    /// `i64`
    pub fn i64(self) -> Type {
        self.int(64)
    }

    /// `!llvm.ptr<space>`
    pub fn ptr(self, space: u32) -> Type {
        // SAFETY: the context is live and has the LLVM dialect.
        Type(unsafe { mlir_sys::mlirLLVMPointerTypeGet(self.raw(), space) })
    }

    /// A literal LLVM struct type.
    pub fn llvm_struct(self, fields: &[Type]) -> Type {
        let raw: Vec<_> = fields.iter().map(|field| field.raw()).collect();
        // SAFETY: the array has as many elements as announced.
        Type(unsafe {
            mlir_sys::mlirLLVMStructTypeLiteralGet(
                self.raw(),
                raw.len() as isize,
                raw.as_ptr(),
                false,
            )
        })
    }

    /// An LLVM array type.
    pub fn llvm_array(self, element: Type, count: u32) -> Type {
        // SAFETY: the element type is live.
        Type(unsafe { mlir_sys::mlirLLVMArrayTypeGet(element.raw(), count) })
    }

    /// The LLVM void type.
    pub fn llvm_void(self) -> Type {
        // SAFETY: the context is live.
        Type(unsafe { mlir_sys::mlirLLVMVoidTypeGet(self.raw()) })
    }

    /// An LLVM function type.
    pub fn llvm_function(self, result: Type, arguments: &[Type]) -> Type {
        let raw: Vec<_> = arguments.iter().map(|argument| argument.raw()).collect();
        // SAFETY: the array has as many elements as announced.
        Type(unsafe {
            mlir_sys::mlirLLVMFunctionTypeGet(result.raw(), raw.len() as isize, raw.as_ptr(), false)
        })
    }

    /// A vector of rank 1.
    pub fn vector(self, elements: i64, element: Type) -> Type {
        // SAFETY: the shape array is as long as announced.
        Type(unsafe { mlir_sys::mlirVectorTypeGet(1, &raw const elements, element.raw()) })
    }

    /// A tile: a ranked tensor type of static shape.
    pub fn tile(self, shape: &[i64], element: Type) -> Type {
        // SAFETY: the shape array is as long as announced.
        Type(unsafe {
            mlir_sys::mlirRankedTensorTypeGet(
                shape.len() as isize,
                shape.as_ptr(),
                element.raw(),
                mlir_sys::mlirAttributeGetNull(),
            )
        })
    }

    /// A memref in workgroup memory with the shape of a tile.
    pub fn workgroup_memref(self, tile: Type) -> Type {
        self.workgroup_memref_of(&tile.static_shape(), tile.element())
    }

    /// A memref in workgroup memory.
    pub fn workgroup_memref_of(self, shape: &[i64], element: Type) -> Type {
        let space = self
            .parse_attr("#gpu.address_space<workgroup>")
            .expect("the gpu dialect is loaded with ours");
        // SAFETY: the shape array is as long as announced.
        Type(unsafe {
            mlir_sys::mlirMemRefTypeContiguousGet(
                element.raw(),
                shape.len() as isize,
                shape.as_ptr(),
                space.raw(),
            )
        })
    }

    /// `!async_pipeline.mbarrier<stages>`
    pub fn mbarrier(self, stages: i64) -> Type {
        // SAFETY: the dialect is loaded.
        Type(unsafe { ffi::apMBarrierTypeGet(self.raw(), stages) })
    }

    /// `!async_pipeline.buffer<stages, tile, swizzle>`; swizzle 0 is none.
    pub fn buffer(self, stages: i64, tile: Type, swizzle: i64) -> Type {
        // SAFETY: the dialect is loaded.
        Type(unsafe { ffi::apBufferTypeGet(self.raw(), stages, tile.raw(), swizzle) })
    }

    /// `!async_pipeline.tensor_map<tile, swizzle>`; swizzle 0 is none.
    pub fn tensor_map(self, tile: Type, swizzle: i64) -> Type {
        // SAFETY: the dialect is loaded.
        Type(unsafe { ffi::apTensorMapTypeGet(self.raw(), tile.raw(), swizzle) })
    }

    /// `!async_pipeline.tmem<columns>`
    pub fn tmem(self, columns: i64) -> Type {
        // SAFETY: the dialect is loaded.
        Type(unsafe { ffi::apTmemTypeGet(self.raw(), columns) })
    }
}
