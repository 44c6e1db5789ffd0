"""What lets the claims of waiting pods through a ResourceQuota: a higher limit, or the end of a pod that is charged.

All pods whose claims the quota forbids are looked at together: the claim controller tries each of them again after
pauses of its own (upstream: pkg/controller/resourceclaim/controller.go, a rate-limited queue), so that nobody knows
which one gets what becomes possible. The claims are then made, and the pods placed one after the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.gates import quota
from kubectl_dra.diagnosis.gates.pending import is_pending
from kubectl_dra.diagnosis.pod.placing import placed, with_made
from kubectl_dra.diagnosis.records import ObjectRef, PodDiagnosis, QuotaShortage
from kubectl_dra.diagnosis.remedies.candidate import Candidate, Case
from kubectl_dra.diagnosis.remedies.changes import Change, without_pods
from kubectl_dra.diagnosis.remedies.records import Action, EditClaim, RaiseQuota, RemedyKind, Wait
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.usage import is_terminal
from kubectl_dra.scheduler.claims import sources

#: How :class:`Wait` says that it is for a pod to end.
POD_ENDS: Final = "Pod "
_COST: Final = 55
_PODS: Final = 16
_NODES: Final = 500
_ENDING: Final = 2
#: What makes pods that run to an end.
_RUNS_TO_AN_END: Final = "Job"


class Refused(msgspec.Struct, frozen=True):
    """A pod that waits, with what its claims that do not exist would be charged."""

    key: Key
    charge: Mapping[str, int]


def candidates(case: Case) -> Iterator[Candidate]:
    """A limit that is high enough for as many of the waiting pods as find devices, and pods whose end is enough."""
    found = tuple(each.detail for each in case.causes(Code.QUOTA_EXCEEDED) if isinstance(each.detail, QuotaShortage))
    if found:
        yield from _ending(case, found)
        yield _raised(case, found)


def waiting(case: Case) -> tuple[Refused, ...]:
    """The pods of the namespace whose claims the quotas forbid now, as they do those of the pod, which comes first."""
    inventory, namespace = case.state.inventory, case.pod.metadata.namespace
    limits = [each.detail for each in case.causes(Code.QUOTA_EXCEEDED) if isinstance(each.detail, QuotaShortage)]
    pods = (pod for pod in inventory.pods.values() if pod.metadata.namespace == namespace)
    others = (pod for pod in pods if key_of(pod.metadata) != case.diagnosis.pod.key and _waits(pod))
    ordered = sorted(others, key=lambda pod: (pod.metadata.creation_timestamp or "", key_of(pod.metadata)))
    refused = (Refused(key_of(pod.metadata), _charge(case, pod)) for pod in ordered)
    own = Refused(case.diagnosis.pod.key, _charge(case, case.pod))
    return own, *(each for each in refused if any(_exceeds(each, limit) for limit in limits))


def enough_for(
    state: ClusterState, diagnosis: PodDiagnosis, actions: Sequence[Action], changed: Inventory | None
) -> tuple[int, int, int] | None:
    """For how many of the waiting pods quotas are enough in the changed cluster, and of how many: None where for all.

    At last: how many devices each may request so that it is enough for all of them; 0 where that is not the change.
    """
    edits = [each for each in actions if isinstance(each, EditClaim) and each.template is not None]
    waits = [each for each in actions if isinstance(each, Wait) and each.for_whom.startswith(POD_ENDS)]
    case = Case(state, diagnosis)
    if changed is None or not (edits or waits) or not any(True for _ in case.causes(Code.QUOTA_EXCEEDED)):
        return None
    pods = waiting(case)
    charge = _charge(replace(case, state=state.changed(changed)), case.pod)
    left: dict[str, int] = {}
    for name, amount in _left(case, changed, charge):
        left[name] = min(amount, left.get(name, amount))
    admitted = min((amount // charge[name] for name, amount in left.items()), default=len(pods))
    if admitted >= len(pods):
        return None
    number = int(edits[0].after.split()[-1]) if len(edits) == 1 and edits[0].field in ("count", "allocationMode") else 0
    each = min((amount // len(pods) for name, amount in left.items() if charge[name] == number), default=0)
    return max(admitted, 1), len(pods), each


def _left(case: Case, inventory: Inventory, charge: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """What the quotas of the pod's namespace leave of what is charged."""
    for each in inventory.quotas.values():
        limits = each.status.hard or each.spec.hard
        for name in limits.keys() & charge.keys() if each.metadata.namespace == case.pod.metadata.namespace else ():
            if charge[name] > 0:
                yield name, max(limits[name].sub(each.status.used.get(name, quota.NOTHING)).ceil(), 0)


def _waits(pod: Pod) -> bool:
    return is_pending(pod) and not pod.spec.node_name and pod.metadata.deletion_timestamp is None


def _charge(case: Case, pod: Pod) -> Counter[str]:
    inventory, total = case.state.inventory, Counter[str]()
    for _, template in _not_made(inventory, pod):
        spec = inventory.templates[template].spec.spec
        total.update(quota.usage(spec, inventory.classes, case.state.features.extended_resource))
    return total


def _exceeds(pod: Refused, limit: QuotaShortage) -> bool:
    used, hard = Quantity.parse(limit.used), Quantity.parse(limit.hard)
    return used.add(quota.quantity(limit.resource, pod.charge.get(limit.resource, 0))).cmp(hard) > 0


def _not_made(inventory: Inventory, pod: Pod) -> Iterator[tuple[str, Key]]:
    """The entries whose claim does not exist, with the template that it is made from."""
    made = {each.name for each in pod.status.resource_claim_statuses}
    for entry in pod.spec.resource_claims:
        template = Key(pod.metadata.namespace, sources(entry)[1] or "")
        if entry.name not in made and template in inventory.templates:
            yield entry.name, template


# --- a higher limit -------------------------------------------------------------------------------------------------


def _raised(case: Case, limits: Sequence[QuotaShortage]) -> Candidate:
    pods = waiting(case)
    tried = pods[:_PODS]
    nodes = _places(case, limits, tried)
    enough = tried[: max(len(nodes), 1)]
    known = len(pods) == len(tried) and len(case.state.inventory.nodes) <= _NODES
    few = len(enough) > 1
    actions = tuple(
        RaiseQuota(
            ObjectRef("ResourceQuota", case.pod.metadata.namespace, limit.quota),
            limit.resource,
            str(_needed(limit, enough).sub(Quantity.parse(limit.hard))),
            limit.hard,
            str(_needed(limit, enough)),
            len(enough),
            len(pods),
            str(_needed(limit, tried[:1])) if few else "",
            no_room=known and len(nodes) < len(pods),
            nodes=tuple(sorted(set(nodes))) if few else (),
        )
        for limit in {(each.quota, each.resource): each for each in limits}.values()
    )
    return Candidate(RemedyKind.RAISE_QUOTA, actions, _COST, (_admitting(limits, enough),))


def _needed(limit: QuotaShortage, pods: Sequence[Refused]) -> Quantity:
    """What is used with the claims of these pods; what is no claim of a template is as much as was requested."""
    charged = sum(each.charge.get(limit.resource, 0) for each in pods)
    more = quota.quantity(limit.resource, charged) if charged else Quantity.parse(limit.requested)
    return Quantity.parse(limit.used).add(more)


def _places(case: Case, limits: Sequence[QuotaShortage], pods: Sequence[Refused]) -> list[str]:
    """The nodes of as many of the pods as are placed one after the other, the pod itself first."""
    if len(pods) < 2 or len(case.state.inventory.nodes) > _NODES:
        return []
    state, found = case.state.changed(_admitting(limits, pods)(case.state.inventory)), list[str]()
    for each in pods:
        then = placed(state, each.key, list(state.inventory.nodes))
        if then is None:
            break
        state = then
        found.append(state.inventory.pods[each.key].spec.node_name)
    return found


def _admitting(limits: Sequence[QuotaShortage], pods: Sequence[Refused]) -> Change:
    """The limits as high as these pods need, and their claims made."""

    def change(inventory: Inventory) -> Inventory:
        quotas = dict(inventory.quotas)
        for limit in limits:
            key, needed = Key(pods[0].key.namespace, limit.quota), _needed(limit, pods)
            if key in quotas:
                hard = {**(quotas[key].status.hard or quotas[key].spec.hard), limit.resource: needed}
                status = msgspec.structs.replace(quotas[key].status, hard=hard)
                quotas[key] = msgspec.structs.replace(quotas[key], status=status)
        return _with_claims(inventory.replace(quotas=quotas), [each.key for each in pods])

    return change


def _with_claims(inventory: Inventory, pods: Collection[Key]) -> Inventory:
    """With the claims that these pods still lack; no quota is charged for them."""
    for key in pods:
        for entry, template in _not_made(inventory, inventory.pods[key]):
            inventory = with_made(inventory, key, entry, inventory.templates[template])
    return inventory


# --- the end of a pod -----------------------------------------------------------------------------------------------


def _ending(case: Case, limits: Sequence[QuotaShortage]) -> Iterator[Candidate]:
    """Pods that run to an end and whose claims count enough.

    A claim that was made for a pod is deleted when that has finished (upstream: syncClaim of the claim controller).
    """
    found: dict[Key, list[ObjectRef]] = {}
    for use in limits[0].users:
        claim = case.state.inventory.claims.get(use.claim.key)
        owner = claim.metadata.controller if claim is not None else None
        pod = case.state.inventory.pods.get(Key(use.claim.namespace, owner.name)) if owner is not None else None
        if pod is not None and owner is not None and owner.uid == pod.metadata.uid and _ends(pod):
            found.setdefault(key_of(pod.metadata), []).append(use.claim)
    for key, claims in list(found.items())[:_ENDING]:
        if all(_is_enough(case, limit, claims) for limit in limits):
            change = _without(case, key, claims)
            own = case.is_sibling(case.state.inventory.pods[key])
            action = Wait(f"{POD_ENDS}{key}", tuple(claims), own=own)
            yield Candidate(RemedyKind.WAIT, (action,), 0, (change,))


def _ends(pod: Pod) -> bool:
    controller = pod.metadata.controller
    return controller is not None and controller.kind == _RUNS_TO_AN_END and not is_terminal(pod)


def _is_enough(case: Case, limit: QuotaShortage, claims: Collection[ObjectRef]) -> bool:
    given_back = sum(use.amount for use in limit.users if use.claim in claims)
    own = Refused(case.diagnosis.pod.key, _charge(case, case.pod))
    less = Quantity.parse(limit.used).sub(quota.quantity(limit.resource, given_back))
    return not _exceeds(own, msgspec.structs.replace(limit, used=str(less)))


def _without(case: Case, pod: Key, ended: Collection[ObjectRef]) -> Change:
    """The pod and its claims gone, what they were charged given back, and the waiting pod's own claims made."""
    waits, extended = case.diagnosis.pod.key, case.state.features.extended_resource

    def change(inventory: Inventory) -> Inventory:
        quotas = inventory.quotas
        for ref in ended:
            charge = quota.usage(inventory.claims[ref.key].spec, inventory.classes, extended)
            quotas = quota.charged(quotas, pod.namespace, {name: -amount for name, amount in charge.items()})
        left = without_pods({pod})(inventory)
        return _with_claims(left.replace(quotas=quotas), [waits])

    return change
