"""Totals of pools beside those of the ResourcePoolStatusRequest controller: the same where it is right, and where it
is not, exactly the differences that docs/totals.md names."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.controlplane import Client, ControlPlane, binaries
from tests.controlplane.__main__ import plane_environment
from tests.controlplane.client import Object, wait_for
from tests.e2e.situations import create, node_object

pytestmark = pytest.mark.controlplane

DRIVER: Final = "totals.example.com"
BROKEN: Final = "broken.example.com"
SPACE: Final = "e2e-totals"
REQUESTS: Final = "resource.k8s.io/v1alpha3"
_GATES: Final = {"DRAResourcePoolStatus": True, "DRAPartitionableDevicesType": True}
_QUIET_SECONDS: Final = 3.0
_TAINT: Final = {"key": "example.com/repair", "effect": "NoSchedule"}


def _device(name: str, **more: Any) -> Object:
    return {"name": name, **more}


def _shared(name: str) -> Object:
    return _device(name, allowMultipleAllocations=True, capacity={"memory": {"value": "40Gi"}})


def _part(name: str, kind: str, memory: str) -> Object:
    consumes = [{"counterSet": "card", "counters": {"memory": {"value": memory}}}]
    return _device(name, attributes={"kind": {"string": kind}}, consumesCounters=consumes)


def _slice(pool: str, *devices: Object, number: int = 1, of: int = 1, driver: str = DRIVER, **spec: Any) -> Object:
    content = {"devices": list(devices)} if devices else {}
    names = {"name": pool, "generation": 1, "resourceSliceCount": of}
    body = {"driver": driver, "allNodes": True, "pool": names, **content, **spec}
    return {"kind": "ResourceSlice", "metadata": {"name": f"{driver}-{pool}-{number}"}, "spec": body}


def _held(pool: str, device: str, memory: str = "", **more: Any) -> Object:
    """A claim that holds a device, or ``memory`` of it, for a consumer that no controller knows."""
    share = {"shareID": "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "consumedCapacity": {"memory": memory}}
    result = {"request": "r", "driver": DRIVER, "pool": pool, "device": device, **(share if memory else {}), **more}
    consumer = {"apiGroup": "example.com", "resource": "jobs", "name": "holder", "uid": "holder"}
    admin = {"adminAccess": True} if more.get("adminAccess") else {}
    request = {"name": "r", "exactly": {"deviceClassName": DRIVER, **admin}}
    return {
        "kind": "ResourceClaim",
        "metadata": {"name": f"{pool}-{device}"},
        "spec": {"devices": {"requests": [request]}},
        "status": {"allocation": {"devices": {"results": [result]}}, "reservedFor": [consumer]},
    }


_CARD: Final = [{"name": "card", "counters": {"memory": {"value": "80Gi"}}}]
_KIND: Final = f"{DRIVER}/kind"
OBJECTS: Final = (
    _slice(
        "plain",
        _device("in-use"),
        _device("tainted", taints=[_TAINT]),
        _device("noted", taints=[{"key": "example.com/note", "effect": "None"}]),
        _device("repaired"),
        _device("watched"),
        _device("free"),
    ),
    {
        "kind": "DeviceTaintRule",
        "metadata": {"name": "totals-repair"},
        "spec": {"deviceSelector": {"driver": DRIVER, "pool": "plain", "device": "repaired"}, "taint": _TAINT},
    },
    _held("plain", "in-use"),
    _held("plain", "watched", adminAccess=True),
    _slice("two-slices", _device("a"), number=1, of=2),
    _slice("two-slices", _device("b"), number=2, of=2),
    _held("two-slices", "b"),
    _slice("shared", _shared("untouched"), _shared("begun")),
    _held("shared", "begun", "10Gi"),
    _slice("parts", number=1, of=2, sharedCounters=_CARD),
    _slice(
        "parts",
        _part("whole", "whole", "80Gi"),
        _part("half-0", "half", "40Gi"),
        _part("half-1", "half", "40Gi"),
        number=2,
        of=2,
        partitionTypeAttribute=_KIND,
    ),
    _held("parts", "half-0"),
    _slice("both", _device("in-use-and-tainted", taints=[_TAINT]), _device("a"), _device("b")),
    _held("both", "in-use-and-tainted"),
    _slice("empty", _shared("used-up")),
    _held("empty", "used-up", "40Gi"),
    _slice("too-many", _device("a"), number=1, of=1),
    _slice("too-many", _device("b"), number=2, of=1),
    _slice("nowhere", _device("a"), allNodes=None, nodeName="gone"),
)


@pytest.fixture(scope="module")
def plane_with_totals() -> Iterator[ControlPlane]:
    """A control plane that answers ResourcePoolStatusRequests, with all pools and claims."""
    with ControlPlane(binaries(), feature_gates=_GATES) as plane:
        client = plane.client()
        label = {"resource.kubernetes.io/admin-access": "true"}
        metadata = {"name": SPACE, "labels": label}
        create(client, {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}, "")
        # Devices that every node could use are free where one takes pods.
        client.create(node_object("totals-node"))
        for body in OBJECTS:
            create(client, body, SPACE)
        yield plane


@pytest.fixture(scope="module")
def theirs(plane_with_totals: ControlPlane) -> dict[str, Any]:
    """What the controller says, pool by pool."""
    client = plane_with_totals.client()
    _ask(client, "all", DRIVER)
    status = wait_for(lambda: _status(client, "all"), "the controller has counted")
    assert status["poolCount"] == len({body["spec"]["pool"]["name"] for body in OBJECTS if "pool" in body["spec"]})
    return {pool["poolName"]: pool for pool in status["pools"]}


def _ask(client: Client, name: str, driver: str) -> None:
    body = {"apiVersion": REQUESTS, "kind": "ResourcePoolStatusRequest", "metadata": {"name": name}}
    client.request("POST", f"/apis/{REQUESTS}/resourcepoolstatusrequests", {**body, "spec": {"driver": driver}})


def _status(client: Client, name: str) -> Any:
    return client.request("GET", f"/apis/{REQUESTS}/resourcepoolstatusrequests/{name}").get("status")


@pytest.fixture(scope="module")
def ours(plane_with_totals: ControlPlane) -> dict[str, Any]:
    """What describe-pool says, pool by pool; every number is exact."""
    reports = {}
    for pool in dict.fromkeys(body["spec"]["pool"]["name"] for body in OBJECTS if "pool" in body["spec"]):
        reports[pool] = _describe(plane_with_totals, f"{DRIVER}/{pool}")
    return reports


def _describe(plane: ControlPlane, pool: str) -> Any:
    command = [str(plane.kubectl), "dra", "describe-pool", pool, "-o", "json"]
    done = subprocess.run(command, env=plane_environment(plane), capture_output=True, encoding="utf-8", check=True)
    report = json.loads(done.stdout)
    assert {count["bound"] for count in report["totals"].values()} == {"exact"}
    report["numbers"] = {name: count["value"] for name, count in report["totals"].items()}
    return report


@pytest.mark.parametrize("pool", ["plain", "two-slices", "shared"])
def test_devices_are_counted_alike(pool: str, ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    mine, other = ours[pool]["numbers"], theirs[pool]
    assert mine["devices"] == other["totalDevices"]
    assert mine["inUse"] + mine["partly"] == other["allocatedDevices"]
    assert mine["tainted"] + mine["inUseTainted"] == other["unavailableDevices"]
    assert mine["free"] == other["availableDevices"]
    current = [each for each in ours[pool]["slices"] if each["current"]]
    assert len(current) == other["resourceSliceCount"]
    assert {each["generation"] for each in current} == {other["generation"]}


def test_admin_access_takes_nothing_for_either(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    assert ours["plain"]["numbers"]["adminOnly"] == 1
    assert ours["plain"]["numbers"]["free"] == theirs["plain"]["availableDevices"] == 3


def test_shared_capacity_is_summed_alike(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    summary = theirs["shared"]["shareableSummary"]
    numbers = ours["shared"]["numbers"]
    assert numbers["free"] == summary["fullyAvailableDevices"] == 1
    assert numbers["partly"] == summary["partiallyAvailableDevices"] == 1
    amounts = ours["shared"]["capacity"]
    mine = [(each["name"], each["total"], each["consumed"]["value"], each["available"]["value"]) for each in amounts]
    assert {each[name]["bound"] for each in amounts for name in ("consumed", "available")} == {"exact"}
    other = [(each["name"], each["total"], each["consumed"], each["available"]) for each in summary["capacity"]]
    assert mine == other == [("memory", "80Gi", "10Gi", "70Gi")]


def test_partitions_are_counted_alike(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    other = {each["type"]: (each["total"], each["allocatable"]) for each in theirs["parts"]["partitionSummary"]}
    mine = {each["name"]: (each["devices"], each["together"]["value"]) for each in ours["parts"]["partitions"]}
    assert mine == other == {"half": (2, 1), "whole": (1, 0)}


# --- where the controller is not right ------------------------------------------------------------------------------


def test_a_device_that_is_allocated_and_tainted_is_subtracted_twice(
    ours: dict[str, Any], theirs: dict[str, Any]
) -> None:
    numbers = ours["both"]["numbers"]
    assert (numbers["devices"], numbers["inUse"], numbers["inUseTainted"]) == (3, 1, 1)
    assert numbers["free"] == 2
    assert theirs["both"]["availableDevices"] == 1


def test_partitions_whose_counters_are_taken_are_available_to_it(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    numbers = ours["parts"]["numbers"]
    assert (numbers["free"], numbers["blocked"], numbers["inUse"]) == (1, 1, 1)
    assert theirs["parts"]["availableDevices"] == 2


def test_a_shared_device_that_is_used_up_is_partially_available_to_it(
    ours: dict[str, Any], theirs: dict[str, Any]
) -> None:
    numbers = ours["empty"]["numbers"]
    assert (numbers["inUse"], numbers["partly"]) == (1, 0)
    assert theirs["empty"]["shareableSummary"]["partiallyAvailableDevices"] == 1


def test_too_many_slices_are_complete_to_it(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    assert ours["too-many"]["view"]["state"] == "incomplete"
    assert ours["too-many"]["numbers"]["notOffered"] == 2
    assert theirs["too-many"]["availableDevices"] == 2
    assert "validationError" not in theirs["too-many"]


def test_devices_of_a_node_that_is_gone_are_available_to_it(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    numbers = ours["nowhere"]["numbers"]
    assert (numbers["devices"], numbers["closed"], numbers["free"]) == (1, 1, 0)
    assert theirs["nowhere"]["availableDevices"] == 1


def test_an_incomplete_pool_keeps_it_silent(plane_with_totals: ControlPlane) -> None:
    client = plane_with_totals.client()
    create(client, _slice("half", _device("a"), of=2, driver=BROKEN), "")
    create(client, _slice("good", _device("a"), driver=BROKEN), "")
    _ask(client, "broken", BROKEN)
    time.sleep(_QUIET_SECONDS)
    assert not (_status(client, "broken") or {}).get("pools")
    assert _describe(plane_with_totals, f"{BROKEN}/half")["numbers"]["notOffered"] == 1
    assert _describe(plane_with_totals, f"{BROKEN}/good")["numbers"]["free"] == 1
