"""Pod templates in kinds that nobody knows, found by their shape: a mapping with a list of containers.

How many pods there will be is taken from the fields on the way that known kinds use for it; whoever asks says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from kubectl_dra.api.trees import Tree

_DEPTH: Final = 40
#: Fields that are the number of pods, best first; the first one of a mapping counts.
_NUMBERS: Final = ("replicas", "count", "instances", "parallelism", "numNodes", "minReplicas")
#: Fields that multiply it: the pods of one replica.
_SIZES: Final = ("size", "numOfHosts")
#: Definitions of kinds describe pods, and make none.
_DESCRIBING: Final = frozenset({"status", "openAPIV3Schema", "validation"})


@dataclass(frozen=True, slots=True)
class Shaped:
    """``copies`` None: nothing on the way looks like a number of pods; ``fields`` are the paths that do."""

    path: str
    body: Tree
    role: str = ""
    copies: int | None = None
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Way:
    path: str = ""
    role: str = ""
    copies: int | None = None
    fields: tuple[str, ...] = ()

    def below(self, name: str, role: str = "") -> _Way:
        path = f"{self.path}{name}" if name.startswith("[") else f"{self.path}.{name}".lstrip(".")
        return _Way(path, role or self.role, self.copies, self.fields)

    def counted(self, tree: Tree) -> _Way:
        first = next((field for field in _NUMBERS if _is_number(tree.get(field))), None)
        named = [field for field in (first, *_SIZES) if field is not None and _is_number(tree.get(field))]
        copies, fields = self.copies, self.fields
        for field in named:
            copies = (1 if copies is None else copies) * int(tree[field])
            fields = (*fields, f"{self.path}.{field}".lstrip("."))
        return _Way(self.path, self.role, copies, fields)


def shaped(tree: Tree) -> list[Shaped]:
    """The pod templates of an object of any kind."""
    return list(_search(tree, _Way(), 0))


def _search(value: Any, way: _Way, depth: int) -> Iterator[Shaped]:  # noqa: ANN401 - any JSON value
    if depth > _DEPTH:
        return
    if isinstance(value, list):
        for index, item in enumerate(value):
            name = item.get("name") if isinstance(item, dict) else None
            yield from _search(item, way.below(f"[{index}]", name if isinstance(name, str) else ""), depth + 1)
    if not isinstance(value, dict):
        return
    if _is_pod_spec(value):
        way = way.counted(value)
        yield Shaped(way.path, {"spec": value}, way.role, way.copies, way.fields)
        return
    way = way.counted(value)
    spec = value.get("spec")
    if isinstance(spec, dict) and _is_pod_spec(spec) and way.path:
        yield Shaped(way.path, value, way.role, way.copies, way.fields)
        return
    for key, child in value.items():
        if key not in _DESCRIBING:
            role = key if isinstance(child, dict) and _names_a_role(value, key) else ""
            yield from _search(child, way.below(key, role), depth + 1)


def _names_a_role(tree: Tree, key: str) -> bool:
    """Whether a mapping has parts by name: all its values have templates, as with replica specs by role."""
    return len(tree) > 1 and isinstance(tree[key], dict) and all(_has_template(child) for child in tree.values())


def _has_template(value: object) -> bool:
    return isinstance(value, dict) and any(isinstance(value.get(name), dict) for name in ("template", "podTemplate"))


def _is_pod_spec(value: Tree) -> bool:
    containers = value.get("containers")
    if not isinstance(containers, list) or not containers:
        return False
    return all(isinstance(each, dict) and isinstance(each.get("name") or each.get("image"), str) for each in containers)


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
