"""resource.k8s.io/v1beta2: the shape of v1; only Go's types differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kubectl_dra.api.kinds import KINDS, RESOURCE_GROUP
from kubectl_dra.api.shapes import Shape

SHAPES: Final[Mapping[str, Shape]] = {
    kind.name: Shape(kind.record) for kind in KINDS if kind.group == RESOURCE_GROUP and "v1beta2" in kind.versions
}
