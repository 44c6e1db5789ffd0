"""Objects as they were written, not yet decoded."""

from __future__ import annotations

from typing import NamedTuple


class Source(NamedTuple):
    """One object as written, with what a list around it says of its items, and where it stands."""

    data: bytes
    api_version: str = ""
    kind: str = ""
    origin: str = ""
