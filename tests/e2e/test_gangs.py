"""Groups of pods: the plugin says what the real scheduler does with them, and its ways out lead where they say."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.controlplane import Client, ControlPlane, binaries
from tests.controlplane.__main__ import plane_environment
from tests.controlplane.client import wait_for
from tests.controlplane.releases import GANGS
from tests.e2e.gangs import Stage, group_object, situations
from tests.e2e.situations import clear, create, scheduled_condition
from tests.e2e.test_remedies import kubelet

pytestmark = pytest.mark.controlplane
SILENT = ("DRA-160", "DRA-161", "DRA-162")
_SILENCE_SECONDS = 2.5
#: Of the gates only this one does not show before the scheduler has spoken.
TOPOLOGY = ("--feature-gates", "GenericWorkload=true,TopologyAwareWorkloadScheduling=true")
Report = dict[str, Any]


@pytest.fixture(scope="module")
def together() -> Iterator[ControlPlane]:
    """A control plane that places groups."""
    with ControlPlane(binaries(), release=GANGS, backoff_seconds=1) as running:
        yield running


class Plugin:
    """``kubectl dra`` on this control plane."""

    def __init__(self, plane: ControlPlane) -> None:
        environment = plane_environment(plane, "admin")
        paths = (str(plane.binaries), sysconfig.get_path("scripts"), environment.get("PATH", ""))
        self._environment = {**environment, "PATH": os.pathsep.join(paths)}

    def run(self, *words: str) -> str:
        command = ["kubectl", "dra", *words]
        done = subprocess.run(command, env=self._environment, capture_output=True, encoding="utf-8", check=False)
        assert done.returncode == 0, f"{command}: {done.stdout}\n{done.stderr}"
        return done.stdout

    def report(self, target: str, namespace: str, *more: str) -> Report:
        found: Report = json.loads(self.run("why-pending", target, "-n", namespace, *more, "-o", "json"))
        return found

    def shell(self, script: str) -> None:
        done = subprocess.run(
            ["bash", "-eu"], input=script, env=self._environment, capture_output=True, encoding="utf-8", check=False
        )
        assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"


def foretold(plugin: Plugin, stage: Stage, folder: Path) -> str:
    """A snapshot of now without what the scheduler wrote, and with the group if it comes late."""
    snapshot = json.loads(plugin.run("snapshot"))
    for item in snapshot["items"]:
        if item["kind"] in ("Pod", "PodGroup"):
            item.get("status", {}).pop("conditions", None)
    if stage.situation.late:
        snapshot["items"].append(_late_group(stage))
    path = folder / "before.json"
    path.write_text(json.dumps(snapshot), encoding="utf-8")
    return str(path)


def _late_group(stage: Stage) -> Report:
    group = group_object(stage.namespace, stage.situation.group or {})
    group["metadata"]["uid"] = "late"
    if "priorityClassName" in group["spec"]:
        group["spec"]["priority"] = stage.situation.classes[group["spec"]["priorityClassName"]]
    return group


@pytest.mark.parametrize("name", situations())
def test_what_becomes_of_a_group(together: ControlPlane, tmp_path: Path, name: str) -> None:
    situation, client, plugin = situations()[name], together.client(), Plugin(together)
    stage = Stage(client, situation)
    stage.set()
    if situation.late:
        _foretells(plugin, stage, tmp_path)
        return
    if situation.code in SILENT:
        time.sleep(_SILENCE_SECONDS)
        assert not stage.spoken()
    else:
        wait_for(stage.spoken, "the scheduler has a verdict")
    if situation.group is None:
        told = plugin.report("pod/train-0", stage.namespace)
        assert [told["verdict"], told["causes"][0]["code"]] == ["Gated", situation.code]
    else:
        _agrees(plugin, stage, tmp_path)
    _is_fixed(plugin, stage)


def _agrees(plugin: Plugin, stage: Stage, folder: Path) -> None:
    """Before the scheduler spoke and afterwards the same is said, and it is what it said."""
    told = plugin.report("podgroup/train", stage.namespace)
    before = foretold(plugin, stage, folder)
    predicted = plugin.report("podgroup/train", stage.namespace, "--from", before, *TOPOLOGY)
    condition = stage.condition()
    for report in (told, predicted):
        assert report["causes"][0]["code"] == stage.situation.code, report["summary"]
        if condition is not None:
            assert report["reason"] == condition["reason"]
            assert report["message"] == condition["message"]
    if condition is None:
        return
    assert told["agreement"] == "agrees"
    for member in told["members"]:
        own = scheduled_condition(stage.client, stage.namespace, member["pod"]["name"])
        assert own is not None
        tail = re.compile(r"(?:, | )(?:pod group )?preemption: .*\Z", re.DOTALL)
        assert member["message"] == tail.sub("", own["message"])
        alone = plugin.report(f"pod/{member['pod']['name']}", stage.namespace)
        assert (alone["agreement"], alone["verdict"]) == ("agrees", member["verdict"])


def _is_fixed(plugin: Plugin, stage: Stage) -> None:
    fix, wanted = stage.situation.fix, stage.situation.bound
    assert fix
    with kubelet(stage.client, stage.namespace):
        if "remedy" in fix:
            plugin.shell(_commands(plugin, stage, fix["remedy"]))
        elif "pin" in fix:
            report = plugin.report("podgroup/train", stage.namespace)
            pods = next(r["actions"][0]["pods"] for r in report["remedies"] if r["kind"] == "pinPods")
            stage.pin((each["pod"]["name"], each["node"]) for each in pods)
        else:
            stage.take(fix)
        wait_for(lambda: stage.bound() >= wanted, f"{wanted} pods are bound after {dict(fix)}", 60)
    time.sleep(0.5)
    assert stage.bound() == wanted


def _commands(plugin: Plugin, stage: Stage, kind: str) -> str:
    """The printed commands of the way out of a kind."""
    page = plugin.run("why-pending", "podgroup/train", "-n", stage.namespace, "--remedies")
    report = plugin.report("podgroup/train", stage.namespace)
    number = next(i for i, each in enumerate(report["remedies"], 1) if each["kind"] == kind)
    blocks = {block.partition("\n")[0].split()[1]: block for block in re.split(r"^(?=# \d+ )", page, flags=re.M)[1:]}
    return blocks[str(number)]


def _foretells(plugin: Plugin, stage: Stage, folder: Path) -> None:
    """What becomes of a group that does not exist yet: who is bound, and where."""
    situation, client = stage.situation, stage.client
    before = foretold(plugin, stage, folder)
    report = plugin.report("podgroup/train", stage.namespace, "--from", before, *TOPOLOGY)
    codes = [cause["code"] for cause in report["causes"]]
    assert codes == ([situation.code] if situation.code else []), report["summary"]
    stage.group(situation.group or {})
    if situation.evicts:
        assert report["preemption"]["victims"]
        with kubelet(client, stage.namespace):
            wait_for(lambda: stage.bound() >= situation.bound, f"{situation.bound} pods are bound", 60)
        left = {pod["metadata"]["name"] for pod in client.list("v1", "Pod", stage.namespace)}
        evicted = {victim.partition("/")[2] for victim in report["preemption"]["victims"]}
        assert set(situation.holders) - left == evicted
        return
    assert report["verdict"] == "Schedulable"
    assert report["placed"] == situation.bound
    wait_for(lambda: stage.bound() >= situation.bound, f"{situation.bound} pods are bound", 60)
    time.sleep(1)
    for member in report["members"]:
        pod = client.get("Pod", member["pod"]["name"], stage.namespace)
        assert pod is not None
        if member["nodes"]:
            assert pod["spec"]["nodeName"] in member["nodes"] or len(situation.nodes) > 1
        else:
            assert not pod["spec"].get("nodeName")
            own = scheduled_condition(client, stage.namespace, member["pod"]["name"])
            assert own is not None
            assert own["message"].startswith(member["message"])


def test_with_the_gates_off_nothing_changes(plane: ControlPlane, client: Client) -> None:
    """The server drops the field, PodGroups are not served, and the pod is scheduled alone."""
    situation = situations()["too-few-devices"]
    stage = Stage(client, situation)
    plugin = Plugin(plane)
    clear(client)
    client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": stage.namespace}})
    create(client, {"kind": "DeviceClass", "metadata": {"name": "gpu.example.com"}, "spec": {}}, "")
    stage.nodes(situation.nodes)
    for name, fields in situation.pods.items():
        stage.pod(name, fields)

    def bound() -> int:
        return sum(bool(pod["spec"].get("nodeName")) for pod in client.list("v1", "Pod", stage.namespace))

    wait_for(lambda: bound() == 2, "two pods are bound, each by itself")
    waiting = next(p for p in client.list("v1", "Pod", stage.namespace) if not p["spec"].get("nodeName"))
    report = plugin.report(f"pod/{waiting['metadata']['name']}", stage.namespace)
    assert (report["verdict"], report["causes"][0]["code"]) == ("Unschedulable", "DRA-211")


def test_there_are_enough_of_them() -> None:
    assert len(situations()) >= 25
