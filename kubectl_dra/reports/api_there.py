"""Whether the server has the API at all that everything here is about."""

from __future__ import annotations

from typing import Final

from kubectl_dra.model.evidence import Coverage, Evidence

#: The kinds that every server has that serves resource.k8s.io.
_ALWAYS: Final = frozenset({"ResourceClaim", "ResourceSlice", "DeviceClass"})
# Kubernetes 1.26 has the API in a version that is not read.
_PROTOTYPE: Final = (1, 26)


def lacks_api(evidence: Evidence) -> bool:
    """Whether the server serves nothing of resource.k8s.io, so that lists are empty for that reason."""
    found = {read.coverage for read in evidence.reads if read.kind in _ALWAYS}
    return found == {Coverage.NOT_SERVED} and evidence.server_version != _PROTOTYPE
