"""From the tree of an object to the pod templates in it, with the number of pods that each is to become."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from kubectl_dra.api.trees import Tree, group_of, number_of
from kubectl_dra.api.workloads import flink, nim
from kubectl_dra.api.workloads.argo import described_by, is_workflow, workflow
from kubectl_dra.api.workloads.grove import sharing
from kubectl_dra.api.workloads.kinds import KNOWN, Factor, KnownKind, TemplatePath
from kubectl_dra.api.workloads.left_out import TEKTON, left_out, mention, rendered
from kubectl_dra.api.workloads.operators import refined
from kubectl_dra.api.workloads.shape import Shaped, claims_alone, shaped
from kubectl_dra.api.workloads.spark import application, is_spark
from kubectl_dra.api.workloads.stages import staged
from kubectl_dra.api.workloads.templates import MAX_PODS, UNCOUNTED, CountField, CountSource, Expansion, MadeTemplate

__all__ = ["CountSource", "Expansion", "MadeTemplate", "expand"]
#: Objects in objects (a bundle of jobs in one resource) are followed so deep.
_MENTIONED_AT: Final = 8
_NAMES: Final = ("name", "groupName")
#: Kinds whose operators make pods of single fields.
_DESCRIBED: Final[Mapping[tuple[str, str], Callable[[Tree], Expansion]]] = {
    (nim.GROUP, nim.KIND): nim.service,
    (flink.GROUP, flink.KIND): flink.deployment,
}
#: Groups of kinds that say of their pods no more than the claims -> what makes the rest.
_PROGRAMS: Final = {"kubevirt.io": "KubeVirt", "pool.kubevirt.io": "KubeVirt", "serving.kserve.io": "KServe"}


def composes(group: str, kind: str) -> bool:
    """Whether a controller makes the containers of its pods, so that they have what is written nowhere."""
    return is_workflow(group, kind) or is_spark(group, kind) or (group, kind) in _DESCRIBED or group in _PROGRAMS


def expand(tree: Tree, group: str, kind: str) -> Expansion:
    if is_workflow(group, kind):
        return workflow(tree, kind)
    if is_spark(group, kind):
        return application(tree, kind)
    if (described := _DESCRIBED.get((group, kind))) is not None:
        return described(tree)
    if elsewhere := described_by(tree, group, kind):
        return Expansion(known=True, untried=f"its pods are described by {elsewhere}")
    if told := rendered(tree, group, kind) or (sharing(tree) if group == "grove.io" else ""):
        return Expansion(known=True, untried=told)
    known = KNOWN.get((group, kind))
    if known is not None:
        templates = tuple(each for part in known.parts for each in _of_part(tree, part))
        made = tuple(staged(tree, group, kind, refined(tree, group, kind, templates)))
        left = left_out(tree, group, kind, made, known=True)
        return Expansion(made, True, known.catalog, _suspended(tree, known), left_out=left)
    embedded = tuple(_embedded(tree, 0))
    found = embedded or tuple(_told_apart([_by_shape(each) for each in shaped(tree)])) or _claims_alone(tree, group)
    left = left_out(tree, group, kind, found, known=bool(embedded))
    return Expansion(found, untried="" if found else mention(tree, group, kind), left_out=left)


def _claims_alone(tree: Tree, group: str) -> tuple[MadeTemplate, ...]:
    """Pods of which the object says no more than their claims."""
    program = _PROGRAMS.get(group, "its operator")
    # Its podTemplate has no claims (see :func:`mention`).
    return (
        ()
        if group == TEKTON
        else tuple(
            replace(each, rest_by=program) for each in _told_apart([_by_shape(one) for one in claims_alone(tree)])
        )
    )


def _suspended(tree: Tree, known: KnownKind) -> bool:
    return bool(known.suspend) and any(value is True for value, *_ in _at(tree, known.suspend))


# --- by the table ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Step:
    """One item that a wildcard stands for: its key or index, and what it is called."""

    key: str | int
    name: str


def _of_part(tree: Tree, part: TemplatePath) -> Iterator[MadeTemplate]:
    found = list(_found(tree, part))
    for value, path, steps in found:
        role = " ".join(filter(None, (steps[-1].name if steps else "", part.role)))
        copies = _copies(tree, part, steps)
        body = {"spec": value} if part.bare else value
        count = CountSource.PER_NODE if part.per_node else CountSource.STATED
        if not isinstance(body, dict) or not isinstance(body.get("spec"), dict):
            inner = path if part.bare else f"{path}.spec"
            yield MadeTemplate(path, {}, role=role, copies=copies, count=count, problem=f"{inner}: Required value")
        else:
            by = _counted_by(tree, part, steps)
            at = path if part.bare else ""
            made = MadeTemplate(path, body, role=role, copies=copies, count=count, counted_by=by, spec_at=at)
            own = _named_path(part.path, steps)
            yield made if not part.otherwise or path == own else replace(made, stands_in_for=own)
    if not found and "[]" not in part.path and "*" not in part.path and not part.optional:
        yield MadeTemplate(part.path, {}, role=part.role, problem=f"{part.path}.spec: Required value")


def _found(tree: Tree, part: TemplatePath) -> Iterator[_Place]:
    """What stands at the path of a part, and for the items that have nothing there what stands at the other one."""
    own = list(_at(tree, part.path))
    yield from own
    there = {steps for _, _, steps in own}
    yield from (each for each in _at(tree, part.otherwise) if each[2] not in there) if part.otherwise else ()


def _copies(tree: Tree, part: TemplatePath, steps: tuple[_Step, ...]) -> int | None:
    if part.per_node:
        return None
    number = 1
    for factor in part.factors:
        number = min(number * _value(tree, factor, steps), MAX_PODS)
    return number


def _named_path(path: str, steps: tuple[_Step, ...]) -> str:
    """A path with the items that wildcards stand for: ``spec.replicatedJobs[1].replicas``."""
    left, found = iter(steps), list[str]()
    for field in path.split("."):
        step = next(left, None) if field.endswith("[]") or field == "*" else None
        name = str(step.key) if step is not None else ""
        found.append(name if field == "*" else f"{field.removesuffix('[]')}[{name}]" if step is not None else field)
    return ".".join(found)


def _value(tree: Tree, factor: Factor, steps: tuple[_Step, ...]) -> int:
    first, *others = (number_of(_read(tree, path, steps), None) for path in factor.fields)
    value = min(factor.default if first is None else first, *(each for each in others if each is not None), MAX_PODS)
    if factor.least:
        value = max(value, number_of(_read(tree, factor.least, steps), 0))
    return max(value - factor.less, 0)


def _counted_by(tree: Tree, part: TemplatePath, steps: tuple[_Step, ...]) -> CountField:
    """The outermost number of pieces of work, of which there may be fewer; none where there is one of them."""
    number = _copies(tree, part, steps) or 0
    for factor in part.factors:
        value = _value(tree, factor, steps)
        if value > 1 and not factor.unit:
            fields = (*factor.fields[:1], *filter(None, (factor.least,)))
            named = ((_named_path(path, steps), number_of(_read(tree, path, steps), 0)) for path in fields)
            others = ((_named_path(path, steps), _read(tree, path, steps)) for path in factor.fields[1:])
            bounds = tuple((path, found) for path, found in others if isinstance(found, int))
            return CountField(tuple(each for each in named if each[1]), number // value, bounds)
    return UNCOUNTED


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


def _by_shape(found: Shaped) -> MadeTemplate:
    at = found.path if found.bare else ""
    made = MadeTemplate(found.path, found.body, role=found.role, spec_at=at, moved=found.moved)
    if found.copies is None:
        return replace(made, count=CountSource.UNKNOWN)
    return replace(
        made,
        copies=min(found.copies, MAX_PODS),
        count=CountSource.ASSUMED,
        assumed=found.fields,
        counted_by=found.counted_by,
        growth=found.growth,
    )


def _told_apart(templates: Sequence[MadeTemplate]) -> Iterator[MadeTemplate]:
    """Several templates without names of their own are called by the fields in which their paths differ."""
    roles = Counter(each.role for each in templates)
    paths = [each.path.split(".") for each in templates]
    branches = [[step for at, step in enumerate(path) if _branches(paths, path, at)] for path in paths]
    for each, steps in zip(templates, branches, strict=True):
        length = next((n for n in range(1, len(steps) + 1) if sum(one[-n:] == steps[-n:] for one in branches) == 1), 0)
        named = length and roles[each.role] > 1
        yield replace(each, role=" ".join(steps[-length:])) if named else each


def _branches(paths: Sequence[Sequence[str]], path: Sequence[str], at: int) -> bool:
    """Whether another path is the same up to a step and not in it."""
    return any(other[:at] == path[:at] and other[at : at + 1] != path[at : at + 1] for other in paths)


def _embedded(value: Any, depth: int, path: str = "") -> Iterator[MadeTemplate]:  # noqa: ANN401 - any JSON value
    """Templates of whole objects of known kinds inside of another object."""
    if depth > _MENTIONED_AT:
        return
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        here = f"{path}[{key}]" if isinstance(key, int) else f"{path}.{key}" if path else str(key)
        named = _object(child)
        if named is None or named not in KNOWN:
            yield from _embedded(child, depth + 1, here)
            continue
        name = _name(child.get("metadata"), 0)
        for each in expand(child, *named).templates:
            role = " ".join(filter(None, (f"{named[1]} {name}", each.role)))
            problem = each.problem and f"{here}.{each.problem}"
            inner = each.counted_by
            fields = tuple((f"{here}.{field}", value) for field, value in inner.fields)
            at = f"{here}.{each.spec_path}"
            moved = replace(each, path=f"{here}.{each.path}", spec_at=at, counted_by=replace(inner, fields=fields))
            yield replace(moved, role=role, problem=problem)


def _object(value: Any) -> tuple[str, str] | None:  # noqa: ANN401 - any JSON value
    """Group and kind of an object; None for anything else: a reference has version and kind as well, but no spec."""
    if not isinstance(value, dict) or not isinstance(value.get("spec"), dict):
        return None
    version, kind = value.get("apiVersion"), value.get("kind")
    return (group_of(version), kind) if isinstance(version, str) and isinstance(kind, str) else None
