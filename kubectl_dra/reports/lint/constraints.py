"""Constraints of claims on attributes that the devices of one of their requests do not have: nothing meets them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.evidence import LACKING
from kubectl_dra.model.resource import ResourceClaim, ResourceClaimTemplate, ResourceSlice
from kubectl_dra.reports.lint.objects import UnplacedFinding
from kubectl_dra.reports.lint.records import Rule

_SHOWN: Final = 4


def constraint_findings(
    record: ResourceClaim | ResourceClaimTemplate, drivers: Mapping[str, Set[str]], state: ClusterState
) -> Iterator[UnplacedFinding]:
    """``drivers``: those of the devices that match each request, or each alternative of one.

    Upstream: structured/internal/incubating/allocator_incubating.go, matchAttributeConstraint.add: a device without
    the attribute is never taken.
    """
    spec = record.spec.spec if isinstance(record, ResourceClaimTemplate) else record.spec
    prefix = "spec.spec" if isinstance(record, ResourceClaimTemplate) else "spec"
    if state.evidence.coverage("ResourceSlice") in LACKING:
        return
    for index, each in enumerate(spec.devices.constraints):
        field = "matchAttribute" if each.match_attribute else "distinctAttribute"
        wanted = each.match_attribute or each.distinct_attribute or ""
        for request, known in drivers.items() if wanted else ():
            if each.requests and not {request, request.partition("/")[0]} & {*each.requests}:
                continue
            published = {name for driver in known for name in _published(driver, state.inventory.slices.values())}
            if published and wanted not in published:
                others = sorted(
                    published, key=lambda name: (name.rpartition("/")[2] != wanted.rpartition("/")[2], name)
                )
                text = f'request "{request}": no device of {" or ".join(sorted(known))} publishes {wanted}'
                has = ", ".join(others[:_SHOWN])
                path = f"{prefix}.devices.constraints[{index}].{field}"
                yield UnplacedFinding(
                    Rule.NOT_PUBLISHED, f"{text}, so nothing meets the constraint; they have {has}", path
                )


def _published(driver: str, slices: Iterable[ResourceSlice]) -> Iterator[str]:
    """The full names of the attributes of a driver's devices."""
    for each in slices:
        if each.spec.driver == driver:
            for device in each.spec.devices:
                yield from (name if "/" in name else f"{driver}/{name}" for name in device.attributes)
