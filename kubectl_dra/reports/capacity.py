"""How many pods of a shape the cluster has room for: one answer per shape, with the commands of moves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from kubectl_dra.api.planned import Planned
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis import missing, needs
from kubectl_dra.diagnosis.capacity import MORE, Capacity, Moves, Shape, capacity, of_request, template_of
from kubectl_dra.diagnosis.capacity.accounts import NAMES
from kubectl_dra.diagnosis.capacity.shape import waiting
from kubectl_dra.diagnosis.gangs.cycles import are_placed_together, group_of
from kubectl_dra.diagnosis.records import Bound, Certainty, Missing, ObjectRef
from kubectl_dra.diagnosis.whatif import Switch, WhatIf, what_if
from kubectl_dra.model.core import Pod, PodResourceClaim
from kubectl_dra.model.ids import Key
from kubectl_dra.model.invocation import Address, Words
from kubectl_dra.model.resource import ResourceClaim, ResourceClaimTemplate
from kubectl_dra.reports.admitted import admitted
from kubectl_dra.reports.ask import ClaimAsk, claim_ask
from kubectl_dra.reports.base import FeatureRecord, ReadRecord, ReportRecord, feature_record, reads_of
from kubectl_dra.reports.invocations import changing, kubectl, of
from kubectl_dra.reports.simulation.existing import new_namespaces, with_namespaces, with_objects
from kubectl_dra.reports.simulation.trials import trials
from kubectl_dra.scheduler.claims import sources

_MOST_SHAPES: Final = 20


class Request(msgspec.Struct, frozen=True):
    """What ``--class``, ``--count`` and ``--selector`` ask for."""

    device_class: str
    count: int = 1
    selectors: tuple[str, ...] = ()


class WayOut(ReportRecord, frozen=True):
    """A set of moves with the commands that carry it out, in their order."""

    moves: Moves
    commands: tuple[Words, ...]


class ShapeCapacity(ReportRecord, frozen=True):
    """One shape: what it is made from (empty kind: the options), what it asks for, how many fit, what would help.

    ``min_count``: how many pods of the PodGroup that it names are placed at the same time; None if it names no gang.
    """

    subject: ObjectRef
    role: str
    asks: tuple[ClaimAsk, ...]
    capacity: Capacity
    ways: tuple[WayOut, ...]
    min_count: int | None = None

    @property
    def none_fits(self) -> bool:
        """Whether certainly not even one copy fits."""
        fits = self.capacity.fits
        return not fits.value and fits.bound in (Bound.EXACT, Bound.AT_MOST)


class CapacityReport(ReportRecord, frozen=True):
    """All shapes, each on the whole cluster by itself. ``more``: shapes of the file that were left out."""

    shapes: tuple[ShapeCapacity, ...]
    more: int
    certainty: Certainty
    missing: tuple[Missing, ...]
    features: FeatureRecord
    read: tuple[ReadRecord, ...]
    what_if: WhatIf | None = None

    @property
    def bad(self) -> bool:
        """Whether of any shape not even one copy fits."""
        return any(each.none_fits for each in self.shapes)

    @property
    def partial(self) -> bool:
        """Whether evidence is missing that decides."""
        return any(each.decides for each in self.missing)

    @property
    def answered(self) -> bool:
        """Whether any number could be given."""
        return any(each.capacity.fits.bound is not Bound.UNKNOWN for each in self.shapes)


def capacity_report(
    world: ClusterState,
    shapes: Sequence[Planned] | Request,
    namespace: str,
    switches: Sequence[Switch] = (),
    names: int | None = NAMES,
) -> CapacityReport:
    """The answer for the pods of some manifests, or for one request of a bare pod in ``namespace``.

    ``names``: of alike nodes at most so many are named. Raises :class:`~kubectl_dra.diagnosis.whatif.WhatIfError`.
    """
    lacking = missing.missing(world.evidence, needs.POD, namespace)
    certainty = missing.certainty(world.evidence)
    features, read = feature_record(world.features), reads_of(world.evidence)
    objects = () if isinstance(shapes, Request) else shapes
    prepared = with_objects(with_namespaces(world, objects, new_namespaces(world, objects)), objects)
    supposed = None
    if switches:
        prepared, supposed = what_if(prepared, switches)
    if isinstance(shapes, Request):
        shape = of_request(namespace, shapes.device_class, shapes.count, shapes.selectors)
        found = [(ObjectRef("", namespace, ""), "", shape)]
    else:
        found = list(_shapes(prepared, shapes))
    answers = tuple(_answer(prepared, *each, names) for each in found[:_MOST_SHAPES])
    more = max(0, len(found) - _MOST_SHAPES)
    return CapacityReport(answers, more, certainty, lacking, features, read, supposed)


def _answer(world: ClusterState, subject: ObjectRef, role: str, shape: Shape, names: int | None) -> ShapeCapacity:
    found = capacity(world, shape, MORE, names)
    asks = tuple(claim_ask(claim) for claim in waiting(world, shape).claims)
    ways = tuple(WayOut(each, tuple(_commands(each, world))) for each in found.moves)
    return ShapeCapacity(subject, role, asks, found, ways, _min_count(world, shape.pod))


def _min_count(world: ClusterState, pod: Pod) -> int | None:
    group = group_of(world, pod) if are_placed_together(world) else None
    return group.min_count if group is not None and group.spec.scheduling_policy.gang is not None else None


# --- shapes of manifests --------------------------------------------------------------------------------------------


def _shapes(world: ClusterState, objects: Sequence[Planned]) -> Iterator[tuple[ObjectRef, str, Shape]]:
    """The pods that the objects make, each once. A claim of the files stands for one per copy."""
    own = {each.key: each.record for each in objects if isinstance(each.record, ResourceClaim)}
    for trial in trials(world, admitted(world, list(objects)), (), together=False):
        pod, templates = _with_templates(trial.plan.pod, own)
        yield trial.subject, trial.plan.role, Shape(pod, templates)


def _with_templates(pod: Pod, claims: dict[Key, ResourceClaim]) -> tuple[Pod, dict[Key, ResourceClaimTemplate]]:
    entries, templates = [], {}
    for entry in pod.spec.resource_claims:
        claim = claims.get(Key(pod.metadata.namespace, sources(entry)[0] or ""))
        if claim is None:
            entries.append(entry)
            continue
        key = Key(pod.metadata.namespace, claim.metadata.name)
        templates[key] = template_of(key, claim.spec)
        entries.append(PodResourceClaim(name=entry.name, resource_claim_template_name=key.name))
    spec = msgspec.structs.replace(pod.spec, resource_claims=tuple(entries))
    return msgspec.structs.replace(pod, spec=spec), templates


# --- commands of moves ----------------------------------------------------------------------------------------------


def _commands(moves: Moves, world: ClusterState) -> Iterator[Words]:
    """Keep the nodes free, restart the pods, wait for them, use the nodes again."""
    address = world.evidence.address
    closed: tuple[str, ...] = ()
    for together in moves.rounds:
        wanted = together[0].closed
        for verb, names in (("uncordon", set(closed) - set(wanted)), ("cordon", set(wanted) - set(closed))):
            for name in sorted(names):
                yield from _command(address, verb, name)
        for move in together:
            words = of("pod", move.pod.name, move.pod.namespace)
            yield from _line(kubectl("delete", words), address)
        closed = wanted
    for name in closed:
        yield from _command(address, "uncordon", name)


def _command(address: Address, verb: str, node: str) -> Iterator[Words]:
    named = of("node", node)
    yield from _line(kubectl(verb, named), address)


def _line(words: Words | None, address: Address) -> Iterator[Words]:
    found = changing(words, address)
    if found is not None:
        yield found


__all__ = ["CapacityReport", "Request", "ShapeCapacity", "WayOut", "capacity_report"]
