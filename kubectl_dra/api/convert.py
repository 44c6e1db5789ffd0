"""Conversion of objects between generations, with every loss named. Pure: bytes in, bytes out.

Objects are converted together, because old ones refer to each other (classes, parameters, pools). Objects of other
kinds pass through; only a pod's nested claim source is brought into its present form.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from kubectl_dra.api import classic_to_v1, devmgmtproto
from kubectl_dra.api.admission.slices import max_devices
from kubectl_dra.api.classic_to_v1 import Parameters, note_name
from kubectl_dra.api.decode import DecodeError, decode_any, read_header
from kubectl_dra.api.defaults import defaulted
from kubectl_dra.api.devmgmtproto_pools import pool_to_record
from kubectl_dra.api.encode import encode
from kubectl_dra.api.generations import UnsupportedVersionError, shape_of
from kubectl_dra.api.kinds import DEVICE_CLASS, RESOURCE_GROUP, RESOURCE_SLICE, Kind
from kubectl_dra.api.losses import Loss, Losses
from kubectl_dra.api.names import LEGAL
from kubectl_dra.api.podclaims import flattened_sources
from kubectl_dra.api.resolve import complete_pools
from kubectl_dra.api.sources import Source
from kubectl_dra.api.strict import unknown_fields
from kubectl_dra.api.trees import Fields, at, broken_texts, in_utf8, list_at, read_fields, read_tree
from kubectl_dra.api.validate import FieldError, validate
from kubectl_dra.model.base import Record
from kubectl_dra.model.classic import (
    ClassicDeviceClass,
    ClassicResourceClaim,
    ClassicResourceClaimTemplate,
    NamedResourcesSlice,
    PodSchedulingContext,
    ResourceClaimParameters,
    ResourceClass,
    ResourceClassParameters,
)
from kubectl_dra.model.evidence import BadObject
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.meta import ObjectMeta
from kubectl_dra.model.poolstatus import ResourcePoolStatusRequest
from kubectl_dra.model.proto import PrototypeClaim, PrototypeClass, PrototypeSlice
from kubectl_dra.model.resource import DeviceTaintRule, ResourceClaim, ResourceClaimStatus, ResourceSlice

TARGETS: Final = ("v1", "v1beta2", "v1beta1")
_WITH_REFERENCES: Final = frozenset({f"{RESOURCE_GROUP}/v1alpha2", "devmgmtproto.k8s.io/v1alpha1"})


@dataclass(frozen=True, slots=True)
class Conversion:
    """What became of one object.

    ``objects`` holds JSON, none where nothing corresponds to it; ``error`` is set if it could not be read, and then it
    is passed on as it was. ``refused`` says what the target's server would not accept, admin access assumed granted.
    """

    kind: str
    namespace: str
    name: str
    objects: tuple[bytes, ...] = ()
    losses: tuple[Loss, ...] = ()
    refused: tuple[FieldError, ...] = ()
    error: str = ""


@dataclass(slots=True)
class _Result:
    """Records of v1 with their kinds, and what got lost on the way."""

    records: list[tuple[Kind, Record]]
    losses: Losses = field(default_factory=Losses)


def convert(sources: Sequence[Source], target: str = "v1") -> list[Conversion]:
    """Convert objects to one of :data:`TARGETS`, in order. Raises :class:`ValueError` for another target."""
    if target not in TARGETS:
        raise ValueError(f"can't convert to {target}: only to {', '.join(TARGETS)}")
    readable = [source._replace(data=in_utf8(source.data)) for source in sources]
    pairs = list(zip(sources, readable, strict=True))
    # Records are larger than what is written, so only those that others may refer to are kept from the beginning.
    kept = {place: _found(*pair) for place, pair in enumerate(pairs) if _is_referred_to(pair[1])}
    surroundings = _Surroundings(each[1] for each in kept.values() if isinstance(each, tuple))

    def converted(place: int, original: Source, source: Source) -> Conversion:
        each = kept.pop(place) if place in kept else _found(original, source)
        # What can't be read is passed on as it was written, broken texts included.
        written = original if isinstance(each, BadObject) else source
        return with_broken_texts(_conversion(written, each, surroundings, target), original.data)

    return [converted(place, *pair) for place, pair in enumerate(pairs)]


def _is_referred_to(source: Source) -> bool:
    """Whether other objects may refer to this one: parameters, pools and classes of the oldest generations."""
    try:
        return (read_header(source.data).api_version or source.api_version) in _WITH_REFERENCES
    except DecodeError:
        return False


def _found(original: Source, readable: Source) -> tuple[Kind, Record] | BadObject | None:
    """What ``readable`` says; of what can't be read, the error quotes the ``original``."""
    found = decode_any(readable.data, readable.api_version, readable.kind)
    if not isinstance(found, BadObject) or readable.data == original.data:
        return found
    quoted = decode_any(original.data, original.api_version, original.kind)
    return quoted if isinstance(quoted, BadObject) else found


def with_broken_texts(conversion: Conversion, data: bytes) -> Conversion:
    """The conversion of what was written as ``data``, with the texts named as lost that are no Unicode."""
    broken = tuple(Loss(path, "is not valid Unicode text; U+FFFD replaces what is not") for path in broken_texts(data))
    return dataclasses.replace(conversion, losses=(*broken, *conversion.losses)) if broken else conversion


class _Surroundings:
    """The objects that others refer to."""

    def __init__(self, records: Iterator[Record]) -> None:
        # By name, as which of them are taken first must not depend on the order of the manifests.
        everything = sorted(records, key=lambda record: key_of(record.metadata))  # type: ignore[attr-defined]
        self.parameters = Parameters(
            {key_of(r.metadata): r for r in everything if isinstance(r, ResourceClaimParameters)},
            {key_of(r.metadata): r for r in everything if isinstance(r, ResourceClassParameters)},
        )
        self.prototype = devmgmtproto.Surroundings(
            tuple(r.prototype for r in everything if isinstance(r, PrototypeClass)),
            tuple(r.prototype for r in everything if isinstance(r, PrototypeSlice)),
            LEGAL,
        )
        self.slices = complete_pools({r.metadata.name: r for r in everything if isinstance(r, NamedResourcesSlice)})


def _conversion(
    source: Source, found: tuple[Kind, Record] | BadObject | None, surroundings: _Surroundings, target: str
) -> Conversion:
    if isinstance(found, BadObject):
        kind_name = _text(read_fields(in_utf8(source.data)), "kind") or source.kind or found.kind
        return Conversion(kind_name, found.namespace, found.name, (_as_written(source),), error=found.error)
    if found is None or found[0].group != RESOURCE_GROUP:
        return _other(source, found)
    kind, record = found
    meta: ObjectMeta = record.metadata  # type: ignore[attr-defined]
    data = source.data
    tree = read_fields(data)
    result = _to_v1(kind, record, surroundings)
    for path in _unknown(data, source.api_version, kind):
        result.losses.at(path).add("no such field in this version; it is dropped")
    objects = tuple(_encoded(kind, v1, target, tree, meta.name, result.losses) for kind, v1 in result.records)
    refused = tuple(error for _, v1 in result.records for error in _refused(v1))
    name = _text(tree, "kind") or source.kind or kind.name
    return Conversion(name, meta.namespace, meta.name, objects, tuple(result.losses.found), refused)


def _as_written(source: Source) -> bytes:
    """An object that can't be read; an item of a typed list with what the list says that it is."""
    fields = read_fields(source.data)
    if not fields or "kind" in fields or not source.kind:
        return source.data
    head = {"apiVersion": source.api_version, "kind": source.kind}
    return msgspec.json.encode({**head, **fields})


def _refused(record: Record) -> Iterator[FieldError]:
    """The server's errors; a manifest may leave its namespace to the command that applies it."""
    errors = validate(defaulted(record))
    return (error for error in errors if (error.path, error.problem) != ("metadata.namespace", "Required value"))


def _other(source: Source, found: tuple[Kind, Record] | None) -> Conversion:
    tree = read_fields(source.data)
    meta = read_fields(tree["metadata"]) if "metadata" in tree else {}
    kind = _text(tree, "kind") or source.kind or (found[0].name if found else "")
    data = flattened_sources(source.data)
    if tree and not _text(tree, "kind"):
        data = msgspec.json.encode({"apiVersion": source.api_version, "kind": kind, **read_fields(data)})
    return Conversion(kind, _text(meta, "namespace"), _text(meta, "name"), (data,))


def _unknown(data: bytes, api_version: str, kind: Kind) -> list[str]:
    tree = read_tree(data) or {}
    version = tree.get("apiVersion") or api_version
    unknown = unknown_fields(tree, shape_of(version, kind).struct)
    if kind is RESOURCE_SLICE and version == kind.api_version_of("v1beta1"):
        unknown += _named_twice(tree)
    return unknown


def _named_twice(tree: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    """Names below ``basic``, which v1beta1 has not there; our record of a device has one for all versions."""
    for index, device in enumerate(list_at(at(tree, "spec"), "devices")):
        if "name" in at(device, "basic"):
            yield f"spec.devices[{index}].basic.name"


def _text(tree: Fields, name: str) -> str:
    value = read_tree(bytes(tree[name])) if name in tree else ""
    return value if isinstance(value, str) else ""


# --- to v1 ----------------------------------------------------------------------------------------------------------


def _to_v1(kind: Kind, record: Record, surroundings: _Surroundings) -> _Result:
    result = _Result([])
    losses = result.losses
    match record:
        case PrototypeClass():
            v1: Record | None = devmgmtproto.class_to_record(record.prototype, surroundings.prototype, losses)
        case PrototypeClaim():
            v1 = _without_status(devmgmtproto.claim_to_record(record.prototype, surroundings.prototype, losses), losses)
        case PrototypeSlice():
            result.records = [(kind, part) for part in _slices(record, surroundings, losses)]
            return result
        case ClassicResourceClaim() if record.classic.resource_class_name:
            v1 = classic_to_v1.claim_to_v1(record, surroundings.parameters, losses)
        case ClassicResourceClaimTemplate() if record.classic.resource_class_name:
            v1 = classic_to_v1.template_to_v1(record, surroundings.parameters, losses)
        case NamedResourcesSlice():
            complete = surroundings.slices[record.metadata.name]
            v1 = classic_to_v1.slice_to_v1(complete if isinstance(complete, NamedResourcesSlice) else record, losses)
        case ResourceClass():
            v1 = classic_to_v1.class_to_v1(record, surroundings.parameters, losses)
            kind = DEVICE_CLASS
        case _:
            v1 = _controllers_left_out(record, losses)
    result.records = [] if v1 is None else [(kind, v1)]
    return result


def _without_status(claim: ResourceClaim, losses: Losses) -> ResourceClaim:
    """The prototype did not record for which request a device was allocated, without which v1 accepts no allocation."""
    if claim.status.allocation is not None:
        losses.at("status.allocations").add("v1 records for which request a device was allocated, which is not known")
    if claim.status.devices:
        losses.at("status.deviceStatuses").add("v1 has them only for devices in the allocation")
    return replace(claim, status=ResourceClaimStatus())


def _controllers_left_out(record: Record, losses: Losses) -> Record | None:
    """A v1 record without what only v1alpha3 knew; None for kinds that v1 replaced by nothing."""
    match record:
        case ClassicResourceClaim():
            _note_controllers(record, losses)
        case ClassicResourceClaimTemplate():
            losses.at("spec.spec.controller").add(_CONTROLLER)
        case ClassicDeviceClass():
            losses.at("spec.suitableNodes").add("v1 classes don't limit nodes; slices say where devices are")
        case DeviceTaintRule():
            return _rule(record, losses)
        case PodSchedulingContext():
            losses.add("the scheduler of v1 asks no driver; nothing corresponds to this object")
            return None
        case ResourceClaimParameters() | ResourceClassParameters():
            losses.add("v1 has no parameter objects; what refers to it takes over its content")
            return None
    return record


_CONTROLLER: Final = "v1 has no allocation by a driver's controller; the scheduler decides"


def _note_controllers(claim: ClassicResourceClaim, losses: Losses) -> None:
    classic = claim.classic
    if classic.controller:
        losses.at("spec.controller").add(_CONTROLLER)
    if classic.allocation_controller:
        losses.at("status.allocation.controller").add(_CONTROLLER)
    if classic.deallocation_requested:
        losses.at("status.deallocationRequested").add("v1 has no request to deallocate; unused claims are simply freed")


def _rule(rule: DeviceTaintRule, losses: Losses) -> DeviceTaintRule | None:
    """A rule of 1.33 or 1.34 may select by class or CEL; without these it would hit other devices."""
    selector, here = rule.spec.device_selector, losses.at("spec.deviceSelector")
    if selector is None or not (selector.device_class_name or selector.selectors):
        return rule
    for name, value in (("deviceClassName", selector.device_class_name), ("selectors", selector.selectors)):
        if value:
            here.at(name).add(
                "v1 rules select only by driver, pool and device; the rule would hit others, so it is left out"
            )
    return None


def _slices(record: PrototypeSlice, surroundings: _Surroundings, losses: Losses) -> list[ResourceSlice]:
    """A pool as slices: counters and devices may not share one, and a slice holds only so many devices."""
    whole = pool_to_record(record.prototype, surroundings.prototype.names, losses)
    _note_names(record, losses.at("spec"))
    if record.prototype.status.available_devices:
        losses.at("status.availableDevices").add("v1 slices have no status; what is free follows from the claims")
    spec, step = whole.spec, max_devices(whole.spec.devices)
    parts = [
        replace(spec, devices=spec.devices[start : start + step], shared_counters=())
        for start in range(0, max(len(spec.devices), 1), step)
    ]
    if spec.shared_counters:
        parts.append(replace(spec, devices=()))
    pool, name = replace(spec.pool, resource_slice_count=len(parts)), record.metadata.name
    labels, annotations = record.metadata.labels, record.metadata.annotations
    metas = [ObjectMeta(f"{name}-{i}", labels=labels, annotations=annotations) for i in range(1, len(parts))]
    return [
        ResourceSlice(meta, replace(part, pool=pool))
        for meta, part in zip([record.metadata, *metas], parts, strict=True)
    ]


def _note_names(record: PrototypeSlice, losses: Losses) -> None:
    spec = record.prototype.spec
    note_name(spec.driver, LEGAL.driver(spec.driver), losses.at("driver"))
    for index, resource in enumerate(spec.resources):
        note_name(resource.name, LEGAL.device(resource.name), losses.at(f"resources[{index}].name"))
    for index, device in enumerate(spec.devices):
        here = losses.at(f"devices[{index}]")
        note_name(device.name, LEGAL.device(device.name), here.at("name"))
        for number, attribute in enumerate(device.attributes):
            note_name(attribute.name, LEGAL.attribute(attribute.name), here.at(f"attributes[{number}].name"))
    for number, attribute in enumerate(spec.attributes):
        note_name(attribute.name, LEGAL.attribute(attribute.name), losses.at(f"attributes[{number}].name"))


# --- from v1 --------------------------------------------------------------------------------------------------------


def _encoded(kind: Kind, record: Record, target: str, tree: Fields, old_name: str, losses: Losses) -> bytes:
    """The object in the target version, with the metadata that it had."""
    _note_target(record, target, losses)
    try:
        data = encode(record, kind, kind.api_version_of(target))
    except UnsupportedVersionError:
        if not isinstance(record, ResourcePoolStatusRequest):  # it has one version, everywhere
            losses.add(f"{target} has no {kind.name}; it stays {kind.versions[0]}")
        data = encode(record, kind)
    made = read_fields(data)
    if made.get("status") == msgspec.Raw(b"{}"):
        del made["status"]
    same_object = getattr(record, "metadata", ObjectMeta()).name == old_name
    if same_object and "metadata" in tree:
        made["metadata"] = tree["metadata"]
    if kind.name == "ResourceClaimTemplate":
        made = _with_inner_metadata(made, tree)
    return msgspec.json.encode(made)


def _with_inner_metadata(made: Fields, tree: Fields) -> Fields:
    """A template's ``spec.metadata`` as it was written."""
    old, new = (read_fields(t["spec"]) if "spec" in t else {} for t in (tree, made))
    if "metadata" in old and new:
        made["spec"] = msgspec.Raw(msgspec.json.encode(new | {"metadata": old["metadata"]}))
    elif new.get("metadata") == msgspec.Raw(b"{}"):
        made["spec"] = msgspec.Raw(msgspec.json.encode({key: part for key, part in new.items() if key != "metadata"}))
    return made


def _note_target(record: Record, target: str, losses: Losses) -> None:
    if target == "v1beta1" and isinstance(record, ResourceSlice):
        if record.spec.node_name == "":
            losses.at("spec.nodeName").add("v1beta1 can't tell an empty name from none")
        if record.spec.all_nodes is False:
            losses.at("spec.allNodes").add("v1beta1 can't tell false from unset")
