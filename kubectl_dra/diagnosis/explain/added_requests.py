"""What of a pod's requests nobody wrote: defaults of a LimitRange, the overhead of a RuntimeClass."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.gates.pod_admission import LIMIT_RANGE, LIMIT_RANGER, RUNTIME_CLASS, sets_request
from kubectl_dra.diagnosis.records import AddedRequest
from kubectl_dra.model.core import Pod
from kubectl_dra.model.requests import amount

_SET: Final = re.compile(r"(?P<resources>[^;:]+) request for (?:init )?container (?P<name>[^;\s]+)")


def added_requests(world: ClusterState, pod: Pod, resource: str) -> Iterator[AddedRequest]:
    """What admission put into a pod of what it requests of a resource, as the pod itself tells."""
    requested = {each.name: each.resources.requests for each in (*pod.spec.containers, *pod.spec.init_containers)}
    for found in _SET.finditer(pod.metadata.annotations.get(LIMIT_RANGER, "").partition(":")[2]):
        quantity = requested.get(found["name"], {}).get(resource)
        if quantity is not None and resource in found["resources"].strip().split(", "):
            yield AddedRequest(
                LIMIT_RANGE, _limit_range(world, pod, resource), amount(resource, quantity), found["name"]
            )
    if (overhead := pod.spec.overhead.get(resource)) is not None:
        yield AddedRequest(RUNTIME_CLASS, pod.spec.runtime_class_name or "", amount(resource, overhead))


def _limit_range(world: ClusterState, pod: Pod, resource: str) -> str:
    """The LimitRange that has a default; empty where none is known, or several may be it."""
    ranges = world.inventory.limit_ranges.items()
    own = [key.name for key, each in ranges if key.namespace == pod.metadata.namespace and sets_request(each, resource)]
    return own[0] if len(own) == 1 else ""
