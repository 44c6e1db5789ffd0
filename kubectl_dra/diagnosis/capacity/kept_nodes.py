"""What pods for devices of a class tolerate everywhere: the taints by which all nodes with such devices are kept."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.core import Taint
from kubectl_dra.model.taint_text import keeps_for_some, same_taint
from kubectl_dra.selectors.evaluate import Outcome, SelectorSet


def kept_by(state: ClusterState, device_class: str) -> tuple[Taint, ...]:
    """The taints that every node with its own devices of a class has, and that keep it for some pods; empty for none.

    Taints that say in what state a node is are none of them.
    """
    found = [node.spec.taints for name in _nodes(state, device_class) if (node := state.inventory.nodes.get(name))]
    kept = (taint for taint in found[0] if keeps_for_some(taint)) if found else ()
    return tuple(taint for taint in kept if all(any(same_taint(taint, each) for each in taints) for taints in found))


def _nodes(state: ClusterState, name: str) -> Iterator[str]:
    device_class = state.inventory.classes.get(name)
    if device_class is None:
        return
    selectors = SelectorSet.of_class(device_class, state.features.shows_sharing)
    for slice_ in state.inventory.slices.values():
        spec = slice_.spec
        if spec.node_name and any(
            selectors.of(spec.driver, device).outcome is Outcome.MATCHES for device in spec.devices
        ):
            yield spec.node_name
