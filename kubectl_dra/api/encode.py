"""Encoding: a record as the JSON of its kind in v1, losslessly."""

from __future__ import annotations

from typing import Final

import msgspec

from kubectl_dra.api.kinds import Kind
from kubectl_dra.api.quantities import encode_hook
from kubectl_dra.model.base import Record
from kubectl_dra.model.meta import LocalObject

_encoder: Final = msgspec.json.Encoder(enc_hook=encode_hook)


def encode(record: Record, kind: Kind) -> bytes:
    """The object as JSON, ``apiVersion`` and ``kind`` first. Text is UTF-8; escaping is the writer's business."""
    body = _encoder.encode(record)
    if isinstance(record, LocalObject):
        return body
    head = _encoder.encode({"apiVersion": kind.api_version, "kind": kind.name})
    return head[:-1] + (b"," if len(body) > 2 else b"") + body[1:]


def encode_part(part: object) -> bytes:
    """Any part of an object (a selector, a result) as JSON."""
    return _encoder.encode(part)
