"""``docs/development/performance.md``: a section for each part, so that a part that is measured again replaces its own.

The others stay as they stand in the document, with the words that somebody has written below their tables.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Final

import msgspec

from bench.frame import HEAD, Row, Verdict, markdown

#: The parts in the order of the document.
PARTS: Final = (
    "cold_start",
    "completion",
    "decode",
    "selector",
    "search",
    "scheduler",
    "live",
    "pending",
    "remedies",
    "capacity",
    "large",
    "tui",
    "kubectl",
)
_BUDGETS: Final = "Budgets"
_INTRODUCTION: Final = """\
# Performance

Written by `make bench`. Data are made up to look like the world: every device has a uuid and a PCI address of its own,
each node has eight GPUs and two network interfaces of two drivers and runs ten pods, a third of the GPUs is in use.

- **ours** and **theirs** are processor time, user and system, of all processes that were started: on a busy machine it
  changes least. **MB** is the most memory that was in use. **cpu** is the ratio or difference that the budget limits,
  by processor time; **clock** is the same by the clock.
- A budget is *met* if both keep it, and *met (cpu)* if only processor time does, as on a machine that has other work.
- Peers run in the same run, in turns with ours, on the same bytes: an interpreter that does nothing, `json.loads`, the
  real allocator and CEL code of Kubernetes in Go (`tests/oracle`, made anew per attempt and asked about every node),
  a bare loop that reads the same lists from the same server and decodes each body once (`bench/loop.py`), and the real
  kubectl (`python -m bench kubectl`). That server plays recorded answers back and counts for neither side. Go's
  time includes its garbage collector, which runs on a second core: its clock says less.
- Each part says when it was measured and how busy the machine was, by the load (the average of a minute) before and
  after.
"""


class Part(msgspec.Struct):
    """What one part gave, when (UTC), after which commit, and how busy the machine was before and after."""

    name: str
    time: str
    commit: str
    load: tuple[float, float]
    rows: list[Row]


def with_part(text: str, part: Part, others: Sequence[str]) -> str:
    """The document with a part in the place of what it had of that; ``others``: versions of what was measured with."""
    sections = {**sections_of(text), part.name: _section(part)}
    lines = [_INTRODUCTION, *(f"- {each}" for each in (*_machine(), *others)), ""]
    for name in PARTS:
        lines += [f"## {name}", "", *sections.get(name, ["Not measured."]), ""]
    lines += [f"## {_BUDGETS}", "", *(f"- {each}" for each in summary(_rows(sections)))]
    return "\n".join([*lines, ""])


def summary(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """How many budgets are met, and which are not, by the cells of all rows."""
    verdict = HEAD.index("verdict")
    budgeted = [row for row in rows if row[verdict] != Verdict.NONE]
    met = [row for row in budgeted if row[verdict] in (Verdict.MET, Verdict.MET_CPU)]
    by_cpu = sum(row[verdict] == Verdict.MET_CPU for row in met)
    yield f"{len(met)} of {len(budgeted)} budgets are met, {by_cpu} of them by processor time alone."
    for row in budgeted:
        if row not in met:
            yield f"{row[verdict]}: {row[0]} {row[1]}: {row[7]} and {row[3]} MB, budget {row[9]}"


def _section(part: Part) -> list[str]:
    before, after = part.load
    remarks = [f"- {row.what}{f', {row.size}' if row.size else ''}: {row.why}" for row in part.rows if row.why]
    when = f"Measured {part.time} after {part.commit}, at a load of {before:.1f} before and {after:.1f} after."
    return [when, "", *markdown(part.rows), *(["", *dict.fromkeys(remarks)] if remarks else [])]


def sections_of(text: str) -> Mapping[str, list[str]]:
    """The lines below each heading of a part."""
    heads = re.split(r"^## (.*)\n", text, flags=re.MULTILINE)
    return {name: body.strip("\n").split("\n") for name, body in zip(heads[1::2], heads[2::2], strict=True)}


def _rows(sections: Mapping[str, list[str]]) -> list[list[str]]:
    """The cells of all rows of the parts."""
    lines = (line for name in PARTS for line in sections.get(name, ()) if line.startswith("| "))
    cells = ([each.strip() for each in line.strip().strip("|").split("|")] for line in lines)
    return [row for row in cells if len(row) == len(HEAD) and row != list(HEAD)]


def _machine() -> Iterator[str]:
    """The machine and the versions."""
    names = [
        text for text in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines() if text.startswith("model name")
    ]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    packages = ", ".join(f"{name} {version(name)}" for name in ("msgspec", "textual", "kubernetes"))
    yield f"{os.cpu_count()} x {names[0].partition(':')[2].strip() if names else platform.machine()}, {memory:.0f} GB"
    yield f"{platform.system()} {platform.release()}, Python {platform.python_version()}, {packages}"
