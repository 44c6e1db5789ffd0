"""What is wrong with claims before any node is looked at. Upstream: PreFilter of plugins/dynamicresources."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from kubectl_dra.allocation.errors import NodeSelectorUnparsable
from kubectl_dra.allocation.input import nodes as node_selectors
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.resource import DeviceRequest, ResourceClaim
from kubectl_dra.scheduler.allocation_errors import selector_problems
from kubectl_dra.scheduler.snapshot import Snapshot
from kubectl_dra.scheduler.status import Status, error, unresolvable


class RequestProblem(msgspec.Struct, frozen=True):
    """What is wrong with a request of a claim before any node is looked at; ``device_class`` if that is missing.

    ``disabled``: it needs a feature that is off.
    """

    claim: ResourceClaim
    request: str = ""
    device_class: str = ""
    disabled: bool = False


def problems_of(snapshot: Snapshot, claim: ResourceClaim) -> Iterator[Status]:
    """Everything that is wrong with one claim, in the scheduler's order; the first ends the attempt."""
    allocation = claim.status.allocation
    if allocation is None:
        for request in claim.spec.devices.requests:
            yield from _request_problems(snapshot, claim, request)
    elif allocation.node_selector is not None and (problems := node_selectors.parse(allocation.node_selector).problems):
        yield error(
            selector_problems(NodeSelectorUnparsable(allocation.node_selector, problems)), RequestProblem(claim)
        )


def _request_problems(snapshot: Snapshot, claim: ResourceClaim, request: DeviceRequest) -> Iterator[Status]:
    subrequests = request.first_available
    where = f"resource claim {key_of(claim.metadata)}, request {request.name}"
    if request.exactly is not None:
        yield from _class_problems(snapshot, claim, request.name, request.exactly.device_class_name)
    elif subrequests and not snapshot.features.prioritized_list:
        text = f"{where}: has subrequests, but the DRAPrioritizedList feature is disabled"
        yield unresolvable(text, detail=RequestProblem(claim, request.name, disabled=True))
    elif subrequests:
        for each in subrequests:
            yield from _class_problems(snapshot, claim, f"{request.name}/{each.name}", each.device_class_name)
    else:
        yield unresolvable(f"{where}: unknown request type", detail=RequestProblem(claim, request.name))


def _class_problems(snapshot: Snapshot, claim: ResourceClaim, request: str, device_class: str) -> Iterator[Status]:
    if not device_class:
        yield error(f"request {request}: unsupported request type", RequestProblem(claim, request))
    elif device_class not in snapshot.inventory.classes:
        text = f"request {request}: device class {device_class} does not exist"
        yield unresolvable(text, detail=RequestProblem(claim, request, device_class))
