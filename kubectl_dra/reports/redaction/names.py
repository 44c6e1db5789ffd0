"""What stands for a string: the same everywhere it occurs, in the same order, and nothing of the string itself.

Strings are collected first and numbered in their order (code points, as Go's bytes), so that whatever sorts or compares
names, devices, attributes or versions does it as before. A text with slashes is made of its parts.
"""

from __future__ import annotations

import functools
import re
from typing import Final

from kubectl_dra.model.semver import Semver, SemverError
from kubectl_dra.reports.redaction.words import ATTRIBUTE_IDS, EVERYWHERE
from kubectl_dra.selectors.hidden import CEL

_WIDTH: Final = 4
# How the scheduler names requests of the claims that it makes for extended resources.
_OF_SCHEDULER: Final = re.compile(r"container-\d{1,4}-request-\d{1,4}")
_INT64: Final = range(-(2**63), 2**63)


def whole_number(text: str) -> int | None:
    """What the scheduler compares with Gt and Lt (Go's ParseInt), None for any other text."""
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not digits.isdecimal() or not digits.isascii() or len(digits) > 64:
        return None
    return int(text) if int(text) in _INT64 else None


class Pseudonyms:
    """Collects strings until :meth:`settle`; from then on gives what stands for them."""

    def __init__(self) -> None:
        self._open: set[str] = set()
        self._ids: set[str] = set()
        self._versions: set[str] = set()
        self._tokens: dict[str, str] = {}
        self._new_versions: dict[str, str] = {}
        self._images: set[str] = set()
        self._new_images: dict[str, str] = {}
        self._labels: dict[str, set[str]] = {}
        self._compared: set[str] = set()
        self._numbers: dict[str, str] = {}
        self._composed: dict[str, tuple[str, str]] = {}
        self.settled = False

    # --- what a string is -------------------------------------------------------------------------------------------

    def name(self, text: str) -> str:
        """A name, or any other text that is compared as a whole, part by part."""
        return "/".join(map(self._part, text.split("/"))) if "/" in text else self._part(text)

    def compose(self, first: str, second: str) -> None:
        """Note that ``first-second`` is found by its parts: so is a claim of an ephemeral volume, by pod and volume."""
        self._composed[f"{first}-{second}"] = first, second

    def _part(self, text: str) -> str:
        if text in self._open and not self.settled:
            return text
        if text in self._composed and self.settled:
            first, second = self._composed[text]
            return f"{self.name(first)}-{self.name(second)}"
        if not text or text in EVERYWHERE or _OF_SCHEDULER.fullmatch(text):
            return text
        if self.settled:
            return self._tokens[text]
        self._open.add(text)
        return text

    def id(self, text: str) -> str:
        """An identifier of attributes, capacities or counters, or in an expression: common ones stay."""
        if not text or text in CEL:
            return text
        if self.settled:
            return self._tokens.get(text, text)
        self._ids.add(text)
        return text

    def is_known(self, text: str) -> bool:
        """Whether the text stands somewhere as a name."""
        return text in (self._tokens if self.settled else self._open)

    def version(self, text: str) -> str:
        """A semantic version: another one with the same precedence among all; anything else is a name."""
        if not _is_version(text):
            return self.name(text)
        if self.settled:
            return self._new_versions[text]
        self._versions.add(text)
        return text

    def image(self, text: str) -> str:
        """The name of an image, in the form of those that a snapshot hides: it leaves them as they are."""
        if text and not self.settled:
            self._images.add(text)
        return self._new_images[text] if text and self.settled else text

    def compare(self, key: str) -> None:
        """Note that values of a label or taint are compared as numbers."""
        self._compared.add(key)

    def label_value(self, key: str, text: str) -> str:
        """A value of a label or taint: a name, or a number where the cluster compares this key's values as numbers."""
        number = whole_number(text)
        if number is None:
            return self.name(text)
        if self.settled:
            return self._numbers[text] if key in self._compared else self.name(text)
        self._labels.setdefault(key, set()).add(text)
        return self.name(text)

    # --- what stands for it -----------------------------------------------------------------------------------------

    def settle(self) -> None:
        kept = {text for text in self._ids if text in ATTRIBUTE_IDS and text not in self._open}
        old = sorted((self._open | self._ids) - kept)
        width = max(_WIDTH, len(str(len(old))))
        self._tokens = {text: f"n{number:0{width}}" for number, text in enumerate(old, 1)}
        self._new_images = {text: f"sha256:{number:016}" for number, text in enumerate(sorted(self._images), 1)}
        self._number_versions()
        self._number_labels()
        self.settled = True

    def _number_versions(self) -> None:
        parsed = {text: Semver.parse(text) for text in self._versions}

        def compare(a: str, b: str) -> int:
            return parsed[a].cmp(parsed[b]) or (a > b) - (a < b)

        order = sorted(parsed, key=functools.cmp_to_key(compare))
        rank, variant = 0, 0
        for previous, text in zip(["", *order], order, strict=False):
            same = bool(previous) and parsed[previous].cmp(parsed[text]) == 0
            rank, variant = (rank, variant + 1) if same else (rank + 1, 0)
            # Build metadata plays no part in the order, and still tells two versions apart.
            self._new_versions[text] = f"0.0.{rank}" + (f"+n{variant}" if variant else "")

    def _number_labels(self) -> None:
        texts = {text for key in self._compared for text in self._labels.get(key, ())}
        values = {text: number for text in texts if (number := whole_number(text)) is not None}
        rank = {number: place for place, number in enumerate(sorted(set(values.values())), 1)}
        for number, place in rank.items():
            # "08" is another label than "8" and the same number.
            same = sorted(text for text, value in values.items() if value == number)
            self._numbers |= {text: "0" * zeros + str(place) for zeros, text in enumerate(same)}


def _is_version(text: str) -> bool:
    try:
        Semver.parse(text)
    except SemverError:
        return False
    return True
