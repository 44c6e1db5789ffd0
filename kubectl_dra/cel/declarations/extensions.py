"""Declarations of CEL's extension libraries in use here: optionals, strings, lists, sets, map insertion.

Declarations of the authorization library, which every Kubernetes environment has; no selector has an authorizer.
"""

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
    Type,
    list_of,
    map_of,
    optional_of,
    param,
)
from kubectl_dra.cel.declarations.overload import Overload, Table, function, member

K, T, V = param("K"), param("T"), param("V")
LIST_T, LIST_V, LIST_DYN, LIST_STRING = list_of(T), list_of(V), list_of(DYN), list_of(STRING)
MAP_KV, OPTIONAL_V = map_of(K, V), optional_of(V)

SORTABLE = (
    ("int", INT),
    ("uint", UINT),
    ("double", DOUBLE),
    ("bool", BOOL),
    ("google.protobuf.Duration", DURATION),
    ("google.protobuf.Timestamp", TIMESTAMP),
    ("string", STRING),
    ("bytes", BYTES),
)
_AUTHORIZER = Type("object", name="kubernetes.authorization.Authorizer")
_PATH_CHECK = Type("object", name="kubernetes.authorization.PathCheck")
_GROUP_CHECK = Type("object", name="kubernetes.authorization.GroupCheck")
_RESOURCE_CHECK = Type("object", name="kubernetes.authorization.ResourceCheck")
_DECISION = Type("object", name="kubernetes.authorization.Decision")


def _sort_by_keys(name: str, key: Type) -> Overload:
    return member(f"list_{name}_sortByAssociatedKeys", (LIST_T, list_of(key)), LIST_T)


OPTIONALS: Table = {
    "optional.of": (function("optional_of", (V,), OPTIONAL_V),),
    "optional.ofNonZeroValue": (function("optional_ofNonZeroValue", (V,), OPTIONAL_V),),
    "optional.none": (function("optional_none", (), OPTIONAL_V),),
    "value": (member("optional_value", (OPTIONAL_V,), V),),
    "hasValue": (member("optional_hasValue", (OPTIONAL_V,), BOOL),),
    "or": (member("optional_or_optional", (OPTIONAL_V, OPTIONAL_V), OPTIONAL_V),),
    "orValue": (member("optional_orValue_value", (OPTIONAL_V, V), V),),
    "last": (member("list_last", (LIST_V,), OPTIONAL_V),),
    "first": (member("list_first", (LIST_V,), OPTIONAL_V),),
    "optional.unwrap": (function("optional_unwrap", (list_of(OPTIONAL_V),), LIST_V),),
    "unwrapOpt": (member("optional_unwrapOpt", (list_of(OPTIONAL_V),), LIST_V),),
}

STRINGS: Table = {
    "charAt": (member("string_char_at_int", (STRING, INT), STRING),),
    "lowerAscii": (member("string_lower_ascii", (STRING,), STRING),),
    "replace": (
        member("string_replace_string_string", (STRING, STRING, STRING), STRING),
        member("string_replace_string_string_int", (STRING, STRING, STRING, INT), STRING),
    ),
    "split": (
        member("string_split_string", (STRING, STRING), LIST_STRING),
        member("string_split_string_int", (STRING, STRING, INT), LIST_STRING),
    ),
    "substring": (
        member("string_substring_int", (STRING, INT), STRING),
        member("string_substring_int_int", (STRING, INT, INT), STRING),
    ),
    "trim": (member("string_trim", (STRING,), STRING),),
    "upperAscii": (member("string_upper_ascii", (STRING,), STRING),),
    "format": (member("string_format", (STRING, LIST_DYN), STRING),),
    "strings.quote": (function("strings_quote", (STRING,), STRING),),
    "join": (
        member("list_join", (LIST_STRING,), STRING),
        member("list_join_string", (LIST_STRING, STRING), STRING),
    ),
}

LISTS: Table = {
    "slice": (member("list_slice", (LIST_T, INT, INT), LIST_T),),
    "flatten": (
        member("list_flatten", (list_of(LIST_T),), LIST_T),
        member("list_flatten_int", (LIST_DYN, INT), LIST_DYN),
    ),
    "sort": tuple(member(f"list_{name}_sort", (list_of(item),), list_of(item)) for name, item in SORTABLE),
    "@sortByAssociatedKeys": tuple(_sort_by_keys(name, key) for name, key in SORTABLE),
    "lists.range": (function("lists_range", (INT,), list_of(INT)),),
    "reverse": (member("list_reverse", (LIST_T,), LIST_T),),
    "distinct": (member("list_distinct", (LIST_T,), LIST_T),),
}

SETS: Table = {
    "sets.contains": (function("list_sets_contains_list", (LIST_T, LIST_T), BOOL),),
    "sets.equivalent": (function("list_sets_equivalent_list", (LIST_T, LIST_T), BOOL),),
    "sets.intersects": (function("list_sets_intersects_list", (LIST_T, LIST_T), BOOL),),
}

MAPS: Table = {
    "cel.@mapInsert": (
        function("@mapInsert_map_key_value", (MAP_KV, K, V), MAP_KV),
        function("@mapInsert_map_map", (MAP_KV, MAP_KV), MAP_KV),
    ),
}

EXTENSIONS: Table = {**OPTIONALS, **STRINGS, **LISTS, **SETS, **MAPS}


def _refine(overload_id: str) -> tuple[Overload, ...]:
    return (member(overload_id, (_RESOURCE_CHECK, STRING), _RESOURCE_CHECK),)


AUTHORIZATION: Table = {
    "path": (member("authorizer_path", (_AUTHORIZER, STRING), _PATH_CHECK),),
    "group": (member("authorizer_group", (_AUTHORIZER, STRING), _GROUP_CHECK),),
    "serviceAccount": (member("authorizer_serviceaccount", (_AUTHORIZER, STRING, STRING), _AUTHORIZER),),
    "resource": (member("groupcheck_resource", (_GROUP_CHECK, STRING), _RESOURCE_CHECK),),
    "subresource": _refine("resourcecheck_subresource"),
    "namespace": _refine("resourcecheck_namespace"),
    "name": _refine("resourcecheck_name"),
    "check": (
        member("pathcheck_check", (_PATH_CHECK, STRING), _DECISION),
        member("resourcecheck_check", (_RESOURCE_CHECK, STRING), _DECISION),
    ),
    "errored": (member("decision_errored", (_DECISION,), BOOL),),
    "error": (member("decision_error", (_DECISION,), STRING),),
    "allowed": (member("decision_allowed", (_DECISION,), BOOL),),
    "reason": (member("decision_reason", (_DECISION,), STRING),),
    "fieldSelector": _refine("authorizer_fieldselector"),
    "labelSelector": _refine("authorizer_labelselector"),
}
