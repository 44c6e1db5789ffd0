"""The devices that Kueue counts for a pod: those of its claims' templates, by DeviceClass.

Kueue charges them to the resource that its ``deviceClassMappings`` name for the class, and refuses classes that they
don't name (upstream: kubernetes-sigs/kueue, pkg/dra, and KEP 2941). It counts a fixed number of one class only,
without admin access.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from kubectl_dra.model.core import Pod
from kubectl_dra.model.forms import forms_of
from kubectl_dra.model.ids import Key
from kubectl_dra.model.resource import ResourceClaimTemplate


def devices_by_class(
    pod: Pod, templates: Mapping[Key, ResourceClaimTemplate]
) -> tuple[Mapping[str, int], frozenset[str]]:
    """How many devices of each class one pod requests, and the classes of requests that Kueue can't count."""
    counts: Counter[str] = Counter()
    open_: set[str] = set()
    for entry in pod.spec.resource_claims:
        template = templates.get(Key(pod.metadata.namespace, entry.resource_claim_template_name or ""))
        for request in template.spec.spec.devices.requests if template is not None else ():
            exactly = request.exactly
            if exactly is not None and exactly.allocation_mode == "ExactCount" and not exactly.admin_access:
                counts[exactly.device_class_name] += exactly.count
            else:
                open_.update(form.device_class_name for _, form in forms_of(request))
    return counts, frozenset(open_)
