"""The lit suite: MLIR, PTX and diagnostics in, text out.

    cargo build -p pipeline-opt -p pipeline-run
    /usr/lib/llvm-22/bin/lit -sv lit-tests

Where the tools are:

    ASYNC_PIPELINE_BIN     pipeline-opt and pipeline-run   (target/debug)
    ASYNC_PIPELINE_TOOLS   ptxas and nvdisasm              (target/tools/python/nvidia/cu13/bin)
    MLIR_SYS_220_PREFIX    LLVM 22                         (/usr/lib/llvm-22)

Output goes to target/lit, or to the folder that `--param out=FOLDER` names.
"""

import os
import sys

import lit.formats

config.name = "async-pipeline"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(os.path.abspath(__file__))

repository = os.path.dirname(config.test_source_root)
target = os.path.join(repository, "target")
config.test_exec_root = os.path.abspath(lit_config.params.get("out", os.path.join(target, "lit")))


def folder(variable, default):
    return os.path.abspath(os.environ.get(variable, default))


binaries = folder("ASYNC_PIPELINE_BIN", os.path.join(target, "debug"))
nvidia = folder("ASYNC_PIPELINE_TOOLS", os.path.join(target, "tools", "python", "nvidia", "cu13", "bin"))
llvm = os.path.join(os.environ.get("MLIR_SYS_220_PREFIX", "/usr/lib/llvm-22"), "bin")


def substitute(word, text):
    # A whole word, and no part of a path or an option.
    config.substitutions.append((rf"(?<![\w./-]){word}(?![\w./-])", text))


for where, names in [
    (binaries, ["pipeline-opt", "pipeline-run"]),
    (llvm, ["FileCheck", "not", "split-file"]),
]:
    for name in names:
        path = os.path.join(where, name)
        if not os.path.exists(path):
            lit_config.fatal(f"{name} is not in {where}")
        substitute(name, path)

# Everything that can be said without NVIDIA's tools is tested without them.
for name in ["ptxas", "nvdisasm"]:
    path = os.path.join(nvidia, name)
    if os.path.exists(path):
        config.available_features.add(name)
        config.substitutions.append((f"%{{{name}}}", path))
        substitute(name, path)
    else:
        lit_config.warning(f"{name} is not in {nvidia}: tests that need it are not run")

runner = os.path.join(config.test_source_root, "bad-inputs", "run.py")
substitute("bad-input", f"{sys.executable} {runner} {os.path.join(binaries, 'pipeline-opt')}")
config.substitutions.append(("%python", sys.executable))
config.substitutions.append(("%examples", os.path.join(repository, "examples")))

if "BLESS" in os.environ:
    config.environment["BLESS"] = os.environ["BLESS"]
