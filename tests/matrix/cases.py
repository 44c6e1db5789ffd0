"""Cases as data for one minor: reading them, bringing them about, and waiting until the real scheduler has had its say.

What happens beside the scheduler's own work are steps: those of ``situations`` and the ones here. A driver's controller
of classic DRA is played by steps; each waits until the scheduler has asked for what the step answers.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from tests.controlplane import Client
from tests.controlplane.client import Object, object_path, wait_for
from tests.e2e import dialects, situations
from tests.e2e.dialects import Dialect

FOLDER: Final = Path(__file__).parent / "cases"
POD: Final = "pod"
_PREEMPTION: Final = re.compile(r",? preemption: .*", re.DOTALL)
_SETTLE_SECONDS: Final = 0.5
_SILENCE_SECONDS: Final = 2.5


@dataclass(frozen=True)
class Case:
    """One situation; the fields are explained at the top of each file of cases."""

    name: str
    minor: str
    nodes: Mapping[str, Any]
    pod: Mapping[str, Any]
    expect: str
    message: str = ""
    code: str = ""
    objects: tuple[Object, ...] = ()
    before: tuple[Mapping[str, Any], ...] = ()
    after: tuple[Mapping[str, Any], ...] = ()
    fix: tuple[Mapping[str, Any], ...] = ()

    @property
    def namespace(self) -> str:
        """Every case has a namespace of its own."""
        return f"matrix-{self.name}"

    @property
    def dialect(self) -> Dialect:
        """How the servers of its minor are spoken to."""
        return dialects.OLD[self.minor]

    @property
    def binds(self) -> bool:
        """Whether the scheduler finds a node."""
        return self.expect in {"NotPending", "Preparing"}


@cache
def cases(minor: str) -> dict[str, Case]:
    """All cases of a minor by name."""
    data = yaml.safe_load((FOLDER / f"{minor}.yaml").read_text(encoding="utf-8"))["cases"]
    return {name: Case(name=name, minor=minor, **case) for name, case in data.items()}


def minors() -> list[str]:
    """The minors that have cases."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def bring_about(client: Client, case: Case) -> Object | None:
    """Create everything in an empty cluster and carry out all steps; what the scheduler finally says of the pod.

    Where the case has no message, the scheduler is expected to say nothing, or to bind the pod.
    """
    situations.clear(client, case.dialect)
    if client.get("Namespace", case.namespace) is None:
        client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": case.namespace}})
    for name, node in case.nodes.items():
        situations.create(client, situations.node_object(name, **node), "", case.dialect)
    for body in case.objects:
        situations.create(client, body, case.namespace, case.dialect)
    time.sleep(_SETTLE_SECONDS)
    for step in case.before:
        carry_out(client, case, step)
    time.sleep(_SETTLE_SECONDS)
    _create_pod(client, case, POD, case.pod)
    for step in case.after:
        carry_out(client, case, step)
    return _final_word(client, case)


def apply_fix(client: Client, case: Case) -> str:
    """Carry out the case's fix; the node that the scheduler then binds the pod to."""
    for step in case.fix:
        carry_out(client, case, step)
    return wait_for(lambda: situations.bound_to(client, case.namespace, POD), "the pod is bound after the fix", 60)


def carry_out(client: Client, case: Case, step: Mapping[str, Any]) -> None:
    """One step: the only key of ``step`` says which."""
    ((verb, value),) = step.items()
    if verb in _VERBS:
        _VERBS[verb](client, case, value)
    else:
        situations.carry_out(client, case.namespace, step, case.dialect)


def condition(client: Client, case: Case) -> Object | None:
    """The pod's PodScheduled condition."""
    return situations.scheduled_condition(client, case.namespace, POD)


def without_preemption(message: str) -> str:
    """The scheduler's message without what it adds about preemption; other plugins' words before it stay."""
    return _PREEMPTION.sub("", message)


def _final_word(client: Client, case: Case) -> Object | None:
    if case.binds:
        wait_for(lambda: situations.bound_to(client, case.namespace, POD), "the pod is bound")
        return condition(client, case)
    if not case.message:
        time.sleep(_SILENCE_SECONDS)
        return condition(client, case)
    seen: list[str] = []

    def said() -> Object | None:
        found = condition(client, case) or {}
        message = found.get("message", "")
        if message not in seen:
            seen.append(message)
        return found if without_preemption(message) == case.message else None

    try:
        return wait_for(said, "the scheduler has said it")
    except AssertionError as error:
        raise AssertionError(f"{error}: {case.message!r}, but it said {seen}") from error


# --- steps ----------------------------------------------------------------------------------------------------------


def _create_pod(client: Client, case: Case, name: str, spec: Mapping[str, Any]) -> None:
    body = situations.pod_object(name, **spec)
    if case.dialect.nested_claims:
        for entry in body["spec"]["resourceClaims"]:
            entry["source"] = {key: entry.pop(key) for key in tuple(entry) if key != "name"}
    situations.create(client, body, case.namespace, case.dialect)


def _pod(client: Client, case: Case, value: Mapping[str, Any]) -> None:
    """``pod: {NAME: {...}}``: another pod."""
    ((name, spec),) = value.items()
    _create_pod(client, case, name, spec)


def _bound(client: Client, case: Case, name: str) -> None:
    """``bound: NAME``: wait until the scheduler has bound this pod."""
    wait_for(lambda: situations.bound_to(client, case.namespace, name), f"{name} is bound")


def _waiting(client: Client, case: Case, text: str) -> None:
    """``waiting: TEXT``: wait until the scheduler's message has this text in it."""
    wait_for(lambda: text in (condition(client, case) or {}).get("message", ""), f"the scheduler says {text!r}")


def _unsuitable(client: Client, case: Case, value: Mapping[str, Any]) -> None:
    """``unsuitable: {pod: NAME, claims: {ENTRY: [NODE, ...]}}``: the driver's answer, once it has been asked."""
    pod = value.get("pod", POD)
    _wait_for_context(client, case, pod, lambda spec: bool(spec.get("potentialNodes")))
    answers = [{"name": name, "unsuitableNodes": nodes} for name, nodes in value["claims"].items()]
    path = object_path(case.dialect.resource, "PodSchedulingContext", case.namespace, pod)
    # A patch can't conflict with what the scheduler writes at the same time.
    client.request("PATCH", f"{path}/status", {"status": {"resourceClaims": answers}})


def _allocates(client: Client, case: Case, value: Mapping[str, Any]) -> None:
    """``allocates: {claim, status, pod, selected}``: the driver's work, once the pod's node has been selected.

    Without ``selected`` the driver does not wait, as for immediate allocation.
    """
    if selected := value.get("selected"):
        _wait_for_context(client, case, value.get("pod", POD), lambda spec: spec.get("selectedNode") == selected)
    path = object_path(case.dialect.resource, "ResourceClaim", case.namespace, value["claim"])
    client.request("PATCH", f"{path}/status", {"status": value["status"]})


def _becomes(client: Client, case: Case, value: Mapping[str, Any]) -> None:
    """``becomes: {KIND/NAME: {path.to.field: value}}``: wait until an object of the namespace has it."""
    for place, fields in value.items():
        kind, _, name = place.partition("/")
        for path, wanted in fields.items():
            wait_for(lambda: _at(client, case, kind, name, path) == wanted, f"{place} has {path} = {wanted}")  # noqa: B023


def _at(client: Client, case: Case, kind: str, name: str, path: str) -> Any:
    value: Any = client.get(kind, name, case.namespace, case.dialect.version(kind))
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _wait_for_context(client: Client, case: Case, pod: str, asked: Callable[[Object], bool]) -> None:
    def found() -> bool:
        context = client.get("PodSchedulingContext", pod, case.namespace, case.dialect.resource)
        return context is not None and asked(context.get("spec", {}))

    wait_for(found, f"the scheduler has asked the driver about {pod}")


_VERBS: Final[Mapping[str, Callable[[Client, Case, Any], None]]] = {
    "pod": _pod,
    "bound": _bound,
    "waiting": _waiting,
    "unsuitable": _unsuitable,
    "allocates": _allocates,
    "becomes": _becomes,
}
