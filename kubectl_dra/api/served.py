"""Which versions of resource.k8s.io servers of a minor version have at all, whatever they are configured to serve.

Upstream: pkg/apis/resource/install of each release, and the lifecycle tags of staging/src/k8s.io/api/resource. That a
beta version may be off is for discovery to tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kubectl_dra.api.kinds import POD_GROUP, PROTOTYPE_GROUP, RESOURCE_GROUP
from kubectl_dra.model.features import WORKLOAD_REF_MINOR

_ENDLESS: Final = 10**6
#: version -> the first and the last minor version with it.
_SERVED: Final[Mapping[str, tuple[int, int]]] = {
    "v1alpha1": (26, 26),
    "v1alpha2": (27, 30),
    "v1alpha3": (31, 33),
    "v1beta1": (32, _ENDLESS),
    "v1beta2": (33, _ENDLESS),
    "v1": (34, _ENDLESS),
}
#: Kinds that v1alpha3 still has beyond its own last minor version.
_LATE: Final = frozenset({"DeviceTaintRule", "ResourcePoolStatusRequest"})
#: Kinds that came to a version later (the lifecycle tags in resource/*/types.go).
_SINCE: Final[Mapping[tuple[str, str], int]] = {
    ("v1alpha3", "DeviceTaintRule"): 33,
    ("v1beta2", "DeviceTaintRule"): 36,
    ("v1", "DeviceTaintRule"): 37,
    ("v1alpha3", "ResourcePoolStatusRequest"): 36,
}
#: The last stable version's first minor: from here on manifests of beta versions are behind.
STABLE_SINCE: Final = 34


def not_served(api_version: str, kind: str, minor: int | None) -> bool:
    """Whether a server of 1.``minor`` certainly has no ``kind`` in ``api_version``; None: nobody knows the server."""
    group, _, version = api_version.rpartition("/")
    if group == PROTOTYPE_GROUP:
        return minor is not None
    if (group, version) == (POD_GROUP.group, "v1alpha1"):
        return minor not in (None, WORKLOAD_REF_MINOR)
    if group != RESOURCE_GROUP or minor is None or version not in _SERVED:
        return False
    first, last = _SERVED[version]
    first = max(first, _SINCE.get((version, kind), first))
    if version == "v1alpha3" and kind in _LATE:
        last = _ENDLESS
    return not first <= minor <= last


def stable_since(kind: str) -> int:
    """The first minor version with the kind in v1."""
    return _SINCE.get(("v1", kind), STABLE_SINCE)


def version_to_write(minor: int) -> str:
    """In which version manifests are taken by a server of 1.``minor``; empty: in none to which they can be converted.

    Of the beta versions the older one is what the documentation of 1.32 and 1.33 has administrators turn on.
    """
    if minor >= STABLE_SINCE:
        return "v1"
    return "v1beta1" if minor >= _SERVED["v1beta1"][0] else ""
