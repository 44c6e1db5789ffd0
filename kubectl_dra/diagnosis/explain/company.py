"""The pods that a pod wants beside it by required affinity: where they run, which wait, or that there is none."""

from __future__ import annotations

from typing import Final, NamedTuple

import msgspec

from kubectl_dra.cluster import ClusterState, derived_for_each
from kubectl_dra.diagnosis.records import Company, ObjectRef
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.terms import AffinityTerm
from kubectl_dra.model.usage import is_terminal
from kubectl_dra.scheduler.snapshot import Snapshot

#: So many nodes are named.
_NODES: Final = 3
_PODS: Final = 3


class _Found(NamedTuple):
    """The pods that a term is about: the nodes of some of them, and those without a node."""

    nodes: tuple[str, ...]
    waiting: tuple[Key, ...]


def wanted(state: ClusterState, pod: Pod, term: AffinityTerm, company: Company) -> Company:
    """``company`` with the pods that a term of ``pod`` is about; the term's selector of namespaces is resolved."""
    found, own = _found(state, term), key_of(pod.metadata)
    waiting = [key for key in found.waiting if key != own]
    places = term.namespaces if term.namespace_selector is None else ("",)
    read = all(state.evidence.complete("Pod", each) for each in places)
    return msgspec.structs.replace(
        company,
        nodes=found.nodes,
        waiting=tuple(ObjectRef.of("Pod", key) for key in waiting[:_PODS]) if not found.nodes else (),
        nobody=read and not (found.nodes or waiting),
    )


@derived_for_each("pods")
def _found(state: ClusterState, term: AffinityTerm) -> _Found:
    names = {
        name
        for each in Snapshot(state).placed
        if term.matches(each.shape.namespace, each.shape.labels, {})
        for name in each.nodes
    }
    waiting = (
        key
        for key, pod in state.inventory.pods.items()
        if not (pod.spec.node_name or is_terminal(pod)) and term.matches(key.namespace, pod.metadata.labels, {})
    )
    return _Found(tuple(sorted(names)[:_NODES]), tuple(sorted(waiting)))
