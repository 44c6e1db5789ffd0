"""How many whole groups fit of pods that are of use together only: those of one object, or those of a gang."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from kubectl_dra.api.kinds import POD_GROUP
from kubectl_dra.api.planned import Planned
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.capacity import Shape
from kubectl_dra.diagnosis.capacity.filling import whole_groups
from kubectl_dra.diagnosis.gangs.cycles import are_placed_together, group_of
from kubectl_dra.diagnosis.records import Bound, Count, ObjectRef
from kubectl_dra.model.core import Pod
from kubectl_dra.reports.base import ReportRecord
from kubectl_dra.reports.claims.ask import ClaimAsk


class GroupPart(ReportRecord, frozen=True):
    """So many pods of a group, each with so many ``devices``, where that is known; ``role``: what they are called."""

    role: str
    pods: int
    devices: int | None = None


class GroupCapacity(ReportRecord, frozen=True):
    """How many whole groups of an object's pods fit: ``groups``, and at most ``most``.

    ``each``: a group is one of several that the object makes, as of a LeaderWorkerSet; else it is all of its pods.
    ``scheduler`` decides about them instead of the default scheduler, by whose rules they were counted.
    ``kept_together``: in one domain of nodes, which was not tried. ``short``: of pods that are alike so many fit, and
    the group needs more.
    """

    subject: ObjectRef
    parts: tuple[GroupPart, ...]
    groups: Count
    most: int
    each: bool = False
    scheduler: str = ""
    kept_together: bool = False
    short: int | None = None


@dataclass(frozen=True, slots=True)
class CountedShape:
    """A shape that was counted by itself: pods of ``subject`` in a ``role``, of which so many ``copies`` fit."""

    subject: ObjectRef
    role: str
    shape: Shape
    asks: tuple[ClaimAsk, ...]
    copies: Count
    scheduler: str = ""


@dataclass(frozen=True, slots=True)
class _Group:
    """How many pods of whom in which role are one group; ``kept_together``: in one domain of nodes, too.

    ``least``: so many of them are enough; None for all.
    """

    subject: ObjectRef
    pods: tuple[tuple[ObjectRef, str, int], ...]
    kept_together: bool = False
    least: int | None = None


def group_capacities(
    state: ClusterState, objects: Sequence[Planned], shapes: Sequence[CountedShape]
) -> Iterator[GroupCapacity]:
    """Of each group of the objects what fits; ``shapes`` are counted one by one.

    Nothing where one of its shapes was not counted.
    """
    for group in (*_of_objects(objects), *_of_gangs(state, objects)):
        parts = _parts(group, shapes)
        if parts is not None:
            yield _capacity(state, group, parts)


def _capacity(state: ClusterState, group: _Group, parts: Sequence[tuple[CountedShape, int]]) -> GroupCapacity:
    alike = [sum(n for other, n in parts if _alike(other.shape, each.shape)) for each, _ in parts]
    most = min(each.copies.value // number for (each, _), number in zip(parts, alike, strict=True))
    least = 0 if group.kept_together else whole_groups(state, [(p.shape, n) for p, n in parts], most)
    merged, (first, *_) = tuple(_merged(parts)), alike
    short = parts[0][0].copies.value if len(merged) == 1 and sum(n for _, n in parts) == first and not most else None
    return GroupCapacity(
        group.subject,
        merged,
        Count(most, Bound.AT_MOST) if most > least == 0 else Count(least, _bound(least, most)),
        most,
        group.subject.kind == "LeaderWorkerSet",
        next((each.scheduler for each, _ in parts if each.scheduler), ""),
        group.kept_together,
        short,
    )


# --- groups of the files --------------------------------------------------------------------------------------------


def _of_objects(objects: Iterable[Planned]) -> Iterator[_Group]:
    """The pods that an object makes, where none is of use without the others."""
    for each in objects:
        if each.group:
            ref = ObjectRef(each.kind, each.key.namespace, each.name)
            pods = tuple((ref, plan.role, number) for plan, number in zip(each.pods, each.group, strict=True) if number)
            yield _Group(ref, pods, any(plan.kept_together for plan in each.pods))


def _of_gangs(state: ClusterState, objects: Iterable[Planned]) -> Iterator[_Group]:
    """The pods of one PodGroup, or whatever another program calls a gang, of all objects that make some."""
    found: dict[ObjectRef, _Group] = {}
    for planned in (each for each in objects if not each.group):
        ref = ObjectRef(planned.kind, planned.key.namespace, planned.name)
        for plan in planned.pods:
            gang = _pod_group(state, plan.pod)
            if gang is None and plan.gang is not None:
                kind, _, name = plan.gang.name.partition(" ")
                ref_of_gang = ObjectRef(kind, plan.gang.namespace or planned.key.namespace, name)
                gang = _Group(ref_of_gang, (), bool(plan.kept_together), plan.gang.least)
            if gang is not None and plan.copies:
                before = found.get(gang.subject, gang)
                found[gang.subject] = replace(before, pods=(*before.pods, (ref, plan.role, plan.copies)))
    return (each for each in found.values() if (each.least or 0) > 1)


def _pod_group(state: ClusterState, pod: Pod) -> _Group | None:
    """The PodGroup whose pods the scheduler places together; none where they share a claim, which a copy would not."""
    group = group_of(state, pod) if are_placed_together(state) else None
    if group is None or group.spec.scheduling_policy.gang is None or group.spec.resource_claims:
        return None
    own, together = group.metadata, group.spec.scheduling_constraints is not None
    return _Group(ObjectRef(POD_GROUP.name, own.namespace, own.name), (), together, group.min_count)


def _parts(group: _Group, shapes: Sequence[CountedShape]) -> list[tuple[CountedShape, int]] | None:
    """The shapes of a group with the number of pods of each; None where that is not known, or one was not counted."""
    known = {(each.subject, each.role): each for each in shapes if each.copies.bound is Bound.EXACT}
    if any((ref, role) not in known for ref, role, _ in group.pods):
        return None
    parts = [(known[ref, role], number) for ref, role, number in group.pods]
    if not parts or group.least is None or group.least == sum(number for _, number in parts):
        return parts
    first, total = parts[0][0], sum(number for _, number in parts)
    alike = all(_alike(each.shape, first.shape) for each, _ in parts)
    return [(first, group.least)] if alike and group.least < total else None


# --- what they are called -------------------------------------------------------------------------------------------


def _merged(parts: Sequence[tuple[CountedShape, int]]) -> Iterator[GroupPart]:
    """Pods of the same role with the same number of devices once: those of a gang differ in their names only."""
    found: dict[tuple[str, int | None], int] = {}
    for each, number in parts:
        key = each.role, _devices(each.asks)
        found[key] = found.get(key, 0) + number
    return (GroupPart(role, number, devices) for (role, devices), number in found.items())


def _devices(asks: Iterable[ClaimAsk]) -> int | None:
    """How many devices one pod requests; None where that is open, as of alternatives and of all devices."""
    requests = [request for ask in asks for request in ask.requests]
    if any(ask.classic is not None for ask in asks) or any("/" in each.name or not each.count for each in requests):
        return None
    return sum(each.count or 0 for each in requests)


def _alike(one: Shape, other: Shape) -> bool:
    """Whether pods differ in their names only: they take the same room."""
    return one.pod.spec == other.pod.spec and one.templates == other.templates


def _bound(least: int, most: int) -> Bound:
    return Bound.EXACT if least == most else Bound.AT_LEAST
