"""ImageLocality: nodes that already have large images of the pod.

Upstream: plugins/imagelocality and the cache's image states. Of each image the scheduler knows one size, that of the
first node which it learnt to have it; in what order it learnt of nodes can't be read, so theirs is taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Final

from kubectl_dra.model.core import Pod
from kubectl_dra.scheduler.framework import MAX_SCORE, Cycle, Plugin, PreFilterResult
from kubectl_dra.scheduler.snapshot import NodeInfo
from kubectl_dra.scheduler.status import SKIP, Status

_MIB: Final = 1024 * 1024
_LEAST: Final = 23 * _MIB
_MOST_PER_CONTAINER: Final = 1000 * _MIB


class ImageLocality(Plugin):
    """``status.images`` of nodes."""

    name: ClassVar[str] = "ImageLocality"
    weight: ClassVar[int] = 1

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """It only scores."""
        return PreFilterResult(SKIP)

    def score(self, cycle: Cycle, nodes: Sequence[NodeInfo]) -> Sequence[int] | Status:
        """The bytes that need not be pulled; images that many nodes have count more."""
        images = list(_images(cycle.pod))
        known = cycle.snapshot.images
        total = len(cycle.snapshot.nodes)
        worth = {name: int(known[name].size * (known[name].nodes / total)) for name in set(images) if name in known}
        if not worth:
            return [0] * len(nodes)
        return [_score(images, worth, _names(node, worth)) for node in nodes]


def _images(pod: Pod) -> Iterable[str]:
    for container in (*pod.spec.init_containers, *pod.spec.containers):
        yield full_name(container.image)
    for volume in pod.spec.volumes:
        if volume.image is not None:
            yield full_name(volume.image.reference)


def full_name(image: str) -> str:
    """The name with its tag; without one it is ``latest`` (upstream: normalizedImageName)."""
    return image if image.rfind(":") > image.rfind("/") else f"{image}:latest"


def _names(node: NodeInfo, worth: Iterable[str]) -> set[str]:
    there = {name for image in node.node.status.images for name in image.names}
    return there.intersection(worth)


def _score(images: Sequence[str], worth: dict[str, int], there: set[str]) -> int:
    most = _MOST_PER_CONTAINER * len(images)
    found = min(max(sum(worth[name] for name in images if name in there), _LEAST), most)
    return MAX_SCORE * (found - _LEAST) // (most - _LEAST)
