"""Plugins besides DynamicResources that look at a pod: what is simulated of them, and what is left open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.pod.placing import place
from kubectl_dra.diagnosis.records import (
    Agreement,
    AssumptionKind,
    Bound,
    Company,
    NodeOutcome,
    ObjectRef,
    OpenPlugins,
    PodDiagnosis,
    PodsThere,
    Spread,
    Verdict,
)
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from tests.kit import build, facts
from tests.kit.clock import CLOCK
from tests.kit.state import diagnose_pod
from tests.kit.ways import remedies

POD = Key(build.NAMESPACE, "pod")
HOST = "kubernetes.io/hostname"
CLAIMED = {"name": "data", "persistentVolumeClaim": {"claimName": "d"}}
TERM = {"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": "web"}}}


def required(*terms: Mapping[str, Any]) -> dict[str, Any]:
    return {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}


def diagnose(*objects: dict[str, Any], withheld: Sequence[str] = (), said: str = "", minor: int = 37) -> PodDiagnosis:
    """The diagnosis of the pod beside a node with one device, after the scheduler has ``said`` something."""
    if said:
        condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": said}
        next(o for o in objects if o["kind"] == "Pod")["status"]["conditions"] = [condition]
    world = [build.device_class(), build.node(labels={HOST: "node-1"}), build.slice_("node-1", build.device("gpu-0"))]
    return diagnose_pod(facts.inventory([*world, *objects]), facts.evidence(*withheld), features(minor), POD)


def codes(found: PodDiagnosis) -> list[Code]:
    return [cause.code for cause in found.causes]


# --- plugins that decide beside devices -------------------------------------------------------------------------------

DELAYED = {
    "kind": "StorageClass",
    "metadata": {"name": "local"},
    "provisioner": "kubernetes.io/no-provisioner",
    "volumeBindingMode": "WaitForFirstConsumer",
}


def volume_claim(**spec: Any) -> dict[str, Any]:
    metadata = {"name": "d", "namespace": build.NAMESPACE}
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {"kind": "PersistentVolumeClaim", "metadata": metadata, "spec": {**wanted, **spec}}


def spread(**constraint: Any) -> dict[str, Any]:
    selector = {"matchLabels": {"app": "web"}}
    known = {"maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
    return {"topologySpreadConstraints": [{**known, **constraint}]}


@pytest.mark.parametrize(
    ("spec", "objects", "code", "text"),
    [
        ({"volumes": [CLAIMED]}, (), Code.VOLUME_CLAIM, 'persistentvolumeclaim "d" not found. not found'),
        (
            {"volumes": [CLAIMED]},
            (volume_claim(),),
            Code.VOLUME_CLAIM,
            "pod has unbound immediate PersistentVolumeClaims. not found",
        ),
        (
            {"volumes": [CLAIMED]},
            (volume_claim(storageClassName="local"), DELAYED),
            Code.NO_VOLUME,
            "1 node(s) didn't find available persistent volumes to bind.",
        ),
        (
            spread(topologyKey="zone"),
            (),
            Code.SPREAD,
            "1 node(s) didn't match pod topology spread constraints (missing required label).",
        ),
        (
            {"affinity": {"podAffinity": required(TERM)}},
            (),
            Code.NO_COMPANY,
            "1 node(s) didn't match pod affinity rules.",
        ),
        (
            {"hostNetwork": True, "hostUsers": False},
            (),
            Code.NODE_FEATURES,
            "1 node(s) didn't match Pod's required features.",
        ),
    ],
)
def test_a_node_with_devices_may_lack_something_else(
    spec: dict[str, Any], objects: Sequence[dict[str, Any]], code: Code, text: str
) -> None:
    found = diagnose(build.pod(claims=["claim"], **spec), build.claim(), *objects)
    assert (found.verdict, found.message) == (Verdict.UNSCHEDULABLE, f"0/1 nodes are available: {text}")
    assert codes(found) == [code]


@pytest.mark.parametrize(
    "spec",
    [
        {"volumes": [{"name": "t", "emptyDir": {}}, {"name": "c", "configMap": {"name": "x"}}]},
        {"volumes": [{"name": "i", "iscsi": {"iqn": "x"}}]},
        {"volumes": [{"name": "a", "azureFile": {"secretName": "x"}}]},
        {"volumes": [{"name": "v", "vsphereVolume": {"volumePath": "x"}}]},
        {"volumes": [{"name": "n", "nfs": {"server": "x"}}, {"name": "s", "csi": {"driver": "x"}}]},
        spread(topologyKey=HOST),
        spread(topologyKey="zone", whenUnsatisfiable="ScheduleAnyway"),
        {"affinity": {"podAntiAffinity": required(TERM)}},
        {"hostNetwork": True, "hostUsers": True},
        {"hostUsers": False},
    ],
)
def test_what_a_pod_asks_for_may_be_there(spec: dict[str, Any]) -> None:
    found = diagnose(build.pod(claims=["claim"], **spec), build.claim())
    assert found.verdict is Verdict.SCHEDULABLE


def test_a_volume_that_is_there_is_no_obstacle() -> None:
    claim = volume_claim(volumeName="pv")
    claim["metadata"]["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
    volume = {"kind": "PersistentVolume", "metadata": {"name": "pv"}, "spec": {}}
    found = diagnose(build.pod(claims=["claim"], volumes=[CLAIMED]), build.claim(), claim, volume)
    assert found.verdict is Verdict.SCHEDULABLE
    gone = diagnose(build.pod(claims=["claim"], volumes=[CLAIMED]), build.claim(), claim)
    assert gone.message == '0/1 nodes are available: persistentvolume "pv" not found. not found'


@pytest.mark.parametrize(
    "container",
    [
        {"restartPolicyRules": [{"action": "RestartAllContainers"}]},
        {"volumeMounts": [{"name": "t", "mountPath": "/t", "bindMountOptions": ["noexec"]}]},
    ],
)
def test_what_only_some_nodes_declare(container: dict[str, Any]) -> None:
    pod = build.pod(claims=["claim"], containers=[{"name": "main", **container}])
    found = diagnose(pod, build.claim())
    assert found.message == "0/1 nodes are available: 1 node(s) didn't match Pod's required features."


def test_a_node_that_lacks_devices_shows_that_before_its_features() -> None:
    pod = build.pod(claims=["claim"], hostNetwork=True, hostUsers=False)
    found = diagnose(pod, build.claim("claim", build.request(count=2)))
    assert found.message == "0/1 nodes are available: 1 cannot allocate all claims."


def test_what_is_in_the_way_of_spreading_and_of_affinity_is_told() -> None:
    nodes = [build.node(name, labels={"zone": name}) for name in ("a", "b")]
    slices = [build.slice_("a", build.device("gpu-0"))]
    running = build.pod("web-0", node_name="a", phase="Running")
    running["metadata"]["labels"] = {"app": "web"}
    pod = build.pod(
        claims=["claim"], nodeSelector={"zone": "a"}, **spread(topologyKey="zone", nodeAffinityPolicy="Ignore")
    )
    pod["metadata"]["labels"] = {"app": "web"}
    found = diagnose(pod, build.claim(), *nodes, *slices, running)
    (uneven,) = [cause for cause in found.causes if cause.code is Code.SPREAD]
    there = PodsThere((ObjectRef("Pod", "ml", "web-0"),), 1, ("a",))
    assert (uneven.detail, uneven.nodes) == (Spread("zone", "app=web", "a", 1, 0, 1, by=(there,)), ("a",))
    selector = {"matchExpressions": [{"key": "app", "operator": "In", "values": ["db", "cache"]}]}
    term = {"topologyKey": HOST, "labelSelector": selector}
    found = diagnose(build.pod(claims=["claim"], affinity={"podAffinity": required(term)}), build.claim())
    assert [cause.detail for cause in found.causes] == [Company(HOST, "app in (db,cache)", nobody=True)]


# --- what was not read ------------------------------------------------------------------------------------------------


def test_devices_that_fit_are_no_verdict_where_volumes_were_not_read() -> None:
    pod = build.pod(claims=["claim"], volumes=[CLAIMED])
    found = diagnose(pod, build.claim(), withheld=["PersistentVolumeClaim"])
    assert (found.verdict, found.reason, found.message) == (Verdict.UNKNOWN, "", "")
    assert codes(found) == [Code.EVIDENCE_MISSING]
    (group,) = found.nodes
    assert group.outcome is NodeOutcome.UNDECIDED


def test_the_schedulers_words_are_told_where_volumes_were_not_read() -> None:
    pod = build.pod(claims=["claim"], volumes=[CLAIMED])
    said = "0/1 nodes are available: 1 node(s) didn't find available persistent volumes to bind."
    found = diagnose(pod, build.claim(), withheld=["PersistentVolumeClaim"], said=said)
    assert (found.verdict, found.agreement) == (Verdict.UNKNOWN, Agreement.UNCHECKED)
    assert codes(found) == [Code.EVIDENCE_MISSING, Code.VOLUMES]


def test_too_few_devices_stay_too_few_but_nobody_knows_who_rejects_the_node_first() -> None:
    pod, many = build.pod(claims=["claim"], volumes=[CLAIMED]), build.claim("claim", build.request(count=2))
    found = diagnose(pod, many, withheld=["PersistentVolumeClaim"])
    assert (found.verdict, found.message) == (Verdict.UNSCHEDULABLE, "")
    assert codes(found) == [Code.TOO_FEW_DEVICES]


def test_services_are_missing_where_they_may_tell_which_node_is_the_best() -> None:
    several = build.node("node-2"), build.slice_("node-2", build.device("gpu-0"))
    pod, claim = build.pod(claims=["claim"]), build.claim()
    found = diagnose(pod, claim, *several, withheld=["Service"])
    assert found.verdict is Verdict.SCHEDULABLE
    assert [(each.kind, each.namespace, each.decides) for each in found.missing] == [("Service", "ml", False)]
    assert diagnose(pod, claim, withheld=["Service"]).missing == ()
    own = build.pod(claims=["claim"], **spread(topologyKey="zone", whenUnsatisfiable="ScheduleAnyway"))
    assert diagnose(own, claim, *several, withheld=["Service"]).missing == ()
    assert diagnose(pod, claim, *several).missing == ()


def test_without_the_pods_on_nodes_nobody_knows_their_company() -> None:
    found = diagnose(build.pod(claims=["claim"], **spread(topologyKey=HOST)), build.claim(), withheld=["Pod"])
    assert (found.verdict, codes(found)[0]) == (Verdict.UNKNOWN, Code.EVIDENCE_MISSING)


# --- plugins that are not in the default profile ----------------------------------------------------------------------


def test_a_gang_of_an_older_version_is_left_open() -> None:
    found = diagnose(build.pod(claims=["claim"], schedulingGroup={"podGroupName": "gang"}), build.claim(), minor=36)
    assert found.verdict is Verdict.UNKNOWN
    assert codes(found) == [Code.NOT_SIMULATED]
    detail = found.causes[0].detail
    assert isinstance(detail, OpenPlugins)
    assert [each.plugin for each in detail.plugins] == ["GangScheduling"]
    (group,) = found.nodes
    assert (group.outcome, group.not_checked) == (NodeOutcome.FITS, ("GangScheduling",))
    assert found.certainty.nodes is Bound.AT_MOST
    assert [each.subject for each in found.assumed if each.kind is AssumptionKind.NOT_SIMULATED] == ["GangScheduling"]


def test_an_error_on_a_node_that_may_not_be_reached_is_no_verdict() -> None:
    broken = build.claim("claim", build.request(selector='device.attributes["x.example.com"].y == 1'))
    pod = build.pod(claims=["claim"], schedulingGroup={"podGroupName": "gang"})
    found = diagnose(pod, broken, minor=36)
    assert found.verdict is Verdict.UNKNOWN
    assert codes(found) == [Code.NOT_SIMULATED, Code.SELECTOR_FAILS]
    error = diagnose(build.pod(claims=["claim"]), broken, minor=36).message
    assert error
    told = diagnose(pod, broken, said=error, minor=36)
    assert (told.verdict, told.message, told.agreement) == (Verdict.SCHEDULER_ERROR, error, Agreement.AGREES)


def test_ways_out_are_tried_as_far_as_it_is_simulated() -> None:
    many = build.claim("claim", build.request(count=2))
    pod = build.pod(claims=["claim"], schedulingGroup={"podGroupName": "gang"})
    world = [build.device_class(), build.node(), build.slice_("node-1", build.device("gpu-0"))]
    facts_ = ClusterState(facts.inventory([*world, pod, many]), facts.evidence(), features(36), CLOCK)
    assert remedies(facts_, Diagnoser(facts_).pod(POD))


# --- anti-affinity of pods that are there -----------------------------------------------------------------------------


def other(term: Mapping[str, Any], node: str = "node-1", name: str = "other", **fields: Any) -> dict[str, Any]:
    pod = build.pod(name, node_name=node, phase="Running", affinity={"podAntiAffinity": required(term)})
    pod["metadata"].update(fields)
    return pod


def web(**fields: Any) -> dict[str, Any]:
    pod = build.pod(claims=["claim"])
    pod["metadata"].update({"labels": {"app": "web"}, **fields})
    return pod


@pytest.mark.parametrize(
    ("term", "kept"),
    [
        ({"labelSelector": {"matchLabels": {"app": "web"}}}, True),
        ({"labelSelector": {"matchLabels": {"app": "db"}}}, False),
        ({"labelSelector": {}}, True),
        ({}, False),
        ({"labelSelector": {"matchExpressions": [{"key": "app", "operator": "In", "values": ["web", "x"]}]}}, True),
        ({"labelSelector": {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]}}, False),
        ({"labelSelector": {"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["web"]}]}}, True),
        ({"labelSelector": {"matchExpressions": [{"key": "app", "operator": "Exists"}]}}, True),
        ({"labelSelector": {"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}}, False),
        ({"labelSelector": {}, "namespaces": ["dev"]}, False),
        ({"labelSelector": {}, "namespaces": ["dev", build.NAMESPACE]}, True),
        ({"labelSelector": {}, "namespaceSelector": {}}, True),
        ({"labelSelector": {}, "namespaceSelector": {"matchLabels": {"team": "a"}}}, True),
        ({"labelSelector": {}, "namespaceSelector": {"matchLabels": {"team": "b"}}}, False),
        ({"labelSelector": {}, "namespaces": ["dev"], "namespaceSelector": {"matchLabels": {"team": "a"}}}, True),
    ],
)
def test_whom_the_anti_affinity_of_a_pod_keeps_away(term: dict[str, Any], kept: bool) -> None:
    namespace = build.namespace(team="a")
    found = diagnose(web(), build.claim(), other({"topologyKey": HOST, **term}), namespace)
    assert found.verdict is (Verdict.UNSCHEDULABLE if kept else Verdict.SCHEDULABLE)
    if kept:
        assert codes(found) == [Code.KEPT_AWAY]
        assert found.message == ("0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules.")


def test_it_holds_on_all_nodes_with_the_same_label() -> None:
    nodes = [build.node(name, labels={"zone": zone}) for name, zone in (("b1", "b"), ("b2", "b"), ("c1", "c"))]
    slices = [build.slice_(name, build.device("gpu-0")) for name in ("b1", "b2", "c1")]
    term = {**TERM, "topologyKey": "zone"}
    found = diagnose(web(), build.claim(), *nodes, *slices, other(term, "b1"), other(term, "gone", "elsewhere"))
    outcomes = {name: group.outcome for group in found.nodes for name in group.nodes}
    assert outcomes == {
        "node-1": NodeOutcome.FITS,
        "c1": NodeOutcome.FITS,
        "b1": NodeOutcome.REJECTED,
        "b2": NodeOutcome.REJECTED,
    }


def test_finished_pods_and_pods_of_other_namespaces_keep_nobody_away() -> None:
    finished = other(TERM)
    finished["status"]["phase"] = "Succeeded"
    assert diagnose(web(), build.claim(), finished).verdict is Verdict.SCHEDULABLE
    assert diagnose(web(), build.claim(), other(TERM, namespace="dev")).verdict is Verdict.SCHEDULABLE


def test_without_labels_of_the_namespace_it_is_open() -> None:
    term = {"topologyKey": HOST, "labelSelector": {}, "namespaceSelector": {"matchLabels": {"team": "a"}}}
    found = diagnose(web(), build.claim(), other(term), withheld=["Namespace"])
    assert (found.verdict, codes(found)) == (Verdict.UNKNOWN, [Code.EVIDENCE_MISSING])


def test_the_schedulers_words_about_it_agree_and_are_told_once() -> None:
    said = "0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules."
    found = diagnose(web(), build.claim(), other(TERM), said=said)
    assert (found.agreement, codes(found)) == (Agreement.AGREES, [Code.KEPT_AWAY])


def test_pods_about_to_come_keep_nobody_away_but_beside_others_that_do() -> None:
    """InterPodAffinity skips a pod that no running pod keeps away and that has no terms: then nobody looks at them."""
    coming = other(TERM, "")
    coming["status"] = {"phase": "Pending", "nominatedNodeName": "node-1"}
    second = [build.node("node-2", labels={HOST: "node-1"}), build.slice_("node-2", build.device("gpu-0"))]
    found = diagnose(web(), build.claim(), coming, *second)
    assert {name for group in found.nodes if group.outcome is NodeOutcome.FITS for name in group.nodes} == {
        "node-1",
        "node-2",
    }
    elsewhere = [build.node("node-3", labels={HOST: "node-3"}), other(TERM, "node-3", "third")]
    found = diagnose(web(), build.claim(), coming, *second, *elsewhere)
    assert {name for group in found.nodes if group.outcome is NodeOutcome.FITS for name in group.nodes} == {"node-2"}


def test_pods_with_other_labels_are_of_another_kind() -> None:
    objects = [build.device_class(), build.node(labels={HOST: "node-1"}), build.slice_("node-1", build.device("gpu-0"))]
    free = build.pod("free", claims=["claim"])
    inventory = facts.inventory([*objects, web(), free, build.claim(), other(TERM)])
    diagnoser = Diagnoser(ClusterState(inventory, facts.evidence(), features(37), CLOCK))
    assert diagnoser.pod(POD).verdict is Verdict.UNSCHEDULABLE
    assert diagnoser.pod(Key(build.NAMESPACE, "free")).verdict is Verdict.SCHEDULABLE


# --- copies ---------------------------------------------------------------------------------------------------------


def test_copies_that_keep_each_other_away_are_one_per_node() -> None:
    nodes = [build.node(name, labels={HOST: name}) for name in ("a", "b")]
    slices = [build.slice_(name, build.device("gpu-0"), build.device("gpu-1")) for name in ("a", "b")]
    template = {
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "gpus", "namespace": build.NAMESPACE},
        "spec": {"spec": {"devices": {"requests": [build.request()]}}},
    }
    copies = []
    for number in range(4):
        pod = build.pod(f"web-{number}", templates=["gpus"], affinity={"podAntiAffinity": required(TERM)})
        pod["metadata"]["labels"] = {"app": "web"}
        copies.append(pod)
    pods = facts.inventory(copies).pods.values()
    inventory = facts.inventory([build.device_class(), template, *nodes, *slices])
    placed = place(ClusterState(inventory, facts.evidence(), features(37), CLOCK), pods)
    assert placed.nodes == {"a": 1, "b": 1}
    assert placed.failed is not None
    assert codes(placed.failed) == [Code.UNWANTED_COMPANY]
