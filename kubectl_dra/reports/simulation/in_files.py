"""Advice about nodes and pools that only the files have: it is about the manifests, and no command reaches them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import msgspec

from kubectl_dra.api.planned import Planned
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.remedies.records import (
    Action,
    NarrowTaintRule,
    RemoveTaintRule,
    RepairPool,
    Uncordon,
)
from kubectl_dra.model.ids import PoolId
from kubectl_dra.model.resource import ResourceSlice
from kubectl_dra.reports.pending.pending import PendingReport
from kubectl_dra.reports.pending.remedies import RemedyReport
from kubectl_dra.reports.pending.written import Written
from kubectl_dra.reports.simulation.copied_slices import CopiedSlice
from kubectl_dra.reports.simulation.records import PodSimulation


@dataclass(frozen=True, slots=True)
class OfFiles:
    """What the files have and the cluster has not, by name; pools as ``DRIVER/POOL``.

    ``copied``: pools in whose slices the files have a mistake, which is told of the files.
    """

    nodes: frozenset[str]
    pools: frozenset[str]
    rules: frozenset[str]
    classes: frozenset[str]
    copied: frozenset[str] = frozenset()

    @property
    def any(self) -> bool:
        return bool(self.nodes or self.pools or self.rules or self.classes or self.copied)


def of_files(before: ClusterState, objects: Sequence[Planned], copied: Iterable[CopiedSlice]) -> OfFiles:
    """What ``objects`` add to the cluster that was there ``before``, with what is wrong in ``copied`` ones."""
    there = before.inventory

    def new(kind: str, known: Collection[str]) -> frozenset[str]:
        named = {each.name for each in objects if each.kind == kind and each.record is not None}
        return frozenset(named.difference(known))

    slices = [each.record.spec for each in objects if isinstance(each.record, ResourceSlice)]
    pools = {PoolId(each.driver, each.pool.name) for each in slices}
    return OfFiles(
        new("Node", there.nodes),
        frozenset(str(pool) for pool in pools if pool not in there.slices_by_pool),
        new("DeviceTaintRule", there.taint_rules),
        new("DeviceClass", there.classes),
        frozenset(each.pool for each in copied),
    )


def in_files(pod: PodSimulation, files: OfFiles) -> PodSimulation:
    """What came of a trial, where advice about what is in the files only says so."""
    if pod.pending is None or not files.any:
        return pod
    return msgspec.structs.replace(pod, pending=_pending(pod.pending, files))


def _pending(pending: PendingReport, files: OfFiles) -> PendingReport:
    return msgspec.structs.replace(
        pending,
        drivers=tuple(each for each in pending.drivers if each.node not in files.nodes),
        remedies=tuple(_remedy(each, files) for each in pending.remedies),
        same_pools=tuple(each for each in pending.same_pools if each.pool not in files.copied),
        written=Written(tuple(sorted(files.nodes)), tuple(sorted(files.pools))),
    )


def _remedy(remedy: RemedyReport, files: OfFiles) -> RemedyReport:
    if not any(_is_about(action, files) for action in remedy.actions):
        return remedy
    actions = tuple(_said(action) if _is_about(action, files) else action for action in remedy.actions)
    return msgspec.structs.replace(remedy, actions=actions, steps=(), has_steps=False)


def _is_about(action: Action, files: OfFiles) -> bool:
    match action:
        case Uncordon(node=node):
            return node in files.nodes
        case RepairPool(pool=pool):
            return pool in files.pools
        case RemoveTaintRule(rule=rule) | NarrowTaintRule(rule=rule):
            return rule in files.rules
    return False


def _said(action: Action) -> Action:
    return msgspec.structs.replace(action, in_files=True) if isinstance(action, Uncordon | RepairPool) else action
