"""ResourceQuota: what a claim is charged, and which quota it would exceed.

Upstream: pkg/quota/v1/evaluator/core/resource_claims.go. Quota is looked at when a claim is created, never later; a
claim that the scheduler makes for extended resources is created when the pod is bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import msgspec

from kubectl_dra.diagnosis.records import QuotaShortage
from kubectl_dra.model.core import Pod, ResourceQuota
from kubectl_dra.model.ids import Key
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.requests import pod_requests
from kubectl_dra.model.resource import (
    DeviceClass,
    DeviceRequest,
    DeviceSubRequest,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimSpec,
)
from kubectl_dra.scheduler.resource_names import DEVICE_CLASS_PREFIX, is_dra_extended_resource

OBJECT_COUNT: Final = "count/resourceclaims.resource.k8s.io"
PER_CLASS_SUFFIX: Final = ".deviceclass.resource.k8s.io/devices"
#: What a request for all devices is charged: as many as an allocation can hold.
ALL_DEVICES: Final = 32
_REQUESTS: Final = "requests."
#: An amount of nothing.
NOTHING: Final = Quantity(0, text="0")


def usage(spec: ResourceClaimSpec, classes: Mapping[str, DeviceClass], extended: bool = True) -> dict[str, int]:
    """What one claim is charged per quota name; ``extended``: also under the extended resource names of its classes."""
    per_class: dict[str, int] = {}
    for request in spec.devices.requests:
        for name, devices in _devices(request).items():
            per_class[name] = per_class.get(name, 0) + devices
    charged = {OBJECT_COUNT: 1}
    for name, devices in per_class.items():
        charged[name + PER_CLASS_SUFFIX] = devices
        if extended and devices and name:
            charged[f"{_REQUESTS}{DEVICE_CLASS_PREFIX}{name}"] = devices
            resource = classes[name].spec.extended_resource_name if name in classes else None
            if resource:
                charged[_REQUESTS + resource] = devices
    return charged


def pod_usage(pod: Pod) -> dict[str, int]:
    """What a pod is charged for extended resources, those that a class stands for included.

    Upstream: pkg/quota/v1/evaluator/core/pods.go, podComputeUsageHelper.
    """
    wanted = pod_requests(pod).items()
    return {f"{_REQUESTS}{name}": amount for name, amount in wanted if is_dra_extended_resource(name)}


def limits_claims(quotas: Iterable[ResourceQuota], pod: Pod) -> bool:
    """Whether a quota of the pod's namespace limits claims or their devices."""
    own = (quota for quota in quotas if quota.metadata.namespace == pod.metadata.namespace)
    names = (name for quota in own for name in quota.status.hard or quota.spec.hard)
    return any(name == OBJECT_COUNT or name.endswith(PER_CLASS_SUFFIX) for name in names)


def own_claim_shortages(quotas: Iterable[ResourceQuota], claim: ResourceClaim) -> tuple[QuotaShortage, ...]:
    """The limits that the claim which the scheduler makes for extended resources would exceed.

    What the pod was charged under the names of extended resources is not charged again (addExtendedResourceQuota).
    """
    return tuple(exceeded(quotas, claim.metadata.namespace, usage(claim.spec, {}, extended=False)))


def charged(
    quotas: Mapping[Key, ResourceQuota], namespace: str, charge: Mapping[str, int]
) -> Mapping[Key, ResourceQuota]:
    """The quotas after a claim with this charge was created in the namespace."""
    return {
        key: _with_used(quota, charge) if quota.metadata.namespace == namespace else quota
        for key, quota in quotas.items()
    }


def _with_used(quota: ResourceQuota, charge: Mapping[str, int]) -> ResourceQuota:
    used = dict(quota.status.used)
    for name in (quota.status.hard or quota.spec.hard).keys() & charge.keys():
        used[name] = used.get(name, NOTHING).add(Quantity(charge[name]))
    return msgspec.structs.replace(quota, status=msgspec.structs.replace(quota.status, used=used))


def refusal(shortages: Iterable[QuotaShortage]) -> str:
    """The API server's words about the first quota among ``shortages`` of one claim; empty if there are none."""
    found = list(shortages)
    of_one = [each for each in found if each.quota == found[0].quota]

    def amounts(field: str) -> str:
        return ",".join(f"{each.resource}={getattr(each, field)}" for each in of_one)

    if not of_one:
        return ""
    parts = f"requested: {amounts('requested')}, used: {amounts('used')}, limited: {amounts('hard')}"
    return f"exceeded quota: {of_one[0].quota}, {parts}"


def _devices(request: DeviceRequest) -> dict[str, int]:
    """Devices per class: the most that any alternative takes of each class."""
    if not request.first_available:
        return {request.exactly.device_class_name: _count(request.exactly)} if request.exactly is not None else {}
    most: dict[str, int] = {}
    for alternative in request.first_available:
        name = alternative.device_class_name
        most[name] = max(most.get(name, 0), _count(alternative))
    return most


def _count(request: ExactDeviceRequest | DeviceSubRequest) -> int:
    if request.allocation_mode == "ExactCount":
        return request.count
    return ALL_DEVICES if request.allocation_mode == "All" else 0


def exceeded(quotas: Iterable[ResourceQuota], namespace: str, charged: Mapping[str, int]) -> Iterator[QuotaShortage]:
    """The limits that one more claim with this charge would exceed, by quota and name."""
    for quota in quotas:
        if quota.metadata.namespace != namespace:
            continue
        limits = quota.status.hard or quota.spec.hard
        for name in sorted(set(limits) & set(charged)):
            used = quota.status.used.get(name, NOTHING)
            if charged[name] > 0 and used.add(Quantity(charged[name])).cmp(limits[name]) > 0:
                amounts = str(limits[name]), str(used), str(charged[name])
                yield QuotaShortage(quota.metadata.name, name, *amounts)
