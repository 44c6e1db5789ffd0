"""Which module decodes an object of which API version.

A generation is one module with a mapping ``SHAPES`` (name of the record's kind to :class:`Shape`), named once in
``_MODULES``; it is imported when the first object of that version is met.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import cache
from typing import Final

from kubectl_dra.api import podclaims, replication_controllers
from kubectl_dra.api.kinds import KINDS, Kind
from kubectl_dra.api.shapes import Shape
from kubectl_dra.model.core import Pod


class UnsupportedVersionError(ValueError):
    """Raised for an object whose kind is ours in a version that no generation decodes."""


# apiVersion -> module with SHAPES.
_MODULES: Final[Mapping[str, str]] = {
    "resource.k8s.io/v1beta1": "kubectl_dra.api.v1beta1",
    "resource.k8s.io/v1alpha3": "kubectl_dra.api.v1alpha3",
    "resource.k8s.io/v1alpha2": "kubectl_dra.api.v1alpha2",
    "scheduling.k8s.io/v1alpha1": "kubectl_dra.api.groups_v1alpha1",
    "devmgmtproto.k8s.io/v1alpha1": "kubectl_dra.api.devmgmtproto",
}
#: Older versions whose kinds have the shapes of today.
_AS_TODAY: Final = frozenset({"resource.k8s.io/v1beta2", "scheduling.k8s.io/v1alpha3"})
#: Of versions without a module those kinds that are not their records.
_OWN_SHAPES: Final = {
    ("v1", "Pod"): Shape(Pod, podclaims.normalised),
    ("v1", replication_controllers.KIND): replication_controllers.SHAPE,
}


def shape_of(api_version: str, kind: Kind) -> Shape:
    """The shape of ``kind`` in ``api_version``. Raises :class:`UnsupportedVersionError`."""
    shape = _shapes(api_version).get(kind.name)
    if shape is None:
        readable = " and ".join(map(kind.api_version_of, kind.versions))
        raise UnsupportedVersionError(
            f"there is no {kind.name} in apiVersion {api_version}, only in {readable}"
            if api_version
            else f"it has no apiVersion; {kind.name} has {readable}"
        )
    return shape


@cache
def _shapes(api_version: str) -> Mapping[str, Shape]:
    module = _MODULES.get(api_version)
    if module is not None:
        return importlib.import_module(module).SHAPES  # type: ignore[no-any-return]
    if api_version == "events.k8s.io/v1":
        return _shapes("v1")
    older = api_version in _AS_TODAY
    own = (k for k in KINDS if api_version in (map(k.api_version_of, k.versions) if older else (k.api_version,)))
    return {kind.name: _OWN_SHAPES.get((api_version, kind.name)) or Shape(kind.record) for kind in own}
