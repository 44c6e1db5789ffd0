"""Requests that containers name and their claims do not have: nobody refuses that, and the container sees no device.

Upstream: pkg/kubelet/cm/dra/claiminfo.go (cdiDevicesAsList): of a container that names a request only the devices of
this one count; of a request with alternatives (``firstAvailable``) its own name does.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.resource import ResourceClaimSpec
from kubectl_dra.reports.base import ReportRecord
from kubectl_dra.scheduler.claims import sources


class UnfoundRequest(ReportRecord, frozen=True):
    """A ``request`` that a ``container`` names of the pod's ``claim``, which has these ``requests``."""

    container: str
    claim: str
    request: str
    requests: tuple[str, ...]


def unfound_requests(world: ClusterState, pod: Pod) -> Iterator[UnfoundRequest]:
    """Those of claims and templates that are known."""
    known = {entry.name: _spec(world, pod, *sources(entry)) for entry in pod.spec.resource_claims}
    for container in (*pod.spec.containers, *pod.spec.init_containers):
        for claim in container.resources.claims:
            spec = known.get(claim.name)
            names = tuple(each.name for each in spec.devices.requests) if spec is not None else ()
            if spec is not None and claim.request and claim.request not in names:
                yield UnfoundRequest(container.name, claim.name, claim.request, names)


def _spec(world: ClusterState, pod: Pod, claim: str | None, template: str | None) -> ResourceClaimSpec | None:
    namespace, inventory = pod.metadata.namespace, world.inventory
    if claim:
        found = inventory.claims.get(Key(namespace, claim))
        return found.spec if found is not None else None
    made_from = inventory.templates.get(Key(namespace, template or ""))
    return made_from.spec.spec if made_from is not None else None
