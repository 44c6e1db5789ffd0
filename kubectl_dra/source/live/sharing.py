"""Equal parts of many objects kept once: a cluster of 80,000 devices has few models, drivers and shapes of pods.

Records are changed here, which nobody else may do: only those that were just decoded and that nobody has seen yet.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator
from sys import intern
from typing import Any, Final, TypeVar

from msgspec import Raw
from msgspec.structs import force_setattr, replace

from kubectl_dra.api.sharing import NOTHING
from kubectl_dra.model.base import Record
from kubectl_dra.model.core import Node, Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.podinfo import PodInfo, PodInfos
from kubectl_dra.model.resource import ResourceClaim, ResourceSlice

# Of what there are more different values than this, most are unique, as serial numbers are.
_MOST: Final = 2000
T = TypeVar("T")


class Sharer:
    """Remembers parts by what they are called; used by one thread."""

    def __init__(self) -> None:
        self._infos = PodInfos()
        self._known: defaultdict[str, dict[Hashable, Any]] = defaultdict(dict)

    def record(self, record: object) -> None:
        match record:
            case ResourceSlice():
                self._slice(record)
            case Node():
                self._names(record)
                self._replace(record.status, "conditions", "capacity", "allocatable")
                if record.status.images:
                    shared = tuple(self._shared("image", image, image) for image in record.status.images)
                    force_setattr(record.status, "images", self._shared("images", shared, shared))
            case Pod():
                self._names(record)
                self._replace(record.metadata, "owner_references", "labels")
                self._replace(record.spec, "containers", "tolerations", "volumes", "resource_claims")
                self._replace(record.status, "conditions", "container_statuses")
            case ResourceClaim():
                self._names(record)
                self._replace(record.spec, "devices")
                self._allocation(record)

    def pod(self, pod: Pod) -> PodInfo:
        """What plugins read of a pod; most pods are like others but for their names."""
        info = self._infos.of(pod)
        start = self._shared("start_time", info.start_time, info.start_time)
        return replace(info, key=Key(intern(info.key.namespace), info.key.name), start_time=start)

    def _slice(self, slice_: ResourceSlice) -> None:
        self._names(slice_)
        for device in slice_.spec.devices:
            force_setattr(device, "name", intern(device.name))
            attributes = device.attributes
            for name, attribute in attributes.items():
                attributes[name] = self._shared(name, attribute, attribute)
            self._replace(device, "capacity", "consumes_counters")

    def _names(self, record: Node | Pod | ResourceClaim | ResourceSlice) -> None:
        meta = record.metadata
        force_setattr(meta, "namespace", intern(meta.namespace))
        self._replace(meta, "creation_timestamp", "managed_fields", "finalizers")
        for name in ("labels", "annotations"):
            if not getattr(meta, name):
                force_setattr(meta, name, NOTHING)

    def _allocation(self, claim: ResourceClaim) -> None:
        """Of thousands of results each names its driver, pool and request, and hardly one an amount."""
        for result in claim.status.allocation.devices.results if claim.status.allocation is not None else ():
            for name in ("request", "driver", "pool"):
                force_setattr(result, name, intern(getattr(result, name)))
            if not result.consumed_capacity:
                force_setattr(result, "consumed_capacity", NOTHING)

    def _replace(self, record: Record, *names: str) -> None:
        for name in names:
            value = getattr(record, name)
            if value:
                shared = self._shared_part(name, value)
                if shared is not value:
                    force_setattr(record, name, shared)

    def _shared_part(self, name: str, value: T) -> T:
        try:
            return self._shared(name, tuple(value.items()) if isinstance(value, dict) else value, value)
        except TypeError:
            # There are dicts further down.
            return self._shared(name, tuple(_flat(value)), value)

    def _shared(self, name: str, key: Any, value: T) -> T:  # noqa: ANN401 - may turn out not to be hashable
        known = self._known[name]
        found: T | None = known.get(key)
        if found is not None:
            return found
        if len(known) < _MOST:
            known[key] = value
        return value


def _flat(value: Any) -> Iterator[Any]:  # noqa: ANN401 - any part of a record
    """All that a value consists of, in an order that tells different values apart."""
    if isinstance(value, Record):
        yield type(value)
        for name in value.__struct_fields__:
            yield from _flat(getattr(value, name))
    elif isinstance(value, dict):
        yield len(value)
        for name, each in value.items():
            yield name
            yield from _flat(each)
    elif isinstance(value, tuple):
        yield len(value)
        for each in value:
            yield from _flat(each)
    else:
        # Of numbers that are equal, one may be a truth value.
        yield type(value)
        yield bytes(value) if isinstance(value, Raw) else value


def kept(record: T, known: Callable[[Key], Any], sharer: Sharer) -> T:
    """The record that is ``known`` already, if this is the same version of the object; else this one."""
    meta: Any = record.metadata  # type: ignore[attr-defined]
    old = known(key_of(meta))
    if old is not None and old.metadata.resource_version == meta.resource_version != "":
        same: T = old
        return same
    sharer.record(record)
    return record
