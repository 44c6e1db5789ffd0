"""What each DeviceClass selects among all published devices, whichever node could use them.

A funnel tells of one node; whether the class has devices at all, and what its devices publish, is told here.

What is behind a selector that raises an error on a device: the attribute that is missing, or the types it met.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.diagnosis.records import AttributeValue, FatalError
from kubectl_dra.model.attributes import attribute_text
from kubectl_dra.model.meta import NodeSelector
from kubectl_dra.model.resource import Device, DeviceAttribute, DeviceClass, ResourceSlice
from kubectl_dra.selectors.catalog import Catalog, published_value
from kubectl_dra.selectors.compiling import Mention, Selector, clauses_of, compile_selector, near_names
from kubectl_dra.selectors.evaluate import Outcome, SelectorSet
from kubectl_dra.selectors.rewrite import missing_key

_SEEN: Final = 3
_NAMES: Final = 12
_TYPES: Final = (("string", "string"), ("int_value", "int"), ("bool_value", "bool"), ("version", "version"))


class Offered(msgspec.Struct, frozen=True, gc=False):
    """A published device, its driver and its slice; not watched for cycles, of which there are none."""

    driver: str
    device: Device
    slice: ResourceSlice


@dataclass(frozen=True)
class ClassFacts:
    """The devices of one class among ``published`` ones; ``drivers`` are those of all published devices.

    ``expression``: the selector of the class that refuses most devices. ``clause``: the last of its conditions that a
    device comes to, empty where that is the first one or the devices have nothing that it reads; ``seen``: what they
    have there, at most three values.
    """

    published: int
    devices: tuple[Offered, ...]
    drivers: tuple[str, ...]
    expression: str
    clause: str = ""
    seen: tuple[str, ...] = ()

    @cached_property
    def catalog(self) -> Catalog:
        """The attributes and capacities that devices of the class publish."""
        return Catalog(self.devices)

    @cached_property
    def nodes(self) -> Mapping[str, int]:
        """Devices of the class by the one node that they are published for; the others are left out."""
        return Counter(node for each in self.devices if (node := node_of(each)))

    @cached_property
    def node_selectors(self) -> tuple[NodeSelector, ...]:
        """The selectors of the nodes that reach the devices; empty where some device is not chosen for by one."""
        found = dict.fromkeys(each.slice.spec.node_selector or each.device.node_selector for each in self.devices)
        return () if None in found else tuple(each for each in found if each is not None)


def node_of(offered: Offered) -> str:
    """The only node that can use the device; empty where it is published for several."""
    return offered.slice.spec.node_name or offered.device.node_name or ""


class Offers:
    """The facts of every class, each made when it is first asked for."""

    def __init__(self, state: ClusterState) -> None:
        # The slices alone: who kept the state, or its pods, would keep them for all later states.
        partitionable = state.features.partitionable_devices
        self._slices = tuple(state.inventory.publishing(state.pools, partitionable))
        self._shows_sharing = state.features.shows_sharing
        self._classes = state.inventory.classes
        self._known: dict[str, ClassFacts | None] = {}
        self._publishing: dict[tuple[str, str, str, str], bool] = {}

    @cached_property
    def _devices(self) -> tuple[Offered, ...]:
        return tuple(self._published())

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

    def publishes(self, name: str, field: str, domain: str, own: str) -> bool:
        """Whether a device of a class has an attribute or capacity; looks up to the first one that does, and once."""
        asked = name, field, domain, own
        if asked not in self._publishing:
            self._publishing[asked] = self._is_published(*asked)
        return self._publishing[asked]

    def _is_published(self, name: str, field: str, domain: str, own: str) -> bool:
        found = self._classes.get(name)
        if found is None:
            return False
        selectors = SelectorSet.of_class(found, self._shows_sharing)
        return any(
            published_value(getattr(each.device, field), each.driver, domain, own) is not None
            and selectors.matches(each.driver, each.device)
            for each in self._published()
        )

    def _published(self) -> Iterator[Offered]:
        return (Offered(each.spec.driver, device, each) for each in self._slices for device in each.spec.devices)

    def _make(self, device_class: DeviceClass) -> ClassFacts:
        selectors = SelectorSet.of_class(device_class, self._shows_sharing)
        refusals: Counter[int] = Counter()
        refused: list[tuple[int, Offered]] = []
        selected: list[Offered] = []
        for each in self._devices:
            decision = selectors.of(each.driver, each.device)
            if decision.outcome is Outcome.MATCHES:
                selected.append(each)
            else:
                refusals[decision.selector] += 1
                refused.append((decision.selector, each))
        most = refusals.most_common(1)
        drivers = tuple(sorted({each.driver for each in self._devices}))
        published = len(self._devices)
        if not most:
            return ClassFacts(published, tuple(selected), drivers, "")
        expression = selectors.selectors[most[0][0]].expression
        closest = [] if selected else [each for index, each in refused if index == most[0][0]]
        return ClassFacts(published, tuple(selected), drivers, expression, *_deciding(selectors, expression, closest))


def _deciding(selectors: SelectorSet, expression: str, refused: Sequence[Offered]) -> tuple[str, tuple[str, ...]]:
    """The condition that refuses the devices that pass most of the conditions before it, and what they have there."""
    details = [selectors.detail(each.driver, each.device) for each in refused]
    last = max((detail.clause for detail in details), default=0)
    if last <= 0:
        return "", ()
    values = {
        reading.text for detail in details if detail.clause == last for reading in detail.readings if reading.field
    }
    seen = tuple(sorted(text for text in values if text))
    return (clauses_of(expression)[last].text, seen[:_SEEN]) if seen else ("", ())


@derived("slices", "classes")
def offers(state: ClusterState) -> Offers:
    return Offers(state)


def told(state: ClusterState, error: FatalError, device_class: str, *, of_class: bool) -> FatalError:
    """The error with what its device has, and how many devices publish the attribute that it lacks.

    Counted are the devices of ``device_class``, or all published ones where the class itself is at fault.
    """
    found = _device(state, error.device)
    mentions = compile_selector(Selector(None, 0, error.expression), state.features).mentions
    if found is None or not mentions:
        return msgspec.structs.replace(error, device_class=device_class)
    driver, device = found.driver, found.device
    key = missing_key(error.detail.removesuffix(".")) or _first_key(error.detail)
    lacking = next((m for m in mentions if m.name is not None and m.name.text == key and not m.guarded), None)
    if lacking is None:
        reads = tuple(dict.fromkeys(mentioned_values(mentions, driver, device)))
        return msgspec.structs.replace(error, device_class=device_class, reads=reads)
    everything, facts = offers(state), offers(state).of(device_class)
    catalog = everything.catalog if of_class or facts is None else facts.catalog
    domain = lacking.domain.text
    names = Catalog([found]).names(lacking.field, domain if domain in catalog.domains else driver)
    publishers = catalog.counts[lacking.field, domain, key or ""]
    close = near_names(key or "", catalog.names(lacking.field, domain))
    if domain not in catalog.domains:
        close = tuple(f"{of}/{key}" for of in catalog.domains_with(lacking.field, key or "")[:1])
    devices = facts.published if facts is not None and of_class else len(facts.devices) if facts is not None else 0
    return msgspec.structs.replace(
        error,
        device_class=device_class,
        attribute=f"{domain}/{key}",
        names=names[:_NAMES],
        publishers=publishers,
        devices=devices,
        similar=close,
        is_capacity=lacking.field == "attributes" and bool(catalog.domains_with("capacity", key or "")),
    )


def _first_key(detail: str) -> str | None:
    """The key of a message that goes on behind it."""
    _, found, rest = detail.partition("no such key: ")
    return rest.split(". ")[0].split()[0].rstrip(".") if found and rest else None


def _device(state: ClusterState, name: str) -> Offered | None:
    found = state.device(name)
    return Offered(found[0].spec.driver, found[1], found[0]) if found is not None else None


def mentioned_values(mentions: tuple[Mention, ...], driver: str, device: Device) -> Iterator[AttributeValue]:
    """What the device has under the names that the selector mentions."""
    for mention in mentions:
        if mention.name is None:
            continue
        at = (driver, mention.domain.text, mention.name.text)
        if mention.field == "attributes":
            value = published_value(device.attributes, *at)
            if value is not None:
                yield AttributeValue(mention.name.text, _type(value), attribute_text(value))
        else:
            amount = published_value(device.capacity, *at)
            if amount is not None:
                yield AttributeValue(mention.name.text, "quantity", str(amount.value))


def _type(value: DeviceAttribute) -> str:
    return next((name for field, name in _TYPES if getattr(value, field) is not None), "list")
