"""Objects whose operator makes the containers: their claims are tried alone, and the answer is No or open."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kubectl_dra.api.planned import read_all
from kubectl_dra.api.sources import Source
from kubectl_dra.output.capacity.page import capacity_page, capacity_summary
from kubectl_dra.reports.base import Fits
from tests.kit import build
from tests.reports.test_admission import limit_range, room
from tests.reports.test_simulated_files import cluster, page, pod_template, template, thing
from tests.reports.test_strangers import quota, simulated

ENTRIES = [{"name": "gpu", "resourceClaimTemplateName": "one"}]


def virtual_machine() -> dict[str, Any]:
    devices = {"gpus": [{"name": "gpu", "claimName": "gpu", "requestName": "gpu"}]}
    vm = {"domain": {"devices": devices}, "resourceClaims": ENTRIES}
    return thing("kubevirt.io/v1", "VirtualMachine", {"runStrategy": "Always", "template": {"spec": vm}})


def graph(**service: Any) -> dict[str, Any]:
    """A DynamoGraphDeployment with one service."""
    worker = {"extraPodSpec": {"mainContainer": {"image": "x"}, "resourceClaims": ENTRIES}, **service}
    return thing("nvidia.com/v1alpha1", "DynamoGraphDeployment", {"services": {"worker": worker}})


def inference() -> dict[str, Any]:
    predictor = {"model": {"modelFormat": {"name": "x"}}, "resourceClaims": ENTRIES, "minReplicas": 3}
    return thing("serving.kserve.io/v1beta1", "InferenceService", {"predictor": predictor})


@pytest.mark.parametrize(
    ("body", "program", "copies"),
    [
        (virtual_machine(), "KubeVirt", 1),
        (graph(replicas=2), "its operator", 2),
        (inference(), "KServe", 3),
    ],
)
def test_claims_that_fit_leave_the_rest_open(body: dict[str, Any], program: str, copies: int) -> None:
    report = simulated(template("one"), body)
    (pod,) = report.pods
    assert (pod.rest_by, pod.copies, report.fits) == (program, copies, Fits.UNKNOWN)
    its = "its claims fit" if copies == 1 else f"the claims of {copies} pods fit"
    assert f"{body['kind']} ml/w: {its}; the rest of its pods is made by {program} and was not tried." in page(report)


def test_a_device_of_a_machine_names_a_request_that_its_claim_has() -> None:
    def machine(request: str) -> dict[str, Any]:
        body = virtual_machine()
        body["spec"]["template"]["spec"]["domain"]["devices"]["gpus"][0]["requestName"] = request
        return body

    one = template("one")
    name = one["spec"]["spec"]["devices"]["requests"][0]["name"]
    told = page(simulated(one, machine("wrong")))
    assert (
        f"Warning: a device names request wrong of claim gpu, which has only {name}: KubeVirt finds no device" in told
    )
    assert "Warning" not in page(simulated(one, machine(name)))


def machine_with(**domain: Any) -> dict[str, Any]:
    body = virtual_machine()
    body["spec"]["template"]["spec"]["domain"] |= domain
    return body


DEDICATED = {"cores": 4, "sockets": 2, "dedicatedCpuPlacement": True}


@pytest.mark.parametrize(
    ("domain", "amounts"),
    [
        ({"memory": {"guest": "8Gi"}}, {"memory": "8Gi"}),
        (
            {"memory": {"guest": "8Gi"}, "resources": {"requests": {"memory": "9Gi", "cpu": 2}}},
            {"memory": "9Gi", "cpu": "2"},
        ),
        ({"resources": {"limits": {"memory": "9Gi"}}}, {"memory": "9Gi"}),
        ({"memory": {"guest": "8Gi", "hugepages": {"pageSize": "1Gi"}}}, {"hugepages-1Gi": "8Gi"}),
        ({"memory": {"guest": "8Gi"}, "cpu": DEDICATED}, {"memory": "8Gi", "cpu": "8"}),
        # Shares of processors depend on KubeVirt's configuration.
        ({"cpu": {"cores": 4}}, {}),
        ({"memory": "wrong", "resources": {"requests": {"memory": True}}}, {}),
    ],
)
def test_what_a_machine_certainly_requests_is_tried(domain: dict[str, Any], amounts: dict[str, str]) -> None:
    body = {"apiVersion": "v1", **machine_with(**domain)}
    (plan,) = read_all([Source(json.dumps(body).encode())], build.NAMESPACE)[0].pods
    (container,) = plan.pod.spec.containers
    assert {name: str(amount) for name, amount in container.resources.requests.items()} == amounts


def test_a_machine_with_more_memory_than_a_node_does_not_fit() -> None:
    big = simulated(template("one"), machine_with(memory={"guest": "8Ti"}))
    assert big.fits is Fits.NO
    assert "change spec.template.spec.domain.memory.guest to less than" in page(big)
    fits = page(simulated(template("one"), machine_with(memory={"guest": "1Gi"})))
    assert "its claims and memory fit; the rest of its pods is made by KubeVirt and was not tried." in fits


@pytest.mark.parametrize("body", [virtual_machine(), graph(replicas=2), inference()])
def test_claims_that_cannot_be_had_are_a_no(body: dict[str, Any]) -> None:
    report = simulated(template("one", count=5), body)
    assert report.fits is Fits.NO
    assert f"{body['kind']} ml/w" in page(report)
    some = simulated(template("one"), graph(replicas=6))
    assert (some.pods[0].copies, some.fits) == (4, Fits.NO)


def test_what_only_the_operator_knows_rules_nothing_out() -> None:
    """Neither taints, which it may tolerate, nor what a LimitRange would give to containers that are not known."""
    tainted = build.node(cpu="64")
    tainted["spec"] = {**tainted.get("spec", {}), "taints": [{"key": "vm", "effect": "NoSchedule"}]}
    world = cluster(tainted, limit_range({"type": "Container", "default": {"cpu": "100"}}))
    assert simulated(template("one"), virtual_machine(), world=world).fits is Fits.UNKNOWN


def test_capacity_counts_claims_alone() -> None:
    report = room(template("one"), virtual_machine(), world=cluster())
    assert "fits at most 4 more times now." in capacity_summary(report)
    shown = " ".join(" ".join(capacity_page(report, cluster().evidence.address)).split())
    assert "Its claims alone were counted: KubeVirt makes the rest of the pod" in shown
    assert report.partial


def test_what_a_quota_and_the_devices_leave_are_one_change() -> None:
    """Fewer for the quota, and then fewer still, of a claim that does not exist before."""
    limit = quota(**{f"{build.DRIVER}.deviceclass.resource.k8s.io/devices": "8"})
    limit = {**limit, "status": {"hard": limit["spec"]["hard"], "used": {}}}
    pod = build.pod("p", templates=["one"])
    pod["spec"]["containers"][0]["image"] = "x"
    report = simulated(template("one", count=10), pod, world=cluster(limit))
    assert report.fits is Fits.NO
    assert "request 4 devices instead of 10" in page(report)


# --- claims and templates without a pod -------------------------------------------------------------------------------


def tainted(key: str) -> dict[str, Any]:
    return {**build.node(cpu="64"), "spec": {"taints": [{"key": key, "value": "present", "effect": "NoSchedule"}]}}


def test_a_template_without_pods_is_for_pods_that_may_be_where_its_devices_are() -> None:
    report = simulated(template("one"), world=cluster(tainted("nvidia.com/gpu")))
    (pod,) = report.pods
    assert (report.fits, pod.tolerated) == (Fits.YES, ("nvidia.com/gpu=present:NoSchedule",))
    assert "for pods that tolerate nvidia.com/gpu=present:NoSchedule" in page(report)
    assert "tolerate" not in page(simulated(template("one")))


@pytest.mark.parametrize(
    "key",
    [
        "node.kubernetes.io/unreachable",
        "node-role.kubernetes.io/control-plane",
        "ebs.csi.aws.com/agent-not-ready",
        "karpenter.sh/disrupted",
        "ToBeDeletedByClusterAutoscaler",
    ],
)
def test_what_says_in_what_state_a_node_is_stays_in_the_way(key: str) -> None:
    assert simulated(template("one"), world=cluster(tainted(key))).fits is Fits.NO


def test_pods_of_the_files_tolerate_what_they_say() -> None:
    deployment = thing("apps/v1", "Deployment", {"template": pod_template("one")})
    assert simulated(template("one"), deployment, world=cluster(tainted("nvidia.com/gpu"))).fits is Fits.NO
