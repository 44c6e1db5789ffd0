"""Run-time values of CEL: Python shapes, type names and printed forms; what operators do with them lives elsewhere.

| CEL | Python | | CEL | Python |
|---|---|---|---|---|
| bool, int, double | ``bool``, ``int``, ``float`` | | list | ``list``, classes in :data:`LISTS` |
| uint | :class:`Uint` | | map | ``dict`` with encoded keys (:func:`encode_key`) |
| string, bytes, null | ``str``, ``bytes``, ``None`` | | version | ``kubectl_dra.model.semver.Semver`` |

Everything else has a class here. Values are never changed once made, except :class:`QuantityValue` (as upstream) and
:class:`MutableList` (a loop's own accumulator). Errors are raised, not returned.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec

from kubectl_dra.model.semver import Semver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubectl_dra.cel.run.device import DeviceValue
    from kubectl_dra.model.quantity import Quantity

# A run-time value. Its class decides at run time what can be done with it; a union would promise more.
Value: TypeAlias = Any

MAX_INT: Final = 2**63 - 1
MIN_INT: Final = -(2**63)
MAX_UINT: Final = 2**64 - 1


class CelError(Exception):
    """An error value: ``&&``, ``||`` and loops may absorb it. ``text`` is the scheduler's wording without position."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class Cancelled(Exception):
    """The end of an evaluation that nothing absorbs: cost limit, or a failure of upstream's cost accounting."""

    def __init__(self, text: str, *, undecided: bool = False) -> None:
        super().__init__(text)
        self.text = text
        self.undecided = undecided


def no_such_overload() -> CelError:
    """The error of an operation on values that it is not defined for."""
    return CelError("no such overload")


class Uint(int):
    """An unsigned 64-bit integer."""

    __slots__ = ()


class NativeList(list[Value]):
    """A list of one type that upstream holds as a Go slice of that type, which some error texts show."""

    __slots__ = ()


class MutableList(list[Value]):
    """The accumulator of a loop that began as an empty list: ``+`` appends to it in place."""

    __slots__ = ()


class MutableMap(dict[Any, Value]):
    """The accumulator of a loop that began as an empty map: insertion changes it in place."""

    __slots__ = ()


class JoinedList:
    """Two non-empty lists joined by ``+``, not copied: repeated doubling stays cheap, as it is upstream."""

    __slots__ = ("left", "right", "size")

    def __init__(self, left: Value, right: Value) -> None:
        self.left, self.right = left, right
        self.size: int = list_size(left) + list_size(right)
        if self.size > MAX_INT:
            raise Cancelled("a list has too many elements", undecided=True)

    def __iter__(self) -> Iterator[Value]:
        pending: list[Value] = [self]
        while pending:
            part = pending.pop()
            if part.__class__ is JoinedList:
                pending += (part.right, part.left)
            else:
                yield from part

    def __getitem__(self, index: int) -> Value:
        part: Value = self
        while part.__class__ is JoinedList:
            left = list_size(part.left)
            if index < left:
                part = part.left
            else:
                part, index = part.right, index - left
        return part[index]


LISTS: Final[frozenset[Any]] = frozenset({list, NativeList, MutableList, JoinedList})


def list_size(value: Value) -> int:
    """The number of elements of a list value."""
    return value.size if value.__class__ is JoinedList else len(value)


class DomainMap(dict[str, Any]):
    """``device.attributes`` or ``device.capacity``: looking up an unknown domain gives an empty map."""

    __slots__ = ()

    def __missing__(self, key: object) -> dict[str, Value]:
        return EMPTY_MAP


class StringMap(dict[str, Any]):
    """A map that can only have string keys: looking up anything else finds nothing."""

    __slots__ = ()


class CapacityMap(StringMap):
    __slots__ = ()


EMPTY_MAP: Final = StringMap()
MAPS: Final[frozenset[Any]] = frozenset((dict, StringMap, CapacityMap, DomainMap, MutableMap))


class Duration(msgspec.Struct, frozen=True):
    """Signed nanoseconds."""

    nanos: int


class Timestamp(msgspec.Struct, frozen=True):
    """Seconds since 1970 and nanoseconds; ``offset`` is how far east of UTC it is printed, in seconds."""

    seconds: int
    nanos: int = 0
    offset: int = 0


class Optional(msgspec.Struct, frozen=True, eq=False):
    """A value that may be absent; :data:`NONE` is the absent one."""

    value: Value = None


NONE: Final = Optional()


class TypeValue(msgspec.Struct, frozen=True):
    """A type as a value; types are compared by name only."""

    name: str


class QuantityValue:
    """A quantity as expressions see it.

    ``demoted``: comparing it with an amount that upstream holds as a big decimal converts the receiver to that form,
    too, after which it no longer counts as an integer. ``computed``: a result of ``add`` or ``sub``, which upstream
    does not recognise as the right operand of ``==``. ``owner`` is told of a demotion: its next evaluation starts anew.
    """

    __slots__ = ("amount", "computed", "demoted", "owner")

    def __init__(self, amount: Quantity, *, computed: bool = False, owner: DeviceValue | None = None) -> None:
        self.amount = amount
        self.computed = computed
        self.owner = owner
        self.demoted = False

    @property
    def big(self) -> bool:
        """Whether it is in big decimal form now."""
        return self.demoted or self.amount.big

    def demote(self) -> None:
        """Convert to big decimal form."""
        if not self.demoted:
            self.demoted = True
            if self.owner is not None:
                self.owner.ready = False


class IP(msgspec.Struct, frozen=True):
    """An address: ``bits`` is 32 or 128, ``number`` the address as an integer."""

    number: int
    bits: int


class CIDR(msgspec.Struct, frozen=True):
    """An address (not masked) and a prefix length."""

    ip: IP
    length: int


class URL(msgspec.Struct, frozen=True):
    """The parts of a URL as accessors show them; ``text`` is the re-assembled form that equality compares."""

    scheme: str
    host: str
    hostname: str
    port: str
    escaped_path: str
    query: str
    text: str


class NamedFormat(msgspec.Struct, frozen=True, eq=False):
    """A text format with its check (messages, empty if valid); ``regex_size`` is what validation is charged for."""

    name: str
    check: Callable[[str], list[str]]
    regex_size: int


class AnyMessage:
    """``google.protobuf.Empty{}``: a message without a value that expressions could use."""

    __slots__ = ()


_NAMES: Final[dict[type, str]] = {
    bool: "bool",
    int: "int",
    Uint: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    type(None): "null_type",
    list: "list",
    NativeList: "list",
    MutableList: "list",
    JoinedList: "list",
    dict: "map",
    StringMap: "map",
    CapacityMap: "map",
    MutableMap: "map",
    DomainMap: "map",
    TypeValue: "type",
    Duration: "google.protobuf.Duration",
    Timestamp: "google.protobuf.Timestamp",
    Optional: "optional_type",
    QuantityValue: "kubernetes.Quantity",
    Semver: "kubernetes.Semver",
    URL: "kubernetes.URL",
    NamedFormat: "kubernetes.NamedFormat",
    IP: "net.IP",
    CIDR: "net.CIDR",
    AnyMessage: "google.protobuf.Empty",
}
TYPE_VALUES: Final = {name: TypeValue(name) for name in [*_NAMES.values(), "dyn"]}

_GO_NAMES: Final[dict[type, str]] = {
    bool: "types.Bool",
    int: "types.Int",
    Uint: "types.Uint",
    float: "types.Double",
    str: "types.String",
    bytes: "types.Bytes",
    type(None): "types.Null",
    list: "*types.baseList",
    NativeList: "*types.baseList",
    MutableList: "*types.mutableList",
    JoinedList: "*types.concatList",
    dict: "*types.baseMap",
    StringMap: "*types.baseMap",
    CapacityMap: "*types.baseMap",
    MutableMap: "*types.mutableMap",
    DomainMap: "cel.mapper",
    TypeValue: "*types.Type",
    Duration: "types.Duration",
    Timestamp: "types.Timestamp",
    Optional: "*types.Optional",
    QuantityValue: "cel.Quantity",
    Semver: "cel.Semver",
    URL: "cel.URL",
    NamedFormat: "cel.Format",
    IP: "cel.IP",
    CIDR: "cel.CIDR",
    AnyMessage: "*types.protoObj",
}


def type_name(value: Value) -> str:
    """The name of the value's type, as ``type()`` and error texts show it."""
    return _NAMES[value.__class__]


def go_name(value: Value) -> str:
    """The name of the Go type behind the value, which some error texts show."""
    if value.__class__ is QuantityValue and value.computed:
        return "*cel.Quantity"
    return _GO_NAMES[value.__class__]


# --- printed forms ----------------------------------------------------------------------------------------------------


def format_double(number: float) -> str:
    """A double as ``string()`` and error texts show it: shortest digits, exponent below 1e-4 and from 1e6 up."""
    if number != number:
        return "NaN"
    if math.isinf(number):
        return "+Inf" if number > 0 else "-Inf"
    sign = "-" if math.copysign(1.0, number) < 0 else ""
    mantissa, _, exponent_text = f"{abs(number)!r}".partition("e")
    digits, point = _digits(mantissa)
    if not digits:
        return sign + "0"
    exponent = point - 1 + int(exponent_text or 0)
    if exponent < -4 or exponent >= 6:
        fraction = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{fraction}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"
    return sign + _plain_digits(digits, exponent)


def _digits(mantissa: str) -> tuple[str, int]:
    """Significant digits without leading and trailing zeros, and the position of the point relative to the first."""
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) - (len(whole + fraction) - len(digits))
    return digits.rstrip("0"), point


def _plain_digits(digits: str, exponent: int) -> str:
    if exponent < 0:
        return "0." + "0" * (-exponent - 1) + digits
    whole = digits[: exponent + 1].ljust(exponent + 1, "0")
    fraction = digits[exponent + 1 :]
    return f"{whole}.{fraction}" if fraction else whole
