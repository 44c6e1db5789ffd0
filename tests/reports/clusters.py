"""Clusters for the tests of reports: files beside this module, the demo, and changes to their items."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.features import Features, features
from kubectl_dra.model.ids import PoolId
from kubectl_dra.reports import redaction
from kubectl_dra.reports.snapshot import SnapshotDocument
from kubectl_dra.reports.snapshot import snapshot as document_of
from kubectl_dra.source.demo import CLUSTER as DEMO
from kubectl_dra.source.file import assemble
from kubectl_dra.source.manifests import read_manifests
from tests.kit.clock import CLOCK

FOLDER = Path(__file__).parent
SMALL = FOLDER / "cluster.json"
FULL = FOLDER / "full.json"
GPU = PoolId("gpu.example.com", "node-a")
MIG = PoolId("mig.example.com", "node-b")
NIC = PoolId("nic.example.com", "rack-1")
NIC_INCOMPLETE = PoolId("nic.example.com", "rack-7")
FABRIC = PoolId("fpga.example.com", "fabric")

Document = dict[str, Any]


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def document(path: Path = SMALL) -> Document:
    """A fresh copy of a cluster's document."""
    return json.loads(_text(path))


def facts(source: Document | Path = SMALL, gates: Mapping[str, bool] | None = None) -> ClusterState:
    """The facts of a document."""
    content = document(source) if isinstance(source, Path) else source
    inventory, evidence = assemble(read_manifests(json.dumps(content).encode(), "test"))
    return ClusterState(inventory, evidence, features(gates=gates) if gates else Features(), CLOCK)


def changed(change: Callable[[Document], None], path: Path = SMALL) -> ClusterState:
    """The facts after ``change`` was made to the document."""
    content = copy.deepcopy(document(path))
    change(content)
    return facts(content)


def items(content: Document, kind: str) -> dict[str, Document]:
    """The items of a kind by name."""
    return {item["metadata"]["name"]: item for item in content["items"] if item["kind"] == kind}


def withheld(content: Document, kinds: tuple[str, ...]) -> Document:
    """The document as a snapshot whose header says that ``kinds`` were forbidden."""
    header = dict(content)
    if content.get("kind") == "Snapshot":
        reads = [read for read in content["reads"] if read["kind"] not in kinds]
    else:
        present = sorted({item["kind"] for item in content["items"]} - set(kinds))
        reads = [{"kind": kind, "coverage": "complete"} for kind in present]
    header |= {"apiVersion": "kubectl-dra/v1alpha1", "kind": "Snapshot"}
    header["reads"] = [*reads, *({"kind": kind, "coverage": "forbidden"} for kind in kinds)]
    header["items"] = [item for item in content["items"] if item["kind"] not in kinds]
    return header


def snapshot(of: ClusterState, namespace: str = "", with_parameters: bool = False) -> Document:
    """The snapshot of a cluster in one."""
    return document_of(of, namespace, with_parameters).whole()


def redacted(content: Document) -> Document:
    """A snapshot with its names replaced, in one."""
    header = {name: part for name, part in content.items() if name != "items"}
    return redaction.redacted(SnapshotDocument(header, lambda: iter(copy.deepcopy(content["items"])))).whole()


__all__ = ["DEMO", "FABRIC", "FULL", "GPU", "MIG", "NIC", "NIC_INCOMPLETE", "SMALL"]
