"""Names for the v1 objects that older objects become: as written, or changed so that v1 accepts them.

The same name always becomes the same name, so that references still fit.
"""

from __future__ import annotations

import re
from typing import Final

_NOT_LABEL: Final = re.compile(r"[^a-z0-9-]+")
_NOT_SUBDOMAIN: Final = re.compile(r"[^a-z0-9.-]+")
_NOT_IDENTIFIER: Final = re.compile(r"[^A-Za-z0-9_]")
_EDGE: Final = "-."
_LABEL: Final = 63
_SUBDOMAIN: Final = 253
_IDENTIFIER: Final = 32


class WrittenNames:
    """Every name as it was written."""

    def device(self, name: str) -> str:
        """A device, counter set or counter."""
        return name

    def attribute(self, name: str) -> str:
        """The key of an attribute or capacity."""
        return name

    def driver(self, name: str) -> str:
        return name

    def object(self, name: str) -> str:
        """An object, or a pool."""
        return name


class LegalNames(WrittenNames):
    """Names that v1 accepts."""

    def device(self, name: str) -> str:
        return _NOT_LABEL.sub("-", name.lower())[:_LABEL].strip("-") or "x"

    def attribute(self, name: str) -> str:
        """``id`` or ``domain/id`` where id is a C identifier of at most 32 characters."""
        domain, slash, plain = name.rpartition("/")
        plain = _NOT_IDENTIFIER.sub("_", plain)
        plain = f"_{plain}" if plain[:1].isdigit() else plain or "_"
        return f"{self.driver(domain)}{slash}{plain[:_IDENTIFIER]}" if slash else plain[:_IDENTIFIER]

    def driver(self, name: str) -> str:
        """A DNS subdomain of at most 63 characters; upper case is allowed."""
        return _subdomain(name, name.lower(), _LABEL)

    def object(self, name: str) -> str:
        return _subdomain(name, name, _SUBDOMAIN)


def _subdomain(name: str, lowered: str, limit: int) -> str:
    if len(name) <= limit and all(_is_label(part) for part in lowered.split(".")):
        return name
    parts = (part.strip(_EDGE) for part in _NOT_SUBDOMAIN.sub(".", name.lower())[:limit].split("."))
    return ".".join(part for part in parts if part) or "x"


def _is_label(text: str) -> bool:
    return bool(text) and _NOT_LABEL.search(text) is None and text == text.strip("-")


AS_WRITTEN: Final = WrittenNames()
LEGAL: Final = LegalNames()
