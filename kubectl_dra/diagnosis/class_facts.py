"""What each DeviceClass selects among all published devices, whichever node could use them.

A funnel tells of one node; whether the class has devices at all, and what its devices publish, is told here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.model.resource import Device, DeviceClass, ResourceSlice
from kubectl_dra.selectors.catalog import Catalog
from kubectl_dra.selectors.evaluate import Outcome, SelectorSet


class Offered(NamedTuple):
    """A published device, its driver and its slice."""

    driver: str
    device: Device
    slice: ResourceSlice


@dataclass(frozen=True)
class ClassFacts:
    """The devices of one class among ``published`` ones; ``drivers`` are those of all published devices.

    ``expression``: the selector of the class that refuses most devices.
    """

    published: int
    devices: tuple[Offered, ...]
    drivers: tuple[str, ...]
    expression: str

    @cached_property
    def catalog(self) -> Catalog:
        """The attributes and capacities that devices of the class publish."""
        return Catalog(self.devices)

    @cached_property
    def nodes(self) -> Mapping[str, int]:
        """Devices of the class by the one node that they are published for; the others are left out."""
        return Counter(node for each in self.devices if (node := node_of(each)))


def node_of(offered: Offered) -> str:
    """The only node that can use the device; empty where it is published for several."""
    return offered.slice.spec.node_name or offered.device.node_name or ""


class Offers:
    """The facts of every class, each made when it is first asked for."""

    def __init__(self, state: ClusterState) -> None:
        self._shows_sharing = state.features.shows_sharing
        self._classes = state.inventory.classes
        self._devices = tuple(_published(state))
        self._known: dict[str, ClassFacts | None] = {}

    @cached_property
    def catalog(self) -> Catalog:
        """The attributes and capacities that any device publishes."""
        return Catalog(self._devices)

    def of(self, name: str) -> ClassFacts | None:
        """The facts of a class; None where the class does not exist."""
        if name not in self._known:
            found = self._classes.get(name)
            self._known[name] = self._make(found) if found is not None else None
        return self._known[name]

    def _make(self, device_class: DeviceClass) -> ClassFacts:
        selectors = SelectorSet.of_class(device_class, self._shows_sharing)
        refusals: Counter[int] = Counter()
        selected = []
        for each in self._devices:
            decision = selectors.of(each.driver, each.device)
            if decision.outcome is Outcome.MATCHES:
                selected.append(each)
            else:
                refusals[decision.selector] += 1
        most = refusals.most_common(1)
        expression = selectors.selectors[most[0][0]].expression if most else ""
        drivers = tuple(sorted({each.driver for each in self._devices}))
        return ClassFacts(len(self._devices), tuple(selected), drivers, expression)


def _published(state: ClusterState) -> Iterator[Offered]:
    for pool in state.pools:
        for slice_, device in state.published(pool):
            yield Offered(slice_.spec.driver, device, slice_)


@derived("slices", "classes")
def offers(state: ClusterState) -> Offers:
    """The facts of the classes of a state."""
    return Offers(state)
