"""Cases as data: reading them, bringing about the situation they describe, and what the real scheduler says of it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from tests.controlplane import Client
from tests.controlplane.client import Object, object_path, wait_for
from tests.e2e.dialects import NEWEST, Dialect

# The scheduler's caches follow the API server within milliseconds; nothing tells from outside that they have.
_SETTLE_SECONDS: Final = 0.5
_SILENCE_SECONDS: Final = 2.5
PREEMPTION_TAIL: Final = " preemption: "


@dataclass(frozen=True)
class Case:
    """One situation; the fields are explained at the top of ``cases.yaml``."""

    name: str
    nodes: Mapping[str, Any]
    pod: Mapping[str, Any]
    expect: str
    objects: tuple[Object, ...] = ()
    holders: Mapping[str, Any] | None = None
    fix: tuple[Mapping[str, Any], ...] = ()
    silent: bool = False
    before: tuple[Mapping[str, Any], ...] = ()
    code: str = ""

    @property
    def namespace(self) -> str:
        """Every case has a namespace of its own."""
        return f"e2e-{self.name}"


@cache
def cases() -> dict[str, Case]:
    """All cases by name."""
    data = yaml.safe_load((Path(__file__).parent / "cases.yaml").read_text(encoding="utf-8"))["cases"]
    return {name: Case(name=name, **case) for name, case in data.items()}


def bring_about(client: Client, case: Case) -> Object | None:
    """Create everything in an empty cluster; the PodScheduled condition of the pod, None where there is none."""
    clear(client)
    if client.get("Namespace", case.namespace) is None:
        create(client, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": case.namespace}}, "")
    for name, node in case.nodes.items():
        create(client, node_object(name, **node), "")
    for body in case.objects:
        create(client, body, case.namespace)
        if body["kind"] == "ResourceQuota":
            _wait_until_enforced(client, case.namespace, body["metadata"]["name"])
    time.sleep(_SETTLE_SECONDS)
    for name, spec in (case.holders or {}).items():
        create(client, pod_object(name, **spec), case.namespace)
        wait_for(lambda name=name: bound_to(client, case.namespace, name), f"{name} is bound")  # type: ignore[misc]
    for step in case.before:
        carry_out(client, case.namespace, step)
    time.sleep(_SETTLE_SECONDS)
    create(client, pod_object("pod", **case.pod), case.namespace)
    if case.silent:
        time.sleep(_SILENCE_SECONDS)
        return scheduled_condition(client, case.namespace, "pod")
    return wait_for(lambda: scheduled_condition(client, case.namespace, "pod"), "the scheduler has a verdict")


def apply_fix(client: Client, case: Case) -> str:
    """Carry out the case's fix; the node that the scheduler then binds the pod to."""
    for step in case.fix:
        carry_out(client, case.namespace, step)
    return wait_for(lambda: bound_to(client, case.namespace, "pod"), "the pod is bound after the fix", 40)


def clear(client: Client, dialect: Dialect = NEWEST) -> None:
    """Delete what cases create; namespaces and quotas stay."""
    for kind in ("Pod", *dialect.kinds, "Node"):
        client.clear(dialect.version(kind), kind)


def create(client: Client, body: Object, namespace: str, dialect: Dialect = NEWEST) -> Object:
    """Create an object whose apiVersion and namespace may be left out."""
    return client.create(dialect.manifest(body, namespace))


def _wait_until_enforced(client: Client, namespace: str, name: str) -> None:
    """Admission counts against a quota once its controller has written the status; earlier claims may not count."""

    def enforced() -> bool:
        quota = client.get("ResourceQuota", name, namespace)
        return quota is not None and quota.get("status", {}).get("hard") == quota["spec"]["hard"]

    wait_for(enforced, f"quota {name} is enforced")


def bound_to(client: Client, namespace: str, name: str) -> str:
    """The node of a pod, empty while it has none."""
    pod = client.get("Pod", name, namespace)
    return "" if pod is None else pod["spec"].get("nodeName", "")


def scheduled_condition(client: Client, namespace: str, name: str) -> Object | None:
    """The PodScheduled condition of a pod."""
    pod = client.get("Pod", name, namespace)
    conditions: list[Object] = [] if pod is None else pod["status"].get("conditions", [])
    return next((each for each in conditions if each["type"] == "PodScheduled"), None)


def without_preemption(message: str) -> str:
    """The scheduler's message without what it adds about preemption."""
    return message.partition(PREEMPTION_TAIL)[0]


def node_object(
    name: str, cpu: str = "4", labels: Mapping[str, str] | None = None, status: Object | None = None, **spec: Any
) -> Object:
    """A Ready node."""
    amounts = {"cpu": cpu, "memory": "16Gi", "pods": "110"}
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "hand-made"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}},
        "spec": spec,
        "status": {"capacity": amounts, "allocatable": amounts, "conditions": [ready], **(status or {})},
    }


def pod_object(
    name: str,
    claims: tuple[str, ...] = (),
    template: str = "",
    requests: Mapping[str, str] | None = None,
    limits: Mapping[str, str] | None = None,
    **spec: Any,
) -> Object:
    """A pod with one container that uses all its claims."""
    entries = [{"name": f"c-{claim}", "resourceClaimName": claim} for claim in claims]
    if template:
        entries.append({"name": "c-template", "resourceClaimTemplateName": template})
    resources = {"claims": [{"name": entry["name"]} for entry in entries]} if entries else {}
    amounts = {"requests": dict(requests or {}), "limits": dict(limits or {})}
    container = {"name": "main", "image": "example.com/app:1", "resources": {**amounts, **resources}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"containers": [container], "resourceClaims": entries, **spec},
    }


def carry_out(client: Client, namespace: str, step: Mapping[str, Any], dialect: Dialect = NEWEST) -> None:
    """One change to the cluster: ``create`` an object, ``delete`` a kind's object, or ``patch`` it."""
    if body := step.get("create"):
        create(client, body, namespace, dialect)
        return
    kind, name, *patch = step.get("delete") or step["patch"]
    version = dialect.version(kind)
    if patch:
        client.request("PATCH", object_path(version, kind, namespace, name), patch[0])
    else:
        client.delete(version, kind, name, namespace)
