#!/usr/bin/env python3
"""Runs the code blocks of README.md and of the guides.

`sh` blocks run from the repository root with the built tools on PATH, except the
verb that runs this script. The `mlir` block is compiled for
every target; each line of the `mlir-part` block is one of examples/gemm.mlir (`...` at its end
stands for the rest of the line); each line of the `mlir-after` block but `...` must be found, in order,
in what the named pass makes of it. `rust` blocks are doc tests of the library.

In the guides, `sh` blocks run in the same way, a command that has to fail says so
(`# exit code 1`), and a `text` block after one is what its last command prints. A `json`
block with the name of a file is that file. Other blocks are not looked at.
BLESS=1 writes the `text` blocks anew.
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


def check_guide(path: Path, environment) -> int:
    text = path.read_text()
    checked, printed = 0, None
    for match in list(re.finditer(r"^```(\w+)([^\n]*)\n(.*?)^```$", text, re.M | re.S)):
        kind, name, body = match[1], match[2].strip(), match[3]
        if kind == "sh":
            for line in body.splitlines():
                command, _, comment = line.partition("# exit code ")
                result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=ROOT, env=environment)
                printed = result.stdout
                if result.returncode != int(comment or 0):
                    sys.exit(f"{path}: {command} ends with {result.returncode}:\n{result.stdout}{result.stderr}")
        elif kind == "text" and printed is not None:
            # How many instructions a run takes depends on the schedule, and is nothing to promise.
            same = [re.sub(r"\d+ warp-instructions", "N warp-instructions", t) for t in (body, printed)]
            if body != printed and os.environ.get("BLESS"):
                path.write_text(path.read_text().replace(body, printed, 1))
            elif same[0] != same[1]:
                sys.exit(f"{path}: the guide says\n{body}and the command prints\n{printed}BLESS=1 tests/readme.py writes it anew")
        elif kind == "json" and name:
            if body != (ROOT / name).read_text():
                sys.exit(f"{path}: the block is not {name}")
        else:
            continue
        checked += 1
    return checked


def main() -> None:
    text = (ROOT / "README.md").read_text()
    if len(text.splitlines()) > 150:
        sys.exit(f"README.md has {len(text.splitlines())} lines, at most 150 are wanted")
    blocks = re.findall(r"^```(\S+)\n(.*?)^```$", text, re.M | re.S)
    kinds = {kind for kind, _ in blocks}
    if kinds != {"sh", "mlir", "mlir-part", "mlir-after", "rust"}:
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
        elif kind == "mlir-part":
            example = (ROOT / "examples/gemm.mlir").read_text()
            for line in body.splitlines():
                if line.strip().removesuffix(": ...").strip() not in example:
                    sys.exit(f"README: examples/gemm.mlir has no line: {line}")
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
    guides = sum(check_guide(path, environment) for path in sorted((ROOT / "docs/guides").glob("*.md")))
    print(f"guides: {guides} code blocks checked")


if __name__ == "__main__":
    main()
