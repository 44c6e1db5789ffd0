"""What is seen of devices by who may not read everything: how many match, and who holds them.

A device that no claim of the namespaces that were read holds may be held by one of another. Where all claims were read,
and nodes were not, it is certain that no node has room if all devices that match are in use.
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

    ``namespaces`` is empty where all claims were read, and all devices are held. ``holders``: pods, or claims that no
    pod uses, as ``NAMESPACE/NAME``.
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
    """Of a pod whose verdict is open because claims of other namespaces, or nodes, could not be read."""
    evidence = state.evidence
    known, all_ = all(map(evidence.complete, (_SLICE, "DeviceClass"))), evidence.complete(_CLAIM)
    first, read_in = diagnosis.causes[0].code if diagnosis.causes else None, evidence.namespaces_read(_CLAIM)
    open_ = diagnosis.verdict is Verdict.UNKNOWN and first is Code.EVIDENCE_MISSING
    if not (open_ and known and (all_ or read_in)):
        return ()
    found = (_visible(ask, request, state, () if all_ else read_in) for ask in asks for request in ask.requests)
    return tuple(each for each in found if not all_ or 0 < each.matching == each.held)


def _visible(ask: ClaimAsk, request: RequestAsk, state: ClusterState, read_in: tuple[str, ...]) -> VisibleDevices:
    devices = list(_matching(request, state))
    held = [each for each in devices if _is_held(each, state, shared=bool(read_in))]
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


def _is_held(device: DeviceId, state: ClusterState, *, shared: bool) -> bool:
    """Whether a claim has it; not ``shared``: so that no other one can."""
    published = state.named(device)
    if not shared and any(each.allow_multiple_allocations for _, each in published):
        return False
    holdings = state.inventory.holdings_by_device.get(device, ())
    return any(shared or not each.result.admin_access for each in holdings)


def _holders(devices: Iterable[DeviceId], state: ClusterState) -> Iterator[str]:
    for device in devices:
        for holding in state.inventory.holdings_by_device.get(device, ()):
            claim = holding.claim
            names = [user.name for user in claim.status.reserved_for] or [claim.metadata.name]
            yield from (f"{claim.metadata.namespace}/{name}" for name in names)
