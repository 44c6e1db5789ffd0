"""Writes docs/development/coverage.md from the coverage data of `make coverage`: ``python tools/coverage_table.py``.

The line of code and its reason stand together: numbers of lines would change with every edit.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path
from typing import Any

from coverage import Coverage

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "development" / "coverage.md"
#: Where every decision counts: each uncovered line is listed.
CORE = ("allocation", "cel", "diagnosis")
#: What a line holds -> why no test of `make test` reaches it; the first that fits.
REASONS = (
    ("UndecidedError", "a selector beyond the limits of work: reached by the fuzzer and by `make differential`"),
    ("Undecided(", "a selector beyond the limits of work: reached by the fuzzer and by `make differential`"),
    ("Aborted", "an error that already ended the search: a second look at it is only asked for in rare orders"),
    ("NotApplicableError", "a shape that counting leaves to the walk; the walk is what tests compare with"),
    ("no_such_overload", "a type that the checker refuses before; guards values of unknown type"),
    ("raise CelError", "guards a value that the checker refuses unless its type is unknown"),
    ("except CelError", "guards a value that the checker refuses unless its type is unknown"),
    ("raise UrlError", "an odd URL"),
    ("raise _fail", "an odd address"),
    ("raise ", "a guard"),
    ("except ", "a guard"),
    ("return None", "nothing to say: an early end for input that the callers sort out before"),
    ("return", "a shortcut for a case that is rare in recorded clusters"),
)
GROUPS = {
    "source": "the rest runs in `make e2e` against a real server",
    "commands": "the rest runs in `make e2e` and in the tests of shells",
    "tui": "the rest runs in tmux and in `make e2e`",
    "output": "words of rare causes",
    "reports": "rare causes",
    "api": "guards for broken objects, which the fuzzer reaches",
    "model": "",
}
HEAD = """# What the tests reach

Written by `make coverage`: lines and branches of `make test`, with the commands that tests start. `make e2e`,
`make differential`, the shells and tmux come on top and are not counted here.

"""


class Package:
    """Numbers of one package; ``missing`` has the uncovered lines by file."""

    def __init__(self) -> None:
        self.lines = self.lines_met = self.branches = self.branches_met = 0
        self.missing: dict[str, list[str]] = {}

    def add(self, name: str, analysis: Any) -> None:
        """Count a file."""
        numbers = analysis.numbers
        self.lines += numbers.n_statements
        self.lines_met += numbers.n_statements - numbers.n_missing
        self.branches += numbers.n_branches
        self.branches_met += numbers.n_branches - numbers.n_missing_branches
        source = (ROOT / "kubectl_dra" / name).read_text(encoding="utf-8").splitlines()
        if analysis.missing:
            self.missing[name] = [source[line - 1].strip() for line in sorted(analysis.missing)]

    @property
    def share(self) -> float:
        """Lines and branches together, as coverage.py counts."""
        return (self.lines_met + self.branches_met) / max(1, self.lines + self.branches)


def packages(data: Coverage) -> dict[str, Package]:
    """Every package; modules at the top stand under their own name."""
    found: dict[str, Package] = defaultdict(Package)
    for path in sorted((ROOT / "kubectl_dra").rglob("*.py")):
        name = path.relative_to(ROOT / "kubectl_dra").as_posix()
        found[name.partition("/")[0] if "/" in name else "(top)"].add(name, data._analyze(str(path)))
    return dict(found)


def reason(line: str) -> str:
    """Why a line is not reached."""
    return next((why for text, why in REASONS if text in line), "part of the branch above")


def page(found: dict[str, Package]) -> str:
    """The whole page."""
    total = Package()
    rows = []
    for name, each in sorted(found.items()):
        rows.append(f"| `{name}` | {each.lines:,} | {each.branches:,} | {each.share:.1%} | {GROUPS.get(name, '')} |")
        for field in ("lines", "lines_met", "branches", "branches_met"):
            setattr(total, field, getattr(total, field) + getattr(each, field))
    rows.append(f"| all | {total.lines:,} | {total.branches:,} | {total.share:.1%} | |")
    parts = [HEAD, "| package | lines | branches | reached | |\n|---|---|---|---|---|\n", "\n".join(rows), "\n"]
    for name in CORE:
        parts.append(f"\n## Not reached in `{name}`\n")
        for file, lines in found[name].missing.items():
            parts.append(f"\n`{file}`\n\n| line | why |\n|---|---|\n")
            parts += [f"| `{line.replace('|', chr(92) + '|')}` | {reason(line)} |\n" for line in dict.fromkeys(lines)]
    return "".join(parts)


def main() -> None:
    """Write the page."""
    argparse.ArgumentParser(prog="python tools/coverage_table.py", description=__doc__).parse_args()
    data = Coverage(config_file=str(ROOT / "tools" / "coverage.ini"))
    data.load()
    PAGE.write_text(page(packages(data)), encoding="utf-8")


if __name__ == "__main__":
    main()
