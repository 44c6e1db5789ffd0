"""Edges 50 to 78: volumes."""

from __future__ import annotations

from typing import Any, Final

from tests.scheduler.edges.objects import (
    HIGH,
    HOST,
    ZONE,
    Edge,
    Object,
    at,
    claim,
    meta,
    named,
    node,
    nodes,
    pod,
    storage_class,
    uses,
    volume,
)

_MADE: Final = "csi.example.com"
_UNBOUND: Final = "pod has unbound immediate PersistentVolumeClaims. not found"
_NO_MATCH: Final = "node(s) didn't match PersistentVolume's node affinity"
_NONE_FREE: Final = "node(s) didn't find available persistent volumes to bind"
_TOO_SMALL: Final = "node(s) did not have enough free storage"


def _cluster(*claims: Object, volumes: tuple[Object, ...] = (), maker: str = "", **more: Any) -> Object:
    base = {
        "nodes": nodes("n1", "n2"),
        "storageclasses": [storage_class("late", maker), storage_class("now", _MADE, "Immediate")],
        "persistentvolumeclaims": list(claims),
        "persistentvolumes": list(volumes),
        "pods": [pod("p", volumes=uses(*(each["metadata"]["name"] for each in claims)))],
    }
    return base | more


def _csi(name: str, of: str, **more: Any) -> Object:
    return volume(name, of=of, csi={"driver": _MADE, "volumeHandle": name}, **more)


def _driver(**spec: Any) -> list[Object]:
    return [{"metadata": meta(_MADE), "spec": spec}]


def _limit(name: str, count: int) -> Object:
    driver = {"name": _MADE, "nodeID": name, "allocatable": {"count": count}}
    return {"metadata": meta(name), "spec": {"drivers": [driver]}}


def _space(amount: str, **more: Any) -> Object:
    own = {"metadata": meta(f"space-{amount.lower()}", "default"), "storageClassName": "late", "capacity": amount}
    return {**own, "nodeTopology": {}, **more}


_ONE: Final = ({"matchExpressions": [{"key": HOST, "operator": "In", "values": ["n1"]}]},)
_UID: Final = "00000000-0000-4000-8000-000000000099"
_TEMPLATE: Final = {"volumeClaimTemplate": {"spec": claim("none")["spec"]}}
_OWNED: Final = claim("p-v", "gone")
_OWNED["metadata"]["ownerReferences"] = [
    {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": _UID, "controller": True}
]
EDGES: Final = (
    Edge(50, _cluster(claim("c", cls="now")), {"p": f"0/2 nodes are available: {_UNBOUND}"}),
    Edge(51, _cluster(claim("c", cls="none")), {"p": f"0/2 nodes are available: {_UNBOUND}"}),
    Edge(
        52,
        _cluster(claim("c", volumeName="v"), volumes=(volume("v"),)),
        {"p": f"0/2 nodes are available: {_UNBOUND}"},
    ),
    Edge(53, _cluster(claim("c", "v")), {"p": '0/2 nodes are available: persistentvolume "v" not found. not found'}),
    Edge(
        54,
        _cluster(_OWNED, pods=[pod("p", metadata={"uid": _UID}, volumes=[{"name": "v", "ephemeral": _TEMPLATE}])]),
        {"p": "2 node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)."},
    ),
    Edge(
        55,
        _cluster(claim("c", "v", phase="Lost")),
        {"p": 'persistentvolumeclaim "c" bound to non-existent persistentvolume "v". not found'},
    ),
    Edge(56, _cluster(claim("c")), {"p": f"0/2 nodes are available: 2 {_NONE_FREE}."}),
    Edge(57, _cluster(claim("c"), volumes=(volume("v", where=[*_ONE]),)), {"p": "fits n1"}),
    Edge(
        58,
        _cluster(claim("c1"), claim("c2", size="15Gi"), volumes=(volume("v2", size="20Gi"), volume("v1", size="10Gi"))),
        {"p": "fits n1 n2"},
    ),
    Edge(
        59,
        _cluster(
            claim("c1"), claim("c2"), volumes=(volume("v1"), volume("v2", size="20Gi", of="c2", phase="Available"))
        ),
        {"p": "fits n1 n2"},
    ),
    Edge(
        60,
        _cluster(claim("c"), volumes=(volume("v1"), volume("v2", of="c", phase="Available", where=[at(HOST, "n1")]))),
        {"p": "fits n1"},
    ),
    Edge(61, _cluster(claim("c"), volumes=(volume("v", phase="Released"),)), {"p": f"2 {_NONE_FREE}."}),
    Edge(
        62,
        _cluster(claim("c", annotations={"volume.kubernetes.io/selected-node": "n1"}), maker=_MADE),
        {"p": "fits n1"},
    ),
    Edge(63, _cluster(claim("c"), volumes=(volume("v", where=[named("n1")]),)), {"p": "fits n1 n2"}),
    Edge(64, _cluster(claim("c", "v"), volumes=(volume("v", of="c", where=[]),)), {"p": f"2 {_NO_MATCH}."}),
    Edge(
        65,
        _cluster(claim("c1", "v"), claim("c2"), volumes=(volume("v", of="c1", where=[at(HOST, "n1")]),)),
        {"p": f"1 {_NO_MATCH}, 2 {_NONE_FREE}."},
    ),
    Edge(
        66,
        _cluster(
            claim("c"),
            maker=_MADE,
            csidrivers=_driver(storageCapacity=True),
            csistoragecapacities=[_space("1Ti", nodeTopology=None)],
        ),
        {"p": f"2 {_TOO_SMALL}."},
    ),
    Edge(
        67,
        _cluster(
            claim("c1", size="50Gi"),
            claim("c2", size="50Gi"),
            maker=_MADE,
            csidrivers=_driver(storageCapacity=True),
            csistoragecapacities=[_space("60Gi")],
        ),
        {"p": "fits n1 n2"},
    ),
    Edge(
        68,
        _cluster(
            claim("c", size="20Gi"),
            maker=_MADE,
            csidrivers=_driver(storageCapacity=True),
            csistoragecapacities=[_space("1Ti", maximumVolumeSize="10Gi")],
        ),
        {"p": f"2 {_TOO_SMALL}."},
    ),
    Edge(69, _cluster(claim("c"), maker=_MADE), {"p": "fits n1 n2"}),
    Edge(
        70,
        _cluster(
            claim("c", "v", accessModes=["ReadWriteOncePod"]),
            volumes=(volume("v", of="c"),),
            pods=[pod("r", "n1", volumes=uses("c")), pod("p", **HIGH, volumes=uses("c"))],
        ),
        {"p": "on node n1, preempting 1 victims"},
    ),
    Edge(
        71,
        _cluster(claim("c", "v"), volumes=(_csi("v", "c", labels={ZONE: "a"}),), nodes=[node("n1"), node("n2", "b")]),
        {"p": "fits n1"},
    ),
    Edge(
        72,
        _cluster(
            claim("c", "v"),
            volumes=(_csi("v", "c", labels={ZONE: "a"}),),
            nodes=[node("n1", labels={"failure-domain.beta.kubernetes.io/zone": "b"})],
        ),
        {"p": "1 node(s) had no available volume zone."},
    ),
    Edge(
        73,
        _cluster(
            claim("c", "v"),
            volumes=(_csi("v", "c", labels={ZONE: "a__b"}),),
            nodes=[node("n1", "a"), node("n2", "b"), node("n3", "c")],
        ),
        {"p": "fits n1 n2"},
    ),
    Edge(
        74,
        _cluster(claim("c", "v"), volumes=(_csi("v", "c"),), csinodes=[_limit("n1", 0)]),
        {"p": "fits n2"},
    ),
    Edge(
        75,
        _cluster(
            claim("c", "v"),
            volumes=(_csi("v", "c"),),
            nodes=nodes("n1"),
            csinodes=[_limit("n1", 1)],
            volumeattachments=[
                {
                    "metadata": meta("a"),
                    "spec": {"attacher": _MADE, "nodeName": "n1", "source": {"persistentVolumeName": "v"}},
                    "status": {"attached": True},
                }
            ],
        ),
        {"p": "1 node(s) exceed max volume count."},
    ),
    Edge(
        76,
        _cluster(
            claim("c", "v"),
            volumes=(_csi("v", "c"),),
            nodes=nodes("n1"),
            csinodes=[_limit("n1", 1)],
            pods=[pod("r", "n1", volumes=uses("c")), pod("p", volumes=uses("c"))],
        ),
        {"p": "fits n1"},
    ),
    Edge(
        77,
        _cluster(
            csinodes=[_limit("n1", 0), _limit("n2", 0)],
            pods=[pod("p", volumes=[{"name": "v", "azureFile": {"secretName": "s", "shareName": "s"}}])],
        ),
        {"p": "fits n1 n2"},
    ),
    Edge(
        78,
        _cluster(
            claim("c", "v"),
            volumes=(_csi("v", "c"),),
            nodes=nodes("n1"),
            csidrivers=_driver(preventPodSchedulingIfMissing=True),
            csinodes=[{"metadata": meta("n1"), "spec": {"drivers": []}}],
            pods=[pod("r", "n1"), pod("p", **HIGH, volumes=uses("c"))],
        ),
        {"p": "preemption: 0/1 nodes are available: 1 csi.example.com CSI driver is not installed on the node."},
    ),
)
