"""Resource names as the scheduler sorts them.

Upstream: pkg/apis/core/v1/helper (IsExtendedResourceName …) and the scheduler's IsScalarResourceName.
"""

from __future__ import annotations

import re
from typing import Final

from kubectl_dra.model.names import is_subdomain

DEVICE_CLASS_PREFIX: Final = "deviceclass.resource.kubernetes.io/"
_NATIVE: Final = "kubernetes.io/"
_QUOTA_PREFIX: Final = "requests."
_QUALIFIED_NAME: Final = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")


def is_extended_resource(name: str) -> bool:
    """Whether a resource name has a domain other than ``kubernetes.io`` and could be used in a quota."""
    if "/" not in name or _NATIVE in name or name.startswith(_QUOTA_PREFIX):
        return False
    domain, _, rest = (_QUOTA_PREFIX + name).partition("/")
    return is_subdomain(domain) and len(rest) <= 63 and _QUALIFIED_NAME.fullmatch(rest) is not None


def is_dra_extended_resource(name: str) -> bool:
    """Whether a DeviceClass may serve the name: an extended resource, or the implicit name of a class."""
    return name.startswith(DEVICE_CLASS_PREFIX) or is_extended_resource(name)


def is_scalar_resource(name: str) -> bool:
    """Whether NodeResourcesFit counts the name besides cpu, memory and ephemeral-storage."""
    return name.startswith(("hugepages-", "attachable-volumes-")) or _NATIVE in name or is_extended_resource(name)
