"""Devices of init containers, which their pod holds as long as it lives: others that start later can have the same."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kubectl_dra.output.pending.remedies import remedy_text
from kubectl_dra.output.safe import plain
from kubectl_dra.reports.pending.pending import PendingReport
from tests.kit import build
from tests.output.pending.test_situations import page_of, report_of

WAY = (
    'give init containers the devices of "gpu", which is used after they end: drop the entry "warm" (recreate the pod)'
)


def waiting(*, same: bool = True, sidecar: bool = False, beside: bool = False, devices: int = 1) -> PendingReport:
    """A pod whose init container and whose container have a claim of a template each."""
    entries = {"warm": "one", "gpu": "one" if same else "other"}
    template: dict[str, Any] = {"kind": "ResourceClaimTemplate", "spec": {"spec": build.claim()["spec"]}}
    templates = [template | {"metadata": {"name": name, "namespace": "ml"}} for name in {"one", "other"}]
    pod = build.pod("pod")
    first = {"name": "load", "resources": {"claims": [{"name": "warm"}]}}
    pod["spec"] |= {
        "resourceClaims": [{"name": k, "resourceClaimTemplateName": v} for k, v in entries.items()],
        "containers": [{"name": "main", "resources": {"claims": [{"name": "gpu"}]}}],
        "initContainers": [first | ({"restartPolicy": "Always"} if sidecar else {})],
    }
    if beside:
        runs = {"name": "side", "restartPolicy": "Always", "resources": {"claims": [{"name": "gpu"}]}}
        pod["spec"]["initContainers"].insert(0, runs)
    pod["status"]["resourceClaimStatuses"] = [{"name": k, "resourceClaimName": f"pod-{k}"} for k in entries]
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "pod", "uid": "pod-pod", "controller": True}
    claims = [
        build.claim(
            f"pod-{k}",
            metadata={"ownerReferences": [owner], "annotations": {"resource.kubernetes.io/pod-claim-name": k}},
        )
        for k in entries
    ]
    there = build.slice_("node-1", *(build.device(f"gpu-{number}") for number in range(devices)))
    return report_of(build.node(), there, *templates, pod, *claims)


def ways(report: PendingReport) -> list[str]:
    return [plain(remedy_text(each)) for each in report.remedies]


def test_init_containers_take_the_devices_of_those_after_them() -> None:
    report = waiting()
    assert ways(report) == [WAY]
    (patch,) = [words for step in report.remedies[0].steps for words in step.commands if "patch" in words]
    assert '{"op": "remove", "path": "/spec/resourceClaims/0"}' in " ".join(patch)
    assert '{"op": "add", "path": "/spec/initContainers/0/resources/claims/0/name", "value": "gpu"}' in " ".join(patch)


@pytest.mark.parametrize("fields", [{"same": False}, {"sidecar": True}, {"beside": True}, {"devices": 0}])
def test_not_those_that_run_beside_them_or_of_another_template(fields: dict[str, Any]) -> None:
    assert WAY not in ways(waiting(**fields))


def test_requests_of_one_name_are_told_apart() -> None:
    page = re.sub(r"\x1b\[\d*m", "", page_of(waiting()))
    assert (
        "gpu (claim warm) and gpu (claim gpu) need 2 devices together, and no node has as many: node-1 has 1 device"
        in page
    )
