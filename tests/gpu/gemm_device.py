"""The part of gemm.py that needs a GPU: results, then speed."""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import torch

from cuda_driver import LOCAL_BYTES, REGISTERS, Driver, DriverError, Prepared, read_code, wait
from gemm import CHECKED_SIZES, Kernel, describe, shape, tight
from launch_plan import PlanError, Tensor, launch

TYPES = {"f16": torch.float16, "f32": torch.float32}
# Elements around every argument that must stay as they are: 256 bytes or more.
GUARD = 256


@dataclass
class Argument:
    """A tensor inside a larger allocation, with guards around it and in the gaps between rows."""

    storage: torch.Tensor
    view: torch.Tensor
    before: torch.Tensor

    @classmethod
    def make(cls, values: torch.Tensor, gap: int) -> "Argument":
        """A copy of the values, rows `gap` elements apart."""
        columns = values.shape[-1]
        unit = 16 // values.element_size()
        # Without a gap rows follow each other, whatever their length.
        pitch = columns if gap == 0 else -(-columns // unit) * unit + gap * unit
        rows = values.shape[0] if values.dim() == 2 else 1
        storage = torch.full((2 * GUARD + max(rows * pitch, unit),), 0.9, dtype=values.dtype, device="cuda")
        strides = (pitch, 1) if values.dim() == 2 else (1,)
        view = storage.as_strided(values.shape, strides, GUARD)
        view.copy_(values)
        return cls(storage, view, storage.clone())

    def tensor(self) -> Tensor:
        address = self.storage.data_ptr() + GUARD * self.storage.element_size()
        return Tensor(tuple(self.view.shape), tuple(self.view.stride()), address)

    def damage(self, is_output: bool) -> int:
        """How many elements changed that must not; for an output, those around it."""
        after = self.storage.clone()
        if is_output:
            for storage in (after, self.before):
                storage.as_strided(self.view.shape, self.view.stride(), GUARD).zero_()
        bits = torch.int16 if after.element_size() == 2 else torch.int32
        return int((after.view(bits) != self.before.view(bits)).sum())


@dataclass
class Contender:
    """Something measured, with a launch that needs no more than a call."""

    label: str
    kind: str
    run: Callable[[], None]
    registers: int | None = None
    local_bytes: int | None = None
    times: list[float] = field(default_factory=list)


def gelu(values: torch.Tensor, form: str) -> torch.Tensor:
    return torch.nn.functional.gelu(values, approximate="tanh" if form == "tanh" else "none")


class Machine:
    """The GPU with what is needed to load and launch kernels."""

    def __init__(self, options: argparse.Namespace) -> None:
        if not torch.cuda.is_available():
            raise PlanError("there is no CUDA GPU here; --dry-run needs none")
        torch.cuda.init()
        torch.zeros(1, device="cuda")
        self.options = options
        self.properties = torch.cuda.get_device_properties(0)
        self.capability = (self.properties.major, self.properties.minor)
        self.driver = Driver()
        self.stream = torch.cuda.current_stream().cuda_stream

    def values(self, extents: tuple[int, ...], kind: str, stream: int) -> torch.Tensor:
        generator = torch.Generator(device="cuda").manual_seed(self.options.seed * 1000 + stream)
        return torch.randn(extents, generator=generator, device="cuda").to(TYPES[kind])

    def load(self, code: bytes, name: str, is_ptx: bool):
        if is_ptx and self.options.assembler == "triton":
            code = assemble(code, self.capability)
        return self.driver.load(code, name)

    def wait(self, what: str) -> None:
        wait(self.driver, self.stream, what, self.options.timeout)


def assemble(ptx: bytes, capability: tuple[int, int]) -> bytes:
    """A cubin for this GPU, by the ptxas that Triton brings."""
    try:
        import triton

        command = triton.knobs.nvidia.ptxas.path
    except (ImportError, AttributeError) as error:
        raise PlanError(f"Triton's ptxas is not to be found: {error}") from error
    letter = "a" if b"a\n" in ptx[ptx.find(b".target") :][:20] else ""
    with tempfile.TemporaryDirectory() as folder:
        source, result = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_bytes(ptx)
        target = f"-arch=sm_{capability[0]}{capability[1]}{letter}"
        done = subprocess.run([command, target, source, "-o", result], capture_output=True, text=True, check=False)
        if done.returncode:
            raise DriverError(f"ptxas: {done.stderr.strip()}")
        return result.read_bytes()


def check(machine: Machine, kernel: Kernel, sizes: tuple[int, int, int]) -> str | None:
    """What is wrong with the result for these sizes."""
    arguments = {}
    for index, (name, argument) in enumerate(kernel.arguments().items()):
        values = machine.values(shape(name, sizes), argument["element_type"], index)
        if name == "C":
            values.fill_(-77.0)
        arguments[name] = Argument.make(values, index + 1 if kernel.is_spaced(name) else 0)
    made = launch(
        kernel.entry, {name: a.tensor() for name, a in arguments.items()}, machine.properties.multi_processor_count
    )
    function = machine.load(read_code(kernel.code), made.name, kernel.code.suffix == ".ptx")
    Prepared(machine.driver, function, made, machine.stream)()
    machine.wait(kernel.label)

    for name, argument in arguments.items():
        if changed := argument.damage(name == "C"):
            where = "around C" if name == "C" else f"of {name} or around it"
            return f"{changed} elements {where} were changed"
    a, b = (arguments[name].view.double() for name in "AB")
    expected, scale = a @ b.T, a.abs() @ b.T.abs()
    if "bias" in arguments:
        bias = arguments["bias"].view.double()
        expected, scale = gelu(expected + bias, machine.options.gelu), scale + bias.abs()
    if "R" in arguments:
        residual = arguments["R"].view.double()
        expected, scale = expected + residual, scale + residual.abs()
    c = arguments["C"].view
    # Half a unit in the last place, normal and subnormal, and sums in float32 in any order.
    relative, absolute = (2.0**-11, 2.0**-25) if c.dtype == torch.float16 else (2.0**-24, 0.0)
    error = (c.double() - expected).abs()
    # Written so that NaN is wrong.
    wrong = ~(error <= relative * expected.abs() + absolute + 2.0**-18 * scale)
    count = int(wrong.sum())
    if not count:
        return None
    row, column = wrong.nonzero()[0].tolist()
    got, wanted = float(c[row, column]), float(expected[row, column])
    return f"{count} of {wrong.numel()} elements are wrong; C[{row}, {column}] is {got}, expected {wanted}"


def check_all(machine: Machine, kernels: list[Kernel]) -> list[dict]:
    results = []
    for kernel in kernels:
        for sizes in CHECKED_SIZES:
            try:
                problem = check(machine, kernel, sizes)
            except (DriverError, PlanError, RuntimeError) as error:
                # A kernel that was stopped takes the context with it: all that follows fails too.
                problem = str(error)
            words = "x".join(map(str, sizes))
            print(f"{kernel.label} {words}: {problem or 'ok'}", flush=True)
            results.append({"kernel": kernel.label, "size": sizes, "problem": problem})
    return results


def contenders(machine: Machine, kernels: list[Kernel]) -> tuple[list[Contender], list[torch.Tensor]]:
    """All that is measured, and the memory that it works on."""
    sizes = machine.options.size
    memory = {name: machine.values(shape(name, sizes), "f16", i) for i, name in enumerate(("A", "B", "R", "bias"))}
    memory["C"] = torch.empty(shape("C", sizes), dtype=torch.float16, device="cuda")
    held, found = list(memory.values()), []

    def add(label: str, kind: str, code: bytes, is_ptx: bool, made) -> None:
        function = machine.load(code, made.name, is_ptx)
        prepared = Prepared(machine.driver, function, made, machine.stream)
        read = machine.driver.attribute
        found.append(Contender(label, kind, prepared, read(function, REGISTERS), read(function, LOCAL_BYTES)))

    for kernel in kernels:
        addresses = {}
        for name, argument in kernel.arguments().items():
            if argument["element_type"] != "f16":
                held.append(memory[name].float())
                addresses[name] = held[-1].data_ptr()
            else:
                addresses[name] = memory[name].data_ptr()
        made = launch(kernel.entry, tight(kernel, sizes, addresses), machine.properties.multi_processor_count)
        print(f"{kernel.label}: {describe(made)}", flush=True)
        add(kernel.label, "ours", read_code(kernel.code), kernel.code.suffix == ".ptx", made)
    if not machine.options.no_triton:
        if any(size % 16 for size in sizes):
            raise PlanError("Triton's kernels are compiled for multiples of 16; give --no-triton")
        import triton_gemm

        m, n, k = sizes
        for tiling in triton_gemm.TILINGS:
            compiled = triton_gemm.compile_tiling(tiling, 80)
            at = (memory[name].data_ptr() for name in "ABC")
            made = compiled.launch(*at, sizes, (k, k, n))
            try:
                add(f"Triton sm_80 {tiling}", "triton", compiled.ptx.encode(), True, made)
            except DriverError as error:
                print(f"left out: Triton {tiling}: {error}", flush=True)
    a, b, c = (memory[name] for name in "ABC")
    found.append(Contender("torch.matmul (cuBLAS)", "cublas", lambda: torch.matmul(a, b.T, out=c)))
    check_triton(machine, found, a, b, c)
    return found, held


def check_triton(machine: Machine, found: list[Contender], a, b, c) -> None:
    """A comparison with a kernel that computes something else would be none."""
    expected = torch.matmul(a, b.T).float()
    for contender in [c for c in found if c.kind == "triton"]:
        c.zero_()
        contender.run()
        machine.wait(contender.label)
        error = (c.float() - expected).abs().max() / expected.abs().max()
        if not error < 1e-2:
            raise PlanError(f"{contender.label} computes something else")


def measure(machine: Machine, found: list[Contender]) -> None:
    """Milliseconds of single launches, in turns; each round begins with another one."""
    options = machine.options
    for number in range(options.warm_up + options.rounds):
        first = number % len(found)
        events = []
        # A whole round is handed over at once: a GPU that idles in between meets other clocks.
        for contender in found[first:] + found[:first]:
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            # The GPU is kept busy until the launch is there, so that its way is not measured.
            torch.cuda._sleep(200_000)
            begin.record()
            contender.run()
            end.record()
            events.append((contender, begin, end))
        machine.wait("a round of launches")
        if number >= options.warm_up:
            for contender, begin, end in events:
                contender.times.append(begin.elapsed_time(end))


def query(fields: str) -> str:
    command = ["nvidia-smi", "-i", "0", f"--query-gpu={fields}", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    return done.stdout.strip() if done.returncode == 0 else "unknown"


def clocks_under_load(machine: Machine, contender: Contender) -> str:
    """Clocks and power while a kernel runs again and again."""
    for _ in range(400):
        contender.run()
    clocks = query("clocks.sm,clocks.mem,power.draw,temperature.gpu")
    machine.wait(contender.label)
    return clocks


def bench(machine: Machine, kernels: list[Kernel]) -> dict:
    found, held = contenders(machine, kernels)
    measure(machine, found)
    clocks = clocks_under_load(machine, found[0])
    # Kernels know addresses only, so that nothing else keeps their memory.
    del held
    m, n, k = machine.options.size
    rates = {id(c): 2.0 * m * n * k / median(c.times) / 1e9 for c in found}
    best = max((rates[id(c)] for c in found if c.kind == "triton"), default=None)
    rows = [
        {
            "kernel": c.label,
            "kind": c.kind,
            "median_ms": median(c.times),
            "least_ms": min(c.times),
            "tflops": rates[id(c)],
            "of_best_triton": rates[id(c)] / best if best else None,
            "registers": c.registers,
            "local_bytes": c.local_bytes,
            "times_ms": c.times,
        }
        for c in found
    ]
    return {
        "size": [m, n, k],
        "gpu": machine.properties.name,
        "driver": query("driver_version"),
        "clocks_max": query("clocks.max.sm,clocks.max.mem,power.limit"),
        "clocks_under_load": clocks,
        "assembler": machine.options.assembler,
        "torch": torch.__version__,
        "rounds": machine.options.rounds,
        "inputs": f"normally distributed, mean 0, deviation 1, seed {machine.options.seed}",
        "rows": rows,
    }


def table(result: dict) -> str:
    lines = [
        f"{result['gpu']}, driver {result['driver']}; SM and memory clock, power, temperature under load: "
        f"{result['clocks_under_load']} (most: {result['clocks_max']}).",
        f"M, N, K = {result['size']}, f16 in and out, sums in f32; inputs {result['inputs']}; medians of "
        f"{result['rounds']} launches each, in turns; PTX assembled by: {result['assembler']}.",
        "",
        "| kernel | median ms | TFLOP/s | of the best Triton | registers | local bytes |",
        "|---|---|---|---|---|---|",
    ]
    for row in sorted(result["rows"], key=lambda row: row["median_ms"]):
        ratio = "" if row["of_best_triton"] is None else f"{row['of_best_triton']:.3f}"
        registers, local = ("" if row[key] is None else row[key] for key in ("registers", "local_bytes"))
        lines.append(f"| {row['kernel']} | {row['median_ms']:.3f} | {row['tflops']:.1f} | {ratio} | {registers} | {local} |")
    return "\n".join(lines) + "\n"


def run(kernels: list[Kernel], options: argparse.Namespace) -> int:
    """Checks and measures; the exit code."""
    try:
        machine = Machine(options)
        left_out = [kernel for kernel in kernels if not kernel.runs_on(machine.capability)]
        for kernel in left_out:
            print(f"left out: {kernel.label} is for {kernel.target}")
        kernels = [kernel for kernel in kernels if kernel not in left_out]
        if not kernels:
            raise PlanError(f"no kernel of the folder runs on {machine.properties.name}")
        report = {"checks": [], "bench": None}
        if options.what != "bench":
            report["checks"] = check_all(machine, kernels)
        wrong = any(result["problem"] for result in report["checks"])
        if options.what != "check":
            report["bench"] = bench(machine, kernels)
            text = table(report["bench"])
            print(text)
            if options.markdown:
                options.markdown.write_text(text, encoding="utf-8")
        if options.json:
            options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    except (DriverError, RuntimeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 1 if wrong else 0
