"""Numbers of copies that fit after a way out are those of the same files in a cluster that is changed by hand."""

from __future__ import annotations

import copy
import os
from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any, Final

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.remedies import records
from kubectl_dra.diagnosis.whatif.nodes import new_names
from kubectl_dra.diagnosis.whatif.records import AddNode
from kubectl_dra.model.features import features
from kubectl_dra.reports.pending.remedies import RemedyReport
from kubectl_dra.reports.pending.renewal import FitThen
from kubectl_dra.reports.simulation import SimulationReport
from kubectl_dra.reports.simulation.afterwards import Afterwards
from kubectl_dra.reports.simulation.course import Course
from tests.kit import build
from tests.kit.clock import CLOCK
from tests.kit.facts import evidence, inventory
from tests.kit.sample import seed
from tests.reports.test_afterwards import TAINT, deployment
from tests.reports.test_simulated_files import simulated, template, thing

#: How many are drawn; `make test` draws the first of them.
CASES: Final = int(os.environ.get("AFTERWARDS_CASES", "150"))
FEW: Final = 20
#: What must have been counted in all: ways out, numbers of new nodes that are enough, other parts that are healed.
MET: Final = frozenset(
    (
        *("DeletePod", "DeletePod rest", "AddNode", "AddNode nodes", "AddDevices", "Uncordon", "EditClaim"),
        *("EditPod tolerations", "EditPod tolerations more", "AddNode nodes rest"),
    )
)
Object = dict[str, Any]


def world_of(objects: list[Object]) -> ClusterState:
    there = [build.namespace(), build.device_class(), *copy.deepcopy(objects)]
    return ClusterState(inventory(there), evidence(), features(), CLOCK)


def drawn(random: Random) -> tuple[list[Object], list[Object]]:
    """Objects of a cluster, and of files: one or two Deployments whose pods take devices, cpu, or both."""
    objects: list[Object] = []
    for number in range(1, random.choice((1, 2, 2, 3)) + 1):
        objects += _node(random, f"node-{number}")
    counts = {name: random.choice((1, 1, 2)) for name in ("one", "two")}
    files = [template(name, count) for name, count in counts.items()]
    for name in random.choice((("one",), ("one",), ("one", "two"))):
        made = deployment(random.randint(2, 7), f"w-{name}", name)
        spec = made["spec"]["template"]["spec"]
        spec["containers"][0]["resources"]["requests"] = {"cpu": random.choice(("100m", "1", "2"))}
        if random.random() < 0.2:
            spec["nodeSelector"] = {"zone": random.choice("ab")}
        files.append(made)
    return objects, files


def _node(random: Random, name: str) -> list[Object]:
    node = build.node(name, labels={"zone": random.choice("ab")}, cpu=random.choice(("2", "4", "8")))
    if random.random() < 0.2:
        node["spec"]["taints"] = [TAINT]
    if random.random() < 0.2:
        node["spec"]["unschedulable"] = True
    number = random.randint(0, 4)
    devices = [build.device(f"gpu-{at}") for at in range(number)]
    found = [node, *([build.slice_(name, *devices)] if devices else [])]
    free = list(range(number))
    while free and random.random() < 0.5:
        taken = [free.pop() for _ in range(min(len(free), random.choice((1, 2))))]
        pod = f"h-{name}-{taken[0]}"
        held = [(name, f"gpu-{at}") for at in taken]
        found.append(build.claim(f"{pod}-claim", build.request(count=len(taken)), held=held, by=[pod], on=name))
        requests = {"cpu": random.choice(("0", "1"))}
        found.append(build.pod(pod, node_name=name, claims=[f"{pod}-claim"], phase="Running", requests=requests))
    return found


# --- by hand --------------------------------------------------------------------------------------------------------


def changed(action: object, objects: list[Object], files: list[Object]) -> bool:
    """Do what a way out says. False: this test does not know how."""
    match action:
        case records.DeletePod():
            objects[:] = [each for each in objects if each["metadata"]["name"] not in _of_pod(action.pod.name)]
        case records.Uncordon():
            for node in objects:
                if node["metadata"]["name"] == action.node and node["kind"] == "Node":
                    del node["spec"]["unschedulable"]
        case AddNode():
            add_nodes(objects, action.like, action.count, free=action.free)
        case records.EditClaim(field="count") if action.template is not None:
            for each in files:
                if each["metadata"]["name"] == action.template.name:
                    each["spec"]["spec"]["devices"]["requests"][0]["exactly"]["count"] = int(action.after)
        case records.EditPod():
            return _edited(_specs(files)[action.pod.name.rsplit("-", 1)[0]], action)
        case records.AddDevices():
            _add_devices(objects, action)
        case _:
            return False
    return True


def _edited(spec: Object, action: records.EditPod) -> bool:
    match action.field.rstrip("]").rpartition("["):
        case "tolerations", _, _:
            spec["tolerations"] = [{**TAINT, "operator": "Equal"}]
        case "nodeSelector", _, key:
            del spec["nodeSelector"]
            if action.after:
                spec["nodeSelector"] = {key: action.after}
        case "containers[main].resources", _, "cpu":
            spec["containers"][0]["resources"]["requests"] = {"cpu": action.after} if action.after else {}
        case _:
            return False
    return True


def _add_devices(objects: list[Object], action: records.AddDevices) -> None:
    own = [each for each in objects if each["kind"] == "ResourceSlice" and each["spec"]["nodeName"] == action.node]
    more = [build.device(f"more-{number}") for number in range(action.count)]
    if own:
        own[0]["spec"]["devices"] += more
    else:
        objects.append(build.slice_(action.node, *more))


def _of_pod(name: str) -> tuple[str, str]:
    return name, f"{name}-claim"


def _specs(files: list[Object]) -> dict[str, Object]:
    return {
        each["metadata"]["name"]: each["spec"]["template"]["spec"] for each in files if each["kind"] == "Deployment"
    }


def add_nodes(objects: list[Object], like: str, count: int, *, free: bool) -> None:
    own = [each for each in objects if each["kind"] == "ResourceSlice" and each["spec"]["nodeName"] == like]
    (node,) = [each for each in objects if each["kind"] == "Node" and each["metadata"]["name"] == like]
    # Under the names that the way out counts with: of nodes as good as each other names decide.
    for name in new_names(like, count, {each["metadata"]["name"] for each in objects if each["kind"] == "Node"}):
        made = copy.deepcopy(node)
        made["metadata"] |= {"name": name, "uid": name}
        made["metadata"]["labels"].pop("kubernetes.io/hostname", None)
        if free:
            made["spec"] = {}
        objects.append(made)
        for each in own:
            slice_ = copy.deepcopy(each)
            slice_["metadata"]["name"] = f"{name}-slice"
            slice_["spec"] |= {"nodeName": name, "pool": {**slice_["spec"]["pool"], "name": name}}
            objects.append(slice_)


def fit(objects: list[Object], files: list[Object]) -> SimulationReport:
    return simulated(*copy.deepcopy(files), world=world_of(objects))


def check(objects: list[Object], files: list[Object], at: int, way: RemedyReport, note: FitThen) -> str:
    objects, files = copy.deepcopy(objects), copy.deepcopy(files)
    for action in way.actions:
        if not changed(action, objects, files):
            return f"unknown {type(action).__name__} {getattr(action, 'field', '')}"
    found = fit(objects, files)
    told = f"{way.actions} {objects} {files}"
    assert (found.pods[at].copies, found.pods[at].wanted) == (note.copies, note.wanted), told
    if note.nodes:
        (added,) = way.actions
        assert isinstance(added, AddNode)
        add_nodes(objects, added.like, note.nodes - added.count, free=added.free)
    if note.more:
        add_nodes(objects, note.like, note.more, free=False)
    if note.nodes or note.more:
        assert not fit(objects, files).pods[at].lacks, told
    kinds = "+".join(sorted({_kind(each) for each in way.actions}))
    return f"{kinds}{' nodes' if note.nodes else ''}{' more' if note.more else ''}{' rest' if note.rest else ''}"


def _kind(action: object) -> str:
    field = f" {action.field.partition('[')[0]}" if isinstance(action, records.EditPod) else ""
    return f"{type(action).__name__}{field}"


@pytest.mark.parametrize("cases", [FEW, pytest.param(CASES, marks=pytest.mark.rows)])
def test_as_many_fit_as_in_a_cluster_changed_by_hand(cases: int) -> None:
    met: Counter[str] = Counter()
    for number in range(cases):
        random = Random(f"{seed()}-{number}")
        objects, files = drawn(random)
        # Where several nodes are equally good for the first, chance decides what it leaves to the second.
        for at, each in enumerate(fit(objects, files).pods[:1]):
            ways = [*each.pending.remedies, *each.pending.additions] if each.pending is not None else []
            for way in ways:
                for note in way.notes:
                    if isinstance(note, FitThen):
                        met[check(objects, files, at, way, note)] += 1
    assert met
    assert cases < CASES or met.keys() >= MET, met
    assert not [each for each in met if each.startswith("unknown")], met


def _several(random: Random) -> tuple[list[Object], list[Object]]:
    """More workloads, of which some have their claims from one template, and some are gangs of Kubernetes."""
    objects, files = drawn(random)
    for number in range(random.randint(2, 5)):
        made = deployment(random.randint(1, 4), f"v-{number}", random.choice(("one", "two")))
        spec = made["spec"]["template"]["spec"]
        spec["containers"][0]["resources"]["requests"] = {"cpu": random.choice(("100m", "1", "3", "9"))}
        if random.random() < 0.3:
            spec["nodeSelector"] = {"zone": random.choice("abc")}
        if random.random() < 0.3:
            spec["schedulingGroup"] = {"podGroupName": random.choice(("g", "h"))}
        files.append(made)
    for name in ("g", "h"):
        gang = {"gang": {"minCount": 2}}
        files.insert(0, thing("scheduling.k8s.io/v1alpha3", "PodGroup", {"schedulingPolicy": gang}, name=name))
    return objects, files


@pytest.mark.parametrize("cases", [FEW // 2, pytest.param(CASES, marks=pytest.mark.rows)])
def test_what_is_placed_once_for_many_ways_out_is_what_comes_of_placing_it_anew(
    cases: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    forked, groups = list[int](), set[str]()
    gates = features(gates={"GenericWorkload": True})

    def found(objects: list[Object], files: list[Object]) -> SimulationReport:
        return simulated(*copy.deepcopy(files), world=replace(world_of(objects), features=gates))

    def fork(course: Course, *given: Any) -> Course:
        forked.append(len(course.found))
        return real(course, *given)

    real = Course.forked
    for number in range(cases):
        objects, files = _several(Random(f"{seed()}-{number}"))
        monkeypatch.setattr(Course, "forked", fork)
        shared = found(objects, files)
        groups |= {pod.group for pod in shared.pods}
        monkeypatch.setattr(Afterwards, "_first", lambda *_given: 0)
        monkeypatch.setattr(Course, "forked", real)
        assert found(objects, files) == shared, number
        monkeypatch.undo()
    assert any(forked)
    assert cases < CASES or {"g", "h"} <= groups
