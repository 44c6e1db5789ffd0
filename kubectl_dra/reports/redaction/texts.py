"""Sentences of conditions, events and notes: Kubernetes' own words and numbers stay, every other word is a name."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from kubectl_dra.reports.redaction.fields import FIELDS
from kubectl_dra.reports.redaction.names import Pseudonyms
from kubectl_dra.reports.redaction.words import API, ATTRIBUTE_IDS, SENTENCES
from kubectl_dra.selectors.hidden import CEL

_WORD: Final = re.compile(r"[^\s\"'`{}()\[\],;<>|]+")
# A taint as the scheduler prints it: {key: value}.
_TAINT: Final = re.compile(r"\{([^{}:\s]+): ([^{}:\s]*)\}")
# Counts, positions, durations and percentages; longer numbers may be anything.
_NUMBER: Final = re.compile(
    r"#?[-+]?(?:\d{1,9}|\d{1,6}\.\d{1,9}|(?:\d{1,6}(?:\.\d{1,9})?(?:h|m|s|ms|us|µs|ns))+|\d{1,3}%)"
)
_LEADING: Final = re.compile(r"[.:!?=*&^-]*")
_TRAILING: Final = re.compile(r"[.:!?=*&^-]*\Z")
_MARKS: Final = frozenset("\"'`/{")
# Long messages of events are cut, and so is their last word (upstream: FailedScheduling, 1024 bytes).
_CUT: Final = re.compile(r"[^\s]+( \.\.\.)\Z")
_CUT_LENGTH: Final = 1000
# A kind with its group, or a place in an object; between the brackets stands another word.
_FIELD: Final = re.compile(r"(?:[A-Z][A-Za-z]*(?:\.resource)?\.k8s\.io|(?:spec|status|metadata)(?:\.[A-Za-z]+)+)")
_FIELD_WORDS: Final = SENTENCES | API | {name for fields in FIELDS.values() for name in fields}


class Texts:
    """``resource`` and ``taint`` say what stands for the names that have rules of their own."""

    def __init__(
        self, names: Pseudonyms, resource: Callable[[str], str], taint: Callable[[str, str], tuple[str, str]]
    ) -> None:
        self._names = names
        self._resource = resource
        self._taint = taint

    def text(self, text: str) -> str:
        """The sentence with every name in it replaced."""
        if len(text) > _CUT_LENGTH:
            text = _CUT.sub(r"\1", text)
        parts, done = [], 0
        for match in _TAINT.finditer(text):
            parts += [self._words(text[done : match.start()]), "{{{}: {}}}".format(*self._taint(match[1], match[2]))]
            done = match.end()
        return "".join([*parts, self._words(text[done:])])

    def _words(self, text: str) -> str:
        return _WORD.sub(lambda match: self._word(match[0], text[match.start() - 1 : match.start()]), text)

    def _word(self, word: str, before: str) -> str:
        leading = _LEADING.match(word)[0]  # type: ignore[index]
        rest = word[len(leading) :]
        trailing = _TRAILING.search(rest)[0]  # type: ignore[index]
        core = rest[: len(rest) - len(trailing)] if trailing else rest
        return leading + self._core(core, before) + trailing if core else word

    def _core(self, word: str, before: str) -> str:
        if "/" in word:
            return self._path(word)
        marked = before in _MARKS and self._names.is_known(word)
        if not marked and (word in SENTENCES or word in API or _NUMBER.fullmatch(word) or _is_field(word)):
            return word
        return self._name(word)

    def _path(self, word: str) -> str:
        if word in API or word in SENTENCES:
            return word
        parts = word.split("/")
        if all(map(_NUMBER.fullmatch, parts)):
            return word
        return self._resource(word) if len(parts) == 2 else self._names.name(word)

    def _name(self, word: str) -> str:
        if word in ATTRIBUTE_IDS or word in CEL:
            return self._names.name(word) if self._names.is_known(word) else self._names.id(word)
        if self._names.is_known(word):
            return self._names.name(word)
        kind, dot, group = word.partition(".")
        if self._names.is_known(kind) and self._names.is_known(group):
            return self._names.name(kind) + dot + self._names.name(group)
        head, mark, tail = re.split("([:=])", word, maxsplit=1) if re.search("[:=]", word) else (word, "", "")
        if mark:
            return (self._core(head, "") if head else "") + mark + (self._core(tail, "") if tail else "")
        return self._names.name(word)


def _is_field(word: str) -> bool:
    return _FIELD.fullmatch(word) is not None and all(part in _FIELD_WORDS for part in word.split("."))
