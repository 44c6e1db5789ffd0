"""A chunk of a list of pods at a glance: what tells whether a pod matters, and what its shape is made from, as bytes.

Of 100,000 running pods the scheduler's plugins read what each takes of its node, and replicas take the same. So a pod
is decoded whole only if it matters by itself, or if it is the first one of its shape. What is not as expected in a
chunk is not looked at here: then the chunk is decoded whole, which names what is wrong.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

import msgspec

from kubectl_dra.api.decode import ListMeta
from kubectl_dra.api.decoders import make_decoder
from kubectl_dra.model.volumes import Volume

_NONE: Final = msgspec.Raw(b"")
#: Sources of volumes that plugins look at; the token's own source is none of them.
_SOURCES: Final = frozenset(Volume.__struct_encode_fields__) - {"name"}
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


class _Affinity(_Part, frozen=True):
    """Where a pod that runs had to go is read no more, and each pod of a DaemonSet names its own node there."""

    pod_affinity: msgspec.Raw = _NONE
    pod_anti_affinity: msgspec.Raw = _NONE


_NO_AFFINITY: Final = _Affinity()


class GlancedSpec(msgspec.Struct, rename="camel", gc=False):
    """``spec``, of which what is the pod's own can be taken out."""

    node_name: str = ""
    priority: int | None = None
    containers: tuple[_Container, ...] = ()
    init_containers: tuple[_Container, ...] = ()
    volumes: tuple[dict[str, msgspec.Raw], ...] = ()
    affinity: _Affinity = _NO_AFFINITY
    overhead: msgspec.Raw = _NONE
    resources: msgspec.Raw = _NONE
    resource_claims: msgspec.Raw = _NONE
    scheduling_group: msgspec.Raw = _NONE
    workload_ref: msgspec.Raw = _NONE


class GlancedStatus(msgspec.Struct, rename="camel", gc=False):
    """``status``; the same."""

    phase: str = ""
    start_time: str | None = None
    conditions: msgspec.Raw = _NONE
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

    def take_place(self) -> str:
        """Take out what replicas differ in: the node, the start time, which is returned, and what plugins do not read.

        The volume of the token has a name of its own in each pod. Which claims a pod has is no part of what it takes of
        its node.
        """
        spec, status = self.spec, self.status
        started = status.start_time or ""
        spec.node_name, status.start_time = "", None
        if not _has_reason(status.conditions):
            status.conditions = _NONE
        spec.resource_claims = status.extended_resource_claim_status = _NONE
        if spec.volumes:
            spec.volumes = tuple([volume for volume in spec.volumes if not _SOURCES.isdisjoint(volume)])
        return started

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

        None where a condition may be part of that.
        """
        meta, spec, status = self.metadata, self.spec, self.status
        if status.conditions is not _NONE:
            return None
        return (
            meta.namespace,
            bytes(meta.labels),
            meta.deletion_timestamp is not None,
            spec.priority,
            tuple([_container(each) for each in spec.containers]),
            tuple([_container(each) for each in spec.init_containers]) if spec.init_containers else (),
            tuple(map(_written, spec.volumes)),
            _all((spec.affinity.pod_affinity, spec.affinity.pod_anti_affinity)),
            _all((spec.overhead, spec.resources, spec.scheduling_group)),
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
    """The pods of a chunk of ``v1`` in their order, with or without names; None where some are not as expected."""
    try:
        if not data.isascii():
            data.decode()  # the decoder does not look into parts that are kept raw
        page: GlancedPage = _pages.decode(data)
    except (ValueError, RecursionError):
        return None
    return page


class WrittenPods:
    """The pods of a chunk as they are written."""

    def __init__(self, data: bytes, pods: int) -> None:
        self._data = data
        self._at = self._number = 0
        # Most pods of a chunk are as long as others: so many bytes are passed over for each.
        self._least = len(data) * 3 // 4 // max(pods, 1)
        self._items: tuple[msgspec.Raw, ...] = ()

    def item(self, number: int) -> bytes:
        """One of them for certain."""
        if not self._items:
            found: _Items = _items.decode(self._data)
            self._items = found.items
        return bytes(self._items[number])

    def piece(self, name: str, number: int) -> bytes | None:
        """What should be the pod of a number behind those that were asked for before; None where none is found.

        Who takes it makes sure that it is a pod, and which. Servers begin each with its name; no text has such quotes
        unescaped, so that only objects within a pod could look alike.
        """
        data = self._data
        begin = b'%b%b"' % (_BEGIN, name.encode())
        start = data.find(begin, self._at + self._least * (number - self._number))
        if start < 0 and self._least:
            self._least = 0
            start = data.find(begin, self._at)
        self._number = number
        if start < 0:
            self._at = len(data)  # the server writes otherwise, and the next one is not there either
            return None
        self._at = start + len(_BEGIN)
        behind = data.find(_BEGIN, self._at)
        return data[start : data.rfind(b",", 0, behind) if behind >= 0 else data.rfind(b"]")]


def _has_reason(conditions: msgspec.Raw) -> bool:
    """Plugins read the reasons of an unfinished resize and of an eviction: a pod with any reason is decoded whole."""
    written = bytes(conditions)
    return b'"reason"' in written or b"\\u" in written


def _container(container: _Container) -> Hashable:
    return container.name, container.restart_policy, bytes(container.resources), bytes(container.ports)


def _all(written: tuple[msgspec.Raw, ...]) -> Hashable:
    """Nearly always nothing is written."""
    return None if all([each is _NONE for each in written]) else tuple([bytes(each) for each in written])  # noqa: C419


def _reported(status: _ContainerStatus) -> Hashable:
    if status.resources is _NONE and status.allocated_resources is _NONE:
        return None
    return status.name, bytes(status.resources), bytes(status.allocated_resources)


def _written(volume: dict[str, msgspec.Raw]) -> Hashable:
    return tuple([(name, bytes(value)) for name, value in volume.items()])


_pages: Final = make_decoder(GlancedPage)
_items: Final = make_decoder(_Items)
