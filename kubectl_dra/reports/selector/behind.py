"""What stands behind devices on which a selector fails: classes that keep them away, and searches that really end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from kubectl_dra.allocation.errors import SelectorFailed
from kubectl_dra.diagnosis.explain.ended_searches import ended_by_selectors
from kubectl_dra.model.ids import DeviceId
from kubectl_dra.model.resource import ResourceClaim
from kubectl_dra.reports.selector.records import FailingSearch
from kubectl_dra.reports.selector.scoping import ScopedDevice, Setting
from kubectl_dra.selectors.evaluate import Outcome, SelectorSet

# Enough to name one; a cluster with more classes than that which let a device through is told of the first.
_MAX_TRIED: Final = 8


@dataclass(frozen=True, slots=True)
class Behind:
    """How classes stand to devices on which a selector fails.

    Only classes that let some of the devices through that are meant: ``keeping`` let none of the failing ones through,
    ``passing`` some.
    """

    keeping: tuple[str, ...]
    passing: tuple[str, ...]


def behind_classes(setting: Setting, failing: Sequence[ScopedDevice], meant: Sequence[ScopedDevice]) -> Behind:
    """Every class that compiles, tried on the failing devices and on those that are meant."""
    keeping: list[str] = []
    passing: list[str] = []
    for name, device_class in setting.classes.items():
        selectors = SelectorSet.of_class(device_class, setting.facts.features.shows_sharing)
        if selectors.problem is not None or not _let_through(selectors, meant):
            continue
        (passing if any(selectors.matches(m.driver, m.device) for m in failing) else keeping).append(name)
    return Behind(tuple(keeping), tuple(passing))


def _let_through(selectors: SelectorSet, members: Iterable[ScopedDevice]) -> bool:
    """Whether they match any of the devices before they fail on one."""
    outcomes = (selectors.of(member.driver, member.device).outcome for member in members)
    return next((o for o in outcomes if o in (Outcome.MATCHES, Outcome.ERROR)), None) is Outcome.MATCHES


def failing_searches(
    setting: Setting,
    classes: Iterable[str],
    claim_for: Callable[[str], ResourceClaim],
    is_ours: Callable[[SelectorFailed], bool],
    failing: Mapping[DeviceId, tuple[ScopedDevice, bool]],
) -> Iterator[FailingSearch]:
    """For each class the first node by name on which the search ends with an error that is ours.

    Up to two per class: one that ends at a device that is meant, one that ends at another.
    ``failing``: the devices in scope on which the selectors fail, and whether each is outside of those meant.
    """
    kinds = {outside for _, outside in failing.values()}
    for name in list(classes)[:_MAX_TRIED]:
        said: set[bool] = set()
        ended = ended_by_selectors(setting.facts, setting.cluster, claim_for(name), setting.where.node)
        for node, error, message in ended:
            if error.device in failing and is_ours(error):
                member, outside = failing[error.device]
                if outside not in said:
                    said.add(outside)
                    yield FailingSearch(name, node, str(error.device), member.state, outside, message)
            if said == kinds:
                break
