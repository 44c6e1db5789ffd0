"""What many ways out have come to, as a table, and whether that is good enough."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from tests.ways_out.trial import Taken

_AS_SAID: Final = 0.95
_ANNOUNCED: Final = 0.40
_WORDS: Final = 0.10
_COLUMNS: Final = ("bound", "rival", "not", "elsewhere", "failed", "words")


def read(folder: Path, pattern: str = "*.json") -> list[Taken]:
    """What was kept in a folder, by seed and number."""
    found = [Taken(**json.loads(path.read_text(encoding="utf-8"))) for path in folder.glob(pattern)]
    return sorted(found, key=lambda each: (each.seed, each.number))


def shortcomings(taken: Sequence[Taken]) -> list[str]:
    """Where the ways out are not good enough; empty if they are."""
    ways = [each for each in taken if each.outcome != "none"]
    counts = Counter(each.outcome for each in ways)
    carried_out = [each for each in ways if each.outcome != "words"]
    found = []
    as_said = counts["bound"] + counts["rival"]
    if as_said < _AS_SAID * len(carried_out):
        found.append(f"{as_said} of {len(carried_out)} ended as said")
    if counts["rival"] > _ANNOUNCED * max(len(carried_out), 1):
        found.append(f"{counts['rival']} of {len(carried_out)} went to a rival that was named")
    if counts["elsewhere"]:
        found.append(f"{counts['elsewhere']} were bound on a node that was not promised")
    if counts["failed"]:
        found.append(f"{counts['failed']} commands failed")
    if counts["words"] > _WORDS * max(len(ways), 1):
        found.append(f"{counts['words']} of {len(ways)} are words without a command")
    return found


def table(taken: Sequence[Taken]) -> str:
    """Markdown: by cause and by the kind of workload that waits."""
    ways = [each for each in taken if each.outcome != "none"]
    lines = [
        "# Ways out, taken literally",
        "",
        f"{len({each.seed for each in taken})} random clusters, {len(ways)} ways out (`python -m tests.ways_out`). "
        "*bound*: a pod of the workload that waited got a promised node. *rival*: the pod that was named took the "
        "devices. *words*: no command.",
        "",
    ]
    lines += _rows("cause", ways, [each.cause for each in ways])
    lines += ["", *_rows("who waits", ways, [each.waiting for each in ways])]
    lines += ["", *_rows("what to do", ways, [each.kind for each in ways])]
    lines += ["", *(f"- not good enough: {each}" for each in shortcomings(taken))]
    return "\n".join(lines).rstrip() + "\n"


def _rows(title: str, ways: Sequence[Taken], names: Iterable[str]) -> list[str]:
    counts: dict[str, Counter[str]] = {}
    for each, name in zip(ways, names, strict=True):
        counts.setdefault(name, Counter())[each.outcome] += 1
    rows = [f"| {title} | {' | '.join(_COLUMNS)} |", f"|---|{'---:|' * len(_COLUMNS)}"]
    total = Counter(each.outcome for each in ways)
    named = [*((name, counts[name]) for name in sorted(counts)), ("all", total)]
    return rows + [f"| {name} | {' | '.join(str(found[column]) for column in _COLUMNS)} |" for name, found in named]
