"""How many of a shape fit, at most after moving others, what keeps more away, and the smallest set of moves."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.capacity import Capacity, Shape, capacity, of_request
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import BeingBound, Bound, Count
from kubectl_dra.diagnosis.whatif.records import Because
from kubectl_dra.model.core import Container, Pod, PodSpec, ResourceRequirements
from kubectl_dra.model.invocation import HERE
from kubectl_dra.model.meta import ObjectMeta
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.output.capacity.page import capacity_page, why_no_more
from kubectl_dra.output.safe import plain
from kubectl_dra.reports.capacity.capacity import CapacityRequest, capacity_report
from tests.capacity.clusters import Shape as Wanted
from tests.capacity.worlds import shape_of
from tests.diagnosis.test_whatif import budget, gpus, owned, template
from tests.kit import build
from tests.kit.build import NAMESPACE
from tests.kit.facts import evidence, without
from tests.kit.state import inventory_of, state_of


def world(*objects: dict[str, Any], withheld: tuple[str, ...] = ()) -> ClusterState:
    base = [build.namespace(), build.device_class(), template()]
    return state_of(inventory_of([*base, *objects]), evidence(*withheld))


def nodes(*names: str, devices: int = 4) -> list[dict[str, Any]]:
    return [each for name in names for each in (build.node(name), build.slice_(name, *gpus(devices)))]


def ask(state: ClusterState, count: int = 1, *selectors: str) -> Capacity:
    return capacity(state, of_request(NAMESPACE, build.DRIVER, count, selectors))


def by_name(found: Capacity) -> dict[str, tuple[int, list[Code]]]:
    return {name: (room.copies, [cause.code for cause in room.causes]) for room in found.nodes for name in room.names}


def test_copies_are_counted_node_by_node() -> None:
    found = ask(world(*nodes("a", "b"), *owned("x", "a", ("a", "gpu-0"))), 2)
    assert found.copies.value == 3
    assert found.copies.bound is Bound.EXACT
    assert by_name(found) == {"a": (1, [Code.DEVICES_IN_USE]), "b": (2, [Code.DEVICES_IN_USE])}
    devices = found.devices
    assert (devices.matching, devices.in_use, devices.taken, devices.left, devices.unusable) == (8, 1, 6, 1, 0)


def test_devices_of_all_alternatives_are_counted() -> None:
    """One of model A, or two of any: what copies took of either is taken, and what either could get is left."""
    mixed = [build.device(f"gpu-{i}", attributes={"model": "AABBB"[i]}) for i in range(5)]
    state = world(build.node("a"), build.slice_("a", *mixed), *owned("x", "a", ("a", "gpu-0")))
    selector = f"device.attributes['{build.DRIVER}'].model == 'A'"
    found = capacity(state, shape_of(Wanted(1, selector, otherwise=2)))
    assert found.copies.value == 2
    devices = found.devices
    assert (devices.matching, devices.in_use, devices.taken, devices.left, devices.unusable) == (5, 1, 3, 1, 0)
    assert [each.devices for each in found.nodes] == [devices]


def test_what_keeps_the_next_copy_away_is_told_per_node() -> None:
    tainted = build.node("tainted")
    tainted["spec"] = {"taints": [{"key": "k", "effect": "NoSchedule"}]}
    full = owned("full", "small", requests={"cpu": "4"})
    bad = build.slice_(
        "ill", *(build.device(f"gpu-{i}", taints=[{"key": "ecc", "effect": "NoSchedule"}]) for i in (0, 1))
    )
    shape = of_request(NAMESPACE, build.DRIVER, 1, ())
    state = world(tainted, build.slice_("tainted", *gpus(4)), *nodes("small"), *full, build.node("ill"), bad)
    assert by_name(capacity(state, shape)) == {
        "tainted": (0, [Code.NODE_TAINTS]),
        "small": (4, [Code.DEVICES_IN_USE]),
        "ill": (0, [Code.DEVICES_TAINTED]),
    }


def test_devices_beside_copies_that_found_no_more_cpu_are_left_over() -> None:
    """As in the row of their node; they are neither tainted nor short of anything themselves."""
    shape = of_request(NAMESPACE, build.DRIVER, 1, ())
    needs = ResourceRequirements(requests={"cpu": Quantity.parse("3")})
    (container,) = shape.pod.spec.containers
    wide = Container(
        name=container.name, resources=ResourceRequirements(needs.requests, {}, container.resources.claims)
    )
    pod = Pod(shape.pod.metadata, msgspec.structs.replace(shape.pod.spec, containers=(wide,)))
    devices = capacity(world(*nodes("a", "b")), Shape(pod, shape.templates)).devices
    assert (devices.matching, devices.taken, devices.left, devices.unusable) == (8, 2, 6, 0)


def test_devices_that_several_nodes_reach_are_counted_once() -> None:
    shared = build.slice_("", *gpus(3), pool="rack", allNodes=True)
    del shared["spec"]["nodeName"]
    found = ask(world(build.node("a"), build.node("b"), shared), 1)
    assert found.copies.value == 3
    assert not found.side_by_side
    assert found.devices.matching == 3
    assert found.repacked.bound is Bound.UNKNOWN


def test_fragmented_devices_are_left_over_until_pods_move() -> None:
    """Two pods hold one of two devices on two nodes: a copy that needs two fits once one of them has moved."""
    state = world(*nodes("a", "b", devices=2), *owned("x", "a", ("a", "gpu-0")), *owned("y", "b", ("b", "gpu-0")))
    found = ask(state, 2)
    assert (found.copies.value, found.devices.left) == (0, 2)
    assert (found.repacked.value, found.repacked.bound, found.reached) == (1, Bound.AT_MOST, True)
    (way,) = found.moves
    assert (way.more, way.smallest, way.at_least, len(way.moves)) == (1, True, 1, 1)
    (move,) = way.moves
    assert {move.from_node, move.to} == {"a", "b"}
    assert way.nodes == (move.from_node,)
    assert len(move.devices) == 1


@pytest.mark.parametrize(
    ("withheld", "because", "words"),
    [
        ((), Because.NONE, "or a node as good"),
        (("Service",), Because.NOT_READ, "or another node that fits"),
    ],
)
def test_which_node_a_restarted_pod_gets_is_open_where_services_were_not_read(
    withheld: tuple[str, ...], because: Because, words: str
) -> None:
    held = [each for name in "abc" for each in owned(name, name, (name, "gpu-0"))]
    for pod in held[::2]:
        pod["metadata"]["labels"]["pod-template-hash"] = "x"
    state = world(*nodes("a", "b", "c", devices=2), *held, withheld=withheld)
    report = capacity_report(state, CapacityRequest(build.DRIVER, 2), NAMESPACE)
    (way,) = report.shapes[0].capacity.moves
    (move,) = way.moves
    assert move.because is because
    assert len(move.equal) == 2
    assert {each.kind for each in report.missing} == set(withheld)
    page = " ".join(" ".join(capacity_page(report, HERE)).split())
    assert words in page
    assert ("The scheduler may choose another of the nodes that fit" in page) is bool(withheld)


def test_a_pod_that_finds_no_node_gets_one_by_another_that_moves_first() -> None:
    """Room for three is on a or nowhere; who has to leave it needs the two of b, of which another pod has one."""
    big = owned("big", "a", ("a", "gpu-0"), ("a", "gpu-1"))
    big[0]["spec"]["resourceClaims"][0]["resourceClaimTemplateName"] = "two"
    objects = [
        template("two", 2),
        *big,
        *nodes("a", devices=3),
        *nodes("b", "c", devices=2),
        *owned("small", "b", ("b", "gpu-0")),
        *owned("other", "c", ("c", "gpu-0")),
    ]
    found = ask(world(*objects), 3)
    assert (found.copies.value, found.repacked.value) == (0, 1)
    (way,) = found.moves
    assert [move.pod.name for move in way.moves] in (["small", "big"], ["other", "big"])
    # The one alone can not: two restarts are the least.
    assert (way.smallest, way.at_least) == (True, 2)
    first, second = way.moves
    assert set(first.closed) == {"a", first.from_node}
    assert second.closed == ("a",)
    assert second.to == first.from_node
    assert way.nodes == first.closed


def nominated(name: str, node: str, priority: int, **more: Any) -> dict[str, Any]:
    """A pod that is about to get three of the four cpus of a node."""
    pod = build.pod(name, requests={"cpu": "3"}, priority=priority, **more)
    pod["status"]["nominatedNodeName"] = node
    return pod


@pytest.mark.parametrize("node", ["a", "b"])
def test_a_nominated_pod_takes_from_its_node_and_from_none_like_it(node: str) -> None:
    found = capacity(world(*nodes("a", "b"), nominated("soon", node, 5)), shape_of(Wanted(1, cpu="1")))
    assert {name: copies for name, (copies, _) in by_name(found).items()} == {"a": 4, "b": 4, node: 1}
    assert found.copies == Count(5)


@pytest.mark.parametrize("node", ["a", "b"])
def test_copies_beside_a_pod_of_lower_priority_that_may_be_being_bound_are_the_most(node: str) -> None:
    low = nominated("low", node, -1, claims=["claim"])
    found = capacity(world(*nodes("a", "b"), build.claim("claim"), low), shape_of(Wanted(1, cpu="1")))
    assert found.copies == Count(8, Bound.AT_MOST)
    assert found.being_bound == BeingBound((f"{NAMESPACE}/low",), 5)
    enough = capacity(world(*nodes("a", "b"), build.claim("claim"), low), shape_of(Wanted(4, cpu="1")))
    assert (enough.copies, enough.being_bound) == (Count(2), None)


def test_what_others_take_of_a_node_is_no_proof_that_pods_with_devices_have_to_leave() -> None:
    """Two pods hold devices and cpu, a third one only cpu: to end that one alone would make room as well."""
    full = [
        *owned("x", "a", ("a", "gpu-0"), requests={"cpu": "1"}),
        *owned("y", "a", ("a", "gpu-1"), requests={"cpu": "1"}),
        *owned("plain", "a", requests={"cpu": "2"}),
    ]
    small = [each for name in "bc" for each in (build.node(name, cpu="1"), build.slice_(name, *gpus(2)))]
    state = world(*nodes("a"), *full, *small)
    (way,) = capacity(state, shape_of(Wanted(1, cpu="2"))).moves
    assert (len(way.moves), way.smallest, way.at_least) == (2, False, 1)


def test_no_moves_are_made_up_where_pods_can_not_leave() -> None:
    bare = owned("x", "a", ("a", "gpu-0"))
    del bare[0]["metadata"]["ownerReferences"]
    other = [*owned("y", "b", ("b", "gpu-0")), budget("y", 0)]
    found = ask(world(*nodes("a", "b", devices=2), *bare, *other), 2)
    assert (found.copies.value, found.repacked.value, found.movable, found.moves) == (0, 0, 0, ())


def test_a_quota_limits_beside_the_devices() -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q", "namespace": NAMESPACE},
        "spec": {"hard": {f"{build.DRIVER}.deviceclass.resource.k8s.io/devices": "5"}},
        "status": {"hard": {f"{build.DRIVER}.deviceclass.resource.k8s.io/devices": "5"}},
    }
    found = ask(world(*nodes("a", "b"), quota), 2)
    assert (found.copies.value, found.quota) == (4, 2)
    assert ask(world(*nodes("a", "b")), 2).quota is None


def test_a_quota_of_an_extended_resource_limits_pods() -> None:
    limit = "requests.example.com/gpu"
    status = {"hard": {limit: "5"}, "used": {limit: "2"}}
    few = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "few", "namespace": NAMESPACE}}
    few |= {"spec": {"hard": status["hard"]}, "status": status}
    container = Container("main", resources=ResourceRequirements({"example.com/gpu": Quantity(1)}))
    pod = Pod(ObjectMeta("web", NAMESPACE), PodSpec(containers=(container,)))
    assert capacity(world(*nodes("a", "b"), few), Shape(pod, {})).quota == 3


@pytest.mark.parametrize(("plugin", "most"), [({}, 7), ({"example.com/gpu": "9"}, 16)])
def test_copies_with_an_extended_resource_are_bounded_by_the_devices(plugin: dict[str, str], most: int) -> None:
    """Of a device plugin nothing is known but the number that its node offers."""
    shared = build.device_class()
    shared["spec"] = {**shared["spec"], "extendedResourceName": "example.com/gpu"}
    container = Container("main", resources=ResourceRequirements({"example.com/gpu": Quantity(1)}))
    pod = Pod(ObjectMeta("web", NAMESPACE), PodSpec(containers=(container,)))
    plain_node = build.node("p", **plugin) if plugin else None
    there = [*nodes("a", "b"), *([plain_node] if plain_node else []), *owned("x", "a", ("a", "gpu-0"))]
    found = capacity(world(shared, *there), Shape(pod, {}))
    assert (found.copies.value, found.copies.bound) == (most, Bound.EXACT)
    assert plugin or found.repacked.value == most


def test_devices_behind_a_node_taint_are_counted_for_an_extended_resource_too() -> None:
    shared = build.device_class()
    shared["spec"] = {**shared["spec"], "extendedResourceName": "example.com/gpu"}
    container = Container("main", resources=ResourceRequirements({"example.com/gpu": Quantity(1)}))
    pod = Pod(ObjectMeta("web", NAMESPACE), PodSpec(containers=(container,)))
    node, slice_ = nodes("a")
    node["spec"] = {"taints": [{"key": "closed", "effect": "NoSchedule"}]}
    found = capacity(world(shared, node, slice_, *owned("x", "a", ("a", "gpu-0"))), Shape(pod, {}))
    (room,) = found.nodes
    assert (found.copies.value, found.devices.matching, found.devices.in_use, room.devices.left) == (0, 4, 1, 3)


@pytest.mark.parametrize(
    ("withheld", "bound"),
    [
        ("Pod", Bound.AT_MOST),
        ("ResourceClaim", Bound.AT_MOST),
        ("DeviceTaintRule", Bound.AT_MOST),
        ("ResourceSlice", Bound.UNKNOWN),
        ("DeviceClass", Bound.UNKNOWN),
        ("Node", Bound.UNKNOWN),
    ],
)
def test_what_could_not_be_read_makes_numbers_bounds(withheld: str, bound: Bound) -> None:
    found = ask(world(*nodes("a", "b"), withheld=(withheld,)), 2)
    assert found.copies.bound is bound
    assert not found.moves


def test_a_class_that_does_not_exist_ends_every_attempt() -> None:
    report = capacity_report(world(*nodes("a")), CapacityRequest("nosuch"), NAMESPACE)
    (shape,) = report.shapes
    assert (shape.capacity.copies.value, shape.capacity.nodes) == (0, ())
    assert shape.pending is not None
    assert shape.pending.code is Code.CLASS_MISSING
    assert "does not fit: DeviceClass nosuch does not exist." in " ".join(capacity_page(report, HERE))


def test_what_keeps_all_copies_off_is_in_the_first_line() -> None:
    there = {**build.node("a", cpu="64"), "spec": {"taints": [{"key": "dedicated", "effect": "NoSchedule"}]}}
    other = {**build.node("b", cpu="64"), "spec": {"unschedulable": True}}
    published = build.slice_("a", *gpus(2)), build.slice_("b", *gpus(2))
    report = capacity_report(world(there, other, *published), CapacityRequest(build.DRIVER), NAMESPACE)
    told = " ".join(" ".join(map(plain, capacity_page(report, HERE))).split())
    assert "does not fit on any node now: a has the device but has the taint dedicated:NoSchedule, which" in told
    assert "free but left over: no node has room for one copy" in told


@pytest.mark.parametrize(
    ("taints", "is_supposed"),
    [
        ([{"key": "gpus", "value": "yes", "effect": "NoSchedule"}], True),
        ([{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}], False),
        ([{"key": "karpenter.sh/unregistered", "effect": "NoExecute"}], False),
        ([{"key": "gpus", "value": "yes", "effect": "PreferNoSchedule"}], False),
    ],
)
def test_a_pod_of_no_file_tolerates_what_all_nodes_with_such_devices_have(
    taints: list[dict[str, str]], is_supposed: bool
) -> None:
    def kept(name: str) -> dict[str, Any]:
        return {**build.node(name, cpu="64"), "spec": {"taints": taints}}

    published = build.slice_("a", *gpus(2)), build.slice_("b", *gpus(2))
    nodes = [kept("a"), kept("b"), build.node("without-devices", cpu="64")]
    shape = capacity_report(world(*nodes, *published), CapacityRequest(build.DRIVER), NAMESPACE).shapes[0]
    assert shape.tolerates == (("gpus=yes:NoSchedule",) if is_supposed else ())
    open_ = is_supposed or taints[0]["effect"] == "PreferNoSchedule"
    assert shape.capacity.copies.value == (4 if open_ else 0)
    mixed = [kept("a"), build.node("b", cpu="64"), *published]
    assert capacity_report(world(*mixed), CapacityRequest(build.DRIVER), NAMESPACE).shapes[0].tolerates == ()


def test_nodes_alike_are_counted_like_one() -> None:
    many = nodes(*(f"n-{number:03}" for number in range(120)), devices=3)
    found = ask(world(*many), 2)
    assert found.copies.value == 120
    (room,) = found.nodes
    assert (room.count, len(room.names), room.more) == (120, 20, 100)


@pytest.mark.parametrize(
    ("withheld", "matching", "in_use", "others", "copies"),
    [
        ("", Bound.EXACT, Bound.EXACT, Bound.EXACT, Bound.EXACT),
        ("ResourceSlice", Bound.AT_LEAST, Bound.AT_LEAST, Bound.UNKNOWN, Bound.UNKNOWN),
        ("ResourceClaim", Bound.EXACT, Bound.AT_LEAST, Bound.UNKNOWN, Bound.AT_MOST),
        ("Pod", Bound.EXACT, Bound.EXACT, Bound.UNKNOWN, Bound.AT_MOST),
    ],
)
def test_counts_of_devices_say_what_they_are_worth(
    withheld: str, matching: Bound, in_use: Bound, others: Bound, copies: Bound
) -> None:
    """Nothing unread is none: not in the document either."""
    state = world(*nodes("a"), *owned("x", "a", ("a", "gpu-0")), withheld=(withheld,) if withheld else ())
    if withheld:
        state = state.changed(without(state.inventory, withheld))
    found = capacity_report(state, CapacityRequest(build.DRIVER), NAMESPACE).shapes[0].capacity
    (room,) = found.nodes
    assert room.bound is copies
    for devices in (found.devices, room.devices):
        assert (devices.matching_bound, devices.in_use_bound, devices.others_bound) == (matching, in_use, others)


def lonely(name: str, node_name: str, *devices: tuple[str, str]) -> list[dict[str, Any]]:
    """A pod without a controller that holds devices."""
    pod, claim, *_ = owned(name, node_name, *devices)
    del pod["metadata"]["ownerReferences"]
    return [pod, claim]


def test_bare_pods_that_keep_a_node_from_being_used_are_named_and_no_restarts() -> None:
    state = world(
        *nodes("a", "b", "c"),
        *lonely("nb", "a", ("a", "gpu-0")),
        *lonely("x", "b", ("b", "gpu-0")),
        *lonely("y", "b", ("b", "gpu-1")),
    )
    found = ask(state, 4)
    assert (found.copies.value, found.movable) == (1, 0)
    told = [([pod.name for pod in each.pods], each.node, each.more) for each in found.deletions]
    assert told == [(["nb"], "a", 1), (["x", "y"], "b", 1)]
    report = capacity_report(state, CapacityRequest(build.DRIVER, 4), NAMESPACE)
    page = " ".join(" ".join(capacity_page(report, HERE)).split())
    assert "gone for good: nothing starts them again" in page
    assert "without ml/nb one more fits on a" in page
    assert "kubectl delete pod/nb -n ml" in page
    assert "without ml/x and ml/y one more fits on b" in page


def test_nodes_full_of_copies_are_full_whatever_else_they_lack() -> None:
    shape = of_request(NAMESPACE, build.DRIVER, 4, ())
    needs = ResourceRequirements(requests={"cpu": Quantity.parse("3")})
    (container,) = shape.pod.spec.containers
    wide = Container(
        name=container.name, resources=ResourceRequirements(needs.requests, {}, container.resources.claims)
    )
    pod = Pod(shape.pod.metadata, msgspec.structs.replace(shape.pod.spec, containers=(wide,)))
    found = capacity(world(*nodes("a", "b")), Shape(pod, shape.templates))
    assert [plain(why_no_more(room)) for room in found.nodes] == ["all taken by these"]


def halves(node_name: str, *held: tuple[str, str]) -> list[dict[str, Any]]:
    """A card of four slots, in halves of two or quarters of one, and pods that hold quarters: ``(pod, quarter)``."""
    counters = {f"slot-{number}": {"value": "1"} for number in range(4)}

    def part(name: str, profile: str, *slots: int) -> dict[str, Any]:
        uses = {f"slot-{number}": {"value": "1"} for number in slots}
        return build.device(
            name,
            attributes={"profile": profile},
            consumesCounters=[{"counterSet": "card", "counters": uses}],
        )

    small = [part(f"q-{number}", "quarter", number) for number in range(4)]
    large = [part(f"h-{number}", "half", 2 * number, 2 * number + 1) for number in range(2)]
    sets = build.slice_(node_name, sharedCounters=[{"name": "card", "counters": counters}])
    parts = build.slice_(node_name, *small, *large)
    sets["metadata"]["name"] += "-counters"
    for each in (sets, parts):
        each["spec"]["pool"]["resourceSliceCount"] = 2
    pods = [each for pod, quarter in held for each in owned(pod, node_name, (node_name, quarter))]
    return [build.node(node_name), sets, parts, *pods]


HALF = f'device.attributes["{build.DRIVER}"].profile == "half"'


def quarter_template() -> dict[str, Any]:
    selector = f'device.attributes["{build.DRIVER}"].profile == "quarter"'
    spec = {"devices": {"requests": [build.request(selectors=[{"cel": {"expression": selector}}])]}}
    meta = {"name": "gpu", "namespace": NAMESPACE}
    return {"kind": "ResourceClaimTemplate", "metadata": meta, "spec": {"spec": spec}}


def test_pods_may_be_restarted_in_their_place_and_none_of_them_twice() -> None:
    """Each of two cards has a quarter of each half in use: two pods that stay on their cards are enough."""
    a = halves("a", ("w", "q-1"), ("x", "q-2"))
    b = halves("b", ("y", "q-1"), ("z", "q-2"))
    base = [build.namespace(), build.device_class(), quarter_template()]
    state = state_of(inventory_of([*base, *a, *b]), evidence())
    found = ask(state, 1, HALF)
    assert (found.copies.value, found.repacked.value) == (0, 2)
    for way in found.moves:
        assert len({move.pod for move in way.moves}) == len(way.moves)
    last = found.moves[-1]
    assert (last.more, len(last.moves), last.smallest) == (2, 2, True)
    report = capacity_report(state, CapacityRequest(build.DRIVER, 1, (HALF,)), NAMESPACE)
    page = " ".join(" ".join(map(plain, capacity_page(report, HERE))).split())
    assert page.count("Room for") == 2, "the shortest plan and the one that makes the most room"


def test_a_pod_that_is_restarted_in_its_place_may_leave_the_rest_in_one_piece() -> None:
    base = [build.namespace(), build.device_class(), quarter_template()]
    state = state_of(inventory_of([*base, *halves("a", ("w", "q-1"), ("x", "q-2"))]), evidence())
    report = capacity_report(state, CapacityRequest(build.DRIVER, 1, (HALF,)), NAMESPACE)
    (way,) = report.shapes[0].ways
    assert (way.moves.moves[0].pod.name, way.moves.smallest) == ("x", True)
    page = " ".join(" ".join(map(plain, capacity_page(report, HERE))).split())
    assert "ml/x stays on a and gets other devices there (gpu.example.com/a/q-0)" in page
    assert "cordon" not in page


def test_commands_wait_for_what_was_restarted_before_they_go_on() -> None:
    held = [*owned("x", "a", ("a", "gpu-0")), *owned("y", "b", ("b", "gpu-0"))]
    report = capacity_report(world(*nodes("a", "b", devices=2), *held), CapacityRequest(build.DRIVER, 2), NAMESPACE)
    (way,) = report.shapes[0].ways
    pod = way.moves.moves[0].pod.name
    lines = [" ".join(words) for words in way.commands]
    assert [line.split()[1] for line in lines] == ["cordon", "delete", "wait", "wait", "uncordon"]
    assert f"kubectl wait --for=create pod/{pod} -n ml --timeout=10m" in lines[2]
    assert f"kubectl wait --for=condition=PodScheduled pod/{pod} -n ml --timeout=10m" in lines[3]


def test_what_a_replica_set_makes_is_waited_for_by_its_label_and_others_by_a_person() -> None:
    held = [*owned("x", "a", ("a", "gpu-0"), kind="ReplicaSet"), *owned("y", "b", ("b", "gpu-0"), kind="ReplicaSet")]
    for pod in held[::2]:
        pod["metadata"]["labels"]["pod-template-hash"] = "abc"
    report = capacity_report(world(*nodes("a", "b", devices=2), *held), CapacityRequest(build.DRIVER, 2), NAMESPACE)
    (way,) = report.shapes[0].ways
    assert " ".join(way.commands[2]).startswith(
        "kubectl wait --for=condition=PodScheduled pod -l pod-template-hash=abc -n ml"
    )
    assert way.unwaited == ()
    held = [*owned("x", "a", ("a", "gpu-0"), kind="Thing"), *owned("y", "b", ("b", "gpu-0"), kind="Thing")]
    report = capacity_report(world(*nodes("a", "b", devices=2), *held), CapacityRequest(build.DRIVER, 2), NAMESPACE)
    (way,) = report.shapes[0].ways
    assert [words[1] for words in way.commands] == ["cordon", "delete", "uncordon"]
    assert len(way.unwaited) == 1
    page = " ".join(" ".join(map(plain, capacity_page(report, HERE))).split())
    assert "wait until the new pod in place of" in page
