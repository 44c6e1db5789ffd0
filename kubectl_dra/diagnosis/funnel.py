"""Why a search found nothing on a node: per request the devices that each check leaves, and what takes the rest."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from kubectl_dra.allocation.outcome import Outcome
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Cause, RequestReport
from kubectl_dra.diagnosis.world import World
from kubectl_dra.model.core import Node
from kubectl_dra.model.resource import ResourceClaim


@dataclass(frozen=True, slots=True)
class Story:
    """What happened on a node. Equal ``key``: the same numbers for the same reasons. ``nearness``: larger is nearer."""

    key: Hashable
    reports: tuple[RequestReport, ...]
    causes: tuple[Cause, ...]
    nearness: tuple[int, ...]


def tell(world: World, node: Node, claims: Sequence[ResourceClaim], outcome: Outcome) -> Story:
    """The story of a node on which ``claims`` can't be allocated."""
    return Story(0, (), (Cause(Code.TOO_FEW_DEVICES),), ())
