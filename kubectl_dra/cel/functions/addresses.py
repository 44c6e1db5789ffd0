"""The libraries ``net.ip`` and ``net.cidr``: parsing with the texts of Go's ``netip``, tests and parts of addresses."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address
from typing import Final

from kubectl_dra.cel.run.values import CIDR, IP, CelError, Value, no_such_overload
from kubectl_dra.model.gotext import quote

_HEX: Final = frozenset("0123456789abcdefABCDEF")
_MAPPED_PREFIX: Final = 0xFFFF
_NETWORK: Final = "network address parse error during conversion from string: "


class AddressError(ValueError):
    """Raised when a text is not an address; the message is Go's."""


def _fail(text: str, message: str, at: str = "") -> AddressError:
    where = f" (at {quote(at)})" if at else ""
    return AddressError(f"ParseAddr({quote(text)}): {message}{where}")


def parse_address(text: str) -> tuple[IP, str]:
    """The address and its zone. Raises :class:`AddressError`."""
    for char in text:
        if char == ".":
            return IP(_parse_v4(text, text), 32), ""
        if char == ":":
            return _parse_v6(text)
        if char == "%":
            raise _fail(text, "missing IPv6 address")
    raise _fail(text, "unable to parse IP")


def _parse_v4(part: str, text: str) -> int:
    fields: list[int] = []
    value, digits = 0, 0
    for position, char in enumerate(part):
        if "0" <= char <= "9":
            if digits == 1 and value == 0:
                raise _fail(text, "IPv4 field has octet with leading zero")
            value, digits = value * 10 + int(char), digits + 1
            if value > 255:
                raise _fail(text, "IPv4 field has value >255")
        elif char == ".":
            if digits == 0 or position == len(part) - 1:
                raise _fail(text, "IPv4 field must have at least one digit", part[position:])
            if len(fields) == 3:
                raise _fail(text, "IPv4 address too long")
            fields.append(value)
            value, digits = 0, 0
        else:
            raise _fail(text, "unexpected character", part[position:])
    if len(fields) < 3:
        raise _fail(text, "IPv4 address too short")
    return fields[0] << 24 | fields[1] << 16 | fields[2] << 8 | value


def _parse_v6(text: str) -> tuple[IP, str]:
    rest, percent, zone = text.partition("%")
    if percent and not zone:
        raise _fail(text, "zone must be a non-empty string")
    groups, ellipsis = _parse_groups(text, rest)
    if len(groups) < 8:
        if ellipsis < 0:
            raise _fail(text, "address string too short")
        groups = groups[:ellipsis] + [0] * (8 - len(groups)) + groups[ellipsis:]
    elif ellipsis >= 0:
        raise _fail(text, "the :: must expand to at least one field of zeros")
    number = 0
    for group in groups:
        number = number << 16 | group
    return IP(number, 128), zone


def _parse_groups(text: str, rest: str) -> tuple[list[int], int]:
    """The 16-bit groups and how many of them stand before ``::`` (-1: there is none)."""
    groups: list[int] = []
    ellipsis = -1
    if rest.startswith("::"):
        ellipsis, rest = 0, rest[2:]
        if not rest:
            return groups, ellipsis
    while len(groups) < 8:
        length = _group_length(text, rest)
        if rest[length : length + 1] == ".":
            return _embedded_v4(text, rest, groups, ellipsis), ellipsis
        groups.append(int(rest[:length], 16))
        rest = rest[length:]
        if not rest:
            break
        if rest[0] != ":":
            raise _fail(text, "unexpected character, want colon", rest)
        if len(rest) == 1:
            raise _fail(text, "colon must be followed by more characters", rest)
        rest = rest[1:]
        if rest[0] == ":":
            if ellipsis >= 0:
                raise _fail(text, "multiple :: in address", rest)
            ellipsis, rest = len(groups), rest[1:]
            if not rest:
                break
    if rest:
        raise _fail(text, "trailing garbage after address", rest)
    return groups, ellipsis


def _group_length(text: str, rest: str) -> int:
    length = 0
    while length < len(rest) and rest[length] in _HEX:
        if length == 4:
            raise _fail(text, "each group must have 4 or less digits", rest)
        length += 1
    if length == 0:
        raise _fail(text, "each colon-separated field must have at least one digit", rest)
    return length


def _embedded_v4(text: str, rest: str, groups: list[int], ellipsis: int) -> list[int]:
    if ellipsis < 0 and len(groups) != 6:
        raise _fail(text, "embedded IPv4 address must replace the final 2 fields of the address", rest)
    if len(groups) > 6:
        raise _fail(text, "too many hex fields to fit an embedded IPv4 at the end of the address", rest)
    number = _parse_v4(rest, text)
    return [*groups, number >> 16, number & 0xFFFF]


def _is_mapped(ip: IP) -> bool:
    return ip.bits == 128 and ip.number >> 32 == _MAPPED_PREFIX


def _parse_ip(text: str) -> IP:
    try:
        ip, zone = parse_address(text)
    except AddressError as error:
        raise CelError(f"IP Address {quote(text)} parse error during conversion from string: {error}") from None
    if zone:
        raise CelError(f"IP address {quote(text)} with zone value is not allowed")
    if _is_mapped(ip):
        raise CelError(f"IPv4-mapped IPv6 address {quote(text)} is not allowed")
    return ip


def _parse_prefix(text: str) -> CIDR:
    address_text, slash, length_text = text.rpartition("/")
    try:
        if not slash:
            raise AddressError("no '/'")
        ip, zone = parse_address(address_text)
        if zone:
            raise AddressError("IPv6 zones cannot be present in a prefix")
        length = _prefix_length(length_text, ip.bits)
    except AddressError as error:
        raise CelError(f"{_NETWORK}{_NETWORK}netip.ParsePrefix({quote(text)}): {error}") from None
    if _is_mapped(ip):
        raise CelError(f"{_NETWORK}IPv4-mapped IPv6 address {quote(text)} is not allowed")
    return CIDR(ip, length)


def _prefix_length(text: str, bits: int) -> int:
    digits = text.isascii() and text.isdigit()
    if not digits or (len(text) > 1 and text[0] == "0") or len(text) > 18:
        raise AddressError("bad bits after slash: " + quote(text))
    if int(text) > bits:
        raise AddressError("prefix length out of range")
    return int(text)


def _succeeds(parse: Callable[[str], Value]) -> Callable[[str], bool]:
    def test(text: str) -> bool:
        try:
            parse(text)
        except CelError:
            return False
        return True

    return test


def format_ip(ip: IP) -> str:
    """Dotted decimal, or RFC 5952: lower case, the first longest run of two or more zero groups compressed."""
    return str(IPv4Address(ip.number) if ip.bits == 32 else IPv6Address(ip.number))


def format_cidr(cidr: CIDR) -> str:
    """``ADDRESS/LENGTH``."""
    return f"{format_ip(cidr.ip)}/{cidr.length}"


def _mask(ip: IP, length: int) -> int:
    return ip.number >> (ip.bits - length)


def _masked(cidr: CIDR) -> CIDR:
    shift = cidr.ip.bits - cidr.length
    return CIDR(IP(cidr.ip.number >> shift << shift, cidr.ip.bits), cidr.length)


def _contains_ip(cidr: CIDR, ip: IP) -> bool:
    return cidr.ip.bits == ip.bits and _mask(cidr.ip, cidr.length) == _mask(ip, cidr.length)


def _contains_ip_text(cidr: CIDR, text: str) -> bool:
    try:
        return _contains_ip(cidr, _parse_ip(text))
    except CelError:
        raise no_such_overload() from None


def _contains_cidr(cidr: CIDR, other: CIDR) -> bool:
    return cidr.length <= other.length and _contains_ip(cidr, other.ip)


def _within(prefix: int, length: int) -> Callable[[IP], bool]:
    return lambda ip: ip.number >> (ip.bits - length) == prefix


def _by_family(v4: Callable[[IP], bool], v6: Callable[[IP], bool]) -> Callable[[IP], bool]:
    return lambda ip: v4(ip) if ip.bits == 32 else v6(ip)


_is_unspecified: Final[Callable[[IP], bool]] = lambda ip: ip.number == 0  # noqa: E731
_is_loopback: Final = _by_family(_within(127, 8), lambda ip: ip.number == 1)
_is_link_local: Final = _by_family(_within(0xA9FE, 16), _within(0xFE80 >> 6, 10))
_is_link_local_multicast: Final = _by_family(_within(0xE00000, 24), lambda ip: ip.number >> 112 & 0xFF0F == 0xFF02)
_is_multicast: Final = _by_family(_within(0xE, 4), _within(0xFF, 8))


def _is_global_unicast(ip: IP) -> bool:
    if _is_unspecified(ip) or ip == IP(0xFFFFFFFF, 32):
        return False
    return not (_is_loopback(ip) or _is_multicast(ip) or _is_link_local(ip))


OVERLOADS: Final[dict[str, Callable[..., Value]]] = {
    "string_to_ip": _parse_ip,
    "is_ip": _succeeds(_parse_ip),
    "ip_is_canonical": lambda text: format_ip(_parse_ip(text)) == text,
    "ip_family": lambda ip: 4 if ip.bits == 32 else 6,
    "ip_is_unspecified": _is_unspecified,
    "ip_is_loopback": _is_loopback,
    "ip_is_link_local_multicast": _is_link_local_multicast,
    "ip_is_link_local_unicast": _is_link_local,
    "ip_is_global_unicast": _is_global_unicast,
    "string_to_cidr": _parse_prefix,
    "is_cidr": _succeeds(_parse_prefix),
    "cidr_ip": lambda cidr: cidr.ip,
    "cidr_contains_ip_ip": _contains_ip,
    "cidr_contains_ip_string": _contains_ip_text,
    "cidr_contains_cidr": _contains_cidr,
    "cidr_contains_cidr_string": lambda cidr, text: _contains_cidr(cidr, _parse_prefix(text)),
    "cidr_prefix_length": lambda cidr: cidr.length,
    "cidr_masked": _masked,
}
