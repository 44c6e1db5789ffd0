"""Objects as plain JSON trees, for what has to see fields that no record holds."""

from __future__ import annotations

import json
from typing import Any, Final

import msgspec

_UNREADABLE: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
# No object of ours nests deeper; opaque parameters may, and stay unread where they are only passed on.
_MAX_DEPTH: Final = 200
_any: Final = msgspec.json.Decoder(object)
_fields: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])

Fields = dict[str, msgspec.Raw]


def read_tree(data: bytes) -> Any:  # noqa: ANN401 - any JSON value
    """The value of JSON in valid UTF-8; None if it can't be read or nests without end."""
    try:
        tree = _any.decode(data)
    except _UNREADABLE:
        return None
    return tree if _is_shallow(tree) else None


def read_fields(data: bytes | msgspec.Raw) -> Fields:
    """The fields of an object, each as it was written; none if it is no object."""
    try:
        return _fields.decode(data)
    except _UNREADABLE:
        return {}


def in_utf8(data: bytes) -> bytes:
    """The same JSON in valid UTF-8, so that all of it can be read; what is no JSON stays as it is."""
    try:
        _any.decode(data)
    except _UNREADABLE:
        try:
            value = json.loads(data.decode("utf-8", "replace"))
            return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
        except (ValueError, RecursionError):
            return data
    return data


def _is_shallow(tree: Any) -> bool:  # noqa: ANN401 - any JSON value
    level = [tree]
    for _ in range(_MAX_DEPTH):
        nested = [value for value in level if isinstance(value, dict | list)]
        level = [item for value in nested for item in (value.values() if isinstance(value, dict) else value)]
        if not level:
            return True
    return False
