"""Objects as YAML: exactly what was read, in the API's own shape."""

from __future__ import annotations

import re

from msgspec.structs import replace

from kubectl_dra.api.encode import encode
from kubectl_dra.api.kinds import BY_NAME
from kubectl_dra.cluster import ClusterState
from kubectl_dra.cluster.edits import find
from kubectl_dra.model.base import Record
from kubectl_dra.model.ids import DeviceId, Key, PoolId
from kubectl_dra.output.documents import objects_bytes, to_yaml
from kubectl_dra.output.safe import Safe, Style, safe, styled
from kubectl_dra.tui.view import Document

# A field of a block mapping; what it looks like inside of a block of text is only a colour.
_FIELD = re.compile(r"(?P<indent> *(?:- )*)(?P<name>[\w./-]+)(?P<rest>:(?: .*)?)")


def object_document(kind: str) -> Document:
    """Objects of a kind, as far as they were read, by namespace and name or by their name."""

    def document(cluster: ClusterState, of: Key | str) -> bytes | None:
        return _encoded(find(cluster.inventory, kind, of if isinstance(of, Key) else Key("", of)), kind)

    return document


def pool_document(cluster: ClusterState, pool: PoolId) -> bytes | None:
    """The slices of a pool's newest generation."""
    slices = [_encoded(each, "ResourceSlice") for each in cluster.newest(pool)]
    return objects_bytes([each for each in slices if each is not None]) if slices else None


def device_document(cluster: ClusterState, device: DeviceId) -> bytes | None:
    """The slice that publishes a device, without the other devices."""
    for slice_, own in cluster.inventory.named(device):
        return _encoded(replace(slice_, spec=replace(slice_.spec, devices=(own,))), "ResourceSlice")
    return None


def yaml_lines(document: bytes) -> list[Safe]:
    """A document as lines of YAML, the names of fields in a colour."""
    return [_coloured(line) for line in to_yaml(document).splitlines()]


def _coloured(line: str) -> Safe:
    parts = _FIELD.fullmatch(line)
    if parts is None:
        return safe(line)
    return Safe(parts["indent"]) + styled(safe(parts["name"]), Style.NAME) + safe(parts["rest"])


def _encoded(record: Record | None, kind: str) -> bytes | None:
    return encode(record, BY_NAME[kind]) if record is not None else None
