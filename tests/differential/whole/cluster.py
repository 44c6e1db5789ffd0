"""A random whole cluster: everything that the scheduler looks at, and pods that wait for it."""

from __future__ import annotations

from typing import Any, Final

from tests.differential.whole import devices, storage
from tests.differential.whole.draw import Draw, Object
from tests.differential.whole.nodes import APPS, node
from tests.differential.whole.pods import PRIORITIES, Pods

_NAMESPACES: Final[dict[str, Object]] = {
    "default": {},
    "team-a": {"team": "a", "env": "prod"},
    "team-b": {"team": "b"},
}


def whole_cluster(seed: str) -> tuple[dict[str, Any], set[str]]:
    """The cluster of a seed, in the form in which it is created, and the names of the branches that made it."""
    draw = Draw(seed)
    cluster: dict[str, Any] = {"id": seed, "category": "+".join(sorted(draw.topics))}
    cluster["nodes"] = [node(draw, f"node-{number}") for number in range(1, _nodes(draw) + 1)]
    cluster["namespaces"] = [
        {"metadata": draw.metadata(name, labels={"kubernetes.io/metadata.name": name, **labels})}
        for name, labels in _NAMESPACES.items()
    ]
    if "preemption" in draw.topics:
        cluster["priorityclasses"] = [_priority_class(draw, name) for name in PRIORITIES]
        cluster["poddisruptionbudgets"] = [
            _budget(draw, app) for app in APPS if not draw.rarely(4, "no disruption budget")
        ]
    cluster["featureGates"] = dict.fromkeys(draw.gates, True)
    if "volumes" in draw.topics:
        storage.equip(draw, cluster)
    if "devices" in draw.topics:
        devices.equip(draw, cluster)
    cluster["replicasets"] = [_replica_set(draw, app) for app in APPS] if "spread" in draw.topics else []
    cluster["services"] = [_service(draw, app) for app in APPS if draw.about("spread", 2, "Service")]
    pods = Pods(draw, cluster)
    cluster["pods"] = [
        pods.bound(each["metadata"]["name"]) for each in cluster["nodes"] for _ in range(draw.number(0, 4))
    ]
    if draw.rarely(6, "pods of an absent node"):
        cluster["pods"] += [pods.bound("absent") for _ in range(2)]
    cluster["pods"] += [pods.pending(number) for number in range(draw.number(2, 5))]
    return cluster, draw.taken


def _nodes(draw: Draw) -> int:
    return 0 if draw.rarely(60, "no nodes") else draw.one((1, 2, 3, 3, 4, 5, 7))


def _priority_class(draw: Draw, name: str) -> Object:
    found: Object = {"metadata": draw.metadata(name), "value": PRIORITIES[name]}
    return found | ({"preemptionPolicy": "Never"} if name == "high-without-force" else {})


def _replica_set(draw: Draw, app: str) -> Object:
    # No other pod has this hash; one that no Deployment makes has none.
    selected = {"app": app} if draw.rarely(3, "ReplicaSet without hash") else {"app": app, "pod-template-hash": "v3"}
    container = {"name": "main", "image": f"registry.example.com/{app}:v1"}
    template = {"metadata": {"labels": {**selected, "tier": "front"}}, "spec": {"containers": [container]}}
    spec = {"replicas": 3, "selector": {"matchLabels": selected}, "template": template}
    return {"metadata": draw.metadata(f"{app}-v3", "default"), "spec": spec}


def _service(draw: Draw, app: str) -> Object:
    spec = {"selector": {"app": app, **draw.one(({}, {}, {"tier": "front"}))}, "ports": [{"port": 80}]}
    return {"metadata": draw.metadata(app, draw.one(("default", "default", "team-a"))), "spec": spec}


def _budget(draw: Draw, app: str) -> Object:
    allowed = draw.one((0, 0, 0, 1, 2))
    status = {"disruptionsAllowed": allowed, "currentHealthy": 2, "desiredHealthy": 1, "expectedPods": 2}
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": app}}}
    namespace = draw.one(("default", "default", "default", "team-a"))
    return {"metadata": draw.metadata(f"budget-{app}", namespace), "spec": spec, "status": status}
