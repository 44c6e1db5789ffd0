"""Which of the nodes that fit the scheduler takes one of.

Upstream: schedule_one.go (prioritizeNodes, selectHost; numFeasibleNodesToFind).
"""

from __future__ import annotations

from collections.abc import Collection

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.attempt import Attempt, attempt
from kubectl_dra.diagnosis.judgement import feasible_nodes_to_find
from kubectl_dra.diagnosis.missing import of_the_choice
from kubectl_dra.diagnosis.records import NodeOutcome
from kubectl_dra.diagnosis.workloads import Owners, Unread
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.podneeds import is_spread
from kubectl_dra.model.workloads import WorkloadObject
from kubectl_dra.scheduler.attempt import scores
from kubectl_dra.scheduler.claims import resolve
from kubectl_dra.scheduler.plugins.default_selector import is_known


def choice(world: ClusterState, key: Key, among: Collection[str], owners: Owners) -> tuple[str, ...]:
    """The nodes that a pod without nodes may get, of those ``among`` which are all that fit."""
    pod = world.inventory.pods[key]
    enough = feasible_nodes_to_find(len(world.inventory.nodes))
    if len(among) > enough or of_the_choice(world.evidence, pod) is not None:
        return tuple(among)  # the scheduler looks at some of them only, or what decides between them is not known
    known = _with_controller(world, pod, owners)
    if known is None:
        return tuple(among)
    entries = resolve(known.inventory, known.evidence, known.features, pod)
    claims = [entry.claim for entry in entries if entry.claim is not None]
    return best(attempt(known, pod, claims, among)) or tuple(among)


def is_told(world: ClusterState, pod: Pod) -> bool:
    """Whether all that decides between nodes that fit was read."""
    return of_the_choice(world.evidence, pod) is None and (not is_spread(pod) or is_known(world, pod))


def best(tried: Attempt) -> tuple[str, ...]:
    """The nodes with the best score of those that fit; all of these where no score can be given."""
    fits = tuple(node.metadata.name for node, _ in tried.nodes(NodeOutcome.FITS))
    if tried.engine is None or len(fits) < 2:
        return fits
    return tuple(name for name in scores(tried.engine).best if name in fits) or fits


def _with_controller(world: ClusterState, pod: Pod, owners: Owners) -> ClusterState | None:
    """With the controller whose pods are kept apart, where that is not certain without; None if it can't be read."""
    if not is_spread(pod) or is_known(world, pod):
        return world
    owner = owners.controller(pod)
    if owner is None or owner.unread not in (None, Unread.GONE):
        return None
    # One that is gone selects nothing any more.
    found = owner.object or WorkloadObject()
    workloads = {**world.inventory.workloads, (owner.ref.kind, owner.ref.namespace, owner.ref.name): found}
    return world.changed(world.inventory.replace(workloads=workloads))
