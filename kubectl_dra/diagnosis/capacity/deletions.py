"""Bare pods whose end makes room for copies: nothing makes them again, so they are never among the restarts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kubectl_dra.diagnosis.capacity.filling import Filled
from kubectl_dra.diagnosis.capacity.least import MOST_AT_ONCE, Sets
from kubectl_dra.diagnosis.capacity.movable import bare
from kubectl_dra.diagnosis.capacity.records import Deletion
from kubectl_dra.diagnosis.records import ObjectRef

_TOLD: Final = 3
#: Trials on nodes: a few nodes are enough to name some.
_TRIALS: Final = 60


def deletions(filled: Filled) -> tuple[Deletion, ...]:
    """Of each node the fewest bare pods that stand in the way of a copy; of all nodes those with the fewest devices."""
    found = sorted(_of_nodes(filled), key=lambda each: (len(each[1].pods), each[0], each[1].node))
    return tuple(deletion for _, deletion in found[:_TOLD])


def _of_nodes(filled: Filled) -> Iterator[tuple[int, Deletion]]:
    """With the number of devices that go free."""
    sets = Sets(filled, bare(filled.waiting.world), most=_TRIALS)
    for node in sets.pods:
        if sets.exhausted:
            return
        sizes = ([*sets.of(node, size)] for size in range(1, MOST_AT_ONCE + 1))
        smallest = next(filter(None, sizes), [])
        counted = [(sum(len(pod.devices) for pod in each.pods), each) for each in smallest]
        if counted:
            devices, chosen = min(counted, key=lambda item: item[0])
            pods = tuple(ObjectRef.of("Pod", pod.key) for pod in chosen.pods)
            yield devices, Deletion(pods, node, chosen.gain)
