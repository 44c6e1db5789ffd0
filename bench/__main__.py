"""``python -m bench [PART…]``: one table of all budgets; a whole run writes ``docs/performance.md``."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

from bench.frame import HEAD, ROOT, Budget, Measure, Row, Verdict, WrongAnswerError, cells, line, markdown
from tests.controlplane.build import version as kubernetes_version
from tests.gobuild import BuildError, go_command

PARTS = ("cold_start", "completion", "decode", "selector", "search", "live", "pending", "tui")
DOCUMENT = ROOT / "docs" / "performance.md"
_INTRODUCTION = """\
# Performance

Written by `make bench`; every figure is of that one run. Data are made up to look like the world: every device has a
uuid and a PCI address of its own, each node has eight GPUs and two network interfaces of two drivers and runs ten pods,
a third of the GPUs is in use.

- **ours** and **theirs** are processor time, user and system, of all processes that were started: on a busy machine it
  changes least. **MB** is the most memory that was in use. **cpu** is the ratio or difference that the budget limits,
  by processor time; **clock** is the same by the clock.
- A budget is *met* if both keep it, and *met (cpu)* if only processor time does, as on a machine that has other work.
- Peers run in the same run, in turns with ours, on the same bytes: an interpreter that does nothing, `json.loads`, the
  real allocator and CEL code of Kubernetes in Go (`tests/oracle`, made anew per attempt and asked about every node),
  and the real kubectl, which asks the same server for the same lists. That server plays recorded answers back and
  counts for neither side. Go's time includes its garbage collector, which runs on a second core: its clock says less.
"""


def main(parts: Sequence[str]) -> int:
    """Measure ``parts``, all if none is named. Exit code 1 if a budget is missed."""
    unknown = set(parts) - set(PARTS)
    if unknown:
        raise SystemExit(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    began = _machine()
    print(line(HEAD))
    rows: list[Row] = []
    for part in parts or PARTS:
        for row in _rows(part):
            rows.append(row)
            print(line(cells(row)) + (f"  ({row.why})" if row.why else ""), flush=True)
    for text in _summary(rows):
        print(text)
    if not parts:
        DOCUMENT.write_text("\n".join(document(rows, began, _machine())))
        print(f"written: {DOCUMENT.relative_to(ROOT)}")
    return 1 if any(row.verdict is Verdict.MISSED for row in rows) else 0


def document(rows: Sequence[Row], began: Sequence[str], ended: Sequence[str]) -> list[str]:
    """The lines of ``docs/performance.md``."""
    load = f"- {ended[-1]} at the end"
    lines = [_INTRODUCTION, *(f"- {text}" for text in began), load, "", *markdown(rows), "", "## Budgets", ""]
    lines += [f"- {text}" for text in _summary(rows)]
    remarks = {
        f"{row.what}, {row.size}: {row.why}" if row.size else f"{row.what}: {row.why}" for row in rows if row.why
    }
    if remarks:
        lines += ["", "## Remarks", "", *(f"- {text}" for text in sorted(remarks))]
    return [*lines, ""]


def _rows(part: str) -> Iterator[Row]:
    """The rows of a part; where it breaks off, that is the last row, and the other parts go on."""
    try:
        yield from import_module(f"bench.{part}").rows()
    except (WrongAnswerError, OSError) as error:
        yield Row(part, "", None, budget=Budget(Measure.RATIO, 0), why=f"broke off: {error}")


def _summary(rows: Sequence[Row]) -> list[str]:
    counts = {verdict: [row for row in rows if row.verdict is verdict] for verdict in Verdict}
    budgeted = len(rows) - len(counts[Verdict.NONE])
    met = len(counts[Verdict.MET]) + len(counts[Verdict.MET_CPU])
    lines = [f"{met} of {budgeted} budgets are met, {len(counts[Verdict.MET_CPU])} of them by processor time alone."]
    for verdict in (Verdict.MISSED, Verdict.UNKNOWN):
        for row in counts[verdict]:
            figures = cells(row)
            lines.append(f"{verdict}: {row.what} {row.size}: {figures[7]} (budget {figures[9]}, {figures[3]} MB)")
    return lines


def _machine() -> list[str]:
    """Date, machine and versions; the load last."""
    names = [text for text in Path("/proc/cpuinfo").read_text().splitlines() if text.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    packages = ", ".join(f"{name} {version(name)}" for name in ("msgspec", "textual", "kubernetes"))
    commit = _output("git", "rev-parse", "--short", "HEAD")
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    return [
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, after commit {commit}",
        f"{os.cpu_count()} x {names[0].partition(':')[2].strip() if names else platform.machine()}, {memory:.0f} GB",
        f"{platform.system()} {platform.release()}, Python {platform.python_version()}, {packages}",
        f"{_go()}, Kubernetes {kubernetes_version()}",
        f"load average (1, 5, 15 minutes) {load}",
    ]


def _go() -> str:
    try:
        return _output(go_command(), "version").removeprefix("go version ")
    except BuildError:
        return "no Go"


def _output(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
