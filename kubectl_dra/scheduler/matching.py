"""Existing volumes for one claim: which of them a node gets.

Upstream: FindMatchingVolume of component-helpers/storage/volume. What does not depend on the node is decided once, and
volumes are found by the labels that reach them: a cluster may have a local volume per node.

From which nodes a volume can be reached: its node affinity, matched against labels alone. Upstream: CheckNodeAffinity
of component-helpers/storage/volume. It makes up a node without a name, so that fields of nodes in the affinity say
nothing; a term that can't be parsed is left out, and one without requirements too.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from functools import cmp_to_key
from typing import Final

import msgspec

from kubectl_dra.allocation.input import nodes
from kubectl_dra.model.core import Node
from kubectl_dra.model.meta import NodeSelector, NodeSelectorTerm, ObjectMeta
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.storage import PersistentVolume, PersistentVolumeClaim
from kubectl_dra.model.terms import requirements_of, selects

STORAGE: Final = "storage"
_ZERO: Final = Quantity(0, text="0")
_AVAILABLE: Final = "Available"
_FILESYSTEM: Final = "Filesystem"


def request_of(claim: PersistentVolumeClaim) -> Quantity:
    return claim.spec.resources.requests.get(STORAGE, _ZERO)


def capacity_of(volume: PersistentVolume) -> Quantity:
    return volume.spec.capacity.get(STORAGE, _ZERO)


class Matching:
    """The volumes of one class that a claim could get. ``keys`` are the labels of nodes that decide."""

    def __init__(self, claim: PersistentVolumeClaim, volumes: Iterable[PersistentVolume]) -> None:
        suited = [volume for volume in volumes if _suits(claim, volume)]
        self._reserved = [(volume, Reach.of(volume)) for volume in suited if is_for(volume, claim)]
        free = (volume for volume in suited if _is_free(claim, volume))
        # The smallest wins; upstream takes any of several, here it is the first that was read.
        self._free = [(volume, Reach.of(volume)) for volume in sorted(free, key=_BY_SIZE)]
        self.keys = frozenset(key for _, reach in (*self._reserved, *self._free) for key in reach.labels())
        self._by_place: dict[tuple[str, str], list[int]] = {}
        self._anywhere: list[int] = []
        for position, (_, reach) in enumerate(self._free):
            places = reach.places()
            if places is None:
                self._anywhere.append(position)
            for place in dict.fromkeys(places or ()):
                self._by_place.setdefault(place, []).append(position)
        self._place_keys = frozenset(key for key, _ in self._by_place)

    def on(self, labels: Mapping[str, str], taken: Container[str]) -> PersistentVolume | None:
        """The volume that a node with these labels gets; one that is kept for the claim is the only one that counts."""
        for volume, reach in self._reserved:
            if volume.metadata.name not in taken:
                return volume if reach.includes(labels) else None
        positions = set(self._anywhere)
        for key in self._place_keys:
            value = labels.get(key)
            if value is not None:
                positions.update(self._by_place.get((key, value), ()))
        for position in sorted(positions):
            volume, reach = self._free[position]
            if volume.metadata.name not in taken and reach.includes(labels):
                return volume
        return None


def is_for(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """Whether a volume is kept for, or bound to, a claim."""
    reference, meta = volume.spec.claim_ref, claim.metadata
    if reference is None or (reference.namespace, reference.name) != (meta.namespace, meta.name):
        return False
    return not reference.uid or reference.uid == meta.uid


def _suits(claim: PersistentVolumeClaim, volume: PersistentVolume) -> bool:
    """Whether a volume could be the claim's, also one that is kept for it."""
    spec = volume.spec
    if spec.claim_ref is not None and not is_for(volume, claim):
        return False
    return (
        capacity_of(volume).cmp(request_of(claim)) >= 0
        and (spec.volume_mode or _FILESYSTEM) == (claim.spec.volume_mode or _FILESYSTEM)
        and (spec.volume_attributes_class_name or "") == (claim.spec.volume_attributes_class_name or "")
        and volume.metadata.deletion_timestamp is None
    )


def _is_free(claim: PersistentVolumeClaim, volume: PersistentVolume) -> bool:
    selector = claim.spec.selector
    return (
        volume.status.phase == _AVAILABLE
        and not is_for(volume, claim)
        and (selector is None or selects(requirements_of(selector), volume.metadata.labels))
        and set(claim.spec.access_modes) <= set(volume.spec.access_modes)
    )


def _compare(a: PersistentVolume, b: PersistentVolume) -> int:
    return capacity_of(a).cmp(capacity_of(b))


_BY_SIZE: Final = cmp_to_key(_compare)


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
