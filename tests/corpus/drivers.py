"""Cases after the examples and tests of drivers: NVIDIA, dranet, AMD, Intel, SR-IOV, HAMi, CPU, the example driver."""

from __future__ import annotations

from typing import Any, Final

from tests.corpus.case import Cases, Confirmed
from tests.corpus.shapes import V1, Object, claim, devices, pod, request, template, workload

HAND: Final = Confirmed.HAND
SERVER: Final = Confirmed.SERVER
NVIDIA: Final = "gpu.nvidia.com"
EXAMPLE: Final = "gpu.example.com"
#: Cluster -> class, GPUs per node, nodes.
GPUS: Final = {
    "p4d": (NVIDIA, 8, 2),
    "gb300": (NVIDIA, 4, 4),
    "gb200": (NVIDIA, 4, 2),
    "mi300x": ("gpu.amd.com", 8, 1),
    "example": (EXAMPLE, 8, 2),
}


def add_all(cases: Cases) -> None:
    """All of them."""
    for cluster in GPUS:
        _sizes(cases, cluster)
    _nvidia(cases)
    _dranet(cases)
    _amd(cases)
    _intel(cases)
    _network(cases)
    _example(cases)
    _binding(cases)
    _partitions(cases)
    _sharing(cases)
    _taints(cases)


def _deployment(replicas: int, **spec: Any) -> Object:
    labels = {"app": "work"}
    body = pod(**spec)["spec"]
    template_ = {"metadata": {"labels": labels}, "spec": body}
    return workload(
        "apps/v1", "Deployment", {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template_}
    )


def _sizes(cases: Cases, cluster: str) -> None:
    """One GPU, a node's worth, one more, all of a node, all GPUs in single pods and one more than there are."""
    cls, each, nodes = GPUS[cluster]
    project = {"mi300x": "k8s-gpu-dra-driver", "example": "dra-example-driver"}.get(cluster, "dra-driver-nvidia-gpu")

    def add(name: str, spec: Object, copies: int, wanted: int = 1) -> None:
        body = pod(templates=["template"]) if wanted == 1 else _deployment(wanted, templates=["template"])
        fits = "Yes" if copies == wanted else "No"
        cases.add(project, f"{name} on {cluster}", cluster, template(spec), body, fits=fits, copies=(copies,))

    add("one GPU", devices(request(cls)), 1)
    add("all GPUs of a node by number", devices(request(cls, each)), 1)
    add("one GPU more than a node has", devices(request(cls, each + 1)), 0)
    add("all GPUs by mode", devices(request(cls, 0)), 1)
    add("as many pods as GPUs", devices(request(cls)), each * nodes, each * nodes)
    add("one pod more than GPUs", devices(request(cls)), each * nodes, each * nodes + 1)
    two = devices(request(cls, each // 2, name="left"), request(cls, each // 2, name="right"))
    add("two requests that fill a node", two, 1)
    add("a product that is not there", devices(request(cls, 1, 'device.driver == "nobody.example.com"')), 0)


def _nvidia(cases: Cases) -> None:
    project, at = "dra-driver-nvidia-gpu", "device.attributes['gpu.nvidia.com']"

    def add(name: str, cluster: str, *objects: Object, fits: str, **fields: Any) -> None:
        cases.add(project, name, cluster, *objects, fits=fits, **fields)

    one = devices(request(NVIDIA))
    add(
        "two pods with a GPU each",
        "p4d",
        template(one),
        *(pod(f"pod{n}", templates=["template"]) for n in (1, 2)),
        fits="Yes",
        copies=(1, 1),
    )
    add(
        "two containers share a GPU",
        "p4d",
        template(one),
        pod(templates=["template"], containers=2),
        fits="Yes",
        copies=(1,),
    )
    add(
        "two pods share a claim",
        "p4d",
        claim(one),
        *(pod(f"pod{n}", claims=["claim"]) for n in (1, 2)),
        fits="Yes",
        copies=(1, 1),
    )
    add(
        "by index",
        "p4d",
        template(devices(request(NVIDIA, 1, f"{at}.productName.lowerAscii().matches('^.*a100.*$')"))),
        pod(templates=["template"]),
        fits="Yes",
        copies=(1,),
    )
    add(
        "by compute capability",
        "gb300",
        template(devices(request(NVIDIA, 2, f"{at}.cudaComputeCapability.isGreaterThan(semver('9.0.0'))"))),
        pod(templates=["template"]),
        fits="Yes",
        copies=(1,),
    )
    add(
        "by a compute capability that is too new",
        "p4d",
        template(devices(request(NVIDIA, 1, f"{at}.cudaComputeCapability.isGreaterThan(semver('9.0.0'))"))),
        pod(templates=["template"]),
        fits="No",
        copies=(0,),
    )
    enough = "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('{}')) >= 0"
    add(
        "by memory",
        "gb200",
        template(devices(request(NVIDIA, 4, enough.format("180Gi")))),
        pod(templates=["template"]),
        fits="Yes",
        copies=(1,),
    )
    add(
        "by more memory than there is",
        "gb200",
        template(devices(request(NVIDIA, 1, enough.format("192Gi")))),
        pod(templates=["template"]),
        fits="No",
        copies=(0,),
    )
    add(
        "an attribute that no GPU has",
        "p4d",
        template(devices(request(NVIDIA, 1, f"{at}.nvlinkDomain == 'x'"))),
        pod(templates=["template"]),
        fits="No",
        copies=(0,),
    )
    profiles = ["1g.5gb", "1g.5gb", "2g.10gb", "3g.20gb"]
    requests = [request("mig.nvidia.com", 1, f"{at}.profile == '{p}'", name=f"mig{n}") for n, p in enumerate(profiles)]
    same = [{"requests": [], "matchAttribute": "gpu.nvidia.com/parentUUID"}]
    add(
        "four partitions of one GPU",
        "mig",
        template(devices(*requests, constraints=same)),
        _deployment(2, templates=["template"], containers=4),
        fits="Yes",
        copies=(2,),
    )
    add(
        "four partitions of one GPU, once too often",
        "mig",
        template(devices(*requests, constraints=same)),
        _deployment(3, templates=["template"], containers=4),
        fits="No",
        copies=(2,),
    )
    add("whole GPUs where all are cut", "mig", template(one), pod(templates=["template"]), fits="No", copies=(0,))
    sharing = {
        "apiVersion": "resource.nvidia.com/v1beta1",
        "kind": "GpuConfig",
        "sharing": {"strategy": "TimeSlicing", "timeSlicingConfig": {"interval": "Long"}},
    }
    config = [{"requests": ["gpu"], "opaque": {"driver": NVIDIA, "parameters": sharing}}]
    add(
        "time slicing is no matter of the scheduler",
        "p4d",
        claim(devices(request(NVIDIA), config=config)),
        _deployment(3, claims=["claim"]),
        fits="Yes",
        copies=(3,),
    )
    add(
        "a class that was never made",
        "p4d",
        template(devices(request("vfio.gpu.nvidia.com"))),
        pod(templates=["template"]),
        fits="No",
        copies=(0,),
    )
    ten = [
        {
            "name": "best",
            "firstAvailable": [
                {
                    "name": "h100",
                    "deviceClassName": NVIDIA,
                    "selectors": [{"cel": {"expression": f"{at}.productName.contains('H100')"}}],
                },
                {"name": "a100", "deviceClassName": NVIDIA, "count": 2},
            ],
        }
    ]
    add(
        "alternatives, the second of which is there",
        "p4d",
        template({"devices": {"requests": ten}}),
        pod(templates=["template"]),
        fits="Yes",
        copies=(1,),
    )
    domain = workload(
        "resource.nvidia.com/v1beta1",
        "ComputeDomain",
        {"numNodes": 4, "channel": {"resourceClaimTemplate": {"name": "channel"}}},
        name="domain",
    )
    add(
        "a compute domain with one pod per node",
        "gb300",
        domain,
        template(devices(request(NVIDIA, 4))),
        _deployment(4, templates=["channel", "template"]),
        fits="Yes",
        copies=(4,),
    )
    every = {"numNodes": 2, "channel": {"allocationMode": "All", "resourceClaimTemplate": {"name": "channel"}}}
    add(
        "a compute domain with all channels of a node",
        "gb300",
        workload("resource.nvidia.com/v1beta1", "ComputeDomain", every, name="domain"),
        _deployment(2, templates=["channel"]),
        fits="Yes",
        copies=(2,),
    )
    add(
        "a compute domain with more pods than channels",
        "gb300",
        domain,
        _deployment(5, templates=["channel"]),
        fits="No",
        copies=(4,),
    )
    add("a compute domain without users", "gb300", domain, fits="Yes", copies=(1,))
    root = [{"requests": ["gpu", "nic"], "matchAttribute": "resource.kubernetes.io/pcieRoot"}]
    both = devices(request(NVIDIA), request("dranet", name="nic"), constraints=root)
    add(
        "a GPU and an EFA below one root",
        "p4d",
        template(both),
        _deployment(8, templates=["template"]),
        fits="Yes",
        copies=(8,),
    )
    add(
        "a GPU and an EFA below one root, once too often",
        "p4d",
        template(both),
        _deployment(9, templates=["template"]),
        fits="No",
        copies=(8,),
    )
    old = {"requests": [{"name": "gpu", "deviceClassName": NVIDIA}]}
    add(
        "v1beta1, as most examples still are",
        "p4d",
        template({"devices": old}, version="resource.k8s.io/v1beta1"),
        pod(templates=["template"]),
        fits="Yes",
        copies=(1,),
    )
    classic = {
        "resourceClassName": NVIDIA,
        "parametersRef": {"apiGroup": "gpu.resource.nvidia.com", "kind": "X", "name": "y"},
    }
    add(
        "v1alpha2, which is gone",
        "p4d",
        template(classic, version="resource.k8s.io/v1alpha2"),
        pod(templates=["template"]),
        fits="No",
        copies=(0,),
        refused=("template",),
        confirmed=SERVER,
    )


def _dranet(cases: Cases) -> None:
    rdma = "device.attributes['dra.net'].rdma"

    def add(name: str, cluster: str, spec: Object, fits: str, copies: int, **fields: Any) -> None:
        cases.add(
            "dranet", name, cluster, template(spec), pod(templates=["template"]), fits=fits, copies=(copies,), **fields
        )

    add("an RDMA interface", "gb200", devices(request("dranet", 1, rdma, name="nic")), "Yes", 1)
    add("four RDMA interfaces", "gb200", devices(request("dranet", 4, rdma, name="nic")), "Yes", 1)
    add("five RDMA interfaces", "p4d", devices(request("dranet", 5, rdma, name="nic")), "No", 0)
    add(
        "by the name of the interface",
        "gb200",
        devices(request("dranet", 1, "device.attributes['dra.net'].ifName == 'rdma2'", name="nic")),
        "Yes",
        1,
    )
    add(
        "virtual interfaces, of which there are none",
        "gb200",
        devices(request("dranet", 1, "device.attributes['dra.net'].virtual == true", name="nic")),
        "No",
        0,
    )
    root = [{"matchAttribute": "resource.kubernetes.io/pcieRoot"}]
    four = devices(request(NVIDIA, 2), request("dranet", 1, name="nic"), constraints=root)
    add("two GPUs and an interface below one root", "p4d", four, "Yes", 1)
    add("two GPUs and an interface below one root that holds one GPU", "gb200", four, "No", 0)
    config = [{"opaque": {"driver": "dra.net", "parameters": {"interface": {"name": "eth99", "mtu": 1500}}}}]
    add(
        "with a configuration of the interface",
        "gb200",
        devices(request("dranet", name="nic"), config=config),
        "Yes",
        1,
    )


def _amd(cases: Cases) -> None:
    at = "device.attributes['gpu.amd.com']"

    def add(name: str, spec: Object, fits: str, copies: int) -> None:
        cases.add(
            "k8s-gpu-dra-driver",
            name,
            "mi300x",
            template(spec),
            pod(templates=["template"]),
            fits=fits,
            copies=(copies,),
        )

    add(
        "whole GPUs of one profile",
        devices(request("gpu.amd.com", 8, f"{at}.partitionProfile == 'spx_nps1'")),
        "Yes",
        1,
    )
    add(
        "a partition profile that is not set up",
        devices(request("gpu.amd.com", 1, f"{at}.partitionProfile == 'cpx_nps4'")),
        "No",
        0,
    )
    add(
        "by compute units",
        devices(
            request("gpu.amd.com", 1, "device.capacity['gpu.amd.com'].computeUnits.isGreaterThan(quantity('300'))")
        ),
        "Yes",
        1,
    )
    add(
        "distinct roots",
        devices(request("gpu.amd.com", 4), constraints=[{"distinctAttribute": "resource.kubernetes.io/pcieRoot"}]),
        "Yes",
        1,
    )
    add(
        "distinct types of equal devices",
        devices(request("gpu.amd.com", 2), constraints=[{"distinctAttribute": "gpu.amd.com/type"}]),
        "No",
        0,
    )


def _intel(cases: Cases) -> None:
    def add(name: str, spec: Object, fits: str, copies: int, wanted: int = 1) -> None:
        body = pod(templates=["template"]) if wanted == 1 else _deployment(wanted, templates=["template"])
        cases.add("intel-resource-drivers", name, "intel", template(spec), body, fits=fits, copies=(copies,))

    gpu, gaudi, qat = "gpu.intel.com", "gaudi.intel.com", "qat.intel.com"
    add("both GPUs", devices(request(gpu, 2)), "Yes", 1)
    add("a GPU by model", devices(request(gpu, 1, "device.attributes['gpu.intel.com'].model == 'Flex 170'")), "Yes", 1)
    add(
        "a GPU by a family that is not there",
        devices(request(gpu, 1, "device.attributes['gpu.intel.com'].family == 'Max Series'")),
        "No",
        0,
    )
    add("healthy accelerators", devices(request(gaudi, 8, "device.attributes['gaudi.intel.com'].healthy")), "Yes", 1)
    root = [{"matchAttribute": "gaudi.intel.com/pciRoot"}]
    add("four accelerators below one root", devices(request(gaudi, 4), constraints=root), "Yes", 1)
    add("five accelerators below one root", devices(request(gaudi, 5), constraints=root), "No", 0)
    add("four accelerators below one root, twice", devices(request(gaudi, 4), constraints=root), "Yes", 2, 2)
    add(
        "functions by service",
        devices(request(qat, 4, "device.attributes['qat.intel.com'].services.contains('sym')")),
        "Yes",
        1,
    )
    add(
        "a GPU, accelerators and a function",
        devices(request(gpu), request(gaudi, 2, name="hl"), request(qat, name="qat")),
        "Yes",
        2,
        2,
    )
    memory = "device.capacity['gpu.intel.com'].memory.compareTo(quantity('32Gi')) >= 0"
    add("more memory than a GPU has", devices(request(gpu, 1, memory)), "No", 0)


def _network(cases: Cases) -> None:
    def add(project: str, name: str, spec: Object, fits: str, copies: int, wanted: int = 1) -> None:
        body = pod(templates=["template"]) if wanted == 1 else _deployment(wanted, templates=["template"])
        cases.add(project, name, "network", template(spec), body, fits=fits, copies=(copies,))

    sriov = "sriovnetwork.k8snetworkplumbingwg.io"
    add("dra-driver-sriov", "a virtual function", devices(request(sriov, name="vf")), "Yes", 1)
    add(
        "dra-driver-sriov",
        "two functions of two ports",
        devices(request(sriov, 2, name="vf"), constraints=[{"distinctAttribute": f"{sriov}/pfName"}]),
        "Yes",
        1,
    )
    add(
        "dra-driver-sriov",
        "five functions of one port",
        devices(request(sriov, 5, f"device.attributes['{sriov}'].pfName == 'eth0'", name="vf")),
        "No",
        0,
    )
    add("dra-driver-sriov", "functions for nine pods", devices(request(sriov, name="vf")), "No", 8, 9)
    hami = "hami-gpu.project-hami.io"
    share = {"capacity": {"requests": {"cores": "30", "memory": "2Gi"}}}
    add("HAMi k8s-dra-driver", "three shares of a GPU", devices(request(hami, **share)), "Yes", 3, 3)
    add("HAMi k8s-dra-driver", "four shares of a GPU", devices(request(hami, **share)), "No", 3, 4)
    more = {"capacity": {"requests": {"memory": "8Gi"}}}
    add("HAMi k8s-dra-driver", "more memory than the GPU has", devices(request(hami, **more)), "No", 0)
    add(
        "dra-driver-cpu",
        "eight processors of one NUMA node",
        devices(request("dra.cpu", 8, name="cpus"), constraints=[{"matchAttribute": "dra.cpu/numaNodeID"}]),
        "Yes",
        2,
        2,
    )
    add(
        "dra-driver-cpu",
        "nine processors of one NUMA node",
        devices(request("dra.cpu", 9, name="cpus"), constraints=[{"matchAttribute": "dra.cpu/numaNodeID"}]),
        "No",
        0,
    )
    add("dra-driver-cpu", "all processors", devices(request("dra.cpu", 0, name="cpus")), "Yes", 1)


def _example(cases: Cases) -> None:
    project, at = "dra-example-driver", "device.attributes['gpu.example.com']"

    def add(name: str, *objects: Object, fits: str, **fields: Any) -> None:
        cases.add(project, name, "example", *objects, fits=fits, **fields)

    two = devices(request(EXAMPLE, name="gpu-0"), request(EXAMPLE, name="gpu-1"))
    add("two requests in one claim", template(two), pod(templates=["template"]), fits="Yes", copies=(1,))
    add(
        "a claim across containers",
        claim(devices(request(EXAMPLE))),
        pod(claims=["claim"], containers=3),
        fits="Yes",
        copies=(1,),
    )
    add(
        "a claim across pods",
        claim(devices(request(EXAMPLE))),
        _deployment(4, claims=["claim"]),
        fits="Yes",
        copies=(4,),
    )
    init = pod(templates=["template"])
    init["spec"]["initContainers"] = [{**init["spec"]["containers"][0], "name": "init"}]
    add("an init container shares the GPU", template(devices(request(EXAMPLE))), init, fits="Yes", copies=(1,))
    add(
        "by index",
        template(devices(request(EXAMPLE, 1, f"{at}.index == 7"))),
        _deployment(2, templates=["template"]),
        fits="Yes",
        copies=(2,),
    )
    add(
        "by index, once too often",
        template(devices(request(EXAMPLE, 1, f"{at}.index == 7"))),
        _deployment(3, templates=["template"]),
        fits="No",
        copies=(2,),
    )
    add(
        "by version",
        template(devices(request(EXAMPLE, 1, f"{at}.driverVersion.compareTo(semver('1.0.0')) >= 0"))),
        pod(templates=["template"]),
        fits="Yes",
        copies=(1,),
    )
    extended = pod()
    extended["spec"]["containers"][0]["resources"] = {
        "limits": {"example.com/gpu": "2"},
        "requests": {"example.com/gpu": "2"},
    }
    extended["spec"].pop("resourceClaims")
    add("an extended resource", extended, fits="Yes", copies=(1,))
    admin = devices(request(EXAMPLE, 0, adminAccess=True))
    add(
        "admin access where it is not allowed",
        template(admin),
        pod(templates=["template"]),
        fits="No",
        copies=(1,),
        refused=("template",),
        confirmed=SERVER,
    )
    alternatives = [
        {
            "name": "any",
            "firstAvailable": [
                {"name": "many", "deviceClassName": EXAMPLE, "count": 9},
                {"name": "few", "deviceClassName": EXAMPLE, "count": 8},
            ],
        }
    ]
    add(
        "alternatives by number",
        template({"devices": {"requests": alternatives}}),
        _deployment(2, templates=["template"]),
        fits="Yes",
        copies=(2,),
    )
    add("a claim of its own, unused", claim(devices(request(EXAMPLE, 3))), fits="Yes", copies=(1,))
    catalogue = [template(devices(request(EXAMPLE, 8)), f"t{n}") for n in range(5)]
    add("five templates that each fill a node", *catalogue, fits="Yes", copies=(1, 1, 1, 1, 1))
    gated = pod(templates=["template"], schedulingGates=[{"name": "example.com/wait"}])
    add("a gated pod", template(devices(request(EXAMPLE))), gated, fits="No", copies=(0,))
    away = pod(templates=["template"], nodeSelector={"pool": "gpu"})
    add("a node selector that matches nothing", template(devices(request(EXAMPLE))), away, fits="No", copies=(0,))


def _binding(cases: Cases) -> None:
    """Devices that are attached to a node after the scheduler has chosen them."""

    def add(name: str, count: int, wanted: int, fits: str, copies: int) -> None:
        spec = template(devices(request(EXAMPLE, count)))
        body = _deployment(wanted, templates=["template"])
        cases.add("dra-example-driver", name, "example-binding", spec, body, fits=fits, copies=(copies,))

    add("a GPU that is attached first", 1, 1, "Yes", 1)
    add("all GPUs that are attached first", 4, 2, "Yes", 2)
    add("more GPUs than can be attached", 4, 3, "No", 2)


def _partitions(cases: Cases) -> None:
    at = "device.attributes['gpu.example.com']"

    def add(name: str, spec: Object, fits: str, copies: int, wanted: int = 1) -> None:
        body = pod(templates=["template"]) if wanted == 1 else _deployment(wanted, templates=["template"])
        cases.add(
            "dra-example-driver", name, "example-partitionable", template(spec), body, fits=fits, copies=(copies,)
        )

    part, full = f"{at}.type == 'partition'", f"{at}.type == 'full'"
    add("a partition", devices(request(EXAMPLE, 1, part)), "Yes", 1)
    add("all partitions of both GPUs", devices(request(EXAMPLE, 1, part)), "Yes", 8, 8)
    add("a ninth partition", devices(request(EXAMPLE, 1, part)), "No", 8, 9)
    add("both whole GPUs", devices(request(EXAMPLE, 2, full)), "Yes", 1)
    mixed = devices(request(EXAMPLE, 1, full, name="full"), request(EXAMPLE, 4, part, name="parts"))
    add("one whole GPU and the partitions of the other", mixed, "Yes", 1)
    more = devices(request(EXAMPLE, 1, full, name="full"), request(EXAMPLE, 5, part, name="parts"))
    add("one whole GPU and five partitions", more, "No", 0)


def _sharing(cases: Cases) -> None:
    def add(name: str, spec: Object, fits: str, copies: int, wanted: int) -> None:
        cases.add(
            "dra-example-driver",
            name,
            "example-shared",
            template(spec),
            _deployment(wanted, templates=["template"]),
            fits=fits,
            copies=(copies,),
        )

    share = {"capacity": {"requests": {"memory": "16Gi", "compute": "20"}}}
    add("five shares of a GPU", devices(request(EXAMPLE, **share)), "Yes", 5, 5)
    add("six shares of a GPU", devices(request(EXAMPLE, **share)), "No", 5, 6)
    add("a whole GPU where nothing is said", devices(request(EXAMPLE)), "No", 1, 2)
    nic = {"capacity": {"requests": {"bandwidth": "3G"}}}
    add("three shares of an interface", devices(request("net.example.com", name="nic", **nic)), "Yes", 3, 3)
    add("four shares of an interface", devices(request("net.example.com", name="nic", **nic)), "No", 3, 4)


def _taints(cases: Cases) -> None:
    rule = {"apiVersion": V1, "kind": "DeviceTaintRule", "metadata": {"name": "maintenance"}}
    whole = {"driver": EXAMPLE}
    effect = {"key": "example.com/unhealthy", "value": "true", "effect": "NoSchedule"}

    def add(name: str, selector: Object, taint: Object, spec: Object, fits: str) -> None:
        tainted = {**rule, "spec": {"deviceSelector": selector, "taint": taint}}
        cases.add(
            "dra-example-driver",
            name,
            "example",
            tainted,
            template(spec),
            pod(templates=["template"]),
            fits=fits,
            copies=(1 if fits == "Yes" else 0,),
        )

    add("all devices tainted", whole, effect, devices(request(EXAMPLE)), "No")
    add(
        "one pool tainted",
        {**whole, "pool": "dra-example-driver-cluster-worker"},
        effect,
        devices(request(EXAMPLE, 8)),
        "Yes",
    )
    tolerated = [{"key": "example.com/unhealthy", "operator": "Exists", "effect": "NoSchedule"}]
    add("all devices tainted, tolerated", whole, effect, devices(request(EXAMPLE, tolerations=tolerated)), "Yes")
    add(
        "all devices tainted, another effect tolerated",
        whole,
        {**effect, "effect": "NoExecute"},
        devices(request(EXAMPLE, tolerations=tolerated)),
        "No",
    )
    add("a taint without effect", whole, {**effect, "effect": "None"}, devices(request(EXAMPLE)), "Yes")
