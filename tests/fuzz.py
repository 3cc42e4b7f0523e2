#!/usr/bin/env python3
"""Mutates kernels and looks for crashes of pipeline-opt.

    tests/fuzz.py [--seconds N] [--seed N]

Every run must end with exit code 0 or 1 within ten seconds, never with a signal or an
internal error. Inputs that do are kept in target/fuzz and named.
"""

import argparse
import random
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OPT = ROOT / "target/debug/pipeline-opt"
NUMBERS = ["0", "1", "-1", "3", "64", "65", "255", "1048576", "2147483648", "9223372036854775807", "99999999999999999999"]


def mutate(text: str, chance: random.Random) -> str:
    lines = text.splitlines()
    for _ in range(chance.randint(1, 4)):
        if not lines:
            break
        at = chance.randrange(len(lines))
        match chance.randrange(7):
            case 0:
                del lines[at]
            case 1:
                lines.insert(chance.randrange(len(lines)), lines[at])
            case 2:
                other = chance.randrange(len(lines))
                lines[at], lines[other] = lines[other], lines[at]
            case 3:
                lines[at] = re.sub(r"\d+", lambda _: chance.choice(NUMBERS), lines[at], count=1)
            case 4:
                words = re.findall(r"%\w+", text)
                if words:
                    lines[at] = re.sub(r"%\w+", lambda _: chance.choice(words), lines[at], count=1)
            case 5:
                if lines[at]:
                    cut = chance.randrange(len(lines[at]))
                    lines[at] = lines[at][:cut] + chance.choice("{}()<>[]%:,@#\"x ") + lines[at][cut + chance.randint(0, 1):]
            case 6:
                types = re.findall(r"(?:memref|vector|!async_pipeline\.\w+)<[^<>]*>|\b(?:index|i32|i64|f32|f16)\b", text)
                if types:
                    lines[at] = re.sub(r"\b(?:index|i32|i64|f32)\b", lambda _: chance.choice(types), lines[at], count=1)
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    seeds = sorted([*ROOT.glob("examples/*.mlir"), *ROOT.glob("tests/gpu/*.mlir"), *ROOT.glob("lit-tests/**/*.mlir")])
    chance = random.Random(options.seed)
    found, runs, accepted = [], 0, 0
    (ROOT / "target/fuzz").mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + options.seconds
    while time.monotonic() < end:
        source = chance.choice(seeds)
        pieces = re.split(r"^// -----.*$", source.read_text(errors="replace"), flags=re.M)
        text = mutate(chance.choice(pieces), chance)
        target = chance.choice(["sm_80", "sm_90a", "sm_100a"])
        try:
            result = subprocess.run([OPT, "-", f"--target={target}", "--emit=ptx", "-o", "-"],
                                    input=text, capture_output=True, text=True, timeout=10, errors="replace")
            bad = result.returncode not in (0, 1) or "internal error" in result.stderr
            accepted += result.returncode == 0
            why = f"exit code {result.returncode}"
        except subprocess.TimeoutExpired:
            bad, why = True, "no end within ten seconds"
        runs += 1
        if bad:
            name = ROOT / f"target/fuzz/crash-{options.seed}-{runs}.mlir"
            name.write_text(text)
            found.append(name)
            print(f"{name}: {target}: {why}", flush=True)
    print(f"fuzz: {runs} inputs from {len(seeds)} seeds, {accepted} compiled, {len(found)} crashes")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
