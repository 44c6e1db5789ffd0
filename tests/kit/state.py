"""The state of a cluster of a test, under the tests' clock, and questions about one pod or claim of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from kubectl_dra.api.build import InventoryBuilder
from kubectl_dra.api.decode import decode_any
from kubectl_dra.api.kinds import BY_NAME, Kind
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.records import Cause, ClaimDiagnosis, PodDiagnosis
from kubectl_dra.model.base import Record
from kubectl_dra.model.evidence import Evidence
from kubectl_dra.model.features import Features
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory
from tests.kit.clock import CLOCK


def build_inventory(objects: Iterable[tuple[Kind, Any]]) -> Inventory:
    """The inventory of decoded objects, each with its kind."""
    builder = InventoryBuilder()
    for kind, record in objects:
        builder.add(kind, record)
    return builder.inventory()


def decoded(obj: Mapping[str, Any], api_version: str = "", kind: str = "") -> tuple[Kind, Record]:
    """Kind and record of an object that must be readable; one that names no version has the first of its kind."""
    known = BY_NAME.get(obj.get("kind", kind))
    found = decode_any(json.dumps(obj).encode(), api_version or (known.api_version if known else ""), kind)
    assert isinstance(found, tuple), found
    return found


def inventory_of(items: Iterable[Mapping[str, Any]]) -> Inventory:
    """The inventory of API objects, as the program reads them."""
    return build_inventory(map(decoded, items))


def state_of(
    inventory: Inventory, evidence: Evidence | None = None, features: Features | None = None, **fields: Any
) -> ClusterState:
    """A state; ``fields`` are others of :class:`ClusterState`."""
    evidence = Evidence() if evidence is None else evidence
    return ClusterState(inventory, evidence, Features() if features is None else features, CLOCK, **fields)


def diagnose_pod(inventory: Inventory, evidence: Evidence, features: Features, key: Key, **fields: Any) -> PodDiagnosis:
    """Why one pod is where it is."""
    found = Diagnoser(state_of(inventory, evidence, features, **fields)).pod(key)
    check_evidence((*found.causes, *(cause for group in found.nodes for cause in group.causes)))
    return found


def diagnose_claim(inventory: Inventory, evidence: Evidence, features: Features, key: Key) -> ClaimDiagnosis:
    """The state of one claim."""
    found = Diagnoser(state_of(inventory, evidence, features)).claim(key)
    check_evidence(found.causes)
    return found


def check_evidence(causes: Iterable[Cause]) -> None:
    """Each cause has evidence of a type that the row of its code names."""
    for cause in causes:
        assert cause.detail is None or type(cause.detail).__name__ in cause.code.evidence, cause
