"""How many whole groups of pods fit, where the pods of a group differ and are of use together only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.capacity.shape import Shape
from kubectl_dra.diagnosis.pod.placing import place
from kubectl_dra.model.base import with_spec
from kubectl_dra.model.core import Pod

#: Pods that are placed, times nodes.
_EFFORT: Final = 100_000


def whole_groups(world: ClusterState, parts: Sequence[tuple[Shape, int]], most: int) -> int:
    """Groups that find nodes one after the other, each of so many pods of every shape, up to ``most``.

    No fewer fit; another order of the pods may place more.
    """
    templates = {key: each for shape, _ in parts for key, each in shape.templates.items()}
    world = world.changed(world.inventory.replace(templates={**world.inventory.templates, **templates}))
    size = sum(number for _, number in parts)
    for group in range(min(most, _EFFORT // max(1, size * len(world.inventory.nodes)))):
        for shape, number in parts:
            placed = place(world, _copies(shape.pod, group, number))
            if placed.copies < number:
                return group
            world = placed.world
    return min(most, _EFFORT // max(1, size * len(world.inventory.nodes)))


def _copies(pod: Pod, group: int, number: int) -> Iterator[Pod]:
    """By themselves: what a group of them gets in one cycle they get one after the other as well."""
    pod = with_spec(pod, scheduling_group=None, workload_ref=None)
    for index in range(number):
        name = f"{pod.metadata.name}-{group}-{index}"
        yield msgspec.structs.replace(pod, metadata=msgspec.structs.replace(pod.metadata, name=name, uid=name))
