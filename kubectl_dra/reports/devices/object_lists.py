"""Rows of lists of API objects that are no claims and no classes: ResourceSlices and ResourceClaimTemplates."""

from __future__ import annotations

from collections.abc import Iterable

from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.meta import ObjectMeta
from kubectl_dra.model.resource import ResourceClaim, ResourceClaimTemplate, ResourceSlice
from kubectl_dra.model.usage import is_terminal
from kubectl_dra.reports.base import ReportRecord
from kubectl_dra.reports.claims.ask import ClaimAsk, claim_ask
from kubectl_dra.reports.scope import Scope, slice_scope


class SliceRow(ReportRecord, frozen=True):
    """One ResourceSlice; ``outdated``: a newer generation of its pool is published, so that it is ignored."""

    name: str
    driver: str
    pool: str
    scope: Scope
    generation: int
    expected: int
    devices: int
    outdated: bool
    created: str


class TemplateRow(ReportRecord, frozen=True):
    """One ResourceClaimTemplate: what its claims request, and how many unfinished pods name it."""

    namespace: str
    name: str
    asks: ClaimAsk
    pods: int
    created: str


def slice_rows(slices: Iterable[ResourceSlice], state: ClusterState) -> tuple[SliceRow, ...]:
    """One row per slice, by driver, pool and name."""
    rows = (_slice(slice_, state) for slice_ in slices)
    return tuple(sorted(rows, key=lambda row: (row.driver, row.pool, row.name)))


def _is_whole(slice_: ResourceSlice, same: Iterable[ResourceSlice]) -> bool:
    """Whether its node has all slices of that generation, and no newer one, so that others do not matter to it.

    Upstream: dynamic-resource-allocation, GatherPools.
    """
    spec = slice_.spec
    own = [each.spec.pool for each in same if spec.node_name and each.spec.node_name in (None, "", spec.node_name)]
    newest = max((pool.generation for pool in own), default=-1)
    alike = [pool for pool in own if pool.generation == newest]
    return newest == spec.pool.generation and len(alike) == spec.pool.resource_slice_count


def _slice(slice_: ResourceSlice, state: ClusterState) -> SliceRow:
    spec = slice_.spec
    same = state.inventory.slices_by_pool[spec.pool_id]
    others = () if _is_whole(slice_, same) else same
    newest = max((each.spec.pool.generation for each in others), default=spec.pool.generation)
    return SliceRow(
        slice_.metadata.name,
        spec.driver,
        spec.pool.name,
        slice_scope(slice_, state),
        spec.pool.generation,
        spec.pool.resource_slice_count,
        len(spec.devices),
        spec.pool.generation < newest,
        slice_.metadata.creation_timestamp or "",
    )


def template_rows(templates: Iterable[ResourceClaimTemplate], state: ClusterState) -> tuple[TemplateRow, ...]:
    """One row per template, by namespace and name."""
    rows = (_template(template, state) for template in templates)
    return tuple(sorted(rows, key=lambda row: (row.namespace, row.name)))


def _template(template: ResourceClaimTemplate, state: ClusterState) -> TemplateRow:
    meta = template.metadata
    made = ResourceClaim(metadata=ObjectMeta(name=meta.name, namespace=meta.namespace), spec=template.spec.spec)
    users = sum(
        pod.metadata.namespace == meta.namespace
        and not is_terminal(pod)
        and any(entry.resource_claim_template_name == meta.name for entry in pod.spec.resource_claims)
        for pod in state.inventory.pods.values()
    )
    return TemplateRow(meta.namespace, meta.name, claim_ask(made), users, meta.creation_timestamp or "")
