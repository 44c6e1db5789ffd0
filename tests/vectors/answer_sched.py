"""Answers rows of whole clusters through the public functions: what is asked for, never what was recorded."""

from __future__ import annotations

import json
from typing import Any

from kubectl_dra.api.build import build_inventory
from kubectl_dra.api.decode import decode_any
from kubectl_dra.model.evidence import Evidence, Read
from kubectl_dra.model.features import features
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.usage import is_terminal
from kubectl_dra.scheduler.decision import Decision, Outcome, decide
from kubectl_dra.scheduler.snapshot import Snapshot

_KINDS = {
    "namespaces": ("v1", "Namespace"),
    "nodes": ("v1", "Node"),
    "pods": ("v1", "Pod"),
    "resourceslices": ("resource.k8s.io/v1", "ResourceSlice"),
    "deviceclasses": ("resource.k8s.io/v1", "DeviceClass"),
    "resourceclaims": ("resource.k8s.io/v1", "ResourceClaim"),
    "devicetaintrules": ("resource.k8s.io/v1", "DeviceTaintRule"),
    "persistentvolumes": ("v1", "PersistentVolume"),
    "persistentvolumeclaims": ("v1", "PersistentVolumeClaim"),
    "storageclasses": ("storage.k8s.io/v1", "StorageClass"),
    "csinodes": ("storage.k8s.io/v1", "CSINode"),
    "csidrivers": ("storage.k8s.io/v1", "CSIDriver"),
    "csistoragecapacities": ("storage.k8s.io/v1", "CSIStorageCapacity"),
    "volumeattachments": ("storage.k8s.io/v1", "VolumeAttachment"),
    "poddisruptionbudgets": ("policy/v1", "PodDisruptionBudget"),
    "priorityclasses": ("scheduling.k8s.io/v1", "PriorityClass"),
}
# Gates that change what is stored or run, but not what is decided about a stored object.
_OTHER_GATES = frozenset({"RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport"})


def answer(row: dict[str, Any]) -> dict[str, Any]:
    """The answer to one row: one entry per pending pod, in the order of the row."""
    snapshot = snapshot_of(row)
    pods = snapshot.inventory.pods
    entries, start = [], 0
    for pod in pods.values():
        if pod.spec.node_name or is_terminal(pod):
            continue
        decision = decide(snapshot, pod, start)
        start = (start + decision.processed) % max(len(snapshot.nodes), 1)
        entries.append({"pod": str(key_of(pod.metadata)), **render(decision)})
    return {"id": row["id"], "expect": entries}


def snapshot_of(row: dict[str, Any]) -> Snapshot:
    """The cluster of a row, completely known."""
    found = []
    for field, (version, kind) in _KINDS.items():
        for item in row.get(field) or ():
            decoded = decode_any(json.dumps(item).encode(), version, kind)
            if not isinstance(decoded, tuple):
                raise ValueError(f"{kind}: {decoded}")
            found.append(decoded)
    gates = {name: on for name, on in (row.get("featureGates") or {}).items() if name not in _OTHER_GATES}
    evidence = Evidence(tuple(Read(kind) for _, kind in _KINDS.values()))
    return Snapshot.of(build_inventory(found), evidence, features(gates=gates))


def render(decision: Decision) -> dict[str, Any]:
    """A decision in the shape of the recorded answers."""
    if decision.outcome is Outcome.OPEN:
        return {"undecided": "not everything was read"}
    entry: dict[str, Any] = {"outcome": decision.outcome.value, "feasible": []}
    if decision.reason:
        entry["reason"] = decision.reason
    if decision.message:
        entry["message"] = decision.message
    if decision.base:
        entry["messageWithoutPostFilter"] = decision.base
    if decision.outcome is Outcome.GATED:
        entry["gates"] = [_status(status.plugin, status) for status in decision.gates]
    found = decision.attempt
    if found is None:
        return entry
    if found.stop is not None:
        entry["preFilter"] = _status(found.stop.plugin, found.stop)
    elif (nodes := found.selection.nodes) is not None:
        entry["preFilterNodes"] = sorted(nodes)
    if found.stop is None:
        refused = ((name, found.status_of(name)) for name in found.cycle.snapshot.nodes)
        entry["perNode"] = {name: _status(status.plugin, status) for name, status in refused if not status.ok}
    if decision.scores is not None:
        entry["feasible"] = sorted(found.feasible)
        entry["best"] = sorted(decision.scores.best)
        if decision.scores.totals:
            entry["scores"] = dict(decision.scores.totals)
    return entry


def _status(plugin: str, status: Any) -> dict[str, Any]:
    named = {"plugin": plugin} if plugin else {}
    return {**named, "code": status.code.value, "reasons": sorted(status.reasons)}
