"""``python -m bench [PART…]``: one table of all budgets, which goes to ``docs/development/performance.md`` as well.

A part that is measured alone replaces its own section of the document; a peer is always of the same run. Each row is
shown beside the one that was committed last. Without words the part with kubectl, which takes long, is left out.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Final

from bench import changes
from bench.document import PARTS, Part, with_part
from bench.frame import HEAD, ROOT, Row, Verdict, WrongAnswerError, cells, line
from kubectl_dra.model.clock import SYSTEM
from tests.controlplane.build import version as kubernetes_version
from tests.gobuild import BuildError, go_command

#: What kubectl needs for large lists is minutes and gigabytes.
_ASKED_FOR: Final = frozenset({"kubectl"})
DOCUMENT: Final = ROOT / "docs" / "development" / "performance.md"


def main(names: Sequence[str]) -> int:
    """Measure the parts of these ``names``, all if there are none. Exit code 1 if a budget is missed."""
    unknown = set(names) - set(PARTS)
    if unknown:
        raise SystemExit(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    print(line(HEAD))
    committed, bad = changes.committed(DOCUMENT), False
    for name in names or [part for part in PARTS if part not in _ASKED_FOR]:
        try:
            part = _measured(name, committed)
        except (WrongAnswerError, OSError) as error:
            print(f"{name} broke off, the document keeps what it had of it: {' '.join(str(error).split())}")
            bad = True
            continue
        text = DOCUMENT.read_text(encoding="utf-8")
        DOCUMENT.write_text(with_part(text, part, (f"{_go()}, Kubernetes {kubernetes_version()}",)), encoding="utf-8")
        bad |= any(row.verdict is Verdict.MISSED for row in part.rows)
    print(DOCUMENT.read_text(encoding="utf-8").rpartition("## ")[2])
    return int(bad)


def _measured(name: str, committed: Mapping[changes.Key, float]) -> Part:
    """Measure a part; each row is shown as soon as it is there."""
    before, commit = os.getloadavg()[0], _output("git", "rev-parse", "--short", "HEAD")
    rows = []
    for row in _rows(name):
        rows.append(row)
        change = changes.told(row, committed)
        print(line(cells(row)) + change + (f"  ({row.why})" if row.why else ""), flush=True)
    return Part(name, f"{SYSTEM.now():%Y-%m-%d %H:%M}", commit, (before, os.getloadavg()[0]), rows)


def _rows(name: str) -> Iterator[Row]:
    yield from import_module(f"bench.{name}").rows()


def _go() -> str:
    try:
        return _output(go_command(), "version").removeprefix("go version ")
    except BuildError:
        return "no Go"


def _output(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False).stdout.strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
