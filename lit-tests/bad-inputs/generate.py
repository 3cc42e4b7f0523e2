"""Writes bad inputs that no editor would keep: too deep, too long, not text.

    generate.py FOLDER
"""

import pathlib
import random
import sys

KERNEL = """\
gpu.module @kernels {{
  gpu.func @k() kernel attributes {{known_block_size = array<i32: 32, 1, 1>}} {{
{}
    gpu.return
  }}
}}
"""


def inputs():
    depth = 100_000
    yield "empty", b""
    yield "one-line-break", b"\n"
    yield "deep-modules", b"module {" * depth + b"}" * depth
    yield "deep-modules-not-closed", b"module {" * depth
    branch = "scf.if %true {"
    yield "deep-branches", KERNEL.format(
        "%true = arith.constant true\n" + branch * depth + "}" * depth
    ).encode()
    yield "deep-array-attribute", ("module attributes {a = " + "[" * depth + "]" * depth + "} {}").encode()
    yield "deep-type", ("module attributes {a = " + "tuple<" * depth + "i1" + ">" * depth + "} {}").encode()
    yield "deep-location", ("module {} loc(" + "callsite(" * depth + "unknown").encode()
    yield "deep-affine-map", ("#m = affine_map<(d0) -> (" + "(" * depth + "d0" + ")" * depth + ")>").encode()
    yield "long-line", b"module {" + b" " * 4_000_000 + b"?}"
    yield "long-name", b"module @" + b"a" * 1_000_000 + b" { ? }"
    yield "long-number", b"module attributes {a = 1" + b"0" * 10_000 + b" : i32} {}"
    yield "many-brackets", b"<" * 1_000_000
    yield "many-quotes", b'"' * 100_001
    yield "byte-order-mark", b"\xef\xbb\xbfmodule { ? }"
    yield "utf-16", "module { }".encode("utf-16")
    yield "zero-bytes", b"\0" * 4096
    yield "zero-byte-in-a-name", b"module @a\0b {}"
    yield "bytes-that-are-no-text-in-a-name", b"module @\xff\xfe {}"
    yield "bytes-that-are-no-text-in-a-string", KERNEL.format(
        '    %b = async_pipeline.mbarrier.alloc "%" : !async_pipeline.mbarrier<1>'
    ).encode().replace(b"%\"", b"\xff\xfe\"")
    yield "noise", random.Random(7).randbytes(65536)
    yield "bytecode-cut-off", b"ML\xefR"
    yield "bytecode-of-noise", b"ML\xefR" + random.Random(8).randbytes(4096)
    yield "elf", b"\x7fELF\x02\x01\x01" + bytes(57)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in inputs():
        (folder / f"{name}.mlir").write_bytes(content)


main()
