"""Resource names as the scheduler sorts them, and names that look alike ("did you mean").

Upstream: pkg/apis/core/v1/helper (IsExtendedResourceName …) and the scheduler's IsScalarResourceName.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Final

DEVICE_CLASS_PREFIX: Final = "deviceclass.resource.kubernetes.io/"
_NATIVE: Final = "kubernetes.io/"
_ALIKE: Final = 0.75
_QUOTA_PREFIX: Final = "requests."
_QUALIFIED_NAME: Final = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_DOMAIN: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


def is_extended_resource(name: str) -> bool:
    """Whether a resource name has a domain other than ``kubernetes.io`` and could be used in a quota."""
    if "/" not in name or _NATIVE in name or name.startswith(_QUOTA_PREFIX):
        return False
    domain, _, rest = (_QUOTA_PREFIX + name).partition("/")
    valid_domain = len(domain) <= 253 and _DOMAIN.fullmatch(domain) is not None
    return valid_domain and len(rest) <= 63 and _QUALIFIED_NAME.fullmatch(rest) is not None


def is_dra_extended_resource(name: str) -> bool:
    """Whether a DeviceClass may serve the name: an extended resource, or the implicit name of a class."""
    return name.startswith(DEVICE_CLASS_PREFIX) or is_extended_resource(name)


def is_scalar_resource(name: str) -> bool:
    """Whether NodeResourcesFit counts the name besides cpu, memory and ephemeral-storage."""
    return name.startswith(("hugepages-", "attachable-volumes-")) or _NATIVE in name or is_extended_resource(name)


def similar(name: str, candidates: Iterable[str], limit: int = 3) -> tuple[str, ...]:
    """Candidates that look like ``name``, best first: typing errors, and names that contain it or are contained.

    What two names have in common behind their first dot (a vendor's domain) makes them no more alike.
    """
    options = sorted(set(candidates) - {name})
    ranked = sorted(((_likeness(name, option), option) for option in options), key=lambda pair: (-pair[0], pair[1]))
    return tuple(option for likeness, option in ranked[:limit] if likeness >= _ALIKE)


def _likeness(name: str, other: str) -> float:
    mine, theirs = name.partition("."), other.partition(".")
    a, b = (mine[0], theirs[0]) if mine[2] and mine[2] == theirs[2] else (name, other)
    if a in b or b in a:
        return max(_ALIKE, difflib.SequenceMatcher(None, a, b).ratio())
    return difflib.SequenceMatcher(None, a, b).ratio()
