"""Node groups of autoscalers: what a fresh node would be, whether it takes the pod, what an autoscaler can not see."""

from __future__ import annotations

import json
from typing import Any

from kubectl_dra.api.sources import Source
from kubectl_dra.diagnosis.autoscaling.existing import of_cluster, with_unread
from kubectl_dra.diagnosis.autoscaling.groups import judged
from kubectl_dra.diagnosis.autoscaling.records import Doubt, GroupVerdict
from kubectl_dra.diagnosis.autoscaling.templates import groups_of
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Missing, NodeOutcome, RbacRule
from kubectl_dra.model.evidence import Coverage, Evidence, Read
from kubectl_dra.model.ids import Key
from tests.diagnosis.test_capacity import nodes, world
from tests.kit import build
from tests.kit.build import NAMESPACE

POD = Key(NAMESPACE, "waits")
CAPACITY = "capacity.cluster-autoscaler.kubernetes.io/"


def sources(*objects: dict[str, Any]) -> list[Source]:
    return [Source(json.dumps(each).encode()) for each in objects]


def waiting(selector: str | None = None, **spec: Any) -> list[dict[str, Any]]:
    asks = build.request(count=2, selector=selector) if selector else build.request(count=2)
    return [build.claim("two", asks), build.pod("waits", claims=["two"], **spec)]


def machines(name: str = "md", replicas: int = 0, **annotations: str) -> dict[str, Any]:
    sizes = {f"cluster.x-k8s.io/cluster-api-autoscaler-node-group-{k}-size": v for k, v in (("min", "0"), ("max", "3"))}
    capacity = {CAPACITY + key.replace("_", "-"): value for key, value in annotations.items()}
    return {
        "apiVersion": "cluster.x-k8s.io/v1beta1",
        "kind": "MachineDeployment",
        "metadata": {"name": name, "annotations": {**sizes, **capacity}},
        "spec": {"replicas": replicas},
    }


def ask(objects: list[dict[str, Any]], *groups: dict[str, Any]) -> dict[str, GroupVerdict]:
    found = judged(world(*nodes("a", devices=1), *objects), POD, groups_of(sources(*groups)))
    return {each.name: each for each in found}


GPU_MACHINES = {"cpu": "8", "memory": "64Gi", "dra_driver": build.DRIVER, "gpu_count": "2"}


def test_cluster_api_groups_are_as_their_annotations_say() -> None:
    found = ask(
        waiting(requests={"cpu": "6"}),
        machines("big", **GPU_MACHINES),
        machines("small", **{**GPU_MACHINES, "cpu": "2"}),
        machines("full", 3, **GPU_MACHINES),
        machines("tainted", **GPU_MACHINES, taints="dedicated=x:NoSchedule"),
        machines("plain", cpu="8", memory="64Gi"),
        machines("open"),
    )
    assert {name: each.fits for name, each in found.items()} == {
        "big": True,
        "full": True,
        "small": False,
        "tainted": False,
        "plain": False,
        "open": False,
    }
    assert found["small"].causes[0].code is Code.NODE_RESOURCES
    assert found["tainted"].causes[0].code is Code.NODE_TAINTS
    assert Doubt.INCOMPLETE_POOL in found["big"].doubts
    assert Doubt.AT_MAXIMUM in found["full"].doubts
    assert Doubt.AT_MAXIMUM not in found["big"].doubts
    assert Doubt.NO_DEVICES in found["plain"].doubts
    assert Doubt.CAPACITY_UNKNOWN in found["open"].doubts
    assert (found["big"].size, found["big"].minimum, found["big"].maximum, found["big"].devices) == (0, 0, 3, 2)


def test_labels_of_the_annotation_select_the_node() -> None:
    objects = waiting(nodeSelector={"pool": "gpu"})
    found = ask(objects, machines("with", **GPU_MACHINES, labels="pool=gpu,x=y"), machines("without", **GPU_MACHINES))
    assert {name: each.fits for name, each in found.items()} == {"with": True, "without": False}


def test_an_attribute_that_the_annotations_can_not_say_is_told() -> None:
    found = ask(waiting(f'device.attributes["{build.DRIVER}"].model == "H100"'), machines("md", **GPU_MACHINES))
    assert not found["md"].fits
    assert Doubt.NO_ATTRIBUTES in found["md"].doubts


def config(**match: str) -> dict[str, Any]:
    expressions = [{"key": key, "operator": "In", "values": [value]} for key, value in match.items()]
    devices = [{"name": f"g-{i}", "attributes": {"model": {"string": "H100"}}} for i in range(2)]
    pool = {
        "name": "p",
        "nodeSelectorTerms": [{"matchExpressions": expressions}],
        "resourceSlices": [{"devices": devices}],
    }
    return {
        "apiVersion": "test.karpenter.sh/v1alpha1",
        "kind": "DRAConfig",
        "metadata": {"name": "c"},
        "spec": {"driver": build.DRIVER, "pools": [pool]},
    }


def pool(name: str, **requirements: list[str]) -> dict[str, Any]:
    wanted = [{"key": key, "operator": "In", "values": values} for key, values in requirements.items()]
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name},
        "spec": {"template": {"metadata": {"labels": {"team": "ml"}}, "spec": {"requirements": wanted}}},
    }


def test_karpenter_pools_have_the_devices_that_are_described_for_their_labels() -> None:
    selector = f'device.attributes["{build.DRIVER}"].model == "H100"'
    claim = {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": {"name": "x", "labels": {"karpenter.sh/nodepool": "gpu"}},
        "status": {"allocatable": {"cpu": "1", "memory": "1Gi", "pods": "10"}},
    }
    found = ask(
        waiting(selector, requests={"cpu": "4"}),
        pool("gpu", type=["g"]),
        pool("other", type=["c", "d"]),
        config(type="g"),
    )
    assert (found["gpu"].fits, found["other"].fits) == (True, False)
    assert Doubt.CAPACITY_UNKNOWN in found["gpu"].doubts
    assert {Doubt.LABELS_OPEN, Doubt.NO_DEVICES} <= set(found["other"].doubts)
    small = ask(waiting(selector, requests={"cpu": "4"}), pool("gpu", type=["g"]), config(type="g"), claim)
    assert not small["gpu"].fits
    assert small["gpu"].causes[0].code is Code.NODE_RESOURCES
    assert small["gpu"].size == 1


def test_plain_nodes_come_with_the_slices_that_name_them() -> None:
    def plain(name: str, count: int) -> list[dict[str, Any]]:
        body = build.slice_(name, *(build.device(f"gpu-{i}") for i in range(2)))
        body["spec"]["pool"]["resourceSliceCount"] = count
        return [
            {"apiVersion": "v1", **build.node(name)},
            {"apiVersion": "resource.k8s.io/v1", **body},
        ]

    found = ask(waiting(), *plain("whole", 1), *plain("zero", 0), {"apiVersion": "v1", **build.node("bare")})
    assert {name: each.fits for name, each in found.items()} == {"whole": True, "zero": False, "bare": False}
    assert found["zero"].doubts == (Doubt.INCOMPLETE_POOL,)
    assert found["bare"].doubts == (Doubt.NO_DEVICES,)


def test_groups_of_the_cluster_are_those_of_the_labels_of_its_nodes() -> None:
    labelled = build.node("a", labels={"karpenter.sh/nodepool": "gpu"})
    state = world(
        labelled, build.slice_("a", *(build.device(f"gpu-{i}") for i in range(2))), *waiting(), build.node("b")
    )
    (found,) = judged(state, POD, of_cluster(state.inventory))
    assert (found.kind, found.name, found.outcome, found.like) == (
        "karpenter.sh/nodepool",
        "gpu",
        NodeOutcome.FITS,
        "a",
    )


def test_a_group_with_nodes_is_like_them_and_as_large_as_it_is_described() -> None:
    """cluster-autoscaler copies a node that is there; Karpenter goes on with what is described to it."""
    named = {"cluster.x-k8s.io/deployment-name": "gpu"}
    tainted = build.node("b", labels={"karpenter.sh/nodepool": "kp"})
    tainted["spec"] = {"taints": [{"key": "dedicated", "effect": "NoSchedule"}]}
    ill = build.device("gpu-1", taints=[{"key": "ecc", "effect": "NoSchedule"}])
    state = world(
        build.node("a", labels=named),
        build.slice_("a", build.device("gpu-0"), ill),
        tainted,
        build.slice_("b", *(build.device(f"gpu-{i}") for i in range(2))),
        *waiting(),
    )
    kept = pool("kp")
    kept["spec"]["template"]["spec"]["taints"] = tainted["spec"]["taints"]
    described = groups_of(sources(machines("gpu", 3, cpu="8", memory="64Gi"), kept, machines("none", cpu="8")))
    found = {each.name: each for each in judged(state, POD, of_cluster(state.inventory, described))}
    assert {name: (each.kind, each.fits, each.like) for name, each in found.items()} == {
        # A fresh device is not ill.
        "gpu": ("MachineDeployment", True, "a"),
        # The taints of a group's nodes are those of the next one.
        "kp": ("NodePool", False, "b"),
        "none": ("MachineDeployment", False, ""),
    }
    assert found["gpu"].doubts == (Doubt.AT_MAXIMUM,)
    assert {Doubt.NO_DEVICES, Doubt.IGNORES_CLAIMS} <= set(found["kp"].doubts)
    assert found["kp"].causes[0].code is Code.NODE_TAINTS


def test_a_group_of_which_not_all_was_read_is_not_said_to_refuse_the_pod() -> None:
    """Nodes tell what an autoscaler copies; NodeOverlays and DRAConfigs describe the devices of Karpenter's nodes."""
    state = world(*nodes("a", devices=1), *waiting())
    reads = tuple(each for each in state.evidence.reads if each.kind != "Node")
    blind = Evidence((*reads, Read("Node", coverage=Coverage.FORBIDDEN)))
    described = groups_of(sources(machines("fits", **GPU_MACHINES), machines("none", cpu="8"), pool("kp")))
    overlay, claims = (Missing(k, "forbidden", RbacRule("karpenter.sh", k, ())) for k in ("NodeOverlay", "NodeClaim"))

    def outcomes(evidence: Evidence, *missing: Missing) -> dict[str, NodeOutcome]:
        groups = with_unread(of_cluster(state.inventory, described), evidence, missing)
        found = list(judged(state, POD, groups))
        for each in found:
            assert (each.kind == "NodePool" and claims in missing) == (each.size is None), each
            bare = each.name == "none" or (each.name == "kp" and overlay not in missing)
            assert (Doubt.NO_DEVICES in each.doubts) == bare, each
        return {each.name: each.outcome for each in found}

    yes, no, open_ = NodeOutcome.FITS, NodeOutcome.CANNOT_ALLOCATE, NodeOutcome.UNDECIDED
    assert outcomes(state.evidence) == {"fits": yes, "none": no, "kp": no}
    assert outcomes(blind) == {"fits": open_, "none": open_, "kp": open_}
    assert outcomes(state.evidence, overlay, claims) == {"fits": yes, "none": no, "kp": open_}


def test_machine_sets_of_a_deployment_are_no_groups_of_their_own() -> None:
    owned = machines("md-1", **GPU_MACHINES) | {"kind": "MachineSet"}
    owned["metadata"]["ownerReferences"] = [{"kind": "MachineDeployment", "name": "md", "controller": True}]
    assert [group.name for group in groups_of(sources(owned, machines("md", **GPU_MACHINES)))] == ["md"]


def test_daemon_sets_take_their_part_of_a_fresh_node() -> None:
    def daemons(name: str, cpu: str, **spec: Any) -> dict[str, Any]:
        containers = [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]
        template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": containers, **spec}}
        meta = {"name": name, "namespace": "kube-system", "uid": name}
        return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": meta, "spec": {"template": template}}

    elsewhere = daemons("elsewhere", "8", nodeSelector={"pool": "other"})
    kept_away = daemons("kept-away", "8")
    tolerates = daemons("agent", "2", tolerations=[{"operator": "Exists"}])
    group = machines("md", **GPU_MACHINES, taints="dedicated=x:NoSchedule")
    pod = waiting(requests={"cpu": "7"}, tolerations=[{"key": "dedicated", "operator": "Exists"}])
    assert ask([*pod, elsewhere, kept_away], group)["md"].fits
    full = ask([*pod, elsewhere, kept_away, tolerates], group)["md"]
    assert not full.fits
    assert full.causes[0].code is Code.NODE_RESOURCES


def test_a_node_pool_makes_what_the_pod_selects_where_its_requirements_admit_it() -> None:
    zoned = waiting(nodeSelector={"topology.kubernetes.io/zone": "z-2", "type": "g"})
    several = pool("several", type=["c", "g"])
    no_zone = pool("no-zone", **{"topology.kubernetes.io/zone": ["z-1", "z-3"]}, type=["g"])
    not_here = pool("not-here", type=["g"])
    here = not_here["spec"]["template"]["spec"]["requirements"]
    here.append({"key": "topology.kubernetes.io/zone", "operator": "NotIn", "values": ["z-2"]})
    found = ask(zoned, several, no_zone, not_here, config(type="g"))
    assert {name: each.fits for name, each in found.items()} == {"several": True, "no-zone": False, "not-here": False}
    # Of the types of machine that it may take, the one that has the devices.
    assert ask(waiting(), pool("several", type=["c", "g"]), config(type="g"))["several"].fits


def test_limits_of_a_node_pool_leave_room_or_none() -> None:
    def limited(name: str, used: dict[str, str], **limits: str) -> dict[str, Any]:
        found = pool(name, type=["g"])
        found["spec"]["limits"] = limits
        return {**found, "status": {"resources": used}}

    claim = {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": {"name": "x", "labels": {"karpenter.sh/nodepool": "tight"}},
        "status": {"allocatable": {"cpu": "8", "memory": "1Gi"}, "capacity": {"cpu": "8", "memory": "1Gi"}},
    }
    found = ask(
        waiting(),
        limited("full", {"cpu": "16"}, cpu="16"),
        limited("tight", {"cpu": "8500m"}, cpu="16"),
        limited("roomy", {"cpu": "8"}, cpu="100", **{"example.com/other": "0"}),
        limited("counted", {"nodes": "3"}, nodes="3"),
        claim,
        config(type="g"),
    )
    limits = {name: Doubt.AT_LIMIT in each.doubts for name, each in found.items()}
    assert limits == {"full": True, "tight": True, "roomy": False, "counted": True}
    assert next(iter(found)) == "roomy"


def test_overlays_describe_devices_as_templates_of_slices() -> None:
    overlay = {
        "apiVersion": "karpenter.sh/v1alpha1",
        "kind": "NodeOverlay",
        "metadata": {"name": "o"},
        "spec": {
            "requirements": [{"key": "type", "operator": "In", "values": ["g"]}],
            "resourceSlices": [
                {
                    "spec": {
                        "driver": build.DRIVER,
                        "devices": [
                            {"name": f"g-{i}", "attributes": {"model": {"stringValue": "H100"}}} for i in (0, 1)
                        ],
                    }
                }
            ],
        },
    }
    selector = f'device.attributes["{build.DRIVER}"].model == "H100"'
    assert ask(waiting(selector), pool("gpu", type=["g"]), overlay)["gpu"].fits
    assert not ask(waiting(selector), pool("cpu", type=["c"]), overlay)["cpu"].fits


def test_tags_of_a_scaling_group_are_labels_taints_and_resources() -> None:
    prefix = "k8s.io/cluster-autoscaler/node-template"
    tags = {
        f"{prefix}/label/pool": "gpu",
        f"{prefix}/taint/dedicated": "x:NoSchedule",
        f"{prefix}/resources/cpu": "4",
        f"{prefix}/resources/memory": "8Gi",
        "owner": "me",
    }
    group = {
        "kind": "AutoScalingGroup",
        "AutoScalingGroupName": "asg",
        "MinSize": 0,
        "MaxSize": 2,
        "DesiredCapacity": 2,
        "Tags": [{"Key": key, "Value": value} for key, value in tags.items()],
    }
    tolerations = [{"key": "dedicated", "operator": "Exists"}]
    plain = [build.pod("waits", nodeSelector={"pool": "gpu"}, tolerations=tolerations, requests={"cpu": "2"})]
    found = ask(plain, group)["asg"]
    assert (found.fits, found.size, found.minimum, found.maximum) == (True, 2, 0, 2)
    assert set(found.doubts) == {Doubt.NO_DEVICES, Doubt.AT_MAXIMUM}
    bare = [build.pod("waits", requests={"cpu": "2"})]
    assert ask(bare, group)["asg"].causes[0].code is Code.NODE_TAINTS
    assert not ask(waiting(tolerations=tolerations), group)["asg"].fits


def test_a_pod_that_nobody_would_place_is_not_tried() -> None:
    gated = ask(waiting(schedulingGates=[{"name": "quota"}]), machines("md", **GPU_MACHINES))["md"]
    assert gated.outcome is NodeOutcome.UNDECIDED
    assert gated.causes[0].code is Code.SCHEDULING_GATES


def test_nothing_that_is_no_group_is_one() -> None:
    broken: list[dict[str, Any]] = [
        {"kind": "MachineDeployment"},
        {"kind": "NodePool", "spec": {"template": {"spec": {"requirements": [3, {"key": 1}]}}}},
        {"kind": "DRAConfig", "spec": {"pools": "x"}},
        {"kind": "Deployment"},
        {"kind": "MachineSet", "metadata": {"name": "m", "annotations": {f"{CAPACITY}cpu": "lots"}}},
    ]
    for group in groups_of(sources(*broken)):
        assert group.kind in {"MachineDeployment", "NodePool"}


def test_a_node_claim_that_could_not_be_launched_is_no_node_and_tells_why() -> None:
    def claimed(name: str, launched: str, made: str) -> dict[str, Any]:
        condition = {"type": "Launched", "status": launched, "reason": "InsufficientCapacityError", "message": "no p5"}
        labels = {"karpenter.sh/nodepool": "gpu"}
        return {
            "apiVersion": "karpenter.sh/v1",
            "kind": "NodeClaim",
            "metadata": {"name": name, "labels": labels, "creationTimestamp": made},
            "status": {"conditions": [condition] if launched else []},
        }

    first, failed = claimed("a", "True", "2026-01-01T00:00:00Z"), claimed("b", "False", "2026-01-01T01:00:00Z")
    newest = claimed("c", "True", "2026-01-01T02:00:00Z")
    found = ask(waiting(), pool("gpu", type=["g"]), first, failed)["gpu"]
    assert (found.size, found.failed) == (1, "no p5")
    found = ask(waiting(), pool("gpu", type=["g"]), first, failed, newest)["gpu"]
    assert (found.size, found.failed) == (2, "")
    assert ask(waiting(), pool("gpu", type=["g"]), claimed("a", "", ""))["gpu"].size == 1
