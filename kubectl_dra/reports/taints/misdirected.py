"""Rules that are on no device because one name in their selector is wrong: which is meant, and whom that would hit."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.base import with_spec
from kubectl_dra.model.resource import DeviceTaintRule
from kubectl_dra.model.taint_plan import Hit
from kubectl_dra.reports.base import ReportRecord
from kubectl_dra.reports.taints.published_names import PublishedNames
from kubectl_dra.reports.taints.taint_hits import DeviceChange, hits
from kubectl_dra.selectors.mistyped import KnownNames

_SHOWN: Final = 20


class RuleCorrection(ReportRecord, frozen=True):
    """With ``field`` of its deviceSelector at ``value`` the rule would be on ``devices`` (the first 20 of ``number``).

    ``hits``: whom it would hit then.
    """

    field: str
    value: str
    devices: tuple[str, ...]
    number: int
    hits: tuple[Hit, ...]


def correction(rule: DeviceTaintRule, state: ClusterState, published: PublishedNames) -> RuleCorrection | None:
    """The only name like a wrong one that is written with which the rule is on any device; None where it is on some.

    None too where several names do as well, of one field or of two, or where slices could not be read. A name that
    is published anywhere is not a wrong one.
    """
    known = state.evidence.complete("ResourceSlice") and state.features.device_taint_rules
    if rule.spec.device_selector is None or not known or next(iter(state.selected(rule)), None) is not None:
        return None
    fields = (("driver", published.drivers), ("pool", published.pools()), ("device", published.devices))
    found = list(islice((one for field, names in fields for one in _with_another(rule, field, names, state)), 2))
    return found[0] if len(found) == 1 else None


def _with_another(
    rule: DeviceTaintRule, field: str, names: KnownNames, state: ClusterState
) -> Iterator[RuleCorrection]:
    selector = rule.spec.device_selector
    written = getattr(selector, field)
    if selector is None or written is None:
        return
    for name in names.meant(written):
        changed = with_spec(rule, device_selector=msgspec.structs.replace(selector, **{field: name}))
        devices = list(state.selected(changed))
        if devices:
            rules = frozenset((rule.metadata.name,))
            changes = [DeviceChange(device, (), (rule.spec.taint,), rules) for device in devices]
            shown = tuple(map(str, devices[:_SHOWN]))
            yield RuleCorrection(field, name, shown, len(devices), hits(changes, state))
