"""Recorded clusters with PodGroups, changed at random: other counts, policies, claims, domains, nodes and members."""

from __future__ import annotations

import copy
from collections.abc import Callable
from random import Random
from typing import Any, Final

Row = dict[str, Any]
Change = Callable[[Row, Random], None]
_KEYS: Final = ("topology.kubernetes.io/zone", "rack", "kubernetes.io/hostname", "disk", "no-such-label")
_GATES: Final = ("DRAWorkloadResourceClaims", "TopologyAwareWorkloadScheduling", "PodGroupPreemptionPolicy")
_PRIORITIES: Final = (0, 50, 100, 1000)
_POLICIES: Final = ("Never", "PreemptLowerPriority")


def changed(row: Row, seed: str) -> tuple[Row, tuple[str, ...]]:
    """The row without its answers and with one to five changes, and the names of these."""
    random = Random(seed)
    asked = copy.deepcopy({name: value for name, value in row.items() if name != "expect"})
    names = tuple(random.choice(sorted(CHANGES)) for _ in range(random.randint(1, 5)))
    for name in names:
        CHANGES[name](asked, random)
    return asked, names


# --- the groups -----------------------------------------------------------------------------------------------------


def _group(row: Row, random: Random) -> Row:
    found: Row = random.choice(row["podgroups"])
    return found


def _min_count(row: Row, random: Random) -> None:
    count = random.choice((1, 2, 3, 4, 6, 9))
    _group(row, random)["spec"]["schedulingPolicy"] = {"gang": {"minCount": count}}


def _basic(row: Row, random: Random) -> None:
    _group(row, random)["spec"]["schedulingPolicy"] = {"basic": {}}


def _mode(row: Row, random: Random) -> None:
    _group(row, random)["spec"]["disruptionMode"] = {random.choice(("single", "all")): {}}


def _priority(row: Row, random: Random) -> None:
    group, priority = _group(row, random), random.choice(_PRIORITIES)
    group["spec"]["priority"] = priority
    for pod in _members(row, group):
        # One in eight differs, which is an error.
        pod["spec"]["priority"] = priority if random.random() < 7 / 8 else 7


def _policy(row: Row, random: Random) -> None:
    group, policy = _group(row, random), random.choice(_POLICIES)
    if random.random() < 0.5:
        group["spec"]["preemptionPolicy"] = policy
    for pod in _members(row, group):
        pod["spec"]["preemptionPolicy"] = policy if random.random() < 7 / 8 else random.choice(_POLICIES)


def _topology(row: Row, random: Random) -> None:
    row["featureGates"]["TopologyAwareWorkloadScheduling"] = True
    _group(row, random)["spec"]["schedulingConstraints"] = {"topology": [{"key": random.choice(_KEYS)}]}


def _no_topology(row: Row, random: Random) -> None:
    _group(row, random)["spec"].pop("schedulingConstraints", None)


def _gate(row: Row, random: Random) -> None:
    row["featureGates"][random.choice(_GATES)] = random.random() < 0.7


# --- their pods -----------------------------------------------------------------------------------------------------


def _members(row: Row, group: Row | None = None) -> list[Row]:
    names = [group["metadata"]["name"]] if group is not None else [g["metadata"]["name"] for g in row["podgroups"]]
    return [p for p in row["pods"] if (p["spec"].get("schedulingGroup") or {}).get("podGroupName") in names]


def _waiting(row: Row, random: Random) -> Row | None:
    pods = [pod for pod in _members(row) if not pod["spec"].get("nodeName")]
    return random.choice(pods) if pods else None


def _of_member(change: Callable[[Row, Row, Random], None]) -> Change:
    def of_one(row: Row, random: Random) -> None:
        pod = _waiting(row, random)
        if pod is not None:
            change(row, pod, random)

    return of_one


def _gone(row: Row, pod: Row, _random: Random) -> None:
    row["pods"].remove(pod)


def _another(row: Row, pod: Row, random: Random) -> None:
    twin = copy.deepcopy(pod)
    twin["metadata"] |= {"name": f"{pod['metadata']['name']}-{random.randint(100, 999)}"}
    twin["metadata"]["uid"] = f"00000000-0000-4000-9000-{random.randint(0, 10**12 - 1):012d}"
    # A claim made for the pod is its own; what is named is shared.
    if any("resourceClaimTemplateName" in entry for entry in twin["spec"].get("resourceClaims", ())):
        return
    row["pods"].append(twin)


def _bound(row: Row, pod: Row, random: Random) -> None:
    if pod["spec"].get("resourceClaims"):
        return
    pod["spec"]["nodeName"] = random.choice(row["nodes"])["metadata"]["name"]
    pod["status"] |= {"phase": "Running", "startTime": "2026-01-01T00:40:00Z"}


def _gated(_row: Row, pod: Row, _random: Random) -> None:
    pod["spec"]["schedulingGates"] = [{"name": "example.com/wait"}]


def _nominated(row: Row, pod: Row, random: Random) -> None:
    pod["status"]["nominatedNodeName"] = random.choice(row["nodes"])["metadata"]["name"]


def _selector(row: Row, pod: Row, random: Random) -> None:
    labels = random.choice(row["nodes"])["metadata"].get("labels", {})
    if labels:
        key = random.choice(sorted(labels))
        pod["spec"]["nodeSelector"] = {key: labels[key]}


def _hungry(row: Row, pod: Row, random: Random) -> None:
    amounts = {"cpu": random.choice(("100m", "1", "2500m", "7")), "memory": random.choice(("64Mi", "3Gi", "9Gi"))}
    pod["spec"]["containers"][0]["resources"] = {
        **pod["spec"]["containers"][0].get("resources", {}),
        "requests": amounts,
    }


def _port(_row: Row, pod: Row, _random: Random) -> None:
    port = {"containerPort": 80, "hostPort": 8080, "protocol": "TCP"}
    pod["spec"]["containers"][0]["ports"] = [port]


def _apart(row: Row, pod: Row, random: Random) -> None:
    labels = pod["metadata"].setdefault("labels", {})
    labels.setdefault("app", "gang")
    term = {"labelSelector": {"matchLabels": {"app": labels["app"]}}, "topologyKey": random.choice(_KEYS[:3])}
    kind = random.choice(("podAffinity", "podAntiAffinity"))
    pod["spec"]["affinity"] = {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


# --- their claims ---------------------------------------------------------------------------------------------------


def _claim(row: Row, random: Random) -> Row | None:
    claims = row.get("resourceclaims") or []
    return random.choice(claims) if claims else None


def _of_claim(change: Callable[[Row, Row, Random], None]) -> Change:
    def of_one(row: Row, random: Random) -> None:
        claim = _claim(row, random)
        if claim is not None:
            change(row, claim, random)

    return of_one


def _count(_row: Row, claim: Row, random: Random) -> None:
    for request in claim["spec"]["devices"].get("requests", ()):
        if "exactly" in request and "status" not in claim:
            request["exactly"] |= {"allocationMode": "ExactCount", "count": random.choice((1, 2, 3))}


def _unused(_row: Row, claim: Row, _random: Random) -> None:
    if claim.get("status"):
        claim["status"].pop("reservedFor", None)


def _freed(_row: Row, claim: Row, _random: Random) -> None:
    claim.pop("status", None)


def _for_group(row: Row, claim: Row, random: Random) -> None:
    group = _group(row, random)["metadata"]
    if (claim.get("status") or {}).get("allocation") and group["namespace"] == claim["metadata"]["namespace"]:
        user = {"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": group["name"], "uid": group["uid"]}
        claim["status"]["reservedFor"] = [user]


def _shared(row: Row, claim: Row, random: Random) -> None:
    """Some of the pods of a group name the same claim."""
    pods = [pod for pod in _members(row) if not pod["spec"].get("nodeName")]
    for pod in pods:
        if pod["metadata"]["namespace"] == claim["metadata"]["namespace"] and random.random() < 0.7:
            pod["spec"]["resourceClaims"] = [{"name": "shared", "resourceClaimName": claim["metadata"]["name"]}]
            pod["spec"]["containers"][0].setdefault("resources", {})["claims"] = [{"name": "shared"}]
            pod["status"].pop("resourceClaimStatuses", None)


def _of_the_group(row: Row, claim: Row, random: Random) -> None:
    """The claim becomes an entry of the group, made from a template or named."""
    row["featureGates"]["DRAWorkloadResourceClaims"] = True
    group, name = _group(row, random), claim["metadata"]["name"]
    if group["metadata"]["namespace"] != claim["metadata"]["namespace"]:
        return
    made = random.random() < 0.5
    source = {"resourceClaimTemplateName": "shared"} if made else {"resourceClaimName": name}
    group["spec"]["resourceClaims"] = [{"name": "shared", **source}]
    if made:
        meta = group["metadata"]
        owner = {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "controller": True}
        claim["metadata"]["ownerReferences"] = [{**owner, "name": meta["name"], "uid": meta["uid"]}]
        group.setdefault("status", {})["resourceClaimStatuses"] = [{"name": "shared", "resourceClaimName": name}]
    for pod in _members(row, group):
        if pod["spec"].get("nodeName"):
            continue
        pod["spec"]["resourceClaims"] = [{"name": "shared", **source}]
        pod["spec"]["containers"][0].setdefault("resources", {})["claims"] = [{"name": "shared"}]
        statuses = [{"name": "shared", "resourceClaimName": name}] if made else []
        pod["status"]["resourceClaimStatuses"] = statuses


# --- everything around ----------------------------------------------------------------------------------------------


def _cordon(row: Row, random: Random) -> None:
    random.choice(row["nodes"])["spec"]["unschedulable"] = True


def _small_node(row: Row, random: Random) -> None:
    random.choice(row["nodes"])["status"]["allocatable"] |= {"cpu": random.choice(("500m", "2", "16")), "pods": "3"}


def _unlabelled(row: Row, random: Random) -> None:
    labels = random.choice(row["nodes"])["metadata"].get("labels", {})
    if labels:
        del labels[random.choice(sorted(labels))]


def _important(row: Row, random: Random) -> None:
    pods = [pod for pod in row["pods"] if pod["spec"].get("nodeName")]
    if pods:
        random.choice(pods)["spec"]["priority"] = random.choice((-10, *_PRIORITIES))


def _fewer_pods(row: Row, random: Random) -> None:
    pods = [pod for pod in row["pods"] if pod["spec"].get("nodeName")]
    if pods:
        row["pods"].remove(random.choice(pods))


def _tainted(row: Row, random: Random) -> None:
    taint = {"key": "example.com/ill", "effect": random.choice(("NoSchedule", "PreferNoSchedule"))}
    random.choice(row["nodes"])["spec"]["taints"] = [taint]


CHANGES: Final[dict[str, Change]] = {
    "another minCount": _min_count,
    "basic policy": _basic,
    "disruption mode": _mode,
    "priority": _priority,
    "preemption policy": _policy,
    "topology": _topology,
    "no topology": _no_topology,
    "feature gate": _gate,
    "member gone": _of_member(_gone),
    "another member": _of_member(_another),
    "member bound": _of_member(_bound),
    "member gated": _of_member(_gated),
    "member nominated": _of_member(_nominated),
    "node selector": _of_member(_selector),
    "other requests": _of_member(_hungry),
    "host port": _of_member(_port),
    "affinity": _of_member(_apart),
    "count of devices": _of_claim(_count),
    "claim unused": _of_claim(_unused),
    "claim freed": _of_claim(_freed),
    "reserved for the group": _of_claim(_for_group),
    "claim shared": _of_claim(_shared),
    "claim of the group": _of_claim(_of_the_group),
    "node cordoned": _cordon,
    "node small": _small_node,
    "node without a label": _unlabelled,
    "node tainted": _tainted,
    "pod important": _important,
    "pod gone": _fewer_pods,
}


# --- groups among the victims of single pods ------------------------------------------------------------------------


def with_victims_in_groups(row: Row, seed: str) -> Row:
    """A row of single pods in which pods on nodes belong to groups, some of which are evicted as one."""
    random = Random(seed)
    asked = copy.deepcopy({name: value for name, value in row.items() if name != "expect"})
    asked.setdefault("featureGates", {})["GenericWorkload"] = True
    bound = [pod for pod in asked.get("pods", ()) if pod["spec"].get("nodeName")]
    asked["podgroups"] = []
    for number in range(random.randint(1, 3)):
        namespace = random.choice(bound)["metadata"]["namespace"] if bound else "default"
        own = [p for p in bound if p["metadata"]["namespace"] == namespace and "schedulingGroup" not in p["spec"]]
        spec = {"schedulingPolicy": {"basic": {}}, "disruptionMode": {random.choice(("single", "all", "all")): {}}}
        if random.random() < 0.8:
            spec["priority"] = random.choice((-5, 0, 0, 50, 1000))
        meta = {"name": f"running-{number}", "namespace": namespace, "uid": f"00000000-0000-4000-a000-{number:012d}"}
        asked["podgroups"].append({"metadata": meta, "spec": spec})
        for pod in random.sample(own, min(len(own), random.randint(1, 4))):
            # Only pods of their group's priority are ever scheduled.
            pod["spec"] |= {"schedulingGroup": {"podGroupName": meta["name"]}, "priority": spec.get("priority", 0)}
    return asked
