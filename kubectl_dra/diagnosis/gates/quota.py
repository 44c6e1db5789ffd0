"""ResourceQuota: what a claim or a pod is charged, and which quota it would exceed.

Upstream: pkg/quota/v1/evaluator/core/resource_claims.go. Quota is looked at when a claim is created, never later; a
claim that the scheduler makes for extended resources is created when the pod is bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.gates.pod_admission import LIMIT_RANGE
from kubectl_dra.diagnosis.gates.quota_scopes import counts, scope_by_defaults
from kubectl_dra.diagnosis.records import ObjectRef, QuotaShortage, QuotaUse, Unspecified
from kubectl_dra.model.core import Container, Pod, ResourceQuota, ResourceQuotaStatus
from kubectl_dra.model.edited import edited
from kubectl_dra.model.features import Features
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.requests import pod_limits, pod_requests, quantity_of
from kubectl_dra.model.resource import (
    DeviceClass,
    DeviceRequest,
    DeviceSubRequest,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimSpec,
)
from kubectl_dra.model.usage import is_terminal
from kubectl_dra.scheduler.resource_names import DEVICE_CLASS_PREFIX, is_dra_extended_resource

KIND: Final = "ResourceQuota"
OBJECT_COUNT: Final = "count/resourceclaims.resource.k8s.io"
PER_CLASS_SUFFIX: Final = ".deviceclass.resource.k8s.io/devices"
#: What a request for all devices is charged: as many as an allocation can hold.
ALL_DEVICES: Final = 32
_REQUESTS: Final = "requests."
_LIMITS: Final = "limits."
_POD_COUNT: Final = "count/pods"
_COMPUTE: Final = ("cpu", "memory", "ephemeral-storage")
#: What a quota requires of every container that it is about.
_REQUIRED: Final = frozenset(prefix + name for prefix in ("", _REQUESTS, _LIMITS) for name in ("cpu", "memory"))
_HUGE_PAGES: Final = "hugepages-"
#: An amount of nothing.
NOTHING: Final = Quantity(0, text="0")


def are_read(state: ClusterState, namespace: str) -> bool:
    """Whether all quotas of the namespace are known; else any of them may forbid what is created there."""
    return state.evidence.complete(KIND, namespace)


def is_settled(state: ClusterState, namespace: str) -> bool:
    """Whether a pod that is made there is known as it is counted: every LimitRange that may give it more was read."""
    return state.evidence.complete(LIMIT_RANGE, namespace)


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
    """What a pod is charged: cpu in thousandths, everything else in base units.

    What a LimitRange would add, if it is not read, is not in it, so that it may be charged more. Upstream:
    pkg/quota/v1/evaluator/core/pods.go, PodUsageFunc and podComputeUsageHelper; a finished pod still counts as object.
    """
    charged = {_POD_COUNT: 1}
    if is_terminal(pod):
        return charged
    charged["pods"] = 1
    for name, amount in pod_requests(pod).items():
        if name in _COMPUTE or name.startswith(_HUGE_PAGES):
            charged[name] = charged[_REQUESTS + name] = amount
        elif is_dra_extended_resource(name):
            charged[_REQUESTS + name] = amount
    charged.update({_LIMITS + name: amount for name, amount in pod_limits(pod).items() if name in _COMPUTE})
    return charged


def quantity(resource: str, charge: int) -> Quantity:
    """What is charged under one name of a quota, as the API server writes it."""
    return quantity_of(resource.removeprefix(_REQUESTS).removeprefix(_LIMITS), charge)


def pod_shortages(state: ClusterState, pod: Pod) -> tuple[QuotaShortage, ...]:
    """The limits that one more such pod would exceed, so that it would not be created."""
    quotas, namespace = state.inventory.quotas.values(), pod.metadata.namespace
    found = exceeded(quotas, namespace, pod_usage(pod), pod, settled=is_settled(state, namespace))
    return tuple(msgspec.structs.replace(each, kind="Pod") for each in found)


def lacking_requests(quotas: Iterable[ResourceQuota], pod: Pod) -> str:
    """The API server's words about a pod of which a quota requires what it does not request; empty if none does."""
    found = list(unspecified(quotas, pod))
    of_one = [each for each in found if each.quota == found[0].quota]
    told = "; ".join(f"{each.resource} for: {','.join(each.containers)}" for each in of_one)
    return f"failed quota: {of_one[0].quota}: must specify {told}" if of_one else ""


def unspecified(quotas: Iterable[ResourceQuota], pod: Pod) -> Iterator[Unspecified]:
    """What quotas require of every container and some do not say.

    The pod is refused unless a LimitRange gives it. Upstream: pkg/quota/v1/evaluator/core/pods.go, Constraints and
    validationSet; a pod with resources of its own is not looked at.
    """
    own = pod.spec.resources
    if own is not None and (own.requests or own.limits):
        return
    containers = (*pod.spec.containers, *pod.spec.init_containers)
    for quota in quotas:
        if quota.metadata.namespace != pod.metadata.namespace or not counts(quota, pod):
            continue
        for resource in sorted(_REQUIRED.intersection(quota.status.hard or quota.spec.hard)):
            lacking = (each.name for each in containers if not _specifies(each, resource))
            names = tuple(sorted(set(lacking)))
            if names:
                yield Unspecified(quota.metadata.name, resource, names)


def may_be_about(quotas: Iterable[ResourceQuota], pod: Pod) -> Iterator[Key]:
    """Quotas that are about a pod which is not made yet, or may be by what a LimitRange sets."""
    for quota in quotas:
        own = quota.metadata.namespace == pod.metadata.namespace
        if own and (counts(quota, pod) or scope_by_defaults(quota, pod)):
            yield key_of(quota.metadata)


def may_exceed(
    quotas: Iterable[ResourceQuota], pod: Pod, copies: int, earlier: Mapping[Key, int] = MappingProxyType({})
) -> Iterator[Unspecified]:
    """Limits that so many new pods would exceed, of quotas that are about them or not by what a LimitRange sets.

    ``earlier``: pods that are made before, by the quotas that may be about them. What a LimitRange sets is not known: a
    limit of cpu or memory is told where nothing is left of it.
    """
    for quota in quotas:
        number = dict.fromkeys(("pods", _POD_COUNT), copies + earlier.get(key_of(quota.metadata), 0))
        scope = scope_by_defaults(quota, pod) if quota.metadata.namespace == pod.metadata.namespace else ""
        limits = quota.status.hard or quota.spec.hard
        for name in sorted((number.keys() | _REQUIRED) & limits.keys()) if scope else ():
            used = quota.status.used.get(name, NOTHING)
            if used.add(quantity(name, number.get(name, 1))).cmp(limits[name]) > 0:
                yield Unspecified(quota.metadata.name, name, (), scope, str(used), str(limits[name]))


def _specifies(container: Container, resource: str) -> bool:
    given = container.resources.limits if resource.startswith(_LIMITS) else container.resources.requests
    return resource.removeprefix(_LIMITS).removeprefix(_REQUESTS) in given


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
    quotas: Mapping[Key, ResourceQuota], namespace: str, charge: Mapping[str, int], pod: Pod | None = None
) -> Mapping[Key, ResourceQuota]:
    """The quotas after something with this charge was created in the namespace: a claim, or this pod."""
    if not charge:
        return quotas
    concerned = {
        key: _with_used(quota, charge)
        for key, quota in quotas.items()
        if quota.metadata.namespace == namespace and counts(quota, pod)
    }
    return edited(quotas, concerned) if concerned else quotas


def recounted(made: ResourceQuota, inventory: Inventory, features: Features) -> ResourceQuota:
    """A quota that is new, or has new limits, once its controller has counted what is in its namespace.

    What the cluster's quota of the same name counts already is taken from there: more is charged than pods and claims.
    Upstream: pkg/controller/resourcequota/resource_quota_controller.go, syncResourceQuota; a status that a manifest
    has is dropped.
    """
    namespace, hard = made.metadata.namespace, made.spec.hard
    fresh = msgspec.structs.replace(made, status=ResourceQuotaStatus(hard=hard))
    if counts(made, None):
        for claim in inventory.claims_by_namespace.get(namespace, ()):
            fresh = _with_used(fresh, usage(claim.spec, inventory.classes, features.extended_resource))
    for pod in inventory.pods.values():
        if pod.metadata.namespace == namespace and counts(made, pod):
            fresh = _with_used(fresh, pod_usage(pod))
    known = inventory.quotas.get(key_of(made.metadata))
    if known is None:
        return fresh
    used = {name: amount for name, amount in known.status.used.items() if name in hard}
    return msgspec.structs.replace(fresh, status=ResourceQuotaStatus(hard, {**fresh.status.used, **used}))


def _with_used(quota: ResourceQuota, charge: Mapping[str, int]) -> ResourceQuota:
    used = dict(quota.status.used)
    for name in (quota.status.hard or quota.spec.hard).keys() & charge.keys():
        used[name] = used.get(name, NOTHING).add(quantity(name, charge[name]))
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


def exceeded(
    quotas: Iterable[ResourceQuota],
    namespace: str,
    charged: Mapping[str, int],
    pod: Pod | None = None,
    *,
    settled: bool = False,
) -> Iterator[QuotaShortage]:
    """The limits that one more object with this charge would exceed, by quota and name: a claim, or this pod.

    The pod is not made yet: unless it :func:`is_settled`, quotas that are about it by what a LimitRange sets are those
    of :func:`may_exceed`.
    """
    for quota in quotas:
        if quota.metadata.namespace != namespace or not counts(quota, pod):
            continue
        if pod is not None and not settled and scope_by_defaults(quota, pod):
            continue
        limits = quota.status.hard or quota.spec.hard
        for name in sorted(set(limits) & set(charged)):
            used, more = quota.status.used.get(name, NOTHING), quantity(name, charged[name])
            if charged[name] > 0 and used.add(more).cmp(limits[name]) > 0:
                amounts = str(limits[name]), str(used), str(more)
                yield QuotaShortage(quota.metadata.name, name, *amounts)


def with_users(shortage: QuotaShortage, namespace: str, inventory: Inventory, features: Features) -> QuotaShortage:
    """The shortage with the claims that are charged for it, those with most first."""
    charges = (
        (
            usage(claim.spec, inventory.classes, features.extended_resource).get(shortage.resource, 0),
            key_of(claim.metadata),
        )
        for claim in inventory.claims_by_namespace.get(namespace, ())
    )
    found = sorted(((amount, key) for amount, key in charges if amount), key=lambda each: (-each[0], each[1]))
    users = tuple(QuotaUse(ObjectRef.of("ResourceClaim", key), amount) for amount, key in found)
    return msgspec.structs.replace(shortage, users=users)
