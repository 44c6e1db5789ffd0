"""Random CEL expressions over a device, mostly well typed, and random devices for them.

A table of templates per type; ``<TYPE>`` in a template stands for an expression of that type. Errors at run time are
wanted and come by themselves.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from hypothesis import strategies as st

Row = dict[str, Any]

DRIVER: Final = "gpu.example.com"
_DOMAINS: Final = (*(DRIVER,) * 8, "other.example.com", "absent.example.com")
_VERSIONS: Final = ("1.2.3", "1.10.0", "2.0.0-rc.1", "2.0.0+build.7", "0.0.1", "10.0.0-alpha.beta.2")
_QUANTITIES: Final = ("0", "1", "-1", "100m", "0.5", "1Ki", "8Gi", "80Gi", "1k", "12e6", "1E", "9223372036854775807")
_STRINGS: Final = ("", "a", "A100", "H100-80GB", "a,b,,c", "héllo", "10", "true", "gpu.example.com", "%s-%d", "x" * 20)
_INTS: Final = (0, 1, 2, -1, 7, 80, 2**63 - 1, -(2**63))
_IDS: Final = {
    "string": ("model", "uuid", "empty"),
    "int": ("index", "numa", "big"),
    "bool": ("healthy", "mig"),
    "version": ("driverVersion", "firmware"),
}
_CAPACITIES: Final = ("memory", "cores", "bandwidth")


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


_LITERALS: Final[Mapping[str, tuple[str, ...]]] = {
    "string": tuple(map(_quoted, _STRINGS)),
    "int": tuple(map(str, _INTS)),
    "bool": ("true", "false"),
    "version": tuple(f"semver({_quoted(text)})" for text in _VERSIONS),
    "quantity": tuple(f"quantity({_quoted(text)})" for text in (*_QUANTITIES, "5x")),
    "list": ("[]", "[1]", "[3, 1, 2]", "[1, 1]"),
    "pattern": tuple(map(_quoted, ("^A", "[0-9]+$", "(a|b)*", "", "[", "h.llo"))),
    "domain": tuple(map(_quoted, _DOMAINS)),
    "order": ("<", "<=", ">", ">=", "==", "!="),
    "id": tuple(name for names in _IDS.values() for name in names),
    "capacity": _CAPACITIES,
}

_TEMPLATES: Final[Mapping[str, tuple[str, ...]]] = {
    "string": (
        "device.driver",
        "(<string> + <string>)",
        "<string>.lowerAscii()",
        "<string>.upperAscii()",
        "<string>.trim()",
        "<string>.reverse()",
        "<string>.replace(<string>, <string>)",
        "<string>.replace(<string>, <string>, <int>)",
        "<string>.substring(<int>)",
        "<string>.substring(<int>, <int>)",
        "<string>.charAt(<int>)",
        "<string>.split(<string>)[0]",
        "<string>.split(<string>, <int>).join(<string>)",
        "<string>.find(<pattern>)",
        "<string>.findAll(<pattern>).join(<string>)",
        "strings.quote(<string>)",
        "string(<int>)",
        "string(<bool>)",
        "string(<version>)",
        "string(<quantity>)",
        '"%s:%d".format([<string>, <int>])',
        "(<bool> ? <string> : <string>)",
        "[<string>, <string>][<int>]",
        "{<string>: <string>}[<string>]",
    ),
    "int": (
        "(<int> + <int>)",
        "(<int> - <int>)",
        "(<int> * <int>)",
        "(<int> / <int>)",
        "(<int> % <int>)",
        "-(<int>)",
        "<string>.size()",
        "size(<list>)",
        "size({<string>: <int>})",
        "<string>.indexOf(<string>)",
        "<string>.indexOf(<string>, <int>)",
        "<string>.lastIndexOf(<string>, <int>)",
        "int(<string>)",
        "int(double(<int>))",
        "int(uint(<int>))",
        "<quantity>.compareTo(<quantity>)",
        "<quantity>.asInteger()",
        "<quantity>.sign()",
        "<version>.compareTo(<version>)",
        "<version>.major()",
        "<version>.minor()",
        "<version>.patch()",
        "(<bool> ? <int> : <int>)",
        "<list>[<int>]",
        "<list>.sum()",
        "<list>.max()",
        "<list>.indexOf(<int>)",
    ),
    "bool": (
        "device.allowMultipleAllocations",
        'device.driver == "gpu.example.com"',
        "has(device.attributes[<domain>].<id>)",
        "has(device.capacity[<domain>].<capacity>)",
        "<domain> in device.attributes",
        "device.attributes[<domain>].?<id>.hasValue()",
        "device.attributes[<domain>].exists(name, name == <string>)",
        "device.attributes[<domain>].all(name, value, name != <string> || type(value) == type(<int>))",
        "(<bool> && <bool>)",
        "(<bool> || <bool>)",
        "(<bool> == <bool>)",
        "!(<bool>)",
        "(<bool> ? <bool> : <bool>)",
        "cel.bind(v, <bool>, v || <bool>)",
        "cel.bind(v, <int>, v == <int> || v > <int>)",
        "(<string> <order> <string>)",
        "(<int> <order> <int>)",
        "(<version> == <version>)",
        "(<quantity> == <quantity>)",
        "(<list> == <list>)",
        "(<int> in <list>)",
        "(<string> in [<string>, <string>])",
        "<string>.startsWith(<string>)",
        "<string>.endsWith(<string>)",
        "<string>.contains(<string>)",
        "<string>.matches(<pattern>)",
        "<list>.all(x, x < <int>)",
        "<list>.exists(x, x == <int>)",
        "<list>.exists_one(x, x == <int>)",
        "sets.contains(<list>, <list>)",
        "sets.intersects(<list>, <list>)",
        "sets.equivalent(<list>, <list>)",
        "<list>.isSorted()",
        "<quantity>.isGreaterThan(<quantity>)",
        "<quantity>.isLessThan(<quantity>)",
        "<quantity>.isInteger()",
        "isQuantity(<string>)",
        "<version>.isGreaterThan(<version>)",
        "<version>.isLessThan(<version>)",
        "isSemver(<string>)",
        "(dyn(<string>) == dyn(<int>))",
        "(double(<int>) <order> 1.5)",
        "(type(<string>) == type(<int>))",
    ),
    "version": ("semver(<string>)", "(<bool> ? <version> : <version>)"),
    "quantity": (
        "device.capacity[<domain>].<capacity>",
        "device.capacity[<domain>].<capacity>",
        "device.capacity[<domain>].<capacity>",
        "<quantity>.add(<quantity>)",
        "<quantity>.sub(<quantity>)",
        "<quantity>.add(<int>)",
        "quantity(<string>)",
        "(<bool> ? <quantity> : <quantity>)",
    ),
    "list": (
        "[<int>, <int>]",
        "(<list> + <list>)",
        "<list>.map(x, x + <int>)",
        "<list>.map(x, x > <int>, x * <int>)",
        "<list>.filter(x, x > <int>)",
        "<list>.sort()",
        "<list>.distinct()",
        "<list>.reverse()",
        "<list>.slice(<int>, <int>)",
        "[<list>, <list>].flatten()",
    ),
}
_ACCESS: Final = (
    "device.attributes[<domain>].ID",
    'device.attributes[<domain>]["ID"]',
    "device.attributes[<domain>].?ID.orValue(LITERAL)",
    "device.attributes[?<domain>].ID.orValue(LITERAL)",
    'device.attributes[<domain>][?"ID"].orValue(LITERAL)',
)
_capacities: Final = st.lists(st.sampled_from(_CAPACITIES), unique=True)
_PLACEHOLDER: Final = re.compile(r"<(\w+)>")


# --- devices --------------------------------------------------------------------------------------------------------


@st.composite
def rows(draw: st.DrawFn) -> Row:
    """A question: an expression, a device, features; some are derived attributes, some have a small cost limit."""
    derived = draw(st.integers(0, 4)) == 0
    kind = draw(st.sampled_from(tuple(_TEMPLATES))) if derived else "bool"
    row: Row = {
        "id": "random",
        "expression": _expression(draw, kind, draw(st.integers(1, 4))),
        "driver": DRIVER,
        "attributes": draw(_attributes()),
        "capacity": {
            name: {"value": draw(st.sampled_from(_QUANTITIES))} for name in _CAPACITIES if draw(st.booleans())
        },
        "features": {"consumableCapacity": True, "listTypeAttributes": False},
    }
    if derived:
        row["derived"] = True
    if draw(st.integers(0, 9)) == 0:
        row["costLimit"] = draw(st.integers(1, 60))
    if draw(st.booleans()):
        row["allowMultipleAllocations"] = draw(st.booleans())
    return row


@st.composite
def _attributes(draw: st.DrawFn) -> Row:
    held: dict[str, st.SearchStrategy[Any]] = {
        "string": st.sampled_from(_STRINGS),
        "int": st.sampled_from(_INTS),
        "bool": st.booleans(),
        "version": st.sampled_from(_VERSIONS),
    }
    attributes: Row = {}
    for kind, ids in _IDS.items():
        for name in ids:
            prefix = draw(st.sampled_from(("", "", "", "", f"{DRIVER}/", "other.example.com/", None)))
            if prefix is not None:
                # Now and then an attribute has another type than its name promises.
                real = draw(st.sampled_from((kind,) * 20 + tuple(held)))
                attributes[prefix + name] = {real: draw(held[real])}
    return attributes


# --- expressions ----------------------------------------------------------------------------------------------------


def _expression(draw: st.DrawFn, kind: str, depth: int) -> str:
    template = draw(st.sampled_from(_choices(kind, depth)))
    if template == "ACCESS":
        name, fallback = draw(st.sampled_from(_IDS[kind])), draw(st.sampled_from(_LITERALS[kind]))
        template = draw(st.sampled_from(_ACCESS)).replace("ID", name).replace("LITERAL", fallback)
    return _PLACEHOLDER.sub(lambda found: _expression(draw, found[1], depth - 1), template)


def _choices(kind: str, depth: int) -> tuple[str, ...]:
    """Simple ones first: that is the direction of shrinking."""
    leaves = _LITERALS[kind] if kind not in _IDS else (*_LITERALS[kind][:2], *("ACCESS",) * 3, *_LITERALS[kind][2:])
    return leaves if depth <= 0 else (*leaves, *_TEMPLATES.get(kind, ()) * 2)
