"""What the API accepts as names of objects, of namespaces and of devices, in short: yes or no.

Upstream: apimachinery's pkg/util/validation (IsDNS1123Label, IsDNS1123Subdomain). The server's own words for what is
wrong with a name stand in ``kubectl_dra.api.admission.formats``.
"""

from __future__ import annotations

import re
from typing import Final

LABEL_LENGTH: Final = 63
SUBDOMAIN_LENGTH: Final = 253
LABEL_FORMAT: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
SUBDOMAIN_FORMAT: Final = rf"{LABEL_FORMAT}(\.{LABEL_FORMAT})*"
LABEL_RULE: Final = 'lower case letters, digits and "-", with a letter or digit at both ends, at most 63 of them'

#: What a namespace needs where claims ask for admin access, with the value ``true``.
ADMIN_LABEL: Final = "resource.kubernetes.io/admin-access"

_LABEL: Final = re.compile(LABEL_FORMAT)
_SUBDOMAIN: Final = re.compile(SUBDOMAIN_FORMAT)


def is_label(text: str) -> bool:
    """Whether a namespace or a device can have this name."""
    return len(text) <= LABEL_LENGTH and _LABEL.fullmatch(text) is not None


def is_subdomain(text: str) -> bool:
    """Whether an object of any kind that we know can have this name."""
    return len(text) <= SUBDOMAIN_LENGTH and _SUBDOMAIN.fullmatch(text) is not None
