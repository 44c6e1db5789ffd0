"""How a kind looks in one version of the API, and the way from there to its record and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from kubectl_dra.model.base import Record


class Shape(msgspec.Struct, frozen=True):
    """How one kind looks in one version.

    ``struct`` is what JSON is decoded into and encoded from; ``to_record`` makes the record of it, ``from_record`` the
    struct of a record. Both are None where the struct is the record. ``kind`` is the kind's name where it differs.
    """

    struct: type[msgspec.Struct]
    to_record: Callable[[Any], Record] | None = None
    from_record: Callable[[Any], msgspec.Struct] | None = None
    kind: str = ""
