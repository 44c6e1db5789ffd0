"""The filters before DynamicResources against the scheduler's own rule tables."""

from typing import Any

import pytest

from kubectl_dra.diagnosis.nodefilters import NodeFilters, Request, preselected
from kubectl_dra.diagnosis.nodefilters.plugins import DYNAMIC_RESOURCES, UNKNOWN, Kind, kind_of, plugin_of
from kubectl_dra.model.usage import NodeUsage, usage_by_node
from tests.diagnosis import build, facts


def reject(pod: dict[str, Any], node: dict[str, Any], *others: dict[str, Any], served: tuple[str, ...] = ()) -> Any:
    inventory = facts.inventory([pod, node, *others])
    subject = next(p for p in inventory.pods.values() if p.metadata.name == pod["metadata"]["name"])
    filters = NodeFilters(Request.of(subject, served), usage_by_node(inventory.pods.values()))
    return filters.reject(next(iter(inventory.nodes.values())))


def texts(*args: Any, **kwargs: Any) -> tuple[str, ...]:
    found = reject(*args, **kwargs)
    return found.texts if found is not None else ()


# --- NodeUnschedulable, TaintToleration -----------------------------------------------------------------------------

TAINT = {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("tolerations", "tolerated"),
    [
        ([], False),
        ([{"key": "dedicated", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"}], True),
        ([{"key": "dedicated", "operator": "Equal", "value": "gpu"}], True),
        ([{"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}], True),
        ([{"key": "dedicated", "operator": "Exists"}], True),
        ([{"operator": "Exists"}], True),
        ([{"key": "dedicated", "operator": "Equal", "value": "cpu", "effect": "NoSchedule"}], False),
        ([{"key": "other", "operator": "Exists"}], False),
        ([{"key": "dedicated", "operator": "Exists", "effect": "NoExecute"}], False),
        ([{"key": "dedicated", "operator": "Gt", "value": "1"}], False),
    ],
)
def test_taints_and_tolerations(tolerations: list[dict[str, str]], tolerated: bool) -> None:
    node = build.node()
    node["spec"]["taints"] = [TAINT]
    found = texts(build.pod(tolerations=tolerations), node)
    assert found == (() if tolerated else ("node(s) had untolerated taint(s)",))


@pytest.mark.parametrize(
    ("effect", "matters"), [("NoSchedule", True), ("NoExecute", True), ("PreferNoSchedule", False)]
)
def test_only_preventing_effects_count(effect: str, matters: bool) -> None:
    node = build.node()
    node["spec"]["taints"] = [{**TAINT, "effect": effect}]
    assert len(texts(build.pod(), node)) == matters


def test_the_first_untolerated_taint_is_named() -> None:
    node = build.node()
    node["spec"]["taints"] = [TAINT, {"key": "b", "effect": "NoExecute"}]
    found = reject(build.pod(tolerations=[{"key": "dedicated", "operator": "Exists"}]), node)
    assert found.taint.key == "b"


def test_a_cordoned_node_is_rejected_before_its_taints() -> None:
    node = build.node()
    node["spec"] = {"unschedulable": True, "taints": [{**TAINT, "key": "node.kubernetes.io/unschedulable"}]}
    assert reject(build.pod(), node).plugin == "NodeUnschedulable"
    tolerating = build.pod(tolerations=[{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}])
    assert texts(tolerating, node) == ()


# --- NodeName, NodeAffinity -----------------------------------------------------------------------------------------


def required(*terms: dict[str, Any]) -> dict[str, Any]:
    selector = {"nodeSelectorTerms": list(terms)}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": selector}}


def expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


LABELS = {"zone": "a", "cores": "16"}


@pytest.mark.parametrize(
    ("terms", "matches"),
    [
        ([expression("zone", "In", "a", "b")], True),
        ([expression("zone", "In", "b")], False),
        ([expression("zone", "NotIn", "b")], True),
        ([expression("rack", "NotIn", "b")], True),
        ([expression("zone", "Exists")], True),
        ([expression("rack", "Exists")], False),
        ([expression("rack", "DoesNotExist")], True),
        ([expression("cores", "Gt", "8")], True),
        ([expression("cores", "Lt", "8")], False),
        ([expression("zone", "Gt", "8")], False),
        ([], False),
        ([{}], False),
        ([{}, expression("zone", "In", "a")], True),
        # A term that does not parse matches nothing, and the others still count.
        ([expression("zone", "In")], False),
        ([expression("zone", "In"), expression("zone", "In", "a")], True),
        ([{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-1"]}]}], True),
        ([{"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["node-1"]}]}], False),
    ],
)
def test_required_terms(terms: list[dict[str, Any]], matches: bool) -> None:
    found = texts(build.pod(affinity=required(*terms)), build.node(labels=LABELS))
    assert found == (() if matches else ("node(s) didn't match Pod's node affinity/selector",))


def test_node_selector_and_terms_both_hold() -> None:
    node = build.node(labels=LABELS)
    affinity = required(expression("cores", "Exists"))
    assert texts(build.pod(nodeSelector={"zone": "a"}, affinity=affinity), node) == ()
    found = reject(build.pod(nodeSelector={"zone": "b"}, affinity=affinity), node)
    assert found.unmatched == ("zone=b",)


def names(*values: str) -> dict[str, Any]:
    return {"matchFields": [{"key": "metadata.name", "operator": "In", "values": list(values)}]}


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        ([names("a")], {"a"}),
        ([names("a"), names("b")], {"a", "b"}),
        ([{"matchFields": names("a")["matchFields"] + names("b")["matchFields"]}], set()),
        ([names("a"), expression("zone", "Exists")], None),
        ([], None),
    ],
)
def test_names_in_the_affinity_preselect_nodes(terms: list[dict[str, Any]], expected: set[str] | None) -> None:
    pod = next(iter(facts.inventory([build.pod(affinity=required(*terms))]).pods.values()))
    assert preselected(Request.of(pod, ()))[0] == expected


def test_another_node_is_named() -> None:
    found = reject(build.pod(node_name="node-2"), build.node())
    assert (found.plugin, found.texts) == ("NodeName", ("node(s) didn't match the requested node name",))


# --- NodePorts ------------------------------------------------------------------------------------------------------


def with_port(name: str, ip: str, protocol: str, port: int, node_name: str = "") -> dict[str, Any]:
    found = build.pod(name, node_name=node_name)
    found["spec"]["containers"][0]["ports"] = [{"hostPort": port, "hostIP": ip, "protocol": protocol}]
    return found


@pytest.mark.parametrize(
    ("mine", "theirs", "collide"),
    [
        (("", "", 80), ("", "", 80), True),
        (("", "TCP", 80), ("", "UDP", 80), False),
        (("", "TCP", 80), ("", "TCP", 81), False),
        (("127.0.0.1", "TCP", 80), ("127.0.0.2", "TCP", 80), False),
        (("127.0.0.1", "TCP", 80), ("127.0.0.1", "TCP", 80), True),
        (("127.0.0.1", "TCP", 80), ("0.0.0.0", "TCP", 80), True),
        (("0.0.0.0", "TCP", 80), ("127.0.0.1", "TCP", 80), True),
        (("", "TCP", 80), ("127.0.0.1", "TCP", 80), True),
        (("", "TCP", 0), ("", "TCP", 0), False),
    ],
)
def test_host_ports(mine: tuple[str, str, int], theirs: tuple[str, str, int], collide: bool) -> None:
    other = with_port("other", *theirs, node_name="node-1")
    found = texts(with_port("pod", *mine), build.node(), other)
    assert found == (("node(s) didn't have free ports for the requested pod ports",) if collide else ())


def test_ports_of_init_containers_count_only_for_sidecars() -> None:
    other = build.pod("other", node_name="node-1")
    init = {"name": "init", "ports": [{"hostPort": 80}]}
    other["spec"]["initContainers"] = [init]
    assert texts(with_port("pod", "", "", 80), build.node(), other) == ()
    init["restartPolicy"] = "Always"
    assert texts(with_port("pod", "", "", 80), build.node(), other) != ()


# --- NodeResourcesFit -----------------------------------------------------------------------------------------------


def test_every_lack_is_a_reason() -> None:
    wanted = {"cpu": "5", "memory": "32Gi", "ephemeral-storage": "1Gi", "example.com/fpga": "1"}
    assert texts(build.pod(requests=wanted), build.node(pods="0")) == (
        "Too many pods",
        "Insufficient cpu",
        "Insufficient memory",
        "Insufficient ephemeral-storage",
        "Insufficient example.com/fpga",
    )


@pytest.mark.parametrize(("cpu", "fits"), [("1", True), ("1001m", False), ("0", True)])
def test_pods_on_the_node_count(cpu: str, fits: bool) -> None:
    other = build.pod("other", node_name="node-1", requests={"cpu": "3"})
    assert bool(texts(build.pod(requests={"cpu": cpu}), build.node(), other)) is not fits


def test_finished_pods_and_pods_of_other_nodes_do_not_count() -> None:
    done = build.pod("done", node_name="node-1", requests={"cpu": "4"}, phase="Succeeded")
    elsewhere = build.pod("elsewhere", node_name="node-2", requests={"cpu": "4"})
    assert texts(build.pod(requests={"cpu": "4"}), build.node(), done, elsewhere) == ()


def test_the_number_of_pods_counts_even_without_requests() -> None:
    others = [build.pod(f"p{i}", node_name="node-1") for i in range(2)]
    assert texts(build.pod(), build.node(pods="3"), *others) == ()
    assert texts(build.pod(), build.node(pods="2"), *others) == ("Too many pods",)


def test_resources_that_nobody_counts_are_ignored() -> None:
    assert texts(build.pod(requests={"storage": "1Ti", "example.com/none": "0"}), build.node()) == ()


def test_extended_resources_of_classes_are_left_to_dynamic_resources() -> None:
    wanted = build.pod(requests={"example.com/gpu": "2"})
    assert texts(wanted, build.node(), served=("example.com/gpu",)) == ()
    # A node that offers the resource itself has to have enough of it.
    offering = build.node(**{"example.com/gpu": "1"})
    assert texts(wanted, offering, served=("example.com/gpu",)) == ("Insufficient example.com/gpu",)
    zero = build.node(**{"example.com/gpu": "0"})
    assert texts(wanted, zero, served=("example.com/gpu",)) == ()


def test_unknown_usage_still_rejects_what_can_never_fit() -> None:
    inventory = facts.inventory([build.pod(requests={"cpu": "5"}), build.node()])
    request = Request.of(next(iter(inventory.pods.values())), ())
    filters = NodeFilters(request, None)
    assert filters.not_checked == ("NodePorts", "NodeResourcesFit", "InterPodAffinity")
    found = filters.reject(inventory.nodes["node-1"])
    assert found is not None
    assert found.texts == ("Insufficient cpu",)


def test_nominated_pods_count_on_their_node() -> None:
    waiting = build.pod("waiting", requests={"cpu": "4"})
    waiting["status"]["nominatedNodeName"] = "node-1"
    inventory = facts.inventory([build.pod(requests={"cpu": "1"}), waiting, build.node()])
    pods = {pod.metadata.name: pod for pod in inventory.pods.values()}
    filters = NodeFilters(Request.of(pods["pod"], ()), {"node-1": NodeUsage()}, [pods["waiting"]])
    assert filters.reject(inventory.nodes["node-1"]) is not None


def test_order_of_the_filters() -> None:
    """One node, one reason: as the first is removed, the next comes up."""
    node = build.node(pods="0")
    node["spec"] = {"unschedulable": True, "taints": [TAINT]}
    other = with_port("other", "", "", 80, node_name="node-1")
    pod = with_port("pod", "", "", 80)
    pod["spec"]["nodeSelector"] = {"zone": "a"}
    seen = []
    for remedy in (
        lambda: node["spec"].pop("unschedulable"),
        lambda: node["spec"].pop("taints"),
        lambda: node["metadata"].update(labels={"zone": "a"}),
        lambda: other["spec"]["containers"][0].pop("ports"),
        lambda: node["status"]["allocatable"].update(pods="110"),
    ):
        seen.append(reject(pod, node, other).plugin)
        remedy()
    assert seen == ["NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit"]
    assert reject(pod, node, other) is None


# --- whose words ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "plugin", "kind"),
    [
        ("Insufficient cpu", "NodeResourcesFit", Kind.SIMULATED),
        ("cannot allocate all claims", DYNAMIC_RESOURCES, Kind.SIMULATED),
        ("node(s) didn't find available persistent volumes to bind", "VolumeBinding", Kind.VOLUMES),
        ('persistentvolumeclaim "data" not found', "VolumeRestrictions", Kind.VOLUMES),
        ('persistentvolumeclaim "data" is being deleted', "VolumeBinding", Kind.VOLUMES),
        (
            'waiting for ephemeral volume controller to create the persistentvolumeclaim "pod-data"',
            "VolumeBinding",
            Kind.VOLUMES,
        ),
        ("PersistentVolume had no name", "VolumeZone", Kind.VOLUMES),
        ("node(s) didn't match pod topology spread constraints", "PodTopologySpread", Kind.TOPOLOGY),
        ("node(s) didn't match pod anti-affinity rules", "InterPodAffinity", Kind.TOPOLOGY),
        ("licence server says no", UNKNOWN, Kind.OTHER),
    ],
)
def test_whose_words(text: str, plugin: str, kind: Kind) -> None:
    assert (plugin_of(text), kind_of(plugin_of(text))) == (plugin, kind)
