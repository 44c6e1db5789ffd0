"""Selectors of the files that do not compile: what they probably mean, and what comes next as if it were written so."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.reports.base import Fits
from tests.kit import build
from tests.reports.test_simulated_files import cluster, page, pod_template, simulated, template, thing

MODEL = f'device.attributes["{build.DRIVER}"].model'


def selecting(expression: str) -> dict[str, Any]:
    body = template("one")
    (request,) = body["spec"]["spec"]["devices"]["requests"]
    request["exactly"]["selectors"] = [{"cel": {"expression": expression}}]
    return body


def world() -> ClusterState:
    devices = [build.device(name, attributes={"model": model}) for name, model in (("x", "H100"), ("y", "L4"))]
    return cluster(build.slice_("node-2", *devices), build.node("node-2", cpu="64"), devices=0)


@pytest.mark.parametrize(
    ("expression", "meant"),
    [
        (f'{MODEL} = "H100"', f'{MODEL} == "H100"'),
        (f'{MODEL} == "H100" AND device.driver == "{build.DRIVER}"', f'{MODEL} == "H100" &&'),
    ],
)
def test_what_is_meant_is_told_and_tried(expression: str, meant: str) -> None:
    job = thing("batch/v1", "Job", {"parallelism": 2, "completions": 2, "template": pod_template("one")})
    report = simulated(selecting(expression), job, world=world())
    assert (report.fits, len(report.corrected)) == (Fits.NO, 1)
    assert [pod.copies for pod in report.then] == [1]
    told = page(report)
    assert "does not compile" in told
    assert f"{meant}" in told
    assert told.index("Write instead in ResourceClaimTemplate ml/one (tried: 1 of") < told.index(
        "As if it were written so:"
    )
    assert "Job ml/w: 1 of 2 copies fit" in told


def test_a_template_alone_goes_on_as_well() -> None:
    told = page(simulated(selecting(f'{MODEL} = "H100"'), world=world()))
    assert "As if it were written so: A bare pod with ResourceClaimTemplate ml/one fits. on node-2" in told
    assert "Nothing was tried" not in told


def test_what_compiles_is_left_alone() -> None:
    assert simulated(selecting(f'{MODEL} == "none"'), world=world()).corrected == ()


def test_what_nobody_can_guess_is_refused_as_before() -> None:
    report = simulated(selecting("&&&"), world=world())
    assert (report.corrected, report.then) == ((), ())
    assert "Nothing was tried" in page(report)
