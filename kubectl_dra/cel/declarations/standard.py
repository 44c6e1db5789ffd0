"""Declarations of CEL's standard functions: sizes, conversions, string tests, parts of timestamps and durations."""

from __future__ import annotations

from kubectl_dra.cel.check.types import (
    BOOL,
    BYTES,
    CIDR,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    IP,
    STRING,
    TIMESTAMP,
    UINT,
    Type,
    list_of,
    map_of,
    param,
    type_of,
)
from kubectl_dra.cel.declarations.overload import Overload, Table, function, member

A, B = param("A"), param("B")
LIST_A, MAP_AB = list_of(A), map_of(A, B)


def _conversions(result: Type, *sources: tuple[str, Type]) -> tuple[Overload, ...]:
    return tuple(function(overload_id, (source,), result) for overload_id, source in sources)


def _calendar(name: str, with_zone: str = "") -> tuple[Overload, ...]:
    return (
        member(f"timestamp_to_{name}", (TIMESTAMP,), INT),
        member(with_zone or f"timestamp_to_{name}_with_tz", (TIMESTAMP, STRING), INT),
    )


def _clock(name: str, with_zone: str = "") -> tuple[Overload, ...]:
    return (*_calendar(name, with_zone), member(f"duration_to_{name}", (DURATION,), INT))


STANDARD: Table = {
    "size": (
        function("size_bytes", (BYTES,), INT),
        member("bytes_size", (BYTES,), INT),
        function("size_list", (LIST_A,), INT),
        member("list_size", (LIST_A,), INT),
        function("size_map", (MAP_AB,), INT),
        member("map_size", (MAP_AB,), INT),
        function("size_string", (STRING,), INT),
        member("string_size", (STRING,), INT),
    ),
    "type": (function("type", (A,), type_of(A)),),
    "bool": _conversions(BOOL, ("bool_to_bool", BOOL), ("string_to_bool", STRING)),
    "bytes": _conversions(BYTES, ("bytes_to_bytes", BYTES), ("string_to_bytes", STRING)),
    "double": _conversions(
        DOUBLE,
        ("double_to_double", DOUBLE),
        ("int64_to_double", INT),
        ("string_to_double", STRING),
        ("uint64_to_double", UINT),
    ),
    "duration": _conversions(DURATION, ("duration_to_duration", DURATION), ("string_to_duration", STRING)),
    "dyn": (function("to_dyn", (A,), DYN),),
    "int": _conversions(
        INT,
        ("int64_to_int64", INT),
        ("double_to_int64", DOUBLE),
        ("duration_to_int64", DURATION),
        ("string_to_int64", STRING),
        ("timestamp_to_int64", TIMESTAMP),
        ("uint64_to_int64", UINT),
    ),
    "string": _conversions(
        STRING,
        ("string_to_string", STRING),
        ("bool_to_string", BOOL),
        ("bytes_to_string", BYTES),
        ("double_to_string", DOUBLE),
        ("duration_to_string", DURATION),
        ("int64_to_string", INT),
        ("timestamp_to_string", TIMESTAMP),
        ("uint64_to_string", UINT),
        ("ip_to_string", IP),
        ("cidr_to_string", CIDR),
    ),
    "timestamp": _conversions(
        TIMESTAMP,
        ("timestamp_to_timestamp", TIMESTAMP),
        ("int64_to_timestamp", INT),
        ("string_to_timestamp", STRING),
    ),
    "uint": _conversions(
        UINT,
        ("uint64_to_uint64", UINT),
        ("double_to_uint64", DOUBLE),
        ("int64_to_uint64", INT),
        ("string_to_uint64", STRING),
    ),
    "contains": (member("contains_string", (STRING, STRING), BOOL),),
    "endsWith": (member("ends_with_string", (STRING, STRING), BOOL),),
    "startsWith": (member("starts_with_string", (STRING, STRING), BOOL),),
    "matches": (function("matches", (STRING, STRING), BOOL), member("matches_string", (STRING, STRING), BOOL)),
    "getFullYear": _calendar("year"),
    "getMonth": _calendar("month"),
    "getDayOfYear": _calendar("day_of_year"),
    "getDayOfMonth": _calendar("day_of_month"),
    "getDate": _calendar("day_of_month_1_based"),
    "getDayOfWeek": _calendar("day_of_week"),
    "getHours": _clock("hours"),
    "getMinutes": _clock("minutes"),
    "getSeconds": _clock("seconds", "timestamp_to_seconds_tz"),
    "getMilliseconds": _clock("milliseconds"),
}
