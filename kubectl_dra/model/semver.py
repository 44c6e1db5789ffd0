"""Strict semantic versions 2.0.0 with the parse errors and the precedence of the library that the scheduler uses.

Build metadata is kept and printed but plays no part in the order.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

import msgspec

from kubectl_dra.model.gotext import quote

_MAX_UINT64: Final = 2**64 - 1
_DIGITS: Final = re.compile(r"[0-9]*\Z")
_IDENTIFIER: Final = re.compile(r"[0-9A-Za-z-]*\Z")


class SemverError(ValueError):
    """Raised when a text is not a strict semantic version; the message is the scheduler's."""


class Semver(msgspec.Struct, frozen=True):
    """A version; ``pre`` holds numbers and texts as they compare."""

    major: int
    minor: int
    patch: int
    pre: tuple[int | str, ...] = ()
    build: tuple[str, ...] = ()

    @staticmethod
    def parse(text: str) -> Semver:
        """Parse a version strictly (no ``v``, three parts). Raises :class:`SemverError`."""
        return _parse(text)

    def cmp(self, other: Semver) -> int:
        """-1, 0 or 1 by precedence; build metadata is ignored."""
        mine, theirs = (self.major, self.minor, self.patch), (other.major, other.minor, other.patch)
        if mine != theirs:
            return 1 if mine > theirs else -1
        if not self.pre or not other.pre:
            return (not self.pre) - (not other.pre)
        return _cmp_pre(self.pre, other.pre)

    def __str__(self) -> str:
        """The canonical text."""
        text = f"{self.major}.{self.minor}.{self.patch}"
        if self.pre:
            text += "-" + ".".join(map(str, self.pre))
        return text + "+" + ".".join(self.build) if self.build else text


def _cmp_pre(mine: tuple[int | str, ...], theirs: tuple[int | str, ...]) -> int:
    for a, b in zip(mine, theirs, strict=False):
        if a != b:
            # A numeric identifier has lower precedence than an alphanumeric one; texts compare bytewise.
            key_a, key_b = (isinstance(a, str), a), (isinstance(b, str), b)
            return 1 if key_a > key_b else -1
    return (len(mine) > len(theirs)) - (len(mine) < len(theirs))


@lru_cache(maxsize=16384)
def _parse(text: str) -> Semver:
    if not text:
        raise SemverError("Version string empty")
    parts = text.split(".", 2)
    if len(parts) != 3:
        raise SemverError("No Major.Minor.Patch elements found")
    major = _number(parts[0], "Invalid character(s) found in major number", "Major number")
    minor = _number(parts[1], "Invalid character(s) found in minor number", "Minor number")
    rest, plus, build = parts[2].partition("+")
    patch_text, dash, pre = rest.partition("-")
    patch = _number(patch_text, "Invalid character(s) found in patch number", "Patch number")
    return Semver(
        major,
        minor,
        patch,
        tuple(map(_pre_identifier, pre.split("."))) if dash else (),
        tuple(map(_build_identifier, build.split("."))) if plus else (),
    )


def _number(text: str, invalid: str, name: str) -> int:
    if not _DIGITS.match(text):
        raise SemverError(f"{invalid} {quote(text)}")
    if len(text) > 1 and text[0] == "0":
        raise SemverError(f'{name} must not contain leading zeroes "{text}"')
    return _uint64(text)


def _uint64(text: str) -> int:
    if not text:
        raise SemverError('strconv.ParseUint: parsing "": invalid syntax')
    if len(text) > 20 or int(text) > _MAX_UINT64:
        raise SemverError(f'strconv.ParseUint: parsing "{text}": value out of range')
    return int(text)


def _pre_identifier(text: str) -> int | str:
    if not text:
        raise SemverError("Prerelease is empty")
    if _DIGITS.match(text):
        if len(text) > 1 and text[0] == "0":
            raise SemverError(f'Numeric PreRelease version must not contain leading zeroes "{text}"')
        return _uint64(text)
    if not _IDENTIFIER.match(text):
        raise SemverError(f"Invalid character(s) found in prerelease {quote(text)}")
    return text


def _build_identifier(text: str) -> str:
    if not text:
        raise SemverError("Build meta data is empty")
    if not _IDENTIFIER.match(text):
        raise SemverError(f"Invalid character(s) found in build meta data {quote(text)}")
    return text
