"""Labels that the files need: of nodes, to keep a DaemonSet off some of them; of a namespace, for admin access."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.features import features
from kubectl_dra.reports.base import Fits
from tests.kit import build
from tests.reports.test_simulated_files import NS, cluster, page, pod_template, simulated, template, thing


def daemons(claims: str = "one") -> dict[str, Any]:
    body = pod_template(claims)
    body["spec"] = {**body["spec"], "restartPolicy": "Always", "tolerations": [{"operator": "Exists"}]}
    labelled = {**body, "metadata": {"labels": {"app": "w"}}}
    return thing("apps/v1", "DaemonSet", {"selector": {"matchLabels": {"app": "w"}}, "template": labelled})


def two_nodes(**labels: str) -> ClusterState:
    """The node with devices, and one without."""
    bare = build.node("cpu-1", labels={"zone": "a"}, cpu="64")
    return cluster(build.node(labels={"zone": "a", **labels}, cpu="64"), bare)


@pytest.mark.parametrize(
    ("labels", "way"),
    [
        (
            {"gpu": "true", "pool": "x"},
            'with spec.template.spec.nodeSelector: {gpu: "true"} it makes pods only where they',
        ),
        ({}, "label the nodes where it fits, and name that label in spec.template.spec.nodeSelector."),
    ],
)
def test_a_daemon_set_is_kept_off_a_node_without_devices(labels: dict[str, str], way: str) -> None:
    told = page(simulated(template("one"), daemons(), world=two_nodes(**labels)))
    assert "DaemonSet ml/w: 1 of 2 copies fit; on cpu-1 it does not: there are no" in told
    assert f"Or keep it off cpu-1: {way}" in told
    assert "recreate the pod" not in told
    assert "Ruled out earlier" not in told


ADMIN = template("all", adminAccess=True)


def test_without_the_label_for_admin_access_the_rest_is_told_as_if_it_were_there() -> None:
    report = simulated(ADMIN, daemons("all"))
    assert (report.unlabelled, report.fits, report.bad) == ((NS,), Fits.NO, True)
    told = page(report)
    assert "Admin access is not allowed in namespace ml" in told
    assert "kubectl label namespace/ml resource.kubernetes.io/admin-access=true" in told
    assert "everybody who may create claims there can then use devices that others hold" in told
    assert "DaemonSet ml/w fits." in told
    assert "ResourceClaimTemplate ml/all would be refused: " in told


def test_a_namespace_of_the_files_gets_its_label_there() -> None:
    """No command reaches it before it is created, and whoever applies the files again has it in them."""
    space = {"apiVersion": "v1", **build.namespace("tools")}
    of_tools = {**ADMIN, "metadata": {**ADMIN["metadata"], "namespace": "tools"}}
    told = page(simulated(space, of_tools))
    text = 'To allow it: add resource.kubernetes.io/admin-access: "true" to metadata.labels of Namespace tools.'
    assert text in told
    assert "kubectl label" not in told


def test_the_label_of_1_33_has_another_name() -> None:
    old = replace(cluster(), features=features(33, shown=("DynamicResourceAllocation", "DRAAdminAccess")))
    told = page(simulated(ADMIN, daemons("all"), world=old))
    assert "kubectl label namespace/ml resource.k8s.io/admin-access=true" in told
    assert "requires the `resource.k8s.io/admin-access: true` label" in told
    # Before, and where the field is dropped, none is needed.
    assert "admin-access" not in page(
        simulated(
            ADMIN, daemons("all"), world=replace(old, features=features(33, shown=("DynamicResourceAllocation",)))
        )
    )


def test_with_the_label_nothing_is_said_of_it() -> None:
    labelled = {"apiVersion": "v1", **build.namespace(**{"resource.kubernetes.io/admin-access": "true"})}
    report = simulated(labelled, ADMIN, daemons("all"))
    assert (report.unlabelled, report.fits) == ((), Fits.YES)


def test_each_reason_is_told_of_its_own_nodes() -> None:
    """On one node the device is in use, and the other has none: only that one is for a label."""
    busy = [
        build.node("node-2", cpu="64"),
        build.slice_("node-2", build.device("gpu-0")),
        build.claim("held", held=[("node-2", "gpu-0")], by=["h"], on="node-2"),
        build.pod("h", node_name="node-2", claims=["held"], phase="Running"),
        build.node("node-3", cpu="64"),
    ]
    report = simulated(template("one"), daemons(), world=cluster(*busy))
    told = page(report)
    (pod,) = report.pods
    assert pod.kept_off is not None
    assert {pod.kept_off.nodes, *(each.nodes for each in pod.kept_off.others)} == {("node-2",), ("node-3",)}
    assert "on node-3 it does not: there are no gpu.example.com devices" in told
    assert "on node-2 it does not: no node has a free gpu.example.com device: on node-2, the only one is in use" in told
    assert "do not match the pod's node selector" not in told
    assert "(also DRA-413)" not in told
    assert "keep it off node-3:" in told
    assert "keep it off node-2" not in told
    assert "This would make 2 of 3 copies fit" in told
    assert "delete pod ml/h" in told
