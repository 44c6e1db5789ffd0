"""Edges 79 to 106: spreading, affinity, preemption."""

from __future__ import annotations

from typing import Any, Final

from tests.scheduler.edges.objects import (
    HIGH,
    HOST,
    ZONE,
    Edge,
    Object,
    app,
    at,
    away,
    budget,
    device_claim,
    device_class,
    devices,
    near,
    node,
    node_affinity,
    nodes,
    pod,
    pool,
    spread,
    term,
)

_A: Final = {"app": "a"}
_TAINT: Final = {"taints": [{"key": "a", "effect": "NoSchedule"}]}
_SKEWED: Final = "node(s) didn't match pod topology spread constraints"
_NO_HELP: Final = "Preemption is not helpful for scheduling."


def _spread(*constraints: Object, **more: Any) -> Object:
    return pod("p", labels=_A, topologySpreadConstraints=list(constraints), **more)


def _two() -> list[Object]:
    return [node("n1", "a"), node("n2", "b")]


EDGES: Final = (
    Edge(
        79,
        {"nodes": [node("n1")], "pods": [_spread(spread(ZONE, app("a")))]},
        {"p": f"1 {_SKEWED} (missing required label). preemption: 0/1 nodes are available: 1 {_NO_HELP}"},
    ),
    Edge(
        80,
        {
            "nodes": _two(),
            "pods": [*(pod(f"r{i}", "n1", labels=_A) for i in range(3)), _spread(spread(ZONE, {}))],
        },
        {"p": "fits n1 n2"},
    ),
    Edge(
        81,
        {"nodes": _two(), "pods": [*(pod(f"r{i}", "n1", labels=_A) for i in range(3)), _spread(spread(ZONE, None))]},
        {"p": "fits n1 n2"},
    ),
    Edge(
        82,
        {"nodes": _two(), "pods": [pod("r", "n1", labels={"app": "b"}), _spread(spread(ZONE, app("b")))]},
        {"p": "fits n1 n2"},
    ),
    Edge(
        83,
        {
            "nodes": _two(),
            "pods": [
                pod("r1", "n1", labels=_A),
                pod("r2", "n2", labels=_A),
                _spread(spread(ZONE, app("a"), minDomains=3)),
            ],
        },
        {"p": f"0/2 nodes are available: 2 {_SKEWED}."},
    ),
    Edge(
        84,
        {
            "nodes": [node("n1", "a"), node("n2", "b", spec=_TAINT)],
            "pods": [pod("r", "n1", labels=_A), _spread(spread(ZONE, app("a")))],
        },
        {"p": f"1 {_SKEWED}, 1 node(s) had untolerated taint(s)."},
    ),
    Edge(
        85,
        {
            "nodes": [node("n1", "a"), node("n2", "b", spec=_TAINT)],
            "pods": [pod("r", "n1", labels=_A), _spread(spread(ZONE, app("a"), nodeTaintsPolicy="Honor"))],
        },
        {"p": "best n1"},
    ),
    Edge(
        86,
        {
            "nodes": [node("n1", "a"), node("n2")],
            "pods": [
                *(pod(f"r{i}", "n2", labels=_A) for i in range(2)),
                _spread(spread(ZONE, app("a")), spread(HOST, app("a"))),
            ],
        },
        {"p": "best n1"},
    ),
    Edge(
        87,
        {
            "nodes": [node("n1", "a", labels={"disk": "ssd"}), node("n2", "b")],
            "pods": [pod("r", "n1", labels=_A), _spread(spread(ZONE, app("a")), nodeSelector={"disk": "ssd"})],
        },
        {"p": "best n1"},
    ),
    Edge(
        88,
        {
            "nodes": [node("n1", "a"), node("n2", "b", cpu="0")],
            "pods": [pod("r", "n1", labels=_A, namespace="other"), _spread(spread(ZONE, app("a")), cpu="1")],
        },
        {"p": "best n1"},
    ),
    Edge(
        89,
        {"nodes": [*_two(), node("n3")], "pods": [pod("p", labels=_A, affinity=near(term(ZONE, app("a"))))]},
        {"p": "fits n1 n2"},
    ),
    Edge(
        90,
        {
            "nodes": [*_two(), node("n3")],
            "pods": [pod("r", "n3", labels=_A), pod("p", labels=_A, affinity=near(term(ZONE, app("a"))))],
        },
        {"p": "fits n1 n2"},
    ),
    Edge(
        91,
        {
            "nodes": _two(),
            "pods": [pod("r", "n2", labels=_A), pod("p", labels=_A, affinity=near(term(ZONE, app("a"))))],
        },
        {"p": "fits n2"},
    ),
    Edge(
        92,
        {
            "nodes": _two(),
            "pods": [
                pod("r1", "n1", labels=_A),
                pod("r2", "n1", labels={"tier": "b"}),
                pod("p", affinity=near(term(ZONE, app("a")), term(ZONE, {"matchLabels": {"tier": "b"}}))),
            ],
        },
        {"p": "2 node(s) didn't match pod affinity rules."},
    ),
    Edge(
        93,
        {
            "nodes": [node("n1"), node("n2", "b")],
            "pods": [pod("r", "n1", affinity=away(term(ZONE, app("a")))), pod("p", labels=_A)],
        },
        {"p": "fits n1 n2"},
    ),
    Edge(
        94,
        {
            "nodes": _two(),
            "pods": [
                pod("r", "n1", affinity=away(term(ZONE, app("a")))),
                pod("p", labels=_A, namespace="other"),
                pod("q", labels=_A),
            ],
        },
        {"p": "fits n1 n2", "q": "fits n2"},
    ),
    Edge(
        95,
        {
            "nodes": _two(),
            "namespaces": [
                {"metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name}}}
                for name in ("default", "other")
            ],
            "pods": [
                pod("r", "n1", labels=_A, namespace="other"),
                pod("p", affinity=away(term(ZONE, app("a"), namespaceSelector={}))),
            ],
        },
        {"p": "fits n2"},
    ),
    Edge(
        96,
        {
            "nodes": nodes("n1"),
            "pods": [
                pod("r", "n1", labels=_A),
                pod("p", affinity=near(term(HOST, app("none"))), **HIGH),
                pod("q", affinity=away(term(HOST, app("a"))), **HIGH),
            ],
        },
        {
            "p": f"1 node(s) didn't match pod affinity rules. preemption: 0/1 nodes are available: 1 {_NO_HELP}",
            "q": "preempting 1 victims",
        },
    ),
    Edge(
        97,
        {
            "nodes": nodes("n1", "n2"),
            "deviceclasses": [device_class()],
            "resourceclaims": [device_claim("c")],
            "pods": [pod("r", "n1"), pod("p", resourceClaims=devices("c"), **HIGH)],
        },
        {"p": f"2 cannot allocate all claims. preemption: 0/2 nodes are available: 2 {_NO_HELP}"},
    ),
    Edge(
        98,
        {
            "nodes": nodes("n1"),
            "deviceclasses": [device_class()],
            "resourceslices": [pool("n1", "d1")],
            "resourceclaims": [device_claim("held", device="d1", on="n1", by="r"), device_claim("c")],
            "pods": [
                pod("r", "n1", cpu="4", resourceClaims=devices("held")),
                pod("p", cpu="1", resourceClaims=devices("c"), **HIGH),
            ],
        },
        {"p": "preemption: 0/1 nodes are available: 1 cannot allocate all claims."},
    ),
    Edge(
        99,
        {
            "nodes": nodes("n1"),
            "deviceclasses": [device_class()],
            "resourceslices": [pool("n1", "d1")],
            "resourceclaims": [device_claim("c")],
            "pods": [pod("r", "n1", cpu="4"), pod("p", cpu="1", resourceClaims=devices("c"), **HIGH)],
        },
        {"p": "preemption: found a potential placement for pod on node n1, preempting 1 victims"},
    ),
    Edge(
        100,
        {"nodes": nodes("n1"), "pods": [pod("r", "n1", cpu="4"), pod("p", cpu="1", priorityClassName="meek")]},
        {"p": "1 Insufficient cpu. preemption: not eligible due to preemptionPolicy=Never."},
    ),
    Edge(
        101,
        {
            "nodes": nodes("n1"),
            "pods": [
                pod(
                    "r",
                    "n1",
                    cpu="4",
                    status={
                        "conditions": [
                            {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
                        ]
                    },
                    metadata={"deletionTimestamp": "2026-01-01T00:00:01Z", "deletionGracePeriodSeconds": 30},
                ),
                pod("p", cpu="1", status={"nominatedNodeName": "n1"}, **HIGH),
            ],
        },
        {"p": "preemption: not eligible due to a terminating pod on the nominated node."},
    ),
    Edge(
        102,
        {
            "nodes": nodes("n1"),
            "pods": [
                pod(
                    "r",
                    "n1",
                    cpu="4",
                    metadata={"deletionTimestamp": "2026-01-01T00:00:01Z", "deletionGracePeriodSeconds": 30},
                ),
                pod("p", cpu="1", status={"nominatedNodeName": "n1"}, **HIGH),
            ],
        },
        {"p": "preempting 1 victims"},
    ),
    Edge(
        103,
        {
            "nodes": nodes("n1"),
            "poddisruptionbudgets": [budget("b", app("a"))],
            "pods": [pod("r", "n1", cpu="4", labels=_A), pod("p", cpu="1", **HIGH)],
        },
        {"p": "on node n1, preempting 1 victims"},
    ),
    Edge(
        104,
        {
            "nodes": nodes("n1", "n2"),
            "poddisruptionbudgets": [budget("b", {}), budget("c", app("b"))],
            "pods": [
                pod("r1", "n1", cpu="4", labels=_A),
                pod("r2", "n2", cpu="4", labels={"app": "b"}),
                pod("p", cpu="1", **HIGH),
            ],
        },
        {"p": "on node n1, preempting 1 victims"},
    ),
    Edge(
        105,
        {
            "nodes": nodes("n1"),
            "pods": [
                pod(
                    "r",
                    "n1",
                    cpu="4",
                    metadata={
                        "ownerReferences": [
                            {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "d", "controller": True}
                        ]
                    },
                ),
                pod("p", cpu="1", **HIGH),
            ],
        },
        {"p": "on node n1, preempting 1 victims"},
    ),
    Edge(
        106,
        {
            "nodes": [*_two(), node("n3", "c", spec=_TAINT)],
            "pods": [
                pod("r1", "n1", labels=_A),
                pod("r2", "n2", labels=_A, priorityClassName="higher"),
                pod("x", "n3", labels={}),
                _spread(spread(ZONE, app("a")), affinity=node_affinity(at(ZONE, "b", "c")), **HIGH),
            ],
        },
        {"p": "preemption: 0/3 nodes are available: 1 No preemption victims found for incoming pod, 2 Preemption is"},
    ),
)
