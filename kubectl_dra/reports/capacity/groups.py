"""How many whole groups fit of objects whose pods are of use together only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.capacity import Shape
from kubectl_dra.diagnosis.capacity.whole_groups import whole_groups
from kubectl_dra.diagnosis.records import Bound, Count, ObjectRef
from kubectl_dra.reports.base import ReportRecord


class GroupPart(ReportRecord, frozen=True):
    """So many pods of a group; ``role``: what their object calls them."""

    role: str
    pods: int


class GroupCapacity(ReportRecord, frozen=True):
    """How many whole groups of an object's pods fit: ``groups``, and at most ``most``.

    ``each``: a group is one of several that the object makes, as of a LeaderWorkerSet; else it is all of its pods.
    """

    subject: ObjectRef
    parts: tuple[GroupPart, ...]
    groups: Count
    most: int
    each: bool = False


@dataclass(frozen=True, slots=True)
class WholeGroup:
    """How many pods of each of an object's shapes are one group; ``kept_together``: in one domain of nodes, too."""

    pods: tuple[int, ...]
    kept_together: bool = False


def group_capacities(
    world: ClusterState,
    groups: Mapping[ObjectRef, WholeGroup],
    shapes: Sequence[tuple[ObjectRef, str, Shape, Count]],
) -> Iterator[GroupCapacity]:
    """Of each object with ``groups`` what fits; ``shapes`` are counted one by one.

    Nothing where one of its shapes was not counted.
    """
    for subject, whole in groups.items():
        numbers = whole.pods
        own = [each for each in shapes if each[0] == subject]
        counts = [count for *_, count in own]
        if len(own) != len(numbers) or any(each.bound is not Bound.EXACT for each in counts):
            continue
        parts = [(shape, number) for (_, _, shape, _), number in zip(own, numbers, strict=True) if number]
        alike = [sum(n for (_, _, s, _), n in zip(own, numbers, strict=True) if _alike(s, each[2])) for each in own]
        most = min(count.value // number for count, number in zip(counts, alike, strict=True) if number)
        least = 0 if whole.kept_together else whole_groups(world, parts, most)
        yield GroupCapacity(
            subject,
            tuple(GroupPart(role, number) for (_, role, _, _), number in zip(own, numbers, strict=True) if number),
            Count(most, Bound.AT_MOST) if most > least == 0 else Count(least, _bound(least, most)),
            most,
            subject.kind == "LeaderWorkerSet",
        )


def _alike(one: Shape, other: Shape) -> bool:
    """Whether pods differ in their names only: they take the same room."""
    return one.pod.spec == other.pod.spec and one.templates == other.templates


def _bound(least: int, most: int) -> Bound:
    return Bound.EXACT if least == most else Bound.AT_LEAST
