"""Which of the nodes that fit the scheduler takes one of.

Upstream: schedule_one.go (prioritizeNodes, selectHost; numFeasibleNodesToFind).
"""

from __future__ import annotations

from collections.abc import Collection, Hashable

import msgspec

from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.diagnosis import classic
from kubectl_dra.diagnosis.explain.attempt import PodAttempt, attempt
from kubectl_dra.diagnosis.pod.equivalence import kind_of
from kubectl_dra.diagnosis.pod.judgement import feasible_nodes_to_find
from kubectl_dra.diagnosis.pod.missing import of_the_choice
from kubectl_dra.diagnosis.pod.workloads import Owners, WhyUnread
from kubectl_dra.diagnosis.records import NodeOutcome, PodDiagnosis, Verdict
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.podneeds import is_spread
from kubectl_dra.model.resource import ResourceClaim
from kubectl_dra.model.workloads import WorkloadObject
from kubectl_dra.scheduler.attempt import scores
from kubectl_dra.scheduler.claims import resolve
from kubectl_dra.scheduler.plugins.default_selector import is_known


class NodeChoice(msgspec.Struct, frozen=True):
    """Which of the nodes that fit a pod the scheduler takes one of.

    ``best``: those with the best score; empty where none fits, or where that can't be told. ``compared``: more fit than
    the scheduler compares, which are so many; 0 where it compares all.
    """

    best: tuple[str, ...] = ()
    compared: int = 0


def choice_of(state: ClusterState, diagnosis: PodDiagnosis, owners: Owners) -> NodeChoice:
    """The choice that the scheduler has for a pod that would fit now; pods alike share it.

    Of a group's pods each finds what those before it have left: their choice is not told.
    """
    pod = state.inventory.pods.get(diagnosis.pod.key)
    if pod is None or diagnosis.verdict is not Verdict.SCHEDULABLE or pod.spec.scheduling_group is not None:
        return NodeChoice()
    fits = [name for group in diagnosis.nodes if group.outcome is NodeOutcome.FITS for name in group.nodes]
    if enough := compared(state, len(fits)):
        return NodeChoice(compared=enough)
    claims = _claims(state, pod)
    if classic.concerns(claims):
        return NodeChoice()
    kind = kind_of(state, pod, claims)
    if kind is None:
        return NodeChoice(known_choice(state, diagnosis.pod.key, fits, owners))
    meta = pod.metadata
    alike = kind, meta.namespace, tuple(sorted(meta.labels.items())), meta.controller
    known = _known(state)
    if not known.get(alike):
        known[alike] = known_choice(state, diagnosis.pod.key, fits, owners)
    return NodeChoice(known[alike])


@derived()
def _known(_state: ClusterState) -> dict[Hashable, tuple[str, ...]]:
    return {}


def choice(state: ClusterState, key: Key, among: Collection[str], owners: Owners) -> tuple[str, ...]:
    """The nodes that a pod without nodes may get, of those ``among`` which are all that fit."""
    return known_choice(state, key, among, owners) or tuple(among)


def known_choice(state: ClusterState, key: Key, among: Collection[str], owners: Owners) -> tuple[str, ...]:
    """The same; none where that can't be told: what decides between them was not read, or not all are compared."""
    pod = state.inventory.pods[key]
    if compared(state, len(among)):
        return ()
    known = told(state, pod, owners)
    if known is None:
        return ()
    return best(attempt(known, pod, _claims(known, pod), among))


def _claims(state: ClusterState, pod: Pod) -> list[ResourceClaim]:
    entries = resolve(state.inventory, state.evidence, state.features, pod)
    return [entry.claim for entry in entries if entry.claim is not None]


def compared(state: ClusterState, fitting: int) -> int:
    """How many of so many nodes that fit the scheduler compares: those that it meets first; 0 where it compares all.

    At which node it begins goes round from pod to pod, and can't be read.
    """
    enough = feasible_nodes_to_find(len(state.inventory.nodes))
    return enough if fitting > enough else 0


def best(tried: PodAttempt) -> tuple[str, ...]:
    """The nodes with the best score of those that fit; all of these where no score can be given."""
    fits = tried.names(NodeOutcome.FITS)
    if tried.engine is None or len(fits) < 2:
        return fits
    return tuple(filter(frozenset(fits).__contains__, scores(tried.engine).best)) or fits


def told(state: ClusterState, pod: Pod, owners: Owners) -> ClusterState | None:
    """The state with all that decides between nodes that fit; None where Services or the controller can't be read.

    The controller, whose pods are kept apart, is added where its selector is not certain without.
    """
    if of_the_choice(state.evidence, pod) is not None:
        return None
    if not is_spread(pod) or is_known(state, pod):
        return state
    owner = owners.controller(pod)
    if owner is None or owner.unread not in (None, WhyUnread.GONE):
        return None
    # One that is gone selects nothing any more.
    found = owner.object or WorkloadObject()
    workloads = {**state.inventory.workloads, (owner.ref.kind, owner.ref.namespace, owner.ref.name): found}
    return state.changed(state.inventory.replace(workloads=workloads))
