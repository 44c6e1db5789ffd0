"""What a request needs, as a phrase in a sentence: ``4 free H100 devices``, ``a free gpu.example.com device``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kubectl_dra.diagnosis.records import Cause, ObjectRef
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.output.words import article, plural
from kubectl_dra.reports.claims.ask import ClaimAsk, ExtendedAsk, RequestAsk

#: ``device.attributes["gpu.example.com"].model == "H100"``, however the name is written.
_EQUALS: Final = re.compile(
    r"""device\.attributes\[(?:"[^"]*"|'[^']*')\](?:\.\??|\[\??["'])([A-Za-z_][A-Za-z0-9_-]*)(?:["']\])?"""
    r"""(?:\.orValue\((?:""|'')\))?\s*==\s*(?:"([^"\\]*)"|'([^'\\]*)')"""
)
#: ``device.capacity["gpu.example.com"].memory.compareTo(quantity("80Gi")) >= 0``, of attributes with ``semver``.
_BOUND: Final = re.compile(
    r"""device\.(attributes|capacity)\[(?:"[^"]*"|'[^']*')\]\.\??([A-Za-z_][A-Za-z0-9_-]*)"""
    r"""\.compareTo\((?:quantity|semver)\((?:"([^"\\]*)"|'([^'\\]*)')\)\)\s*(>=|<=|==|>|<)\s*0"""
)
_BOUNDS: Final = {">=": "at least", "<=": "at most", "==": "exactly", ">": "more than", "<": "less than"}
#: The same of ``.memory.isGreaterThan(quantity("80Gi"))``, rewritten as the form above.
_STRICT: Final = re.compile(r"\.is(Greater|Less)Than(\((?:quantity|semver)\([^()]*\)\))")
#: Attributes whose value names the device itself.
_KINDS: Final = frozenset({"model", "product", "productName"})


@dataclass(frozen=True, slots=True)
class Wanted:
    """What one request asks for; ``selected`` names the devices that class and selectors leave."""

    device_class: str = ""
    count: int | None = 1
    selectors: tuple[str, ...] = ()
    tolerations: tuple[str, ...] = ()
    capacity: tuple[tuple[str, str], ...] = ()

    @property
    def of_class(self) -> Safe:
        """``gpu.example.com``, or nothing where the class is not known."""
        return safe(self.device_class)

    @property
    def value(self) -> tuple[str, str] | None:
        """The attribute and the text that the only selector wants it to have."""
        found = _EQUALS.fullmatch(" ".join(self.selectors[0].split())) if len(self.selectors) == 1 else None
        return (found[1], found[2] or found[3] or "") if found is not None else None

    @property
    def bound(self) -> Safe | None:
        """``at least 80Gi of memory``, ``driverVersion at least 1.2.0``: what the only selector wants to compare."""
        if len(self.selectors) != 1:
            return None
        text = _STRICT.sub(_compared, " ".join(self.selectors[0].split()))
        found = _BOUND.fullmatch(text)
        if found is None:
            return None
        how, value = Safe(_BOUNDS[found[5]]), found[3] or found[4] or ""
        if found[1] == "capacity":
            return fmt("{} {} of {}", how, value, found[2])
        return fmt("{} {} {}", found[2], how, value)

    def noun(self, *, selected: bool = True) -> tuple[Safe, Safe]:
        """The adjective before ``device`` and what follows: ``("H100", "")``, ``("gpu.example.com", " with size 2")``.

        ``selected``: with what the selectors ask for.
        """
        value = self.value
        if not selected or not self.selectors:
            return self.of_class, Safe("")
        if value is None:
            return self.of_class, Safe(" that match the selector" if self.many else " that matches the selector")
        name, text = value
        return (safe(text), Safe("")) if name in _KINDS and text else (self.of_class, fmt(" with {} {}", name, text))

    @property
    def many(self) -> bool:
        return self.count is None or self.count > 1

    def phrase(self, *, free: bool = True) -> Safe:
        """``4 free H100 devices``, ``a free gpu.example.com device``."""
        adjective, after = self.noun()
        middle = Safe(" ").join([part for part in (Safe("free") if free else Safe(""), adjective) if part])
        words = middle + " " if middle else Safe("")
        if self.count == 1:
            return fmt("{} {}device{}", article(words or "device"), words, after)
        amount = Safe("all") if self.count is None else fmt("{:,}", self.count)
        return fmt("{} {}devices{}", amount, words, after)

    def kind(self, number: int = 2, *, selected: bool = True) -> Safe:
        """``H100 devices``; one of them where ``number`` is 1."""
        adjective, after = self.noun(selected=selected)
        words = adjective + " " if adjective else Safe("")
        return fmt("{}{}{}", words, Safe(plural("device", number)), after)


class Asks:
    """The requests of a pod's claims and extended resources, found by what a cause is about."""

    def __init__(self, asks: Sequence[ClaimAsk], extended: Sequence[ExtendedAsk] = ()) -> None:
        self._requests: dict[tuple[str, str, str], RequestAsk] = {
            (ask.namespace, ask.name, request.name): request for ask in asks for request in ask.requests
        }
        self._extended = tuple(extended)
        self.several = len(self._requests) + len(self._extended) > 1

    def of(self, claim: ObjectRef | None, request: str) -> Wanted:
        """What a request asks for; without a class where the claim could not be found."""
        found = self._requests.get((claim.namespace, claim.name, request)) if claim is not None else None
        if found is None:
            return Wanted(self._extended[0].device_class) if len(self._extended) == 1 else Wanted()
        return Wanted(
            found.device_class, found.count, found.selectors, found.tolerations, tuple(found.capacity.items())
        )

    def of_cause(self, cause: Cause) -> Wanted:
        return self.of(cause.claim, cause.request)


def amount_of(number: int, total: int, *, of_each: bool = False) -> Safe:
    """``both``, ``all 8``, ``the only one``, ``3 of 8``; ``of_each`` of several nodes: ``both of each``."""
    if number < total:
        return fmt("{} of {}", number, total)
    each = Safe(" of each" if of_each else "")
    if total == 1:
        return fmt("the only one{}", each)
    return fmt("both{}", each) if total == 2 else fmt("all {:,}{}", total, each)


def _compared(strict: re.Match[str]) -> str:
    return f".compareTo{strict[2]} {'>' if strict[1] == 'Greater' else '<'} 0"
