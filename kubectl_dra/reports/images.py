"""Names of container images in a snapshot: unreadable, but still comparable.

The scheduler prefers nodes that have a pod's images. For that only matters which names are equal; the names themselves
(registries, projects) are nobody's business. Of what nodes have, only images that a pod of the snapshot names are kept.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from kubectl_dra.model.core import Pod
from kubectl_dra.scheduler.plugins.image_locality import full_name

Json = dict[str, Any]
_HIDDEN: Final = re.compile(r"sha256:[0-9a-f]{16}")
_CONTAINERS: Final = ("initContainers", "containers", "ephemeralContainers")


def hidden(name: str) -> str:
    """What stands for the image's name; what is hidden already stays as it is."""
    if not name or _HIDDEN.fullmatch(name):
        return name
    return f"sha256:{hashlib.sha256(full_name(name).encode()).hexdigest()[:16]}"


def named_by(pods: Iterable[Pod]) -> frozenset[str]:
    """The hidden names of all images that pods name."""
    return frozenset(hidden(name) for pod in pods for name in _names(pod))


def _names(pod: Pod) -> Iterator[str]:
    for container in (*pod.spec.init_containers, *pod.spec.containers, *pod.spec.ephemeral_containers):
        if container.image:
            yield container.image
    for volume in pod.spec.volumes:
        if volume.image is not None and volume.image.reference:
            yield volume.image.reference


def hide(item: Json, named: frozenset[str]) -> None:
    """Hide the names in one object of a snapshot, and drop what a node has beyond those that are ``named``."""
    spec, status = item.get("spec", {}), item.get("status", {})
    if item.get("kind") == "Pod":
        for container in (each for name in _CONTAINERS for each in spec.get(name, ())):
            if "image" in container:
                container["image"] = hidden(container["image"])
        for volume in spec.get("volumes", ()):
            if volume.get("image", {}).get("reference"):
                volume["image"]["reference"] = hidden(volume["image"]["reference"])
    elif item.get("kind") == "Node" and "images" in status:
        status["images"] = [image for image in map(_image, status["images"]) if not named.isdisjoint(image["names"])]
        if not status["images"]:
            del status["images"]


def _image(image: Json) -> Json:
    # One digest and one tag may hide to the same text: each name counts once.
    return {**image, "names": list(dict.fromkeys(map(hidden, image.get("names", ()))))}
