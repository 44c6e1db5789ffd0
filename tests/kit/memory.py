"""What a program takes of memory at most, in a process of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Not the resource usage that the parent can ask for: that begins with what the parent itself took when it forked.
_TELL = "\nfinally:\n    import sys; sys.stderr.write(open('/proc/self/status', encoding='utf-8').read())\n"


def peak_of(program: str, *arguments: str) -> tuple[str, int]:
    """What ``program``, lines of Python, wrote to stderr, and the most bytes that it held at once."""
    lines = "".join(f"    {line}\n" for line in program.splitlines())
    words = [sys.executable, "-c", f"try:\n{lines}{_TELL}", *arguments]
    done = subprocess.run(
        words, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8", check=False
    )
    found = re.search(r"^VmHWM:\s+(\d+) kB$", done.stderr, re.MULTILINE)
    assert found is not None, done.stderr
    return done.stderr, int(found[1]) << 10
