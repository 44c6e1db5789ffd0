"""get devices: every device in one list, filtered by what people look for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.ids import DeviceId, PoolId
from kubectl_dra.model.resource import Device, ResourceSlice
from kubectl_dra.reports.base import ReportRecord, Series
from kubectl_dra.reports.devices.device_state import AVAILABLE, DeviceState
from kubectl_dra.reports.devices.open_pool import PoolFacts, open_pool
from kubectl_dra.reports.devices.pool import DeviceRecord, device_records, pool_scope
from kubectl_dra.reports.scope import Scope, device_scope, usable_on
from kubectl_dra.selectors.evaluate import Outcome, SelectorSet


@dataclass(frozen=True, slots=True)
class DeviceFilter:
    """What to list; every condition given must hold. ``selectors`` are those of a class and of an expression.

    ``free``: a request without tolerations could get it, or a share of it. ``used``: somebody holds it, with admin
    access or without. ``tainted``: it has a taint of any effect. ``closed``: it is free but for its nodes, which take
    no new pods.
    """

    free: bool = False
    used: bool = False
    tainted: bool = False
    node: str | None = None
    selectors: tuple[SelectorSet, ...] = ()
    devices: Collection[DeviceId] | None = None
    pools: Iterable[PoolId] | None = None
    closed: bool = False


class ListedDevice(ReportRecord, frozen=True):
    """A device with the pool it belongs to; ``where`` is the scope that counts for it."""

    driver: str
    pool: str
    where: Scope
    device: DeviceRecord


@dataclass(frozen=True, slots=True)
class DeviceList:
    """The devices found, in a series: their records are larger than the devices, and there may be 400,000.

    ``count`` says how many without making them. ``errors``: selectors that failed, by text, with the number of devices;
    those devices are not listed.
    """

    items: Iterable[ListedDevice]
    count: Callable[[], int]
    errors: Mapping[str, int]


_Chosen = tuple[ResourceSlice, Device, Scope]


def device_list(state: ClusterState, wanted: DeviceFilter) -> DeviceList:
    """All devices that ``wanted`` lets through, by driver and pool, in their order in the pool."""
    errors: Counter[str] = Counter()
    found: Iterable[tuple[PoolId, Sequence[_Chosen]]] = Series(lambda: _found(state, wanted, errors))
    if wanted.selectors:
        # What they say is asked once, also because errors are to be known before the first device is shown.
        found = tuple(found)
    return DeviceList(Series(lambda: _listed(state, found)), lambda: sum(len(chosen) for _, chosen in found), errors)


def _found(
    state: ClusterState, wanted: DeviceFilter, errors: Counter[str]
) -> Iterator[tuple[PoolId, Sequence[_Chosen]]]:
    for pool in state.pools if wanted.pools is None else wanted.pools:
        if wanted.devices is None or any(device.pool_id == pool for device in wanted.devices):
            chosen = list(_chosen(open_pool(pool, state), wanted, errors))
            if chosen:
                yield pool, chosen


def _listed(state: ClusterState, found: Iterable[tuple[PoolId, Sequence[_Chosen]]]) -> Iterator[ListedDevice]:
    for pool, chosen in found:
        opened = open_pool(pool, state)
        pairs = [(slice_, device) for slice_, device, _ in chosen]
        records = device_records(opened, pool_scope(opened), pairs)
        for record, (_, _, where) in zip(records, chosen, strict=True):
            yield ListedDevice(pool.driver, pool.pool, where, record)


def _chosen(opened: PoolFacts, wanted: DeviceFilter, errors: Counter[str]) -> Iterator[_Chosen]:
    for slice_, device in opened.devices():
        if wanted.devices is not None and opened.device_id(device) not in wanted.devices:
            continue
        scope = device_scope(device, slice_, opened.state)
        if wanted.node is not None and not usable_on(wanted.node, scope, opened.state):
            continue
        if _in_state(opened, slice_, device, wanted) and _selected(opened.id.driver, device, wanted.selectors, errors):
            yield slice_, device, scope


def _selected(driver: str, device: Device, selectors: Iterable[SelectorSet], errors: Counter[str]) -> bool:
    """Whether all of them match; an error of the first that does not is counted."""
    refusal = next((d for each in selectors if (d := each.of(driver, device)).outcome is not Outcome.MATCHES), None)
    if refusal is not None and refusal.outcome in (Outcome.ERROR, Outcome.UNDECIDED):
        errors[refusal.error] += 1
    return refusal is None


def _in_state(opened: PoolFacts, slice_: ResourceSlice, device: Device, wanted: DeviceFilter) -> bool:
    if not (wanted.free or wanted.used or wanted.tainted or wanted.closed):
        return True
    taints = opened.taints(device, slice_)
    if wanted.tainted and not taints:
        return False
    if wanted.used and not opened.state.inventory.holdings_by_device.get(opened.device_id(device)):
        return False
    if not (wanted.free or wanted.closed):
        return True
    state = opened.state_of(device, slice_, any(taint.prevents for taint in taints))
    return (not wanted.free or state in AVAILABLE) and (not wanted.closed or state is DeviceState.CLOSED)
