"""Assembles kernels for targets and says what ptxas has to say of each.

    assemble.py PIPELINE_OPT PTXAS FOLDER KERNEL.mlir TARGET[:OPTION] ...

One line each: kernel, target, stack and spills, and every warning or piece of advice. Exit code
1 if a kernel spills, uses a stack, or ptxas has anything to say.
"""

import pathlib
import re
import subprocess
import sys

tool, ptxas, folder, kernel, *targets = sys.argv[1:]
pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
name = pathlib.Path(kernel).stem
bad = False
for variant in targets:
    target, *options = variant.split(":")
    ptx = f"{folder}/{name}.{target}.ptx"
    made = [tool, kernel, f"--target={target}", "--emit=ptx", "-o", ptx, *(f"--{option}" for option in options)]
    subprocess.run(made, check=True, capture_output=True)
    assembled = subprocess.run(
        [ptxas, f"-arch={target}", "-v", ptx, "-o", f"{ptx}.cubin"], capture_output=True, text=True
    )
    text = assembled.stdout + assembled.stderr
    advice = [line for line in text.splitlines() if re.search("warning|advisory|error|C75|potential", line, re.IGNORECASE)]
    spills = re.findall(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", text)
    registers = re.findall(r"Used (\d+) registers", text)
    right = assembled.returncode == 0 and not advice and spills and all(set(one) == {"0"} for one in spills)
    bad |= not right
    print(name, variant, f"registers {registers}, stack and spills {spills}", *advice, "" if right else "BAD")
sys.exit(bad)
