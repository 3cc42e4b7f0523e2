"""Names the ops of the dialect (.td) that no round-trip test (.mlir) has."""

import pathlib
import re
import sys

paths = [pathlib.Path(argument) for argument in sys.argv[1:]]
text = "\n".join(path.read_text() for path in paths if path.suffix == ".mlir")
definitions = [path for path in paths if path.suffix == ".td"]
# An op's definition, direct or through a class that stands for several.
op = re.compile(r"^def AsyncPipeline_\w+Op\b[^\"]*?<\"([a-z_.]+)\"", re.MULTILINE)
names = [name for path in definitions for name in op.findall(path.read_text())]
assert len(names) > 40, f"only {len(names)} ops are found"
missing = [name for name in names if not re.search(rf"^ *(%\w+ = )?async_pipeline\.{re.escape(name)}[ \n]", text, re.MULTILINE)]
print("\n".join(missing) if missing else f"all of {len(names)} ops")
sys.exit(bool(missing))
