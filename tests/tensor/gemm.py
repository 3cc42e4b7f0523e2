"""Writes small integers for A and B and what C = A · Bᵀ has to be, as raw elements.

    gemm.py FOLDER M N K [f16|bf16|f32|f8E4M3FN|f8E5M2]
"""

import pathlib
import random
import struct
import sys

folder = pathlib.Path(sys.argv[1])
m, n, k = map(int, sys.argv[2:5])
element = sys.argv[5] if len(sys.argv) > 5 else "f16"
folder.mkdir(parents=True, exist_ok=True)
random.seed(1)
# Sums of such products are exact in f32, in any order.
a = [[random.randint(-4, 4) for _ in range(k)] for _ in range(m)]
b = [[random.randint(-4, 4) for _ in range(k)] for _ in range(n)]
c = [[sum(x * y for x, y in zip(row, column)) for column in b] for row in a]




def encode(value):
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


def write(name, encode, matrix):
    (folder / name).write_bytes(b"".join(encode(value) for row in matrix for value in row))


write("a.bin", encode, a)
write("b.bin", encode, b)
write("c.bin", lambda value: struct.pack("<f", value), c)
