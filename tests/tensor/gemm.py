"""Writes small integers for A and B and what C = A · Bᵀ has to be, as raw elements.

    gemm.py FOLDER M N K [ELEMENT [OUTPUT [gelu]]]

ELEMENT is of A and B: f16 (default), bf16, f32, f8E4M3FN or f8E5M2; OUTPUT is of C: f32 (default),
f16 or bf16. With gelu there are a bias of N elements and R of the shape of C, both of ELEMENT
and multiples of 1/4, and C = gelu(A · Bᵀ / 64 + bias) + R: A holds multiples of 1/64 then.
"""

import math
import pathlib
import random
import struct
import sys

folder = pathlib.Path(sys.argv[1])
m, n, k = map(int, sys.argv[2:5])
element = sys.argv[5] if len(sys.argv) > 5 else "f16"
output = sys.argv[6] if len(sys.argv) > 6 else "f32"
gelu = sys.argv[7:] == ["gelu"]
folder.mkdir(parents=True, exist_ok=True)
random.seed(1)
# Sums of such products are exact in f32, in any order.
a = [[random.randint(-4, 4) for _ in range(k)] for _ in range(m)]
b = [[random.randint(-4, 4) for _ in range(k)] for _ in range(n)]
c = [[sum(x * y for x, y in zip(row, column)) for column in b] for row in a]
bias = [random.randint(-8, 8) / 4 for _ in range(n)]
r = [[random.randint(-8, 8) / 4 for _ in range(n)] for _ in range(m)]
if gelu:
    a = [[value / 64 for value in row] for row in a]

    def finish(z, rest):
        return z / 2 * (1 + math.erf(z / math.sqrt(2))) + rest

    c = [[finish(z / 64 + bias[j], r[i][j]) for j, z in enumerate(row)] for i, row in enumerate(c)]


def encode(value, element=element):
    half = struct.pack("<e", value)
    single = struct.pack("<f", value)
    if element == "f16":
        return half
    if element == "f32":
        return single
    if element == "bf16":
        bits = int.from_bytes(single, "little")
        # To the nearest, to even from half way.
        return (bits + 0x7FFF + (bits >> 16 & 1) >> 16).to_bytes(2, "little")
    # What is cut off is zero in integers as small as these.
    if element == "f8E5M2":
        return half[1:]
    # One exponent bit less than f16: a bias of 7, not 15.
    bits = int.from_bytes(half, "little")
    return bytes([(bits >> 8 & 0x80) | ((bits & 0x7FFF) - (8 << 10) >> 7 if value else 0)])


def write(name, encode, matrix):
    (folder / name).write_bytes(b"".join(encode(value) for row in matrix for value in row))


write("a.bin", encode, a)
write("b.bin", encode, b)
write("c.bin", lambda value: encode(value, output), c)
if gelu:
    write("bias.bin", encode, [bias])
    write("r.bin", encode, r)
