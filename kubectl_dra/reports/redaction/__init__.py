"""Redaction of a snapshot by allow list: docs/redaction.md says what stays, everything else is replaced.

Every string becomes another one, the same everywhere it occurs and in the same order, so that every verdict, count and
condition stays as it was. Objects are rewritten one by one, after all of them were looked through once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from kubectl_dra.reports.redaction.answers import answers_of, with_answers
from kubectl_dra.reports.redaction.names import Pseudonyms
from kubectl_dra.reports.redaction.rewriter import Rewriter
from kubectl_dra.reports.snapshot import SnapshotDocument
from kubectl_dra.selectors.hidden import Expressions

Json = Any
_VERSION: Final = re.compile(r"v?\d{1,4}\.\d{1,4}(?:\.\d{1,4})?")
#: The first note of a redacted snapshot: what was replaced, and what stays.
NOTE: Final = (
    "redacted: names, uids, labels, taints, attribute values, versions, addresses, messages and the literals of "
    "expressions are replaced, each the same everywhere and in the same order; numbers, quantities, times, resource "
    "versions and Kubernetes' own words stay (docs/redaction.md lists them)"
)


class Redaction:
    """What stands for the strings of one snapshot.

    ``items`` gives its objects as JSON, as often as it is called; ``head`` is the rest of the document.
    """

    def __init__(self, items: Callable[[], Iterable[Json]], head: Mapping[str, Json], shows_sharing: bool) -> None:
        self._names = Pseudonyms()
        self._expressions = Expressions(self._names, shows_sharing)
        self._rewriter = Rewriter(self._names, self._expressions)
        for item in items():
            self._rewriter.object(item)
        if self._expressions.has_values:
            # Derived attributes have values of their own, which only devices tell; classes and claims come after them.
            for item in items():
                self.object(item)
        self.head(head)
        self._rewriter.collect_sentences()
        self._names.settle()
        self._expressions.settle()

    def object(self, item: Json) -> Json:
        """One object of the snapshot with everything replaced that does not stay."""
        answers = answers_of(item, self._expressions)
        return with_answers(self._rewriter.object(item), answers, self._rewriter.attribute)

    def head(self, head: Mapping[str, Json]) -> dict[str, Json]:
        """The snapshot without its items; its notes say first that it is redacted."""
        made: dict[str, Json] = {}
        for name, value in head.items():
            if name in ("apiVersion", "kind"):
                made[name] = value
            elif name == "taken":
                made[name] = self._rewriter.time(value) if value else ""
            elif name == "server":
                version = str(value.get("version", ""))
                made[name] = {"version": version if _VERSION.fullmatch(version) else "", "url": ""}
            elif name == "context":
                made[name] = ""
            elif name == "reads":
                made[name] = [self._read(read) for read in value]
        made["notes"] = [NOTE, *(self._rewriter.sentence(text) for text in head.get("notes", ()) if text != NOTE)]
        return made

    def _read(self, read: Mapping[str, Json]) -> dict[str, Json]:
        give: dict[str, Callable[[str], str]] = {
            "kind": self._rewriter.word,
            "coverage": str,
            "namespace": self._names.name,
            "resourceVersion": self._rewriter.revision,
            "time": self._rewriter.time,
            "note": self._rewriter.sentence,
        }
        return {name: give[name](value) if value else value for name, value in read.items() if name in give}


def redacted(document: SnapshotDocument, shows_sharing: bool = True) -> SnapshotDocument:
    """The snapshot with everything replaced that does not stay.

    ``shows_sharing``: whether the scheduler's expressions see that a device may be shared
    (``Features.shows_sharing``); the answers that devices get are those of that scheduler.
    """
    redaction = Redaction(document.items, document.header, shows_sharing)
    return SnapshotDocument(redaction.head(document.header), lambda: map(redaction.object, document.items()))
