"""What every view of pools and devices is computed from: the facts, and the allocator's own indexes over them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Final, Protocol

from kubectl_dra.allocation import nodes
from kubectl_dra.allocation.allocated import AllocatedState
from kubectl_dra.allocation.pools import SliceIndex
from kubectl_dra.allocation.taints import Narrowing, is_narrowed, selects
from kubectl_dra.model.clock import Clock
from kubectl_dra.model.evidence import Evidence
from kubectl_dra.model.features import Features
from kubectl_dra.model.ids import DeviceId, PoolId
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.meta import NodeSelector
from kubectl_dra.model.resource import Device, DeviceTaintRule, ResourceSlice
from kubectl_dra.reports.health import Health, health_by_device
from kubectl_dra.reports.taints import rules_in_force


def latest_read(evidence: Evidence) -> str:
    """The time of the last list that was read (RFC 3339, UTC); empty where no read says."""
    times = {read.time: moment for read in evidence.reads if (moment := parse_time(read.time)) is not None}
    return max(times, key=lambda text: times[text], default="")


def parse_time(text: str) -> datetime | None:
    """An RFC 3339 time; None if absent or malformed."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


#: What is derived, and the part of the Inventory that it is made from.
_MADE_FROM: Final[Mapping[str, str]] = {
    "slices": "slices",
    "pools": "slices",
    "allocated": "claims",
    "rules": "taint_rules",
    "health": "pods",
}


class KnownPool(Protocol):
    """What was worked out of a pool. ``by_selector``: node selectors decide where it can be used."""

    by_selector: bool


def _same(old: Sequence[object], new: Sequence[object]) -> bool:
    return old is new or (len(old) == len(new) and all(a is b for a, b in zip(old, new, strict=True)))


@dataclass(frozen=True)
class Facts:
    """One Inventory with its evidence, the features assumed, and the clock for what has no time of its own.

    With ``keeps``, what was worked out of a pool is kept, for the next question and for :meth:`later`.
    """

    inventory: Inventory
    evidence: Evidence
    features: Features
    clock: Clock
    keeps: bool = False

    def later(self, inventory: Inventory, evidence: Evidence) -> Facts:
        """The Facts of the same cluster later; what its changes can't touch is taken over as it is."""
        facts, old = Facts(inventory, evidence, self.features, self.clock, self.keeps), self.inventory
        inventory.follow(old)
        for name, source in _MADE_FROM.items():
            if name in vars(self) and getattr(old, source) is getattr(inventory, source):
                vars(facts)[name] = vars(self)[name]
        if "allocated" in vars(self) and "allocated" not in vars(facts):
            vars(facts)["allocated"] = self.allocated.later(old.claims, inventory.claims)
        if self.known_pools:
            vars(facts)["known_pools"] = self._still_known(facts)
        return facts

    def _still_known(self, facts: Facts) -> dict[PoolId, KnownPool]:
        """Pools of which nothing has changed that any report of pools depends on."""
        old, new = self.inventory, facts.inventory
        same_rules = _same(tuple(old.taint_rules.values()), tuple(new.taint_rules.values()))
        same_rules &= old.classes is new.classes or not any(map(is_narrowed, self.rules))
        if not same_rules or self.evidence.extent != facts.evidence.extent or old.nodes.keys() != new.nodes.keys():
            return {}
        known = dict(self.known_pools)
        if facts.allocated is not self.allocated:
            for pool in facts.allocated.changed:
                known.pop(PoolId(*pool), None)
        if old.nodes is not new.nodes:
            known = {pool: worked for pool, worked in known.items() if not worked.by_selector}
        if old.slices is not new.slices:
            before, after = old.slices_by_pool, new.slices_by_pool
            known = {pool: known[pool] for pool in known if _same(before.get(pool, ()), after.get(pool, ()))}
        return known

    @cached_property
    def known_pools(self) -> dict[PoolId, KnownPool]:
        """What was worked out of pools so far; filled by ``open_pool``."""
        return {}

    @cached_property
    def as_of(self) -> str:
        """The time of the facts (RFC 3339); empty where nothing says it."""
        return latest_read(self.evidence)

    @cached_property
    def slices(self) -> SliceIndex:
        """All slices as the allocator indexes them."""
        return SliceIndex(self.inventory.slices.values(), self.features)

    @cached_property
    def allocated(self) -> AllocatedState:
        """What all claims hold."""
        return AllocatedState(self.inventory.claims.values(), self.features)

    @cached_property
    def rules(self) -> tuple[DeviceTaintRule, ...]:
        """The taint rules in force."""
        return rules_in_force(self.inventory, self.features)

    @cached_property
    def narrowing(self) -> Narrowing:
        """What classes and selectors leave to taint rules that have some."""
        return Narrowing(self.inventory.classes)

    def selects(self, rule: DeviceTaintRule, id_: DeviceId) -> bool:
        """Whether a taint rule selects a device; one that is not published only by its name."""
        if not selects(rule, *id_) or not is_narrowed(rule):
            return selects(rule, *id_)
        found = (device for _, device in self.published(id_.pool_id) if device.name == id_.device)
        return any(self.narrowing.admits(rule, id_.driver, device) for device in found)

    @cached_property
    def health(self) -> Mapping[DeviceId, tuple[Health, ...]]:
        """What kubelets report of devices."""
        return health_by_device(self.inventory)

    @cached_property
    def pools(self) -> tuple[PoolId, ...]:
        """All pools, sorted."""
        return tuple(sorted(self.inventory.slices_by_pool))

    def matching_nodes(self, selector: NodeSelector) -> frozenset[str] | None:
        """The names of the nodes that a selector matches; None where nodes were not read or it can't be parsed."""
        if selector not in self._matching:
            parsed = nodes.parse(selector)
            known = self.evidence.complete("Node") and not parsed.problems
            found = (name for name, node in self.inventory.nodes.items() if parsed.matches(node)) if known else ()
            self._matching[selector] = frozenset(found) if known else None
        return self._matching[selector]

    @cached_property
    def _matching(self) -> dict[NodeSelector, frozenset[str] | None]:
        return {}

    @property
    def now(self) -> datetime:
        """The time that ages are counted from: that of the facts, so that an old snapshot reads as it was."""
        return parse_time(self.as_of) or self.clock.now()

    def newest(self, pool: PoolId) -> tuple[ResourceSlice, ...]:
        """The slices of a pool's newest generation, by name."""
        return self.inventory.newest(pool)

    def published(self, pool: PoolId) -> Iterator[tuple[ResourceSlice, Device]]:
        """The devices that a pool's newest generation publishes, in search order."""
        return self.inventory.published(pool, self.features.partitionable_devices)
