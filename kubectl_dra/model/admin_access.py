"""The label without which a namespace gets no devices with admin access.

Upstream: DRAAdminNamespaceLabelKey in pkg/apis/resource/types.go, which kubernetes#131996 renamed for 1.34, and
AuthorizedForAdmin in pkg/registry/resource/utils.go, which came with 1.33.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kubectl_dra.model.features import Features
from kubectl_dra.model.inventory import Inventory

_LABELS: Final = ((34, "resource.kubernetes.io/admin-access"), (33, "resource.k8s.io/admin-access"))
#: Exactly this text.
ALLOWED: Final = "true"


def needed_label(features: Features) -> str:
    """The label that a namespace needs; empty for versions that ask for none."""
    return next((label for minor, label in _LABELS if features.minor >= minor), "")


def lacking_label(labels: Mapping[str, str], features: Features) -> str:
    """The label that a namespace with these ``labels`` needs and lacks; empty if it needs no other."""
    label = needed_label(features)
    return "" if labels.get(label) == ALLOWED else label


def known_lack(inventory: Inventory, namespace: str, features: Features) -> str:
    """The label that a namespace is known to lack; empty also where it could not be read."""
    known = inventory.namespaces.get(namespace)
    return lacking_label(known.metadata.labels, features) if known is not None else ""
