#!/usr/bin/env python3
"""Checks compiled matrix products on a GPU, and measures them beside Triton's and cuBLAS's.

    tests/gpu/gemm.py FOLDER [--what check|bench|all] [--size 8192x8192x8192] [--dry-run]

FOLDER holds PTX or cubins with their manifests beside them, as `./dev gpu-pack FOLDER` leaves
them. Every kernel counts whose manifest has arguments A (MxK), B (NxK) and C (MxN), and perhaps
bias (N) and R (MxN): C = A B^T, with those C = gelu(A B^T + bias) + R. Inputs are random numbers,
normally distributed.

Checked are sizes that fill no tile and one that fills many, against float64, and that nothing
outside C changes. Measured is everything in one run, in turns, so that all meet the same clocks.

Exit codes: 0 right, 1 a wrong result or a kernel that fails, 2 unusable input.
"""

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path

# Nothing is left beside the sources.
sys.dont_write_bytecode = True

from launch_plan import Launch, PlanError, Tensor, launch, read_manifest

CHECKED_SIZES = [(1, 8, 8), (127, 136, 72), (1000, 1048, 1000), (300, 264, 0), (4096, 4096, 4096)]
# Where --dry-run pretends that arguments lie.
DRY_ADDRESSES = {"A": 0x10000000, "B": 0x20000000, "C": 0x30000000, "R": 0x40000000, "bias": 0x50000000}


@dataclass(frozen=True)
class Kernel:
    """A product with its code's file."""

    label: str
    code: Path
    target: str
    entry: dict

    def arguments(self) -> dict[str, dict]:
        return {argument["name"]: argument for argument in self.entry["arguments"]}

    def is_spaced(self, name: str) -> bool:
        """Whether the kernel is told how far rows are apart."""
        index = list(self.arguments()).index(name)
        kinds = {p["kind"] for p in self.entry["parameters"] if p["argument"] == index}
        return bool(kinds & {"tensor_map", "stride"})

    def runs_on(self, capability: tuple[int, int]) -> bool:
        digits = re.search(r"\d+", self.target)
        wanted = int(digits.group()) if digits else 0
        have = 10 * capability[0] + capability[1]
        # The targets with a letter run on that architecture alone.
        return wanted == have if self.target[-1].isalpha() else wanted <= have


def shape(name: str, sizes: tuple[int, int, int]) -> tuple[int, ...]:
    m, n, k = sizes
    return {"A": (m, k), "B": (n, k), "C": (m, n), "R": (m, n), "bias": (n,)}[name]


def is_product(entry: dict) -> bool:
    arguments = {a["name"]: a for a in entry["arguments"]}
    if not {"A", "B", "C"} <= arguments.keys() <= set(DRY_ADDRESSES):
        return False
    return all(
        argument["kind"] == "memref"
        and argument["element_type"] in ("f16", "f32")
        and len(argument["shape"]) == len(shape(name, (1, 1, 1)))
        for name, argument in arguments.items()
    )


def find_kernels(folder: Path) -> tuple[list[Kernel], list[str]]:
    """The products of a folder, and a line for each file that is none."""
    kernels, skipped = [], []
    files = {path.stem: path for path in sorted(folder.glob("*.ptx"))}
    # A cubin is there because the driver does not take the PTX.
    files |= {path.stem: path for path in sorted(folder.glob("*.cubin"))}
    for stem, code in sorted(files.items()):
        manifest = read_manifest(code.with_name(stem + ".json"))
        found = [entry for entry in manifest["kernels"] if is_product(entry)]
        if not found:
            skipped.append(f"{code.name}: no product of A, B and C")
        for entry in found:
            label = stem if len(found) == 1 else f"{stem}:{entry['name']}"
            kernels.append(Kernel(label, code, manifest["target"], entry))
    return kernels, skipped


def tight(kernel: Kernel, sizes: tuple[int, int, int], addresses: dict[str, int]) -> dict[str, Tensor]:
    """Arguments without gaps between rows."""
    tensors = {}
    for name in kernel.arguments():
        extents = shape(name, sizes)
        strides = (extents[1], 1) if len(extents) == 2 else (1,)
        tensors[name] = Tensor(extents, strides, addresses[name])
    return tensors


def describe(made: Launch) -> str:
    """A launch in one line for people and tests."""
    words = []
    for parameter in made.parameters:
        if isinstance(parameter, bytes):
            words.append(f"{int.from_bytes(parameter, 'little'):#x}")
        else:
            words.append(
                f"map({parameter.address:#x}, type {parameter.element}, sizes {list(parameter.sizes)}, "
                f"strides {list(parameter.strides)}, box {list(parameter.box)}, swizzle {parameter.swizzle})"
            )
    grid, block = ("x".join(map(str, triple)) for triple in (made.grid, made.block))
    return f"grid {grid}, block {block}, shared {made.shared_bytes}, parameters {' '.join(words)}"


def dry_run(kernels: list[Kernel], options: argparse.Namespace) -> int:
    for kernel in kernels:
        checked = CHECKED_SIZES if options.what != "bench" else []
        for sizes in [*checked, *([options.size] if options.what != "check" else [])]:
            made = launch(kernel.entry, tight(kernel, sizes, DRY_ADDRESSES), options.sm_count)
            print(f"{kernel.label} {'x'.join(map(str, sizes))}: {describe(made)}")
    return 0


def parse_size(text: str) -> tuple[int, int, int]:
    parts = text.split("x")
    if len(parts) not in (1, 3) or not all(part.isdigit() and int(part) > 0 for part in parts):
        raise argparse.ArgumentTypeError(f"expected M or MxNxK, got {text!r}")
    values = [int(part) for part in parts]
    return tuple(values * 3 if len(values) == 1 else values)


def positive(text: str) -> int:
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"expected a number of at least 1, got {text!r}")
    return int(text)


def parse_arguments() -> argparse.Namespace:
    introduction, _, rest = __doc__.partition("\n\n")
    parser = argparse.ArgumentParser(
        description=introduction, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--what", choices=["check", "bench", "all"], default="all")
    parser.add_argument("--size", type=parse_size, default=(8192,) * 3, metavar="MxNxK", help="what is measured [8192]")
    parser.add_argument("--rounds", type=positive, default=40, metavar="N", help="measured launches of each kernel [40]")
    parser.add_argument("--warm-up", type=positive, default=5, metavar="N", help="rounds before them [5]")
    parser.add_argument("--gelu", choices=["erf", "tanh"], default="erf", help="which form the kernels compute [erf]")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the inputs [1]")
    parser.add_argument("--timeout", type=positive, default=20, metavar="S", help="seconds until a kernel hangs [20]")
    parser.add_argument(
        "--assembler",
        choices=["driver", "triton"],
        default="driver",
        help="what assembles PTX, ours and Triton's alike: the driver or the ptxas that Triton brings [driver]",
    )
    parser.add_argument("--no-triton", action="store_true", help="measure without Triton's kernels")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table to a file as well")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything as JSON")
    parser.add_argument("--dry-run", action="store_true", help="print the launches and launch nothing; needs no GPU")
    parser.add_argument("--sm-count", type=positive, default=132, metavar="N", help="for --dry-run [132]")
    return parser.parse_args()


def main() -> int:
    options = parse_arguments()
    if not options.folder.is_dir():
        raise PlanError(f"{options.folder} is no folder")
    kernels, skipped = find_kernels(options.folder)
    if options.dry_run:
        for line in skipped:
            print(f"skipped: {line}")
    if not kernels:
        raise PlanError(f"{options.folder} has no kernel with arguments A, B and C")
    if options.dry_run:
        return dry_run(kernels, options)
    # Only now: what stands above runs on machines without torch.
    try:
        import gemm_device
    except ImportError as error:
        raise PlanError(f"torch is needed on the machine with the GPU: {error}") from error
    return gemm_device.run(kernels, options)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except PlanError as problem:
        print(f"error: {problem}", file=sys.stderr)
        sys.exit(2)
