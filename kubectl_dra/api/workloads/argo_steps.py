"""How often each template of an Argo workflow runs, and after which others, where its entrypoint says so plainly.

Upstream: argo-workflows, workflow/controller/{dag,steps}.go (expandTask, expandStep: a loop makes one per item) and
operator.go (checkParallelism: ``parallelism`` of a workflow or of a template holds back more pods at the same time).
Conditions, parameters, loops in loops and templates that run more than once are left to the controller.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from kubectl_dra.api.trees import Tree, at, list_at, mapping
from kubectl_dra.api.workloads.templates import MAX_PODS, CountSource, MadeTemplate

_NAMES: Final = re.compile(r"[A-Za-z0-9_-]+(?=\.[A-Za-z]|\b)")
_LEFT: Final = ("when", "withParam", "templateRef", "inline", "hooks", "onExit")
#: Parts of ``depends`` that are no names of tasks.
_STATES: Final = re.compile(r"\.[A-Za-z]+")


@dataclass(frozen=True, slots=True)
class _Task:
    name: str
    template: str
    times: int
    field: str
    after: frozenset[str]


def in_order(spec: Tree, path: str, templates: Sequence[MadeTemplate]) -> list[MadeTemplate] | None:
    """The templates with the number of their pods at the same time, in their order; None where that is not plain."""
    roles, entry = {each.role: each for each in templates}, spec.get("entrypoint")
    if spec.get("onExit") or not isinstance(entry, str) or len(roles) != len(templates):
        return None
    if entry in roles:
        return [replace(roles[entry], count=CountSource.STATED)] if len(roles) == 1 else None
    listed = list_at(spec, "templates")
    index = next((n for n, each in enumerate(listed) if mapping(each).get("name") == entry), None)
    tasks = _tasks(mapping(listed[index]), f"{path}.templates[{entry}]") if index is not None else None
    if tasks is None or sorted(each.template for each in tasks) != sorted(roles):
        return None
    limits = [(f"{path}.parallelism", spec.get("parallelism"))]
    limits.append((f"{path}.templates[{entry}].parallelism", mapping(listed[index or 0]).get("parallelism")))
    known = {each.name: each for each in tasks}
    return [_made(roles[each.template], each, known, limits) for each in tasks]


def _made(
    template: MadeTemplate, task: _Task, tasks: Mapping[str, _Task], limits: Sequence[tuple[str, Any]]
) -> MadeTemplate:
    after = tuple(each.template for name, each in tasks.items() if name in _before(task, tasks))
    copies, fields = task.times, [task.field] if task.field else []
    for field, limit in limits:
        if isinstance(limit, int) and not isinstance(limit, bool) and 0 < limit < copies:
            copies = limit
            fields.append(field)
    count = CountSource.ASSUMED if fields else CountSource.STATED
    return replace(template, copies=copies, count=count, assumed=tuple(fields), after=after, in_turn=True)


def _before(task: _Task, tasks: Mapping[str, _Task]) -> set[str]:
    """All tasks that have ended before; tasks name only those before them."""
    found, left = set[str](), set(task.after)
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left |= tasks[name].after
    return found


def _tasks(template: Tree, path: str) -> list[_Task] | None:
    """The tasks of a DAG, or the steps, in an order in which each comes after those that it waits for."""
    found: list[_Task | None] = []
    before: frozenset[str] = frozenset()
    for group in list_at(template, "steps"):
        steps = list(map(mapping, group if isinstance(group, list) else ()))
        found += [_task(each, before, f"{path}.steps") for each in steps]
        before |= {str(each.get("name")) for each in steps}
    dag = map(mapping, list_at(at(template, "dag"), "tasks"))
    found += [_task(each, _depends(each), f"{path}.dag.tasks") for each in dag]
    whole = [each for each in found if each is not None]
    if not whole or len(whole) < len(found):
        return None
    return _sorted(whole)


def _sorted(tasks: Sequence[_Task]) -> list[_Task] | None:
    names, done = {each.name for each in tasks}, dict[str, _Task]()
    if len(names) < len(tasks) or any(not each.after <= names for each in tasks):
        return None
    while len(done) < len(tasks):
        ready = [each for each in tasks if each.name not in done and each.after <= done.keys()]
        if not ready:
            return None
        done |= {each.name: each for each in ready}
    return list(done.values())


def _depends(task: Tree) -> frozenset[str]:
    listed = [name for name in list_at(task, "dependencies") if isinstance(name, str)]
    return frozenset((*listed, *_NAMES.findall(_STATES.sub("", str(task.get("depends") or "")))))


def _task(body: Tree, after: frozenset[str], path: str) -> _Task | None:
    name, template = body.get("name"), body.get("template")
    either = "||" in str(body.get("depends") or "") or "!" in str(body.get("depends") or "")
    if not isinstance(name, str) or not isinstance(template, str) or either or any(body.get(each) for each in _LEFT):
        return None
    if "withItems" in body:
        items = body["withItems"]
        times = len(items) if isinstance(items, list) else None
        field = "withItems"
    else:
        field = "withSequence" if "withSequence" in body else ""
        times = _sequence(mapping(body.get(field))) if field else 1
    if times is None or times < 1:
        return None
    return _Task(name, template, min(times, MAX_PODS), f"{path}[{name}].{field}" if field else "", after)


def _sequence(body: Tree) -> int | None:
    """The numbers of a sequence, of which each may be a text; parameters are not known."""
    count, start, end = (_integer(body.get(name)) for name in ("count", "start", "end"))
    if body.get("count") is not None:
        return count
    return abs(end - (start or 0)) + 1 if end is not None else None


def _integer(value: object) -> int | None:
    text = str(value)
    return int(text) if text.removeprefix("-").isdecimal() and len(text) < len(str(MAX_PODS)) else None
