"""What servers of older versions can't express, in one sentence: what is not shown there does not exist."""

from __future__ import annotations

from typing import Final

from kubectl_dra.model.features import OLDEST_MINOR
from kubectl_dra.output.safe import Safe, fmt

_CLASSIC: Final = 30
# Since 1.34 the group is served as v1, and what alpha features add is told by their gates.
_LACKS: Final = {
    31: ("v1alpha3", "no alternatives, device status, taints, partitions, shared devices or extended resources"),
    32: ("v1beta1", "no alternatives, taints, partitions, shared devices or extended resources"),
    33: ("v1beta1 or v1beta2", "no shared devices, binding conditions or extended resources"),
}


def server_note(version: tuple[int, int] | None) -> Safe:
    """What can't be said on a server of ``version``; empty if nothing is lacking or the version is not known."""
    minor = version[1] if version is not None else max(_LACKS) + 1
    if minor <= _CLASSIC:
        return fmt(
            "Kubernetes 1.{} has classic DRA (resource.k8s.io/v1alpha2): drivers decide about devices, which only "
            "structured parameters show; it has no DeviceClasses, taints, partitions or shared devices{}",
            minor,
            Safe("; verdicts are those of the scheduler of 1.30" if minor < OLDEST_MINOR else ""),
        )
    if minor not in _LACKS:
        return Safe("")
    served, lacks = _LACKS[minor]
    return fmt("Kubernetes 1.{} (resource.k8s.io/{}) has {}", minor, served, lacks)
