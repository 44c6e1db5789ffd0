"""One claim that all copies of a workload name: they share its devices, which is said where they fit as well."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kit import build
from tests.reports.test_simulated_files import cluster, page, simulated, template, thing

NS = build.NAMESPACE


def deployment(replicas: int, entry: dict[str, Any], cpu: str = "1") -> dict[str, Any]:
    requests = {"claims": [{"name": "gpu"}], "requests": {"cpu": cpu}}
    spec = {
        "containers": [{"name": "main", "image": "x", "resources": requests}],
        "resourceClaims": [{"name": "gpu", **entry}],
    }
    labels = {"app": "w"}
    body = {"metadata": {"labels": labels}, "spec": spec}
    return thing("apps/v1", "Deployment", {"replicas": replicas, "selector": {"matchLabels": labels}, "template": body})


def claim(count: int = 1) -> dict[str, Any]:
    body = build.claim("shared", build.request(count=count))
    return {"apiVersion": "resource.k8s.io/v1", **{key: body[key] for key in ("kind", "metadata", "spec")}}


def told(replicas: int, count: int = 1, cpu: str = "1") -> str:
    return page(simulated(claim(count), deployment(replicas, {"resourceClaimName": "shared"}, cpu), world=cluster()))


@pytest.mark.parametrize(("count", "what"), [(1, f"the 1 {build.DRIVER} device"), (2, f"the 2 {build.DRIVER} devices")])
def test_copies_of_one_claim_share_its_devices(count: int, what: str) -> None:
    shares = f"All 2 copies share {what} of ResourceClaim shared, on one node; from a ResourceClaimTemplate each gets"
    assert shares in told(2, count)


def test_it_is_said_where_some_do_not_fit() -> None:
    text = told(3, cpu="30")
    assert "2 of 3 copies fit" in text
    assert "All 3 copies share the 1" in text


def test_one_copy_shares_with_nobody() -> None:
    assert "share" not in told(1)


def test_claims_from_a_template_are_not_shared() -> None:
    body = deployment(2, {"resourceClaimTemplateName": "one"})
    assert "share" not in page(simulated(template("one"), body, world=cluster()))


def test_objects_of_the_files_that_share_a_claim_are_named_where_they_fit() -> None:
    entry = {"name": "gpu", "resourceClaimName": "shared"}
    first, second = deployment(1, entry), deployment(1, entry)
    second["metadata"] = {**second["metadata"], "name": "other"}
    told = page(simulated(claim(), first, second, world=cluster()))
    name = first["metadata"]["name"]
    assert f"shares ResourceClaim shared, which is on this node only, with Deployment {build.NAMESPACE}/other" in told
    assert f"shares ResourceClaim shared, which is on this node only, with Deployment {build.NAMESPACE}/{name}" in told
    assert "shares ResourceClaim" not in page(simulated(claim(), first, world=cluster()))


def test_of_many_that_share_a_claim_the_first_are_named() -> None:
    bodies = [deployment(1, {"name": "gpu", "resourceClaimName": "shared"}, "10m") for _ in range(30)]
    for number, each in enumerate(bodies):
        each["metadata"] = {**each["metadata"], "name": f"w-{number:02}"}
    report = simulated(claim(), *bodies, world=cluster())
    for pod in report.pods:
        (common,) = pod.shared
        assert (len(common.others), common.more) == (20, 9)
        assert pod.subject not in common.others
    assert "and 26 more" in page(report)
