"""The devices that an expression matches which a user typed: taint-device --match, the TUI's filter."""

from __future__ import annotations

from collections import Counter
from collections.abc import KeysView
from dataclasses import dataclass

from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.ids import DeviceId
from kubectl_dra.selectors.evaluate import Outcome, SelectorSet


@dataclass(frozen=True, slots=True)
class MatchingDevices:
    """``devices`` of the ``of`` that are published match; ``errors``: on how many it fails, by text.

    ``problem`` says why the expression can't be used at all.
    """

    devices: KeysView[DeviceId]
    of: int
    errors: Counter[str]
    problem: str | None

    @property
    def failing(self) -> int:
        return self.errors.total()


def matching_devices(expression: str, state: ClusterState) -> MatchingDevices:
    """All devices tried, as the scheduler evaluates the expression."""
    selectors = SelectorSet.of_text(expression, state.features.shows_sharing)
    if selectors.problem is not None:
        return MatchingDevices({}.keys(), 0, Counter(), selectors.problem)
    decisions = {
        DeviceId(*pool, device.name): selectors.of(pool.driver, device)
        for pool in state.pools
        for _, device in state.published(pool)
    }
    found = {device: None for device, decision in decisions.items() if decision.outcome is Outcome.MATCHES}
    errors = Counter(d.error for d in decisions.values() if d.outcome in (Outcome.ERROR, Outcome.UNDECIDED))
    return MatchingDevices(found.keys(), len(decisions), errors, None)
