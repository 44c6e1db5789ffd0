"""Random pods, bound and pending."""

from __future__ import annotations

from typing import Any, Final

from tests.differential.whole import devices, storage, terms
from tests.differential.whole.draw import Draw, Object
from tests.differential.whole.nodes import APPS, DONGLE, HUGE

Cluster = dict[str, Any]
PRIORITIES: Final = {"low": -10, "middle": 100, "high": 1000, "high-without-force": 1000}
_CPU: Final = ("0", "50m", "100m", "500m", "1")
_MEMORY: Final = ("0", "64Mi", "128Mi", "1Gi", "1500M")


class Pods:
    """Makes pods of a cluster, which share the claims of their namespace."""

    def __init__(self, draw: Draw, cluster: Cluster) -> None:
        self._draw, self._cluster = draw, cluster
        self._names = [node["metadata"]["name"] for node in cluster["nodes"]]
        self._volume_claims: dict[str, list[str]] = {}
        self._device_claims: dict[str, list[str]] = {}

    def bound(self, node: str) -> Object:
        """A pod on a node: running, completed or being deleted."""
        draw = self._draw
        pod = self._pod(f"run-{draw.serial()}")
        pod["spec"]["nodeName"] = node
        started = f"2026-01-01T00:{draw.number(10, 59)}:{draw.number(0, 59):02}Z"
        pod["status"] = {"phase": "Running", "startTime": started}
        if draw.rarely(20, "completed pod"):
            pod["status"]["phase"] = draw.one(("Succeeded", "Failed"))
        if draw.rarely(15, "bound pod being deleted"):
            pod["metadata"] |= {"deletionTimestamp": "2026-01-01T00:59:59Z", "deletionGracePeriodSeconds": 30}
        if draw.about("resources", 4, "resize of a bound pod"):
            _resize(draw, pod)
        if draw.about("pod affinity", 3, "affinity of a bound pod"):
            pod["spec"]["affinity"] = terms.pod_affinity(draw)
        if draw.about("volumes", 3, "volumes of a bound pod"):
            self._give_volumes(pod)
        if draw.about("devices", 3, "device of a bound pod"):
            devices.hold(draw, self._cluster, pod)
        return pod

    def pending(self, number: int) -> Object:
        """A pod that waits."""
        draw = self._draw
        pod = self._pod(f"want-{number}")
        spec = pod["spec"]
        if draw.about("taints", 2, "toleration"):
            spec["tolerations"] = [_toleration(draw) for _ in range(draw.number(1, 2))]
        if draw.about("node affinity", 3, "node selector"):
            spec["nodeSelector"] = draw.one(({"disk": "ssd"}, {"rack": "r1"}, {"disk": "hdd", "rack": "r2"}))
        affinity: Object = {}
        if draw.about("node affinity", 2, "node affinity"):
            affinity["nodeAffinity"] = terms.node_affinity(draw, self._names)
        if draw.about("pod affinity", 2, "affinity of a pending pod"):
            affinity |= terms.pod_affinity(draw)
        if affinity:
            spec["affinity"] = affinity
        if draw.about("spread", 2, "spread"):
            spec["topologySpreadConstraints"] = terms.spread(draw)
        if draw.about("volumes", 2, "volumes of a pending pod"):
            self._give_volumes(pod)
        if draw.about("devices", 2, "devices of a pending pod"):
            namespace = pod["metadata"]["namespace"]
            devices.want(draw, self._cluster, namespace, self._device_claims.setdefault(namespace, []), pod)
        self._queue(pod)
        return pod

    def _queue(self, pod: Object) -> None:
        draw = self._draw
        if draw.about("queue", 6, "scheduling gates"):
            pod["spec"]["schedulingGates"] = draw.some(({"name": "example.com/a"}, {"name": "example.com/b"}), 1)
        if draw.about("queue", 12, "another scheduler"):
            pod["spec"]["schedulerName"] = "my-scheduler"
        if draw.about("queue", 12, "pending pod being deleted"):
            deleted = {"deletionTimestamp": "2026-01-01T00:59:59Z", "deletionGracePeriodSeconds": 30}
            pod["metadata"] |= deleted | {"finalizers": ["example.com/wait"]}
        if self._names and draw.about("preemption", 5, "nominated node"):
            pod.setdefault("status", {})["nominatedNodeName"] = draw.one(self._names)

    def _pod(self, name: str) -> Object:
        draw = self._draw
        metadata = draw.metadata(name, draw.one(terms.NAMESPACES), terms.labels(draw))
        container: Object = {"name": "main", "image": f"registry.example.com/{draw.one(APPS)}:v1"}
        container["resources"] = self._resources()
        spec: Object = {"containers": [container]}
        if draw.about("resources", 6, "init containers"):
            init = {"name": "init", "image": "registry.example.com/web:v1", "resources": self._resources()}
            if draw.rarely(2, "sidecar"):
                init["restartPolicy"] = "Always"
            spec["initContainers"] = [init]
        if draw.about("resources", 8, "overhead"):
            spec |= {"overhead": {"cpu": "250m", "memory": "128Mi"}, "runtimeClassName": "kata"}
        if draw.about("resources", 8, "resources of the pod"):
            spec["resources"] = {"requests": {"cpu": "3", "memory": "4Gi"}, "limits": {"cpu": "4", "memory": "8Gi"}}
        if draw.about("ports", 2, "host port"):
            ports = [_port(draw) for _ in range(draw.one((1, 1, 2)))]
            # The API refuses the same port twice.
            container["ports"] = list({(each["protocol"], each["hostPort"]): each for each in ports}.values())
        if draw.about("spread", 2, "pod of a ReplicaSet"):
            owner = draw.one(self._cluster["replicasets"])
            metadata |= {"namespace": "default", "labels": dict(owner["spec"]["template"]["metadata"]["labels"])}
            named = {"name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"]}
            if draw.rarely(5, "pod of a ReplicaSet that is gone"):
                named = {"name": "gone", "uid": "22222222-0000-4000-8000-000000000000"}
            metadata["ownerReferences"] = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "controller": True, **named}]
        if draw.about("preemption", 2, "priority"):
            # Those that wait are mostly above those that run.
            waits, low = name.startswith("want"), ("low", "low", "middle", "high")
            spec["priorityClassName"] = draw.one(("high", "high", "high-without-force", "middle") if waits else low)
        if draw.about("declared features", 4, "feature a node must declare"):
            spec |= {"hostUsers": False, "hostNetwork": True}
        return {"metadata": metadata, "spec": spec}

    def _resources(self) -> Object:
        draw = self._draw
        if draw.rarely(8, "no requests"):
            return {}
        requests: Object = {"cpu": draw.one(_CPU), "memory": draw.one(_MEMORY)}
        limits: Object = {}
        if draw.about("preemption", 2, "large requests"):
            requests["cpu"] = draw.one(("500m", "1", "1500m"))
        if draw.about("resources", 4, "local storage"):
            requests["ephemeral-storage"] = draw.one(("1Gi", "10Gi"))
        if draw.about("resources", 5, "extended resource"):
            limits[DONGLE] = draw.one(("1", "2"))
        if draw.about("resources", 8, "huge pages"):
            limits[HUGE] = draw.one(("2Mi", "128Mi"))
        return {"requests": requests | limits, "limits": limits} if limits else {"requests": requests}

    def _give_volumes(self, pod: Object) -> None:
        metadata = pod["metadata"]
        shared = self._volume_claims.setdefault(metadata["namespace"], [])
        found = storage.volumes(self._draw, self._cluster, metadata["namespace"], shared, metadata)
        pod["spec"]["volumes"] = found


def _resize(draw: Draw, pod: Object) -> None:
    """What the kubelet says of a pod whose requests were changed: of its containers, of the pod, or of neither yet."""
    status = pod["status"]
    told = [draw.one(({}, {"cpu": "250m", "memory": "96Mi"}, {"cpu": "2", "memory": "2Gi"})) for _ in range(2)]
    container: Object = {"name": "main", "image": "x", "imageID": "", "ready": True, "restartCount": 0}
    for field, amounts in (("allocatedResources", told[0]), ("resources", {"requests": told[1]})):
        if draw.number(0, 2):
            container[field] = amounts
    status["containerStatuses"] = [container]
    if "resources" in pod["spec"] and draw.rarely(2, "resize of the pod's own resources"):
        status |= {"allocatedResources": {"cpu": "2"}, "resources": {"requests": {"cpu": "1", "memory": "5Gi"}}}
    if reason := draw.one(("", "Deferred", "Infeasible", "Infeasible")):
        status["conditions"] = [{"type": "PodResizePending", "status": "True", "reason": reason}]


def _port(draw: Draw) -> Object:
    # A port of the container per port of the host, as the API wants it where the pod has the host's network.
    number = draw.one((80, 80, 443))
    port: Object = {"containerPort": number, "hostPort": number, "protocol": draw.one(("TCP", "TCP", "UDP"))}
    if draw.rarely(2, "port with address"):
        port["hostIP"] = draw.one(("0.0.0.0", "10.0.0.1", "127.0.0.1"))
    return port


def _toleration(draw: Draw) -> Object:
    key, value = draw.one((("dedicated", "batch"), ("spot", "true"), ("example.com/maintenance", "true"), ("", "")))
    if not key:
        return {"operator": "Exists"}
    if "TaintTolerationComparisonOperators" in draw.gates and draw.rarely(3, "toleration by comparison"):
        return {"key": draw.one(("level", "level", "dedicated")), "operator": draw.one(("Lt", "Gt")), "value": "5"}
    found: Object = {"key": key, "operator": draw.one(("Equal", "Exists"))}
    if found["operator"] == "Equal":
        found["value"] = value
    if draw.rarely(2, "toleration of one effect"):
        found["effect"] = draw.one(("NoSchedule", "NoExecute", "PreferNoSchedule"))
        if found["effect"] == "NoExecute":
            found["tolerationSeconds"] = 60
    return found
