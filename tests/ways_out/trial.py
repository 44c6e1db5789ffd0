"""One way out of one random cluster: the cluster is made, the printed commands go to bash, and who is bound is seen."""

from __future__ import annotations

import contextlib
import json
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from tests.controlplane import Client, ControlPlane, StatusError
from tests.controlplane.__main__ import plane_environment
from tests.controlplane.client import wait_for
from tests.e2e.situations import create
from tests.ways_out.clusters import WAITING, Cluster, Object, Workload
from tests.ways_out.foreign import FOREIGN

_QUIET_SECONDS: Final = 2.5
_SETTLE_SECONDS: Final = 25.0
_PATIENCE_SECONDS: Final = 25.0
_OWNERS: Final = ("CronJob", "Deployment", "StatefulSet", "DaemonSet", "Job", "ReplicaSet")
_GROUPS: Final = {"CronJob": "batch/v1", "Job": "batch/v1"}


@dataclass
class Taken:
    """What became of one way out. ``outcome`` is one of bound, elsewhere, rival, not, failed, words, none."""

    seed: int
    number: int
    cause: str
    outcome: str
    kind: str = ""
    text: str = ""
    verified: bool = False
    nodes: list[str] = field(default_factory=list)
    rivals: list[str] = field(default_factory=list)
    announced: bool = False
    bound_on: list[str] = field(default_factory=list)
    waiting: str = ""
    count: int = 0
    script: str = ""
    detail: str = ""
    seconds: float = 0.0

    def as_json(self) -> str:
        """As it is kept between runs."""
        return json.dumps(asdict(self), indent=1)


def take(plane: ControlPlane, cluster: Cluster, number: int) -> Taken:
    """Make the cluster, take way out ``number`` (from 1), and see who is bound."""
    began = time.monotonic()
    client, namespace = plane.client(), f"w-{cluster.seed}-{number}"
    bring_about(client, cluster, namespace)
    taken = _take(plane, client, cluster, namespace, number)
    taken.waiting = next(each.kind for each in cluster.waiting if each.name == WAITING)
    taken.seconds = round(time.monotonic() - began, 1)
    return taken


def _take(plane: ControlPlane, client: Client, cluster: Cluster, namespace: str, number: int) -> Taken:
    taken = Taken(cluster.seed, number, cluster.cause, "none")
    before = pods(client, namespace)
    mine = [pod for pod in before if _is_waiting(pod) and not _node(pod)]
    if not mine:
        return taken
    pod = mine[0]["metadata"]["name"]
    asked = ("dra", "why-pending", f"pod/{pod}", "-n", namespace)
    report = json.loads(_kubectl(plane, *asked, "--remedies", "-o", "json"))
    ways = report["remedies"]
    taken.count = len(ways)
    if number > len(ways):
        return taken
    way = ways[number - 1]
    taken.kind, taken.verified, taken.nodes = way["kind"], way["verified"], way["nodes"]
    taken.text = json.dumps(way["actions"])
    taken.rivals = [ref["name"] for ref in way["competition"]["first"]] if way["competition"] else []
    taken.announced = bool(way["competition"] and way["competition"]["lost"])
    if not way["steps"]:
        taken.outcome, taken.detail = "words", json.dumps(way["notes"])
        return taken
    taken.script = _kubectl(plane, *asked, "--remedy", str(number))
    code, said = _run(plane, f"kubectl {' '.join(asked)} --remedy {number} --dry-run=server")
    if code != 0 or pods(client, namespace) != before:
        taken.outcome, taken.detail = "failed", f"dry run: {said}"
        return taken
    code, said = _run(plane, taken.script)
    if code != 0:
        taken.outcome, taken.detail = "failed", said
        return taken
    _watch(client, namespace, before, taken)
    return taken


def _run(plane: ControlPlane, script: str) -> tuple[int, str]:
    """Exit code and all words of a shell; -1 if it does not come to an end."""
    command = ["timeout", "60", "bash", "-eu"]
    done = subprocess.run(
        command, input=script, env=plane_environment(plane), capture_output=True, encoding="utf-8", check=False
    )
    return done.returncode, f"{done.stdout}\n{done.stderr}"


def _watch(client: Client, namespace: str, before: list[Object], taken: Taken) -> None:
    """Wait until a pod of the workload is bound that was not before, or a rival that was named is."""
    had = sum(1 for pod in before if _is_waiting(pod) and _node(pod))
    known = {pod["metadata"]["uid"] for pod in before if _node(pod)}
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < deadline:
        now = [pod for pod in pods(client, namespace) if _node(pod) and "deletionTimestamp" not in pod["metadata"]]
        new = [_node(pod) for pod in now if _is_waiting(pod) and pod["metadata"]["uid"] not in known]
        if new and sum(map(_is_waiting, now)) > had:
            taken.bound_on = new
            taken.outcome = "bound" if set(new) & set(taken.nodes) or not taken.verified else "elsewhere"
            return
        # A pod that was deleted has another name when its controller makes it again.
        named = {_app(pod) for pod in before if pod["metadata"]["name"] in taken.rivals}
        if any(_app(pod) in named and pod["metadata"]["uid"] not in known for pod in now):
            taken.outcome = "rival"
        time.sleep(0.3)
    if taken.outcome != "rival":
        taken.outcome = "not"
        taken.detail = json.dumps([_state(pod) for pod in pods(client, namespace)])


def _state(pod: Object) -> str:
    conditions = {each["type"]: each.get("message", "") for each in pod["status"].get("conditions", [])}
    return f"{pod['metadata']['name']} {_node(pod) or '-'} {conditions.get('PodScheduled', '')}"


def _is_waiting(pod: Object) -> bool:
    return _app(pod) == WAITING


def _app(pod: Object) -> str:
    return str(pod["metadata"].get("labels", {}).get("app", ""))


def _node(pod: Object) -> str:
    return str(pod["spec"].get("nodeName", ""))


def pods(client: Client, namespace: str) -> list[Object]:
    """The pods of the namespace, by name."""
    return sorted(client.list("v1", "Pod", namespace), key=lambda pod: str(pod["metadata"]["name"]))


def _kubectl(plane: ControlPlane, *arguments: str) -> str:
    command = [str(plane.kubectl), *arguments]
    done = subprocess.run(
        command, env=plane_environment(plane), capture_output=True, encoding="utf-8", check=False, timeout=60
    )
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


# --- making clusters --------------------------------------------------------------------------------------------------


def bring_about(client: Client, cluster: Cluster, namespace: str) -> None:
    """The cluster in an empty control plane: holders are bound before anybody waits."""
    clear(client)
    create(client, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}, "")
    for body in cluster.base:
        with contextlib.suppress(StatusError) if body["kind"] == "PriorityClass" else contextlib.nullcontext():
            create(client, body, "")
    time.sleep(0.5)
    for workload in cluster.holders:
        _create(client, workload, namespace)
    settle(client, namespace)
    for body in cluster.later:
        create(client, body, "")
    for node in cluster.cordoned:
        client.request("PATCH", f"/api/v1/nodes/{node}", {"spec": {"unschedulable": True}})
    time.sleep(0.5)
    for workload in cluster.waiting:
        _create(client, workload, namespace)
        _wait_for_pods(client, workload, namespace)
        time.sleep(0.4)
    settle(client, namespace)


def _create(client: Client, workload: Workload, namespace: str) -> None:
    for body in workload.objects():
        create(client, body, namespace)


def _wait_for_pods(client: Client, workload: Workload, namespace: str) -> None:
    """Until its controller has made the first: on a busy machine that takes longer than quiet lasts."""
    wait_for(
        lambda: any(_app(pod) == workload.name for pod in pods(client, namespace)), f"{workload.name} has pods", 60
    )


def settle(client: Client, namespace: str) -> None:
    """Wait until nothing happens to pods any more: no new ones, none bound, no attempt that is not over."""
    seen: Mapping[str, Any] = {}
    since = time.monotonic()
    deadline = since + _SETTLE_SECONDS
    while time.monotonic() < deadline:
        now = {pod["metadata"]["uid"]: pod["metadata"]["resourceVersion"] for pod in pods(client, namespace)}
        if now != seen:
            seen, since = now, time.monotonic()
        elif time.monotonic() - since > _QUIET_SECONDS:
            return
        time.sleep(0.25)


def clear(client: Client) -> None:
    """Delete everything that clusters create; owners first, so that nothing is made anew."""
    for kind, (version, _) in FOREIGN.items():
        with contextlib.suppress(StatusError):  # not every control plane serves it
            _clear_until(client, version, kind)
    for kind in _OWNERS:
        version = _GROUPS.get(kind, "apps/v1")
        for item in client.list(version, kind):
            _delete(client, version, kind, item)
    _clear_until(client, "v1", "Pod")
    for version, kind in (
        ("resource.k8s.io/v1", "ResourceClaim"),
        ("resource.k8s.io/v1", "ResourceClaimTemplate"),
        ("resource.k8s.io/v1", "ResourceSlice"),
        ("resource.k8s.io/v1", "DeviceClass"),
        ("resource.k8s.io/v1beta2", "DeviceTaintRule"),
        ("v1", "Node"),
    ):
        _clear_until(client, version, kind)


def _clear_until(client: Client, version: str, kind: str) -> None:
    def gone() -> bool:
        items = client.list(version, kind)
        for item in items:
            _delete(client, version, kind, item)
        return not items

    wait_for(gone, f"all {kind} objects are gone", 60)


def _delete(client: Client, version: str, kind: str, item: Object) -> None:
    with contextlib.suppress(StatusError):
        client.delete(version, kind, item["metadata"]["name"], item["metadata"].get("namespace", ""))


def all_ways(take_one: Callable[[int], Taken]) -> Iterator[Taken]:
    """Every way out of a cluster, each on a cluster of its own."""
    number, count = 1, 1
    while number <= count:
        taken = take_one(number)
        count = max(count, taken.count)
        yield taken
        number += 1
