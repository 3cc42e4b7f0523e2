"""Names the examples in ODS files (.td) that a test (.mlir) does not contain word for word."""

import pathlib
import re
import sys

test, *definitions = map(pathlib.Path, sys.argv[1:])
text = " ".join(test.read_text().split())
missing, count = [], 0
for path in definitions:
    for block in re.findall(r"```mlir\n(.*?)```", path.read_text(), re.DOTALL):
        # A statement begins where an op is named.
        for statement in re.split(r"\n\s*(?=(?:%\w+ = )?async_pipeline\.)", block):
            count += 1
            words = " ".join(statement.split())
            if words not in text:
                missing.append(words)
print("\n".join(missing) if missing else f"all of {count} examples")
sys.exit(bool(missing) or count < len(definitions))
