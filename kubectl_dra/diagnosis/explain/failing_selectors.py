"""What is behind a selector that raises an error on a device: the attribute that is missing, or the types it met."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.explain.class_facts import Offered, offers
from kubectl_dra.diagnosis.records import AttributeValue, FatalError
from kubectl_dra.model.attributes import attribute_text
from kubectl_dra.model.resource import Device, DeviceAttribute
from kubectl_dra.selectors.catalog import Catalog, published_value
from kubectl_dra.selectors.compiling import Mention, Selector, compile_selector, near_names
from kubectl_dra.selectors.rewrite import missing_key

_NAMES: Final = 12
_TYPES: Final = (("string", "string"), ("int_value", "int"), ("bool_value", "bool"), ("version", "version"))


def told(world: ClusterState, error: FatalError, device_class: str, *, of_class: bool) -> FatalError:
    """The error with what its device has, and how many devices publish the attribute that it lacks.

    Counted are the devices of ``device_class``, or all published ones where the class itself is at fault.
    """
    found = _device(world, error.device)
    mentions = compile_selector(Selector(None, 0, error.expression), world.features).mentions
    if found is None or not mentions:
        return msgspec.structs.replace(error, device_class=device_class)
    driver, device = found.driver, found.device
    key = missing_key(error.detail.removesuffix(".")) or _first_key(error.detail)
    lacking = next((m for m in mentions if m.name is not None and m.name.text == key and not m.guarded), None)
    if lacking is None:
        reads = tuple(dict.fromkeys(_reads(mentions, driver, device)))
        return msgspec.structs.replace(error, device_class=device_class, reads=reads)
    everything, facts = offers(world), offers(world).of(device_class)
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


def _device(world: ClusterState, name: str) -> Offered | None:
    found = world.device(name)
    return Offered(found[0].spec.driver, found[1], found[0]) if found is not None else None


def _reads(mentions: tuple[Mention, ...], driver: str, device: Device) -> Iterator[AttributeValue]:
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
