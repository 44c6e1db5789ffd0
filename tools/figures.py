"""Counts what verdicts are proved with, into docs/development/proofs.md.

``python tools/figures.py`` (``--check``: fresh?)
"""

from __future__ import annotations

import gzip
import re
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "development" / "proofs.md"
BLOCK = re.compile(r"(?<=<!-- figures -->\n).*?(?=<!-- end of figures -->)", re.DOTALL)
# What was recorded -> where.
RECORDED = {
    "searches of the allocator": ("vectors/alloc.jsonl.gz", "vectors/alloc_mutated.jsonl.gz"),
    "corners and error texts of the allocator": (
        "vectors/alloc_probes.jsonl.gz",
        "vectors/alloc_texts.jsonl.gz",
        "vectors/alloc_corners.jsonl.gz",
    ),
    "selectors compiled and evaluated": ("vectors/cel.jsonl.gz",),
    "odd expressions compiled": ("vectors/cel_compile.jsonl.gz",),
    "operators and libraries on values of any kind": (
        "cel/dynamic.jsonl.gz",
        "cel/libraries.jsonl.gz",
        "cel/corners.jsonl.gz",
    ),
    "quantities and versions": ("vectors/values.jsonl.gz",),
    "objects admitted or refused by the API server": ("vectors/admission.jsonl.gz",),
    "objects converted by the API server": ("vectors/conversion.jsonl.gz",),
}


def lines_in(name: str) -> int:
    """Recorded answers in one file."""
    with gzip.open(ROOT / "tests" / name) as file:
        return sum(1 for _ in file)


def table() -> str:
    """The table of the page."""
    rows = [(what, sum(map(lines_in, names)), names) for what, names in RECORDED.items()]
    scenarios = sum(1 for path in (ROOT / "tests" / "scenarios").iterdir() if path.is_dir())
    situations = yaml.safe_load((ROOT / "tests" / "e2e" / "cases.yaml").read_text(encoding="utf-8"))["cases"]
    rows.append(("clusters recorded from a real control plane", scenarios, ("scenarios/",)))
    older = sum(1 for _ in (ROOT / "tests" / "generations" / "recorded").rglob("*.json"))
    rows.append(("clusters recorded from control planes of older releases", older, ("generations/recorded/",)))
    rows.append(("situations made anew by `make e2e`", len(situations), ("e2e/cases.yaml",)))
    text = ["| answers | number | in `tests/` |", "|---|---|---|"]
    text += [f"| {what} | {number:,} | {', '.join(f'`{n}`' for n in names)} |" for what, number, names in rows]
    return "\n".join(text) + "\n"


def main() -> int:
    """Write or check the page."""
    text = PAGE.read_text(encoding="utf-8")
    fresh = BLOCK.sub(lambda _: table(), text)
    if "--check" not in sys.argv:
        PAGE.write_text(fresh, encoding="utf-8")
    elif fresh != text:
        print("docs/development/proofs.md")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
