// The dialect's C++ face: what mlir-tblgen generates, and the hooks through which
// verifiers and passes reach Rust.

#ifndef ASYNC_PIPELINE_H
#define ASYNC_PIPELINE_H

#include "mlir-c/IR.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace async_pipeline {
/// The slot type with the fields of a channel type; null for any other type.
mlir::Type slotOfChannel(mlir::Type channel);
} // namespace async_pipeline

#include "AsyncPipelineDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "AsyncPipelineTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "AsyncPipelineAttrs.h.inc"

#define GET_OP_CLASSES
#include "AsyncPipelineOps.h.inc"

extern "C" {
/// Receives a piece of text from Rust.
typedef void (*ApTextSink)(MlirStringRef text, void *context);

/// What Rust provides; set once, before the dialect is loaded. Each hook catches
/// panics on the Rust side and reports them as an internal error.
struct ApHooks {
  /// Verifies one op; emits diagnostics and returns false on failure.
  bool (*verifyOp)(MlirOperation op);
  /// Verifies a discardable dialect attribute on `op`, or on its entry argument
  /// `argument` when that is not negative.
  bool (*verifyAttribute)(MlirOperation op, intptr_t argument, MlirStringRef name,
                          MlirAttribute value);
  /// Checks a grid expression; hands an error message to `sink` and returns false.
  bool (*verifyGrid)(MlirStringRef text, ApTextSink sink, void *context);
  /// Checks a text before it is parsed; on failure hands over a place (from 1) and a
  /// message and returns false.
  bool (*checkText)(MlirStringRef text, size_t *line, size_t *column, ApTextSink sink,
                    void *context);
  /// Runs pass number `pass` with its option values in declaration order.
  bool (*runPass)(size_t pass, MlirOperation op, const MlirStringRef *options,
                  size_t optionCount);
  /// Appends the textual pass pipeline of `async-pipeline-compile` to `sink`.
  bool (*pipeline)(const MlirStringRef *options, size_t optionCount, ApTextSink error,
                   ApTextSink sink, void *context);
  /// Writes the lowered module as `kind` to `path` (`-` is standard output).
  bool (*emitModule)(MlirOperation module, MlirStringRef kind, MlirStringRef path,
                     const MlirStringRef *options, size_t optionCount);
};
}

/// The hooks in force.
const ApHooks &apHooks();

#endif
