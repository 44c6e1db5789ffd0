"""Node groups of autoscalers: what a fresh node would be, whether it takes the pod, what an autoscaler can not see."""

from __future__ import annotations

import json
from typing import Any

from kubectl_dra.api.convert import Source
from kubectl_dra.diagnosis.autoscaling.groups import judged, of_cluster
from kubectl_dra.diagnosis.autoscaling.records import Doubt, GroupVerdict
from kubectl_dra.diagnosis.autoscaling.templates import groups_of
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import NodeOutcome
from kubectl_dra.model.ids import Key
from tests.diagnosis import build
from tests.diagnosis.build import NAMESPACE
from tests.diagnosis.test_capacity import nodes, world

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
