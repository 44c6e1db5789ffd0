"""From which nodes a volume can be reached: its node affinity, matched against labels alone.

Upstream: CheckNodeAffinity of component-helpers/storage/volume. It makes up a node without a name, so that fields of
nodes in the affinity say nothing; a term that can't be parsed is left out, and one without requirements too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from kubectl_dra.allocation.input import nodes
from kubectl_dra.model.core import Node
from kubectl_dra.model.meta import NodeSelector, NodeSelectorTerm, ObjectMeta
from kubectl_dra.model.storage import PersistentVolume


class Reach(msgspec.Struct, frozen=True):
    """``selector`` None: from everywhere."""

    selector: NodeSelector | None

    @staticmethod
    def of(volume: PersistentVolume) -> Reach:
        """That of a volume as it is written."""
        affinity = volume.spec.node_affinity
        return Reach(affinity.required if affinity is not None else None)

    def includes(self, labels: Mapping[str, str]) -> bool:
        """Whether it can be reached from a node with these labels."""
        if self.selector is None:
            return True
        nameless = Node(metadata=ObjectMeta(labels=dict(labels)))
        return any(nodes.matches(NodeSelector((term,)), nameless) for term in self.selector.node_selector_terms)

    def terms(self) -> tuple[NodeSelectorTerm, ...]:
        """The terms; none where everything is reached."""
        return self.selector.node_selector_terms if self.selector is not None else ()

    def labels(self) -> Iterator[str]:
        """The labels that decide."""
        return (each.key for term in self.terms() for each in term.match_expressions)

    def texts(self) -> tuple[str, ...]:
        """The terms in the words of the API."""
        return tuple(
            " and ".join(
                f"{each.key} {each.operator}" + (f" [{' '.join(each.values)}]" if each.values else "")
                for each in (*term.match_expressions, *term.match_fields)
            )
            for term in self.terms()
        )

    def places(self) -> tuple[tuple[str, str], ...] | None:
        """Labels with values of which a node must have at least one; None if no such list is known."""
        if self.selector is None:
            return None
        found: list[tuple[str, str]] = []
        for term in self.terms():
            named = next((each for each in term.match_expressions if each.operator == "In"), None)
            if named is None:
                return None
            found += ((named.key, value) for value in named.values)
        return tuple(found)


def keys_of(volume: PersistentVolume) -> Iterator[str]:
    """The labels of nodes that decide whether a volume can be reached."""
    return Reach.of(volume).labels()
