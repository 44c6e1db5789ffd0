"""Clusters of recorded rows, and answers of the real scheduler to them, as the tests of plugins need them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from kubectl_dra.api.kinds import KINDS
from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.core import Pod
from kubectl_dra.model.evidence import Coverage, Evidence, Read
from kubectl_dra.model.features import features, known_gates
from kubectl_dra.model.ids import Key
from kubectl_dra.model.podinfo import pod_info
from kubectl_dra.scheduler.framework import Cycle
from kubectl_dra.scheduler.snapshot import Snapshot
from tests.kit.clock import CLOCK
from tests.kit.state import build_inventory, decoded

Row = Mapping[str, Any]
_BY_PLURAL: Final = {kind.plural: kind for kind in KINDS}
#: The order in which plugins filter.
FILTERS: Final = (
    *("NodeName", "NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit"),
    *("VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone", "PodTopologySpread", "InterPodAffinity"),
    *("DynamicResources", "NodeDeclaredFeatures"),
)


def rows_of(name: str) -> Iterator[Row]:
    """The rows of a recorded file beside this one."""
    with gzip.open(Path(__file__).with_name(name), "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def snapshot_of(row: Row, minor: int = 37, unread: tuple[str, ...] = ()) -> Snapshot:
    """The snapshot of a row: lists of objects under the names of resources. Kinds that are ``unread`` are forbidden."""
    objects = [
        decoded(content, kind.api_version, kind.name)
        for plural, kind in _BY_PLURAL.items()
        for content in row.get(plural, ())
    ]
    reads = (
        Read(kind.name, coverage=Coverage.FORBIDDEN if kind.name in unread else Coverage.COMPLETE) for kind in KINDS
    )
    gates = {gate: on for gate, on in row.get("featureGates", {}).items() if gate in known_gates()}
    evidence = Evidence(tuple(reads))
    return Snapshot(ClusterState(build_inventory(objects), evidence, features(minor, gates), CLOCK))


def pod_of(snapshot: Snapshot, name: str) -> Pod:
    """A pod by ``namespace/name``."""
    namespace, _, rest = name.partition("/")
    return snapshot.inventory.pods[Key(namespace, rest)]


def cycle_of(snapshot: Snapshot, name: str) -> Cycle:
    """A fresh attempt for a pod."""
    pod = pod_of(snapshot, name)
    return Cycle(pod, pod_info(pod), snapshot)
