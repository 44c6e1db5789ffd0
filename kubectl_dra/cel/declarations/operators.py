"""Declarations of CEL's operators under their names in the tree (``_+_``, ``@in``, ``_[_]``, ``_?._``, ...)."""

from __future__ import annotations

from kubectl_dra.cel.check.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    STRING,
    TIMESTAMP,
    UINT,
    list_of,
    map_of,
    optional_of,
    param,
)
from kubectl_dra.cel.declarations.overload import Overload, Table, function

A, B = param("A"), param("B")
K, V = param("K"), param("V")
LIST_A, MAP_AB = list_of(A), map_of(A, B)
LIST_V, MAP_KV = list_of(V), map_of(K, V)

ORDERED = (
    ("bool", BOOL, BOOL),
    ("int64", INT, INT),
    ("int64_double", INT, DOUBLE),
    ("int64_uint64", INT, UINT),
    ("uint64", UINT, UINT),
    ("uint64_double", UINT, DOUBLE),
    ("uint64_int64", UINT, INT),
    ("double", DOUBLE, DOUBLE),
    ("double_int64", DOUBLE, INT),
    ("double_uint64", DOUBLE, UINT),
    ("string", STRING, STRING),
    ("bytes", BYTES, BYTES),
    ("timestamp", TIMESTAMP, TIMESTAMP),
    ("duration", DURATION, DURATION),
)


def _order(prefix: str) -> tuple[Overload, ...]:
    return tuple(function(f"{prefix}_{suffix}", (left, right), BOOL) for suffix, left, right in ORDERED)


def _membership(requires: str = "") -> tuple[Overload, ...]:
    return (function("in_list", (A, LIST_A), BOOL, requires), function("in_map", (A, MAP_AB), BOOL, requires))


OPERATORS: Table = {
    "_?_:_": (function("conditional", (BOOL, A, A), A),),
    "_&&_": (function("logical_and", (BOOL, BOOL), BOOL),),
    "_||_": (function("logical_or", (BOOL, BOOL), BOOL),),
    "!_": (function("logical_not", (BOOL,), BOOL),),
    "@not_strictly_false": (function("not_strictly_false", (BOOL,), BOOL),),
    "__not_strictly_false__": (function("__not_strictly_false__", (BOOL,), BOOL, "never"),),
    "_==_": (function("equals", (A, A), BOOL),),
    "_!=_": (function("not_equals", (A, A), BOOL),),
    "_+_": (
        function("add_bytes", (BYTES, BYTES), BYTES),
        function("add_double", (DOUBLE, DOUBLE), DOUBLE),
        function("add_duration_duration", (DURATION, DURATION), DURATION),
        function("add_duration_timestamp", (DURATION, TIMESTAMP), TIMESTAMP),
        function("add_timestamp_duration", (TIMESTAMP, DURATION), TIMESTAMP),
        function("add_int64", (INT, INT), INT),
        function("add_list", (LIST_A, LIST_A), LIST_A),
        function("add_string", (STRING, STRING), STRING),
        function("add_uint64", (UINT, UINT), UINT),
    ),
    "_/_": (
        function("divide_double", (DOUBLE, DOUBLE), DOUBLE),
        function("divide_int64", (INT, INT), INT),
        function("divide_uint64", (UINT, UINT), UINT),
    ),
    "_%_": (function("modulo_int64", (INT, INT), INT), function("modulo_uint64", (UINT, UINT), UINT)),
    "_*_": (
        function("multiply_double", (DOUBLE, DOUBLE), DOUBLE),
        function("multiply_int64", (INT, INT), INT),
        function("multiply_uint64", (UINT, UINT), UINT),
    ),
    "-_": (function("negate_double", (DOUBLE,), DOUBLE), function("negate_int64", (INT,), INT)),
    "_-_": (
        function("subtract_double", (DOUBLE, DOUBLE), DOUBLE),
        function("subtract_duration_duration", (DURATION, DURATION), DURATION),
        function("subtract_int64", (INT, INT), INT),
        function("subtract_timestamp_duration", (TIMESTAMP, DURATION), TIMESTAMP),
        function("subtract_timestamp_timestamp", (TIMESTAMP, TIMESTAMP), DURATION),
        function("subtract_uint64", (UINT, UINT), UINT),
    ),
    "_<_": _order("less"),
    "_<=_": _order("less_equals"),
    "_>_": _order("greater"),
    "_>=_": _order("greater_equals"),
    "_[_]": (
        function("index_list", (LIST_A, INT), A),
        function("index_map", (MAP_AB, A), B),
        function("optional_list_index_int", (optional_of(LIST_V), INT), optional_of(V)),
        function("optional_map_index_value", (optional_of(MAP_KV), K), optional_of(V)),
    ),
    "_[?_]": (
        function("list_optindex_optional_int", (LIST_V, INT), optional_of(V)),
        function("optional_list_optindex_optional_int", (optional_of(LIST_V), INT), optional_of(V)),
        function("map_optindex_optional_value", (MAP_KV, K), optional_of(V)),
        function("optional_map_optindex_optional_value", (optional_of(MAP_KV), K), optional_of(V)),
    ),
    "_?._": (function("select_optional_field", (DYN, STRING), optional_of(V)),),
    "@in": _membership(),
    "_in_": _membership("never"),
    "in": _membership("never"),
}
