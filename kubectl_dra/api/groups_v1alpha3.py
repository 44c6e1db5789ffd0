"""scheduling.k8s.io/v1alpha3: the shapes of v1beta1; it alone has CompositePodGroup."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kubectl_dra.api.kinds import GROUPS
from kubectl_dra.api.shapes import Shape

SHAPES: Final[Mapping[str, Shape]] = {kind.name: Shape(kind.record) for kind in GROUPS}
