"""Gives the compiler one bad input and checks how it says no.

    run.py PIPELINE_OPT FILE [--expect TEXT] [OPTION ...]

The input's first line says what must come out, unless --expect does:

    // expect: LINE:COLUMN: part of the message

The compiler must exit with code 1 within 20 seconds, with exactly one error on its
standard error stream, at FILE:LINE:COLUMN, and leave no file behind. BLESS=1 writes
the line anew from what the compiler says.
"""

import os
import re
import subprocess
import sys
import tempfile

SECONDS = 20
# What no user should get to read.
INTERNALS = re.compile(
    r"internal error|panicked|stack dump|PLEASE submit|Assertion .*failed|LLVM ERROR|\.rs:\d|\.cpp:\d|0x[0-9a-f]{8}",
    re.IGNORECASE,
)
HEADER = b"// expect: "


def main():
    tool, path, *options = sys.argv[1:]
    expected = header(path)
    if options[:1] == ["--expect"]:
        expected, options = options[1], options[2:]
    if not any(option.startswith("--target") for option in options):
        options.append("--target=sm_90a")

    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "out.ptx")
        command = [tool, path, *options, "--emit=ptx", "-o", output]
        code, text = run(command)
        wrong = faults(code, text, path, expected, os.listdir(folder))
    if wrong and os.environ.get("BLESS") == "1" and len(errors(text)) == 1:
        bless(path, text)
        wrong = faults(code, text, path, header(path), [])
    if not wrong:
        return 0
    print("\n".join(wrong))
    print(f"expected: {expected}")
    print(f"command: {' '.join(command)}")
    print(text[:4000])
    return 1


def header(path):
    with open(path, "rb") as file:
        first = file.readline()
    return first.removeprefix(HEADER).decode().strip() if first.startswith(HEADER) else None


def run(command):
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return None, ""
    # What is wrong goes to one stream and nothing to the other.
    return done.returncode, (done.stdout + done.stderr).decode(errors="replace")


def errors(text):
    return re.findall(r"^.*\berror: .*$", text, re.MULTILINE)


def faults(code, text, path, expected, left):
    wrong = []
    if code is None:
        return [f"took more than {SECONDS} seconds"]
    if code != 1:
        wrong.append(f"exit code {code} instead of 1")
    said = errors(text)
    if len(said) != 1:
        wrong.append(f"{len(said)} errors instead of 1")
    if expected is None:
        wrong.append("nothing says what to expect")
    elif said:
        place, _, message = expected.partition(": ")
        start = f"{path}:{place}: error: "
        if not said[0].startswith(start):
            wrong.append(f"the error is not at {path}:{place}")
        if message not in said[0]:
            wrong.append("the message is another one")
    if INTERNALS.search(text):
        wrong.append("internals show")
    if left:
        wrong.append(f"left behind: {', '.join(left)}")
    return wrong


def bless(path, text):
    said = errors(text)[0].removeprefix(path + ":")
    with open(path, "rb") as file:
        content = file.read()
    if content.startswith(HEADER):
        content = content.partition(b"\n")[2]
    line = said.replace(": error: ", ": ", 1).encode()
    with open(path, "wb") as file:
        file.write(HEADER + line + b"\n" + content)


sys.exit(main())
