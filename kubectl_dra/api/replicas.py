"""Pods that run beside the devices, as they come in files: of many with the same spec one is decoded whole.

Each pod's own parts (metadata, status) are decoded for itself, its spec only as far as it has to be compared: one whose
spec is written like that of a pod just before takes over what was made of that. Pods that wait, have devices or belong
to a group are decoded whole, and a chunk in which anything is not as expected is left to who reads one by one. What
comes out equals what ``decode_object``, ``defaulted``, ``lean`` and ``share_pod`` make of each pod alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from sys import intern
from typing import Any, Final

import msgspec
from msgspec.structs import astuple

from kubectl_dra.api.decode import decode_object
from kubectl_dra.api.decoders import make_decoder
from kubectl_dra.api.defaults import defaulted
from kubectl_dra.api.kinds import POD
from kubectl_dra.api.lean import lean, lean_status
from kubectl_dra.api.sharing import NOTHING, share_pod, share_status
from kubectl_dra.model.base import Record
from kubectl_dra.model.core import Container, Pod, PodSpec, PodStatus
from kubectl_dra.model.meta import ObjectMeta, OwnerReference
from kubectl_dra.model.volumes import Volume

_NONE: Final = msgspec.Raw(b"")
#: Specs with which a pod is compared: replicas come one after the other, those of a few workloads in turns.
_MOST_SPECS: Final = 4
#: Texts of labels, and of owners, that are kept.
_MOST_TEXTS: Final = 20_000


def _form(record: type[msgspec.Struct], own: Mapping[str, Any], *, written: bool) -> type[msgspec.Struct]:
    """The form of a part of a pod: what is ``own`` is decoded to these types.

    The other fields are kept as they are ``written``, or decoded as the record says. New ones follow either rule.
    """
    fields: list[Any] = []
    for each in msgspec.structs.fields(record):
        kept = each.name not in own and written
        type_ = msgspec.Raw if kept else own.get(each.name, each.type)
        default = {"default": _NONE} if type_ is msgspec.Raw else _default(each)
        fields.append((each.name, type_, msgspec.field(name=each.encode_name, **default)))
    return msgspec.defstruct(f"{record.__name__}Form", fields, gc=False)


def _default(field: msgspec.structs.FieldInfo) -> dict[str, Any]:
    if field.default_factory is not msgspec.NODEFAULT:
        return {"default_factory": field.default_factory}
    return {"default": field.default}


# Names and paths of mounts, which differ from pod to pod, are no part of the record's form.
_mounts: Final = next(each.type for each in msgspec.structs.fields(Container) if each.name == "volume_mounts")
_Container: Final[Any] = _form(Container, {"volume_mounts": _mounts}, written=True)
_Volume: Final[Any] = _form(Volume, {"name": str}, written=True)
_containers: Final = tuple[_Container, ...]
_Spec: Final[Any] = _form(
    PodSpec,
    {
        "node_name": str,
        "containers": _containers,
        "init_containers": _containers,
        "ephemeral_containers": _containers,
        "volumes": tuple[_Volume, ...],
    },
    written=True,
)
_Meta: Final[Any] = _form(ObjectMeta, {"labels": msgspec.Raw, "owner_references": msgspec.Raw}, written=False)
_Written: Final[Any] = msgspec.defstruct(
    "PodForm",
    [
        ("metadata", _Meta),
        ("spec", _Spec),
        ("status", PodStatus),
        ("api_version", str | None, msgspec.field(default=None, name="apiVersion")),
        ("kind", str | None, None),
        # An item with items may be a list.
        ("items", msgspec.Raw | msgspec.UnsetType, msgspec.UNSET),
    ],
    gc=False,
)
_NO_SOURCE: Final = _Volume()
_LABELS: Final = ObjectMeta.__struct_fields__.index("labels")
_OWNERS: Final = ObjectMeta.__struct_fields__.index("owner_references")
_NAMESPACE: Final = ObjectMeta.__struct_fields__.index("namespace")
_ANNOTATIONS: Final = ObjectMeta.__struct_fields__.index("annotations")
_NODE: Final = PodSpec.__struct_fields__.index("node_name")

_Fields = tuple[tuple[Any, ...], tuple[Any, ...]]
_spec: Final[Callable[..., PodSpec]] = PodSpec

_pods: Final = make_decoder(list[_Written], numbers_as_text=True)
_items: Final = msgspec.json.Decoder(list[msgspec.Raw])
_labels: Final = msgspec.json.Decoder(dict[str, str])
_owners: Final = make_decoder(tuple[OwnerReference, ...])


class Replicas:
    """Pods of one file."""

    def __init__(self) -> None:
        # What is written, and the record's fields before and after the node; the one that was met last comes first.
        self._specs: list[tuple[Any, _Fields]] = []
        self._labels: dict[bytes, Any] = {}
        self._owners: dict[bytes, Any] = {}

    def of(self, data: bytes, api_version: str, kind: str) -> list[Record] | None:
        """The pods of an array, lean and shared; None where it is not one of pods of ``v1`` as they should be.

        ``api_version`` and ``kind`` are what the list says of items that don't say it themselves.
        """
        try:
            if not data.isascii():
                data.decode()  # the decoder does not look into parts that are kept raw
            written = _pods.decode(data)
            if not all([_is_pod(each, api_version, kind) for each in written]):  # noqa: C419 - quicker
                return None
            return self._records(written, data)
        except (ValueError, RecursionError):
            return None

    def _records(self, written: list[Any], data: bytes) -> list[Record]:
        found: list[Record] = []
        items: list[msgspec.Raw] | None = None
        for number, each in enumerate(written):
            node, spec = each.spec.node_name, each.spec
            fields: _Fields | None = None
            if shareable := _is_shareable(each):
                _forget_what_is_its_own(spec)
                fields = self._fields_of(spec)
            if fields is not None:
                found.append(self._made(each, node, fields))
                continue
            if items is None:
                items = _items.decode(data)
            pod = _alone(items[number])
            found.append(pod)
            if shareable:
                values = astuple(pod.spec)
                self._specs = [(spec, (values[:_NODE], values[_NODE + 1 :])), *self._specs[: _MOST_SPECS - 1]]
        return found

    def _fields_of(self, spec: Any) -> _Fields | None:  # noqa: ANN401 - a form
        for place, (known, fields) in enumerate(self._specs):
            if known == spec:
                if place:
                    self._specs.insert(0, self._specs.pop(place))
                return fields
        return None

    def _made(self, written: Any, node: str, fields: _Fields) -> Pod:  # noqa: ANN401 - a form
        meta = list(astuple(written.metadata))
        meta[_LABELS] = _kept(meta[_LABELS], self._labels, _labels.decode, NOTHING)
        meta[_OWNERS] = _kept(meta[_OWNERS], self._owners, _owners.decode, ())
        meta[_NAMESPACE] = intern(meta[_NAMESPACE])
        meta[_ANNOTATIONS] = meta[_ANNOTATIONS] or NOTHING
        status = written.status
        lean_status(status)
        share_status(status)
        before, after = fields
        return Pod(ObjectMeta(*meta), _spec(*before, intern(node), *after), status)


def _is_pod(written: Any, api_version: str, kind: str) -> bool:  # noqa: ANN401 - a form
    return (
        written.items is msgspec.UNSET
        and (written.api_version or api_version) == POD.api_version
        and (written.kind or kind) == POD.name
        and bool(written.metadata.name)
    )


def _is_shareable(written: Any) -> bool:  # noqa: ANN401 - a form
    """Whether a pod is on a node, has no devices and no group, and no defaults of its own."""
    spec, status = written.spec, written.status
    return bool(
        spec.node_name
        and spec.resource_claims is _NONE
        and spec.scheduling_group is _NONE
        and spec.workload_ref is _NONE
        and status.extended_resource_claim_status is None
        and status.phase
    )


def _forget_what_is_its_own(spec: Any) -> None:  # noqa: ANN401 - a form
    """Its node, and the names of volumes without a source that is looked at: the token's is another in each pod."""
    spec.node_name = ""
    read = []
    for volume in spec.volumes:
        name, volume.name = volume.name, ""
        if volume != _NO_SOURCE:
            volume.name = name
            read.append(volume)
    spec.volumes = tuple(read)


def _alone(item: msgspec.Raw) -> Pod:
    """A pod that is decoded whole. Raises ``DecodeError``."""
    pod = defaulted(decode_object(bytes(item), POD.api_version, POD))
    assert isinstance(pod, Pod)  # noqa: S101 - what the kind says
    lean(pod)
    share_pod(pod)
    return pod


def _kept(written: msgspec.Raw, known: dict[bytes, Any], decode: Callable[[bytes], Any], nothing: Any) -> Any:  # noqa: ANN401
    """What is written, decoded once."""
    if written is _NONE:
        return nothing
    text = bytes(written)
    found = known.get(text)
    if found is None:
        found = decode(text) or nothing
        if len(known) < _MOST_TEXTS:
            known[text] = found
    return found
