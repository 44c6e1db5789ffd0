"""``python -m bench [PART…]``: one table of all budgets, which goes to ``docs/development/performance.md`` as well.

What each part gave is kept, so that one of them can be measured again alone; a peer is always of the same run. Each row
is shown beside the one that was committed last. Without words the part with kubectl, which takes long, is left out.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Final

import msgspec

from bench import changes
from bench.frame import HEAD, ROOT, Budget, Measure, Row, Verdict, WrongAnswerError, cells, line, markdown
from kubectl_dra.model.clock import SYSTEM
from tests.controlplane.build import version as kubernetes_version
from tests.gobuild import BuildError, go_command

PARTS = (
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
#: What kubectl needs for large lists is minutes and gigabytes.
_ASKED_FOR: Final = frozenset({"kubectl"})
DOCUMENT = ROOT / "docs" / "development" / "performance.md"
_KEPT = ROOT / ".cache" / "bench"
_INTRODUCTION = """\
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
"""


class Part(msgspec.Struct):
    """What one part gave, when, after which commit, and how busy the machine was before and after."""

    name: str
    time: str
    commit: str
    load: tuple[float, float]
    rows: list[Row]
    complete: bool = True


def main(names: Sequence[str]) -> int:
    """Measure the parts of these ``names``, all if there are none. Exit code 1 if a budget is missed."""
    unknown = set(names) - set(PARTS)
    if unknown:
        raise SystemExit(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    _KEPT.mkdir(parents=True, exist_ok=True)
    print(line(HEAD))
    committed = changes.committed(DOCUMENT)
    for name in names or [part for part in PARTS if part not in _ASKED_FOR]:
        _measure(name, committed)
    rows = [row for part in write_document() for row in part.rows]
    print("\n".join(_summary(rows)))
    return 1 if any(row.verdict is Verdict.MISSED for row in rows) else 0


def write_document() -> list[Part]:
    """Write ``docs/development/performance.md`` from all parts that are kept."""
    files = [path for name in PARTS if (path := _KEPT / f"{name}.json").exists()]
    parts = [msgspec.json.decode(path.read_bytes(), type=Part) for path in files]
    DOCUMENT.write_text("\n".join(document(parts)), encoding="utf-8")
    return parts


def document(parts: Sequence[Part]) -> list[str]:
    """The lines of ``docs/development/performance.md``."""
    rows = [row for part in parts for row in part.rows]
    lines = [_INTRODUCTION, *(f"- {text}" for text in _machine()), "", *markdown(rows), "", "## Budgets", ""]
    lines += [f"- {text}" for text in _summary(rows)]
    lines += [f"- {text}" for text in dict.fromkeys(map(_remark, rows)) if text]
    whole = {part.name for part in parts if part.complete}
    lines += [f"- {name}: ended before all of it was measured" for name in PARTS if name not in whole]
    cores = os.cpu_count()
    lines += [
        "",
        "## When",
        "",
        "| part | time (UTC) | after commit | load before | load after |",
        "|---|---|---|--:|--:|",
    ]
    lines += [f"| {p.name} | {p.time} | {p.commit} | {p.load[0]:.1f} | {p.load[1]:.1f} |" for p in parts]
    lines += [f"| {name} | not measured | | | |" for name in PARTS if name not in {part.name for part in parts}]
    return [*lines, "", f"The load is the average of a minute; {cores} processors are fully busy at {cores}.", ""]


def _measure(name: str, committed: Mapping[changes.Key, float]) -> None:
    """Measure a part and keep it row by row, so that a run that is ended leaves what it has."""
    before, commit = os.getloadavg()[0], _output("git", "rev-parse", "--short", "HEAD")
    rows = []
    for row in _rows(name):
        rows.append(row)
        change = changes.told(row, committed)
        print(line(cells(row)) + change + (f"  ({row.why})" if row.why else ""), flush=True)
        _keep(Part(name, f"{SYSTEM.now():%Y-%m-%d %H:%M}", commit, (before, os.getloadavg()[0]), rows, False))
    _keep(Part(name, f"{SYSTEM.now():%Y-%m-%d %H:%M}", commit, (before, os.getloadavg()[0]), rows))


def _keep(part: Part) -> None:
    (_KEPT / f"{part.name}.json").write_bytes(msgspec.json.encode(part))


def _rows(name: str) -> Iterator[Row]:
    """The rows of a part; where it breaks off, that is the last row, and the other parts go on."""
    try:
        yield from import_module(f"bench.{name}").rows()
    except (WrongAnswerError, OSError) as error:
        yield Row(name, "", None, budget=Budget(Measure.RATIO, 0), why=f"broke off: {' '.join(str(error).split())}")


def _summary(rows: Sequence[Row]) -> list[str]:
    counts = {verdict: [row for row in rows if row.verdict is verdict] for verdict in Verdict}
    budgeted = len(rows) - len(counts[Verdict.NONE])
    met = len(counts[Verdict.MET]) + len(counts[Verdict.MET_CPU])
    lines = [f"{met} of {budgeted} budgets are met, {len(counts[Verdict.MET_CPU])} of them by processor time alone."]
    for verdict in (Verdict.MISSED, Verdict.UNKNOWN):
        for row in counts[verdict]:
            figures = cells(row)
            lines.append(f"{verdict}: {row.what} {row.size}: {figures[7]} and {figures[3]} MB, budget {figures[9]}")
    return lines


def _remark(row: Row) -> str:
    return f"{row.what}{f', {row.size}' if row.size else ''}: {row.why}" if row.why else ""


def _machine() -> list[str]:
    """The machine and the versions."""
    names = [
        text for text in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines() if text.startswith("model name")
    ]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    packages = ", ".join(f"{name} {version(name)}" for name in ("msgspec", "textual", "kubernetes"))
    return [
        f"{os.cpu_count()} x {names[0].partition(':')[2].strip() if names else platform.machine()}, {memory:.0f} GB",
        f"{platform.system()} {platform.release()}, Python {platform.python_version()}, {packages}",
        f"{_go()}, Kubernetes {kubernetes_version()}",
    ]


def _go() -> str:
    try:
        return _output(go_command(), "version").removeprefix("go version ")
    except BuildError:
        return "no Go"


def _output(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False).stdout.strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
