"""Writes a kernel of the tile level with a product, inputs of small integers, and what C has to be.

    products.py FOLDER CASE M N K

FOLDER gets k.mlir, and a.bin, b.bin, v.bin (V: a value per row or column, or a tile), zero.bin and
c.bin as raw elements. All sums are exact in f32, in any order.
"""

import pathlib
import random
import struct
import sys


class Case:
    """A product C = A · B, tile by tile.

    tile: rows, columns and depth of the tiles; a_across, b_across: stored K×M and K×N, across K.
    """

    def __init__(self, element="f16", out="f32", tile=(128, 64, 64), a_across=False, b_across=False,
                 v=None, grid=None, body=None, finish=None, value=None, times=1):
        self.element, self.out, self.tile = element, out, tile
        self.a_across, self.b_across = a_across, b_across
        # The type of V, and how many it has of M and N.
        self.v = v
        self.grid = grid or ["ceildiv(dim(2, 0), {m})", "ceildiv(dim(2, 1), {n})"]
        self.body = body or ("storage", "sum", "loop", "load", "store")
        # What stands between load and store, and what it means.
        self.finish, self.value = finish, value
        self.times = times

    def kernel(self):
        m, n, k = self.tile
        a = f"{k}x{m}" if self.a_across else f"{m}x{k}"
        b = f"{k}x{n}" if self.b_across else f"{n}x{k}"
        words = {
            "A": f"!async_pipeline.buffer<{a}x{self.element}>",
            "B": f"!async_pipeline.buffer<{b}x{self.element}>",
            "S": f"!async_pipeline.accumulator<{m}x{n}xf32>",
            "F": f"vector<{m}x{n}xf32>",
            "O": f"vector<{m}x{n}x{self.out}>",
            "GA": f"memref<?x?x{self.element}>",
            "GB": f"memref<?x?x{self.element}>",
            "GC": f"memref<?x?x{self.out}>",
            "at_a": "%k, %m" if self.a_across else "%m, %k",
            "at_b": "%k, %n" if self.b_across else "%n, %k",
            "ta": "transpose " if self.a_across else "",
            "tb": "" if self.b_across else "transpose ",
            "m": m, "n": n, "k": k,
        }
        body = "".join(expand(part, words) for part in self.body)
        if self.finish:
            body = body.replace("    // finish\n", expand(self.finish, words))
        v = f'                 %V: {self.v[0]} {{async_pipeline.name = "V"}},\n' if self.v else ""
        after = 1 if self.v else 0
        grid = ", ".join(f'"{part}"' for part in self.grid).format(m=m, n=n).replace("dim(2", f"dim({2 + after}")
        return (
            "gpu.module @kernels {\n"
            f'  gpu.func @product(%A: {words["GA"]} {{async_pipeline.name = "A"}},\n'
            f'                 %B: {words["GB"]} {{async_pipeline.name = "B"}},\n{v}'
            f'                 %C: {words["GC"]} {{async_pipeline.name = "C"}}) kernel\n'
            f"      attributes {{async_pipeline.grid = #async_pipeline.grid<{grid}>}} {{\n"
            + expand("start", words) + f"    %K = memref.dim %A, %c{0 if self.a_across else 1} : {words['GA']}\n"
            + body + "    gpu.return\n  }\n}\n"
        )


def expand(part, words):
    text = PARTS.get(part, part)
    for name, word in words.items():
        text = text.replace(f"<{name}>", str(word))
    return text


COPIES = """      async_pipeline.work.copy %A[<at_a>] to %a : <GA> to <A>
      async_pipeline.work.copy %B[<at_b>] to %b : <GB> to <B>
"""
PRODUCT = """      async_pipeline.work.mma %sum += <ta>%a * <tb>%b : <S>, <A>, <B>
"""
LOOP = "    scf.for %k = %c0 to %K step %depth {\n" + COPIES + PRODUCT + "    }\n"
STORAGE = """    %a = async_pipeline.tile.alloc "a" : <A>
    %b = async_pipeline.tile.alloc "b" : <B>
"""
SUM = "    %sum = async_pipeline.tile.accumulator : <S>\n"
LOAD = "    %f = async_pipeline.work.load %sum : <S> to <F>\n"
STORE = "    // finish\n    async_pipeline.work.store %f to %C[%m, %n] : <F> to <GC>\n"
PARTS = {
    "start": """    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rows = arith.constant <m> : index
    %columns = arith.constant <n> : index
    %depth = arith.constant <k> : index
    %x = gpu.block_id x
    %y = gpu.block_id y
    %m = arith.muli %x, %rows : index
    %n = arith.muli %y, %columns : index
""",
    "storage": STORAGE,
    "sum": SUM,
    "loop": LOOP,
    "load": LOAD,
    "store": STORE,
    "store rounded": "    %h = arith.truncf %f : <F> to <O>\n    async_pipeline.work.store %h to %C[%m, %n] : <O> to <GC>\n",
    "store add": "    async_pipeline.work.store %f to %C[%m, %n] reduce add : <F> to <GC>\n",
    "store finished": "    // finish\n    async_pipeline.work.store %r to %C[%m, %n] : <F> to <GC>\n",
    "product twice": LOOP.replace(PRODUCT, PRODUCT * 2),
    "second loop": STORAGE.replace("%a =", "%a2 =").replace("%b =", "%b2 =").replace('"a"', '"a2"').replace('"b"', '"b2"')
    + LOOP.replace("to %a ", "to %a2 ").replace("to %b ", "to %b2 ").replace("%a *", "%a2 *").replace("%b : <S>", "%b2 : <S>"),
    # A second tile of columns, with its own sum.
    "two sums": """    %next = arith.addi %n, %columns : index
    %b2 = async_pipeline.tile.alloc "b2" : <B>
    %sum2 = async_pipeline.tile.accumulator : <S>
    scf.for %k = %c0 to %K step %depth {
""" + COPIES + """      async_pipeline.work.copy %B[%next, %k] to %b2 : <GB> to <B>
""" + PRODUCT + """      async_pipeline.work.mma %sum2 += %a * transpose %b2 : <S>, <A>, <B>
    }
""",
    "store second": """    %f2 = async_pipeline.work.load %sum2 : <S> to <F>
    async_pipeline.work.store %f2 to %C[%m, %next] : <F> to <GC>
""",
    # All tiles of C, block by block.
    "all tiles": """    %M = memref.dim %C, %c0 : <GC>
    %N = memref.dim %C, %c1 : <GC>
    %down = arith.ceildivui %M, %rows : index
    %across = arith.ceildivui %N, %columns : index
    %all = arith.muli %down, %across : index
    %blocks = gpu.grid_dim x
    scf.for %tile = %x to %all step %blocks {
      %i = arith.divui %tile, %across : index
      %j = arith.remui %tile, %across : index
      %mt = arith.muli %i, %rows : index
      %nt = arith.muli %j, %columns : index
""" + (SUM + LOOP + LOAD + STORE).replace("<at_a>", "%mt, %k").replace("<at_b>", "%nt, %k").replace("[%m, %n]", "[%mt, %nt]")
    + "    }\n",
    # A product in the first row of blocks only.
    "in a branch": """    %is_first = arith.cmpi eq, %x, %c0 : index
    scf.if %is_first {
""" + (COPIES + PRODUCT).replace("<at_a>", "%m, %c0").replace("<at_b>", "%n, %c0") + "    }\n",
    # One step of K, in no loop.
    "one step": (COPIES + PRODUCT).replace("<at_a>", "%m, %c0").replace("<at_b>", "%n, %c0"),
    # A row of tiles of C: A is copied once.
    "row of tiles": """    %N = memref.dim %C, %c1 : <GC>
    async_pipeline.work.copy %A[%m, %c0] to %a : <GA> to <A>
    scf.for %nt = %c0 to %N step %columns {
""" + SUM + """      async_pipeline.work.copy %B[%nt, %c0] to %b : <GB> to <B>
""" + PRODUCT + LOAD + STORE.replace("[%m, %n]", "[%m, %nt]") + "    }\n",
    # Blocks in z share K.
    "shared loop": """    %z = gpu.block_id z
    %shares = gpu.grid_dim z
    %start = arith.muli %z, %depth : index
    %stride = arith.muli %shares, %depth : index
""" + LOOP.replace("%c0 to %K step %depth", "%start to %K step %stride"),
}

BIAS_RELU = """    %v = async_pipeline.work.load %V[%n] : memref<?xf32> to vector<<n>xf32>
    %bias = vector.broadcast %v : vector<<n>xf32> to <F>
    %s = arith.addf %f, %bias : <F>
    %zero = arith.constant dense<0.0> : <F>
    %r = arith.maximumf %s, %zero : <F>
"""
COLUMN = """    %v = async_pipeline.work.load %V[%m] : memref<?xf32> to vector<<m>xf32>
    %column = vector.shape_cast %v : vector<<m>xf32> to vector<<m>x1xf32>
    %bias = vector.broadcast %column : vector<<m>x1xf32> to <F>
    %r = arith.addf %f, %bias : <F>
"""
RESIDUAL = """    %v = async_pipeline.work.load %V[%m, %n] : memref<?x?xf16> to vector<<m>x<n>xf16>
    %rest = arith.extf %v : vector<<m>x<n>xf16> to <F>
    %r = arith.addf %f, %rest : <F>
"""
# -7 above the diagonal.
MASK = """    %along = vector.step : vector<<n>xindex>
    %along32 = arith.index_cast %along : vector<<n>xindex> to vector<<n>xi32>
    %n32 = arith.index_cast %n : index to i32
    %first_column = vector.broadcast %n32 : i32 to vector<<n>xi32>
    %j = arith.addi %along32, %first_column : vector<<n>xi32>
    %js = vector.broadcast %j : vector<<n>xi32> to vector<<m>x<n>xi32>
    %below = vector.step : vector<<m>xindex>
    %below32 = arith.index_cast %below : vector<<m>xindex> to vector<<m>xi32>
    %m32 = arith.index_cast %m : index to i32
    %first_row = vector.broadcast %m32 : i32 to vector<<m>xi32>
    %i = arith.addi %below32, %first_row : vector<<m>xi32>
    %column = vector.shape_cast %i : vector<<m>xi32> to vector<<m>x1xi32>
    %is = vector.broadcast %column : vector<<m>x1xi32> to vector<<m>x<n>xi32>
    %keep = arith.cmpi sle, %js, %is : vector<<m>x<n>xi32>
    %other = arith.constant dense<-7.0> : <F>
    %r = arith.select %keep, %f, %other : vector<<m>x<n>xi1>, <F>
"""


def finished(text, v, value):
    return Case(v=v, body=("storage", "sum", "loop", "load", "store finished"), finish=text, value=value)


CASES = {
    "along-k": Case(),
    "b-across-k": Case(b_across=True),
    "a-across-k": Case(a_across=True),
    "both-across-k": Case(a_across=True, b_across=True, tile=(128, 128, 64)),
    "depth-16": Case(tile=(128, 64, 16)),
    "depth-32": Case(tile=(128, 64, 32)),
    "depth-128": Case(tile=(128, 64, 128)),
    "narrow-rows-across-k": Case(tile=(128, 32, 32), b_across=True),
    "wide": Case(tile=(128, 256, 64), b_across=True),
    "bf16": Case(element="bf16", a_across=True, b_across=True),
    "f32": Case(element="f32", tile=(128, 64, 32)),
    "f32-boxes": Case(element="f32", tile=(128, 64, 64)),
    "f8E4M3FN": Case(element="f8E4M3FN", tile=(128, 64, 128)),
    "f8E5M2": Case(element="f8E5M2", tile=(128, 64, 64)),
    "f16-out": Case(out="f16", body=("storage", "sum", "loop", "load", "store rounded")),
    "two-products": Case(body=("storage", "sum", "product twice", "load", "store"), times=2),
    "two-loops": Case(body=("storage", "sum", "loop", "second loop", "load", "store"), times=2),
    "two-sums": Case(body=("storage", "sum", "two sums", "load", "store", "store second"),
                     grid=["ceildiv(dim(2, 0), {m})"]),
    "all-tiles": Case(grid=["2"], body=("storage", "all tiles")),
    "one-step": Case(body=("storage", "sum", "one step", "load", "store")),
    "row-of-tiles": Case(grid=["ceildiv(dim(2, 0), {m})"], body=("storage", "row of tiles")),
    "in-a-branch": Case(body=("storage", "sum", "in a branch", "load", "store"),
                        value=lambda x, i, j, v: x if i < 128 else 0),
    "shares-of-k": Case(grid=["ceildiv(dim(2, 0), {m})", "ceildiv(dim(2, 1), {n})", "3"],
                        body=("storage", "sum", "shared loop", "load", "store add")),
    "bias-relu": finished(BIAS_RELU, ("memref<?xf32>", "f32", "n"), lambda x, i, j, v: max(0, x + v[0][j])),
    "bias-of-rows": finished(COLUMN, ("memref<?xf32>", "f32", "m"), lambda x, i, j, v: x + v[0][i]),
    "residual": finished(RESIDUAL, ("memref<?x?xf16>", "f16", "mn"), lambda x, i, j, v: x + v[i][j]),
    "mask": finished(MASK, None, lambda x, i, j, v: x if j <= i else -7),
}


def encode(element, value):
    half = struct.pack("<e", value)
    single = struct.pack("<f", value)
    if element == "f16":
        return half
    if element == "f32":
        return single
    # What is cut off is zero in integers as small as these.
    if element == "bf16":
        return single[2:]
    if element == "f8E5M2":
        return half[1:]
    # One exponent bit less than f16: a bias of 7, not 15.
    bits = int.from_bytes(half, "little")
    return bytes([(bits >> 8 & 0x80) | ((bits & 0x7FFF) - (8 << 10) >> 7 if value else 0)])


def main():
    folder, case = pathlib.Path(sys.argv[1]), CASES[sys.argv[2]]
    m, n, k = map(int, sys.argv[3:6])
    folder.mkdir(parents=True, exist_ok=True)
    random.seed(1)

    def integers(rows, columns):
        return [[random.randint(-4, 4) for _ in range(columns)] for _ in range(rows)]

    def write(name, element, matrix):
        (folder / name).write_bytes(b"".join(encode(element, value) for row in matrix for value in row))

    def stored(matrix, across):
        return list(zip(*matrix)) if across else matrix

    a, b = integers(m, k), integers(n, k)
    v = None
    if case.v:
        v = integers(m, n) if case.v[2] == "mn" else integers(1, m if case.v[2] == "m" else n)
        write("v.bin", case.v[1], v)
    c = [[case.times * sum(x * y for x, y in zip(row, column)) for column in b] for row in a]
    if case.value:
        c = [[case.value(x, i, j, v) for j, x in enumerate(row)] for i, row in enumerate(c)]
    (folder / "k.mlir").write_text(case.kernel())
    write("a.bin", case.element, stored(a, case.a_across))
    write("b.bin", case.element, stored(b, case.b_across))
    write("c.bin", case.out, c)
    write("zero.bin", case.out, [[0] * n] * m)


main()
