"""From a solution to ``status.allocation``: results, configuration, node selector.

Upstream: the last part of the structured allocator's Allocate, and createNodeSelector.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from kubectl_dra.allocation.checks.capacity import Amounts
from kubectl_dra.allocation.checks.requests import ClaimPlan, Plan, Request
from kubectl_dra.allocation.errors import Aborted, UnsupportedNodeSelector
from kubectl_dra.allocation.input.candidates import Candidate
from kubectl_dra.allocation.input.nodes import NAME_FIELD
from kubectl_dra.model import resource
from kubectl_dra.model.core import Node
from kubectl_dra.model.features import Features
from kubectl_dra.model.meta import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm

SHARE_ID: Final = "00000000-0000-0000-0000-000000000000"
_CLASS: Final = "FromClass"
_CLAIM: Final = "FromClaim"


class Chosen(msgspec.Struct, frozen=True):
    """One device of a solution: ``amounts`` if it is a share."""

    request: Request
    position: int
    amounts: Amounts | None


class Solution(msgspec.Struct, frozen=True):
    """The chosen devices in order, and per claim the form of each request that they serve."""

    devices: tuple[Chosen, ...]
    forms: tuple[tuple[Request, ...], ...]


def allocations(
    solution: Solution, plan: Plan, candidates: Sequence[Candidate], node: Node, features: Features
) -> tuple[resource.AllocationResult, ...]:
    """One allocation per claim. Raises :class:`Aborted` for a node selector with several terms."""
    return tuple(
        _allocation(claim, forms, [c for c in solution.devices if c.request.claim_index == claim.index], where)
        for where in [_Where(candidates, node, features)]
        for claim, forms in zip(plan.claims, solution.forms, strict=True)
    )


class _Where(msgspec.Struct, frozen=True):
    candidates: Sequence[Candidate]
    node: Node
    features: Features


def _allocation(
    claim: ClaimPlan, forms: Sequence[Request], chosen: Sequence[Chosen], where: _Where
) -> resource.AllocationResult:
    results = tuple(_result(device, where.candidates[device.position], where.features) for device in chosen)
    devices = [where.candidates[device.position] for device in chosen]
    selector = _node_selector(claim, devices, where)
    return resource.AllocationResult(resource.DeviceAllocationResult(results, tuple(_configs(claim, forms))), selector)


def _result(chosen: Chosen, candidate: Candidate, features: Features) -> resource.DeviceRequestAllocationResult:
    device, request = candidate.device, chosen.request
    binding = features.device_binding_and_status
    return resource.DeviceRequestAllocationResult(
        request=request.full_name,
        driver=candidate.pool.id.driver,
        pool=candidate.pool.id.pool,
        device=device.name,
        admin_access=True if request.admin else None,
        tolerations=request.tolerations,
        binding_conditions=device.binding_conditions or () if binding else (),
        binding_failure_conditions=device.binding_failure_conditions or () if binding else (),
        share_id=None if chosen.amounts is None else SHARE_ID,
        consumed_capacity={} if chosen.amounts is None else dict(chosen.amounts.quantities),
        skip_node_operations=candidate.slice.spec.skip_node_operations
        if features.implementation == "experimental"
        else (),
    )


_Config = tuple[str, tuple[str, ...], resource.OpaqueConfiguration | None]

# --- configuration --------------------------------------------------------------------------------------------------


def _configs(claim: ClaimPlan, forms: Sequence[Request]) -> Iterable[resource.DeviceAllocationConfiguration]:
    names = [(choice.name, form.full_name) for choice, form in zip(claim.choices, forms, strict=True)]
    for source, requests, opaque in (*_class_configs(forms), *_claim_configs(claim, names)):
        everywhere = all(not {base, full}.isdisjoint(requests) for base, full in names)
        yield resource.DeviceAllocationConfiguration(source, () if everywhere else requests, opaque)


def _class_configs(forms: Sequence[Request]) -> Iterable[_Config]:
    """Each class once, where the first request uses it, for all requests that do."""
    classes = {form.device_class.metadata.name: form.device_class for form in forms}
    for name, device_class in classes.items():
        requests = tuple(form.full_name for form in forms if form.device_class.metadata.name == name)
        for config in device_class.spec.config:
            yield _CLASS, requests, config.opaque


def _claim_configs(claim: ClaimPlan, names: Sequence[tuple[str, str]]) -> Iterable[_Config]:
    for config in claim.claim.spec.devices.config:
        if not config.requests or any(not {base, full}.isdisjoint(config.requests) for base, full in names):
            yield _CLAIM, config.requests, config.opaque


# --- node selector --------------------------------------------------------------------------------------------------


def _node_selector(claim: ClaimPlan, devices: Iterable[Candidate], where: _Where) -> NodeSelector | None:
    fields: list[NodeSelectorRequirement] = []
    expressions: list[NodeSelectorRequirement] = []
    for candidate in devices:
        if _is_local(candidate, where.features):
            name = NodeSelectorRequirement(NAME_FIELD, "In", (where.node.metadata.name,))
            return NodeSelector((NodeSelectorTerm(match_fields=(name,)),))
        spec = candidate.slice.spec
        selector = candidate.device.node_selector if spec.per_device_node_selection else spec.node_selector
        terms = selector.node_selector_terms if selector is not None else ()
        if len(terms) > 1:
            raise Aborted(UnsupportedNodeSelector(claim.key, len(terms)))
        for term in terms:
            _merge(fields, term.match_fields)
            _merge(expressions, term.match_expressions)
    if not fields and not expressions:
        return None
    return NodeSelector((NodeSelectorTerm(tuple(expressions), tuple(fields)),))


def _is_local(candidate: Candidate, features: Features) -> bool:
    spec, device = candidate.slice.spec, candidate.device
    name = device.node_name if spec.per_device_node_selection else spec.node_name
    return name is not None or (bool(device.binds_to_node) and features.implementation != "stable")


def _merge(known: list[NodeSelectorRequirement], added: Iterable[NodeSelectorRequirement]) -> None:
    for requirement in added:
        if not any(_same(requirement, other) for other in known):
            known.append(requirement)


def _same(a: NodeSelectorRequirement, b: NodeSelectorRequirement) -> bool:
    return a.key == b.key and a.operator == b.operator and set(a.values) == set(b.values)
