"""Cases after Kubernetes itself and what stands around it: e2e tests, the website, Kueue, autoscalers, mistakes."""

from __future__ import annotations

from typing import Any, Final

from tests.corpus.case import Cases, Confirmed
from tests.corpus.shapes import (
    V1,
    Object,
    attributes,
    claim,
    device_class,
    devices,
    node,
    pod,
    request,
    slice_,
    template,
    workload,
)

EXAMPLE: Final = "gpu.example.com"
SERVER: Final = Confirmed.SERVER
_ONE: Final = template(devices(request(EXAMPLE)))


def add_all(cases: Cases) -> None:
    """All of them."""
    _scheduler_perf(cases)
    _what_if(cases)
    _kueue(cases)
    _website(cases)
    _refused(cases)
    _mistakes(cases)


def _scheduler_perf(cases: Cases) -> None:
    def add(name: str, cluster: str, *objects: Object, fits: str, copies: tuple[int, ...]) -> None:
        cases.add("kubernetes", name, cluster, *objects, fits=fits, copies=copies)

    cpus = pod("busy")
    cpus["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "97"}}
    cpus["spec"].pop("resourceClaims")
    add("a pod that needs more processors than a node has", "example", cpus, fits="No", copies=(0,))
    both = pod(templates=["template"])
    both["spec"]["containers"][0]["resources"]["requests"] = {"cpu": "95"}
    add("devices and processors", "example", _ONE, both, fits="Yes", copies=(1,))
    spread = pod(
        templates=["template"],
        labels={"app": "s"},
        topologySpreadConstraints=[
            {
                "maxSkew": 1,
                "topologyKey": "kubernetes.io/hostname",
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": "s"}},
            }
        ],
    )
    add("spread over nodes", "example", _ONE, spread, fits="Yes", copies=(1,))
    apart = pod(
        templates=["template"],
        labels={"app": "s"},
        affinity={
            "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "s"}}}
                ]
            }
        },
    )
    three = [{**apart, "metadata": {**apart["metadata"], "name": f"pod{n}"}} for n in range(3)]
    add("three pods apart on two nodes", "example", _ONE, *three, fits="No", copies=(1, 1, 0))
    many = devices(*(request(EXAMPLE, 1, name=f"r{n}") for n in range(8)))
    add("eight requests", "example", template(many), pod(templates=["template"]), fits="Yes", copies=(1,))
    guarded = '"nosuch" in device.attributes["gpu.example.com"] && device.attributes["gpu.example.com"].nosuch == "x"'
    add(
        "a guarded attribute that no device has",
        "example",
        template(devices(request(EXAMPLE, 1, guarded))),
        pod(templates=["template"]),
        fits="No",
        copies=(0,),
    )
    add(
        "two templates in one pod",
        "example",
        template(devices(request(EXAMPLE, 4)), "a"),
        template(devices(request(EXAMPLE, 4)), "b"),
        pod(templates=["a", "b"]),
        fits="Yes",
        copies=(1,),
    )
    add(
        "two templates that no node has room for",
        "example",
        template(devices(request(EXAMPLE, 4)), "a"),
        template(devices(request(EXAMPLE, 5)), "b"),
        pod(templates=["a", "b"]),
        fits="No",
        copies=(0,),
    )
    add("a claim that nobody made", "example", pod(claims=["nosuch"]), fits="No", copies=(0,))
    add(
        "a claim that is not there beside one that is",
        "example",
        claim(devices(request(EXAMPLE))),
        pod(claims=["claim", "nosuch"]),
        fits="No",
        copies=(0,),
    )
    never = pod(templates=["template"], tolerations=[{"operator": "Exists"}], hostNetwork=True)
    add("tolerations and the network of the host", "example", _ONE, never, fits="Yes", copies=(1,))


def _what_if(cases: Cases) -> None:
    new = "dra-example-driver-cluster-worker3"
    gpus = [{"name": f"gpu-{n}", "attributes": attributes(index=n)} for n in range(8)]
    job = workload(
        "batch/v1",
        "Job",
        {"parallelism": 24, "template": {"spec": {**pod(templates=["template"])["spec"], "restartPolicy": "Never"}}},
    )

    def add(name: str, *objects: Object, fits: str, copies: tuple[int, ...]) -> None:
        cases.add("karpenter", name, "example", *objects, fits=fits, copies=copies)

    add("more pods than devices", _ONE, job, fits="No", copies=(16,))
    add("a node that is not there yet", _ONE, job, node(new), slice_(EXAMPLE, new, gpus), fits="Yes", copies=(24,))
    add("slices without their node", _ONE, job, slice_(EXAMPLE, new, gpus), fits="No", copies=(16,))
    add("a node without slices", _ONE, job, node(new), fits="No", copies=(16,))
    half = slice_(EXAMPLE, new, gpus)
    half["spec"]["pool"]["resourceSliceCount"] = 2
    add("a pool that is not complete", _ONE, job, node(new), half, fits="No", copies=(16,))
    narrow = device_class(EXAMPLE, EXAMPLE, "device.attributes['gpu.example.com'].index < 4")
    add(
        "a class that becomes narrower",
        _ONE,
        narrow,
        {**job, "spec": {**job["spec"], "parallelism": 9}},
        fits="No",
        copies=(8,),
    )
    other = device_class("other", EXAMPLE)
    add(
        "a class of one's own",
        other,
        template(devices(request("other", 8))),
        pod(templates=["template"]),
        fits="Yes",
        copies=(1,),
    )


def _kueue(cases: Cases) -> None:
    queue = {"kueue.x-k8s.io/queue-name": "user-queue"}
    body = {**pod(templates=["template"])["spec"], "restartPolicy": "Never"}

    def add(name: str, *objects: Object, fits: str, copies: tuple[int, ...]) -> None:
        cases.add("kueue", name, "example", *objects, fits=fits, copies=copies)

    job: Object = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"generateName": "sample-", "namespace": "demo", "labels": queue},
        "spec": {"parallelism": 3, "completions": 3, "suspend": True, "template": {"spec": body}},
    }
    add("a sample job with a generated name", _ONE, job, fits="Yes", copies=(3,))
    add(
        "a sample job that is too large",
        _ONE,
        {**job, "spec": {**job["spec"], "parallelism": 17, "completions": 17}},
        fits="No",
        copies=(16,),
    )
    queued = {**pod(templates=["template"], labels=queue)}
    add("a pod in a queue", _ONE, queued, fits="Yes", copies=(1,))
    flavor = {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "ResourceFlavor", "metadata": {"name": "default-flavor"}}
    add("with its flavor beside it", flavor, _ONE, job, fits="Yes", copies=(3,))
    local = workload("kueue.x-k8s.io/v1beta2", "LocalQueue", {"clusterQueue": "cluster-queue"}, name="user-queue")
    flavors = [{"name": "default-flavor", "resources": [{"name": "cpu", "nominalQuota": 9}]}]
    cluster = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ClusterQueue",
        "metadata": {"name": "cluster-queue"},
        "spec": {"namespaceSelector": {}, "resourceGroups": [{"coveredResources": ["cpu"], "flavors": flavors}]},
    }
    add("with its queues beside it", local, cluster, _ONE, job, fits="Yes", copies=(3,))
    pod_sets = {"podSets": [{"name": "main", "count": 3, "template": {"spec": body}}], "queueName": "user-queue"}
    # What Kueue makes of a job makes no pods itself: one by one, as of any catalogue.
    work = workload("kueue.x-k8s.io/v1beta2", "Workload", pod_sets, name="job-sample")
    add("a Workload by itself", _ONE, work, fits="Yes", copies=(3,))
    wrapped = {**job, "metadata": {"name": "inner", "namespace": "demo"}}
    bundle = {"components": [{"template": {**wrapped, "spec": {**job["spec"], "suspend": False}}}], "suspend": True}
    wrapper = workload("workload.codeflare.dev/v1beta2", "AppWrapper", bundle, labels=queue)
    add("a job in an AppWrapper", _ONE, wrapper, fits="Yes", copies=(3,))


def _website(cases: Cases) -> None:
    driver = "resource-driver.example.com"
    cats = device_class(driver, driver)
    found = [
        {"name": f"cat-{n}", "attributes": attributes(color=color, size=size)}
        for n, (color, size) in enumerate(
            [("black", "large"), ("black", "small"), ("white", "large"), ("white", "small")]
        )
    ]
    at = f'device.attributes["{driver}"]'
    published = slice_(driver, "dra-example-driver-cluster-worker", found)

    def add(name: str, spec: Object, fits: str) -> None:
        cases.add(
            "website",
            name,
            "example",
            cats,
            published,
            template(spec),
            pod(templates=["template"]),
            fits=fits,
            copies=(1 if fits == "Yes" else 0,),
        )

    large = f'{at}.color == "black" && {at}.size == "large"'
    add("a large black cat", devices(request(driver, 1, large, name="req-0")), "Yes")
    add("two large black cats", devices(request(driver, 2, large, name="req-0")), "No")
    first = [
        {
            "name": "req-0",
            "firstAvailable": [
                {
                    "name": "large-black",
                    "deviceClassName": driver,
                    "count": 2,
                    "selectors": [{"cel": {"expression": large}}],
                },
                {
                    "name": "small-white",
                    "deviceClassName": driver,
                    "count": 2,
                    "selectors": [{"cel": {"expression": f'{at}.color == "white"'}}],
                },
            ],
        }
    ]
    add("two large black cats, or two white ones", {"devices": {"requests": first}}, "Yes")
    add("cats of one color", devices(request(driver, 2), constraints=[{"matchAttribute": f"{driver}/color"}]), "Yes")
    add(
        "three cats of one color",
        devices(request(driver, 3), constraints=[{"matchAttribute": f"{driver}/color"}]),
        "No",
    )


def _refused(cases: Cases) -> None:
    """What admission refuses: the object, and with it the pods that need it."""

    def add(name: str, spec: Object) -> None:
        cases.add(
            "mistakes",
            name,
            "example",
            template(spec),
            pod(templates=["template"]),
            fits="No",
            copies=(0,),
            refused=("template",),
            confirmed=SERVER,
        )

    add("a stray bracket in a selector", devices(request(EXAMPLE, 1, 'device.driver == "x")')))
    add("a selector that is no boolean", devices(request(EXAMPLE, 1, "device.driver")))
    add("a field of devices that does not exist", devices(request(EXAMPLE, 1, 'device.nosuch == "x"')))
    add("a selector without text", devices(request(EXAMPLE, 1, "")))
    add("a name in capitals", devices(request(EXAMPLE, name="GPU")))
    add("two requests of one name", devices(request(EXAMPLE), request(EXAMPLE)))
    add("a negative number", devices(request(EXAMPLE, -1)))
    add("33 requests", devices(*(request(EXAMPLE, name=f"r{n}") for n in range(33))))
    add("no class", devices({"name": "gpu", "exactly": {"allocationMode": "ExactCount", "count": 1}}))
    add(
        "a number for all devices",
        devices({"name": "gpu", "exactly": {"deviceClassName": EXAMPLE, "allocationMode": "All", "count": 2}}),
    )
    add("an unknown mode", devices({"name": "gpu", "exactly": {"deviceClassName": EXAMPLE, "allocationMode": "Some"}}))
    add(
        "a constraint on a request that is not there",
        devices(request(EXAMPLE), constraints=[{"requests": ["gpus"], "matchAttribute": "a.b/c"}]),
    )
    add("a constraint without a domain", devices(request(EXAMPLE), constraints=[{"matchAttribute": "model"}]))
    add("a configuration without a driver", devices(request(EXAMPLE), config=[{"opaque": {"parameters": {}}}]))
    add(
        "a toleration with an operator of its own",
        devices(request(EXAMPLE, tolerations=[{"key": "a", "operator": "Like"}])),
    )
    add("neither exactly nor alternatives", devices({"name": "gpu"}))
    add(
        "a selector that costs too much",
        devices(request(EXAMPLE, 1, "".join(f"device.attributes.all(x{n}, " for n in range(6)) + "true" + ")" * 6)),
    )


def _mistakes(cases: Cases) -> None:
    """What strict validation refuses, and what a pod can't have."""

    def add(
        name: str, *objects: Object, refused: tuple[str, ...], copies: tuple[int, ...] = (0,), **fields: Any
    ) -> None:
        cases.add(
            "mistakes", name, "example", *objects, fits="No", refused=refused, copies=copies, confirmed=SERVER, **fields
        )

    flat = {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceclassname": EXAMPLE}}]}}
    add("keys in lower case", claim(flat), refused=("claim",), copies=(1,))
    bare = devices(request(EXAMPLE))
    bare["devices"]["requests"][0]["exactly"]["selectors"] = [{"expression": "true"}]
    add("an expression without cel", claim(bare), refused=("claim",), copies=())
    beside = {**devices(request(EXAMPLE)), "config": [{"opaque": {"driver": EXAMPLE, "parameters": {}}}]}
    add("config beside devices", claim(beside), refused=("claim",), copies=(1,))
    add("a spec in a spec", claim({"spec": devices(request(EXAMPLE))}), refused=("claim",), copies=(1,))
    lost = pod(templates=["template"])
    lost["spec"]["containers"][0]["resources"]["claims"] = [{"name": "nosuch"}]
    add("a container that names another claim", _ONE, lost, refused=("pod0",), copies=(1,))
    double = pod(templates=["template"])
    double["spec"]["resourceClaims"] *= 2
    add("two claims of one name", _ONE, double, refused=("pod0",), copies=(1,))
    neither = pod(templates=["template"])
    neither["spec"]["resourceClaims"][0].pop("resourceClaimTemplateName")
    add("a claim without a source", _ONE, neither, refused=("pod0",), copies=(1,))
    both = pod(templates=["template"])
    both["spec"]["resourceClaims"][0]["resourceClaimName"] = "claim"
    add("a claim with two sources", _ONE, both, refused=("pod0",), copies=(1,))
    blank = pod(templates=["template"])
    blank["spec"]["containers"][0].pop("image")
    add("a container without an image", _ONE, blank, refused=("pod0",), copies=(1,))
    upper = pod("Pod0", templates=["template"])
    add("a pod in capitals", _ONE, upper, refused=("Pod0",), copies=(1,))
    unknown = pod(templates=["template"], priorityClassName="nosuch")
    add("a priority class that is not there", _ONE, unknown, refused=("pod0",), copies=(1,))
    typed = pod(templates=["template"], hostNetwork="yes")
    add("a text for a boolean", _ONE, typed, refused=("pod0",), copies=(1,))
    job = workload("batch/v1", "Job", {"template": {"spec": pod(templates=["template"])["spec"]}})
    add("a job that restarts always", _ONE, job, refused=("work",), copies=(1,))
    labels = {
        "replicas": 1,
        "selector": {"matchLabels": {"app": "a"}},
        "template": {"metadata": {"labels": {"app": "b"}}, "spec": pod(templates=["template"])["spec"]},
    }
    add(
        "a selector that misses its own pods",
        _ONE,
        workload("apps/v1", "Deployment", labels),
        refused=("work",),
        copies=(1,),
    )
    effect = {
        "apiVersion": V1,
        "kind": "DeviceTaintRule",
        "metadata": {"name": "r"},
        "spec": {"deviceSelector": {"driver": EXAMPLE}, "taint": {"key": "a b", "effect": "NoSchedule"}},
    }
    add("a taint with a blank in its key", effect, refused=("r",), copies=())
    wrong = device_class("wrong", EXAMPLE)
    wrong["spec"]["selectors"][0]["cel"]["expression"] = "device.driver = 'x'"
    add("a class whose selector assigns", wrong, refused=("wrong",), copies=())
    twice = slice_(EXAMPLE, "dra-example-driver-cluster-worker", [{"name": "gpu-0"}, {"name": "gpu-0"}])
    twice["metadata"]["name"] = "twice"
    add("a slice with two devices of one name", twice, refused=("twice",), copies=())
