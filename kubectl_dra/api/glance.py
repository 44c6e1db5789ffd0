"""A chunk of a list of pods at a glance: what tells whether a pod matters, and what its shape is made from, as bytes.

Of 100,000 running pods the scheduler's plugins read what each takes of its node, and replicas take the same. So a pod
is decoded whole only if it matters by itself, or if it is the first one of its shape. What is not as expected in a
chunk is not looked at here: then the chunk is decoded whole, which names what is wrong.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property
from typing import Any, Final

import msgspec

from kubectl_dra.api.decode import ListMeta
from kubectl_dra.api.decoders import make_decoder
from kubectl_dra.model.volumes import Volume

_NONE: Final = msgspec.Raw(b"")
#: Conditions that plugins look at, of an unfinished resize and of who evicts a pod.
_READ_CONDITIONS: Final = frozenset({"PodResizePending", "DisruptionTarget"})


#: How servers begin an item of a list.
_BEGIN: Final = b'{"metadata":{"name":"'


class _Part(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """A part of a pod; who needs an item that is written otherwise decodes it whole."""


class GlancedMeta(_Part, frozen=True):
    """``metadata``."""

    name: str
    namespace: str = ""
    uid: str = ""
    labels: msgspec.Raw = _NONE
    deletion_timestamp: str | None = None


class _Container(_Part, frozen=True):
    name: str = ""
    restart_policy: str | None = None
    resources: msgspec.Raw = _NONE
    ports: msgspec.Raw = _NONE


class _ContainerStatus(_Part, frozen=True):
    name: str = ""
    resources: msgspec.Raw = _NONE
    allocated_resources: msgspec.Raw = _NONE


class _Condition(_Part, frozen=True):
    """What it says is read of few types: a pod that has one of these is decoded whole."""

    type: str = ""


#: A volume with each source that a plugin looks at as it is written; the token's own source is none of them.
_Volume: Final[Any] = msgspec.defstruct(
    "_Volume",
    [
        (name, msgspec.Raw, msgspec.field(default=_NONE, name=key))
        for name, key in zip(Volume.__struct_fields__, Volume.__struct_encode_fields__, strict=True)
    ],
    gc=False,
)
_NO_SOURCE: Final = _Volume()


class GlancedSpec(msgspec.Struct, rename="camel", gc=False):
    """``spec``, of which what is the pod's own can be taken out."""

    node_name: str = ""
    priority: int | None = None
    containers: tuple[_Container, ...] = ()
    init_containers: tuple[_Container, ...] = ()
    volumes: tuple[_Volume, ...] = ()
    affinity: msgspec.Raw = _NONE
    overhead: msgspec.Raw = _NONE
    resources: msgspec.Raw = _NONE
    resource_claims: msgspec.Raw = _NONE
    scheduling_group: msgspec.Raw = _NONE
    workload_ref: msgspec.Raw = _NONE


class GlancedStatus(msgspec.Struct, rename="camel", gc=False):
    """``status``; the same."""

    phase: str = ""
    start_time: str | None = None
    conditions: tuple[_Condition, ...] = ()
    resources: msgspec.Raw = _NONE
    allocated_resources: msgspec.Raw = _NONE
    container_statuses: tuple[_ContainerStatus, ...] = ()
    init_container_statuses: tuple[_ContainerStatus, ...] = ()
    extended_resource_claim_status: msgspec.Raw = _NONE


class GlancedPod(_Part, frozen=True):
    metadata: GlancedMeta
    spec: GlancedSpec = msgspec.field(default_factory=GlancedSpec)
    status: GlancedStatus = msgspec.field(default_factory=GlancedStatus)

    @property
    def has_devices_or_group(self) -> bool:
        """Whether something is written where claims, devices for extended resources or a group would be."""
        spec, status = self.spec, self.status
        return not (
            spec.resource_claims is _NONE
            and spec.scheduling_group is _NONE
            and spec.workload_ref is _NONE
            and status.extended_resource_claim_status is _NONE
        )

    def take_place(self) -> tuple[str, str]:
        """Take out what replicas differ in: the node, which is returned with the start time, and names of volumes.

        The volume of the token has a name of its own in each pod; of volumes without a source that plugins look at none
        is read. Which claims a pod has is no part of what it takes of its node.
        """
        spec, status = self.spec, self.status
        place = spec.node_name, status.start_time or ""
        spec.node_name, status.start_time = "", None
        spec.resource_claims = status.extended_resource_claim_status = _NONE
        read = []
        for volume in spec.volumes:
            name, volume.name = volume.name, _NONE
            if volume != _NO_SOURCE:
                volume.name = name
                read.append(volume)
        spec.volumes = tuple(read)
        return place

    def is_replica_of(self, other: GlancedPod) -> bool:
        """Whether plugins read the same of both, as it is written the same; of each the place was taken out before."""
        meta, known = self.metadata, other.metadata
        return (
            self.spec == other.spec
            and meta.labels == known.labels
            and self.status == other.status
            and meta.namespace == known.namespace
            and meta.deletion_timestamp == known.deletion_timestamp
        )

    def content(self) -> Hashable | None:
        """The same as something that can be looked up: all that a ``PodShape`` is made from.

        None where a condition is part of that.
        """
        meta, spec, status = self.metadata, self.spec, self.status
        if any(condition.type in _READ_CONDITIONS for condition in status.conditions):
            return None
        return (
            meta.namespace,
            bytes(meta.labels),
            meta.deletion_timestamp is not None,
            spec.priority,
            tuple([_container(each) for each in spec.containers]),
            tuple([_container(each) for each in spec.init_containers]) if spec.init_containers else (),
            tuple(map(_written, spec.volumes)),
            _all((spec.affinity, spec.overhead, spec.resources, spec.scheduling_group)),
            _all((status.resources, status.allocated_resources)),
            tuple([_reported(each) for each in status.container_statuses]),
            tuple([_reported(each) for each in status.init_container_statuses]) if spec.init_containers else (),
        )


class GlancedPage(msgspec.Struct, frozen=True):
    items: tuple[GlancedPod, ...]
    metadata: ListMeta = ListMeta()


class _Items(msgspec.Struct):
    items: tuple[msgspec.Raw, ...]


def glance(data: bytes) -> GlancedPage | None:
    """The pods of a chunk of ``v1`` in their order; None where some are not as expected."""
    try:
        if not data.isascii():
            data.decode()  # the decoder does not look into parts that are kept raw
        page: GlancedPage = _pages.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ValueError):
        return None
    return page if all(pod.metadata.name for pod in page.items) else None


class Written:
    """The pods of a chunk as they are written."""

    def __init__(self, data: bytes, count: int) -> None:
        self._data = data
        self._count = count
        self._items: tuple[msgspec.Raw, ...] = ()

    def item(self, number: int) -> bytes:
        """One of them for certain."""
        if not self._items:
            found: _Items = _items.decode(self._data)
            self._items = found.items
        return bytes(self._items[number])

    def piece(self, number: int) -> bytes:
        """What should be the same, in a third of the time; who takes it makes sure of its identity.

        Servers begin each with its name. A text has no such quotes unescaped, so that only lists of objects within a
        pod could look alike; then there are more pieces than pods.
        """
        starts, data = self._starts, self._data
        if len(starts) != self._count:
            return self.item(number)
        last = number + 1 == self._count
        end = data.rfind(b"]") if last else data.rfind(b",", 0, starts[number + 1])
        return data[starts[number] : end]

    @cached_property
    def _starts(self) -> list[int]:
        # Positions, since pieces of all pods would be as much memory as the chunk.
        data = self._data
        first = data.find(_BEGIN)
        second = data.find(_BEGIN, first + 1)
        between = data[max(data.rfind(b",", 0, second), 0) : second]
        behind = (between if between.strip() == b"," else b",") + _BEGIN
        found, at = [first], data.find(behind, first)
        while at >= 0:
            found.append(at + len(behind) - len(_BEGIN))
            at = data.find(behind, at + len(behind))
        return found


def _container(container: _Container) -> Hashable:
    return container.name, container.restart_policy, bytes(container.resources), bytes(container.ports)


def _all(written: tuple[msgspec.Raw, ...]) -> Hashable:
    """Nearly always nothing is written."""
    return None if all([each is _NONE for each in written]) else tuple([bytes(each) for each in written])  # noqa: C419


def _reported(status: _ContainerStatus) -> Hashable:
    if status.resources is _NONE and status.allocated_resources is _NONE:
        return None
    return status.name, bytes(status.resources), bytes(status.allocated_resources)


def _written(volume: msgspec.Struct) -> Hashable:
    return tuple([bytes(value) for value in msgspec.structs.astuple(volume)])


_pages: Final = make_decoder(GlancedPage)
_items: Final = make_decoder(_Items)
