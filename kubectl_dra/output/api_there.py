"""What is said of a cluster without resource.k8s.io: why it has no devices, and what would have to be switched on.

On by default since Kubernetes 1.34 (upstream: pkg/features/kube_features.go, DynamicResourceAllocation, and
pkg/controlplane/instance.go, DefaultAPIResourceConfigSource, which leaves out beta versions).
"""

from __future__ import annotations

from typing import Final

from kubectl_dra.model.evidence import Evidence
from kubectl_dra.output.safe import Safe, fmt

SHORT: Final = Safe("resource.k8s.io is not served")
#: In place of the lines of a list.
NONE: Final = Safe("none: the cluster does not serve resource.k8s.io")
_ON_SINCE: Final = (1, 34)


def no_api_text(evidence: Evidence) -> Safe:
    """One sentence on the cluster, one on who can change it."""
    version = evidence.server_version
    release = fmt(" (Kubernetes {}.{})", *version) if version is not None else Safe("")
    server = evidence.origin or "the server"
    what = fmt("{}{} does not serve resource.k8s.io, the API of Dynamic Resource Allocation,", server, release)
    why = fmt("{} so that it has no devices, classes and claims.", what)
    if version is not None and version >= _ON_SINCE:
        return fmt(
            "{} It is on by default: an administrator has switched it off (--runtime-config of the API server)", why
        )
    if version is not None:
        return fmt("{} It is on by default from Kubernetes 1.34; before, an administrator can switch it on", why)
    return why
