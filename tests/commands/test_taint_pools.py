"""taint-device for a pool, for a node, and for a match that all devices of a pool meet: one rule each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.app import run
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import DeviceId, PoolId
from kubectl_dra.model.resource import DeviceTaint
from kubectl_dra.model.taint_plan import PlanTarget, Verb
from kubectl_dra.reports.taints.taint_plan import planned_object, removal_plan, taint_plan
from tests.kit import build, facts
from tests.kit.clock import CLOCK

NIC = "nic.example.com/rack-1"
TAINT = DeviceTaint("ecc", "", "NoSchedule")
POOL = PoolId(build.DRIVER, "node-1")


def plan(capfd: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert run(["taint-device", *words, "--dry-run=client", "-o", "json", "--from", "demo"]) == 0
    found: dict[str, Any] = json.loads(capfd.readouterr().out)
    return found


@pytest.mark.parametrize(
    ("words", "driver", "pool", "devices"),
    [
        ((f"{NIC}/*", "link:NoSchedule"), "nic.example.com", "rack-1", 4),
        (("node/cpu-2", "link:NoSchedule"), "mig.example.com", "cpu-2", 7),
        (("--match", 'device.driver == "mig.example.com"', "link:NoSchedule"), "mig.example.com", "cpu-2", 7),
    ],
)
def test_one_rule_for_all_devices_of_a_pool(
    capfd: pytest.CaptureFixture[str], words: tuple[str, ...], driver: str, pool: str, devices: int
) -> None:
    found = plan(capfd, *words)
    assert [rule["spec"]["deviceSelector"] for rule in found["objects"]] == [{"driver": driver, "pool": pool}]
    assert len(found["devices"]) == devices


def test_a_match_that_some_devices_of_a_pool_meet_has_a_rule_for_each(capfd: pytest.CaptureFixture[str]) -> None:
    expression = 'device.driver == "mig.example.com" && device.attributes["mig.example.com"].profile == "half"'
    found = plan(capfd, "--match", expression, "link:NoSchedule")
    assert len(found["objects"]) == len(found["devices"]) == 2
    assert all("device" in rule["spec"]["deviceSelector"] for rule in found["objects"])


def test_a_device_beside_its_pool_is_in_the_pools_rule(capfd: pytest.CaptureFixture[str]) -> None:
    found = plan(capfd, f"{NIC}/*", f"{NIC}/nic-0", "link:NoSchedule")
    assert len(found["objects"]) == 1


@pytest.mark.parametrize(
    ("word", "words"),
    [
        (NIC, f"'{NIC}/*' means all of its devices"),
        ("nic.example.com/nothing/*", 'pool "nic.example.com/nothing" not found'),
        ("node/cpu-1", 'node "cpu-1" has no pool of its own'),
        ("node/cpu-3", 'nodes "cpu-3" not found'),
    ],
)
def test_what_names_no_pool_is_an_error(capfd: pytest.CaptureFixture[str], word: str, words: str) -> None:
    assert run(["taint-device", word, "a:NoSchedule", "--dry-run=client", "--from", "demo"]) == 1
    assert words in capfd.readouterr().err


@pytest.mark.parametrize("words", [("a/b/*",), ("node/cpu-1",), ("gpu-0",), ("--match", "true")])
def test_what_was_not_read_is_not_told_to_be_absent(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, words: tuple[str, ...]
) -> None:
    assert run(["snapshot", "--from", "demo"]) == 0
    snapshot = json.loads(capfd.readouterr().out)
    reads = [each for each in snapshot["reads"] if each["kind"] != "ResourceSlice"]
    reads.append({"kind": "ResourceSlice", "coverage": "forbidden"})
    items = [each for each in snapshot["items"] if each["kind"] != "ResourceSlice"]
    path = tmp_path / "few.json"
    path.write_text(json.dumps({**snapshot, "reads": reads, "items": items}), encoding="utf-8")
    assert run(["taint-device", *words, "a:NoSchedule", "--dry-run=client", "--from", str(path)]) == 1
    assert "but ResourceSlices could not be read" in capfd.readouterr().err


@pytest.mark.parametrize("word", ["/*", "a/*", "a//b/*", "node/", "node/a/b"])
def test_what_is_no_pool_and_no_node_is_wrong_usage(capfd: pytest.CaptureFixture[str], word: str) -> None:
    assert run(["taint-device", word, "a:NoSchedule", "--dry-run=client", "--from", "demo"]) == 2


@pytest.mark.parametrize("words", [(f"{NIC}/*", "a:NoSchedule", "-y"), (f"{NIC}/*", "a:NoExecute", "--observe", "-y")])
def test_many_devices_need_more_than_a_yes(capfd: pytest.CaptureFixture[str], words: tuple[str, ...]) -> None:
    assert run(["taint-device", *words]) == 2


def state(*rules: dict[str, Any]) -> ClusterState:
    objects = [build.slice_("node-1", build.device("a"), build.device("b")), *rules]
    return ClusterState(facts.inventory(objects), facts.evidence(), features(), CLOCK)


def made(world: ClusterState) -> dict[str, Any]:
    write = taint_plan(world, (), TAINT, "resource.k8s.io/v1", PlanTarget(), pools=(POOL,)).writes[0]
    rule: dict[str, Any] = json.loads(planned_object(write, world))
    return rule


def test_the_rule_of_a_pool_is_changed_and_removed_as_one() -> None:
    rule = made(state())
    world = state(rule)
    assert facts.inventory([rule]).taint_rules
    again = taint_plan(world, (), TAINT, "resource.k8s.io/v1", PlanTarget(), pools=(POOL,))
    assert (again.writes, again.present) == ((), (rule["metadata"]["name"],))
    harder = DeviceTaint("ecc", "", "NoExecute")
    changed = taint_plan(world, (), harder, "resource.k8s.io/v1", PlanTarget(), pools=(POOL,))
    assert [write.verb for write in changed.writes] == [Verb.PATCH]
    gone = removal_plan(world, (), DeviceTaint("ecc"), "resource.k8s.io/v1", PlanTarget(), pools=(POOL,))
    assert [(write.verb, write.own) for write in gone.writes] == [(Verb.DELETE, True)]
    assert {each.device for each in gone.devices} == {"a", "b"}


def test_the_rule_of_a_pool_stays_where_one_device_is_meant() -> None:
    world = state(made(state()))
    device = DeviceId(build.DRIVER, "node-1", "a")
    assert removal_plan(world, (device,), DeviceTaint("ecc"), "resource.k8s.io/v1", PlanTarget()).writes == ()
