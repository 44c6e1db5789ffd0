"""Clusters in which nodes are alike, or nearly: each node of a cluster several times, with what is on it and of it."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from random import Random
from typing import Any, Final

from kubectl_dra.allocation.checks.checks import NODE_FEATURE
from tests.differential.whole.nodes import CARD, DECLARED, HOST, RACKS, TAINTS, ZONE, ZONES

Row = dict[str, Any]
Change = Callable[[Row, str, Row, Random], None]


def with_twins(row: Row, seed: str, most: int) -> tuple[Row, set[str]]:
    """The cluster with up to ``most`` more of each node, some of them changed, and the names of the changes."""
    random, made = Random(seed), copy.deepcopy(row)
    taken: set[str] = set()
    for name, prepare in BEFORE.items():
        if row.get("resourceslices") and random.random() < 0.15:
            prepare(made, random)
            taken.add(name)
    row = copy.deepcopy(made)
    for node in row.get("nodes", ()):
        for number in range(random.randint(0, most)):
            name = node["metadata"]["name"]
            twin = f"{name}-twin-{number}"
            _copy(made, row, name, twin)
            if random.random() < 0.4:
                change = random.choice(sorted(CHANGES))
                CHANGES[change](made, twin, made["nodes"][-1], random)
                taken.add(change)
    random.shuffle(made.get("nodes", []))
    return made, taken


def _copy(made: Row, row: Row, name: str, twin: str) -> None:
    for plural in ("nodes", "csinodes"):
        made.setdefault(plural, [])
        made[plural] += [_renamed(each, name, twin) for each in row.get(plural, ()) if each["metadata"]["name"] == name]
    for plural, field in (("pods", "nodeName"), ("resourceslices", "nodeName"), ("volumeattachments", "nodeName")):
        there = [each for each in row.get(plural, ()) if each["spec"].get(field) == name]
        made.setdefault(plural, [])
        made[plural] += [_own(_renamed(each, name, twin), twin) for each in there]


def _renamed(each: Row, name: str, twin: str) -> Row:
    """With the name of the other node wherever the whole of a text is that of the first."""
    found: Row = json.loads(json.dumps(each).replace(json.dumps(name), json.dumps(twin)))
    return found


def _own(each: Row, twin: str) -> Row:
    meta = each["metadata"]
    meta |= {"name": f"{meta['name']}-{twin}", "uid": f"{meta.get('uid', '')}-{twin}"}
    # A device is held once, by the pod of the first node.
    each["spec"].pop("resourceClaims", None)
    return each


# --- what no cluster of the generator has ----------------------------------------------------------------------------


def _without_operations(row: Row, random: Random) -> None:
    """Devices that can be used without their node, where the node knows of that."""
    row["featureGates"] = {**row.get("featureGates", {}), "DRAOptionalNodeOperations": True}
    for each in row["resourceslices"]:
        if random.random() < 0.5:
            each["spec"]["skipNodeOperations"] = ["*"]
    for node in row["nodes"]:
        node["status"]["declaredFeatures"] = [*DECLARED, NODE_FEATURE] if random.random() < 0.7 else [*DECLARED]


def _device_by_device(row: Row, _random: Random) -> None:
    """Of the devices for all nodes each has the nodes of its own."""
    names = [node["metadata"]["name"] for node in row["nodes"]]
    for each in row["resourceslices"]:
        if each["spec"].pop("allNodes", False):
            each["spec"]["perDeviceNodeSelection"] = True
            for number, device in enumerate(each["spec"].get("devices", ())):
                device |= {"allNodes": True} if number or not names else {"nodeName": names[-1]}


BEFORE: Final[dict[str, Callable[[Row, Random], None]]] = {
    "devices without node operations": _without_operations,
    "devices with nodes of their own": _device_by_device,
}


# --- what tells a twin from its node --------------------------------------------------------------------------------


def _label(_row: Row, _twin: str, node: Row, random: Random) -> None:
    key, values = random.choice(((ZONE, ZONES), ("rack", RACKS), ("disk", ("ssd", "hdd")), ("generation", ("1", "10"))))
    node["metadata"]["labels"][key] = random.choice(values)


def _no_label(_row: Row, _twin: str, node: Row, random: Random) -> None:
    node["metadata"]["labels"].pop(random.choice((ZONE, HOST, "rack", "disk")), None)


def _taint(_row: Row, _twin: str, node: Row, random: Random) -> None:
    node["spec"]["taints"] = [random.choice(TAINTS)]


def _cordon(_row: Row, _twin: str, node: Row, _random: Random) -> None:
    node["spec"]["unschedulable"] = not node["spec"].get("unschedulable", False)


def _room(_row: Row, _twin: str, node: Row, random: Random) -> None:
    room = dict(node["status"]["allocatable"])
    name = random.choice(sorted(room))
    if random.random() < 0.5:
        del room[name]
    else:
        room[name] = random.choice(("0", "1", "3"))
    node["status"]["allocatable"] = room


def _device_plugin(_row: Row, _twin: str, node: Row, random: Random) -> None:
    room = {name: amount for name, amount in node["status"]["allocatable"].items() if name != CARD}
    node["status"]["allocatable"] = random.choice((room, {**room, CARD: "0"}, {**room, CARD: "2"}))


def _declared(_row: Row, _twin: str, node: Row, random: Random) -> None:
    known = (*DECLARED, NODE_FEATURE)
    node["status"]["declaredFeatures"] = random.sample(known, random.randint(0, len(known)))


def _image(_row: Row, _twin: str, node: Row, random: Random) -> None:
    name = f"registry.example.com/{random.choice(('web', 'db', 'cache'))}:v1"
    node["status"]["images"] = [{"names": [name], "sizeBytes": random.choice((30_000_000, 900_000_000))}]


def _pod_less(row: Row, twin: str, _node: Row, random: Random) -> None:
    there = [pod for pod in row["pods"] if pod["spec"].get("nodeName") == twin]
    if there:
        row["pods"].remove(random.choice(there))


def _no_csi(row: Row, twin: str, _node: Row, _random: Random) -> None:
    row["csinodes"] = [each for each in row["csinodes"] if each["metadata"]["name"] != twin]


def _limit(row: Row, twin: str, _node: Row, random: Random) -> None:
    for each in row["csinodes"]:
        if each["metadata"]["name"] == twin:
            for driver in each["spec"]["drivers"]:
                driver["allocatable"] = {"count": random.randint(0, 2)}


def _devices(row: Row, twin: str, _node: Row, random: Random) -> None:
    for each in row["resourceslices"]:
        for device in each["spec"].get("devices", ()) if each["spec"].get("nodeName") == twin else ():
            device["attributes"] = {**device.get("attributes", {}), "numa": {"int": random.randint(0, 2)}}


def _no_devices(row: Row, twin: str, _node: Row, _random: Random) -> None:
    row["resourceslices"] = [each for each in row["resourceslices"] if each["spec"].get("nodeName") != twin]


CHANGES: Final[dict[str, Change]] = {
    "another label": _label,
    "a label less": _no_label,
    "a taint": _taint,
    "cordoned, or not": _cordon,
    "other allocatable": _room,
    "other resources of a device plugin": _device_plugin,
    "other declared features": _declared,
    "another image": _image,
    "a pod less": _pod_less,
    "no CSINode": _no_csi,
    "another limit of volumes": _limit,
    "other devices": _devices,
    "no devices": _no_devices,
}
