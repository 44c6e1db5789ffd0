"""What usually helps where a quota is exhausted speaks of what that quota limits."""

from __future__ import annotations

import pytest

from kubectl_dra.diagnosis.records import QuotaShortage
from kubectl_dra.output.pending.quotas import quota_advice

DEVICES = "gpu.example.com.deviceclass.resource.k8s.io/devices"
CLAIMS = "claims that are not needed: allocated or not, every claim counts until it is deleted."
FINISHED = "delete pods that are not needed: finished pods don't count."


@pytest.mark.parametrize(
    ("resource", "kind", "helps"),
    [
        ("count/resourceclaims.resource.k8s.io", "ResourceClaim", f", or delete {CLAIMS}"),
        (DEVICES, "ResourceClaim", f", request fewer gpu.example.com devices, or delete {CLAIMS}"),
        ("requests.example.com/gpu", "ResourceClaim", f", request less example.com/gpu, or delete pods or {CLAIMS}"),
        ("requests.example.com/gpu", "Pod", f", lower the pod's requests.example.com/gpu, or {FINISHED}"),
        ("cpu", "Pod", f", lower the pod's requests.cpu, or {FINISHED}"),
        ("limits.memory", "Pod", f", lower the pod's limits.memory, or {FINISHED}"),
        ("pods", "Pod", f", or {FINISHED}"),
        ("count/pods", "Pod", ", or delete pods that are not needed: finished pods count too."),
    ],
)
def test_advice_is_about_the_resource_of_the_quota(resource: str, kind: str, helps: str) -> None:
    found = quota_advice(QuotaShortage("few", resource, "4", "4", "1", kind=kind))
    assert str(found) == f'Raise the limit on {resource} in ResourceQuota "few"{helps}'
