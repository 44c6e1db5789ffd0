"""A file whose workloads make no pods fits nowhere and everywhere: nothing was tried, so it is unknown."""

from __future__ import annotations

import pytest

from tests.corpus.case import Case
from tests.corpus.run import report_of
from tests.corpus.shapes import Object, pod, workload

POD = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "c", "image": "x"}]}}
SELECTOR = {"selector": {"matchLabels": {"app": "a"}}}


def deployment(replicas: int) -> Object:
    return workload("apps/v1", "Deployment", {**SELECTOR, "replicas": replicas, "template": POD})


def daemons(**selects: str) -> Object:
    template = {**POD, "spec": {**POD["spec"], "nodeSelector": selects}}
    return workload("apps/v1", "DaemonSet", {**SELECTOR, "template": template}, "agents")


def fits(*objects: Object) -> tuple[str, bool]:
    report = report_of(Case("", "", "example", objects, ""))
    return str(report.fits), report.partial


@pytest.mark.parametrize(
    "objects", [[deployment(0)], [daemons(pool="nowhere")], [deployment(0), daemons(pool="nowhere")]]
)
def test_nothing_tried_is_unknown(objects: list[Object]) -> None:
    assert fits(*objects) == ("Unknown", True)


def test_one_that_was_tried_is_enough() -> None:
    assert fits(deployment(0), deployment_named("other", 1)) == ("Yes", False)
    whole = pod()
    whole["spec"].pop("resourceClaims")
    assert fits(daemons(pool="nowhere"), whole) == ("Yes", False)


def deployment_named(name: str, replicas: int) -> Object:
    body = deployment(replicas)
    return {**body, "metadata": {**body["metadata"], "name": name}}
