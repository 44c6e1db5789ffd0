"""Devices that are published for nodes which the cluster does not have: no node can use them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.diagnosis.explain.class_facts import node_of, offers
from kubectl_dra.diagnosis.records import ClassOffer
from kubectl_dra.selectors.compiling import Selector
from kubectl_dra.selectors.evaluate import SelectorSet

_NODES: Final = 5


def published_for_gone(state: ClusterState, class_name: str, expressions: Sequence[str]) -> ClassOffer | None:
    """The devices of a class that the selectors of a request admit, as far as they are for nodes that do not exist.

    None where there are none, or where not all nodes were read.
    """
    gone = _gone(state)
    facts = offers(state).of(class_name) if gone else None
    if facts is None or gone.isdisjoint(facts.nodes):
        return None
    selectors = SelectorSet((Selector(None, 0, each) for each in expressions), state.features.shows_sharing)
    on = Counter(
        node
        for each in facts.devices
        if (node := node_of(each)) in gone and selectors.matches(each.driver, each.device)
    )
    if not on:
        return None
    return ClassOffer(
        class_name,
        published=facts.published,
        selected=on.total(),
        nodes=tuple(on)[:_NODES],
        on_nodes=len(on),
        matching=True,
        meant=meant_by(tuple(on)[:_NODES], state.inventory.nodes),
    )


@derived("slices", "nodes", read=True)
def _gone(state: ClusterState) -> frozenset[str]:
    """The names of nodes that only slices have."""
    if not state.evidence.complete("Node", ""):
        return frozenset()
    return frozenset(filter(None, state.inventory.slices_by_node)) - state.inventory.nodes.keys()


def meant_by(names: Iterable[str], nodes: Iterable[str]) -> tuple[str, ...]:
    """The nodes that such names may mean: ``w1`` by ``w1.example.com``, and the reverse.

    Drivers that ask the machine for its name publish under that one, not under the name that the node has.
    """
    hosts = set(map(_host, names))
    return tuple(sorted(node for node in nodes if _host(node) in hosts))


def _host(name: str) -> str:
    """What a name begins with, in lower case; an address, as clouds call nodes by, is one only as a whole."""
    host = name.partition(".")[0].lower()
    return name if host.isdecimal() else host
