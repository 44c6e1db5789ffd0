"""Other pods that wait: what a remedy frees or adds is shared with them in the order of the scheduler's queue."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.records import ObjectRef, Verdict
from kubectl_dra.diagnosis.remedies import Remedy
from kubectl_dra.diagnosis.remedies.outlook import Competition, Prospect
from kubectl_dra.diagnosis.remedies.records import (
    DeletePod,
    EditClaim,
    RemoveGates,
)
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.output.pending.consequences import note_texts
from kubectl_dra.output.pending.remedies import remedy_lines
from kubectl_dra.output.safe import plain
from kubectl_dra.reports.pending.remedies import find_remedies
from tests.diagnosis import gangs
from tests.kit import build, facts
from tests.kit.clock import CLOCK
from tests.kit.ways import remedies


def waiting(name: str, count: int = 1, *, minute: int = 0, priority: int = 0, **spec: Any) -> list[dict[str, Any]]:
    """A pod that waits since a minute, with a claim of its own."""
    pod = build.pod(name, claims=[name], priority=priority, **spec)
    pod["metadata"]["creationTimestamp"] = f"2026-01-01T00:{minute:02}:00Z"
    return [pod, build.claim(name, build.request(count=count))]


def holder(name: str, *devices: str, owner: str = "") -> list[dict[str, Any]]:
    pod = build.pod(name, claims=[name], node_name="node-1", phase="Running")
    if owner:
        reference = {"apiVersion": "apps/v1", "kind": owner, "name": "serve", "uid": "serve", "controller": True}
        pod["metadata"]["ownerReferences"] = [reference]
    held = [("node-1", device) for device in devices]
    return [pod, build.claim(name, held=held, by=[name], on="node-1")]


def found(*parts: Any, devices: str = "a") -> tuple[Remedy, ...]:
    """The ways out of the pod called ``pod``; node-1 has one device for each letter."""
    world = cluster(*parts, devices=devices)
    return remedies(world, Diagnoser(world).pod(Key("ml", "pod")))


def cluster(*parts: Any, devices: str) -> ClusterState:
    objects = [each for part in parts for each in (part if isinstance(part, list) else [part])]
    slice_ = build.slice_("node-1", *map(build.device, devices))
    inventory = facts.inventory([build.device_class(), build.node(), slice_, *objects])
    return ClusterState(inventory, facts.evidence(), features(), CLOCK)


def of(kind: type, ways: tuple[Remedy, ...]) -> Remedy:
    return next(way for way in ways if isinstance(way.actions[0], kind))


def ref(name: str) -> ObjectRef:
    return ObjectRef("Pod", "ml", name)


def test_alone_nobody_competes() -> None:
    way = of(DeletePod, found(waiting("pod"), holder("serve", "a")))
    assert (way.competition, way.nodes) == (Competition(), ("node-1",))


@pytest.mark.parametrize(
    ("minute", "priority", "lost"), [(3, 0, False), (1, 0, True), (3, 10, True), (1, -10, False), (2, 0, None)]
)
def test_priority_then_time_decides_who_takes_it(minute: int, priority: int, lost: bool | None) -> None:
    """Of the same moment either may come first, so that nothing is promised."""
    other = waiting("other", minute=minute, priority=priority)
    way = of(DeletePod, found(waiting("pod", minute=2), other, holder("serve", "a")))
    some = Competition(before=1, first=(ref("other"),), lost=lost)
    assert way.competition == (Competition(after=1) if lost is False else some)
    assert way.competition.may_be_lost is (lost is not False)


def test_two_pods_of_the_same_moment_are_told_the_same_of_each_other() -> None:
    """Both would say that the other one comes first, and both can't be."""
    world = cluster(waiting("one"), waiting("two"), holder("serve", "a"), devices="a")
    for name, other in (("one", "two"), ("two", "one")):
        (way, *_) = find_remedies(world, Diagnoser(world).pod(Key("ml", name))).remedies
        (told,) = map(plain, note_texts(way))
        assert told == f"1 other pod waits for the same; ml/{other} has waited for as long, and may get it instead"


def test_of_those_of_the_same_moment_and_those_before_only_these_are_named() -> None:
    older, same = waiting("older", minute=1), waiting("same", minute=2)
    way = of(DeletePod, found(waiting("pod", minute=2), older, same, holder("serve", "a")))
    assert (way.competition.lost, way.competition.first) == (True, (ref("older"),))


def test_what_is_left_after_those_who_come_first() -> None:
    way = of(DeletePod, found(waiting("pod", minute=2), waiting("other"), holder("serve", "a", "b"), devices="ab"))
    assert way.competition == Competition(before=1, first=(ref("other"),))
    assert way.nodes == ("node-1",)


def test_only_those_are_named_without_whom_it_would_be_enough() -> None:
    small, large = waiting("small", 1), waiting("large", 2, minute=1)
    way = of(DeletePod, found(waiting("pod", 2, minute=2), small, large, holder("serve", "a", "b", "c"), devices="abc"))
    assert way.competition.lost
    assert way.competition.first == (ref("large"),)


def test_many_are_counted_and_the_first_are_named() -> None:
    others = [each for number in range(6) for each in waiting(f"w{number}", 1 + number // 3)]
    held = holder("serve", *"abcdef", owner="StatefulSet")
    way = of(DeletePod, found(waiting("pod", minute=1), others, held, devices="abcdef"))
    refs = (ref("w0"), ref("w1"), ref("w2"))
    assert way.competition == Competition(before=4, after=3, again=1, first=refs)


def test_what_is_made_again_comes_last() -> None:
    """A controller's new pod wants the devices back, but this one has waited for longer."""
    way = of(DeletePod, found(waiting("pod", minute=2), holder("serve", "a", owner="StatefulSet")))
    assert way.competition == Competition(after=1, again=1)


def test_a_pod_of_the_same_controller_that_waits_for_longer_comes_first() -> None:
    """The scheduler asks nobody whose pods they are."""
    owned = []
    for name, minute in (("older", 1), ("pod", 2)):
        each = waiting(name, minute=minute)
        reference = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "train", "uid": "t", "controller": True}
        each[0]["metadata"]["ownerReferences"] = [reference]
        owned += each
    way = of(DeletePod, found(owned, holder("serve", "a")))
    assert way.competition == Competition(before=1, first=(ref("older"),), lost=True)


@pytest.mark.parametrize("unlike", [0, 20])
def test_all_pods_of_the_same_controller_are_counted_however_many_others_wait_in_vain(unlike: int) -> None:
    """Each has labels of its own, and those of the others fit nowhere."""
    reference = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "train", "uid": "t", "controller": True}
    owned = []
    for number in range(20):
        pod, claim = waiting("pod" if number == 19 else f"train-{number:02}", minute=number)
        pod["metadata"] |= {"ownerReferences": [reference], "labels": {"apps.kubernetes.io/pod-index": str(number)}}
        owned += [pod, claim]
    elsewhere = [waiting(f"w{number}", nodeSelector={"zone": str(number)}) for number in range(unlike)]
    way = of(DeletePod, found(*elsewhere, owned, holder("serve", "a", owner="StatefulSet")))
    more = {"untried": unlike - 16, "untried_first": True} if unlike else {}
    assert way.competition == Competition(before=1, after=19, again=1, first=(ref("train-00"),), lost=True, **more)


@pytest.mark.parametrize(("minute", "first"), [(59, True), (0, False)])
def test_of_many_unlike_pods_the_number_is_a_bound(minute: int, first: bool) -> None:
    """Each has labels of its own, so that only some are tried; those of another owner would all take the device."""
    others = []
    for number in range(30):
        pod, claim = waiting(f"w{number:02}", minute=number + 1)
        pod["metadata"]["labels"] = {"app": f"w{number}"}
        others += [pod, claim]
    world = cluster(waiting("pod", minute=minute), others, holder("serve", "a"), devices="a")
    way, *_ = find_remedies(world, Diagnoser(world).pod(Key("ml", "pod"))).remedies
    told = way.competition
    assert told is not None
    assert (told.count, told.untried, told.untried_first, bool(told.lost)) == (16, 14, first, first)
    text = "at least 16 other pods wait for the same; ml/w00 comes first, and will probably take it"
    assert list(map(plain, note_texts(way))) == ([text] if first else [])


def test_what_is_made_again_takes_of_a_quota_what_it_gave_back() -> None:
    """The quota is used up by what goes, so that the claims of what comes in its place are made."""
    reference = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "serve", "uid": "serve", "controller": True}
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "serve", "uid": "pod-serve", "controller": True}
    pod = build.pod("serve", templates=["t"], node_name="node-1", phase="Running")
    pod["metadata"]["ownerReferences"] = [reference]
    pod["status"]["resourceClaimStatuses"] = [{"name": "t", "resourceClaimName": "serve-t"}]
    metadata = {"ownerReferences": [owner]}
    claim = build.claim("serve-t", held=[("node-1", "a")], by=["serve"], on="node-1", metadata=metadata)
    template = {"kind": "ResourceClaimTemplate", "metadata": {"name": "t", "namespace": "ml"}}
    template["spec"] = {"spec": claim["spec"]}
    full = {"count/resourceclaims.resource.k8s.io": "2"}
    quota = {"kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "ml"}, "spec": {}}
    quota["status"] = {"hard": full, "used": full}
    way = of(DeletePod, found(waiting("pod", minute=2), pod, claim, template, quota))
    assert way.competition == Competition(after=1, again=1)


def test_of_two_that_go_the_first_leaves_room_for_others_before_this_one_fits() -> None:
    """Even for what a controller makes again; only what takes the place of the last one comes too late."""
    both = holder("one", "a", owner="StatefulSet"), holder("two", "b", owner="StatefulSet")
    way = of(DeletePod, found(waiting("pod", 2, minute=2), *both, devices="ab"))
    assert [action.pod.name for action in way.actions if isinstance(action, DeletePod)] == ["one", "two"]
    assert way.competition == Competition(before=1, after=1, again=2, first=(ref("one"),), lost=True)


def remade(name: str, owner: str, *devices: str) -> list[dict[str, Any]]:
    """A pod that a controller makes again, with a claim from its template ``t``."""
    pod = build.pod(name, templates=["t"], node_name="node-1", phase="Running")
    reference = {"apiVersion": "apps/v1", "kind": owner, "name": name, "uid": f"set-{name}", "controller": True}
    pod["metadata"]["ownerReferences"] = [reference]
    pod["status"]["resourceClaimStatuses"] = [{"name": "t", "resourceClaimName": f"{name}-t"}]
    mine = {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": f"pod-{name}", "controller": True}
    held = [("node-1", device) for device in devices]
    request, metadata = build.request(count=len(devices)), {"ownerReferences": [mine]}
    claim = build.claim(f"{name}-t", request, held=held, by=[name], on="node-1", metadata=metadata)
    template = {"kind": "ResourceClaimTemplate", "metadata": {"name": "t", "namespace": "ml"}}
    return [pod, claim, {**template, "spec": {"spec": claim["spec"]}}]


def test_what_is_made_again_takes_its_place_before_the_last_pod_goes() -> None:
    """The one that goes last is made again by nobody, which leaves what was freed before no less taken."""
    again = remade("again", "ReplicaSet", "a", "b")
    way = of(DeletePod, found(waiting("pod", 3, minute=2), again, holder("bare", "c"), devices="abc"))
    assert [action.pod.name for action in way.actions if isinstance(action, DeletePod)] == ["again", "bare"]
    assert way.competition == Competition(before=1, again=1, first=(ref("again"),), lost=True)


@pytest.mark.parametrize(("owner", "lost"), [("ReplicaSet", True), ("StatefulSet", False)])
def test_what_is_made_again_while_the_old_one_goes_takes_what_is_free_already(owner: str, lost: bool) -> None:
    """A StatefulSet waits until it has gone, and then this pod is there first."""
    again = remade("again", owner, "c")
    way = of(DeletePod, found(waiting("pod", 3, minute=2), again, holder("bare", "a", "b"), devices="abc"))
    assert [action.pod.name for action in way.actions if isinstance(action, DeletePod)] == ["bare", "again"]
    first = (ref("again"),) if lost else ()
    assert way.competition == Competition(before=int(lost), after=int(not lost), again=1, first=first, lost=lost)


@pytest.mark.parametrize(("owner", "lost"), [("ReplicaSet", True), ("StatefulSet", False)])
def test_a_device_that_is_free_goes_to_what_is_made_again(owner: str, lost: bool) -> None:
    way = of(DeletePod, found(waiting("pod", 2, minute=2), remade("again", owner, "b"), devices="ab"))
    assert way.competition.lost is lost


def test_what_takes_its_devices_back_is_not_deleted_where_anything_else_helps() -> None:
    again = remade("again", "ReplicaSet", "b")
    assert told(cluster(waiting("pod", 2, minute=2), again, holder("bare", "c"), devices="abc")) == ["bare"]


def test_what_takes_its_devices_back_is_told_where_nothing_else_helps() -> None:
    both = holder("one", "a", owner="StatefulSet"), holder("two", "b", owner="StatefulSet")
    assert told(cluster(waiting("pod", 2, minute=2), *both, devices="ab"))[:2] == ["one", "two"]


def told(world: ClusterState) -> list[str]:
    """The pods that a reader is told to delete."""
    ways = find_remedies(world, Diagnoser(world).pod(Key("ml", "pod"))).remedies
    return [action.pod.name for way in ways for action in way.actions if isinstance(action, DeletePod)]


@pytest.mark.parametrize(("priority", "lost"), [(0, True), (-10, False)])
def test_what_is_made_again_comes_before_a_pod_that_is_made_anew_as_well(priority: int, lost: bool) -> None:
    """Ask for less, then delete a pod: the new pod is no older than the one that is made again.

    Where that has less priority, this one comes first: it waits already when the devices become free.
    """
    again = remade("again", "StatefulSet", "b", "c", "d")
    again[0]["spec"]["priority"] = priority
    mine = build.pod("pod", templates=["mine"])
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "pod", "uid": "pod-pod", "controller": True}
    mine["status"]["resourceClaimStatuses"] = [{"name": "mine", "resourceClaimName": "pod-mine"}]
    claim = build.claim("pod-mine", build.request(count=5), metadata={"ownerReferences": [owner]})
    template = {"kind": "ResourceClaimTemplate", "metadata": {"name": "mine", "namespace": "ml"}}
    template |= {"spec": {"spec": claim["spec"]}}
    world = cluster(mine, claim, template, again, holder("small", "a"), devices="abcd")
    diagnosis = Diagnoser(world).pod(Key("ml", "pod"))
    ways = remedies(world, diagnosis)
    both = [way for way in ways if {type(action) for action in way.actions} == {DeletePod, EditClaim}]
    freed = [way for way in both if any(a.pod == ref("again") for a in way.actions if isinstance(a, DeletePod))]
    assert freed
    assert {way.competition.lost for way in freed} == {lost}
    assert {way.competition.first for way in freed} == {(ref("again"),) if lost else ()}
    steps = [way.steps for way in find_remedies(world, diagnosis).remedies if way.actions == freed[0].actions]
    targets = [[step.commands[-1][2] for step in each][1:] for each in steps]
    assert targets == ([] if lost else [["--force", "pod/again"]])


def test_a_gated_pod_does_not_compete() -> None:
    gated = waiting("other", schedulingGates=[{"name": "g"}])
    assert of(DeletePod, found(waiting("pod", minute=2), gated, holder("serve", "a"))).competition == Competition()


def test_a_pod_whose_attempt_ends_with_an_error_takes_nothing() -> None:
    selector = f'device.attributes["{build.DRIVER}"].nothing == "x"'
    broken = [build.pod("other", claims=["other"]), build.claim("other", build.request(selector=selector))]
    way = of(DeletePod, found(waiting("pod", minute=2), broken, holder("serve", "a")))
    assert way.competition == Competition()


def test_an_edit_frees_nothing_for_others() -> None:
    ways = found(waiting("pod", 2, minute=2), waiting("other", 2), devices="a")
    assert of(EditClaim, ways).competition == Competition()


def test_what_others_take_is_a_worse_way_out() -> None:
    """Of two holders, whoever holds enough for both goes first."""
    ways = found(waiting("pod", minute=2), waiting("other"), holder("one", "a"), holder("two", "b", "c"), devices="abc")
    deleted = [(way.actions[0].pod.name, way.competition.lost) for way in ways if isinstance(way.actions[0], DeletePod)]
    assert deleted == [("two", False), ("one", True)]


# --- gates ------------------------------------------------------------------------------------------------------------

GATE = {"schedulingGates": [{"name": "example.com/g"}]}


def test_without_its_gate_a_pod_that_fits_runs() -> None:
    way = of(RemoveGates, found(waiting("pod", **GATE)))
    assert (way.nodes, way.then) == (("node-1",), None)


def test_what_comes_after_the_gate() -> None:
    ways = found(waiting("pod", 2, **GATE))
    way = of(RemoveGates, ways)
    assert (way.nodes, way.then) == ((), Prospect(Verdict.UNSCHEDULABLE, Code.TOO_FEW_DEVICES))


def test_pods_that_wait_for_cpu_take_it_first() -> None:
    """They hold no devices and ask for none, and a controller's new pod is known by what the old one took."""
    busy = build.pod("busy", node_name="node-1", phase="Running", requests={"cpu": "3"})
    other = build.pod("other", requests={"cpu": "3"}, priority=10)
    pod, claim = waiting("pod", requests={"cpu": "2"})
    way = of(DeletePod, found(pod, claim, busy, other))
    assert way.actions == (DeletePod(ref("busy"), (), None, ("3 cpu",)),)
    assert way.competition == Competition(before=1, first=(ref("other"),), lost=True)


# --- pods that are placed together ------------------------------------------------------------------------------------


def beside_a_group(size: int, minimum: int, priority: int = 0) -> Remedy:
    """What freeing two devices comes to beside a PodGroup of some pods that want one each."""
    train = [each for number in range(size) for each in gangs.member(number, devices=1, priority=priority)]
    for each in train:
        each["metadata"]["creationTimestamp"] = "2026-01-01T00:05:00Z"
    group = gangs.group(minimum, priority=priority)
    slice_ = build.slice_("node-1", build.device("a"), build.device("b"))
    objects = [build.node(), slice_, *waiting("pod", minute=1), *holder("serve", "a", "b"), group, *train]
    world = gangs.cluster(*objects)
    return of(DeletePod, remedies(world, Diagnoser(world).pod(Key("ml", "pod"))))


def test_a_group_that_fits_together_comes_after_or_first() -> None:
    train = ObjectRef("PodGroup", "ml", "train")
    assert beside_a_group(2, 2).competition == Competition(after=1, groups=1)
    assert beside_a_group(2, 2, priority=5).competition == Competition(before=1, groups=1, first=(train,), lost=True)


def test_a_group_that_does_not_fit_as_a_whole_takes_nothing() -> None:
    assert beside_a_group(3, 3, priority=5).competition == Competition()


def test_where_no_way_out_promises_a_node_none_are_announced() -> None:
    """What is freed goes to a pod that has waited for longer, by all of them."""
    world = cluster(waiting("pod", minute=2), waiting("other", minute=1), holder("serve", "a"), devices="a")
    ways = find_remedies(world, Diagnoser(world).pod(Key("ml", "pod"))).remedies
    assert "runs on" not in " ".join(map(plain, remedy_lines(ways, Verdict.UNSCHEDULABLE)))
    alone = cluster(waiting("pod", minute=2), holder("serve", "a"), devices="a")
    ways = find_remedies(alone, Diagnoser(alone).pod(Key("ml", "pod"))).remedies
    assert "runs on" in " ".join(map(plain, remedy_lines(ways, Verdict.UNSCHEDULABLE)))
