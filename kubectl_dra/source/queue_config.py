"""Kueue's own configuration among manifests: which resources it counts, and the devices of a class as which of them.

``resources`` of Configuration (config.kueue.x-k8s.io), as a file or inside of a ConfigMap
(upstream: kubernetes-sigs/kueue, apis/config/v1beta2, Resources).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final, Protocol

from kubectl_dra.api.trees import list_at, mapping
from kubectl_dra.model.queues import QueueConfig

_GROUP: Final = "config.kueue.x-k8s.io"
_KIND: Final = "Configuration"
_UNREAD: Final = QueueConfig()


class Object(Protocol):
    @property
    def data(self) -> bytes: ...

    @property
    def api_version(self) -> str: ...

    @property
    def kind(self) -> str: ...


def may_configure(api_version: str, kind: str, data: bytes) -> bool:
    """Whether an object is Kueue's configuration, or may have it inside."""
    own = kind == _KIND and api_version.startswith(f"{_GROUP}/")
    return own or (kind == "ConfigMap" and _GROUP.encode() in data)


def queue_config(objects: Iterable[Object], before: QueueConfig = _UNREAD) -> QueueConfig:
    """What the last of the configurations says; ``before`` where there is none."""
    found = before
    for tree in _configurations(objects):
        resources = mapping(tree.get("resources"))
        mappings = [mapping(each) for each in list_at(resources, "deviceClassMappings")]
        found = QueueConfig(
            known=True,
            device_resources={
                name: each["name"]
                for each in mappings
                if isinstance(each.get("name"), str)
                for name in _texts(each.get("deviceClassNames"))
            },
            metered=frozenset(
                name for each in mappings if each.get("sources") for name in _texts(each.get("deviceClassNames"))
            ),
            only_declared=resources.get("quotaCheckStrategy") == "IgnoreUndeclared",
            excluded=tuple(_texts(resources.get("excludeResourcePrefixes"))),
            transformed=frozenset(
                _texts([mapping(each).get("input") for each in list_at(resources, "transformations")])
            ),
        )
    return found


def _texts(value: object) -> Iterator[str]:
    return (each for each in (value if isinstance(value, list) else ()) if isinstance(each, str))


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
