"""taint-device --list: every rule and every taint that drivers set, and whom it hits."""

from __future__ import annotations

from collections.abc import Iterable

from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.ids import DeviceId
from kubectl_dra.model.taint_plan import Hit
from kubectl_dra.reports.base import ReportRecord
from kubectl_dra.reports.taints.taint_hits import DeviceChange, hits
from kubectl_dra.reports.taints.taint_list import TaintRow, TaintSource, source_row, taint_sources
from kubectl_dra.reports.taints.taint_rules import is_own


class ListedTaint(ReportRecord, frozen=True):
    """One rule or driver's taint; ``own``: this program made the rule, and can change and remove it.

    ``devices`` are all that it is on, also those that are no longer published but still allocated.
    """

    taint: TaintRow
    own: bool
    devices: tuple[str, ...]
    hits: tuple[Hit, ...]


def listed_taints(facts: ClusterState) -> tuple[ListedTaint, ...]:
    """Rules by name, then drivers' taints by pool and key."""
    return tuple(_listed(source, facts) for source in taint_sources(facts))


def _listed(source: TaintSource, facts: ClusterState) -> ListedTaint:
    rule = source.rule
    names = frozenset((rule.metadata.name if rule is not None else "driver",))
    devices = tuple(_devices(source, facts))
    changes = [DeviceChange(device, (), (source.taint,), names) for device in devices]
    return ListedTaint(
        source_row(source, facts), rule is not None and is_own(rule), tuple(map(str, devices)), hits(changes, facts)
    )


def _devices(source: TaintSource, facts: ClusterState) -> Iterable[DeviceId]:
    """The published devices, and those that are only allocated: a rule counts for them as well."""
    rule = source.rule
    held = facts.inventory.holdings_by_device if rule is not None and facts.features.device_taint_rules else ()
    gone = (device for device in held if rule is not None and facts.selects(rule, device))
    return dict.fromkeys((*source.devices, *gone))
