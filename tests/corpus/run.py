"""A case through simulate: the cluster as it was recorded, the manifests, the report."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

from kubectl_dra.api.planned import Planned, read_all
from kubectl_dra.api.sources import Source
from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.shared.cluster import features_of
from kubectl_dra.model.features import features
from kubectl_dra.model.scheduling import PodGroup
from kubectl_dra.reports.simulation import Copies, SimulationReport, simulation_report
from kubectl_dra.source.file import assemble
from kubectl_dra.source.manifests import read_manifests
from tests.corpus.case import Case
from tests.corpus.shapes import CLUSTERS, NAMESPACE
from tests.kit.clock import CLOCK


@cache
def cluster_of(name: str) -> ClusterState:
    """The cluster of this name; all feature gates have the defaults of the newest version."""
    body = {"apiVersion": "v1", "kind": "List", "items": CLUSTERS[name]()}
    manifests = read_manifests(json.dumps(body).encode(), name)
    assert not manifests.bad_objects, manifests.bad_objects
    inventory, evidence = assemble(manifests)
    return ClusterState(inventory, evidence, features(), CLOCK)


def planned_of(case: Case) -> list[Planned]:
    """The objects of a case."""
    return read_all([Source(json.dumps(each).encode()) for each in case.objects], NAMESPACE)


def report_of(case: Case) -> SimulationReport:
    """What simulate says."""
    planned = planned_of(case)
    return simulation_report(_with_gates(cluster_of(case.cluster), planned), planned, Copies())


def _with_gates(world: ClusterState, planned: list[Planned]) -> ClusterState:
    """With the features that PodGroups of a case show to be on."""
    groups = {each.key: each.record for each in planned if isinstance(each.record, PodGroup)}
    if not groups:
        return world
    known = world.inventory.replace(groups=replace(world.inventory.groups, pod_groups=groups))
    return replace(world, features=features_of(known, world.evidence, {}))
