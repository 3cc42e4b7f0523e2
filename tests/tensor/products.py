"""Writes what the products-*.test files need beside gemm.py's files: products.py FOLDER M N K

From a.bin and b.bin of f16 in FOLDER: their transposes at.bin and bt.bin, and of f32 r.bin (small
integers), twice.bin, added.bin (product + r) and mask.bin (-1 above the diagonal).
"""

import pathlib
import struct
import sys

folder = pathlib.Path(sys.argv[1])
m, n, k = map(int, sys.argv[2:5])


def read(name, code, rows, columns):
    flat = struct.unpack(f"<{rows * columns}{code}", (folder / name).read_bytes())
    return [flat[i * columns : (i + 1) * columns] for i in range(rows)]


def write(name, code, matrix):
    (folder / name).write_bytes(b"".join(struct.pack(f"<{len(row)}{code}", *row) for row in matrix))


c = read("c.bin", "f", m, n)
r = [[(i * 7 + j * 3) % 19 - 9 for j in range(n)] for i in range(m)]
write("at.bin", "e", list(zip(*read("a.bin", "e", m, k))))
write("bt.bin", "e", list(zip(*read("b.bin", "e", n, k))))
write("r.bin", "f", r)
write("twice.bin", "f", [[2 * v for v in row] for row in c])
write("added.bin", "f", [[v + w for v, w in zip(x, y)] for x, y in zip(c, r)])
write("mask.bin", "f", [[v if j <= i else -1 for j, v in enumerate(row)] for i, row in enumerate(c)])
