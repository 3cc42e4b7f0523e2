#!/usr/bin/env python3
"""Prints lit's result as one line `lit: N passed, N failed`; fails if nothing ran."""

import re
import sys


def main() -> int:
    text = open(sys.argv[1], encoding="utf-8").read()
    count = {name: int(number) for name, number in re.findall(r"^\s+([A-Z][A-Za-z ]+?)\s*: (\d+)", text, re.M)}
    failed = sum(count.get(name, 0) for name in ("Failed", "Unresolved", "Timed Out", "Unexpectedly Passed"))
    passed = count.get("Passed", 0)
    print(f"lit: {passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
