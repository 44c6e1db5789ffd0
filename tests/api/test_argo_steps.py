"""How often the templates of an Argo workflow run at the same time, and after which others."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.api.workloads import expand
from kubectl_dra.api.workloads.expand import CountSource

LEAF: dict[str, Any] = {"container": {"image": "x"}}


_Told = tuple[str, int | None, CountSource, tuple[str, ...]]


def templates(main: dict[str, Any], *leaves: str, **spec: Any) -> list[_Told]:
    """Role, number, its source and what has ended before, of each template."""
    listed = [{"name": "main", **main}, *({"name": name, **LEAF} for name in leaves)]
    tree = {"spec": {"entrypoint": "main", "templates": listed, **spec}}
    found = expand(tree, "argoproj.io", "Workflow").templates
    return [(each.role, each.copies, each.count, each.after) for each in found]


def task(name: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "template": name, **fields}


def test_a_single_template_runs_once() -> None:
    assert templates(LEAF) == [("main", 1, CountSource.STATED, ())]


def test_tasks_run_after_those_they_depend_on() -> None:
    tasks = [
        task("c", depends="b.Succeeded && a"),
        task("b", dependencies=["a"], withItems=[1, 2, 3]),
        task("a"),
    ]
    assert templates({"dag": {"tasks": tasks}}, "a", "b", "c") == [
        ("a", 1, CountSource.STATED, ()),
        ("b", 3, CountSource.ASSUMED, ("a",)),
        ("c", 1, CountSource.STATED, ("a", "b")),
    ]


def test_steps_run_after_the_groups_before() -> None:
    steps = [[task("a"), task("b", withSequence={"count": "4"})], [task("c", withSequence={"start": "2", "end": "6"})]]
    assert templates({"steps": steps}, "a", "b", "c") == [
        ("a", 1, CountSource.STATED, ()),
        ("b", 4, CountSource.ASSUMED, ()),
        ("c", 5, CountSource.ASSUMED, ("a", "b")),
    ]


@pytest.mark.parametrize(("where", "number"), [({"parallelism": 2}, 2), ({"parallelism": 9}, 6)])
def test_no_more_run_at_the_same_time_than_may(where: dict[str, int], number: int) -> None:
    dag = {"dag": {"tasks": [task("a", withItems=list(range(6)))]}}
    assert templates(dag, "a", **where)[0][1] == number
    assert templates({**dag, **where}, "a")[0][1] == number


@pytest.mark.parametrize(
    "tasks",
    [
        [task("a", when="{{x}} == 1")],
        [task("a", withParam="{{x}}")],
        [task("a", withSequence={"count": "{{x}}"})],
        [task("a", withSequence={"count": "--5"})],
        [task("a"), {"name": "again", "template": "a"}],
        [task("a", depends="a")],
        [task("a", depends="b")],
        [{"name": "a", "templateRef": {"name": "t", "template": "a"}}],
    ],
)
def test_what_only_the_controller_knows_is_tried_once(tasks: list[dict[str, Any]]) -> None:
    assert templates({"dag": {"tasks": tasks}}, "a") == [("a", 1, CountSource.UNKNOWN, ())]


def test_templates_that_nothing_names_are_tried_once() -> None:
    found = templates({"dag": {"tasks": [task("a")]}}, "a", "b")
    assert {each[2] for each in found} == {CountSource.UNKNOWN}
