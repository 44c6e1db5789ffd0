"""What let the pod run in a real cluster is among the remedies: the same kind on the same object, or a cheaper one."""

from typing import Any

import pytest

from kubectl_dra.diagnosis.remedies import Remedy, RemedyKind
from kubectl_dra.diagnosis.remedies.records import (
    AddDevices,
    CreateObject,
    DeletePod,
    RemoveGates,
    RemoveTaintRule,
    RepairPool,
)
from tests.diagnosis.test_remedies import recorded
from tests.diagnosis.test_scenarios import EXPECTED
from tests.kit import facts
from tests.kit.ways import remedies

Step = tuple[str, str, str]
# What somebody who can't do the recorded change would have to accept instead ranks before it.
RANK = {
    "Pod": RemedyKind.FREE_DEVICES,
    "DeviceTaintRule": RemedyKind.REMOVE_TAINT_RULE,
    "ResourceSlice": RemedyKind.ADD_DEVICES,
}
ORDER = list(RemedyKind)


def fixes() -> dict[str, tuple[list[Step], str]]:
    """Scenario -> the recorded steps (verb, kind, name) and the node that the pod was then bound to."""
    found = {}
    for name in sorted(EXPECTED):
        fix = facts.scenario(name)[1].get("fix")
        if fix is not None:
            steps = [tuple(step.split()) for step in fix["steps"]]
            found[name] = (steps, fix["bound_to"])
    return found


FIXES = fixes()


def does(action: Any, step: Step, namespace: str) -> bool:
    """Whether an action is what the step did."""
    verb, kind, name = step
    match verb, kind, action:
        case "delete", "Pod", DeletePod():
            return bool(action.pod.name == name)
        case "delete", "DeviceTaintRule", RemoveTaintRule():
            return bool(action.rule == name)
        case "create", _, CreateObject():
            scope = "" if kind == "DeviceClass" else namespace
            named = (action.ref.kind, action.ref.name, action.ref.namespace) == (kind, name, scope)
            # A class for an explicit resource may have any name.
            return named or (action.ref.kind == kind and bool(action.extended_resource))
        case "patch", "Pod", RemoveGates():
            return bool(action.pod.name == name)
        case _, "ResourceSlice", RepairPool() | AddDevices():
            return True
    return False


def ranks_before(remedy: Remedy, step: Step) -> bool:
    """Whether a remedy that was verified asks for less than the step did."""
    kind = RANK.get(step[1])
    return remedy.verified and kind is not None and ORDER.index(remedy.kind) < ORDER.index(kind)


def test_most_scenarios_say_what_helped() -> None:
    assert len(FIXES) >= 24


@pytest.mark.parametrize("name", FIXES)
def test_what_helped_is_proposed(name: str) -> None:
    steps, node = FIXES[name]
    world, diagnosis, _ = recorded(name)
    found = remedies(world, diagnosis)
    namespace = diagnosis.pod.namespace
    same = [r for r in found if all(any(does(a, step, namespace) for a in r.actions) for step in steps)]
    assert same or any(ranks_before(remedy, steps[-1]) for remedy in found)
    assert all(node in remedy.nodes for remedy in same if remedy.verified)


def test_the_same_thing_is_found_for_all() -> None:
    missing = []
    for name, (steps, _) in FIXES.items():
        world, diagnosis, _ = recorded(name)
        actions = [action for remedy in remedies(world, diagnosis) for action in remedy.actions]
        if not all(any(does(action, step, diagnosis.pod.namespace) for action in actions) for step in steps):
            missing.append(name)
    assert missing == []
