// The command line: mlir-opt's driver, and beside it `--emit` for what MLIR cannot print.

#include "AsyncPipeline.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/AsmState.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/Timing.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
namespace cl = llvm::cl;

namespace {
/// Reads the input and refuses what must not reach the parser.
std::unique_ptr<llvm::MemoryBuffer> readInput(StringRef inputFilename) {
  std::string message;
  auto file = openInputFile(inputFilename, &message);
  if (!file) {
    llvm::errs() << "error: " << message << "\n";
    return nullptr;
  }
  size_t line = 0, column = 0;
  auto sink = [](MlirStringRef text, void *out) {
    static_cast<std::string *>(out)->assign(text.data, text.length);
  };
  if (apHooks().checkText(wrap(file->getBuffer()), &line, &column, sink, &message))
    return file;
  llvm::errs() << file->getBufferIdentifier() << ":" << line << ":" << column
               << ": error: " << message << "\n";
  return nullptr;
}

/// mlir-opt, on text that has been checked.
LogicalResult optimise(int argc, char **argv, StringRef inputFilename,
                       StringRef outputFilename, DialectRegistry &registry) {
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses() ||
      config.shouldRunReproducer())
    return MlirOptMain(argc, argv, inputFilename, outputFilename, registry);
  auto file = readInput(inputFilename);
  if (!file)
    return failure();
  std::string message;
  auto output = openOutputFile(outputFilename, &message);
  if (!output) {
    llvm::errs() << "error: " << message << "\n";
    return failure();
  }
  if (failed(MlirOptMain(output->os(), std::move(file), registry, config)))
    return failure();
  output->keep();
  return success();
}

/// One module, the given pass pipeline (else the named one), then the back end.
LogicalResult emit(StringRef kind, StringRef inputFilename, StringRef outputFilename,
                   StringRef pipeline, ArrayRef<MlirStringRef> options,
                   DialectRegistry &registry) {
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (!config.inputSplitMarker().empty() || config.shouldVerifyDiagnostics()) {
    llvm::errs()
        << "error: --split-input-file and --verify-diagnostics need --emit=mlir\n";
    return failure();
  }
  auto file = readInput(inputFilename);
  if (!file)
    return failure();
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(file), SMLoc());

  DefaultTimingManager timing;
  applyDefaultTimingManagerCLOptions(timing);
  TimingScope scope = timing.getRootScope();

  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects(false);
  SourceMgrDiagnosticHandler handler(*sources, &context);
  TimingScope parsing = scope.nest("Parser");
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  parsing.stop();
  if (!module)
    return failure();
  // A module that the parser made up stands at line 0, where no editor can go.
  if (auto place = dyn_cast<FileLineColLoc>(module->getLoc());
      place && place.getLine() == 0)
    (*module)->setLoc(FileLineColLoc::get(&context, inputFilename, 1, 1));

  PassManager manager(&context, ModuleOp::getOperationName());
  if (failed(applyPassManagerCLOptions(manager)))
    return failure();
  manager.enableTiming(scope);
  manager.enableVerifier(config.shouldVerifyPasses());
  if (failed(config.setupPassPipeline(manager)))
    return failure();
  if (manager.empty() && failed(parsePassPipeline(pipeline, manager)))
    return failure();
  if (failed(manager.run(*module)))
    return failure();
  TimingScope backEnd = scope.nest("Back end");
  return success(apHooks().emitModule(wrap(module->getOperation()), wrap(kind),
                                      wrap(outputFilename), options.data(),
                                      options.size()));
}
} // namespace

extern "C" {
/// Runs the tool; `emitOptions` names the options that go to the pipeline and the
/// back end. Returns the process's exit code.
int apDriverMain(int argc, char **argv, MlirDialectRegistry registryHandle,
                 MlirStringRef pipelineName, const MlirStringRef *names,
                 const MlirStringRef *descriptions, const bool *inPipeline,
                 size_t optionCount) {
  llvm::InitLLVM init(argc, argv);
  DialectRegistry &registry = *unwrap(registryHandle);

  static cl::OptionCategory category("async-pipeline options");
  cl::opt<std::string> kind(
      "emit", cl::init("mlir"), cl::cat(category),
      cl::value_desc("mlir|nvvm|llvm|ptx|cubin"),
      cl::desc("What to write. Other than mlir, the given pass pipeline, else "
               "async-pipeline-compile, runs on one module first"));
  std::vector<std::string> optionNames, optionTexts;
  std::vector<std::unique_ptr<cl::opt<std::string>>> opts;
  for (size_t i = 0; i < optionCount; ++i) {
    optionNames.push_back(unwrap(names[i]).str());
    optionTexts.push_back(unwrap(descriptions[i]).str());
  }
  for (size_t i = 0; i < optionCount; ++i)
    opts.push_back(std::make_unique<cl::opt<std::string>>(
        StringRef(optionNames[i]), cl::desc(optionTexts[i]), cl::cat(category),
        cl::ValueOptional, cl::init("")));

  auto [input, output] = registerAndParseCLIOptions(
      argc, argv, "async-pipeline optimizer driver\n", registry);
  const StringRef kinds[] = {"mlir", "nvvm", "llvm", "ptx", "cubin"};
  if (!llvm::is_contained(kinds, kind.getValue())) {
    llvm::errs() << "error: expected --emit to be mlir, nvvm, llvm, ptx or cubin, got '"
                 << kind << "'\n";
    return 1;
  }
  if (kind == "mlir") {
    for (auto &option : opts)
      if (option->getNumOccurrences()) {
        llvm::errs() << "error: --" << option->ArgStr
                     << " needs --emit=nvvm, llvm, ptx or cubin; "
                     << "give it to the pass, as in --" << unwrap(pipelineName) << "=\""
                     << option->ArgStr << "=...\"\n";
        return 1;
      }
    return failed(optimise(argc, argv, input, output, registry));
  }

  std::string pipeline = unwrap(pipelineName).str() + "{";
  SmallVector<MlirStringRef> values;
  SmallVector<std::string> storage;
  storage.reserve(opts.size());
  for (size_t i = 0; i < opts.size(); ++i) {
    // A flag without a value means true.
    bool bare = opts[i]->getNumOccurrences() && opts[i]->getValue().empty();
    storage.push_back(bare ? "true" : opts[i]->getValue());
    values.push_back(wrap(StringRef(storage.back())));
    if (inPipeline[i] && !storage.back().empty()) {
      if (StringRef(storage.back()).find_first_of("{}\"' ") != StringRef::npos) {
        llvm::errs() << "error: --" << optionNames[i] << ": bad value '" << storage.back()
                     << "'\n";
        return 1;
      }
      pipeline += optionNames[i] + "=" + storage.back() + " ";
    }
  }
  pipeline += "}";
  return failed(emit(kind, input, output, pipeline, values, registry));
}

/// Runs a textual pass pipeline on a module; errors in the text go to `sink`.
bool apRunPipeline(MlirOperation module, MlirStringRef pipeline, ApTextSink sink,
                   void *context) {
  Operation *op = unwrap(module);
  PassManager manager(op->getContext(), op->getName().getStringRef());
  // The verify passes of the pipeline verify every op at the end of each level; to do so
  // behind every pass takes longer than the passes themselves.
#ifdef AP_VERIFY_EACH
  manager.enableVerifier(true);
#else
  manager.enableVerifier(false);
#endif
  std::string message;
  llvm::raw_string_ostream stream(message);
  if (failed(parsePassPipeline(unwrap(pipeline), manager, stream))) {
    sink(wrap(StringRef(message)), context);
    return false;
  }
  return succeeded(manager.run(op));
}

/// Emits an error with an optional note (`noteText` empty: none).
void apEmitError(MlirLocation location, MlirStringRef text, MlirLocation noteLocation,
                 MlirStringRef noteText) {
  InFlightDiagnostic diagnostic = emitError(unwrap(location)) << unwrap(text);
  if (noteText.length)
    diagnostic.attachNote(unwrap(noteLocation)) << unwrap(noteText);
}
void apEmitRemark(MlirLocation location, MlirStringRef text) {
  emitRemark(unwrap(location)) << unwrap(text);
}
void apEmitWarning(MlirLocation location, MlirStringRef text) {
  emitWarning(unwrap(location)) << unwrap(text);
}
/// Verifies an op and everything nested in it.
bool apVerify(MlirOperation op) { return mlirOperationVerify(op); }
}
