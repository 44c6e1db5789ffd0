"""Clusters with slices like those recorded on real machines, and the small parts that manifests are made of.

Names, sizes and attributes are as the drivers publish them; identifiers (uuids, PCI addresses) are made up. These are
files as strangers write them, whole and in any version; what a test needs of a cluster is made by ``tests.kit.build``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

Object = dict[str, Any]
V1: Final = "resource.k8s.io/v1"
NAMESPACE: Final = "demo"
CEL: Final = 'device.attributes["{domain}"].{name}'


# --- parts of manifests ---------------------------------------------------------------------------------------------


def request(cls: str, count: int = 1, *selectors: str, name: str = "gpu", **fields: Any) -> Object:
    """A request for devices of a class; ``count`` 0 stands for all of them."""
    amount = {"allocationMode": "All"} if count == 0 else {"allocationMode": "ExactCount", "count": count}
    chosen = {"selectors": [{"cel": {"expression": each}} for each in selectors]} if selectors else {}
    return {"name": name, "exactly": {"deviceClassName": cls, **amount, **chosen, **fields}}


def devices(*requests: Object, **fields: Any) -> Object:
    """The spec of a claim."""
    return {"devices": {"requests": list(requests), **fields}}


def claim(spec: Object, name: str = "claim", namespace: str = NAMESPACE, version: str = V1) -> Object:
    """A ResourceClaim."""
    meta = {"name": name, "namespace": namespace}
    return {"apiVersion": version, "kind": "ResourceClaim", "metadata": meta, "spec": spec}


def template(spec: Object, name: str = "template", namespace: str = NAMESPACE, version: str = V1) -> Object:
    """A ResourceClaimTemplate."""
    meta = {"name": name, "namespace": namespace}
    return {"apiVersion": version, "kind": "ResourceClaimTemplate", "metadata": meta, "spec": {"spec": spec}}


def pod_spec(
    *, templates: Iterable[str] = (), claims: Iterable[str] = (), containers: int = 1, **fields: Any
) -> Object:
    """A pod's spec whose containers all see all of its claims."""
    entries = [{"name": f"t{n}", "resourceClaimTemplateName": name} for n, name in enumerate(templates)]
    entries += [{"name": f"c{n}", "resourceClaimName": name} for n, name in enumerate(claims)]
    seen = [{"name": entry["name"]} for entry in entries]
    body = [
        {"name": f"ctr{n}", "image": "ubuntu:24.04", "command": ["sleep", "infinity"], "resources": {"claims": seen}}
        for n in range(containers)
    ]
    return {"containers": body, "resourceClaims": entries, **fields}


def pod(name: str = "pod0", namespace: str = NAMESPACE, labels: Mapping[str, str] | None = None, **spec: Any) -> Object:
    """A Pod; the words are those of :func:`pod_spec`."""
    meta: Object = {"name": name, "namespace": namespace, **({"labels": dict(labels)} if labels else {})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": pod_spec(**spec)}


def workload(api_version: str, kind: str, spec: Object, name: str = "work", **meta: Any) -> Object:
    """Any other object."""
    metadata = {"name": name, "namespace": NAMESPACE, **meta}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}


# --- parts of clusters ----------------------------------------------------------------------------------------------


def node(name: str, labels: Mapping[str, str] | None = None, **resources: str) -> Object:
    """A node with room for everything."""
    amounts = {"cpu": "96", "memory": "1152Gi", "pods": "110", "ephemeral-storage": "1Ti", **resources}
    meta = {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": meta,
        "status": {"allocatable": amounts, "capacity": amounts},
    }


def attributes(**values: str | int | bool) -> Object:
    """Attributes of a device; a text that begins with ``v:`` is a version. ``__`` in names stands for ``/``."""
    kinds = {bool: "bool", int: "int", str: "string"}
    found: Object = {}
    for name, value in values.items():
        key = name.replace("pcieRoot", "resource.kubernetes.io/pcieRoot")
        version = isinstance(value, str) and value.startswith("v:")
        found[key] = {"version": str(value)[2:]} if version else {kinds[type(value)]: value}
    return found


def slice_(driver: str, node_name: str, found: list[Object], pool: str = "", **spec: Any) -> Object:
    """The only slice of a pool on a node."""
    name = pool or node_name
    body = {"driver": driver, "nodeName": node_name, "pool": {"name": name, "generation": 1, "resourceSliceCount": 1}}
    meta = {"name": f"{name}-{driver}".replace("/", "-")}
    return {"apiVersion": V1, "kind": "ResourceSlice", "metadata": meta, "spec": {**body, "devices": found, **spec}}


def device_class(name: str, driver: str, *more: str, **spec: Any) -> Object:
    """A class of a driver's devices, narrowed by further expressions."""
    expressions = [f"device.driver == '{driver}'", *more]
    selectors = [{"cel": {"expression": " && ".join(expressions)}}]
    return {
        "apiVersion": V1,
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": {"selectors": selectors, **spec},
    }


def namespaces(*names: str, admin: str = "") -> list[Object]:
    """Namespaces; the one called ``admin`` allows admin access."""
    labels = {"resource.kubernetes.io/admin-access": "true"}
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": n, "labels": labels if n == admin else {}}}
        for n in (NAMESPACE, *names)
    ]


def _nodes(names: Iterable[str], make: Callable[[str], list[Object]], *classes: Object) -> list[Object]:
    per_node = [each for name in names for each in (node(name), *make(name))]
    return [*namespaces("other"), *classes, *per_node]


# --- the clusters ---------------------------------------------------------------------------------------------------

GPU_CLASS: Final = device_class("gpu.nvidia.com", "gpu.nvidia.com", "device.attributes['gpu.nvidia.com'].type == 'gpu'")
MIG_CLASS: Final = device_class("mig.nvidia.com", "gpu.nvidia.com", "device.attributes['gpu.nvidia.com'].type == 'mig'")
NIC_CLASS: Final = device_class("dranet", "dra.net")
CHANNEL_CLASS: Final = device_class(
    "compute-domain-default-channel.nvidia.com",
    "compute-domain.nvidia.com",
    "device.attributes['compute-domain.nvidia.com'].type == 'channel'",
    "device.attributes['compute-domain.nvidia.com'].id == 0",
)


def _nvidia(name: str, number: int, product: str, architecture: str, capability: str, memory: str, root: int) -> Object:
    found = attributes(
        architecture=architecture,
        brand="Nvidia",
        cudaComputeCapability=f"v:{capability}",
        cudaDriverVersion="v:13.0.0",
        driverVersion="v:580.95.5",
        pciBusID=f"0000:{number + 16:02x}:00.0",
        pcieRoot=f"pci0000:{root:02x}",
        productName=product,
        type="gpu",
        uuid=f"GPU-{name}-{number}",
    )
    return {"name": f"gpu-{number}", "attributes": found, "capacity": {"memory": {"value": memory}}}


def _nic(number: int, root: int, **more: str | int | bool) -> Object:
    found = attributes(
        ifName=f"rdma{number}", rdma=True, mtu=9000, virtual=False, pcieRoot=f"pci0000:{root:02x}", **more
    )
    domain = {f"dra.net/{key}" if "/" not in key else key: value for key, value in found.items()}
    return {"name": f"pci-0000-{number:02x}-00-0", "attributes": domain}


def p4d() -> list[Object]:
    """AWS p4d.24xlarge, twice: 8 A100 and 4 EFA devices each, two GPUs and one EFA below a root."""

    def make(name: str) -> list[Object]:
        gpus = [_nvidia(name, n, "NVIDIA A100-SXM4-40GB", "Ampere", "8.0.0", "40Gi", 16 + n // 2) for n in range(8)]
        nics = [_nic(n, 16 + n) for n in range(4)]
        return [slice_("gpu.nvidia.com", name, gpus), slice_("dra.net", name, nics)]

    names = ("ip-192-168-153-160.ec2.internal", "ip-192-168-154-8.ec2.internal")
    return _nodes(names, make, GPU_CLASS, MIG_CLASS, NIC_CLASS)


def gb300() -> list[Object]:
    """Azure ND GB300 v6, four nodes: 4 GPUs each, and the channels of compute domains."""

    def make(name: str) -> list[Object]:
        gpus = [_nvidia(name, n, "NVIDIA GB300", "Blackwell", "10.3.0", "284208Mi", n) for n in range(4)]
        channel = {"name": "channel-0", "attributes": attributes(type="channel", id=0)}
        daemon = {"name": "daemon-0", "attributes": attributes(type="daemon", id=0)}
        return [
            slice_("gpu.nvidia.com", name, gpus),
            slice_("compute-domain.nvidia.com", name, [channel, daemon], pool=f"{name}-domains"),
        ]

    names = [f"aks-gb300-45139532-vmss00000{n}" for n in range(4)]
    return _nodes(names, make, GPU_CLASS, MIG_CLASS, CHANNEL_CLASS)


def gb200() -> list[Object]:
    """OCI BM.GPU.GB200.4, two nodes: 4 GPUs and 4 RDMA interfaces, one of each below a root."""

    def make(name: str) -> list[Object]:
        gpus = [_nvidia(name, n, "NVIDIA GB200", "Blackwell", "10.0.0", "189471Mi", n) for n in range(4)]
        return [slice_("gpu.nvidia.com", name, gpus), slice_("dra.net", name, [_nic(n, n) for n in range(4)])]

    return _nodes(("oke-cgb200a-n1", "oke-cgb200a-n2"), make, GPU_CLASS, NIC_CLASS)


def mi300x() -> list[Object]:
    """Azure ND MI300X v5: 8 GPUs of AMD on one node."""

    def make(name: str) -> list[Object]:
        gpus = [
            {
                "name": f"gpu-{n}-{n + 128}",
                "attributes": attributes(
                    type="amdgpu",
                    productName="AMD Instinct MI300X VF",
                    family="AI",
                    driverVersion="v:6.12.12",
                    partitionProfile="spx_nps1",
                    pcieRoot=f"pci{n:04x}:00",
                    deviceID=str(1000 + n),
                ),
                "capacity": {"memory": {"value": "196592Mi"}, "computeUnits": {"value": "304"}},
            }
            for n in range(8)
        ]
        return [slice_("gpu.amd.com", name, gpus)]

    return _nodes(("aks-mi300x-18253-vmss000000",), make, device_class("gpu.amd.com", "gpu.amd.com"))


def mig() -> list[Object]:
    """One A100 node whose GPUs are cut: two GPUs, each with one 3g.20gb, one 2g.10gb and two 1g.5gb."""

    def make(name: str) -> list[Object]:
        found = [
            {
                "name": f"gpu-{gpu}-mig-{profile.replace('.', '-')}-{number}",
                "attributes": attributes(type="mig", profile=profile, parentUUID=f"GPU-{gpu}", parentIndex=gpu),
                "capacity": {"memory": {"value": profile.partition(".")[2].replace("gb", "Gi")}},
            }
            for gpu in range(2)
            for number, profile in enumerate(("3g.20gb", "2g.10gb", "1g.5gb", "1g.5gb"))
        ]
        return [slice_("gpu.nvidia.com", name, found)]

    return _nodes(("gke-a2-highgpu-5f3a2b1c-x9zk",), make, GPU_CLASS, MIG_CLASS)


def example() -> list[Object]:
    """The example driver's profile gpu: two workers with 8 GPUs each."""

    def make(name: str) -> list[Object]:
        gpus = [
            {
                "name": f"gpu-{n}",
                "attributes": attributes(
                    index=n, uuid=f"gpu-{name}-{n}", model="LATEST-GPU-MODEL", driverVersion="v:1.0.0"
                ),
                "capacity": {"memory": {"value": "80Gi"}},
            }
            for n in range(8)
        ]
        return [slice_("gpu.example.com", name, gpus)]

    names = ("dra-example-driver-cluster-worker", "dra-example-driver-cluster-worker2")
    return _nodes(
        names, make, device_class("gpu.example.com", "gpu.example.com", extendedResourceName="example.com/gpu")
    )


def example_partitionable() -> list[Object]:
    """The example driver with partitions: 2 GPUs of 80Gi on one worker, each whole or as up to four partitions."""
    counters = [
        {"name": f"gpu-{n}-counters", "counters": {"memory": {"value": "80Gi"}, "compute": {"value": "100"}}}
        for n in range(2)
    ]

    def device(gpu: int, part: int | None) -> Object:
        share = ("80Gi", "100") if part is None else ("20Gi", "25")
        drawn = {"memory": {"value": share[0]}, "compute": {"value": share[1]}}
        name = f"gpu-{gpu}" if part is None else f"gpu-{gpu}-partition-{part}"
        kind = "full" if part is None else "partition"
        return {
            "name": name,
            "attributes": attributes(type=kind, index=gpu),
            "capacity": {"memory": {"value": share[0]}},
            "consumesCounters": [{"counterSet": f"gpu-{gpu}-counters", "counters": drawn}],
        }

    name, driver = "dra-example-driver-cluster-worker", "gpu.example.com"
    pool = {"name": name, "generation": 1, "resourceSliceCount": 2}
    shared = {"driver": driver, "nodeName": name, "pool": pool, "sharedCounters": counters}
    found = [device(gpu, part) for gpu in range(2) for part in (None, 0, 1, 2, 3)]
    parts = {"driver": driver, "nodeName": name, "pool": pool, "devices": found}
    slices = [
        {"apiVersion": V1, "kind": "ResourceSlice", "metadata": {"name": f"{name}-{n}"}, "spec": spec}
        for n, spec in enumerate((shared, parts))
    ]
    return [*namespaces(), device_class(driver, driver), node(name), *slices]


def example_shared() -> list[Object]:
    """The example driver with one shareable GPU of 80Gi and 100 compute per worker, and its profile net."""

    def make(name: str) -> list[Object]:
        gpu = {
            "name": "gpu-0",
            "allowMultipleAllocations": True,
            "attributes": attributes(model="LATEST-GPU-MODEL"),
            "capacity": {"memory": {"value": "80Gi"}, "compute": {"value": "100"}},
        }
        nic = {"name": "eth1", "allowMultipleAllocations": True, "capacity": {"bandwidth": {"value": "10G"}}}
        return [slice_("gpu.example.com", name, [gpu]), slice_("net.example.com", name, [nic])]

    classes = (device_class("gpu.example.com", "gpu.example.com"), device_class("net.example.com", "net.example.com"))
    return _nodes(("dra-example-driver-cluster-worker",), make, *classes)


def example_binding() -> list[Object]:
    """The example driver's GPUs that have to be attached first (binding conditions), some already in use."""
    prepared = "gpu.example.com/attached"

    def make(name: str) -> list[Object]:
        fabric = [
            {
                "name": f"gpu-{n}",
                "attributes": attributes(index=n, model="LATEST-GPU-MODEL"),
                "bindsToNode": True,
                "bindingConditions": [prepared],
                "bindingFailureConditions": ["gpu.example.com/failed"],
            }
            for n in range(4)
        ]
        return [slice_("gpu.example.com", name, fabric)]

    names = ("dra-example-driver-cluster-worker", "dra-example-driver-cluster-worker2")
    return _nodes(names, make, device_class("gpu.example.com", "gpu.example.com"))


def intel() -> list[Object]:
    """A node with two Data Center GPUs and eight Gaudi accelerators, and QAT functions."""

    def make(name: str) -> list[Object]:
        gpus = [
            {
                "name": f"0000-{n:02x}-00-0-0x56c0",
                "attributes": attributes(model="Flex 170", family="Data Center Flex", sriov=True, health="Healthy"),
                "capacity": {"memory": {"value": "16256Mi"}, "millicores": {"value": "1k"}},
            }
            for n in range(2)
        ]
        gaudis = [
            {
                "name": f"0000-{n:02x}-00-0-0x1020",
                "attributes": attributes(model="Gaudi2", pciRoot=f"{n // 4:02d}", serial=f"AN{n}", healthy=True),
            }
            for n in range(8)
        ]
        qat = [{"name": f"qatvf-0000-aa-00-{n}", "attributes": attributes(services="sym;asym")} for n in range(4)]
        return [
            slice_("gpu.intel.com", name, gpus),
            slice_("gaudi.intel.com", name, gaudis),
            slice_("qat.intel.com", name, qat),
        ]

    names = ("gpu.intel.com", "gaudi.intel.com", "qat.intel.com")
    return _nodes(("icelake-07.lab",), make, *(device_class(each, each) for each in names))


def network() -> list[Object]:
    """SR-IOV virtual functions of two physical ones, a HAMi GPU that is shared by capacity, and CPUs as devices."""

    def make(name: str) -> list[Object]:
        functions = [
            {
                "name": f"0000-3b-02-{n}",
                "attributes": attributes(
                    vendor="15b3", pfName=f"eth{n // 4}", resourceName=f"pool{n // 4}", vfID=n % 4
                ),
            }
            for n in range(8)
        ]
        hami = {
            "name": "hami-gpu-0",
            "allowMultipleAllocations": True,
            "attributes": attributes(brand="Nvidia", type="hami-gpu", productName="Tesla P4"),
            "capacity": {"cores": {"value": "100"}, "memory": {"value": "7680Mi"}},
        }
        cpus = [
            {"name": f"cpudev{n:03d}", "attributes": attributes(cpuID=n, numaNodeID=n // 8, coreType="standard")}
            for n in range(16)
        ]
        return [
            slice_("sriovnetwork.k8snetworkplumbingwg.io", name, functions),
            slice_("hami-core-gpu.project-hami.io", name, [hami]),
            slice_("dra.cpu", name, cpus),
        ]

    classes = (
        device_class("sriovnetwork.k8snetworkplumbingwg.io", "sriovnetwork.k8snetworkplumbingwg.io"),
        device_class("hami-gpu.project-hami.io", "hami-core-gpu.project-hami.io"),
        device_class("dra.cpu", "dra.cpu"),
    )
    return _nodes(("worker-edge-1",), make, *classes)


CLUSTERS: Final[Mapping[str, Callable[[], list[Object]]]] = {
    "p4d": p4d,
    "gb300": gb300,
    "gb200": gb200,
    "mi300x": mi300x,
    "mig": mig,
    "example": example,
    "example-partitionable": example_partitionable,
    "example-shared": example_shared,
    "example-binding": example_binding,
    "intel": intel,
    "network": network,
}
