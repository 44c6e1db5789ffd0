"""A snapshot: the facts as a document that every command reads with ``--from``.

What is written is an allow-list by construction: the fields of the model's records and nothing else, so no
environment, arguments, commands or Secrets. Annotations (but DRA's own and those of volumes) and drivers' opaque JSON
are left out too; names of images are hidden.

Names of container images in a snapshot: unreadable, but still comparable. The scheduler prefers nodes that have a pod's
images. For that only matters which names are equal; the names themselves (registries, projects) are nobody's business.
Of what nodes have, only images that a pod of the snapshot names are kept.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from kubectl_dra.api.controllers import is_foreign
from kubectl_dra.api.encode import encode
from kubectl_dra.api.kinds import BY_NAME, KINDS, POD, Kind
from kubectl_dra.api.queues import encoded
from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.base import Record
from kubectl_dra.model.core import Pod
from kubectl_dra.model.evidence import ALL_NAMESPACES, LACKING, Coverage, Evidence, Read
from kubectl_dra.model.gang_objects import KINDS as GANG_KINDS
from kubectl_dra.model.gang_objects import POD_GROUP
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.meta import ObjectMeta
from kubectl_dra.model.queues import KINDS as QUEUE_KINDS
from kubectl_dra.model.queues import qualified
from kubectl_dra.scheduler.plugins.image_locality import full_name
from kubectl_dra.source.snapshot import (
    SNAPSHOT_API_VERSION,
    SNAPSHOT_KIND,
    SnapshotHeader,
    SnapshotRead,
    SnapshotServer,
)

_OWN_ANNOTATIONS: Final = "resource.kubernetes.io/"
# What objects say nowhere else, and decides: of volumes that they are bound for good, the node that was chosen, the
# class, what a node leaves to CSI drivers; which ReplicaSet a Deployment rolls out.
_DECIDING: Final = frozenset(
    {
        "deployment.kubernetes.io/revision",
        "pv.kubernetes.io/bind-completed",
        "volume.kubernetes.io/selected-node",
        "volume.beta.kubernetes.io/storage-class",
        "storage.alpha.kubernetes.io/migrated-plugins",
    }
)
_NAMESPACED_OF_OTHERS: Final = frozenset(
    (
        *(qualified(kind) for kind, (_, namespaced) in QUEUE_KINDS.items() if namespaced),
        *(f"{POD_GROUP}.{group}" for group in GANG_KINDS),
    )
)
_OPAQUE: Final = frozenset({"parameters", "data", "vendorParameters"})
# Of v1alpha2, whose structured data and requests don't name a driver themselves.
_VENDOR: Final = frozenset({"vendorClassParameters", "vendorClaimParameters", "vendorRequestParameters"})
_WITH_OPAQUE: Final = frozenset({"driver", "driverName", "namedResources"})
# As an object is written that has any of it: most have nothing that is left out.
_STRIPPED: Final = tuple(f'"{name}":'.encode() for name in ("annotations", *_OPAQUE, *_VENDOR))
Json = dict[str, Any]
_HIDDEN: Final = re.compile(r"sha256:[0-9a-f]{16}")
_CONTAINERS: Final = ("initContainers", "containers", "ephemeralContainers")


@dataclass(frozen=True, slots=True)
class SnapshotDocument:
    """All but the items in ``header``; the items are made anew each time, one by one: there may be 200,000."""

    header: Json
    make: Callable[[], Iterator[Json]]

    def items(self) -> Iterator[Json]:
        """The items in their order; each belongs to the caller."""
        return self.make()

    def whole(self) -> Json:
        return {**self.header, "items": list(self.items())}


def snapshot(state: ClusterState, namespace: str = ALL_NAMESPACES, with_parameters: bool = False) -> SnapshotDocument:
    """The document. With ``namespace`` the other namespaces' objects are left out, and the header says so."""
    named = named_by(state.inventory.pods.values())

    def items() -> Iterator[Json]:
        for kind, record in objects_of(state.inventory):
            if _in(namespace, record):
                item = _item(kind, record, with_parameters)
                hide(item, named)
                yield item
        for metadata, data in encoded(state.inventory.queues, state.inventory.gangs):
            if namespace in ("", metadata.namespace) or not metadata.namespace:
                item = json.loads(data)
                _strip(item, frozenset())
                yield item

    return SnapshotDocument(_header(state, namespace), items)


def _header(state: ClusterState, namespace: str) -> Json:
    evidence = state.evidence
    address = evidence.address
    elsewhere = any(word.partition("=")[0] == "--cluster" for word in address.flags)
    header = SnapshotHeader(
        taken=state.as_of,
        server=_server(evidence),
        context="" if elsewhere else address.context,
        reads=tuple(map(SnapshotRead.of, _reads(evidence, namespace))),
        notes=(*evidence.notes, *_left_out(evidence)),
    )
    fields: Json = msgspec.to_builtins(header)
    lists = {name: list(value) for name, value in fields.items() if isinstance(value, tuple)}
    return {"apiVersion": SNAPSHOT_API_VERSION, "kind": SNAPSHOT_KIND, **fields, **lists}


def _server(evidence: Evidence) -> SnapshotServer:
    version = "" if evidence.server_version is None else "v{}.{}".format(*evidence.server_version)
    return SnapshotServer(version, evidence.address.server)


def _reads(evidence: Evidence, namespace: str) -> Iterator[Read]:
    """Cluster-wide reads of namespaced kinds become reads of the one namespace that is written."""
    for read in evidence.reads:
        if namespace == ALL_NAMESPACES or not _is_namespaced(read.kind):
            yield read
        elif read.namespace == ALL_NAMESPACES and read.coverage in (Coverage.FORBIDDEN, Coverage.FAILED):
            # Of the cluster nothing was left out here: it could not be read.
            yield read
        elif read.namespace in (ALL_NAMESPACES, namespace):
            coverage = evidence.coverage(read.kind, namespace)
            yield Read(read.kind, namespace, coverage, read.resource_version, read.time, read.note)


def _is_namespaced(name: str) -> bool:
    kind = BY_NAME.get(name)
    return kind.namespaced if kind is not None else name in _NAMESPACED_OF_OTHERS


def _left_out(evidence: Evidence) -> Iterator[str]:
    for bad in evidence.bad_objects:
        name = f"{bad.namespace}/{bad.name}" if bad.namespace else bad.name
        yield f"{bad.kind} {name or 'without a name'} is left out: {bad.error}"


def incomplete(evidence: Evidence) -> tuple[str, ...]:
    """The kinds that the snapshot does not hold completely, for a note to the person who takes it."""
    return tuple(dict.fromkeys(read.kind for read in evidence.reads if read.coverage in LACKING))


def objects_of(inventory: Inventory) -> Iterator[tuple[Kind, Record]]:
    """Every object that is known, by kind."""
    by_kind = _by_kind(inventory)
    for kind in KINDS:
        if kind.workload:
            yield from ((kind, record) for key, record in inventory.workloads.items() if key[0] == kind.name)
        else:
            yield from ((kind, record) for record in by_kind.get(kind.name, ()))
    for key, record in inventory.workloads.items():
        if is_foreign(record.api_version, key[0]):
            yield POD, record  # it says itself what it is


def _by_kind(inventory: Inventory) -> Mapping[str, Iterable[Record]]:
    classic, storage = inventory.classic, inventory.storage
    return {
        "Pod": inventory.pods.values(),
        "ResourceClaim": inventory.claims.values(),
        "ResourceClaimTemplate": inventory.templates.values(),
        "ResourceSlice": inventory.slices.values(),
        "DeviceClass": inventory.classes.values(),
        "DeviceTaintRule": inventory.taint_rules.values(),
        "ResourcePoolStatusRequest": inventory.pool_statuses.values(),
        "ResourceClass": classic.classes.values(),
        "PodSchedulingContext": classic.scheduling_contexts.values(),
        "ResourceClaimParameters": classic.claim_parameters.values(),
        "ResourceClassParameters": classic.class_parameters.values(),
        "Node": inventory.nodes.values(),
        "Namespace": inventory.namespaces.values(),
        "Event": inventory.events,
        "ResourceQuota": inventory.quotas.values(),
        "PersistentVolumeClaim": storage.claims.values(),
        "PersistentVolume": storage.volumes.values(),
        "StorageClass": storage.classes.values(),
        "CSINode": storage.csi_nodes.values(),
        "CSIDriver": storage.csi_drivers.values(),
        "CSIStorageCapacity": storage.capacities.values(),
        "VolumeAttachment": storage.attachments.values(),
        "PriorityClass": inventory.priority_classes.values(),
        "PodDisruptionBudget": inventory.budgets.values(),
        "Service": inventory.services.values(),
        "LimitRange": inventory.limit_ranges.values(),
        "RuntimeClass": inventory.runtime_classes.values(),
        "HorizontalPodAutoscaler": inventory.autoscalers.values(),
        "PodGroup": inventory.groups.pod_groups.values(),
        "Workload": inventory.groups.workloads.values(),
        "CompositePodGroup": inventory.groups.composites.values(),
    }


def _in(namespace: str, record: Record) -> bool:
    metadata: ObjectMeta = getattr(record, "metadata", ObjectMeta())
    return not namespace or metadata.namespace in ("", namespace)


def _item(kind: Kind, record: Record, with_parameters: bool) -> Json:
    data = encode(record, kind)
    item: Json = json.loads(data)
    if any(name in data for name in _STRIPPED):
        _strip(item, frozenset() if with_parameters else _OPAQUE)
    return item


def _strip(value: Any, opaque: frozenset[str]) -> None:  # noqa: ANN401 - JSON
    """Drop annotations and, inside ``opaque`` entries and ``status.devices[]``, what only drivers understand."""
    if isinstance(value, list):
        for member in value:
            _strip(member, opaque)
    if not isinstance(value, dict):
        return
    _strip_annotations(value)
    if _WITH_OPAQUE & value.keys():
        for name in opaque & value.keys():
            del value[name]
    if opaque:
        for name in _VENDOR & value.keys():
            del value[name]
    for name, member in value.items():
        # Drivers' JSON is theirs: nothing in it is one of our fields. A class's list has one entry per driver.
        if (name not in _OPAQUE and name not in _VENDOR) or isinstance(member, list):
            _strip(member, opaque)


def _strip_annotations(value: Json) -> None:
    annotations = value.get("annotations")
    if isinstance(annotations, dict):
        kept = {name: text for name, text in annotations.items() if _is_kept(name)}
        value["annotations"] = kept
        if not kept:
            del value["annotations"]


def _is_kept(annotation: str) -> bool:
    return annotation.startswith(_OWN_ANNOTATIONS) or annotation in _DECIDING


def hidden(name: str) -> str:
    """What stands for the image's name; what is hidden already stays as it is."""
    if not name or _HIDDEN.fullmatch(name):
        return name
    return f"sha256:{hashlib.sha256(full_name(name).encode()).hexdigest()[:16]}"


def named_by(pods: Iterable[Pod]) -> frozenset[str]:
    """The hidden names of all images that pods name."""
    return frozenset(hidden(name) for pod in pods for name in _names(pod))


def _names(pod: Pod) -> Iterator[str]:
    for container in (*pod.spec.init_containers, *pod.spec.containers, *pod.spec.ephemeral_containers):
        if container.image:
            yield container.image
    for volume in pod.spec.volumes:
        if volume.image is not None and volume.image.reference:
            yield volume.image.reference


def hide(item: Json, named: frozenset[str]) -> None:
    """Hide the names in one object of a snapshot, and drop what a node has beyond those that are ``named``."""
    spec, status = item.get("spec", {}), item.get("status", {})
    if item.get("kind") == "Pod":
        for container in (each for name in _CONTAINERS for each in spec.get(name, ())):
            if "image" in container:
                container["image"] = hidden(container["image"])
        for volume in spec.get("volumes", ()):
            if volume.get("image", {}).get("reference"):
                volume["image"]["reference"] = hidden(volume["image"]["reference"])
    elif item.get("kind") == "Node" and "images" in status:
        status["images"] = [image for image in map(_image, status["images"]) if not named.isdisjoint(image["names"])]
        if not status["images"]:
            del status["images"]


def _image(image: Json) -> Json:
    # One digest and one tag may hide to the same text: each name counts once.
    return {**image, "names": list(dict.fromkeys(map(hidden, image.get("names", ()))))}
