"""After a node was chosen: binding conditions of allocated devices, and what the API server would refuse to write.

Upstream: the dynamicresources plugin's bindClaim; validation of the status of claims.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Cause, ConsumerCount, FatalError, ObjectRef
from kubectl_dra.model.classic import classic_of
from kubectl_dra.model.core import Pod
from kubectl_dra.model.features import Features
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.resource import AllocationResult, ResourceClaim
from kubectl_dra.scheduler import binding
from kubectl_dra.scheduler.claims import consumer_limit, is_reserved_for, known_extended_claims

_ADMIN_REFUSAL: Final = "Forbidden: admin access to devices requires the `{}: true` label on the containing namespace"


def unusable(claim: ResourceClaim, features: Features, now: datetime | None, timeout: timedelta) -> Cause | None:
    """Why an allocated claim is given up on every node: its devices failed to bind, or took too long."""
    problem = binding.unusable(claim, features, now, timeout)
    if problem is None:
        return None
    return Cause(Code.BINDING_FAILED, problem, claim=ObjectRef.of_claim(claim))


def said_before(causes: Iterable[Cause]) -> tuple[str, ...]:
    """What the attempt said that waited for devices which failed to bind; the next one gives them up in other words."""
    return tuple(
        binding.said_while_waiting(cause.claim.name, cause.detail)
        for cause in causes
        if cause.code is Code.BINDING_FAILED and cause.claim is not None
        if isinstance(cause.detail, binding.BindingProblem)
    )


def waits(state: ClusterState, pod: Pod, claims: Sequence[ResourceClaim], *, fits: bool = False) -> tuple[Cause, ...]:
    """What the scheduler waits for after it has reserved all claims for the pod; nothing if it has not.

    ``fits``: some node takes the pod, so that conditions of its devices are all that is waited for.
    """
    features = state.features
    left_over = known_extended_claims(state).get((key_of(pod.metadata), pod.metadata.uid))
    all_claims = [*claims, left_over] if left_over is not None else list(claims)
    if not all_claims or any(c.status.allocation is None or not is_reserved_for(pod, c, features) for c in all_claims):
        return ()
    timeout = state.binding_timeout
    if any(unusable(claim, features, state.observed_at, timeout) is not None for claim in all_claims):
        return ()
    under_way = bool(pod.status.nominated_node_name) or left_over is not None
    waiting: list[Cause] = []
    if features.device_binding_and_status:
        waiting = [cause for claim in all_claims for cause in waiting_causes(claim)]
    if waiting and (under_way or fits):
        return tuple(waiting)
    if not under_way:
        return ()
    return tuple(Cause(Code.BINDING_IN_PROGRESS, claim=ObjectRef.of_claim(claim)) for claim in all_claims)


def refused_reservation(pod: Pod, claim: ResourceClaim, features: Features) -> Cause | None:
    """An allocated claim that can't take another consumer."""
    consumers, limit = len(claim.status.reserved_for), consumer_limit(claim, features)
    if consumers < limit or is_reserved_for(pod, claim, features):
        return None
    too_many = f"status.reservedFor: Too many: {consumers + 1}: must have at most {limit} items"
    classic = classic_of(claim)
    # In v1alpha2 the scheduler passes on the server's words as they are.
    patched = classic is not None and bool(classic.resource_class_name)
    where = "" if patched else f"add reservation to claim {key_of(claim.metadata)}: "
    text = f"{where}{_invalid(claim)} {too_many}"
    resources = (f"{each.resource}.{each.api_group}".removesuffix(".") for each in claim.status.reserved_for)
    detail = FatalError(text, consumers=tuple(ConsumerCount(*each) for each in Counter(resources).items()))
    return Cause(Code.CONSUMERS_FULL, detail, claim=ObjectRef.of_claim(claim))


def refused_admin_access(claim: ResourceClaim, allocation: AllocationResult, label: str) -> Cause | None:
    """A new allocation with admin access, to be written in a namespace without the ``label``."""
    results = allocation.devices.results
    index = next((i for i, result in enumerate(results) if result.admin_access), None)
    if index is None:
        return None
    refusal = f"status.allocation.devices.results[{index}].adminAccess: {_ADMIN_REFUSAL.format(label)}"
    text = f"add allocation and reservation to claim {key_of(claim.metadata)}: {_invalid(claim)} {refusal}"
    detail = FatalError(text, label=label)
    return Cause(Code.ADMIN_LABEL_AT_BINDING, detail, claim=ObjectRef.of_claim(claim))


def refused_second_entry(pod: Pod, claim: ResourceClaim) -> Cause:
    """Another entry of the pod for a claim that an earlier one has just allocated, or reserved, for it."""
    key = key_of(claim.metadata)
    if claim.status.allocation is None:
        text = f"claim {key} got allocated elsewhere in the meantime"
    else:
        value = f'{{"resource":"pods","name":"{pod.metadata.name}","uid":"{pod.metadata.uid}"}}'
        duplicate = f"status.reservedFor[{len(claim.status.reserved_for) + 1}]: Duplicate value: {value}"
        text = f"add reservation to claim {key}: {_invalid(claim)} {duplicate}"
    return Cause(Code.CLAIM_NAMED_TWICE, FatalError(text), claim=ObjectRef.of("ResourceClaim", key))


def _invalid(claim: ResourceClaim) -> str:
    return f'ResourceClaim.resource.k8s.io "{claim.metadata.name}" is invalid:'


def waiting_causes(claim: ResourceClaim) -> Iterator[Cause]:
    """One cause per device that is waited for."""
    ref = ObjectRef.of_claim(claim)
    for problem in binding.readiness(claim).waiting:
        yield Cause(Code.BINDING_CONDITIONS, problem, claim=ref)
