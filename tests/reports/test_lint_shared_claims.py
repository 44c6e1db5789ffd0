"""lint: a claim that all replicas share, where they can't all be on the node of its devices."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kubectl_dra.api.planned import read_all
from kubectl_dra.api.sources import Source
from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.features import features
from kubectl_dra.reports.lint.records import Rule
from kubectl_dra.reports.lint.report import Place, lint_report
from tests.kit import build, facts
from tests.kit.clock import CLOCK

APP = {"matchLabels": {"app": "w"}}
APART = {"topologyKey": "kubernetes.io/hostname", "labelSelector": APP}
SPREAD = {
    "topologyKey": "kubernetes.io/hostname",
    "whenUnsatisfiable": "DoNotSchedule",
    "maxSkew": 1,
    "labelSelector": APP,
}


def anti(*terms: dict[str, Any]) -> dict[str, Any]:
    return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}}


def workload(kind: str, replicas: int | None, ports: list[dict[str, Any]], **spec: Any) -> dict[str, Any]:
    container = {"name": "main", "image": "x", "resources": {"claims": [{"name": "gpu"}]}, "ports": ports}
    pod = {"containers": [container], "resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}], **spec}
    body: dict[str, Any] = {"selector": APP, "template": {"metadata": {"labels": {"app": "w"}}, "spec": pod}}
    if replicas is not None:
        body["replicas"] = replicas
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "w", "namespace": "ml"}, "spec": body}


def claim(**request: Any) -> dict[str, Any]:
    made = build.claim("gpu", build.request(**request))
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", **{k: made[k] for k in ("metadata", "spec")}}


def found(*bodies: dict[str, Any], devices: ClusterState | None = None) -> list[str]:
    objects = read_all([Source(json.dumps(body).encode()) for body in bodies], "ml")
    report = lint_report(objects, lambda _number, _path: Place("f"), devices=devices)
    assert report.errors == 0
    return [each.message for each in report.findings if each.code is Rule.SHARED_CLAIM]


SHARE = 'share ResourceClaim "gpu" and so the node of its devices, but'


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (
            workload("Deployment", 3, [], **anti(APART)),
            f"3 pods {SHARE} their required anti-affinity over kubernetes.io/hostname keeps them apart",
        ),
        (
            workload("Deployment", 3, [], topologySpreadConstraints=[SPREAD]),
            f"3 pods {SHARE} their topologySpreadConstraint over kubernetes.io/hostname spreads them",
        ),
        (
            workload("StatefulSet", 2, [{"containerPort": 80, "hostPort": 8080}]),
            f"2 pods {SHARE} their hostPort 8080 is free for one of them per node",
        ),
        (workload("DaemonSet", None, []), f"all pods {SHARE} the DaemonSet puts each of them on another node"),
        (workload("Deployment", 300, []), '300 pods share ResourceClaim "gpu", which at most 256 pods can use'),
    ],
)
def test_replicas_that_can_t_be_where_their_claim_is(body: dict[str, Any], text: str) -> None:
    assert found(body, claim()) == [text]


@pytest.mark.parametrize(
    "body",
    [
        workload("Deployment", 3, []),
        workload("Deployment", 1, [], **anti(APART)),
        workload("Deployment", 3, [], **anti({**APART, "labelSelector": {"matchLabels": {"app": "other"}}})),
        workload("Deployment", 3, [], **anti({**APART, "namespaces": ["other"]})),
        workload("Deployment", 3, [], topologySpreadConstraints=[{**SPREAD, "whenUnsatisfiable": "ScheduleAnyway"}]),
        workload("Deployment", 3, [], topologySpreadConstraints=[{**SPREAD, "maxSkew": 3}]),
        workload("Deployment", 2, [{"containerPort": 80}]),
    ],
)
def test_where_sharing_is_right(body: dict[str, Any]) -> None:
    assert found(body, claim()) == []


def test_what_is_not_known_to_be_on_one_node() -> None:
    apart = workload("Deployment", 3, [], **anti(APART))
    # A claim that is elsewhere, devices that nobody has alone, and such as several nodes reach.
    assert found(apart) == []
    assert found(apart, claim(adminAccess=True)) == []
    everywhere = build.slice_("node-1", build.device("a"), allNodes=True)
    del everywhere["spec"]["nodeName"]
    for there, number in ((everywhere, 0), (build.slice_("node-1", build.device("a")), 1)):
        world = ClusterState(facts.inventory([build.device_class(), there]), facts.evidence(), features(), CLOCK)
        assert len(found(apart, claim(), devices=world)) == number
