"""A claim in place of an extended resource: devices of a class that no node offers by that name.

The pod names a template, and the container that asked for the resource names the claim.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.diagnosis.remedies import changes
from kubectl_dra.diagnosis.remedies.candidate import Candidate, Case
from kubectl_dra.diagnosis.remedies.own_claim import free_name, made
from kubectl_dra.diagnosis.remedies.pod_edits import ENTRY, naming
from kubectl_dra.diagnosis.remedies.records import CreateObject, EditPod, RemedyKind
from kubectl_dra.model.ids import Key
from kubectl_dra.model.resource import DeviceClaim, DeviceRequest, ExactDeviceRequest, ResourceClaim, ResourceClaimSpec

_COST: Final = 33
_TEMPLATE: Final = "ResourceClaimTemplate"


def instead(case: Case, resource: str, device_class: str) -> Iterator[Candidate]:
    """The change, where one container asks for the resource and nothing of the pod has the name of the entry."""
    pod = case.pod
    asking = [c for c in (*pod.spec.init_containers, *pod.spec.containers) if resource in c.resources.requests]
    count = asking[0].resources.requests[resource].as_int64() if asking else None
    named = any(entry.name == ENTRY for entry in pod.spec.resource_claims)
    if len(asking) != 1 or asking[0] not in pod.spec.containers or not count or named:
        return
    ref, container = case.diagnosis.pod, asking[0].name
    name = f"{case.workload.name if case.workload else ref.name}-{resource.rpartition('/')[2].lower()}"
    wanted = ObjectRef(_TEMPLATE, ref.namespace, name)
    template = ObjectRef(_TEMPLATE, ref.namespace, free_name(case.state.inventory.templates, wanted))
    create = CreateObject(template, device_class=device_class, devices=count)
    edit = EditPod(ref, f"resources.claim[{container}]", resource, template.name, case.workload)
    claim = Key(ref.namespace, f"{ref.name}-{ENTRY}")
    steps = (
        made(template, claim, ResourceClaim(spec=spec_of(create)), pod),
        changes.PodEdit(ref.key, naming(edit, ENTRY, claim.name)),
    )
    yield Candidate(RemedyKind.EDIT_POD, (create, edit), _COST, steps)


def spec_of(action: CreateObject) -> ResourceClaimSpec:
    """A claim with one request for so many devices of the class."""
    exactly = ExactDeviceRequest(
        device_class_name=action.device_class, allocation_mode="ExactCount", count=action.devices
    )
    return ResourceClaimSpec(devices=DeviceClaim(requests=(DeviceRequest(name=ENTRY, exactly=exactly),)))
