"""What is seen of devices by who may read the claims of some namespaces only: how many match, and who holds some.

A device that no claim of these namespaces holds may be held by one of another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.explain.class_facts import Offered, offers
from kubectl_dra.diagnosis.records import PodDiagnosis, Verdict
from kubectl_dra.model.ids import DeviceId
from kubectl_dra.reports.base import ReportRecord
from kubectl_dra.reports.claims.ask import ClaimAsk, RequestAsk
from kubectl_dra.selectors.compiling import Selector
from kubectl_dra.selectors.evaluate import Outcome, SelectorSet

_CLAIM, _SLICE = "ResourceClaim", "ResourceSlice"


class VisibleDevices(ReportRecord, frozen=True):
    """``matching`` devices of a request, of which claims in ``namespaces`` hold ``held``, for ``holders``.

    ``holders``: pods, or claims that no pod uses, as ``NAMESPACE/NAME``.
    """

    claim: str
    request: str
    matching: int
    held: int
    holders: tuple[str, ...]
    namespaces: tuple[str, ...]


def visible_devices(
    diagnosis: PodDiagnosis, asks: Sequence[ClaimAsk], state: ClusterState
) -> tuple[VisibleDevices, ...]:
    """Of a pod whose verdict is open because claims of other namespaces could not be read; empty for all others."""
    evidence = state.evidence
    known, read_in = all(map(evidence.complete, (_SLICE, "DeviceClass"))), evidence.namespaces_read(_CLAIM)
    first = diagnosis.causes[0].code if diagnosis.causes else None
    if diagnosis.verdict is not Verdict.UNKNOWN or first is not Code.EVIDENCE_MISSING or not known or not read_in:
        return ()
    return tuple(_visible(ask, request, state, read_in) for ask in asks for request in ask.requests)


def _visible(ask: ClaimAsk, request: RequestAsk, state: ClusterState, read_in: tuple[str, ...]) -> VisibleDevices:
    devices = list(_matching(request, state))
    held = [each for each in devices if state.inventory.holdings_by_device.get(each)]
    holders = tuple(dict.fromkeys(_holders(held, state)))
    return VisibleDevices(ask.name, request.name, len(devices), len(held), holders, read_in)


def _matching(request: RequestAsk, state: ClusterState) -> Iterator[DeviceId]:
    facts = offers(state).of(request.device_class)
    texts = (Selector(None, place, text) for place, text in enumerate(request.selectors))
    selectors = SelectorSet(texts, state.features.shows_sharing)
    found: Sequence[Offered] = facts.devices if facts is not None else ()
    for each in found:
        if selectors.of(each.driver, each.device).outcome is Outcome.MATCHES:
            yield DeviceId(each.driver, each.slice.spec.pool.name, each.device.name)


def _holders(devices: Iterable[DeviceId], state: ClusterState) -> Iterator[str]:
    for device in devices:
        for holding in state.inventory.holdings_by_device.get(device, ()):
            claim = holding.claim
            names = [user.name for user in claim.status.reserved_for] or [claim.metadata.name]
            yield from (f"{claim.metadata.namespace}/{name}" for name in names)
