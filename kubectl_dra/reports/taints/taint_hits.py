"""Whom a change of taints hits: pod by pod, and the claims that hold a device without a pod.

Evidence: ``status.allocation`` of claims with the tolerations stored in it, ``status.reservedFor``, and pods. What the
eviction controller makes of it is decided in ``diagnosis.pod.eviction``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.eviction import EvictionVerdict, endured, of_pod, worst
from kubectl_dra.model.core import Pod
from kubectl_dra.model.held import device_of, results_of
from kubectl_dra.model.ids import DeviceId
from kubectl_dra.model.inventory import Holding, key_of
from kubectl_dra.model.resource import DeviceTaint, ResourceClaim
from kubectl_dra.model.taint_plan import Fate, Hit, Use, Why
from kubectl_dra.model.taint_text import NO_EXECUTE
from kubectl_dra.model.usage import is_terminal
from kubectl_dra.reports.devices.holders import is_pod
from kubectl_dra.scheduler.claims import claims_of


@dataclass(frozen=True, slots=True)
class DeviceChange:
    """What changes on one device: the taints that ``rules`` put on it, ``before`` and ``after``."""

    device: DeviceId
    before: tuple[DeviceTaint, ...] = ()
    after: tuple[DeviceTaint, ...] = ()
    rules: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _User:
    """A pod or a consumer that could not be read; both are None for a claim that no pod uses."""

    namespace: str
    name: str = ""
    uid: str = ""
    pod: Pod | None = None


def hits(changes: Sequence[DeviceChange], state: ClusterState) -> tuple[Hit, ...]:
    """Everybody who holds a device of ``changes``, the worst fate first."""
    users: dict[tuple[str, str, str, str], _User] = {}
    uses: defaultdict[tuple[str, str, str, str], list[Use]] = defaultdict(list)
    rules: frozenset[str] = frozenset().union(*(change.rules for change in changes))
    for change in changes:
        for holding in state.inventory.holdings_by_device.get(change.device, ()):
            for user in _users(holding.claim, state):
                # Claims without a pod stand for themselves.
                key = (user.namespace, user.name, user.uid, "" if user.name else holding.claim.metadata.name)
                users[key] = user
                uses[key].append(_use(user, holding, change, state))
    found = (_hit(user, uses[key], rules, state) for key, user in users.items())
    return tuple(sorted(found, key=_order))


def _order(hit: Hit) -> tuple[tuple[int, int], str, str, str]:
    verdict = EvictionVerdict(hit.fate, hit.why, hit.seconds)
    return verdict.rank, hit.namespace, hit.pod, hit.uses[0].claim


def _users(claim: ResourceClaim, state: ClusterState) -> Iterator[_User]:
    """Unfinished pods that refer to the claim, consumers that could not be read, or the claim alone."""
    namespace = claim.metadata.namespace
    pods = state.inventory.pods_by_claim.get(key_of(claim.metadata), ())
    users = [_User(namespace, p.metadata.name, p.metadata.uid, p) for p in pods if not is_terminal(p)]
    if not state.evidence.users_known(namespace):
        known = {user.uid for user in users}
        references = (r for r in claim.status.reserved_for if is_pod(r) and r.uid not in known)
        users += [_User(namespace, reference.name, reference.uid) for reference in references]
    yield from users or [_User(namespace)]


def _use(user: _User, holding: Holding, change: DeviceChange, state: ClusterState) -> Use:
    claim, result = holding.claim, holding.result
    after = worst(endured(result.tolerations, taint) for taint in change.after)
    before = worst(endured(result.tolerations, taint) for taint in change.before)
    verdict = _verdict(user, claim, after, state)
    if not verdict.evicts and _verdict(user, claim, before, state).evicts:
        verdict = EvictionVerdict(Fate.SPARED, after.why)
    return Use(
        device=str(change.device),
        claim=claim.metadata.name,
        request=result.request,
        share_id=result.share_id or "",
        consumed_capacity={name: str(amount) for name, amount in sorted(result.consumed_capacity.items())},
        admin_access=bool(result.admin_access),
        extended_resource=_extended_resource(user.pod, holding),
        fate=verdict.fate,
        why=verdict.why,
        seconds=verdict.seconds,
    )


def _verdict(user: _User, claim: ResourceClaim, verdict: EvictionVerdict, state: ClusterState) -> EvictionVerdict:
    if user.pod is not None:
        return of_pod(user.pod, claim, verdict, state.features)
    if not user.name:
        return EvictionVerdict(Fate.KEPT, Why.NO_POD)
    return EvictionVerdict(Fate.UNCERTAIN, Why.NOT_READ) if verdict.evicts else verdict


def _extended_resource(pod: Pod | None, holding: Holding) -> str:
    """The resource that the pod asked for where it has the claim only through that; empty for claims of its own."""
    status = pod.status.extended_resource_claim_status if pod is not None else None
    if status is None or status.resource_claim_name != holding.claim.metadata.name:
        return ""
    named = (m.resource_name for m in status.request_mappings if m.request_name == holding.result.request)
    return next(named, "extended resource")


def _hit(user: _User, uses: list[Use], rules: frozenset[str], state: ClusterState) -> Hit:
    first = min(uses, key=lambda use: EvictionVerdict(use.fate, use.why, use.seconds).rank)
    return Hit(
        namespace=user.namespace,
        pod=user.name,
        uid=user.uid,
        node=user.pod.spec.node_name if user.pod is not None else "",
        fate=first.fate,
        why=first.why,
        seconds=first.seconds,
        uses=tuple(uses),
        anyway=_anyway(user.pod, rules, state) if user.pod is not None else (),
        controller=user.pod.metadata.controller.kind if user.pod is not None and user.pod.metadata.controller else "",
    )


def _anyway(pod: Pod, rules: frozenset[str], state: ClusterState) -> tuple[str, ...]:
    """What evicts the pod besides ``rules``: names of other rules, and ``driver``."""
    found: set[str] = set()
    for claim in claims_of(pod, state.inventory):
        for result in results_of(claim):
            for source, taint in _evicting(device_of(result), state):
                verdict = endured(result.tolerations, taint)
                if source not in rules and of_pod(pod, claim, verdict, state.features).evicts:
                    found.add(source)
    return tuple(sorted(found))


def _evicting(device: DeviceId, state: ClusterState) -> Iterator[tuple[str, DeviceTaint]]:
    for rule in state.inventory.taint_rules.values():
        if rule.spec.taint.effect == NO_EXECUTE and state.selects(rule, device):
            yield rule.metadata.name, rule.spec.taint
    for taint in driver_taints(device, state):
        if taint.effect == NO_EXECUTE:
            yield "driver", taint


def driver_taints(device: DeviceId, state: ClusterState) -> Iterable[DeviceTaint]:
    """The taints that the driver published with a device."""
    for _, published in state.inventory.named(device):
        yield from published.taints
