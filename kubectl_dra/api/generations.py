"""Which record decodes an object of which API version, and how it becomes the v1 shape.

A generation whose shape is not v1's is one module with a mapping ``SHAPES`` (kind to :class:`Shape`), named once in
``_MODULES``; it is imported when the first object of that version is met.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import msgspec

from kubectl_dra.api import pods
from kubectl_dra.api.kinds import KINDS, Kind
from kubectl_dra.model.base import Record


@dataclass(frozen=True, slots=True)
class Shape:
    """How one kind looks in one version: the struct to decode, and the function that makes the v1 record of it."""

    struct: type[msgspec.Struct]
    to_record: Callable[[Any], Record] | None = None


class UnsupportedVersionError(ValueError):
    """Raised for an object whose kind is ours in a version that no generation decodes."""


# apiVersion -> module with SHAPES.
_MODULES: Final[Mapping[str, str]] = {}


def shape_of(api_version: str, kind: Kind) -> Shape:
    """The shape of ``kind`` in ``api_version``. Raises :class:`UnsupportedVersionError`."""
    shape = _shapes(api_version).get(kind.name)
    if shape is None:
        raise UnsupportedVersionError(f"{kind.name} of {api_version or 'no version'} can't be read")
    return shape


@cache
def _shapes(api_version: str) -> Mapping[str, Shape]:
    module = _MODULES.get(api_version)
    if module is not None:
        return importlib.import_module(module).SHAPES  # type: ignore[no-any-return]
    if api_version == "events.k8s.io/v1":
        return _shapes("v1")
    own = (kind for kind in KINDS if kind.api_version == api_version)
    return {kind.name: Shape(kind.record, pods.normalised if kind.name == "Pod" else None) for kind in own}
