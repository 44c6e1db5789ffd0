"""What admission webhooks say about a claim that they refuse: the policy and its words, in one line."""

from __future__ import annotations

import pytest

from kubectl_dra.output.pending.go_errors import innermost
from tests.kit import build
from tests.output.pending.test_situations import first_line, report_of

KYVERNO = (
    'PodResourceClaim gpus: create ResourceClaim : admission webhook "validate.kyverno.svc-fail" denied the request: '
    "\n\nresource ResourceClaim/ml/pod-gpus-8lc2m was blocked due to the following policies \n\nlimit-gpu-count:\n"
    "  max-two: 'validation error: A claim may request at most 2 GPUs. rule max-two failed at path "
    "/spec/devices/requests/0/exactly/count/'\n"
)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (KYVERNO, "policy limit-gpu-count, rule max-two: A claim may request at most 2 GPUs"),
        (
            'create ResourceClaim : admission webhook "validation.gatekeeper.sh" denied the request: [gpu-limit] '
            "claims may have at most 2 GPUs: found 4",
            'admission webhook "validation.gatekeeper.sh" denied the request: [gpu-limit] claims may have at most 2 '
            "GPUs: found 4",
        ),
        (
            'resourceclaims "x" is forbidden: ValidatingAdmissionPolicy "few" denied request: at most 2',
            'ValidatingAdmissionPolicy "few" denied request: at most 2',
        ),
    ],
)
def test_the_words_of_the_policy_are_kept(error: str, told: str) -> None:
    assert innermost(error) == told


def test_the_first_line_names_the_policy() -> None:
    template = {
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "gpus", "namespace": "ml"},
        "spec": {"spec": {"devices": {"requests": [build.request(count=4)]}}},
    }
    said = build.event("pod", "FailedResourceClaimCreation", KYVERNO)
    assert first_line(report_of(build.node(), build.pod(templates=["gpus"]), template, said)) == (
        'Pod ml/pod is pending: the controller cannot create its claim "gpus" from template "gpus": policy '
        "limit-gpu-count, rule max-two: A claim may request at most 2 GPUs."
    )
