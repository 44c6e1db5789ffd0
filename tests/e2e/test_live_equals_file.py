"""A snapshot answers as the cluster does from which it was taken: every command, every report, field by field."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click
import pytest

from kubectl_dra.commands.app import app, run
from tests.controlplane import Client, ControlPlane
from tests.controlplane.client import wait_for
from tests.e2e.calls import DRIVER, OTHER, calls_of
from tests.e2e.situations import Case, bring_about, carry_out, cases, create, pod_object

pytestmark = pytest.mark.controlplane
# What tells from where and when facts are, and the flags that were given.
_OF_THE_SOURCE: Final = (
    "read",
    "steps",
    "origin",
    "time",
    "resourceVersion",
    "age",
    "note",
    "server",
    "assumed",
    "asOf",
    "eventTime",
)
_CASES: Final = ("all-taken", "match-attribute", "node-taint", "extended-resource-asks-for-too-many")


@pytest.fixture
def owners_gone(client: Client) -> Iterator[None]:
    """What makes pods is gone afterwards: other tests start from an empty cluster."""
    yield
    client.clear("apps/v1", "Deployment")
    client.clear("apps/v1", "ReplicaSet")


@pytest.fixture
def at(plane: ControlPlane, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(plane.kubeconfig()))
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.mark.parametrize("name", [*_CASES, "much-at-once"])
@pytest.mark.usefixtures("at", "owners_gone")
def test_every_command_answers_the_same(
    client: Client, tmp_path: Path, capfd: pytest.CaptureFixture[str], name: str
) -> None:
    case = _much() if name == "much-at-once" else cases()[name]
    bring_about(client, case)
    _other_namespace(client)
    for step in _MORE if name == "much-at-once" else ():
        carry_out(client, case.namespace, step)
    _wait_until_quiet(client)
    objects = client.list("resource.k8s.io/v1", "ResourceClaim", case.namespace)
    claims = sorted(each["metadata"]["name"] for each in objects)
    snapshot = tmp_path / "snapshot.json"
    assert run(["snapshot", "-o", str(snapshot)]) == 0
    capfd.readouterr()
    again = tmp_path / "again.json"
    assert run(["snapshot", "-o", str(again), "--from", str(snapshot)]) == 0
    assert _without_source(json.loads(again.read_bytes())) == _without_source(json.loads(snapshot.read_bytes()))

    different = []
    for command, calls in calls_of(case.namespace, claims, _manifests(tmp_path, case)).items():
        for words in calls:
            live, file = (_answer(capfd, command, *words, *more) for more in ((), ("--from", str(snapshot))))
            assert live[1] is not None or command == "describe-podgroup", (command, words, live)
            if live != file:
                different.append(f"kubectl dra {command} {' '.join(words)}: {_difference(live, file)}")
    assert not different, "\n".join(different)


def _answer(capfd: pytest.CaptureFixture[str], *words: str) -> tuple[int, Any]:
    """Exit code and report; None where there is none."""
    code = run([*words, "--exit-code", "-o", "json"] if _has_exit_code(words[0]) else [*words, "-o", "json"])
    out, err = capfd.readouterr()
    assert "Traceback" not in err, (words, err)
    return code, _without_source(json.loads(out)) if out.strip() else None


def _has_exit_code(command: str) -> bool:
    found = app.get_command(click.Context(app), command)
    return found is not None and any(each.name == "exit_code" for each in found.params)


def _without_source(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_source(each) for key, each in value.items() if key not in _OF_THE_SOURCE}
    return [_without_source(each) for each in value] if isinstance(value, list) else value


def _difference(one: Any, other: Any, path: str = "") -> str:
    """The first place where two reports differ."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return next((_difference(one[key], other[key], f"{path}.{key}") for key in one if one[key] != other[key]), "")
    if isinstance(one, list | tuple) and isinstance(other, list | tuple) and len(one) == len(other):
        pairs = enumerate(zip(one, other, strict=True))
        return next((_difference(a, b, f"{path}[{index}]") for index, (a, b) in pairs if a != b), "")
    return f"{path}: {str(one)[:300]} != {str(other)[:300]}"


# --- situations -------------------------------------------------------------------------------------------------------

_SPEC: Final = {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": DRIVER}}]}}


def _other_namespace(client: Client) -> None:
    """Another namespace has a template that this one lacks, and a quota that allows no claim."""
    if client.get("Namespace", OTHER) is None:
        create(client, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": OTHER}}, "")
        hard = {"count/resourceclaims.resource.k8s.io": "0"}
        create(client, {"kind": "ResourceQuota", "metadata": {"name": "none"}, "spec": {"hard": hard}}, OTHER)
    template = {"kind": "ResourceClaimTemplate", "metadata": {"name": "only-there"}, "spec": {"spec": _SPEC}}
    create(client, template, OTHER)


def _much() -> Case:
    """Owners, a gate, a taint rule, a reservation, cpu that others take, claims made from templates, two namespaces."""
    devices = [{"name": f"gpu-{number}", "attributes": {"model": {"string": "A100"}}} for number in range(3)]

    def slice_of(node: str) -> dict[str, Any]:
        pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
        spec = {"driver": DRIVER, "nodeName": node, "pool": pool, "devices": devices}
        return {"kind": "ResourceSlice", "metadata": {"name": f"{node}-gpu"}, "spec": spec}

    objects: Iterator[dict[str, Any]] = iter(
        (
            {"kind": "DeviceClass", "metadata": {"name": DRIVER}, "spec": {"extendedResourceName": "example.com/gpu"}},
            slice_of("node-1"),
            slice_of("node-2"),
            {"kind": "ResourceClaimTemplate", "metadata": {"name": "one"}, "spec": {"spec": _SPEC}},
            {"kind": "ResourceClaim", "metadata": {"name": "claim"}, "spec": _three("H100")},
            {"kind": "ResourceClaim", "metadata": {"name": "unused"}, "spec": _SPEC},
        )
    )
    holders = {
        "holder": {"template": "one"},
        "extended": {"limits": {"example.com/gpu": "1"}},
        "plain": {"requests": {"cpu": "2"}, "nodeName": "node-2"},
    }
    return Case("live-much", {"node-1": {}, "node-2": {"cpu": "3"}}, {"claims": ["claim"]}, "", tuple(objects), holders)


def _three(model: str) -> dict[str, Any]:
    selector = {"cel": {"expression": f'device.attributes["{DRIVER}"].model == "{model}"'}}
    exactly = {"deviceClassName": DRIVER, "count": 3, "selectors": [selector]}
    return {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}}


_RULE: Final = {
    "apiVersion": "resource.k8s.io/v1beta2",
    "kind": "DeviceTaintRule",
    "metadata": {"name": "maintenance"},
    "spec": {
        "deviceSelector": {"driver": DRIVER, "pool": "node-2"},
        "taint": {"key": "example.com/maintenance", "effect": "NoSchedule"},
    },
}


def _deployment() -> dict[str, Any]:
    spec = {**pod_object("x", template="one", requests={"cpu": "2"})["spec"]}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": spec}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "web"}}, "template": template},
    }


_MORE: Final[Sequence[Mapping[str, Any]]] = (
    {"create": _RULE},
    {"create": _deployment()},
    {"create": pod_object("gated", template="one", schedulingGates=[{"name": "example.com/quota"}])},
    {"create": pod_object("nameless", template="nothing")},
    {"create": pod_object("wishes", limits={"example.com/gpu": "5"})},
)


def _wait_until_quiet(client: Client) -> None:
    """The scheduler and controllers have nothing more to say."""

    def state() -> Sequence[tuple[str, str]]:
        objects = (each for version, kind in _WATCHED for each in client.list(version, kind))
        return sorted((each["metadata"]["uid"], each["metadata"]["resourceVersion"]) for each in objects)

    def quiet() -> bool:
        before = state()
        time.sleep(_QUIET_SECONDS)
        return state() == before

    wait_for(quiet, "nothing changes any more", 60)


_WATCHED: Final = (("v1", "Pod"), ("resource.k8s.io/v1", "ResourceClaim"), ("v1", "Event"), ("apps/v1", "ReplicaSet"))
_QUIET_SECONDS: Final = 2.0


def _manifests(folder: Path, case: Case) -> Sequence[Path]:
    """A claim for this namespace, and a pod for the other one with a template that only that has."""
    first = [body for body in case.objects if body["kind"].startswith("ResourceClaim")][:1]
    spec = first[0]["spec"] if first else _SPEC
    here = {"kind": "ResourceClaim", "metadata": {"name": "another", "namespace": case.namespace}, "spec": spec}
    if first and first[0]["kind"] == "ResourceClaimTemplate":
        here |= {"kind": "ResourceClaimTemplate"}
    there = pod_object("there", template="only-there")
    there["metadata"]["namespace"] = OTHER
    found = []
    for name, body in (("here", {"apiVersion": "resource.k8s.io/v1", **here}), ("there", there)):
        path = folder / f"{name}.json"
        path.write_text(json.dumps(body), encoding="utf-8")
        found.append(path)
    return found
