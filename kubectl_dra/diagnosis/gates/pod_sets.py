"""Sets of pods as Kueue counts them, and which flavors they may get at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from kubectl_dra.model.core import Pod
from kubectl_dra.model.queues import ResourceFlavor, ResourceGroup
from kubectl_dra.scheduler.plugins.taint_toleration import PREVENTING, tolerated

#: Kueue counts pods as well, where a group covers them.
_PODS: Final = "pods"


@dataclass(frozen=True, slots=True)
class PodSet:
    """``copies`` pods that are alike and get the same flavors; ``least``: Kueue may start so few of them.

    ``requests`` of one pod, in the scheduler's units; ``devices``: those of them that are devices, by class.
    ``scale``: the field that says how many, and how many pods each of its units makes.
    """

    name: str
    copies: int
    requests: Mapping[str, int]
    pod: Pod
    devices: Mapping[str, Mapping[str, int]]
    least: int
    scale: tuple[str, int] = ("", 1)


def covered_by(group: ResourceGroup) -> frozenset[str]:
    """The resources of which a group has a flavor."""
    return frozenset(group.covered_resources) or frozenset(
        each.name for flavor in group.flavors for each in flavor.resources
    )


def requests_of(pods: PodSet, covered: frozenset[str]) -> dict[str, int]:
    """What all pods of a set request of what is ``covered``."""
    counted = {**pods.requests, _PODS: 1}
    return {name: number * pods.copies for name, number in counted.items() if name in covered and number * pods.copies}


def suits(flavor: ResourceFlavor | None, pod: Pod) -> bool:
    """Whether pods may get a flavor, as far as node selector and taints say."""
    if flavor is None:
        return True
    own = pod.spec.node_selector
    if any(own.get(key, value) != value for key, value in flavor.spec.node_labels.items()):
        return False
    given = (*pod.spec.tolerations, *flavor.spec.tolerations)
    return all(taint.effect not in PREVENTING or tolerated(taint, given, True) for taint in flavor.spec.node_taints)
