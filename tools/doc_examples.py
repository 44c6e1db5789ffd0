"""Refreshes the examples in the docs: ``python tools/doc_examples.py`` (``--check`` only says which are stale).

An example is ``<!-- example: ARGUMENTS -->`` and the fenced block after it, which becomes the output of
``kubectl dra ARGUMENTS``. Examples that answer from the demo cluster don't show ``--from demo``.
Arguments that end with ``| head -NUMBER`` show so many lines.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from kubectl_dra.commands.app import run

ROOT = Path(__file__).resolve().parents[1]
HEAD = re.compile(r"^(.*?)(?: \| head -(\d+))?$", re.DOTALL)
EXAMPLE = re.compile(r"<!-- example: (?P<arguments>[^\n]+) -->\n(?:\n?```\n.*?\n```\n)?", re.DOTALL)


def documents() -> Iterator[Path]:
    """README and everything under docs."""
    yield ROOT / "README.md"
    yield from sorted((ROOT / "docs").rglob("*.md"))


def output(arguments: str) -> str:
    """What the program prints, notes included."""
    words, lines = HEAD.fullmatch(arguments).groups()  # type: ignore[union-attr] - it matches everything
    shown = io.BytesIO()
    screen = io.TextIOWrapper(shown, encoding="utf-8", write_through=True)
    with redirect_stdout(screen), redirect_stderr(screen):
        run(shlex.split(words))
    return "\n".join(shown.getvalue().decode().splitlines()[: int(lines) if lines else None])


def refreshed(text: str) -> str:
    """The document with the examples of today."""

    def example(match: re.Match[str]) -> str:
        arguments = match["arguments"]
        shown, printed = arguments.replace(" --from demo", ""), output(arguments).rstrip()
        if shown != arguments:
            # As on a live cluster, also where a command is printed.
            printed = printed.replace(" --from demo", "")
        return f"<!-- example: {arguments} -->\n```\n$ kubectl dra {shown}\n{printed}\n```\n"

    return EXAMPLE.sub(example, text)


def main() -> int:
    """Write or check all documents."""
    os.environ |= {"NO_COLOR": "1", "COLUMNS": "80", "KUBECONFIG": os.devnull}
    os.chdir(ROOT)
    stale = []
    for path in documents():
        text = path.read_text(encoding="utf-8")
        fresh = refreshed(text)
        if fresh != text:
            stale.append(path.relative_to(ROOT).as_posix())
            if "--check" not in sys.argv:
                path.write_text(fresh, encoding="utf-8")
    print("\n".join(stale) or "all examples are fresh")
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
