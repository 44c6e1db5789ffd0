"""Kueue's own configuration among manifests: which resource of a quota the devices of a class count as.

``resources.deviceClassMappings`` of Configuration (config.kueue.x-k8s.io), as a file or inside of a ConfigMap
(upstream: kubernetes-sigs/kueue, apis/config/v1beta2, DeviceClassMapping).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Protocol

_GROUP: Final = "config.kueue.x-k8s.io"
_KIND: Final = "Configuration"


class Object(Protocol):
    """An object as it was written."""

    @property
    def data(self) -> bytes:
        """The object as JSON."""
        ...

    @property
    def api_version(self) -> str: ...

    @property
    def kind(self) -> str: ...


def may_configure(api_version: str, kind: str, data: bytes) -> bool:
    """Whether an object is Kueue's configuration, or may have it inside."""
    own = kind == _KIND and api_version.startswith(f"{_GROUP}/")
    return own or (kind == "ConfigMap" and _GROUP.encode() in data)


def device_resources(objects: Iterable[Object]) -> Mapping[str, str]:
    """Resource of a quota by DeviceClass; of a class that is named twice the last counts."""
    return {
        name: resource
        for tree in _configurations(objects)
        for resource, names in _mappings(tree)
        for name in names
        if isinstance(name, str)
    }


def _configurations(objects: Iterable[Object]) -> Iterator[Any]:
    for each in objects:
        if each.kind == _KIND and each.api_version.startswith(f"{_GROUP}/"):
            yield _tree(each.data)
        elif each.kind == "ConfigMap" and _GROUP.encode() in each.data:
            data = _tree(each.data).get("data")
            for text in data.values() if isinstance(data, dict) else ():
                if isinstance(text, str) and _GROUP in text:
                    yield from _inside(text)


def _tree(data: bytes) -> dict[str, Any]:
    """The object; an empty one where it can't be read, which is said elsewhere."""
    try:
        tree = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return tree if isinstance(tree, dict) else {}


def _inside(text: str) -> Iterator[Any]:
    """The configurations in a value of a ConfigMap; nothing of one that can't be read, as if it were not there."""
    from kubectl_dra.source.yaml_reader import YAMLError, read_documents  # JSON needs no PyYAML

    try:
        trees = [document.value for document in read_documents(text, unique=False)]
    except (YAMLError, ValueError, RecursionError):
        return
    yield from (tree for tree in trees if isinstance(tree, dict) and tree.get("kind") == _KIND)


def _mappings(tree: Any) -> Iterator[tuple[str, list[Any]]]:  # noqa: ANN401 - any JSON
    resources = tree.get("resources") if isinstance(tree, dict) else None
    mappings = resources.get("deviceClassMappings") if isinstance(resources, dict) else None
    for each in mappings if isinstance(mappings, list) else ():
        name, classes = (each.get("name"), each.get("deviceClassNames")) if isinstance(each, dict) else (None, None)
        if isinstance(name, str) and isinstance(classes, list):
            yield name, classes
