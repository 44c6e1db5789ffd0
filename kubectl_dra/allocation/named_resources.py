"""Structured parameters of 1.30: which named resources of a node a claim would get, request by request, first fit.

Upstream: plugins/dynamicresources/structuredparameters.go and structured/namedresources of Kubernetes 1.30. A request
takes the first free instance that passes filter and selector and never gives it back; claims of one pod are looked at
one by one, as if the others did not exist. Who names which parameters is the business of ``diagnosis``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from typing import Final

import msgspec

from kubectl_dra.model.classic import NamedInstance, NamedResourcesSlice, classic_of
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.resource import ResourceClaim, ResourceSlice
from kubectl_dra.selectors.evaluate import InstanceValue, admits_instance, instance_problem

#: Slices of a driver on a node come in any order. Of up to so many all orders are tried.
_MOST_SLICES: Final = 4


@dataclass(eq=False)
class Instance:
    """One named resource of a slice, and the claim that holds it."""

    name: str
    source: NamedInstance
    holder: Key | None = None

    @cached_property
    def value(self) -> InstanceValue:
        """What expressions see."""
        return InstanceValue(self.source)


class DriverDemand(msgspec.Struct, frozen=True):
    """What a claim asks of one driver: the class's ``filter`` for that driver, and one expression per request."""

    driver: str
    requests: tuple[str, ...]
    filter: str | None = None


class NamedSelectorError(msgspec.Struct, frozen=True):
    """An expression that fails on an instance: of the class's filter, or of the request with that number."""

    driver: str
    instance: str
    expression: str
    detail: str
    request: int | None = None

    def text(self, node: str) -> str:
        """The scheduler's words about it."""
        kind = "filter" if self.request is None else "request"
        failure = f"evaluate {kind} CEL expression: {self.detail}"
        return f'checking node "{node}" and resources of driver "{self.driver}": {failure}'


class NamedSelection(msgspec.Struct, frozen=True):
    """What a node gives: an instance per request, None where nothing was left for it; or the error that ends it."""

    chosen: tuple[Instance | None, ...] = ()
    error: NamedSelectorError | None = None

    @property
    def complete(self) -> bool:
        return self.error is None and None not in self.chosen


class NamedOutcome(msgspec.Struct, frozen=True):
    """One claim on one node: a selection per demand. ``undecided``: it depends on the order of the node's slices."""

    selections: Mapping[str, NamedSelection] = msgspec.field(default_factory=dict)
    undecided: bool = False

    @property
    def suitable(self) -> bool:
        """Whether the claim could be allocated there."""
        return all(selection.complete for selection in self.selections.values())

    @property
    def error(self) -> NamedSelectorError | None:
        """The error of some driver; which one the scheduler meets first, or whether it does, is random."""
        return next((s.error for s in self.selections.values() if s.error is not None), None)


class NamedInstances:
    """All named resources by node and driver, with what claims hold of them."""

    def __init__(self, slices: Iterable[ResourceSlice], claims: Iterable[ResourceClaim]) -> None:
        self._slices: defaultdict[tuple[str, str], list[list[Instance]]] = defaultdict(list)
        for slice_ in slices:
            if isinstance(slice_, NamedResourcesSlice) and slice_.named_resources is not None:
                found = [Instance(each.name, each) for each in slice_.named_resources.instances]
                self._slices[slice_.spec.node_name or "", slice_.spec.driver].append(found)
        for claim in claims:
            for place, name in _held(claim):
                taken = next((i for i in self.instances(*place) if i.name == name), None)
                if taken is not None:
                    taken.holder = key_of(claim.metadata)

    def instances(self, node: str, driver: str) -> Iterator[Instance]:
        """The instances of one driver on one node, slices in the order in which they were read."""
        for slice_ in self._slices.get((node, driver), ()):
            yield from slice_

    def select(self, node: str, demands: Iterable[DriverDemand]) -> NamedOutcome:
        """What a claim with these ``demands`` would get on ``node``."""
        selections, undecided = {}, False
        for demand in demands:
            slices = self._slices.get((node, demand.driver), [])
            found = [_select(demand, [each for slice_ in order for each in slice_]) for order in _orders(slices)]
            # For one request it is enough that each slice comes first once; of several one may take what another needs.
            all_tried = len(slices) <= _MOST_SLICES or len(demand.requests) < 2
            undecided |= not all_tried or len({selection.complete for selection in found}) > 1
            selections[demand.driver] = next((s for s in found if s.error is not None), found[0])
        return NamedOutcome(selections, undecided)


def _held(claim: ResourceClaim) -> Iterator[tuple[tuple[str, str], str]]:
    classic = classic_of(claim)
    if classic is None or claim.status.allocation is None:
        return
    for handle in classic.resource_handles:
        structured = handle.structured_data
        for result in structured.results if structured is not None else ():
            if structured is not None and result.named_resources is not None:
                yield (structured.node_name, handle.driver_name), result.named_resources.name


def _orders(slices: Sequence[list[Instance]]) -> Iterator[Sequence[list[Instance]]]:
    """All orders of few slices; of many those in which each comes first once, followed by the others in turn."""
    if len(slices) <= _MOST_SLICES:
        return permutations(slices)
    return ([*slices[first:], *slices[:first]] for first in range(len(slices)))


def _select(demand: DriverDemand, instances: Sequence[Instance]) -> NamedSelection:
    taken = {id(each) for each in instances if each.holder is not None}
    chosen: list[Instance | None] = []
    for number, expression in enumerate(demand.requests):
        found = None
        for each in instances:
            if id(each) in taken:
                continue
            verdict = admits(demand, number, expression, each)
            if isinstance(verdict, NamedSelectorError):
                return NamedSelection(tuple(chosen), verdict)
            if verdict:
                found = each
                taken.add(id(each))
                break
        chosen.append(found)
    return NamedSelection(tuple(chosen))


def admits(demand: DriverDemand, number: int | None, expression: str, instance: Instance) -> bool | NamedSelectorError:
    """Whether the class's filter and the expression of request ``number`` (None: only the filter) let it pass."""
    asked: list[tuple[int | None, str]] = [(None, demand.filter)] if demand.filter is not None else []
    asked += [(number, expression)] if number is not None else []
    for request, text in asked:
        verdict = admits_instance(text, instance.value)
        if isinstance(verdict, str):
            return NamedSelectorError(demand.driver, instance.name, text, verdict, request)
        if not verdict:
            return False
    return True


def compile_error(demand: DriverDemand) -> str:
    """Why an expression of the demand does not compile, in the scheduler's words; empty if all do."""
    for kind, text in (("class filter", demand.filter), *(("request", each) for each in demand.requests)):
        if text is not None and (problem := instance_problem(text)):
            return f"compile {kind} CEL expression: {problem}"
    return ""
