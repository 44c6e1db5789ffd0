"""Edges 107 to 125: groups of pods."""

from __future__ import annotations

from typing import Final

from tests.scheduler.edges.objects import (
    HIGH,
    Edge,
    device_claim,
    device_class,
    devices,
    gang,
    group,
    member,
    named,
    node,
    node_affinity,
    nodes,
    pod,
    pool,
    uses,
)

_WHOLE: Final = "pod group is unschedulable, minCount (4) cannot be satisfied: "
_ERROR: Final = [{"cel": {"expression": "device.attributes['gpu.example.com'].none == 1"}}]


def _four(**more: str) -> list[dict[str, object]]:
    return [member(f"m{number}", "g", **more) for number in range(1, 5)]


EDGES: Final = (
    Edge(107, {"nodes": nodes("n1"), "featureGates": {"GenericWorkload": True}, "pods": _four()}, {"m1": "gated"}),
    Edge(108, gang({"nodes": nodes("n1")}, group("g", 4), pods=_four()[:3]), {"g": "gated"}),
    Edge(
        109,
        gang(
            {"nodes": nodes("n1")},
            group("g", 4),
            pods=[*_four()[:3], member("m4", "g", schedulingGates=[{"name": "example.com/a"}])],
        ),
        {"g": "gated"},
    ),
    Edge(
        110,
        gang(
            {"nodes": nodes("n1")},
            group("g", 4),
            pods=[*_four()[:3], member("m4", "g", resourceClaims=[{"name": "c", "resourceClaimTemplateName": "none"}])],
        ),
        {"g": "gated"},
    ),
    Edge(
        111,
        gang({"nodes": [node("n1", cpu="3")]}, group("g", 2), pods=[*_four(cpu="1"), member("m5", "g", cpu="1")]),
        {"g": "scheduled", "m5": "0/1 nodes are available: 1 Insufficient cpu."},
    ),
    Edge(
        112,
        gang({"nodes": [node("n1", cpu="3")]}, group("g", 4), pods=_four(cpu="1")),
        {"g": "unschedulable", "m1": f"{_WHOLE}3 scheduled, 0 remaining", "m4": "1 Insufficient cpu."},
    ),
    Edge(
        113,
        gang(
            {"nodes": [node("n1", cpu="3")]},
            group("g", 4),
            pods=[member(f"m{number}", "g", cpu="3" if number == 2 else "1") for number in range(1, 5)],
        ),
        {"g": "unschedulable", "m3": "minCount (4) cannot be satisfied: 1 scheduled, 2 remaining"},
    ),
    Edge(114, gang({"nodes": nodes("n1")}, group("g"), pods=_four(cpu="5")), {"g": "unschedulable"}),
    Edge(
        115,
        gang({"nodes": [node("n1", cpu="3")]}, group("g"), pods=_four(cpu="1")),
        {"g": "scheduled", "m1": "bound", "m4": "0/1 nodes are available: 1 Insufficient cpu."},
    ),
    Edge(
        116,
        gang({"nodes": nodes("n1")}, group("g", 2, **HIGH), pods=[member("m1", "g"), member("m2", "g")]),
        {"g": "error"},
    ),
    Edge(
        117,
        gang(
            {
                "nodes": nodes("n1"),
                "deviceclasses": [device_class()],
                "resourceslices": [pool("n1", "d1")],
                "resourceclaims": [device_claim("c", selectors=_ERROR)],
            },
            group("g", 2),
            pods=[member("m1", "g"), member("m2", "g", resourceClaims=devices("c"))],
        ),
        {"g": "error", "m1": "failed to schedule other pod from a pod group: "},
    ),
    Edge(
        118,
        gang(
            {"nodes": nodes("n1")},
            group("g", 2),
            pods=[member(name, "g", volumes=uses("none")) for name in ("m1", "m2")],
        ),
        {"g": "error"},
    ),
    Edge(
        119,
        gang(
            {
                "nodes": nodes("n1", "n2"),
                "deviceclasses": [device_class()],
                "resourceslices": [pool("n1", "d1")],
                "resourceclaims": [device_claim("c")],
            },
            group("g", 2),
            pods=[member(name, "g", resourceClaims=devices("c")) for name in ("m1", "m2")],
        ),
        {"g": "scheduled"},
    ),
    Edge(
        120,
        gang(
            {
                "nodes": nodes("n1", "n2"),
                "deviceclasses": [device_class()],
                "resourceslices": [pool("n1", "d1"), pool("n2", "d2")],
                "resourceclaims": [device_claim("c")],
            },
            group("g", 2),
            pods=[
                member(f"m{number}", "g", resourceClaims=devices("c"), affinity=node_affinity(named(f"n{number}")))
                for number in (1, 2)
            ],
        ),
        {"g": "unschedulable", "m2": "resourceclaim not available on the node"},
    ),
    Edge(
        122,
        gang({"nodes": nodes("n1")}, group("g", 4), pods=_four(cpu="2")),
        {"g": "pod group preemption: No preemption victims found for incoming preemptor"},
    ),
    Edge(
        123,
        gang(
            {"nodes": nodes("n1")},
            group("g", 4, **HIGH),
            pods=[pod("r", "n1", cpu="1"), *(member(f"m{number}", "g", cpu="2", **HIGH) for number in range(4))],
        ),
        {"g": "unschedulable"},
    ),
    Edge(
        124,
        gang(
            {"nodes": [node("n1", cpu="2"), node("n2", cpu="3")]},
            group("g", 2),
            pods=[
                member("m1", "g", cpu="2"),
                member("m2", "g", cpu="3", affinity=node_affinity(named("n2"))),
                pod("r", "n1", cpu="500m"),
            ],
        ),
        {"g": "unschedulable"},
    ),
)
