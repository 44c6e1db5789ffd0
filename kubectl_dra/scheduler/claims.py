"""The claims of a pod: which object each entry stands for, whose it is, and what keeps it from being used.

Upstream: k8s.io/dynamic-resource-allocation/resourceclaim (Name, IsForPod, IsReservedForPod) and the PreEnqueue of the
plugin. The verdict about a claim itself is in ``claim_verdicts``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.model import differences
from kubectl_dra.model.classic import MAX_RESERVED_FOR, ClassicResourceClaim
from kubectl_dra.model.core import Pod, PodResourceClaim
from kubectl_dra.model.evidence import Evidence
from kubectl_dra.model.features import Features
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.model.resource import ConsumerReference, ResourceClaim

CLAIM_KIND: Final = "ResourceClaim"
EXTENDED_CLAIM_ANNOTATION: Final = "resource.kubernetes.io/extended-resource-claim"
FINALIZER: Final = "resource.kubernetes.io/delete-protection"
MAX_CONSUMERS: Final = 256
_LAST_WITH_FEWER: Final = 31
_SCHEDULING_GROUP: Final = "scheduling.k8s.io"


class ClaimProblem(StrEnum):
    """Why an entry has no claim that the pod could use."""

    SOURCE_UNKNOWN = "sourceUnknown"
    NOT_CREATED = "notCreated"
    MISSING = "missing"
    BEING_DELETED = "beingDeleted"
    NOT_OWNED = "notOwned"
    UNREADABLE = "unreadable"  # ours, not the scheduler's: the claim may exist


class ResolvedEntry(msgspec.Struct, frozen=True):
    """An entry of ``spec.resourceClaims`` and what it stands for.

    Neither claim nor problem: the entry needs no claim. ``text`` are the scheduler's words about the problem.
    """

    entry: PodResourceClaim
    name: Key | None = None
    claim: ResourceClaim | None = None
    problem: ClaimProblem | None = None
    text: str = ""

    @property
    def template(self) -> str | None:
        return sources(self.entry)[1]


def sources(entry: PodResourceClaim) -> tuple[str | None, str | None]:
    """Claim name and template name of an entry, in its current or its nested form."""
    if entry.source is not None and entry.resource_claim_name is None and entry.resource_claim_template_name is None:
        return entry.source.resource_claim_name, entry.source.resource_claim_template_name
    return entry.resource_claim_name, entry.resource_claim_template_name


def resolve(inventory: Inventory, evidence: Evidence, features: Features, pod: Pod) -> tuple[ResolvedEntry, ...]:
    return tuple(_resolve_entry(inventory, evidence, features, pod, entry) for entry in pod.spec.resource_claims)


def _resolve_entry(
    inventory: Inventory, evidence: Evidence, features: Features, pod: Pod, entry: PodResourceClaim
) -> ResolvedEntry:
    namespace, pod_name = pod.metadata.namespace, pod.metadata.name
    direct, template = sources(entry)
    name = direct
    if direct is None:
        if template is None:
            text = (
                f'pod "{namespace}/{pod_name}", spec.resourceClaim "{entry.name}": none of the supported fields are set'
            )
            return ResolvedEntry(entry, problem=ClaimProblem.SOURCE_UNKNOWN, text=text)
        recorded = next((s for s in pod.status.resource_claim_statuses if s.name == entry.name), None)
        if recorded is None:
            text = f'pod "{namespace}/{pod_name}": ResourceClaim not created yet'
            return ResolvedEntry(entry, problem=ClaimProblem.NOT_CREATED, text=text)
        name = recorded.resource_claim_name
        if name is None:
            return ResolvedEntry(entry)
    assert name is not None  # noqa: S101 - one of the two sources gave it
    key = Key(namespace, name)
    claim = inventory.claims.get(key)
    if claim is None:
        readable = evidence.complete(CLAIM_KIND, namespace)
        text = f'could not find ResourceClaim "{key}"' if readable else ""
        return ResolvedEntry(
            entry, key, problem=ClaimProblem.MISSING if readable else ClaimProblem.UNREADABLE, text=text
        )
    return _check(features, pod, ResolvedEntry(entry, key, claim), must_own=direct is None)


def _check(features: Features, pod: Pod, resolved: ResolvedEntry, must_own: bool) -> ResolvedEntry:
    claim = resolved.claim
    assert claim is not None  # noqa: S101
    entry, key = resolved.entry, resolved.name
    if claim.metadata.deletion_timestamp is not None:
        text = f'resourceclaim "{claim.metadata.name}" is being deleted'
        return ResolvedEntry(entry, key, claim, ClaimProblem.BEING_DELETED, text)
    if must_own and not is_for_pod(pod, claim, features):
        return ResolvedEntry(entry, key, claim, ClaimProblem.NOT_OWNED, _not_owned_text(pod, claim, features))
    return resolved


def _not_owned_text(pod: Pod, claim: ResourceClaim, features: Features) -> str:
    group = _accepted_group(pod, features)
    owners = f"neither Pod nor PodGroup {group} is the owner" if group else "Pod is not owner"
    return f"ResourceClaim {key_of(claim.metadata)} was not created for Pod {key_of(pod.metadata)} ({owners})"


# --- ownership and reservation --------------------------------------------------------------------------------------


def is_for_pod(pod: Pod, claim: ResourceClaim, features: Features) -> bool:
    """Whether the claim was made for this very pod, or for its PodGroup where that feature is on."""
    controller = claim.metadata.controller
    if controller is not None and controller.uid == pod.metadata.uid:
        return True
    group = _accepted_group(pod, features)
    return (
        bool(group)
        and controller is not None
        and (controller.kind, controller.name) == ("PodGroup", group)
        and controller.api_version.startswith(f"{_SCHEDULING_GROUP}/")
    )


def is_reserved_for(pod: Pod, claim: ResourceClaim, features: Features) -> bool:
    """Whether ``status.reservedFor`` names the pod or, where that feature is on, its PodGroup."""
    group = _accepted_group(pod, features)
    return any(_names(consumer, pod, group) for consumer in claim.status.reserved_for)


def _names(consumer: ConsumerReference, pod: Pod, group: str) -> bool:
    if consumer.uid == pod.metadata.uid:
        return True
    wanted = (_SCHEDULING_GROUP, "podgroups", group)
    return bool(group) and (consumer.api_group, consumer.resource, consumer.name) == wanted


def _accepted_group(pod: Pod, features: Features) -> str:
    group = pod.spec.scheduling_group
    return group.pod_group_name if features.workload_resource_claims and group is not None else ""


def consumer_limit(claim: ResourceClaim, features: Features) -> int:
    """For how many consumers a claim can be reserved; ``ResourceClaimReservedForMaxSize`` grew in 1.32."""
    old = isinstance(claim, ClassicResourceClaim) or features.minor <= _LAST_WITH_FEWER
    return MAX_RESERVED_FOR if old else MAX_CONSUMERS


def extended_claims(inventory: Inventory) -> Mapping[tuple[Key, str], ResourceClaim]:
    """The claims that the scheduler made for extended resources, by name and uid of the pod that controls them."""
    found: dict[tuple[Key, str], ResourceClaim] = {}
    for claim in inventory.claims.values():
        meta = claim.metadata
        if meta.annotations.get(EXTENDED_CLAIM_ANNOTATION) == "true":
            for owner in meta.owner_references:
                if owner.controller:
                    found.setdefault((Key(meta.namespace, owner.name), owner.uid), claim)
    return found


def _later_extended(
    found: Mapping[tuple[Key, str], ResourceClaim], before: ClusterState, after: ClusterState
) -> Mapping[tuple[Key, str], ResourceClaim] | None:
    """The same where no such claim is another one."""
    old, new = before.inventory.claims, after.inventory.claims
    keys = (*differences.changed(old, new), *differences.gone(old, new))
    claims = (each for key in keys for each in (old.get(key), new.get(key)) if each is not None)
    return None if any(EXTENDED_CLAIM_ANNOTATION in each.metadata.annotations for each in claims) else found


@derived("claims", later=_later_extended)
def known_extended_claims(state: ClusterState) -> Mapping[tuple[Key, str], ResourceClaim]:
    """The same of a state of the cluster."""
    return extended_claims(state.inventory)


def claim_names(pod: Pod) -> dict[str, str]:
    """By entry of the pod the claim that it names, or that was made from its template."""
    made = {status.name: status.resource_claim_name for status in pod.status.resource_claim_statuses}
    names = ((entry.name, sources(entry)[0] or made.get(entry.name)) for entry in pod.spec.resource_claims)
    return {entry: name for entry, name in names if name}


def claims_of(pod: Pod, inventory: Inventory) -> Iterator[ResourceClaim]:
    """The existing claims of a pod: of its entries and for its extended resources, ownership not checked."""
    names = [sources(entry)[0] for entry in pod.spec.resource_claims]
    names += [status.resource_claim_name for status in pod.status.resource_claim_statuses]
    if pod.status.extended_resource_claim_status is not None:
        names.append(pod.status.extended_resource_claim_status.resource_claim_name)
    for name in dict.fromkeys(name for name in names if name):
        claim = inventory.claims.get(Key(pod.metadata.namespace, name))
        if claim is not None:
            yield claim
