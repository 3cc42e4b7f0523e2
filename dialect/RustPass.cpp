// A pass whose name, options and body come from Rust, and the named pipeline.

#include "AsyncPipeline.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

extern "C" {
struct ApOption {
  MlirStringRef name, description, defaultValue;
};
}

namespace {
struct OptionSpec {
  std::string name, description, defaultValue;
};

struct PassSpec {
  size_t id;
  std::string argument, description;
  std::vector<OptionSpec> options;
};

class RustPass : public Pass {
public:
  explicit RustPass(std::shared_ptr<const PassSpec> spec)
      : Pass(TypeID::get<RustPass>(), ModuleOp::getOperationName()),
        spec(std::move(spec)) {
    addOptions();
  }
  RustPass(const RustPass &other) : Pass(other), spec(other.spec) { addOptions(); }

  StringRef getName() const override { return spec->argument; }
  StringRef getArgument() const override { return spec->argument; }
  StringRef getDescription() const override { return spec->description; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, cf::ControlFlowDialect, gpu::GPUDialect,
                    LLVM::LLVMDialect, NVVM::NVVMDialect, memref::MemRefDialect,
                    scf::SCFDialect, vector::VectorDialect,
                    async_pipeline::AsyncPipelineDialect>();
  }
  bool canScheduleOn(RegisteredOperationName name) const override {
    return name.getStringRef() == ModuleOp::getOperationName();
  }
  std::unique_ptr<Pass> clonePass() const override {
    return std::make_unique<RustPass>(*this);
  }
  void runOnOperation() override {
    SmallVector<MlirStringRef> values;
    for (auto &option : options)
      values.push_back(wrap(StringRef(option->getValue())));
    if (!apHooks().runPass(spec->id, wrap(getOperation()), values.data(), values.size()))
      signalPassFailure();
  }

private:
  void addOptions() {
    for (const OptionSpec &option : spec->options)
      options.push_back(std::make_unique<Option<std::string>>(
          *this, option.name, llvm::cl::desc(option.description),
          llvm::cl::init(option.defaultValue)));
  }
  std::shared_ptr<const PassSpec> spec;
  std::vector<std::unique_ptr<Option<std::string>>> options;
};

/// Options of the named pipeline; which there are is decided in Rust.
struct PipelineOptions : public PassPipelineOptions<PipelineOptions> {
  static std::vector<OptionSpec> specs;
  PipelineOptions() {
    for (const OptionSpec &option : specs)
      options.push_back(std::make_unique<Option<std::string>>(
          *this, option.name, llvm::cl::desc(option.description),
          llvm::cl::init(option.defaultValue)));
  }
  std::vector<std::unique_ptr<Option<std::string>>> options;
};
std::vector<OptionSpec> PipelineOptions::specs;

std::vector<OptionSpec> toSpecs(const ApOption *options, size_t count) {
  std::vector<OptionSpec> specs;
  for (const ApOption &option : ArrayRef(options, count))
    specs.push_back({unwrap(option.name).str(), unwrap(option.description).str(),
                     unwrap(option.defaultValue).str()});
  return specs;
}
} // namespace

extern "C" {
void apRegisterPass(size_t id, MlirStringRef argument, MlirStringRef description,
                    const ApOption *options, size_t optionCount) {
  auto spec = std::make_shared<const PassSpec>(PassSpec{id, unwrap(argument).str(),
                                                        unwrap(description).str(),
                                                        toSpecs(options, optionCount)});
  registerPass([spec] { return std::make_unique<RustPass>(spec); });
}

void apRegisterPipeline(MlirStringRef argument, MlirStringRef description,
                        const ApOption *options, size_t optionCount) {
  PipelineOptions::specs = toSpecs(options, optionCount);
  static std::string name = unwrap(argument).str(), text = unwrap(description).str();
  PassPipelineRegistration<PipelineOptions>(
      name, text, [](OpPassManager &manager, const PipelineOptions &options) {
        SmallVector<MlirStringRef> values;
        for (auto &option : options.options)
          values.push_back(wrap(StringRef(option->getValue())));
        std::string pipeline;
        auto append = [](MlirStringRef text, void *out) {
          static_cast<std::string *>(out)->append(text.data, text.length);
        };
        auto report = [](MlirStringRef text, void *) {
          llvm::errs() << "error: " << unwrap(text) << "\n";
        };
        // A pipeline builder cannot fail; a pass that always fails stands in.
        if (!apHooks().pipeline(values.data(), values.size(), report, append,
                                &pipeline) ||
            failed(parsePassPipeline(pipeline, manager)))
          (void)parsePassPipeline("async-pipeline-refuse", manager);
      });
}

/// What `mlirTranslateModuleToLLVMIR` needs for the dialects we end in.
void apRegisterTranslations(MlirDialectRegistry registryHandle) {
  DialectRegistry &registry = *unwrap(registryHandle);
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

/// The upstream passes that our pipelines name, and the general ones a user expects.
void apRegisterUpstreamPasses() {
  registerTransformsPasses();
  // One by one: the header that registers every conversion takes longer to compile
  // than the rest of the shim.
  registerPass([] { return createSCFToControlFlowPass(); });
  registerPass([] { return createConvertVectorToLLVMPass(); });
  registerPass([] { return createConvertVectorToSCFPass(); });
  registerPass([] { return createFinalizeMemRefToLLVMConversionPass(); });
  registerPass([] { return createArithToLLVMConversionPass(); });
  registerPass([] { return createConvertIndexToLLVMPass(); });
  registerPass([] { return createConvertControlFlowToLLVMPass(); });
  registerPass([] { return createConvertMathToLLVMPass(); });
  registerPass([] { return createUBToLLVMConversionPass(); });
  registerPass([] { return createReconcileUnrealizedCastsPass(); });
  registerPass([] { return createLowerAffinePass(); });
  memref::registerExpandStridedMetadataPass();
  arith::registerArithExpandOpsPass();
  LLVM::registerDIScopeForLLVMFuncOpPass();
}
}
