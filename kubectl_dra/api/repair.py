"""The slow path of decoding: reads what Go's JSON reads and a strict decoder refuses, and says exactly what is wrong.

Null counts as absent (in a map or list: as the element's zero value), a number may stand for a quantity, broken UTF-8
and lone surrogates become U+FFFD. What is wrong beyond that is raised with its path. Upstream: sigs.k8s.io/json.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, NoReturn

import msgspec
from msgspec import inspect

from kubectl_dra.api.trees import below, json_words
from kubectl_dra.model.quantity import Quantity, QuantityError

_INT64: Final = range(-(2**63), 2**63)
_INTEGER: Final = re.compile(r"-?[0-9]{1,20}")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class ShapeError(ValueError):
    """Raised when an object can't be read; ``path`` is like ``spec.devices[2].capacity["memory"].value``."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path}: {problem}" if path else problem)
        self.path = path
        self.problem = problem


class _Number:
    """A number's literal text, so that nothing is lost between reading and writing it."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


def repaired(data: bytes, struct: type[msgspec.Struct]) -> bytes:
    """``data`` as JSON that decodes into ``struct``. Raises :class:`ShapeError`."""
    try:
        value = json.loads(
            data.decode("utf-8", "replace"), parse_float=_Number, parse_int=_Number, parse_constant=_refuse
        )
        return msgspec.json.encode(_walk(value, inspect.type_info(struct), ""), enc_hook=_literal)
    except json.JSONDecodeError as error:
        raise ShapeError("", f"not JSON: {json_words(error.msg)} (column {error.pos + 1})") from error
    except RecursionError:
        raise ShapeError("", "nested too deeply") from None


def _refuse(name: str) -> NoReturn:
    raise ShapeError("", f"not JSON: {name} is not a number")


def _literal(value: object) -> msgspec.Raw:
    if not isinstance(value, _Number):
        raise TypeError(type(value).__name__)
    return msgspec.Raw(value.text.encode())


def _walk(value: Any, wanted: inspect.Type, path: str) -> Any:  # noqa: ANN401 - any JSON value
    match wanted:
        case inspect.StructType():
            return _struct(value, wanted, path)
        case inspect.UnionType():
            return _walk(value, next(t for t in wanted.types if not isinstance(t, inspect.NoneType)), path)
        case inspect.VarTupleType():
            return [_element(item, wanted.item_type, f"{path}[{i}]") for i, item in enumerate(_list(value, path))]
        case inspect.DictType():
            return {
                _clean(key): _element(item, wanted.value_type, below(path, key))
                for key, item in _object(value, path).items()
            }
        case inspect.CustomType():
            return _quantity(value, path)
        case inspect.RawType():
            return _clean(value)
        case _:
            return _scalar(value, wanted, path)


def _struct(value: Any, wanted: inspect.StructType, path: str) -> dict[str, Any]:  # noqa: ANN401
    fields = _object(value, path)
    present = ((field.encode_name, field.type) for field in wanted.fields if fields.get(field.encode_name) is not None)
    return {name: _walk(fields[name], kind, f"{path}.{name}" if path else name) for name, kind in present}


def _element(value: Any, wanted: inspect.Type, path: str) -> Any:  # noqa: ANN401
    return _zero(wanted) if value is None else _walk(value, wanted, path)


def _zero(wanted: inspect.Type) -> Any:  # noqa: ANN401
    match wanted:
        case inspect.StructType() | inspect.DictType():
            return {}
        case inspect.VarTupleType():
            return []
        case inspect.IntType():
            return 0
        case inspect.BoolType():
            return False
        case inspect.CustomType():
            return "0"
        case _:
            return ""


def _quantity(value: Any, path: str) -> str:  # noqa: ANN401
    text = value.text if isinstance(value, _Number) else value
    if not isinstance(text, str):
        raise ShapeError(path, f"expected a quantity, got {_name(value)}")
    try:
        Quantity.parse(text.strip())
    except QuantityError as error:
        raise ShapeError(path, f'"{text[:64]}" is not a valid quantity: {error}') from error
    return text


def _scalar(value: Any, wanted: inspect.Type, path: str) -> Any:  # noqa: ANN401
    match wanted:
        case inspect.StrType() if isinstance(value, str):
            return _clean(value)
        case inspect.BoolType() if isinstance(value, bool):
            return value
        case inspect.IntType() if isinstance(value, _Number) and _INTEGER.fullmatch(value.text):
            if int(value.text) in _INT64:
                return value
            raise ShapeError(path, f"{value.text} does not fit into 64 bits")
    names = {inspect.StrType: "a string", inspect.BoolType: "true or false", inspect.IntType: "an integer"}
    raise ShapeError(path, f"expected {names.get(type(wanted), 'another value')}, got {_name(value)}")


def _object(value: Any, path: str) -> dict[str, Any]:  # noqa: ANN401
    if not isinstance(value, dict):
        raise ShapeError(path, f"expected an object, got {_name(value)}")
    return value


def _list(value: Any, path: str) -> list[Any]:  # noqa: ANN401
    if not isinstance(value, list):
        raise ShapeError(path, f"expected a list, got {_name(value)}")
    return value


def _name(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case str():
            return "a string"
        case _Number():
            return f"the number {value.text[:32]}"
        case list():
            return "a list"
        case _:
            return "an object"


def _clean(value: Any) -> Any:  # noqa: ANN401
    match value:
        case str():
            return _SURROGATE.sub("\ufffd", value) if _SURROGATE.search(value) else value
        case dict():
            return {_clean(key): _clean(item) for key, item in value.items()}
        case list():
            return [_clean(item) for item in value]
        case _:
            return value
