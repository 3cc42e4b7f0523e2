"""Names the ops of the dialect that the round-trip test does not have."""

import pathlib
import re
import sys

test, *definitions = map(pathlib.Path, sys.argv[1:])
text = test.read_text()
# An op's definition, direct or through a class that stands for several.
op = re.compile(r"^def AsyncPipeline_\w+Op\b[^\"]*?<\"([a-z_.]+)\"", re.MULTILINE)
names = [name for path in definitions for name in op.findall(path.read_text())]
assert len(names) > 40, f"only {len(names)} ops are found"
missing = [name for name in names if not re.search(rf"^ *(%\w+ = )?async_pipeline\.{re.escape(name)}[ \n]", text, re.MULTILINE)]
print("\n".join(missing) if missing else f"all of {len(names)} ops")
sys.exit(bool(missing))
