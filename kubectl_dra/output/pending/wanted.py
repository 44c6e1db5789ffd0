"""What a request needs, as a phrase in a sentence: ``4 free H100 devices``, ``a free gpu.example.com device``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kubectl_dra.diagnosis.records import Cause, ObjectRef
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.output.words import article, plural
from kubectl_dra.reports.claims.ask import ClaimAsk, ExtendedAsk, RequestAsk
from kubectl_dra.selectors.comparisons import only_comparison

_BOUNDS: Final = {">=": "at least", "<=": "at most", "==": "exactly", ">": "more than", "<": "less than"}
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
        """The attribute and the text that the selectors want it to have, where they want nothing else."""
        only = only_comparison(self.selectors)
        return (only.name, only.value) if only is not None and only.kind == "string" else None

    @property
    def bound(self) -> Safe | None:
        """``at least 80Gi of memory``, ``driverVersion at least 1.2.0``: the only comparison that selectors want."""
        only = only_comparison(self.selectors)
        if only is None or only.kind == "string":
            return None
        how = Safe(_BOUNDS[only.operator])
        if only.field == "capacity":
            return fmt("{} {} of {}", how, only.value, only.name)
        return fmt("{} {} {}", only.name, how, only.value)

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
        self._entries = {(ask.namespace, ask.name): ask.entry for ask in asks}
        self.extended = tuple(extended)
        self.several = len(self._requests) + len(self.extended) > 1

    def of(self, claim: ObjectRef | None, request: str) -> Wanted:
        """What a request asks for; without a class where the claim could not be found."""
        found = self._requests.get((claim.namespace, claim.name, request)) if claim is not None else None
        if found is None:
            return Wanted(self.extended[0].device_class) if len(self.extended) == 1 else Wanted()
        return Wanted(
            found.device_class, found.count, found.selectors, found.tolerations, tuple(found.capacity.items())
        )

    def entry(self, claim: ObjectRef) -> str:
        """What the pod calls a claim; its name where that could not be found."""
        return self._entries.get((claim.namespace, claim.name), claim.name)

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
