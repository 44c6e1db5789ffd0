"""Random storage: classes, drivers and their limits, volumes, and claims in every state that a pod may find them in."""

from __future__ import annotations

from typing import Any, Final

from tests.differential.whole.draw import Draw, Object
from tests.differential.whole.nodes import HOST, REGION, ZONE, ZONES

Cluster = dict[str, Any]
DISK: Final = "disk.example.com"
SIZED: Final = "sized.example.com"
_BOUND: Final = {"pv.kubernetes.io/bind-completed": "yes"}
_BETA_ZONE: Final = "failure-domain.beta.kubernetes.io/zone"
_IN_TREE: Final = {"kubernetes.io/aws-ebs": "ebs.csi.aws.com", "kubernetes.io/gce-pd": "pd.csi.storage.gke.io"}
_SIZES: Final = ("1Gi", "5Gi", "50Gi")
_MODES: Final = (
    *(["ReadWriteOnce"], ["ReadWriteOnce"], ["ReadWriteOncePod"], ["ReadOnlyMany"]),
    *(["ReadWriteMany"], ["ReadWriteOnce", "ReadOnlyMany"]),
)


def equip(draw: Draw, cluster: Cluster) -> None:
    """Add classes, drivers, what they report of each node, and volumes that nobody has claimed."""
    names = [node["metadata"]["name"] for node in cluster["nodes"]]
    cluster["storageclasses"] = [_class(draw, name) for name in ("fast", "late", "local", "sized")]
    cluster["csidrivers"] = [_driver(draw, name) for name in (DISK, SIZED) if not draw.rarely(6, "no CSIDriver")]
    cluster["csinodes"] = [_csi_node(draw, name) for name in names if not draw.rarely(8, "no CSINode")]
    cluster["csistoragecapacities"] = [
        _capacity(draw, zone) for zone in ZONES if not draw.rarely(3, "no capacity reported")
    ]
    cluster["persistentvolumes"] = [_free_volume(draw, number, names) for number in range(draw.number(0, 5))]
    cluster["persistentvolumeclaims"] = []
    cluster["volumeattachments"] = [
        {
            "metadata": draw.metadata(f"attached-{number}"),
            "spec": {
                "attacher": DISK,
                "nodeName": draw.one(names),
                "source": {"persistentVolumeName": draw.one(("elsewhere-1", "elsewhere-2", "free-0"))},
            },
            "status": {"attached": True},
        }
        for number in range(2)
        if names and draw.rarely(4, "volume attachment")
    ]


def _class(draw: Draw, name: str) -> Object:
    provisioner = {"local": "kubernetes.io/no-provisioner", "sized": SIZED}.get(name, DISK)
    mode = "Immediate" if name == "fast" else "WaitForFirstConsumer"
    found: Object = {"metadata": draw.metadata(name), "provisioner": provisioner, "volumeBindingMode": mode}
    if name != "local" and draw.rarely(3, "allowed topologies"):
        terms = [{"key": ZONE, "values": draw.some(ZONES, 1, 2)}]
        if draw.rarely(4, "allowed topologies by two labels"):
            terms.append({"key": "disk", "values": ["ssd"]})
        found["allowedTopologies"] = [{"matchLabelExpressions": terms}]
    return found


def _driver(draw: Draw, name: str) -> Object:
    spec: Object = {"attachRequired": True, "storageCapacity": name == SIZED}
    if draw.rarely(3, "driver that must be on the node"):
        spec["preventPodSchedulingIfMissing"] = True
    return {"metadata": draw.metadata(name), "spec": spec}


def _csi_node(draw: Draw, name: str) -> Object:
    drivers: list[Object] = []
    for driver in (DISK, SIZED, *_IN_TREE.values()):
        if draw.rarely(6, "driver not on the node"):
            continue
        entry: Object = {"name": driver, "nodeID": name, "topologyKeys": [ZONE]}
        if draw.rarely(2, "limit of volumes"):
            entry["allocatable"] = {"count": draw.number(0, 3)}
        drivers.append(entry)
    found: Object = {"metadata": draw.metadata(name), "spec": {"drivers": drivers}}
    if not draw.rarely(3, "in-tree plugins not migrated"):
        found["metadata"]["annotations"] = {"storage.alpha.kubernetes.io/migrated-plugins": ",".join(_IN_TREE)}
    return found


def _capacity(draw: Draw, zone: str) -> Object:
    found: Object = {
        "metadata": draw.metadata(f"capacity-{zone}", "kube-system"),
        "storageClassName": "sized",
        "nodeTopology": {"matchLabels": {ZONE: zone}},
        "capacity": draw.one(("0", "1Gi", "100Gi")),
    }
    return found | ({"maximumVolumeSize": "2Gi"} if draw.rarely(4, "largest volume") else {})


# --- volumes --------------------------------------------------------------------------------------------------------


def _free_volume(draw: Draw, number: int, nodes: list[str]) -> Object:
    volume = _volume(draw, f"free-{number}", draw.one(("local", "local", "late", "fast")), draw.one(_SIZES))
    volume["spec"]["accessModes"] = draw.one(_MODES)
    volume["metadata"]["labels"] = {"kind": draw.one(("nvme", "sata"))}
    if nodes and draw.number(0, 2):
        volume["spec"]["nodeAffinity"] = _place(draw, draw.one(((HOST, nodes), (ZONE, ZONES))))
    if draw.rarely(6, "block volume"):
        volume["spec"]["volumeMode"] = "Block"
    if draw.rarely(10, "volume kept for a claim"):
        volume["spec"]["claimRef"] = {"namespace": "default", "name": "reserved"}
    if draw.rarely(10, "volume being deleted"):
        volume["metadata"] |= {"deletionTimestamp": "2026-01-01T00:59:59Z", "finalizers": ["example.com/wait"]}
    volume["status"] = {"phase": draw.one(("Available", "Available", "Available", "Released"))}
    return volume


def _volume(draw: Draw, name: str, storage_class: str, size: str) -> Object:
    driver = SIZED if storage_class == "sized" else DISK
    source: Object = {"csi": {"driver": driver, "volumeHandle": f"handle-{name}"}}
    if draw.rarely(5, "volume of an in-tree plugin"):
        source = draw.one(
            (
                {"awsElasticBlockStore": {"volumeID": f"aws://zone-a/vol-{name}"}},
                {"gcePersistentDisk": {"pdName": f"pd-{name}"}},
                {"nfs": {"server": "nfs.example.com", "path": "/"}},
            )
        )
    return {
        "metadata": draw.metadata(name),
        "spec": {
            "storageClassName": storage_class,
            "capacity": {"storage": size},
            "accessModes": ["ReadWriteOnce"],
            **source,
            "persistentVolumeReclaimPolicy": "Retain",
        },
        "status": {"phase": "Bound"},
    }


def _place(draw: Draw, key: tuple[str, Any]) -> Object:
    label, values = key
    expression = {"key": label, "operator": "In", "values": draw.some(values, 1, 2)}
    draw.taken.add("volume with node affinity")
    return {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}


# --- claims ---------------------------------------------------------------------------------------------------------

CLAIM_STATES: Final = (
    *("bound", "bound", "bound", "zonal", "placed", "late", "late", "static", "static", "sized", "immediate"),
    *("lost", "absent", "being deleted", "volume absent", "class absent", "binding", "without class"),
    *("zonal", "zonal", "exclusive", "exclusive", "exclusive"),
)


def claim(draw: Draw, cluster: Cluster, namespace: str, state: str) -> str:
    """Add a claim in a state, with its volume if it has one, and return its name."""
    draw.taken.add(f"claim {state}")
    name = f"data-{draw.serial()}"
    if state == "absent":
        return name
    if state in ("bound", "zonal", "placed", "lost", "being deleted", "volume absent", "binding", "exclusive"):
        found = _bound_claim(draw, cluster, name, namespace, state)
    else:
        found = _unbound_claim(draw, name, namespace, state)
    cluster["persistentvolumeclaims"].append(found)
    return name


def _bound_claim(draw: Draw, cluster: Cluster, name: str, namespace: str, state: str) -> Object:
    volume_name = f"pv-{name}"
    storage_class = draw.one(("fast", "late", "sized"))
    found = _claim(draw, name, namespace, storage_class)
    found["spec"]["volumeName"] = volume_name
    found["metadata"]["annotations"] = dict(_BOUND)
    found["status"] = {"phase": "Lost" if state == "lost" else "Bound", "capacity": {"storage": "5Gi"}}
    if state == "being deleted":
        found["metadata"] |= {
            "deletionTimestamp": "2026-01-01T00:59:59Z",
            "deletionGracePeriodSeconds": 0,
            "finalizers": ["kubernetes.io/pvc-protection"],
        }
    if state == "binding":
        # A volume is chosen, and the controller hasn't completed it.
        del found["metadata"]["annotations"]
        found["status"] = {"phase": "Pending"}
    if state in ("volume absent", "lost"):
        return found
    volume = _volume(draw, volume_name, storage_class, "5Gi")
    volume["spec"]["claimRef"] = {"namespace": namespace, "name": name, "uid": found["metadata"]["uid"]}
    if state == "exclusive":
        found["spec"]["accessModes"] = volume["spec"]["accessModes"] = ["ReadWriteOncePod"]
    if state == "zonal":
        value = draw.one(("zone-a", "zone-b", "zone-a__zone-b", "zone-z"))
        volume["metadata"]["labels"] = {draw.one((ZONE, ZONE, _BETA_ZONE)): value}
        if draw.rarely(4, "volume with region"):
            volume["metadata"]["labels"][REGION] = draw.one(("region-1", "region-2"))
    if state == "placed":
        nodes = [node["metadata"]["name"] for node in cluster["nodes"]] or ["elsewhere"]
        volume["spec"]["nodeAffinity"] = _place(draw, draw.one(((HOST, nodes), (ZONE, ZONES))))
    cluster["persistentvolumes"].append(volume)
    return found


def _unbound_claim(draw: Draw, name: str, namespace: str, state: str) -> Object:
    storage_class = {"late": "late", "static": "local", "sized": "sized", "immediate": "fast"}.get(state, "nosuch")
    found = _claim(draw, name, namespace, storage_class)
    found["status"] = {"phase": "Pending"}
    if state == "without class":
        found["spec"]["storageClassName"] = ""
    found["spec"]["resources"]["requests"]["storage"] = draw.one(_SIZES)
    if state in ("static", "late"):
        found["spec"]["accessModes"] = draw.one(_MODES)
        if draw.rarely(4, "claim with selector"):
            found["spec"]["selector"] = {"matchLabels": {"kind": "nvme"}}
        if draw.rarely(8, "block claim"):
            found["spec"]["volumeMode"] = "Block"
    if state in ("late", "sized") and draw.rarely(6, "claim with selected node"):
        found["metadata"]["annotations"] = {"volume.kubernetes.io/selected-node": draw.one(("node-1", "node-2"))}
    return found


def _claim(draw: Draw, name: str, namespace: str, storage_class: str) -> Object:
    return {
        "metadata": draw.metadata(name, namespace),
        "spec": {
            "storageClassName": storage_class,
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "5Gi"}},
        },
    }


def volumes(draw: Draw, cluster: Cluster, namespace: str, shared: list[str], pod: Object) -> list[Object]:
    """Volumes of the pod with this metadata. ``shared``: claims of its namespace so far; new ones are added."""
    found: list[Object] = []
    for number in range(draw.one((1, 1, 2, 3))):
        volume: Object = {"name": f"vol-{number}"}
        if draw.rarely(4, "volume in the pod's own text"):
            volume |= _inline(draw)
        elif draw.rarely(8, "ephemeral volume"):
            volume["ephemeral"] = {"volumeClaimTemplate": {"spec": _template(draw)}}
            if draw.number(0, 1):
                _made(draw, cluster, namespace, pod, volume["name"])
        elif shared and draw.rarely(2, "claim of several pods"):
            volume["persistentVolumeClaim"] = {"claimName": draw.one(shared)}
        else:
            name = claim(draw, cluster, namespace, draw.one(CLAIM_STATES))
            shared.append(name)
            volume["persistentVolumeClaim"] = {"claimName": name}
        found.append(volume)
    return found


def _template(draw: Draw) -> Object:
    return {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": draw.one(("late", "local")),
        "resources": {"requests": {"storage": "1Gi"}},
    }


def _made(draw: Draw, cluster: Cluster, namespace: str, pod: Object, volume: str) -> None:
    """The claim of an ephemeral volume; sometimes somebody else's with its name."""
    found = _claim(draw, f"{pod['name']}-{volume}", namespace, "late")
    found["status"] = {"phase": "Pending"}
    owner = {"apiVersion": "v1", "kind": "Pod", "name": pod["name"], "controller": True, "uid": pod["uid"]}
    if not draw.rarely(4, "ephemeral volume's claim is another's"):
        found["metadata"]["ownerReferences"] = [owner]
    cluster["persistentvolumeclaims"].append(found)


def _inline(draw: Draw) -> Object:
    read_only = bool(draw.number(0, 1))
    source: Object = draw.one(
        (
            {"gcePersistentDisk": {"pdName": "legacy", "readOnly": read_only}},
            {"awsElasticBlockStore": {"volumeID": "vol-legacy", "readOnly": read_only}},
            {"rbd": {"monitors": ["a", "b"], "pool": "p", "image": "i", "readOnly": read_only}},
            {
                "iscsi": {
                    "targetPortal": "1.2.3.4",
                    "iqn": "iqn.2026-01.com.example:disk",
                    "lun": 0,
                    "readOnly": read_only,
                }
            },
            {"csi": {"driver": DISK}},
            {"emptyDir": {}},
        )
    )
    draw.taken.add(f"volume {next(iter(source))}")
    return source
