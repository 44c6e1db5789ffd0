"""Fields that a version of the API does not have: what the server's strict field validation would call unknown.

Metadata is not looked at: our records hold only a part of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import msgspec
from msgspec import inspect

from kubectl_dra.api.trees import below

_TYPE_META: Final = frozenset({"apiVersion", "kind"})
STEP: Final = re.compile(r'[A-Za-z0-9_-]+|"(?:[^"\\\\]|\\\\.)*"')
_UNCHECKED: Final = frozenset({"metadata"})


def unknown_fields(tree: Any, struct: type[msgspec.Struct]) -> list[str]:  # noqa: ANN401 - any JSON value
    """Paths of the fields of an object (as parsed JSON) that ``struct`` does not have, in the object's order."""
    return [path for path in _struct(tree, _shape(struct), "") if path not in _TYPE_META]


def known_fields(struct: type[msgspec.Struct], path: str = "") -> tuple[str, ...]:
    """The fields that the object at ``path`` may have; empty where the schema has no object."""
    wanted: inspect.Type = _shape(struct)
    for step in STEP.findall(path):
        wanted = _below(wanted, step)
    wanted = _object(wanted)
    return tuple(field.encode_name for field in wanted.fields) if isinstance(wanted, inspect.StructType) else ()


def _below(wanted: inspect.Type, step: str) -> inspect.Type:
    wanted = _object(wanted)
    match wanted:
        case inspect.StructType():
            return next((field.type for field in wanted.fields if field.encode_name == step), inspect.AnyType())
        case inspect.VarTupleType():
            return wanted.item_type
        case inspect.DictType():
            return wanted.value_type
        case _:
            return inspect.AnyType()


def _object(wanted: inspect.Type) -> inspect.Type:
    if isinstance(wanted, inspect.UnionType):
        return next(choice for choice in wanted.types if not isinstance(choice, inspect.NoneType))
    return wanted


@cache
def _shape(struct: type[msgspec.Struct]) -> inspect.Type:
    return inspect.type_info(struct)


def _walk(value: Any, wanted: inspect.Type, path: str) -> Iterator[str]:  # noqa: ANN401
    match wanted:
        case inspect.StructType():
            yield from _struct(value, wanted, path)
        case inspect.UnionType():
            for choice in wanted.types:
                yield from _walk(value, choice, path)
        case inspect.VarTupleType() if isinstance(value, list):
            for index, item in enumerate(value):
                yield from _walk(item, wanted.item_type, f"{path}[{index}]")
        case inspect.DictType() if isinstance(value, dict):
            for key, item in value.items():
                yield from _walk(item, wanted.value_type, below(path, key))


def _struct(value: Any, wanted: inspect.Type, path: str) -> Iterator[str]:  # noqa: ANN401
    if not isinstance(value, dict) or not isinstance(wanted, inspect.StructType):
        return
    known = {field.encode_name: field.type for field in wanted.fields}
    for key, item in value.items():
        if key not in known:
            yield below(path, key)
        elif key not in _UNCHECKED:
            yield from _walk(item, known[key], below(path, key))
