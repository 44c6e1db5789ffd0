"""The filters before DynamicResources against the scheduler's own rule tables."""

from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.explain.attempt import PodAttempt, attempt
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.meta import ObjectMeta
from kubectl_dra.model.resource import DeviceClass, DeviceClassSpec
from kubectl_dra.scheduler.fit_error import DYNAMIC_RESOURCES
from kubectl_dra.scheduler.plugins import node_affinity
from kubectl_dra.scheduler.reasons import UNKNOWN, PluginSubject, kind_of, plugin_of
from tests.kit import build, facts
from tests.kit.clock import CLOCK


def tried(inventory: Inventory, *withheld: str, minor: int = 37) -> PodAttempt:
    """The attempt of the pod that is called so."""
    state = ClusterState(inventory, facts.evidence(*withheld), features(minor), CLOCK)
    return attempt(state, inventory.pods[Key(build.NAMESPACE, "pod")], ())


def reject(
    pod: dict[str, Any], node: dict[str, Any], *others: dict[str, Any], served: tuple[str, ...] = (), minor: int = 37
) -> Any:
    """What a plugin says of the node; ``served`` are resources that classes serve."""
    inventory = facts.inventory([pod, node, *others])
    specs = {f"class-{i}": DeviceClassSpec(extended_resource_name=name) for i, name in enumerate(served)}
    classes = {name: DeviceClass(metadata=ObjectMeta(name=name), spec=spec) for name, spec in specs.items()}
    ((_, result),) = tried(inventory.replace(classes=classes), minor=minor).results
    return result.rejection


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
    assert node_affinity.names_in_terms(node_affinity.required_terms(pod)) == expected


def test_another_node_is_named() -> None:
    """Since 1.37 it is not even looked at."""
    found = reject(build.pod(node_name="node-2"), build.node(), minor=36)
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
    found = tried(inventory, "Pod")
    assert found.not_checked == ("NodePorts", "NodeResourcesFit", "InterPodAffinity")
    ((_, result),) = found.results
    assert result.texts == ("Insufficient cpu",)


def test_nominated_pods_count_on_their_node() -> None:
    waiting = build.pod("waiting", requests={"cpu": "4"})
    waiting["status"]["nominatedNodeName"] = "node-1"
    assert reject(build.pod(requests={"cpu": "1"}), build.node(), waiting) is not None


@pytest.mark.parametrize("change", [{"schedulerName": "another"}, {"priority": -1}])
def test_nominated_pods_of_other_schedulers_or_of_lower_priority_do_not(change: dict[str, Any]) -> None:
    waiting = build.pod("waiting", requests={"cpu": "4"}, **change)
    waiting["status"]["nominatedNodeName"] = "node-1"
    assert reject(build.pod(requests={"cpu": "1"}), build.node(), waiting) is None


def test_nominated_pods_that_are_finished_do_not() -> None:
    waiting = build.pod("waiting", requests={"cpu": "4"}, phase="Failed")
    waiting["status"]["nominatedNodeName"] = "node-1"
    assert reject(build.pod(requests={"cpu": "1"}), build.node(), waiting) is None


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
        ("Insufficient cpu", "NodeResourcesFit", PluginSubject.NODES),
        ("cannot allocate all claims", DYNAMIC_RESOURCES, PluginSubject.NODES),
        ("node(s) didn't find available persistent volumes to bind", "VolumeBinding", PluginSubject.VOLUMES),
        ('persistentvolumeclaim "data" not found', "VolumeRestrictions", PluginSubject.VOLUMES),
        ('persistentvolumeclaim "data" is being deleted', "VolumeBinding", PluginSubject.VOLUMES),
        (
            'waiting for ephemeral volume controller to create the persistentvolumeclaim "pod-data"',
            "VolumeBinding",
            PluginSubject.VOLUMES,
        ),
        ("PersistentVolume had no name", "VolumeZone", PluginSubject.VOLUMES),
        ('persistentvolume "gone" not found', "VolumeZone", PluginSubject.VOLUMES),
        ('storageclass.storage.k8s.io "fast" not found', "VolumeZone", PluginSubject.VOLUMES),
        ('VolumeBindingMode not set for StorageClass "fast"', "VolumeZone", PluginSubject.VOLUMES),
        ('looking up PVC ml/data: persistentvolumeclaim "data" not found', "NodeVolumeLimits", PluginSubject.VOLUMES),
        ("ebs.csi.aws.com CSI driver is not installed on the node", "NodeVolumeLimits", PluginSubject.VOLUMES),
        ("parsing pod: invalid selector", "InterPodAffinity", PluginSubject.TOPOLOGY),
        ("node(s) didn't match Pod's required features", "NodeDeclaredFeatures", PluginSubject.NODES),
        ("rejected due to timeout after waiting 5m0s at plugin GangScheduling", "Permit", PluginSubject.OTHER),
        ("node(s) didn't match pod topology spread constraints", "PodTopologySpread", PluginSubject.TOPOLOGY),
        ("node(s) didn't match pod anti-affinity rules", "InterPodAffinity", PluginSubject.TOPOLOGY),
        ("node(s) had volume node affinity conflict", "VolumeBinding", PluginSubject.VOLUMES),
        ("cannot align pod: train-0", "NodeResourceTopologyMatch", PluginSubject.OTHER),
        ("cannot align container: main", "NodeResourceTopologyMatch", PluginSubject.OTHER),
        (
            "Pod ml/train is rejected in PreFilter because ElasticQuota ml/quota is more than Max",
            "CapacityScheduling",
            PluginSubject.OTHER,
        ),
        ("licence server says no", UNKNOWN, PluginSubject.OTHER),
    ],
)
def test_whose_words(text: str, plugin: str, kind: PluginSubject) -> None:
    assert (plugin_of(text), kind_of(plugin_of(text))) == (plugin, kind)
