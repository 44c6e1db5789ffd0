"""Declarations of the CEL libraries that Kubernetes adds, except those for authorization (see ``authorization``)."""

from __future__ import annotations

from kubectl_dra.cel.check.types import (
    BOOL,
    BYTES,
    CIDR,
    DOUBLE,
    DURATION,
    DYN,
    FORMAT,
    INT,
    IP,
    QUANTITY,
    SEMVER,
    STRING,
    TIMESTAMP,
    UINT,
    URL,
    Type,
    list_of,
    map_of,
    optional_of,
    param,
)
from kubectl_dra.cel.declarations.overload import Overload, Table, function, member

A = param("A")
LIST_A, LIST_STRING = list_of(A), list_of(STRING)

SUMMABLE = (("int", INT), ("uint", UINT), ("double", DOUBLE), ("duration", DURATION))
COMPARABLE = (
    ("int", INT),
    ("uint", UINT),
    ("double", DOUBLE),
    ("bool", BOOL),
    ("duration", DURATION),
    ("timestamp", TIMESTAMP),
    ("string", STRING),
    ("bytes", BYTES),
)
NAMED_FORMATS = (
    "dns1123Label",
    "dns1123Subdomain",
    "dns1035Label",
    "qualifiedName",
    "dns1123LabelPrefix",
    "dns1123SubdomainPrefix",
    "dns1035LabelPrefix",
    "labelValue",
    "uri",
    "uuid",
    "byte",
    "date",
    "datetime",
)


def _reduce(verb: str, items: tuple[tuple[str, Type], ...]) -> tuple[Overload, ...]:
    return tuple(member(f"list_{name}_{verb}_{name}", (list_of(item),), item) for name, item in items)


def _parts(prefix: str, result: Type, target: Type, **members: str) -> Table:
    """Members without arguments, given as ``name=suffix of the overload id``."""
    return {name: (member(f"{prefix}_{suffix}", (target,), result),) for name, suffix in members.items()}


LISTS: Table = {
    "isSorted": tuple(member(f"list_{name}_is_sorted_bool", (list_of(item),), BOOL) for name, item in COMPARABLE),
    "sum": _reduce("sum", SUMMABLE),
    "max": _reduce("max", COMPARABLE),
    "min": _reduce("min", COMPARABLE),
    "includes": (member("list_includes_dyn_dyn", (DYN, DYN), BOOL, "list-attributes"),),
}

# Strings and lists share these names, as do quantities and versions the ones below: one entry each, in the order in
# which the libraries are added to the scheduler's environment. Admission still has the list library of Kubernetes 1.36,
# which comes before that of strings: there the order of POSITIONS is by library the other way round.
POSITIONS: Table = {
    "indexOf": (
        member("string_index_of_string", (STRING, STRING), INT),
        member("string_index_of_string_int", (STRING, STRING, INT), INT),
        member("list_a_index_of_int", (LIST_A, A), INT),
    ),
    "lastIndexOf": (
        member("string_last_index_of_string", (STRING, STRING), INT),
        member("string_last_index_of_string_int", (STRING, STRING, INT), INT),
        member("list_a_last_index_of_int", (LIST_A, A), INT),
    ),
}

COMPARISONS: Table = {
    "isGreaterThan": (
        member("quantity_is_greater_than", (QUANTITY, QUANTITY), BOOL),
        member("semver_is_greater_than", (SEMVER, SEMVER), BOOL),
    ),
    "isLessThan": (
        member("quantity_is_less_than", (QUANTITY, QUANTITY), BOOL),
        member("semver_is_less_than", (SEMVER, SEMVER), BOOL),
    ),
    "compareTo": (
        member("quantity_compare_to", (QUANTITY, QUANTITY), INT),
        member("semver_compare_to", (SEMVER, SEMVER), INT),
    ),
}

QUANTITIES: Table = {
    "quantity": (function("string_to_quantity", (STRING,), QUANTITY),),
    "isQuantity": (function("is_quantity_string", (STRING,), BOOL),),
    "sign": (function("quantity_sign", (QUANTITY,), INT),),
    **_parts("quantity", DOUBLE, QUANTITY, asApproximateFloat="get_float"),
    **_parts("quantity", INT, QUANTITY, asInteger="get_int"),
    **_parts("quantity", BOOL, QUANTITY, isInteger="is_integer"),
    "add": (
        member("quantity_add", (QUANTITY, QUANTITY), QUANTITY),
        member("quantity_add_int", (QUANTITY, INT), QUANTITY),
    ),
    "sub": (
        member("quantity_sub", (QUANTITY, QUANTITY), QUANTITY),
        member("quantity_sub_int", (QUANTITY, INT), QUANTITY),
    ),
}

VERSIONS: Table = {
    "semver": (
        function("string_to_semver", (STRING,), SEMVER),
        function("string_bool_to_semver", (STRING, BOOL), SEMVER),
    ),
    "isSemver": (
        function("is_semver_string", (STRING,), BOOL),
        function("is_semver_string_bool", (STRING, BOOL), BOOL),
    ),
    **_parts("semver", INT, SEMVER, major="major", minor="minor", patch="patch"),
}

REGULAR_EXPRESSIONS: Table = {
    "find": (member("string_find_string", (STRING, STRING), STRING),),
    "findAll": (
        member("string_find_all_string", (STRING, STRING), LIST_STRING),
        member("string_find_all_string_int", (STRING, STRING, INT), LIST_STRING),
    ),
}

URLS: Table = {
    "url": (function("string_to_url", (STRING,), URL),),
    "isURL": (function("is_url_string", (STRING,), BOOL),),
    **_parts(
        "url",
        STRING,
        URL,
        getScheme="get_scheme",
        getHost="get_host",
        getHostname="get_hostname",
        getPort="get_port",
        getEscapedPath="get_escaped_path",
    ),
    **_parts("url", map_of(STRING, LIST_STRING), URL, getQuery="get_query"),
}

ADDRESSES: Table = {
    "ip": (function("string_to_ip", (STRING,), IP), member("cidr_ip", (CIDR,), IP)),
    "isIP": (function("is_ip", (STRING,), BOOL),),
    "ip.isCanonical": (function("ip_is_canonical", (STRING,), BOOL),),
    **_parts("ip", INT, IP, family="family"),
    **_parts(
        "ip",
        BOOL,
        IP,
        isUnspecified="is_unspecified",
        isLoopback="is_loopback",
        isLinkLocalMulticast="is_link_local_multicast",
        isLinkLocalUnicast="is_link_local_unicast",
        isGlobalUnicast="is_global_unicast",
    ),
    "cidr": (function("string_to_cidr", (STRING,), CIDR),),
    "isCIDR": (function("is_cidr", (STRING,), BOOL),),
    "containsIP": (
        member("cidr_contains_ip_string", (CIDR, STRING), BOOL),
        member("cidr_contains_ip_ip", (CIDR, IP), BOOL),
    ),
    "containsCIDR": (
        member("cidr_contains_cidr_string", (CIDR, STRING), BOOL),
        member("cidr_contains_cidr", (CIDR, CIDR), BOOL),
    ),
    **_parts("cidr", INT, CIDR, prefixLength="prefix_length"),
    **_parts("cidr", CIDR, CIDR, masked="masked"),
}

FORMATS: Table = {
    **{f"format.{name}": (function(f"format.{name}", (), FORMAT),) for name in NAMED_FORMATS},
    "format.named": (function("format-named", (STRING,), optional_of(FORMAT)),),
    "validate": (member("format-validate", (FORMAT, STRING), optional_of(LIST_STRING)),),
}

KUBERNETES: Table = {
    **LISTS,
    **POSITIONS,
    **COMPARISONS,
    **QUANTITIES,
    **VERSIONS,
    **REGULAR_EXPRESSIONS,
    **URLS,
    **ADDRESSES,
    **FORMATS,
}
