"""Triton's matrix product, compiled for one target without a device: what ours is compared with."""

import os
import re
import tempfile
from dataclasses import dataclass

# Before Triton is imported; its default may be a folder that cannot be written to.
os.environ.setdefault("TRITON_CACHE_DIR", os.path.join(tempfile.gettempdir(), "async-pipeline-triton"))

import triton
import triton.language as tl
from triton.backends.compiler import BaseBackend, GPUTarget
from triton.compiler import ASTSource

from launch_plan import Launch

GROUP_M = 8


@dataclass(frozen=True)
class Tiling:
    """Sizes of a tile, warps, and stages of the software pipeline."""

    m: int
    n: int
    k: int
    warps: int
    stages: int

    def __str__(self) -> str:
        return f"{self.m}x{self.n}x{self.k}, {self.warps} warps, {self.stages} stages"


TILINGS = [
    Tiling(128, 256, 64, 8, 3),
    Tiling(128, 256, 32, 8, 4),
    Tiling(128, 128, 32, 4, 4),
    Tiling(128, 128, 64, 8, 3),
    Tiling(256, 128, 64, 8, 3),
    Tiling(128, 128, 64, 4, 3),
    Tiling(64, 256, 32, 4, 4),
]


@triton.jit
def product(
    a, b, c, M, N, K, pitch_a, pitch_b, pitch_c,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    """C = A B^T; blocks go through groups of rows, so that tiles stay in the cache."""
    block = tl.program_id(0)
    blocks_m = tl.cdiv(M, BM)
    blocks_n = tl.cdiv(N, BN)
    in_group = GROUP * blocks_n
    first = block // in_group * GROUP
    rows = min(blocks_m - first, GROUP)
    at_m = first + (block % in_group) % rows
    at_n = (block % in_group) // rows
    m = at_m * BM + tl.arange(0, BM)
    n = at_n * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    # Rows outside wrap around, which saves the loads a mask; they are not stored.
    at_a = a + (m % M)[:, None] * pitch_a + k[None, :]
    at_b = b + (n % N)[None, :] * pitch_b + k[:, None]
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(0, tl.cdiv(K, BK)):
        left = K - step * BK
        tile_a = tl.load(at_a, mask=k[None, :] < left, other=0.0)
        tile_b = tl.load(at_b, mask=k[:, None] < left, other=0.0)
        total = tl.dot(tile_a, tile_b, total)
        at_a += BK
        at_b += BK
    inside = (m[:, None] < M) & (n[None, :] < N)
    tl.store(c + m[:, None] * pitch_c + n[None, :], total.to(tl.float16), mask=inside)


@dataclass(frozen=True)
class Compiled:
    """PTX of one tiling with what a launch needs."""

    tiling: Tiling
    ptx: str
    name: str
    shared_bytes: int
    # Parameters behind the nine of the source: scratch memory, which this kernel does not use.
    extra: int

    def launch(self, a: int, b: int, c: int, sizes: tuple[int, int, int], pitches: tuple[int, int, int]) -> Launch:
        m, n, _ = sizes
        blocks = -(-m // self.tiling.m) * -(-n // self.tiling.n)
        values = [value.to_bytes(8, "little") for value in (a, b, c, *sizes, *pitches)]
        return Launch(
            name=self.name,
            grid=(blocks, 1, 1),
            block=(32 * self.tiling.warps, 1, 1),
            cluster=None,
            shared_bytes=self.shared_bytes,
            parameters=(*values, *[bytes(8)] * self.extra),
        )


def compile_tiling(tiling: Tiling, capability: int) -> Compiled:
    """Compiles for e.g. 80, with pointers and sizes that are multiples of 16."""
    arguments = ["a", "b", "c", "M", "N", "K", "pitch_a", "pitch_b", "pitch_c"]
    constants = {"BM": tiling.m, "BN": tiling.n, "BK": tiling.k, "GROUP": GROUP_M}
    signature = {name: "*fp16" if name in "abc" else "i32" for name in arguments}
    source = ASTSource(
        fn=product,
        signature=signature | {name: "constexpr" for name in constants},
        constexprs=constants,
        attrs={(index,): BaseBackend.parse_attr("D") for index in range(len(arguments))},
    )
    options = {"num_warps": tiling.warps, "num_stages": tiling.stages}
    compiled = triton.compile(source, target=GPUTarget("cuda", capability, 32), options=options)
    ptx, name = compiled.asm["ptx"], compiled.metadata.name
    entry = re.search(rf"\.entry\s+{re.escape(name)}\s*\((.*?)\)", ptx, re.S)
    declared = len(re.findall(r"\.param", entry.group(1))) if entry else len(arguments)
    return Compiled(tiling, ptx, name, compiled.metadata.shared, declared - len(arguments))
