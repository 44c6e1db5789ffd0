"""Edges 1 to 49: the attempt, its texts, resources and features (numbers as in the project's specification)."""

from __future__ import annotations

from typing import Any, Final

from tests.scheduler.edges.objects import (
    HIGH,
    Edge,
    Object,
    app,
    at,
    away,
    device_claim,
    device_class,
    devices,
    named,
    near,
    node,
    node_affinity,
    nodes,
    pod,
    pool,
    spread,
    term,
)

_TAINT: Final = {"taints": [{"key": "a", "value": "", "effect": "NoSchedule"}]}
_ERROR: Final = [{"cel": {"expression": "device.attributes['gpu.example.com'].none == 1"}}]


def _nominated(name: str, **more: Any) -> Object:
    return pod(name, status={"nominatedNodeName": "n1"}, **more)


def _requests(cpu: str) -> Object:
    return {"resources": {"requests": {"cpu": cpu}}}


def _init(cpu: str, **more: Any) -> Object:
    return {"name": f"init-{cpu}-{len(more)}", "image": "image", **_requests(cpu), **more}


def _extended(name: str, amount: str = "1") -> Object:
    return {"resources": {"requests": {name: amount}, "limits": {name: amount}}}


def _ports(*ports: Object) -> Object:
    return {"ports": [{"containerPort": each["hostPort"], "protocol": "TCP", **each} for each in ports]}


_DEVICES: Final = {"deviceclasses": [device_class()], "resourceslices": [pool("n1", "d1")]}
_NODES: Final = ("n1", "n2", "n3")
_CLASS: Final = {"deviceclasses": [device_class(extendedResourceName="example.com/gpu")]}

EDGES: Final = (
    Edge(1, {"nodes": [], "pods": [pod("p")]}, {"p": "no nodes available to schedule pods"}),
    Edge(
        2,
        {
            "nodes": nodes(*_NODES),
            "pods": [pod("r", "n2", cpu="4"), pod("p", cpu="1", affinity=node_affinity(named("n2")))],
        },
        {"p": "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]."},
    ),
    Edge(
        3,
        {"nodes": nodes(*_NODES), "pods": [pod("p", affinity=node_affinity(named("none")))]},
        {"p": "0/3 nodes are available: 3 node(s) didn't satisfy plugin(s) [NodeAffinity]. preemption: "},
    ),
    Edge(
        4,
        {"nodes": nodes(*_NODES), "pods": [pod("p", affinity=node_affinity(named("none"), at("disk", "ssd")))]},
        {"p": "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector."},
    ),
    Edge(
        5,
        {"nodes": nodes(*_NODES), "pods": [pod("p", affinity=node_affinity(named("n1", "n2")))]},
        {"p": "0/3 nodes are available: pod affinity terms conflict. not found"},
    ),
    Edge(
        6,
        {
            "nodes": nodes("n1"),
            "pods": [pod("p", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "x"}}])],
        },
        {"p": '0/1 nodes are available: persistentvolumeclaim "x" not found. not found'},
    ),
    Edge(
        7,
        {
            "nodes": nodes("n1"),
            "resourceclaims": [device_claim("c", cls="none")],
            "pods": [pod("p", resourceClaims=devices("c"))],
        },
        {
            "p": "0/1 nodes are available: request r: device class none does not exist. preemption: 0/1 nodes are "
            "available: 1 Preemption is not helpful for scheduling."
        },
    ),
    Edge(
        8,
        {
            "nodes": [*(node(f"n{number}", cpu="1") for number in range(10)), *nodes("t1", "t2", spec=_TAINT)],
            "pods": [pod("p", cpu="2")],
        },
        {"p": "0/12 nodes are available: 10 Insufficient cpu, 2 node(s) had untolerated taint(s)."},
    ),
    Edge(
        9,
        {"nodes": nodes("n1"), "pods": [pod("p", cpu="5", memory="9Gi")]},
        {"p": "0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory."},
    ),
    Edge(
        12,
        {"nodes": nodes("n1", "n2"), "pods": [pod("r", "n1", cpu="3"), _nominated("p", cpu="1")]},
        {"p": "best n1"},
    ),
    Edge(
        13,
        {
            **_DEVICES,
            "nodes": nodes("n1", "n2"),
            "resourceclaims": [device_claim("c", selectors=_ERROR)],
            "pods": [_nominated("p", resourceClaims=devices("c"))],
        },
        {"p": "error"},
    ),
    Edge(
        14,
        {"nodes": nodes("n1", "n2"), "pods": [_nominated("p", affinity=node_affinity(named("n2")))]},
        {"p": "best n2"},
    ),
    Edge(15, {"nodes": [node("n1"), node("n2", cpu="0")], "pods": [pod("p", cpu="1")]}, {"p": "best n1"}),
    Edge(
        17,
        {"nodes": [*(node(f"n{number}", cpu="1") for number in range(119)), node("big")], "pods": [pod("p", cpu="2")]},
        {"p": "best big"},
    ),
    Edge(
        19,
        {
            "nodes": nodes("n1"),
            "pods": [pod("p", metadata={"deletionTimestamp": "2026-01-01T00:00:01Z", "finalizers": ["a.example/b"]})],
        },
        {"p": "ignored"},
    ),
    Edge(
        20,
        {"nodes": nodes("n1"), "pods": [_nominated("q", cpu="3", **HIGH), pod("p", cpu="2")]},
        {"p": "0/1 nodes are available: 1 Insufficient cpu.", "q": "best n1"},
    ),
    Edge(
        21,
        {
            "nodes": nodes("n1"),
            "pods": [_nominated("q", affinity=away(term("kubernetes.io/hostname", {}))), pod("p")],
        },
        {"p": "best n1"},
    ),
    Edge(
        22,
        {"nodes": nodes("n1"), "pods": [_nominated("q", cpu="3"), pod("p", cpu="2", **HIGH)]},
        {"p": "best n1"},
    ),
    Edge(
        23,
        {
            "nodes": nodes("n1"),
            "pods": [
                _nominated("q", labels={"app": "a"}, **HIGH),
                pod("p", affinity=near({"topologyKey": "kubernetes.io/hostname", "labelSelector": app("a")})),
            ],
        },
        {"p": "0/1 nodes are available: 1 node(s) didn't match pod affinity rules."},
    ),
    Edge(
        25,
        {
            "nodes": nodes("n1"),
            "pods": [
                pod(
                    "p",
                    schedulingGates=[{"name": "example.com/gate"}],
                    resourceClaims=[{"name": "c", "resourceClaimTemplateName": "none"}],
                )
            ],
        },
        {"p": "gated"},
    ),
    Edge(
        26,
        {"nodes": nodes("n1"), "pods": [pod("r", "n1", cpu="4", status={"phase": "Succeeded"}), pod("p", cpu="4")]},
        {"p": "best n1"},
    ),
    Edge(
        27,
        {
            "nodes": [node("n1", "a"), node("n2", "b")],
            "pods": [
                pod(
                    "r",
                    "n1",
                    cpu="4",
                    labels={"app": "a"},
                    metadata={"deletionTimestamp": "2026-01-01T00:00:01Z", "deletionGracePeriodSeconds": 30},
                ),
                pod("p", cpu="1", labels={"app": "a"}),
                pod(
                    "q",
                    labels={"app": "a"},
                    topologySpreadConstraints=[spread("topology.kubernetes.io/zone", app("a"))],
                ),
            ],
        },
        {"p": "best n2", "q": "fits n1 n2"},
    ),
    Edge(
        28,
        {"nodes": nodes("n1"), "pods": [pod("p", cpu="5")]},
        {"p": "1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."},
    ),
    Edge(
        29,
        {"nodes": nodes("n1"), "pods": [pod("r", "n1", cpu="4"), pod("p", cpu="1", memory="9Gi", **HIGH)]},
        {"p": "1 Insufficient cpu, 1 Insufficient memory. preemption: 0/1 nodes are available: 1 Preemption is not"},
    ),
    Edge(30, {"nodes": [node("n1", pods="0")], "pods": [pod("p")]}, {"p": "1 Too many pods."}),
    Edge(
        31,
        {"nodes": nodes("n1"), "pods": [pod("r", "n1", cpu="1"), pod("p", cpu="1", initContainers=[_init("4")])]},
        {"p": "1 Insufficient cpu."},
    ),
    Edge(
        32,
        {
            "nodes": [node("n3", cpu="3"), node("n2", cpu="2999m")],
            "pods": [pod("p", cpu="1", initContainers=[_init("1", restartPolicy="Always"), _init("2")])],
        },
        {"p": "fits n3"},
    ),
    Edge(
        33,
        {
            "nodes": [node("n2", cpu="2"), node("n1", cpu="1999m")],
            "pods": [pod("p", cpu="1", initContainers=[_init("2"), _init("1", restartPolicy="Always")])],
        },
        {"p": "fits n2"},
    ),
    Edge(
        34,
        {
            "nodes": [node("n1", cpu="3", memory="1Gi"), node("n2", cpu="3", memory="2Gi")],
            "pods": [pod("p", cpu="3", memory="2Gi", resources={"requests": {"cpu": "3"}}), pod("r", "n1", cpu="1")],
        },
        {"p": "fits n2"},
    ),
    Edge(
        37,
        {"nodes": nodes("n1"), "pods": [pod("p", container=_extended("example.com/x"), **HIGH)]},
        {"p": "1 Insufficient example.com/x. preemption: 0/1 nodes are available: 1 Preemption is not helpful for"},
    ),
    Edge(
        38,
        {
            **_CLASS,
            "nodes": [node("n1", **{"example.com_gpu": "0"}), *nodes("n2")],
            "resourceslices": [pool("n1", "d1")],
            "pods": [pod("p", container=_extended("example.com/gpu"))],
        },
        {"p": "fits n1"},
    ),
    Edge(
        39,
        {
            **_CLASS,
            "nodes": [node("n1", **{"example.com_gpu": "1"})],
            "resourceslices": [pool("n1", "d1")],
            "pods": [
                pod("r", "n1", container=_extended("example.com/gpu")),
                pod("p", container=_extended("example.com/gpu")),
            ],
        },
        {"p": "1 Insufficient example.com/gpu."},
    ),
    Edge(
        40,
        {
            "nodes": nodes("n1"),
            "resourceslices": [pool("n1", "d1")],
            "pods": [pod("p", container=_extended("example.com/gpu"))],
        },
        {"p": "1 Insufficient example.com/gpu. preemption: 0/1 nodes are available: 1 Preemption is not helpful"},
    ),
    Edge(
        43,
        {
            "nodes": [node("n1", cpu="1", memory="1"), node("n2", cpu="1", memory="2")],
            "pods": [
                pod(
                    "p",
                    containers=[
                        {"name": name, "image": "image", "resources": {"requests": {"cpu": "0.0004", "memory": "0.5"}}}
                        for name in ("a", "b", "c")
                    ],
                )
            ],
        },
        {"p": "best n2"},
    ),
    Edge(
        44,
        {
            "nodes": nodes("n1"),
            "pods": [
                pod("r", "n1", container=_ports({"hostPort": 80})),
                pod("p", container=_ports({"hostPort": 80, "hostIP": "10.0.0.1"})),
                pod("q", container=_ports({"hostPort": 80, "protocol": "UDP"})),
            ],
        },
        {"p": "1 node(s) didn't have free ports for the requested pod ports.", "q": "best n1"},
    ),
    Edge(
        45,
        {
            "nodes": nodes("n1"),
            "pods": [
                pod("r", "n1", container=_ports({"hostPort": 80})),
                pod("p", initContainers=[{"name": "i", "image": "image", **_ports({"hostPort": 80})}]),
                pod(
                    "q",
                    initContainers=[
                        {"name": "i", "image": "image", "restartPolicy": "Always", **_ports({"hostPort": 80})}
                    ],
                ),
            ],
        },
        {"p": "best n1", "q": "1 node(s) didn't have free ports"},
    ),
    Edge(
        46,
        {
            **_DEVICES,
            "nodes": nodes("n1", "n2"),
            "resourceclaims": [device_claim("c")],
            "pods": [
                pod(
                    "p",
                    resourceClaims=devices("c"),
                    container={
                        "restartPolicy": "Always",
                        "restartPolicyRules": [
                            {"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [1]}}
                        ],
                    },
                )
            ],
        },
        {"p": "1 cannot allocate all claims, 1 node"},
    ),
    Edge(
        47,
        {"nodes": nodes("n1", spec=_TAINT), "pods": [pod("p", tolerations=[{"operator": "Exists"}])]},
        {"p": "best n1"},
    ),
    Edge(
        49,
        {"nodes": nodes("n1", spec={"unschedulable": True}), "pods": [pod("p", tolerations=[{"operator": "Exists"}])]},
        {"p": "best n1"},
    ),
)
