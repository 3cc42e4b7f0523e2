#!/usr/bin/env python3
"""Runs the code blocks of README.md.

`sh` blocks run from the repository root with the built tools on PATH, except the
verb that runs this script. The `mlir` block is compiled for
every target; each line of the `mlir-after` block but `...` must be found, in order,
in what the named pass makes of it. `rust` blocks are doc tests of the library.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OPT = ROOT / "target/debug/pipeline-opt"
NOT_HERE = {"./dev test"}


def run(command, **kwargs):
    result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, **kwargs)
    if result.returncode:
        sys.exit(f"README: {command} fails with {result.returncode}:\n{result.stdout}{result.stderr}")
    return result.stdout


def main() -> None:
    text = (ROOT / "README.md").read_text()
    if len(text.splitlines()) > 150:
        sys.exit(f"README.md has {len(text.splitlines())} lines, at most 150 are wanted")
    blocks = re.findall(r"^```(\S+)\n(.*?)^```$", text, re.M | re.S)
    kinds = {kind for kind, _ in blocks}
    unknown = kinds - {"sh", "mlir", "mlir-after", "rust"}
    if unknown or not {"sh", "mlir", "mlir-after", "rust"} <= kinds:
        sys.exit(f"README: code blocks of kinds {sorted(kinds)}; each kind must be known and there")
    environment = dict(os.environ, PATH=f"{ROOT}/target/debug:{os.environ['PATH']}")
    kernel = ""
    for kind, body in blocks:
        if kind == "sh":
            for line in body.splitlines():
                command = line.split("#")[0].strip()
                if command and command not in NOT_HERE:
                    run(["bash", "-c", command], env=environment)
        elif kind == "mlir":
            kernel = body
            for target in ("sm_80", "sm_90a", "sm_100a"):
                run([OPT, "-", f"--target={target}", "--emit=ptx", "-o", "-"], input=body)
        elif kind == "mlir-after":
            passes = ["--async-pipeline-insert-barriers=target=sm_90a", "--canonicalize", "--cse"]
            made = [line.strip() for line in run([OPT, "-", *passes], input=kernel).splitlines()]
            at = 0
            for line in (line.strip() for line in body.splitlines()):
                if line == "...":
                    continue
                if line not in made[at:]:
                    sys.exit(f"README: the pass does not print: {line}")
                at = made.index(line, at) + 1
    print(f"README: {len(blocks)} code blocks checked")


if __name__ == "__main__":
    main()
