// Types, attributes and the trampolines from generated verifiers into Rust.

#include "AsyncPipeline.h"
#include "mlir-c/Support.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/CAPI/Support.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace async_pipeline;

#include "AsyncPipelineDialect.cpp.inc"

static ApHooks hooks;
const ApHooks &apHooks() { return hooks; }
extern "C" void apSetHooks(const ApHooks *value) { hooks = *value; }

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// A tile is kept as a ranked tensor type: shape and element type, nothing else.
static ParseResult parseTile(AsmParser &parser, Type &tile) {
  SmallVector<int64_t> shape;
  Type element;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(element))
    return failure();
  if (shape.empty())
    return parser.emitError(loc, "expected a tile such as 64x64xf16");
  if (!element.isIntOrFloat())
    return parser.emitError(loc, "expected an integer or float element type, got ")
           << element;
  tile = RankedTensorType::get(shape, element);
  return success();
}

static void printTile(AsmPrinter &printer, Type tile) {
  auto tensor = cast<RankedTensorType>(tile);
  printer.printDimensionList(tensor.getShape());
  printer << "x" << tensor.getElementType();
}

static LogicalResult verifyTile(function_ref<InFlightDiagnostic()> emitError, Type tile) {
  auto tensor = dyn_cast<RankedTensorType>(tile);
  if (!tensor || !tensor.hasStaticShape() || !tensor.getElementType().isIntOrFloat())
    return emitError() << "expected a tile of static shape, got " << tile;
  if (tensor.getRank() < 1 || tensor.getRank() > 5)
    return emitError() << "expected a tile of rank 1 to 5, got rank " << tensor.getRank();
  unsigned bits = tensor.getElementType().getIntOrFloatBitWidth();
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64)
    return emitError() << "expected elements of 8, 16, 32 or 64 bits, got "
                       << tensor.getElementType();
  // 2^28 bytes is far above any shared memory and keeps byte arithmetic in range.
  uint64_t bytes = bits / 8;
  for (int64_t extent : tensor.getShape()) {
    if (extent < 1)
      return emitError() << "expected tile extents of at least 1, got " << extent;
    if ((bytes *= uint64_t(extent)) > (uint64_t(1) << 28) || extent > (1 << 28))
      return emitError() << "expected a tile of at most 2^28 bytes";
  }
  return success();
}

static ParseResult parseTiles(AsmParser &parser, SmallVector<Type> &tiles) {
  // Not with a delimiter: MLIR 22 calls a missing `<` a success behind its error.
  if (parser.parseLess())
    return failure();
  if (succeeded(parser.parseOptionalGreater()))
    return success();
  return failure(failed(parser.parseCommaSeparatedList(
                     [&] { return parseTile(parser, tiles.emplace_back()); })) ||
                 failed(parser.parseGreater()));
}

static void printTiles(AsmPrinter &printer, ArrayRef<Type> tiles) {
  printer << "<";
  llvm::interleaveComma(tiles, printer, [&](Type tile) { printTile(printer, tile); });
  printer << ">";
}

static LogicalResult verifyTiles(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<Type> tiles) {
  if (tiles.empty() || tiles.size() > 16)
    return emitError() << "expected 1 to 16 fields, got " << tiles.size();
  for (Type tile : tiles)
    if (failed(verifyTile(emitError, tile)))
      return failure();
  return success();
}

#define FIELDS_TYPE(NAME)                                                                \
  Type NAME::parse(AsmParser &parser) {                                                  \
    SmallVector<Type> fields;                                                            \
    SMLoc loc = parser.getCurrentLocation();                                             \
    if (parseTiles(parser, fields))                                                      \
      return {};                                                                         \
    return NAME::getChecked([&] { return parser.emitError(loc); }, parser.getContext(),  \
                            fields);                                                     \
  }                                                                                      \
  void NAME::print(AsmPrinter &printer) const { printTiles(printer, getFields()); }      \
  LogicalResult NAME::verify(function_ref<InFlightDiagnostic()> emitError,               \
                             ArrayRef<Type> fields) {                                    \
    return verifyTiles(emitError, fields);                                               \
  }
FIELDS_TYPE(ChannelType)
FIELDS_TYPE(SlotType)
#undef FIELDS_TYPE

static LogicalResult verifyStages(function_ref<InFlightDiagnostic()> emitError,
                                  int64_t stages) {
  if (stages < 1 || stages > 1024)
    return emitError() << "expected 1 to 1024 stages, got " << stages;
  return success();
}

// By hand, like the other types: a generated parser adds an error of its own, with C++
// names.
Type MBarrierType::parse(AsmParser &parser) {
  int64_t stages;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseInteger(stages) || parser.parseGreater())
    return {};
  return MBarrierType::getChecked([&] { return parser.emitError(loc); },
                                  parser.getContext(), stages);
}
void MBarrierType::print(AsmPrinter &printer) const {
  printer << "<" << getStages() << ">";
}
LogicalResult MBarrierType::verify(function_ref<InFlightDiagnostic()> emitError,
                                   int64_t stages) {
  return verifyStages(emitError, stages);
}

/// Whether what comes next is a tile such as 64x64xf16, not a number of stages.
static bool startsWithTile(AsmParser &parser) {
  const char *text = parser.getCurrentLocation().getPointer();
  while (*text >= '0' && *text <= '9')
    ++text;
  return *text == 'x';
}

/// `, swizzle 128` behind a tile; 0 where there is none.
static ParseResult parseSwizzle(AsmParser &parser, int64_t &swizzle) {
  if (failed(parser.parseOptionalComma()))
    return success();
  return failure(parser.parseKeyword("swizzle") || parser.parseInteger(swizzle));
}

static void printSwizzle(AsmPrinter &printer, int64_t swizzle) {
  if (swizzle)
    printer << ", swizzle " << swizzle;
}

/// A row takes the span of the swizzle; with `boxes` also several of them, each a box.
static LogicalResult verifySwizzle(function_ref<InFlightDiagnostic()> emitError,
                                   Type tile, int64_t swizzle, bool boxes) {
  if (!swizzle)
    return success();
  if (swizzle != 32 && swizzle != 64 && swizzle != 128)
    return emitError() << "expected swizzle 32, 64 or 128, got " << swizzle;
  auto tensor = cast<RankedTensorType>(tile);
  int64_t bytes =
      tensor.getShape().back() * tensor.getElementType().getIntOrFloatBitWidth() / 8;
  if (bytes != swizzle && (!boxes || bytes % swizzle))
    return emitError() << "expected rows of " << (boxes ? "a multiple of " : "")
                       << swizzle << " bytes for swizzle " << swizzle << ", got "
                       << bytes;
  return success();
}

Type BufferType::parse(AsmParser &parser) {
  int64_t stages = 0, swizzle = 0;
  Type tile;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess())
    return {};
  if (!startsWithTile(parser) &&
      (parser.parseInteger(stages) || parser.parseComma() ||
       failed(verifyStages([&] { return parser.emitError(loc); }, stages))))
    return {};
  if (parseTile(parser, tile) || parseSwizzle(parser, swizzle) || parser.parseGreater())
    return {};
  return BufferType::getChecked([&] { return parser.emitError(loc); },
                                parser.getContext(), stages, tile, swizzle);
}
void BufferType::print(AsmPrinter &printer) const {
  printer << "<";
  if (getStages())
    printer << getStages() << ", ";
  printTile(printer, getTile());
  printSwizzle(printer, getSwizzle());
  printer << ">";
}
LogicalResult BufferType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t stages, Type tile, int64_t swizzle) {
  // Without stages it is a buffer of the tile level.
  if (!stages && swizzle)
    return emitError() << "expected stages for a buffer with a swizzle";
  return failure((stages && failed(verifyStages(emitError, stages))) ||
                 failed(verifyTile(emitError, tile)) ||
                 failed(verifySwizzle(emitError, tile, swizzle, /*boxes=*/true)));
}

Type TensorMapType::parse(AsmParser &parser) {
  Type box;
  int64_t swizzle = 0;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseTile(parser, box) || parseSwizzle(parser, swizzle) ||
      parser.parseGreater())
    return {};
  return TensorMapType::getChecked([&] { return parser.emitError(loc); },
                                   parser.getContext(), box, swizzle);
}
void TensorMapType::print(AsmPrinter &printer) const {
  printer << "<";
  printTile(printer, getBox());
  printSwizzle(printer, getSwizzle());
  printer << ">";
}
LogicalResult TensorMapType::verify(function_ref<InFlightDiagnostic()> emitError,
                                    Type box, int64_t swizzle) {
  if (failed(verifyTile(emitError, box)))
    return failure();
  auto tensor = cast<RankedTensorType>(box);
  for (int64_t extent : tensor.getShape())
    if (extent > 256)
      return emitError() << "expected box extents of at most 256, got " << extent;
  int64_t bytes =
      tensor.getShape().back() * tensor.getElementType().getIntOrFloatBitWidth() / 8;
  if (bytes % 16)
    return emitError()
           << "expected an innermost box extent of a multiple of 16 bytes, got " << bytes;
  return verifySwizzle(emitError, box, swizzle, /*boxes=*/false);
}

Type TmemType::parse(AsmParser &parser) {
  int64_t columns;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseInteger(columns) || parser.parseGreater())
    return {};
  return TmemType::getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                              columns);
}
void TmemType::print(AsmPrinter &printer) const { printer << "<" << getColumns() << ">"; }
LogicalResult TmemType::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t columns) {
  if (columns < 32 || columns > 512 || (columns & (columns - 1)))
    return emitError() << "expected a power of two from 32 to 512 columns, got "
                       << columns;
  return success();
}

Type AccumulatorType::parse(AsmParser &parser) {
  Type tile;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseTile(parser, tile) || parser.parseGreater())
    return {};
  return AccumulatorType::getChecked([&] { return parser.emitError(loc); },
                                     parser.getContext(), tile);
}
void AccumulatorType::print(AsmPrinter &printer) const {
  printer << "<";
  printTile(printer, getTile());
  printer << ">";
}
LogicalResult AccumulatorType::verify(function_ref<InFlightDiagnostic()> emitError,
                                      Type tile) {
  if (failed(verifyTile(emitError, tile)))
    return failure();
  auto tensor = cast<RankedTensorType>(tile);
  if (tensor.getRank() != 2)
    return emitError() << "expected an accumulator of rank 2, got rank "
                       << tensor.getRank();
  if (!tensor.getElementType().isF32())
    return emitError() << "expected an accumulator of f32, got "
                       << tensor.getElementType();
  return success();
}

Type WindowType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseDimensionList(shape) ||
      parser.parseType(element) || parser.parseGreater())
    return {};
  if (!element.isIntOrFloat()) {
    parser.emitError(loc, "expected an integer or float element type, got ") << element;
    return {};
  }
  return WindowType::getChecked([&] { return parser.emitError(loc); },
                                parser.getContext(),
                                RankedTensorType::get(shape, element));
}
void WindowType::print(AsmPrinter &printer) const {
  printer << "<";
  printTile(printer, getTensor());
  printer << ">";
}
LogicalResult WindowType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 Type tensor) {
  auto ranked = dyn_cast<RankedTensorType>(tensor);
  if (!ranked || !ranked.getElementType().isIntOrFloat())
    return emitError() << "expected a shape and an element type, got " << tensor;
  if (ranked.getRank() < 1 || ranked.getRank() > 5)
    return emitError() << "expected a window of rank 1 to 5, got rank "
                       << ranked.getRank();
  if (llvm::any_of(ranked.getShape(), ShapedType::isStatic))
    return emitError() << "expected `?` for every extent of a window";
  return success();
}

Type async_pipeline::slotOfChannel(Type channel) {
  if (auto type = dyn_cast_or_null<ChannelType>(channel))
    return SlotType::get(type.getContext(), type.getFields());
  return {};
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

Attribute GridAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> dims;
  SMLoc loc = parser.getCurrentLocation();
  auto parseDim = [&]() -> ParseResult {
    std::string text;
    if (parser.parseString(&text))
      return failure();
    dims.push_back(StringAttr::get(parser.getContext(), text));
    return success();
  };
  if (parser.parseLess() || parser.parseCommaSeparatedList(parseDim) ||
      parser.parseGreater())
    return {};
  return GridAttr::getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                              dims);
}
void GridAttr::print(AsmPrinter &printer) const {
  printer << "<";
  llvm::interleaveComma(getDims(), printer,
                        [&](StringAttr dim) { printer.printAttribute(dim); });
  printer << ">";
}

LogicalResult GridAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<StringAttr> dims) {
  if (dims.empty() || dims.size() > 3)
    return emitError() << "expected 1 to 3 grid expressions, got " << dims.size();
  for (StringAttr dim : dims) {
    std::string message;
    auto sink = [](MlirStringRef text, void *out) {
      static_cast<std::string *>(out)->assign(text.data, text.length);
    };
    if (!apHooks().verifyGrid(wrap(dim.getValue()), sink, &message))
      return emitError() << message;
  }
  return success();
}

LogicalResult AsyncPipelineDialect::verifyOperationAttribute(Operation *op,
                                                             NamedAttribute attribute) {
  return success(apHooks().verifyAttribute(
      wrap(op), -1, wrap(attribute.getName().getValue()), wrap(attribute.getValue())));
}

LogicalResult AsyncPipelineDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                             unsigned argument,
                                                             NamedAttribute attribute) {
  return success(apHooks().verifyAttribute(wrap(op), argument,
                                           wrap(attribute.getName().getValue()),
                                           wrap(attribute.getValue())));
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

#define GET_TYPEDEF_CLASSES
#include "AsyncPipelineTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "AsyncPipelineAttrs.cpp.inc"

/// A region whose parser fails behind a second block is destroyed while ops outside may
/// already refer to values in it; MLIR 22 drops such uses for the first block only.
static ParseResult parseBody(OpAsmParser &parser, Region &body) {
  if (succeeded(parser.parseRegion(body))) {
    // `{}` is a block without ops.
    if (body.empty())
      body.emplaceBlock();
    return success();
  }
  for (Block &block : body)
    block.dropAllDefinedValueUses();
  return failure();
}

static void printBody(OpAsmPrinter &printer, Operation *, Region &body) {
  printer.printRegion(body);
}

#define GET_OP_CLASSES
#include "AsyncPipelineOps.cpp.inc"

// `AsyncPipelineOpNames.inc` holds VERIFY(OpClass) for every op, written by the build
// script.
#define VERIFY(OP)                                                                       \
  LogicalResult OP::verify() { return success(apHooks().verifyOp(wrap(getOperation()))); }
#include "AsyncPipelineOpNames.inc"
#undef VERIFY

void AsyncPipelineDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "AsyncPipelineTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "AsyncPipelineAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "AsyncPipelineOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// C accessors
//===----------------------------------------------------------------------===//

extern "C" {
int apTypeKind(MlirType type) {
  return llvm::TypeSwitch<Type, int>(unwrap(type))
      .Case<ChannelType>([](auto) { return 1; })
      .Case<SlotType>([](auto) { return 2; })
      .Case<MBarrierType>([](auto) { return 3; })
      .Case<BufferType>([](auto) { return 4; })
      .Case<TensorMapType>([](auto) { return 5; })
      .Case<AccumulatorType>([](auto) { return 6; })
      .Case<WindowType>([](auto) { return 7; })
      .Case<TmemType>([](auto) { return 8; })
      .Default([](auto) { return 0; });
}
intptr_t apTypeFieldCount(MlirType type) {
  return llvm::TypeSwitch<Type, intptr_t>(unwrap(type))
      .Case<ChannelType, SlotType>([](auto t) { return t.getFields().size(); })
      .Case<BufferType, TensorMapType, AccumulatorType, WindowType>(
          [](auto) { return 1; })
      .Default([](auto) { return 0; });
}
MlirType apTypeField(MlirType type, intptr_t index) {
  return wrap(
      llvm::TypeSwitch<Type, Type>(unwrap(type))
          .Case<ChannelType, SlotType>([&](auto t) { return t.getFields()[index]; })
          .Case<BufferType, AccumulatorType>([](auto t) { return t.getTile(); })
          .Case<WindowType>([](auto t) { return t.getTensor(); })
          .Case<TensorMapType>([](auto t) { return t.getBox(); })
          .Default([](auto) { return Type(); }));
}
int64_t apTypeStages(MlirType type) {
  return llvm::TypeSwitch<Type, int64_t>(unwrap(type))
      .Case<MBarrierType, BufferType>([](auto t) { return t.getStages(); })
      .Default([](auto) { return 0; });
}
int64_t apTypeSwizzle(MlirType type) {
  return llvm::TypeSwitch<Type, int64_t>(unwrap(type))
      .Case<BufferType, TensorMapType>([](auto t) { return t.getSwizzle(); })
      .Default([](auto) { return 0; });
}
int64_t apTypeColumns(MlirType type) {
  auto tmem = dyn_cast<TmemType>(unwrap(type));
  return tmem ? tmem.getColumns() : 0;
}
MlirType apMBarrierTypeGet(MlirContext context, int64_t stages) {
  return wrap(MBarrierType::get(unwrap(context), stages));
}
MlirType apBufferTypeGet(MlirContext context, int64_t stages, MlirType tile,
                         int64_t swizzle) {
  return wrap(BufferType::get(unwrap(context), stages, unwrap(tile), swizzle));
}
MlirType apTensorMapTypeGet(MlirContext context, MlirType box, int64_t swizzle) {
  return wrap(TensorMapType::get(unwrap(context), unwrap(box), swizzle));
}
MlirType apTmemTypeGet(MlirContext context, int64_t columns) {
  return wrap(TmemType::get(unwrap(context), columns));
}
/// The grid's expressions: 1 to 3 for a grid attribute, 0 for any other.
intptr_t apGridDimCount(MlirAttribute attribute) {
  auto grid = dyn_cast<GridAttr>(unwrap(attribute));
  return grid ? grid.getDims().size() : 0;
}
MlirStringRef apGridDim(MlirAttribute attribute, intptr_t index) {
  return wrap(cast<GridAttr>(unwrap(attribute)).getDims()[index].getValue());
}
void apRegisterDialect(MlirDialectRegistry registry) {
  unwrap(registry)->insert<AsyncPipelineDialect>();
}
}
