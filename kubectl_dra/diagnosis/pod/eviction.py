"""What the eviction controller does to a pod whose claim holds a tainted device.

Upstream: pkg/controller/devicetainteviction (claimEvictionTime, podEvictionTime). It reads the tolerations of the
allocation result, not of the claim's spec, and only those count whose effect is literally NoExecute: a toleration
without effect lets a claim have the device and does not protect its pods. What a taint does to new allocations is
decided in ``allocation.input.taints``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from kubectl_dra.allocation.input.taints import tolerates
from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.clock import parse_time
from kubectl_dra.model.core import Pod
from kubectl_dra.model.features import Features
from kubectl_dra.model.ids import DeviceId
from kubectl_dra.model.quantity import wrapped
from kubectl_dra.model.resource import DeviceTaint, DeviceToleration, ResourceClaim
from kubectl_dra.model.taint_plan import Fate, Why
from kubectl_dra.model.taint_text import NO_EXECUTE
from kubectl_dra.scheduler.claims import is_for_pod, is_reserved_for, sources

_EXTENDED_MAY_BE_EVICTED_SINCE: Final = 37
_SECOND: Final = 10**9  # in nanoseconds
_RANK: Final = {fate: rank for rank, fate in enumerate(Fate)}


class EvictionVerdict(NamedTuple):
    """What becomes of a pod; ``seconds`` (from the taint's ``timeAdded``) where a toleration ends."""

    fate: Fate
    why: Why
    seconds: int | None = None

    @property
    def rank(self) -> tuple[int, int]:
        """Smaller is worse, and earlier."""
        return _RANK[self.fate], self.seconds or 0

    @property
    def evicts(self) -> bool:
        """Whether the controller means to delete the pod, at some time."""
        return self.fate in (Fate.EVICTED, Fate.LATER, Fate.ON_BINDING)


HARMLESS: Final = EvictionVerdict(Fate.KEPT, Why.NO_EVICTION)


def endured(tolerations: Sequence[DeviceToleration], taint: DeviceTaint) -> EvictionVerdict:
    """What a taint does to pods on nodes, by the tolerations of the allocation result alone.

    Of several matching tolerations the one without tolerationSeconds counts, else the shortest. As upstream multiplies
    it (claimEvictionTime: time.Duration, an int64 of nanoseconds), more than 292 years may come out as no time at all.
    """
    if taint.effect != NO_EXECUTE:
        return HARMLESS
    matching = [each for each in tolerations if tolerates(each, taint)]
    times = [each.toleration_seconds for each in matching if each.effect == NO_EXECUTE]
    if None in times:
        return EvictionVerdict(Fate.KEPT, Why.TOLERATED)
    seconds = min((max(time, 0) for time in times if time is not None), default=None)
    if seconds is not None:
        seconds = max(wrapped(seconds * _SECOND) // _SECOND, 0)
    if seconds:
        return EvictionVerdict(Fate.LATER, Why.TOLERATED_FOR, seconds)
    why = Why.TOLERATED_FOR if seconds == 0 else Why.EMPTY_EFFECT if matching else Why.NOT_TOLERATED
    return EvictionVerdict(Fate.EVICTED, why, seconds)


def evicts_at_once(
    tolerations: Sequence[DeviceToleration], taint: DeviceTaint, now: datetime
) -> EvictionVerdict | None:
    """The verdict on a pod that gets the device now, if that is its end: tolerationSeconds counts from ``timeAdded``.

    Upstream: DeviceToleration.tolerationSeconds, "<time when taint was added> + <toleration seconds>".
    """
    verdict = endured(tolerations, taint)
    if verdict.fate is Fate.EVICTED:
        return verdict
    added = parse_time(taint.time_added) if verdict.fate is Fate.LATER else None
    over = added is not None and added + timedelta(seconds=verdict.seconds or 0) <= now
    return verdict if over else None


def taints_of(state: ClusterState, device: DeviceId) -> Iterator[tuple[DeviceTaint, str]]:
    """The taints of a device, each with the rule that sets it: the driver's, which have none, come first."""
    for _, published in state.named(device):
        yield from ((taint, "") for taint in published.taints)
    yield from ((rule.spec.taint, rule.metadata.name) for rule in state.rules if state.selects(rule, device))


def worst(verdicts: Iterable[EvictionVerdict]) -> EvictionVerdict:
    """The verdict that comes first; harmless for none."""
    return min(verdicts, key=lambda verdict: verdict.rank, default=HARMLESS)


def of_pod(pod: Pod, claim: ResourceClaim, verdict: EvictionVerdict, features: Features) -> EvictionVerdict:
    """What ``verdict`` on a use of one of ``claim``'s devices means for one pod that refers to the claim."""
    if not verdict.evicts:
        return verdict
    if pod.metadata.deletion_timestamp is not None:
        return EvictionVerdict(Fate.KEPT, Why.DELETING)
    if not _names(pod, claim, features):
        # Claims that a pod only has through an extended resource: controllers up to 1.37.1 leave such pods alone,
        # and the library of 1.37.2 brought what a later one needs to find them.
        extended = pod.status.extended_resource_claim_status
        if extended is not None and extended.resource_claim_name == claim.metadata.name:
            fate = Fate.UNCERTAIN if features.minor >= _EXTENDED_MAY_BE_EVICTED_SINCE else Fate.KEPT
            return EvictionVerdict(fate, Why.EXTENDED_RESOURCE)
        return EvictionVerdict(Fate.KEPT, Why.NOT_RESERVED)
    if not pod.spec.node_name:
        # The scheduler doesn't look at taints of devices that a claim already has; the controller does, afterwards.
        return EvictionVerdict(Fate.ON_BINDING, verdict.why, verdict.seconds)
    return verdict if is_reserved_for(pod, claim, features) else EvictionVerdict(Fate.KEPT, Why.NOT_RESERVED)


def _names(pod: Pod, claim: ResourceClaim, features: Features) -> bool:
    """Whether an entry of the pod stands for this claim; one from a template only if the claim was made for the pod."""
    created = {status.name: status.resource_claim_name for status in pod.status.resource_claim_statuses}
    for entry in pod.spec.resource_claims:
        direct, template = sources(entry)
        if direct is not None and direct == claim.metadata.name:
            return True
        recorded = created.get(entry.name) if direct is None and template is not None else None
        if recorded == claim.metadata.name and is_for_pod(pod, claim, features):
            return True
    return False
