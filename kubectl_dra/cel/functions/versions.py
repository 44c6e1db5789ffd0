"""The semver library over ``kubectl_dra.model.semver``, with the lenient parse that ``semver(text, true)`` does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kubectl_dra.cel.run.values import CelError, Value
from kubectl_dra.model.semver import Semver, SemverError


def _parse(text: str, normalize: bool = False) -> Semver:
    try:
        return Semver.parse(_normalized(text) if normalize else text)
    except SemverError as error:
        raise CelError(str(error)) from None


def _normalized(text: str) -> str:
    """One leading ``v`` and leading zeros dropped, missing parts of a short version filled with zeros."""
    parts = [_without_zeros(part) for part in text.removeprefix("v").split(".", 2)]
    if len(parts) < 3:
        if "+" in parts[-1] or "-" in parts[-1]:
            raise CelError("short version cannot contain PreRelease/Build meta data")
        parts += ["0"] * (3 - len(parts))
    return ".".join(parts)


def _without_zeros(part: str) -> str:
    if len(part) <= 1:
        return part
    stripped = part.lstrip("0")
    return stripped if stripped and stripped[0] in "0123456789" else "0" + stripped


def _is_semver(text: str, normalize: bool = False) -> bool:
    try:
        _parse(text, normalize)
    except CelError:
        return False
    return True


def is_greater(a: Semver, b: Semver) -> bool:
    """``a.isGreaterThan(b)`` by precedence."""
    return a.major > b.major if a.major != b.major else a.cmp(b) > 0


def is_less(a: Semver, b: Semver) -> bool:
    """``a.isLessThan(b)`` by precedence."""
    return a.major < b.major if a.major != b.major else a.cmp(b) < 0


def _as_int64(number: int) -> int:
    """Upstream holds the parts as unsigned numbers and shows them as signed ones."""
    return number - 2**64 if number >= 2**63 else number


OVERLOADS: Final[dict[str, Callable[..., Value]]] = {
    "string_to_semver": _parse,
    "string_bool_to_semver": _parse,
    "is_semver_string": _is_semver,
    "is_semver_string_bool": _is_semver,
    "semver_is_greater_than": is_greater,
    "semver_is_less_than": is_less,
    "semver_compare_to": Semver.cmp,
    "semver_major": lambda version: _as_int64(version.major),
    "semver_minor": lambda version: _as_int64(version.minor),
    "semver_patch": lambda version: _as_int64(version.patch),
}
