"""Manifests of objects that are about to be created: corrected, decoded, defaulted; and the pods of workloads.

What the API server would refuse is ``validate``'s business, whether anything fits is decided elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from kubectl_dra.api.convert import Source
from kubectl_dra.api.decode import DecodeError, decode_any
from kubectl_dra.api.defaults import defaulted
from kubectl_dra.api.kinds import POD, Kind
from kubectl_dra.api.lint import Finding, lint
from kubectl_dra.api.trees import in_utf8, read_tree
from kubectl_dra.model.base import Record
from kubectl_dra.model.core import Pod
from kubectl_dra.model.evidence import BadObject
from kubectl_dra.model.meta import LocalObject

Tree = dict[str, Any]
_CRON_JOB: Final = "CronJob"
_DAEMON_SET: Final = "DaemonSet"


@dataclass(frozen=True, slots=True)
class Planned:
    """One object of a file. ``record`` None: it could not be read (``error``), or its kind plays no part here.

    ``pod`` is what a workload makes copies of, ``copies`` how many; None copies: one per node. ``corrected`` is JSON.
    """

    kind: str
    namespace: str = ""
    name: str = ""
    record: Record | None = None
    error: str = ""
    findings: tuple[Finding, ...] = ()
    corrected: bytes | None = None
    pod: Pod | None = None
    copies: int | None = 1


def read_planned(source: Source, namespace: str) -> Planned:
    """One object; those without a namespace are meant for ``namespace``."""
    found = lint(source.data)
    data = found.corrected if found.corrected is not None else source.data
    decoded = decode_any(data, source.api_version, source.kind)
    if isinstance(decoded, BadObject):
        return Planned(decoded.kind, decoded.namespace, decoded.name, error=decoded.error, findings=found.findings)
    if decoded is None:
        tree = _tree(data)
        return Planned(str(tree.get("kind") or source.kind), *_names(tree))
    kind, record = decoded
    return _planned(kind, _in_namespace(kind, defaulted(record), namespace), data, found.findings, found.corrected)


def _planned(
    kind: Kind, record: Record, data: bytes, findings: tuple[Finding, ...], corrected: bytes | None
) -> Planned:
    meta = record.metadata  # type: ignore[attr-defined]
    name = meta.name or meta.generate_name
    pod, copies = (record, 1) if isinstance(record, Pod) else (None, None)
    if kind.workload and isinstance(record, LocalObject):
        spec = _mapping(_tree(data).get("spec"))
        try:
            pod, copies = _pod_of(kind, spec, meta.namespace, name), _copies(kind, spec)
        except DecodeError as error:
            return Planned(kind.name, meta.namespace, name, error=str(error), findings=findings)
    return Planned(kind.name, meta.namespace, name, record, "", findings, corrected, pod, copies)


def _in_namespace(kind: Kind, record: Record, namespace: str) -> Record:
    meta = record.metadata  # type: ignore[attr-defined]
    if meta.namespace or not kind.namespaced:
        return record
    return msgspec.structs.replace(record, metadata=msgspec.structs.replace(meta, namespace=namespace))


# --- workloads --------------------------------------------------------------------------------------------------------


def _pod_of(kind: Kind, spec: Mapping[str, Any], namespace: str, name: str) -> Pod:
    """The pod of a workload's template. Raises :class:`DecodeError`."""
    if kind.name == _CRON_JOB:
        spec = _mapping(_mapping(spec.get("jobTemplate")).get("spec"))
    template = _mapping(spec.get("template"))
    if not isinstance(template.get("spec"), dict):
        raise DecodeError("spec.template.spec: Required value")
    labels = {"labels": labels} if (labels := _mapping(template.get("metadata")).get("labels")) else {}
    body = {"metadata": {"name": name, "namespace": namespace, **labels}, "spec": template["spec"]}
    decoded = decode_any(json.dumps(body).encode(), POD.api_version, POD.name)
    if isinstance(decoded, BadObject):
        raise DecodeError(f"spec.template: {decoded.error}")
    assert decoded is not None  # noqa: S101 - pods are known
    pod = defaulted(decoded[1])
    assert isinstance(pod, Pod)  # noqa: S101
    return pod


def _copies(kind: Kind, spec: Mapping[str, Any]) -> int | None:
    """Pods that run at the same time: ``replicas``, or a job's ``parallelism`` up to its ``completions``."""
    if kind.name == _DAEMON_SET:
        return None
    if kind.name == _CRON_JOB:
        spec = _mapping(_mapping(spec.get("jobTemplate")).get("spec"))
    if kind.name in (_CRON_JOB, "Job"):
        parallel, completions = _number(spec.get("parallelism"), 1), spec.get("completions")
        return min(parallel, completions) if isinstance(completions, int) else parallel
    return _number(spec.get("replicas"), 1)


def _number(value: object, default: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else default


def _tree(data: bytes) -> Tree:
    return _mapping(read_tree(in_utf8(data)))


def _mapping(value: object) -> Tree:
    return value if isinstance(value, dict) else {}


def _names(tree: Tree) -> tuple[str, str]:
    meta = _mapping(tree.get("metadata"))
    namespace, name = meta.get("namespace"), meta.get("name")
    return (namespace if isinstance(namespace, str) else ""), (name if isinstance(name, str) else "")
