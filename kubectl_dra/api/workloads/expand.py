"""From the tree of an object to the pod templates in it, with the number of pods that each is to become."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from kubectl_dra.api.workloads.kinds import KNOWN, Factor, Known, Part
from kubectl_dra.api.workloads.shape import Shaped, shaped

Tree = Mapping[str, Any]
#: Objects in objects (a bundle of jobs in one resource) are followed so deep.
_DEPTH: Final = 8
_NAMES: Final = ("name", "groupName")
#: No controller makes more; a larger number is a mistake of whoever wrote it, or an attack.
MAX_PODS: Final = 10**7


class Count(Enum):
    """Where the number of pods comes from."""

    STATED = "stated"
    PER_NODE = "perNode"
    ASSUMED = "assumed"  # a field of an unknown kind that known kinds use for it
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Template:
    """``body`` has ``metadata`` and ``spec`` of the pods; ``path`` is where it stands.

    ``copies`` None: one per node. ``count`` says where the number is from; unknown: ``copies`` is 1. ``assumed``: the
    fields that were taken for it. ``problem``: what stands at the path is no template.
    """

    path: str
    body: Tree
    role: str = ""
    copies: int | None = 1
    count: Count = Count.STATED
    assumed: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Expansion:
    """``known``: the kind's fields are known. ``catalog``: it makes no pods by itself. ``suspended``: its pods wait.

    No templates and not ``known``: nothing in the object looks like a pod.
    """

    templates: tuple[Template, ...] = ()
    known: bool = False
    catalog: bool = False
    suspended: bool = False


def expand(tree: Tree, group: str, kind: str) -> Expansion:
    """The pod templates of an object."""
    known = KNOWN.get((group, kind))
    if known is not None:
        templates = tuple(each for part in known.parts for each in _of_part(tree, part))
        return Expansion(templates, True, known.catalog, _suspended(tree, known))
    embedded = tuple(_embedded(tree, 0))
    return Expansion(embedded or tuple(_by_shape(each) for each in shaped(tree)))


def group_of(api_version: str) -> str:
    """The group of an ``apiVersion``; empty for the core group."""
    return api_version.rpartition("/")[0]


def _suspended(tree: Tree, known: Known) -> bool:
    return bool(known.suspend) and any(value is True for value, *_ in _at(tree, known.suspend))


# --- by the table ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Step:
    """One item that a wildcard stands for: its key or index, and what it is called."""

    key: str | int
    name: str


def _of_part(tree: Tree, part: Part) -> Iterator[Template]:
    found = list(_at(tree, part.path)) or (list(_at(tree, part.otherwise)) if part.otherwise else [])
    for value, path, steps in found:
        role = part.role or (steps[-1].name if steps else "")
        copies = _copies(tree, part, steps)
        body = {"spec": value} if part.bare else value
        count = Count.PER_NODE if part.per_node else Count.STATED
        if not isinstance(body, dict) or not isinstance(body.get("spec"), dict):
            inner = path if part.bare else f"{path}.spec"
            yield Template(path, {}, role, copies, count, problem=f"{inner}: Required value")
        else:
            yield Template(path, body, role, copies, count)
    if not found and "[]" not in part.path and "*" not in part.path and _is_required(part):
        yield Template(part.path, {}, part.role, problem=f"{part.path}.spec: Required value")


def _is_required(part: Part) -> bool:
    return part.role in ("", "head", "worker")


def _copies(tree: Tree, part: Part, steps: tuple[_Step, ...]) -> int | None:
    if part.per_node:
        return None
    number = 1
    for factor in part.factors:
        number = min(number * _value(tree, factor, steps), MAX_PODS)
    return number


def _value(tree: Tree, factor: Factor, steps: tuple[_Step, ...]) -> int:
    given = [value for path in factor.fields if (value := _number(_read(tree, path, steps))) is not None]
    value = min(given) if given else factor.default
    if factor.least:
        value = max(value, _number(_read(tree, factor.least, steps)) or 0)
    return max(value - factor.less, 0)


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _read(tree: Any, path: str, steps: tuple[_Step, ...]) -> Any:  # noqa: ANN401 - any JSON value
    """What stands at a path, with the items of ``steps`` for its wildcards."""
    left = iter(steps)
    for field in path.split("."):
        name, each = field.removesuffix("[]"), field.endswith("[]")
        if name != "*":
            tree = tree.get(name) if isinstance(tree, dict) else None
        if each or name == "*":
            step = next(left, None)
            tree = _item(tree, step.key) if step is not None else None
    return tree


def _item(tree: Any, key: str | int) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(key, int):
        return tree[key] if isinstance(tree, list) and key < len(tree) else None
    return tree.get(key) if isinstance(tree, dict) else None


def _at(tree: Any, path: str) -> Iterator[tuple[Any, str, tuple[_Step, ...]]]:  # noqa: ANN401 - any JSON value
    """Everything at a path: the value, its path without wildcards, and the items on the way."""
    found: list[tuple[Any, str, tuple[_Step, ...]]] = [(tree, "", ())]
    for field in path.split("."):
        name, each = field.removesuffix("[]"), field.endswith("[]")
        found = [below for one in found for below in (_members(one) if name == "*" else _field(one, name))]
        if each:
            found = [item for one in found for item in _items(one)]
    yield from found


_Place = tuple[Any, str, tuple[_Step, ...]]


def _field(place: _Place, name: str) -> Iterator[_Place]:
    value, path, steps = place
    if isinstance(value, dict) and name in value:
        yield value[name], f"{path}.{name}" if path else name, steps


def _members(place: _Place) -> Iterator[_Place]:
    value, path, steps = place
    for key, member in value.items() if isinstance(value, dict) else ():
        yield member, f"{path}.{key}", (*steps, _Step(key, key))


def _items(place: _Place) -> Iterator[_Place]:
    value, path, steps = place
    for index, item in enumerate(value) if isinstance(value, list) else ():
        yield item, f"{path}[{index}]", (*steps, _Step(index, _name(item, index)))


def _name(item: object, index: int) -> str:
    names = (item.get(field) for field in _NAMES) if isinstance(item, dict) else ()
    return next((name for name in names if isinstance(name, str) and name), str(index))


# --- by shape -------------------------------------------------------------------------------------------------------


def _by_shape(found: Shaped) -> Template:
    if found.copies is None:
        return Template(found.path, found.body, found.role, 1, Count.UNKNOWN)
    copies = min(found.copies, MAX_PODS)
    return Template(found.path, found.body, found.role, copies, Count.ASSUMED, found.fields)


def _embedded(value: Any, depth: int, path: str = "") -> Iterator[Template]:  # noqa: ANN401 - any JSON value
    """Templates of whole objects of known kinds inside of another object."""
    if depth > _DEPTH:
        return
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        here = f"{path}[{key}]" if isinstance(key, int) else f"{path}.{key}" if path else str(key)
        version, kind = (child.get("apiVersion"), child.get("kind")) if isinstance(child, dict) else (None, None)
        known = KNOWN.get((group_of(version), kind)) if isinstance(version, str) and isinstance(kind, str) else None
        if known is None:
            yield from _embedded(child, depth + 1, here)
            continue
        name = _name(child.get("metadata"), 0) if isinstance(child, dict) else ""
        for part in known.parts:
            for each in _of_part(child, part):
                role = " ".join(filter(None, (f"{kind} {name}", each.role)))
                yield Template(f"{here}.{each.path}", each.body, role, each.copies, each.count, each.assumed)
