"""Replaces every election by a test of the thread's id: the first lane of the warp issues.

    elect_by_id.py IN.ptx OUT.ptx

The kernel that results does the same, but ptxas no longer knows that one thread is left.
"""

import pathlib
import re
import sys

source, result = map(pathlib.Path, sys.argv[1:])
number = iter(range(1_000_000))


def test(found):
    lane = f"%lane{next(number)}"
    return (
        f"{{ .reg .b32 {lane}; mov.u32 {lane}, %tid.x; and.b32 {lane}, {lane}, 31; "
        f"setp.eq.u32 {found[1]}, {lane}, 0; }}"
    )


text, count = re.subn(r"elect\.sync\s+%\w+\|(%\w+), -1;", test, source.read_text())
if count == 0:
    sys.exit(f"expected an election in {source}, got none")
result.write_text(text)
