"""A wider search: what is changed as little as possible, and what else than devices is in the way."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.diagnosis.remedies import Proposals, Remedy, find, trial
from kubectl_dra.diagnosis.remedies import edits as edits_module
from kubectl_dra.diagnosis.remedies.records import AddDevices, DeletePod, EditClaim, EditClass, EditPod, RemoveGates
from kubectl_dra.diagnosis.whatif.records import AddNode
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from tests.kit import build, facts
from tests.kit.clock import CLOCK

MEMORY = f'device.capacity["{build.DRIVER}"].memory'
NUMBER = f'device.attributes["{build.DRIVER}"].number'
POD = ObjectRef("Pod", "ml", "pod")


def found(*parts: Any) -> Proposals:
    objects = [each for part in parts for each in (part if isinstance(part, list) else [part])]
    classes = [] if any(each["kind"] == "DeviceClass" for each in objects) else [build.device_class()]
    world = ClusterState(facts.inventory([*classes, *objects]), facts.evidence(), features(), CLOCK)
    return find(world, Diagnoser(world).pod(Key("ml", "pod")))


def held(way: Remedy) -> tuple[str, ...]:
    return way.nodes if way.verified else ()


def edits(ways: Proposals) -> list[tuple[str, str]]:
    """Field and new value of each edit that holds."""
    return [
        (action.field, action.after)
        for proposal in ways.proposals
        for action in proposal.remedy.actions
        if isinstance(action, EditClaim | EditPod | EditClass) and held(proposal.remedy)
    ]


def wanting(*requests: dict[str, Any], **spec: Any) -> list[dict[str, Any]]:
    return [build.pod(claims=["claim"], **spec), build.claim("claim", *requests)]


def holder(name: str, *devices: str, node: str = "node-1", **spec: Any) -> list[dict[str, Any]]:
    pod = build.pod(name, claims=[name], node_name=node, phase="Running", **spec)
    return [pod, build.claim(name, held=[(node, each) for each in devices], by=[name], on=node)]


def running(name: str, node: str = "node-1", labels: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    pod = build.pod(name, node_name=node, phase="Running", **spec)
    pod["metadata"]["labels"] = labels or {}
    return pod


def sized(name: str, size: str, number: int = 5, policy: dict[str, Any] | None = None) -> dict[str, Any]:
    memory = {"value": size, **({"requestPolicy": policy} if policy else {})}
    attributes = {"number": {"int": number}}
    return {"name": name, "attributes": attributes, "capacity": {"memory": memory}}


# --- requests ---------------------------------------------------------------------------------------------------------


def test_an_amount_that_exists_in_the_place_of_one_that_does_not() -> None:
    selector = f'{NUMBER} == 5 && {MEMORY}.compareTo(quantity("100Gi")) >= 0'
    slice_ = build.slice_("node-1", sized("a", "40Gi"), sized("b", "80Gi"))
    ways = found(wanting(build.request(selector=selector)), build.node(), slice_)
    assert edits(ways)[0] == ("selectors[0]", selector.replace("100Gi", "80Gi"))


@pytest.mark.parametrize(
    ("selector", "after"),
    [
        # Under the domain that devices publish it in, in the unit in which they have it, and compared as it can be.
        ('device.attributes["gpu.other.com"].number == 5', f"{NUMBER} == 5"),
        (
            f'device.attributes["other.com"].number == 5 && {MEMORY}.isGreaterThan(quantity("40Gi"))',
            f'{NUMBER} == 5 && {MEMORY}.isGreaterThan(quantity("40Gi"))',
        ),
        (f'{MEMORY}.compareTo(quantity("80G")) == 0', f'{MEMORY}.compareTo(quantity("80Gi")) == 0'),
        (f'{MEMORY}.compareTo(quantity("80")) == 0', f'{MEMORY}.compareTo(quantity("80Gi")) == 0'),
        (f"{MEMORY} >= 80", f'{MEMORY}.compareTo(quantity("80Gi")) >= 0'),
    ],
)
def test_one_clause_in_the_right_domain_unit_and_form(selector: str, after: str) -> None:
    ways = found(wanting(build.request(selector=selector)), build.node(), build.slice_("node-1", sized("a", "80Gi")))
    assert edits(ways)[0] == ("selectors[0]", after)


def test_nothing_is_verified_where_another_plugin_may_decide() -> None:
    """A gang of Coscheduling, which is not simulated."""
    for label, verified in (("app", True), ("scheduling.x-k8s.io/pod-group", False)):
        pod, claim = wanting(build.request(count=2))
        pod["metadata"]["labels"] = {label: "train"}
        ways = found(pod, claim, build.node(), build.slice_("node-1", build.device("a")))
        assert {p.remedy.verified for p in (*ways.proposals, *ways.additions)} == {verified}
        assert ways.proposals[0].remedy.nodes == ("node-1",)


def test_more_devices_on_the_only_node_that_has_any() -> None:
    nodes, three = [build.node(name) for name in ("node-1", "node-2")], [*map(build.device, "abc")]
    added = AddDevices(1, f"{build.DRIVER}/node-2/a", "node-2")
    wanted = wanting(build.request(count=4))

    def hardware(*slices: dict[str, Any]) -> list[Any]:
        return [each.remedy.actions[0] for each in found(wanted, *nodes, *slices).additions]

    assert hardware(build.slice_("node-2", *three))[0] == added
    # Machines of a kind come with theirs; what several pods share, such as CPUs, is a part of the machine.
    fewer = build.slice_("node-1", build.device("a"))
    assert not any(isinstance(each, AddDevices) for each in hardware(fewer, build.slice_("node-2", *three)))
    shared = [each | {"allowMultipleAllocations": True} for each in three]
    assert not any(isinstance(each, AddDevices) for each in hardware(build.slice_("node-2", *shared)))


def test_nobody_wants_another_node_whose_devices_are_all_tainted() -> None:
    bad = build.device("b", taints=[{"key": "ecc", "effect": "NoSchedule"}])
    pod = wanting()
    theirs = holder("theirs", "a")
    one = found(pod, build.node(), theirs, build.slice_("node-1", build.device("a"), bad)).additions
    assert AddNode("node-1", 1, free=True) in [each.remedy.actions[0] for each in one]
    all_of_them = found(pod, build.node(), build.slice_("node-1", bad)).additions
    assert not [each for each in all_of_them if isinstance(each.remedy.actions[0], AddNode)]


def test_devices_are_looked_at_for_a_missing_class_only_where_a_driver_is_called_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    real = edits_module.offers

    def counted(world: ClusterState) -> Any:
        asked.append("all devices")
        return real(world)

    monkeypatch.setattr(edits_module, "offers", counted)
    classes = [build.device_class(name) for name in ("one", "two")]
    for missing, expected in (("nowhere", []), (build.DRIVER, ["one", "two"])):
        there = build.node(), build.slice_("node-1", build.device("a"))
        ways = found(wanting(build.request(cls=missing)), *classes, *there)
        assert [after for field, after in edits(ways) if field == "deviceClassName"] == expected
        assert bool(asked) is bool(expected)


def test_a_number_that_exists_in_the_place_of_one_that_does_not() -> None:
    ways = found(
        wanting(build.request(selector=f"{NUMBER} >= 7")), build.node(), build.slice_("node-1", sized("a", "1Gi"))
    )
    assert edits(ways)[0] == ("selectors[0]", f"{NUMBER} >= 5")


PRODUCT = f'device.attributes["{build.DRIVER}"].productName'
MODEL = f"device.attributes['{build.DRIVER}'].model"
FULL = "NVIDIA H100 80GB HBM3"


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        (f"{MODEL} == 'H100'", f"device.attributes['{build.DRIVER}'].productName == \"{FULL}\""),
        (f"has({MODEL}) && {MODEL} == 'h100'", None),
        (f"device.attributes['{build.DRIVER}'].?model.orValue('') == 'H100'", None),
        (f"'H100' == {MODEL}", f"\"{FULL}\" == device.attributes['{build.DRIVER}'].productName"),
        (f'{PRODUCT} == "H100"', f'{PRODUCT} == "{FULL}"'),
        (f'{MODEL} == "{FULL}"', f"device.attributes['{build.DRIVER}'].productName == \"{FULL}\""),
        (f"device.attributes['{build.DRIVER}'].type == 'H100'", None),
    ],
)
def test_a_value_that_devices_have_under_another_name(selector: str, expected: str | None) -> None:
    device = {
        "name": "a",
        "attributes": {
            "productName": {"string": FULL},
            "uuid": {"string": "GPU-H100-0"},
            "type": {"string": "gpu"},
        },
    }
    ways = found(wanting(build.request(selector=selector)), build.node(), build.slice_("node-1", device))
    field, text = edits(ways)[0]
    assert field == "selectors[0]"
    if expected is not None:
        assert text == expected
    assert "productName" in text
    assert FULL in text
    assert ".model" not in text


@pytest.mark.parametrize("text", ["L40S", "GP"])
def test_a_value_that_no_device_has_is_dropped(text: str) -> None:
    device = {"name": "a", "attributes": {"productName": {"string": FULL}, "uuid": {"string": "GPU-H100-0"}}}
    ways = found(wanting(build.request(selector=f"{MODEL} == '{text}'")), build.node(), build.slice_("node-1", device))
    assert edits(ways)[0] == ("selectors[0]", "")


A = f'device.attributes["{build.DRIVER}"]'


def modelled(name: str, model: str | None = "A100", **more: dict[str, Any]) -> dict[str, Any]:
    attributes = {**({"model": {"string": model}} if model else {"type": {"string": "nic"}}), **more}
    return {"name": name, "attributes": attributes}


@pytest.mark.parametrize(
    ("selector", "devices", "after"),
    [
        # The right domain and a value that exists; an attribute that exists; no order of texts.
        ('device.attributes["other.com"].model == "x"', ["A100", "A100"], f'{A}.model == "A100"'),
        (f'{A}.nosuch == "x"', ["A100", "A100"], f'{A}.model == "A100"'),
        (f'{A}["nosuch"] == "x"', ["A100", "A100"], f'{A}["model"] == "A100"'),
        (f"{A}.model > 3", ["A100", "A100"], f'{A}.model == "A100"'),
        (f"3 >= {A}.model", ["A100"], f'"A100" == {A}.model'),
        # Devices without the attribute must not fail.
        (f'{A}.model == "H200"', ["A100", "A100", None], f'{A}.?model.orValue("") == "A100"'),
        # What is different on each device tells them apart; -1 is no value of a text.
        (f'{A}.nosuch == "x"', ["A100", "H100"], None),
        (f"{A}.nosuch == -1", ["A100", "A100"], None),
    ],
)
def test_a_selector_that_fails_asks_for_what_exists_or_is_dropped(
    selector: str, devices: list[str | None], after: str | None
) -> None:
    slice_ = build.slice_("node-1", *(modelled(str(number), model) for number, model in enumerate(devices)))
    offered = edits(found(wanting(build.request(selector=selector)), build.node(), slice_))
    kept = [text for field, text in offered if field == "selectors[0]" and text]
    assert kept == ([after] if after is not None else [])
    assert ("selectors[0]", "") in offered


def test_what_is_left_of_a_selector_has_no_condition_twice() -> None:
    slice_ = build.slice_("node-1", modelled("0"), modelled("1"))
    selector = f'{A}.nosuch == "x" && {A}.model == "A100"'
    offered = edits(found(wanting(build.request(selector=selector)), build.node(), slice_))
    assert [text for field, text in offered if field == "selectors[0]"] == [f'{A}.model == "A100"']


def test_two_clauses_of_one_selector_are_one_edit() -> None:
    selector = f'{MEMORY}.compareTo(quantity("100Gi")) >= 0 && {NUMBER} >= 7'
    ways = found(wanting(build.request(selector=selector)), build.node(), build.slice_("node-1", sized("a", "80Gi")))
    first = ways.proposals[0].remedy
    assert [type(action) for action in first.actions] == [EditClaim]
    assert edits(ways)[0] == ("selectors[0]", f'{MEMORY}.compareTo(quantity("80Gi")) >= 0 && {NUMBER} >= 5')


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (None, "40Gi"),
        ({"default": "10Gi", "validRange": {"min": "10Gi", "step": "25Gi"}}, "35Gi"),
        ({"default": "10Gi", "validValues": ["10Gi", "30Gi", "80Gi"]}, "30Gi"),
        ({"default": "10Gi", "validRange": {"min": "10Gi", "max": "30Gi"}}, "30Gi"),
        ({"default": "10Gi", "validRange": {"min": "10Gi", "max": "34Gi", "step": "5Gi"}}, "30Gi"),
    ],
)
def test_a_smaller_capacity_that_the_policy_allows(policy: dict[str, Any] | None, expected: str) -> None:
    request = build.request(capacity={"requests": {"memory": "60Gi"}})
    device = {**sized("a", "40Gi", policy=policy), "allowMultipleAllocations": True}
    ways = found(wanting(request), build.node(), build.slice_("node-1", device))
    assert edits(ways)[0] == ("capacity.requests[memory]", expected)


@pytest.mark.parametrize(
    ("asked", "published", "expected"),
    [
        ("memory", f"{build.DRIVER}/memory", f"{build.DRIVER}/memory"),
        (f"{build.DRIVER}/memory", "memory", "memory"),
        ("other.example.com/memory", "memory", "memory"),
        ("memroy", "memory", "memory"),
        ("bandwidth", "memory", ""),
    ],
)
def test_a_capacity_gets_the_name_that_devices_publish(asked: str, published: str, expected: str) -> None:
    """Names of capacities are compared as they stand, unlike those of attributes in selectors."""
    request = build.request(capacity={"requests": {asked: "10Gi"}})
    device = build.device("a", capacity={published: {"value": "40Gi"}}, allowMultipleAllocations=True)
    ways = found(wanting(request), build.node(), build.slice_("node-1", device))
    assert [after for field, after in edits(ways) if field == "capacity.name"] == ([expected] if expected else [])


@pytest.mark.parametrize("asks", [2, 1])
def test_no_request_is_dropped_where_to_drop_a_constraint_is_enough(asks: int) -> None:
    """Whoever asks for both wants both; where there is one device for two requests, nothing else helps."""
    roots = [build.device(name, attributes={"root": name}) for name in ("a", "b")][:asks]
    same = {"matchAttribute": f"{build.DRIVER}/root", "requests": ["gpu", "nic"]}
    claim = build.claim("claim", build.request("gpu"), build.request("nic"), constraints=[same])
    ways = found(build.pod(claims=["claim"]), claim, build.node(), build.slice_("node-1", *roots))
    dropped = [field for field, after in edits(ways) if not after]
    assert dropped == (["constraints[0]"] if asks == 2 else ["requests", "requests"])


def test_all_devices_become_as_many_as_there_are_left() -> None:
    devices = [build.device(name) for name in "abc"]
    request = build.request(allocationMode="All")
    ways = found(wanting(request), holder("other", "a"), build.node(), build.slice_("node-1", *devices))
    assert ("allocationMode", "ExactCount 2") in edits(ways)


def test_delete_and_ask_for_less_where_neither_is_enough() -> None:
    devices = [build.device(name) for name in "ab"]
    ways = found(
        wanting(build.request(count=3)), holder("other", "a", "b"), build.node(), build.slice_("node-1", *devices)
    )
    kinds = {tuple(sorted(type(action).__name__ for action in p.remedy.actions)) for p in ways.proposals}
    assert kinds == {("DeletePod", "EditClaim")}
    assert edits(ways)[0] == ("count", "2")


def test_it_is_said_how_many_changes_were_tried() -> None:
    request = build.request(count=2, selector=f"{NUMBER} == 5")
    other = build.request("other", cls=build.DRIVER)
    ways = found(wanting(request, other), build.node(), build.slice_("node-1"))
    assert ways.none_of_size_two
    assert ways.searched.singles > 0


# --- classes ----------------------------------------------------------------------------------------------------------


def test_the_selector_of_a_class_that_selects_nothing() -> None:
    wrong = {"cel": {"expression": f'device.attributes["{build.DRIVER}"].model == "h100"'}}
    cls = build.device_class(selectors=[wrong])
    device = build.device("a", attributes={"model": "H100"})
    ways = found(cls, wanting(), build.node(), build.slice_("node-1", device))
    assert ("selectors[0]", f'device.attributes["{build.DRIVER}"].model == "H100"') in edits(ways)


def test_a_class_that_could_serve_an_extended_resource() -> None:
    pod = build.pod(requests={"example.com/gpu": "1"})
    other = build.device_class("nic.example.com")
    slice_ = build.slice_("node-1", build.device("a"))
    ways = found(pod, build.device_class(), other, build.node(), slice_)
    edited = [p.remedy.actions[0] for p in ways.proposals if isinstance(p.remedy.actions[0], EditClass)]
    assert edited == [EditClass(build.DRIVER, "extendedResourceName", "", "example.com/gpu")]


# --- other plugins ----------------------------------------------------------------------------------------------------


def test_pods_without_devices_give_back_their_cpu() -> None:
    busy = [running("small", requests={"cpu": "1"}), running("large", requests={"cpu": "3"})]
    ways = found(wanting(requests={"cpu": "2"}), busy, build.node(), build.slice_("node-1", build.device("a")))
    deleted = [p.remedy.actions for p in ways.proposals if isinstance(p.remedy.actions[0], DeletePod)]
    assert deleted == [(DeletePod(ObjectRef("Pod", "ml", "large"), (), None, ("3 cpu",)),)]


_ZONED = {"topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "x"}}}


def _spread(skew: int = 1) -> list[dict[str, Any]]:
    pod, claim = wanting(topologySpreadConstraints=[{"maxSkew": skew, **_ZONED}])
    pod["metadata"]["labels"] = {"app": "x"}
    nodes = [build.node("node-1", labels={"zone": "a"}), build.node("node-2", labels={"zone": "b"})]
    return [pod, claim, running("twin", labels={"app": "x"}), *nodes, build.slice_("node-1", build.device("a"))]


def test_spreading_less_evenly_or_only_where_possible() -> None:
    ways = found(_spread())
    assert edits(ways) == [
        ("topologySpreadConstraints[zone].maxSkew", "2"),
        ("topologySpreadConstraints[zone].whenUnsatisfiable", "ScheduleAnyway"),
    ]
    deleted = [p.remedy.actions[0].pod.name for p in ways.proposals if isinstance(p.remedy.actions[0], DeletePod)]
    assert deleted == ["twin"]


def _over_hosts(**other: Any) -> list[dict[str, Any]]:
    """One pod on the only node with a device left, and a node without devices that counts as empty."""
    spread = {**_ZONED, "maxSkew": 1, "topologyKey": "kubernetes.io/hostname"}
    pod, claim = wanting(topologySpreadConstraints=[spread])
    pod["metadata"]["labels"] = {"app": "x"}
    mine = build.node("node-1", labels={"kubernetes.io/hostname": "node-1", "pool": "gpu", "disk": "ssd"})
    spare = build.node("node-2", labels={"kubernetes.io/hostname": "node-2", "disk": "ssd"})
    spare["spec"] = other
    return [pod, claim, running("twin", labels={"app": "x"}), mine, spare, build.slice_("node-1", build.device("a"))]


def test_nodes_without_devices_need_not_count_for_spreading() -> None:
    """Nodes that the pod's node selector leaves out are no domains."""
    assert edits(found(_over_hosts()))[0] == ("nodeSelector[pool]", "pool=gpu")


def test_nodes_whose_taints_keep_the_pod_away_need_not_count_for_spreading() -> None:
    ways = edits(found(_over_hosts(taints=[{"key": "system", "effect": "NoSchedule"}])))
    assert ("topologySpreadConstraints[kubernetes.io/hostname].nodeTaintsPolicy", "Honor") in ways
    assert all("nodeTaintsPolicy" not in field for field, _ in edits(found(_over_hosts())))


_NEAR = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "cache"}}}
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def test_without_company_that_is_nowhere() -> None:
    pod = wanting(affinity={"podAffinity": {_REQUIRED: [_NEAR]}})
    node = build.node(labels={"kubernetes.io/hostname": "node-1"})
    assert edits(found(pod, node, build.slice_("node-1", build.device("a")))) == [("affinity.podAffinity[0]", "")]


def test_beside_a_pod_that_is_avoided_or_without_it() -> None:
    pod = wanting(affinity={"podAntiAffinity": {_REQUIRED: [_NEAR]}})
    node = build.node(labels={"kubernetes.io/hostname": "node-1"})
    ways = found(pod, running("cache-0", labels={"app": "cache"}), node, build.slice_("node-1", build.device("a")))
    assert edits(ways) == [("affinity.podAntiAffinity[0]", "")]
    assert any(p.remedy.actions == (DeletePod(ObjectRef("Pod", "ml", "cache-0"), ()),) for p in ways.proposals)


def test_required_node_affinity_goes_and_affinity_to_pods_stays() -> None:
    """What was tried must be what the patch does."""
    terms = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["c"]}]}]}
    affinity = {"nodeAffinity": {_REQUIRED: terms}, "podAffinity": {_REQUIRED: [_NEAR]}}
    node = build.node(labels={"kubernetes.io/hostname": "node-1"})
    ways = found(wanting(affinity=affinity), node, build.slice_("node-1", build.device("a")))
    held_by = [{a.field for a in p.remedy.actions if isinstance(a, EditPod)} for p in ways.proposals if held(p.remedy)]
    assert held_by == [{"affinity.nodeAffinity", "affinity.podAffinity[0]"}]


def test_a_volume_claim_with_a_name_like_it() -> None:
    pvc = {
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data-0", "namespace": "ml", "uid": "pvc"},
        "spec": {"volumeName": "pv"},
        "status": {"phase": "Bound"},
    }
    volume = {"kind": "PersistentVolume", "metadata": {"name": "pv"}, "spec": {}, "status": {"phase": "Bound"}}
    pvc["metadata"]["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
    pod = wanting(volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data-o"}}])
    ways = found(pod, pvc, volume, build.node(), build.slice_("node-1", build.device("a")))
    assert edits(ways) == [("volumes[data]", "data-0")]


def test_whoever_holds_a_volume_for_one_pod_alone_goes() -> None:
    pvc = {
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": "ml", "uid": "pvc"},
        "spec": {"volumeName": "pv", "accessModes": ["ReadWriteOncePod"]},
        "status": {"phase": "Bound"},
    }
    pvc["metadata"]["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
    volume = {"kind": "PersistentVolume", "metadata": {"name": "pv"}, "spec": {}, "status": {"phase": "Bound"}}
    mounts = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]}
    user = build.pod("user", node_name="node-1", phase="Running", **mounts)
    objects = pvc, volume, build.node(), build.slice_("node-1", build.device("a"))
    ways = found(wanting(**mounts), user, build.pod("another", node_name="node-1", phase="Running"), *objects)
    deleted = [p.remedy for p in ways.proposals if any(isinstance(a, DeletePod) for a in p.remedy.actions)]
    assert [[a.pod.name for a in each.actions if isinstance(a, DeletePod)] for each in deleted] == [["user"]]
    assert deleted[0].verified
    assert deleted[0].nodes == ("node-1",)


# --- gates, nodes -----------------------------------------------------------------------------------------------------


def test_a_gate_and_what_comes_after_it_go_together() -> None:
    pod = wanting(build.request(count=2), schedulingGates=[{"name": "g"}])
    ways = found(pod, build.node(), build.slice_("node-1", build.device("a")))
    both = [p.remedy for p in ways.proposals if len(p.remedy.actions) == 2]
    assert [type(action) for action in both[0].actions] == [RemoveGates, EditClaim]
    assert both[0].nodes == ("node-1",)


def test_a_node_like_one_that_is_full() -> None:
    ways = found(wanting(), holder("other", "a"), build.node(), build.slice_("node-1", build.device("a")))
    assert ways.additions[0].remedy.actions == (AddNode("node-1", free=True),)


def test_new_nodes_are_no_help_against_a_cordon() -> None:
    node = build.node()
    node["spec"] = {"unschedulable": True}
    assert found(wanting(), node, build.slice_("node-1", build.device("a"))).additions == ()


# --- how much is tried ------------------------------------------------------------------------------------------------


def crowded() -> list[Any]:
    """Three nodes whose devices are held by one pod each, and a pod that wants more than any node has."""
    names = ("gpu-0", "gpu-1")
    parts: list[Any] = []
    for number in (1, 2, 3):
        node = f"node-{number}"
        parts += [
            build.node(node),
            build.slice_(node, *map(build.device, names)),
            holder(f"holder-{number}", *names, node=node),
        ]
    flat = [each for part in parts for each in (part if isinstance(part, list) else [part])]
    return [*flat, *wanting(build.request(count=3))]


def test_what_was_tried_is_counted_and_a_search_that_ends_early_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = found(crowded()).searched
    assert whole.singles + whole.pairs > 1
    assert not whole.ended
    monkeypatch.setattr(trial, "_MOST", 1)
    monkeypatch.setattr(trial, "_LEAST", 1)
    short = found(crowded()).searched
    assert short.ended
    assert short.singles + short.pairs < whole.singles + whole.pairs


def test_a_trial_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    real = trial.outcome

    def outcome(world: ClusterState, key: Key, among: frozenset[str] | None = None) -> trial.Result:
        asked.append((id(world), among))
        kept.append(world)
        return real(world, key, among)

    kept: list[ClusterState] = []
    monkeypatch.setattr(trial, "outcome", outcome)
    found(crowded())
    assert asked
    assert len(asked) == len(set(asked))


# --- two obstacles ----------------------------------------------------------------------------------------------------


def behind_a_taint(**holder_spec: Any) -> Proposals:
    """The only device is in use, on a node with a taint; the other node has none."""
    kept = {**build.node(), "spec": {"taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]}}
    there = [kept, build.node("node-2"), build.slice_("node-1", build.device("gpu-0"))]
    return found(there, holder("other", "gpu-0", **holder_spec), wanting(build.request()))


def test_behind_a_taint_a_pod_that_holds_the_devices_ends_as_well() -> None:
    (proposal,) = behind_a_taint().proposals
    edit, end = proposal.remedy.actions
    assert isinstance(edit, EditPod)
    assert (edit.field, edit.after) == ("tolerations[0]", "k=v:NoSchedule")
    assert isinstance(end, DeletePod)
    assert (end.pod.name, proposal.remedy.nodes) == ("other", ("node-1",))


def test_no_pod_that_the_cluster_needs_ends_for_it() -> None:
    assert not behind_a_taint(priority=2_000_000_000).proposals


@pytest.mark.parametrize(
    ("count", "more", "wanted"),
    [
        (6, {}, [("share[cpu]", "6")]),
        # So many devices are there, or so much is not.
        (2, {}, []),
        (99, {}, []),
        (6, {"allowMultipleAllocations": False}, []),
        (6, {"capacity": {"cpu": {"value": "30"}, "memory": {"value": "64Gi"}}}, []),
    ],
)
def test_so_much_of_a_shared_device_in_place_of_so_many_devices(
    count: int, more: dict[str, Any], wanted: list[tuple[str, str]]
) -> None:
    """Processors one by one, and all of a NUMA node as one device: kubernetes-sigs/dra-driver-cpu has both modes."""
    groups = [
        build.device(name, allowMultipleAllocations=True, capacity={"cpu": {"value": "30"}}) | more
        for name in ("a", "b")
    ]
    ways = found(wanting(build.request(count=count)), build.node(), build.slice_("node-1", *groups))
    assert [each for each in edits(ways) if each[0].startswith("share")] == wanted


@pytest.mark.parametrize(
    ("policy", "most"),
    [
        ({"default": "10Gi", "validRange": {"min": "10Gi", "max": "30Gi"}}, "30Gi"),
        ({"default": "10Gi", "validValues": ["10Gi", "20Gi"]}, "20Gi"),
    ],
)
def test_more_than_a_policy_allows_one_request(policy: dict[str, Any], most: str) -> None:
    request = build.request(capacity={"requests": {"memory": "60Gi"}})
    device = {**sized("a", "80Gi", policy=policy), "allowMultipleAllocations": True}
    objects = [*wanting(request), build.node(), build.slice_("node-1", device)]
    world = ClusterState(facts.inventory([build.device_class(), *objects]), facts.evidence(), features(), CLOCK)
    (group,) = Diagnoser(world).pod(Key("ml", "pod")).nodes
    shorts = [each.short for report in group.requests if report.funnel for each in report.funnel.removed]
    assert [(each.needs, each.left, each.total) for each in shorts if each] == [("60Gi", most, "80Gi")]
    assert edits(found(*objects))[0] == ("capacity.requests[memory]", most)
