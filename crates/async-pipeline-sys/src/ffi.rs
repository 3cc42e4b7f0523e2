//! Declarations of the C++ shim in `dialect/`.

use mlir_sys::{
    MlirAttribute, MlirContext, MlirDialectRegistry, MlirLocation, MlirOperation, MlirStringRef,
    MlirType,
};
use std::ffi::{c_char, c_int, c_void};

pub(crate) type TextSink = extern "C" fn(MlirStringRef, *mut c_void);

#[repr(C)]
pub(crate) struct ApHooks {
    pub(crate) verify_op: extern "C" fn(MlirOperation) -> bool,
    pub(crate) verify_attribute:
        extern "C" fn(MlirOperation, isize, MlirStringRef, MlirAttribute) -> bool,
    pub(crate) verify_grid: extern "C" fn(MlirStringRef, TextSink, *mut c_void) -> bool,
    pub(crate) check_text:
        extern "C" fn(MlirStringRef, *mut usize, *mut usize, TextSink, *mut c_void) -> bool,
    pub(crate) run_pass: extern "C" fn(usize, MlirOperation, *const MlirStringRef, usize) -> bool,
    pub(crate) pipeline:
        extern "C" fn(*const MlirStringRef, usize, TextSink, TextSink, *mut c_void) -> bool,
    pub(crate) emit_module: extern "C" fn(
        MlirOperation,
        MlirStringRef,
        MlirStringRef,
        *const MlirStringRef,
        usize,
    ) -> bool,
}

#[repr(C)]
pub(crate) struct ApOption {
    pub(crate) name: MlirStringRef,
    pub(crate) description: MlirStringRef,
    pub(crate) default_value: MlirStringRef,
}

unsafe extern "C" {
    pub(crate) fn apSetHooks(hooks: *const ApHooks);
    pub(crate) fn apRegisterDialect(registry: MlirDialectRegistry);
    pub(crate) fn apRegisterPass(
        id: usize,
        argument: MlirStringRef,
        description: MlirStringRef,
        options: *const ApOption,
        count: usize,
    );
    pub(crate) fn apRegisterPipeline(
        argument: MlirStringRef,
        description: MlirStringRef,
        options: *const ApOption,
        count: usize,
    );
    pub(crate) fn apRegisterUpstreamPasses();
    pub(crate) fn apRegisterTranslations(registry: MlirDialectRegistry);
    pub(crate) fn apRunPipeline(
        module: MlirOperation,
        pipeline: MlirStringRef,
        sink: TextSink,
        context: *mut c_void,
    ) -> bool;
    pub(crate) fn apDriverMain(
        argc: c_int,
        argv: *mut *mut c_char,
        registry: MlirDialectRegistry,
        pipeline: MlirStringRef,
        names: *const MlirStringRef,
        descriptions: *const MlirStringRef,
        in_pipeline: *const bool,
        count: usize,
    ) -> c_int;
    pub(crate) fn apEmitError(
        location: MlirLocation,
        text: MlirStringRef,
        note_location: MlirLocation,
        note: MlirStringRef,
    );
    pub(crate) fn apEmitRemark(location: MlirLocation, text: MlirStringRef);
    pub(crate) fn apEmitWarning(location: MlirLocation, text: MlirStringRef);
    pub(crate) fn apTypeKind(ty: MlirType) -> c_int;
    pub(crate) fn apTypeFieldCount(ty: MlirType) -> isize;
    pub(crate) fn apTypeField(ty: MlirType, index: isize) -> MlirType;
    pub(crate) fn apTypeStages(ty: MlirType) -> i64;
    pub(crate) fn apTypeSwizzle(ty: MlirType) -> i64;
    pub(crate) fn apTypeColumns(ty: MlirType) -> i64;
    pub(crate) fn apMBarrierTypeGet(context: MlirContext, stages: i64) -> MlirType;
    pub(crate) fn apBufferTypeGet(
        context: MlirContext,
        stages: i64,
        tile: MlirType,
        swizzle: i64,
    ) -> MlirType;
    pub(crate) fn apTensorMapTypeGet(
        context: MlirContext,
        tile: MlirType,
        swizzle: i64,
    ) -> MlirType;
    pub(crate) fn apTmemTypeGet(context: MlirContext, columns: i64) -> MlirType;
    pub(crate) fn apGridDimCount(attribute: MlirAttribute) -> isize;
    pub(crate) fn apGridDim(attribute: MlirAttribute, index: isize) -> MlirStringRef;
}
