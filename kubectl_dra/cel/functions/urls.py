"""The URL library: Go's ``net/url`` (ParseRequestURI, then Parse), with its error texts.

Text is handled as its UTF-8 bytes, one character per byte, because escapes and their checks count bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import msgspec

from kubectl_dra.cel.functions.addresses import AddressError, parse_address
from kubectl_dra.cel.run.labor import write
from kubectl_dra.cel.run.values import URL, CelError, NativeList, Value
from kubectl_dra.model.gotext import quote

_ALWAYS: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~")
_HOST: Final = _ALWAYS | frozenset("!$&'()*+,;=:[]<>\"")
_PATH: Final = _ALWAYS | frozenset("$&+,/:;=@")
_USER: Final = _ALWAYS | frozenset("$&+,;=")
_FRAGMENT: Final = _ALWAYS | frozenset("$&+,/:;=?@!()*")
_ENCODED: Final = frozenset("!$&'()*+,;=:@[]%")
_USERINFO: Final = re.compile(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*\Z")
_PORT: Final = re.compile(r"(?::[0-9]*)?\Z")
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):")
_ESCAPE: Final = re.compile(r"%[0-9a-fA-F]{2}")
# Escapes, and in hosts the ASCII characters, in the order in which they are looked at.
_TOKEN: Final = re.compile(r"%(?:[0-9a-fA-F]{2})?|[\x00-\x7f]")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_MAX_PARAMETERS: Final = 10_000


class UrlError(ValueError):
    """Raised when a text is not a URL; the message is Go's, without ``parse "…": ``."""


class _Parts(msgspec.Struct):
    """What Go's ``url.URL`` holds; ``user`` is the escaped user information, None if there is none."""

    scheme: str = ""
    opaque: str = ""
    user: str | None = None
    host: str = ""
    path: str = ""
    raw_path: str = ""
    query: str = ""
    force_query: bool = False
    omit_host: bool = False
    fragment: str = ""


def _bytes(text: str) -> str:
    return text.encode().decode("latin-1")


def _text(characters: str) -> str:
    return characters.encode("latin-1").decode(errors="replace")


def _quoted(characters: str) -> str:
    return quote(characters.encode("latin-1").decode(errors="surrogateescape"))


def _unescape(text: str, allowed: frozenset[str] | None = None, zone: bool = False) -> str:
    """Percent escapes decoded. ``allowed``: the ASCII characters of a host, where only other bytes may be escaped."""
    for token in _TOKEN.finditer(text):
        character = token[0]
        if character[0] == "%":
            escape = text[token.start() : token.start() + 3]
            if len(character) != 3 or not _escapable(escape, allowed, zone):
                raise UrlError(f"invalid URL escape {_quoted(escape)}")
        elif allowed is not None and character not in allowed:
            raise UrlError(f"invalid character {quote(character)} in host name")
    return _ESCAPE.sub(lambda match: chr(int(match[0][1:], 16)), text)


def _escapable(escape: str, allowed: frozenset[str] | None, zone: bool) -> bool:
    if allowed is None or escape == "%25":
        return True
    character = chr(int(escape[1:], 16))
    return character == " " or character in allowed if zone else character >= "\x80"


def _escape(text: str, allowed: frozenset[str]) -> str:
    return "".join(character if character in allowed else f"%{ord(character):02X}" for character in text)


def _parse(raw: str, request: bool) -> _Parts:
    if _CONTROL.search(raw):
        raise UrlError("net/url: invalid control character in URL")
    if not raw and request:
        raise UrlError("empty url")
    parts = _Parts()
    if raw == "*":
        parts.path = "*"
        return parts
    rest = _split_scheme(raw, parts)
    if rest.endswith("?") and rest.count("?") == 1:
        parts.force_query, rest = True, rest[:-1]
    else:
        rest, _, parts.query = rest.partition("?")
    if not rest.startswith("/"):
        if parts.scheme:
            parts.opaque = rest
            return parts
        _check_rootless(rest, request)
    if rest.startswith("//") and (parts.scheme or (not request and not rest.startswith("///"))):
        authority, slash, path = rest[2:].partition("/")
        rest = slash + path
        _parse_authority(authority, parts)
    elif parts.scheme and rest.startswith("/"):
        parts.omit_host = True
    parts.path = _unescape(rest)
    parts.raw_path = "" if _escape(parts.path, _PATH) == rest else rest
    return parts


def _split_scheme(raw: str, parts: _Parts) -> str:
    if raw.startswith(":"):
        raise UrlError("missing protocol scheme")
    match = _SCHEME.match(raw)
    if match is None:
        return raw
    parts.scheme = match[1].lower()
    return raw[match.end() :]


def _check_rootless(rest: str, request: bool) -> None:
    if request:
        raise UrlError("invalid URI for request")
    if ":" in rest.partition("/")[0]:
        raise UrlError("first path segment in URL cannot contain colon")


def _parse_authority(authority: str, parts: _Parts) -> None:
    user, at, host = authority.rpartition("@")
    parts.host = _parse_host(parts.scheme, host)
    if not at:
        return
    if not _USERINFO.match(user):
        raise UrlError("net/url: invalid userinfo")
    name, colon, password = user.partition(":")
    parts.user = _escape(_unescape(name), _USER) + colon + _escape(_unescape(password), _USER)


def _parse_host(scheme: str, host: str) -> str:
    bracket = host.rfind("[")
    if bracket > 0:
        raise UrlError("invalid IP-literal")
    if bracket == 0:
        return _parse_literal(host)
    first, last = host.find(":"), host.rfind(":")
    if first >= 0:
        # Only http and https refuse colons before the one of the port.
        _check_port(host[first if scheme in ("http", "https") else last :])
    return _unescape(host, _HOST)


def _check_port(port: str) -> None:
    if not _PORT.match(port):
        raise UrlError(f"invalid port {_quoted(port)} after host")


def _parse_literal(host: str) -> str:
    end = host.rfind("]")
    if end < 0:
        raise UrlError("missing ']' in host")
    _check_port(host[end + 1 :])
    port = _unescape(host[end + 1 :], _HOST)
    name, percent, zone = host[1:end].partition("%25")
    plain = _unescape(name, _HOST) + (_unescape(percent + zone, _HOST, zone=True) if percent else "")
    try:
        address, _ = parse_address(plain.encode("latin-1").decode(errors="surrogateescape"))
    except AddressError as error:
        raise UrlError(f"invalid host: {error}") from None
    if address.bits == 32:
        raise UrlError("invalid IP-literal")
    return f"[{plain}]{port}"


def _escaped_path(parts: _Parts) -> str:
    if parts.raw_path and all(character in _ENCODED or character in _PATH for character in parts.raw_path):
        return parts.raw_path
    return "*" if parts.path == "*" else _escape(parts.path, _PATH)


def _escaped_fragment(fragment: str) -> str:
    plain = _unescape(fragment)
    if all(character in _ENCODED or character in _FRAGMENT for character in fragment):
        return fragment
    return _escape(plain, _FRAGMENT)


def _assemble(parts: _Parts) -> str:
    text = f"{parts.scheme}:" if parts.scheme else ""
    if parts.opaque:
        text += parts.opaque
    else:
        text += _authority(parts)
        path = _escaped_path(parts)
        if path and path[0] != "/" and parts.host:
            path = "/" + path
        if not text and ":" in path.partition("/")[0]:
            path = "./" + path
        text += path
    if parts.force_query or parts.query:
        text += "?" + parts.query
    return f"{text}#{_escaped_fragment(parts.fragment)}" if parts.fragment else text


def _authority(parts: _Parts) -> str:
    if not (parts.scheme or parts.host or parts.user is not None):
        return ""
    if parts.omit_host and not parts.host and parts.user is None:
        return ""
    text = "//" if parts.host or parts.path or parts.user is not None else ""
    return text + (f"{parts.user}@" if parts.user is not None else "") + _escape(parts.host, _HOST)


def _split_port(host: str) -> tuple[str, str]:
    name, colon, port = host.rpartition(":")
    if not colon or not _PORT.match(":" + port):
        name, port = host, ""
    if name.startswith("[") and name.endswith("]"):
        name = name[1:-1]
    return name, port


def check_request_uri(text: str) -> None:
    """Raise :class:`UrlError` with the whole text unless ``text`` is what a request may name."""
    try:
        _parse(_bytes(text), request=True)
    except UrlError as error:
        raise UrlError(f"parse {quote(text)}: {error}") from None


def _url(text: str) -> URL:
    try:
        check_request_uri(text)
        parts = _parse_with_fragment(text)
    except UrlError as error:
        raise CelError(f"URL parse error during conversion from string: {error}") from None
    name, port = _split_port(parts.host)
    return URL(
        scheme=parts.scheme,
        host=_text(parts.host),
        hostname=_text(name),
        port=port,
        escaped_path=_text(_escaped_path(parts)),
        query=parts.query,
        text=_text(_assemble(parts)),
    )


def _parse_with_fragment(text: str) -> _Parts:
    before, _, fragment = text.partition("#")
    try:
        parts = _parse(_bytes(before), request=False)
    except UrlError as error:
        raise UrlError(f"parse {quote(before)}: {error}") from None
    parts.fragment = _bytes(fragment)
    try:
        _unescape(parts.fragment)
    except UrlError as error:
        raise UrlError(f"parse {quote(text)}: {error}") from None
    return parts


def _is_url(text: str) -> bool:
    try:
        check_request_uri(text)
    except UrlError:
        return False
    return True


def _query(url: URL) -> dict[str, Value]:
    """Parameters by name; pairs that are not well-formed are dropped."""
    parameters: dict[str, Value] = {}
    write(len(url.query))
    if url.query.count("&") >= _MAX_PARAMETERS:
        return parameters
    for pair in url.query.split("&"):
        if not pair or ";" in pair:
            continue
        key, _, value = pair.replace("+", " ").partition("=")
        try:
            name, decoded = _text(_unescape(key)), _text(_unescape(value))
        except UrlError:
            continue
        parameters.setdefault(name, NativeList()).append(decoded)
    return parameters


OVERLOADS: Final[dict[str, Callable[..., Value]]] = {
    "string_to_url": _url,
    "is_url_string": _is_url,
    "url_get_scheme": lambda url: url.scheme,
    "url_get_host": lambda url: url.host,
    "url_get_hostname": lambda url: url.hostname,
    "url_get_port": lambda url: url.port,
    "url_get_escaped_path": lambda url: url.escaped_path,
    "url_get_query": _query,
}
