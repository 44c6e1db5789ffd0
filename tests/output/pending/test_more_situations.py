"""Situations that a judge who had written none of the pages invented: what the first pages lacked is kept here."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.remedies.records import EditClaim, RaiseQuota, RemedyKind
from kubectl_dra.model.invocation import Address
from kubectl_dra.output.pending.page import pending_page
from kubectl_dra.reports.pending.remedy_order import tolerates_device_taint
from kubectl_dra.selectors.units import near_quantity
from tests.kit import build
from tests.kit.clock import CLOCK
from tests.output.pending.test_situations import (
    DRIVER,
    POD,
    driver_pod,
    first_line,
    from_template,
    page_of,
    report_of,
    template,
)

MEMORY = f'device.capacity["{DRIVER}"].memory'
GPUS = build.slice_("node-1", build.device("gpu-0"), build.device("gpu-1"))


def holding(name: str, *devices: str, node: str = "node-1") -> list[dict[str, Any]]:
    """A bare pod with devices of a node."""
    held = build.claim(f"{name}-gpu", held=[(node, device) for device in devices], by=[name], on=node)
    return [build.pod(name, claims=[f"{name}-gpu"], node_name=node, phase="Running"), held]


def before(hours: int) -> str:
    """An API time so long ago."""
    return (CLOCK.now() - timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%SZ")


# --- amounts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "meant"),
    [("80GB", "80G"), ("80 GiB", "80Gi"), ("40g", "40G"), ("16gib", "16Gi"), ("1.5TB", "1.5T"), ("512KB", "512k")],
)
def test_a_unit_that_kubernetes_does_not_have_becomes_the_one_that_it_has(text: str, meant: str) -> None:
    assert near_quantity(text) == meant


@pytest.mark.parametrize("text", ["80G", "80Gi", "1e3", "eighty", "", "80ib", "80GBps"])
def test_quantities_and_what_resembles_none_stay(text: str) -> None:
    assert near_quantity(text) == ""


def test_a_unit_that_is_none_is_the_cause_and_comes_with_the_right_one() -> None:
    gpu = build.device("gpu-0", capacity={"memory": {"value": "81559Mi"}})
    wish = build.request(selector=f'{MEMORY}.compareTo(quantity("80GB")) >= 0')
    report = report_of(build.node(), build.slice_("node-1", gpu), POD, build.claim("claim", wish))
    assert report.code is Code.SELECTOR_FAILS
    assert '"80GB" is not a Kubernetes quantity; write "80G"' in first_line(report)
    assert f'{MEMORY}.compareTo(quantity("80G")) >= 0' in page_of(report)


# --- several claims, requests and partitions --------------------------------------------------------------------------


def test_a_claim_that_is_elsewhere_names_what_its_node_lacks_and_who_holds_it() -> None:
    nic = build.slice_("node-2", build.device("nic-0"), pool="nics", driver="nic.example.com")
    nic["metadata"]["name"] = "nics"
    nics = build.device_class("nics", selectors=[{"cel": {"expression": 'device.driver == "nic.example.com"'}}])
    shared = build.claim("nic", build.request("nic", cls="nics"), by=["ring-0"], held=[("nics", "nic-0")], on="node-2")
    (result,) = shared["status"]["allocation"]["devices"]["results"]
    result |= {"driver": "nic.example.com", "request": "nic"}
    other = build.slice_("node-2", build.device("gpu-0"), build.device("gpu-1"))
    objects = [build.device_class(), nics, build.node(), build.node("node-2"), GPUS, other, nic, shared]
    objects += [*holding("a", "gpu-0", node="node-2"), *holding("b", "gpu-1", node="node-2")]
    objects.append(build.pod("ring-0", claims=["nic"], node_name="node-2", phase="Running"))
    report = report_of(*objects, build.pod(claims=["nic", "claim"]), build.claim("claim"))
    assert report.code is Code.CLAIM_ELSEWHERE
    told = first_line(report)
    assert "already allocated on node-2 (in use by ring-0)" in told
    assert f"has no free {DRIVER} device: both are in use (a 1, b 1)" in told


def test_of_a_constraint_over_requests_the_devices_in_use_are_told_too() -> None:
    def at(name: str, root: str) -> dict[str, Any]:
        return build.device(name, attributes={"root": root, "type": name.partition("-")[0]})

    devices = [at("gpu-0", "a"), at("gpu-1", "b"), at("nic-0", "a"), at("nic-1", "b")]
    kind = f'device.attributes["{DRIVER}"].type == "{{}}"'
    wishes = [build.request(name, selector=kind.format(name)) for name in ("gpu", "nic")]
    pair = build.claim("claim", *wishes, constraints=[{"matchAttribute": f"{DRIVER}/root", "requests": ["gpu", "nic"]}])
    objects = [build.slice_("node-1", *devices), *holding("nb", "gpu-1"), *holding("ring", "nic-0")]
    report = report_of(build.node(), *objects, POD, pair)
    assert report.code is Code.CONSTRAINT
    assert "the free gpu devices have a (1 more is in use: nb)" in first_line(report)
    assert "the free nic devices have b (1 more is in use: ring)" in first_line(report)


@pytest.mark.parametrize(("model", "words"), [("A100", "guard the selector"), ("H200", "change the selector to")])
def test_a_selector_that_only_gets_a_guard_is_told_from_one_that_asks_for_another_value(model: str, words: str) -> None:
    devices = [build.device("a", attributes={"type": "nic"}), build.device("b", attributes={"model": "A100"})]
    wish = build.request(selector=f'device.attributes["{DRIVER}"].model == "{model}"')
    page = page_of(report_of(build.node(), build.slice_("node-1", *devices), POD, build.claim("claim", wish)))
    assert f"{words}:" in page
    assert f'device.attributes["{DRIVER}"].?model.orValue("") == "A100"' in page
    assert ("drop the selector" in page) is (model == "H200")


MODEL, INDEX = (f'device.attributes["{DRIVER}"].{name}' for name in ("model", "index"))


def test_of_a_selector_that_fails_the_conditions_stay_that_do_not() -> None:
    """Nobody publishes the index; that an A100 is meant is known all the same."""
    devices = [build.device(f"gpu-{i}", attributes={"model": "A100"}) for i in range(3)]
    wish = build.request(selector=f'{MODEL} == "A100" && ({INDEX} == 0 || {INDEX} == 2)')
    report = report_of(build.node(), build.slice_("node-1", *devices), POD, build.claim("claim", wish))
    assert report.code is Code.SELECTOR_FAILS
    page = page_of(report)
    assert "1 change the selector to:" in page
    assert f'{MODEL} == "A100" (it may then get' in page
    assert "it may then get any of 3 free devices" in page
    assert "drop the selector" not in page


def test_a_selector_of_which_no_condition_holds_is_dropped_as_a_whole() -> None:
    devices = [build.device(f"gpu-{i}", attributes={"model": "B200"}) for i in range(3)]
    wish = build.request(selector=f'{MODEL}.matches("A100") && {INDEX} == 0')
    report = report_of(build.node(), build.slice_("node-1", *devices), POD, build.claim("claim", wish))
    assert 'drop the selector model.matches("A100") && index == 0' in page_of(report)


def partition(name: str, profile: str, memory: int) -> dict[str, Any]:
    counters = [{"counterSet": "gpu", "counters": {"memory": {"value": f"{memory}Gi"}}}]
    return build.device(name, attributes={"profile": profile}, consumesCounters=counters)


def test_the_largest_partition_that_is_still_free_is_offered_for_one_that_is_not() -> None:
    parts = [partition("big", "7g.80gb", 80), partition("half", "3g.40gb", 40), partition("other-half", "3g.40gb", 40)]
    parts += [partition("quarter", "2g.20gb", 20), partition("small", "1g.10gb", 10), partition("tiny", "1g.10gb", 10)]
    counters = build.slice_("node-1", sharedCounters=[{"name": "gpu", "counters": {"memory": {"value": "80Gi"}}}])
    devices = build.slice_("node-1", *parts)
    for part, name in ((counters, "counters"), (devices, "devices")):
        part["metadata"]["name"] = name
        part["spec"]["pool"]["resourceSliceCount"] = 2
    del counters["spec"]["devices"]
    wish = build.request(selector=f'device.attributes["{DRIVER}"].profile == "3g.40gb"')
    objects = [counters, devices, *holding("a", "half"), *holding("b", "small")]
    report = report_of(build.node(), *objects, POD, build.claim("claim", wish))
    assert report.code is Code.COUNTERS_EXHAUSTED
    page = page_of(report)
    assert 'profile == "2g.20gb"' in page
    assert "drop the selector" not in page


# --- taints and admin access ------------------------------------------------------------------------------------------


def tainted(name: str, hours: int) -> dict[str, Any]:
    taint = {"key": f"{DRIVER}/xid", "value": "79", "effect": "NoExecute", "timeAdded": before(hours)}
    return build.device(name, taints=[taint])


def test_since_when_devices_are_tainted_is_told() -> None:
    devices = [tainted("gpu-0", 3), tainted("gpu-1", 3), tainted("gpu-2", 1)]
    report = report_of(build.node(), build.slice_("node-1", *devices), POD, build.claim("claim"))
    assert "Tainted for 3h on 2 devices, for 60m on 1 device." in page_of(report)


def test_to_use_a_device_in_spite_of_its_taint_is_the_last_way_out() -> None:
    devices = [tainted("gpu-0", 3), build.device("gpu-1")]
    objects = [build.slice_("node-1", *devices), *holding("nb", "gpu-1")]
    report = report_of(build.node(), *objects, POD, build.claim("claim"))
    ways = [tolerates_device_taint(each.actions) for each in report.remedies if each.verified]
    assert ways == [False, True]
    assert "Use devices in spite of their taint" in page_of(report)


@pytest.mark.parametrize("differs", [{"value": "another"}, {"effect": "PreferNoSchedule"}])
def test_a_device_taint_that_the_pod_does_not_tolerate_is_no_wish_of_its_author(differs: dict[str, str]) -> None:
    devices = [tainted("gpu-0", 3), build.device("gpu-1")]
    taint = devices[0]["taints"][0]
    objects = [build.slice_("node-1", *devices), *holding("nb", "gpu-1")]
    wrong = {"key": taint["key"], "value": taint.get("value", ""), "effect": taint["effect"], **differs}
    report = report_of(build.node(), *objects, build.pod(claims=["claim"], tolerations=[wrong]), build.claim("claim"))
    page = page_of(report)
    assert "has such a toleration" not in page
    assert "Use devices in spite of their taint" in page


def test_a_device_taint_that_the_pod_tolerates_is_told_where_it_belongs() -> None:
    """A pod's own tolerations are for taints of nodes."""
    devices = [tainted("gpu-0", 3), build.device("gpu-1")]
    objects = [build.slice_("node-1", *devices), *holding("nb", "gpu-1")]
    key = devices[0]["taints"][0]["key"]
    pod = build.pod(claims=["claim"], tolerations=[{"key": key, "operator": "Exists"}])
    report = report_of(build.node(), *objects, pod, build.claim("claim"))
    page = page_of(report)
    assert isinstance(report.remedies[0].actions[0], EditClaim)
    assert report.remedies[0].actions[0].field == "tolerations[0]"
    assert (
        "(the pod has such a toleration, which counts for taints of nodes only: those of devices are tolerated" in page
    )
    assert "in spite of their taint" not in page
    assert "first see what the taint reports" not in page


@pytest.mark.parametrize(
    "own",
    [
        {"key": "ecc", "operator": "Equal", "value": "minor", "effect": "NoExecute"},
        {"key": "ecc", "operator": "Exists", "effect": "NoSchedule"},
        {"key": "ecc", "operator": "Equal", "value": "fatal", "effect": "NoSchedule"},
    ],
)
def test_a_toleration_of_something_else_stays_beside_the_new_one(own: dict[str, str]) -> None:
    taint = {"key": "ecc", "value": "fatal", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z"}
    claim = build.claim("claim", build.request(tolerations=[own]))
    slice_ = build.slice_("node-1", build.device("gpu-0", taints=[taint]))
    report = report_of(build.node(), slice_, POD, claim)
    (action,) = next(each.actions for each in report.remedies if isinstance(each.actions[0], EditClaim))
    assert isinstance(action, EditClaim)
    assert (action.field, action.before, action.after) == ("tolerations[1]", "", "ecc=fatal:NoExecute")
    assert "first see what the taint reports" in page_of(report)


def test_a_toleration_with_another_value_is_corrected() -> None:
    """Values are compared letter by letter."""
    taint = {"key": "maintenance", "value": "fw", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z"}
    wrong = {"key": "maintenance", "operator": "Equal", "value": "FW", "effect": "NoExecute"}
    device = build.device("gpu-0", taints=[taint])
    claim = build.claim("claim", build.request(tolerations=[wrong]))
    report = report_of(build.node(), build.slice_("node-1", device), POD, claim)
    way = next(each for each in report.remedies if isinstance(each.actions[0], EditClaim))
    (action,) = way.actions
    assert isinstance(action, EditClaim)
    assert (action.field, action.before, action.after) == (
        "tolerations[0]",
        "maintenance=FW:NoExecute",
        "maintenance=fw:NoExecute",
    )
    page = page_of(report)
    assert "in spite of their taint" not in page


def test_that_admin_access_opens_no_tainted_devices_is_told() -> None:
    wish = build.request(adminAccess=True, allocationMode="All")
    labelled = build.namespace(**{"resource.kubernetes.io/admin-access": "true"})
    objects = [labelled, build.slice_("node-1", build.device("gpu-1"), tainted("gpu-0", 3)), *holding("nb", "gpu-1")]
    page = page_of(report_of(build.node(), *objects, POD, build.claim("claim", wish)))
    assert "Admin access opens devices that are in use, but no tainted ones" in page
    assert "A higher priority" not in page


# --- quota ------------------------------------------------------------------------------------------------------------


def test_a_quota_names_who_uses_it_and_comes_with_the_command() -> None:
    name = f"{DRIVER}.deviceclass.resource.k8s.io/devices"
    limits = {"hard": {name: "4"}, "used": {name: "3"}}
    quota = {
        "kind": "ResourceQuota",
        "metadata": {"name": "gpus", "namespace": "ml"},
        "spec": {"hard": limits["hard"]},
        "status": limits,
    }
    used = [build.claim("one", build.request(count=2)), build.claim("two")]
    pod = from_template()
    del pod["status"]["resourceClaimStatuses"]
    report = report_of(build.node(), GPUS, quota, *used, template("true", count=2), pod)
    assert report.code is Code.QUOTA_EXCEEDED
    assert f"3 of 4 {DRIVER} devices are used (claims one 2, two 1), and it requests 2 more" in first_line(report)
    (way,) = [each for each in report.remedies if each.kind is RemedyKind.RAISE_QUOTA]
    (action,) = way.actions
    assert isinstance(action, RaiseQuota)
    assert (action.by, action.before, action.after) == ("1", "4", "5")
    assert "from 4 to 5" in page_of(report)
    assert "resourcequota/gpus" in str(way.steps)


# --- drivers and autoscalers ------------------------------------------------------------------------------------------


def test_how_a_driver_without_words_ended_is_told() -> None:
    killed = driver_pod(
        restartCount=7,
        state={"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s restarting failed container"}},
        lastState={"terminated": {"exitCode": 137, "reason": "OOMKilled"}},
    )
    page = page_of(report_of(build.node(), killed, POD, build.claim("claim")))
    assert "CrashLoopBackOff, 7 restarts, last exit OOMKilled" in page
    assert "restarting failed container" not in page


def test_a_driver_whose_init_container_runs_is_only_starting() -> None:
    starting = driver_pod(state={"waiting": {"reason": "PodInitializing"}})
    starting["status"]["initContainerStatuses"] = [{"name": "init", "ready": False, "state": {"running": {}}}]
    assert report_of(build.node(), starting, POD, build.claim("claim")).failing == ()


def test_beside_devices_in_use_the_log_of_the_driver_of_an_incomplete_pool_is_named() -> None:
    half = build.slice_("node-2", build.device("gpu-0"))
    half["spec"]["pool"]["resourceSliceCount"] = 2
    objects = [GPUS, half, *holding("nb", "gpu-0", "gpu-1"), driver_pod(node="node-2", state={"running": {}})]
    report = report_of(build.node(), build.node("node-2"), *objects, POD, build.claim("claim"))
    assert {cause.code for cause in report.causes} >= {Code.DEVICES_IN_USE, Code.POOL_INCOMPLETE}
    assert "kubectl logs pod/gpu-dra-plugin-x7k2p -n gpu-dra-driver" in page_of(report)


NOT_SCALED = "pod didn't trigger scale-up: 1 max node group size reached, 2 node(s) cannot allocate all claims"


def test_why_the_autoscaler_adds_no_node_stands_in_the_first_line_with_what_to_do_below() -> None:
    said = build.event("pod", "NotTriggerScaleUp", NOT_SCALED, time=before(0))
    report = report_of(build.node(), POD, build.claim("claim"), said)
    assert "adds no node for it (1 max node group size reached" in first_line(report)
    assert "raise the maximum size of a node group" in page_of(report)


def test_an_autoscaler_that_has_been_silent_for_long_is_not_what_it_does_now() -> None:
    said = build.event("pod", "NotTriggerScaleUp", NOT_SCALED, time=before(50))
    report = report_of(build.node(), POD, build.claim("claim"), said)
    assert "autoscaler" not in first_line(report)
    assert "(nothing since)" in page_of(report)


# --- capacity ---------------------------------------------------------------------------------------------------------


def shared(name: str, memory: str = "40Gi") -> dict[str, Any]:
    return build.device(name, capacity={"memory": {"value": memory}}, allowMultipleAllocations=True)


WISH = build.request(capacity={"requests": {"memory": "50Gi"}})


def test_more_than_any_device_has_is_another_reason_than_shares_that_are_used() -> None:
    report = report_of(build.node(), build.slice_("node-1", shared("gpu-0")), POD, build.claim("claim", WISH))
    assert report.code is Code.CAPACITY_UNOBTAINABLE
    assert f"no {DRIVER} device can give 50Gi of memory (gpu-0 has 40Gi in all)" in first_line(report)


def test_a_device_in_use_that_has_enough_leaves_it_at_what_is_used_up() -> None:
    large = build.device("gpu-1", capacity={"memory": {"value": "80Gi"}})
    objects = [build.slice_("node-1", shared("gpu-0"), large), *holding("nb", "gpu-1")]
    report = report_of(build.node(), *objects, POD, build.claim("claim", WISH))
    assert report.code is Code.CAPACITY_TOO_SMALL


def test_who_uses_devices_that_lack_a_capacity_does_not_matter() -> None:
    """Nor does a taint: with everything free the request would fail as well."""
    tainted = shared("gpu-1") | {"taints": [{"key": "k", "effect": "NoSchedule"}]}
    objects = [build.slice_("node-1", shared("gpu-0"), tainted, shared("gpu-2")), *holding("nb", "gpu-0")]
    both = build.request(capacity={"requests": {"memory": "1Gi", "compute": "10"}})
    report = report_of(build.node(), *objects, POD, build.claim("claim", both))
    assert report.code is Code.CAPACITY_UNOBTAINABLE
    told = (
        f"no {DRIVER} device can give 1Gi of memory and 10 of compute (the device publishes no capacity compute, only "
    )
    assert told in first_line(report)
    assert "nb" not in first_line(report)
    assert "drop the capacity compute from the request" in page_of(report)


# --- objects that are missing -----------------------------------------------------------------------------------------


def test_a_resource_that_stands_for_a_missing_class_says_so() -> None:
    asks = build.pod(requests={"deviceclass.resource.kubernetes.io/nosuch": "1"})
    report = report_of(build.node(), GPUS, asks)
    assert "DeviceClass nosuch does not exist" in first_line(report)
    assert f"DeviceClass that exists: {DRIVER}" in page_of(report)


def test_a_missing_claim_gets_a_skeleton_where_several_classes_exist() -> None:
    cpus = build.device_class("cpus", selectors=[{"cel": {"expression": 'device.driver == "cpu.example.com"'}}])
    report = report_of(cpus, build.device_class(), build.node(), GPUS, POD)
    (way,) = [each for each in report.remedies if each.kind is RemedyKind.CREATE_OBJECT]
    (step,) = way.steps
    assert step.manifest is not None
    (request,) = step.manifest["spec"]["devices"]["requests"]
    assert request["exactly"]["deviceClassName"] == DRIVER
    assert f"its manifest names class {DRIVER}, one of 2" in page_of(report)


def test_a_missing_class_gets_a_skeleton_for_the_driver_that_it_resembles() -> None:
    other = build.slice_("node-1", *(build.device(f"cpu-{i}") for i in range(3)), pool="cpus", driver="cpu.example.com")
    wish = build.claim("claim", build.request(cls=f"large.{DRIVER}"))
    report = report_of(build.device_class("other"), build.node(), GPUS, other, POD, wish)
    (way,) = [each for each in report.remedies if each.kind is RemedyKind.CREATE_OBJECT]
    assert f'device.driver == "{DRIVER}"' in str(way.steps)
    assert f"its manifest names driver {DRIVER}, one of 2" in page_of(report)


@pytest.mark.parametrize(
    ("driver", "advice"),
    [
        ("gpu.nvidia.com", "whose driver gpu.nvidia.com publishes 1 device here"),
        (DRIVER, "with gpuResourcesEnabledOverride=true, whose driver gpu.nvidia.com publishes no devices here"),
    ],
)
def test_a_missing_class_of_a_public_driver_is_made_as_that_driver_has_it(driver: str, advice: str) -> None:
    devices = build.slice_("node-1", build.device("gpu-0"), driver=driver)
    report = report_of(build.node(), devices, POD, build.claim("claim", build.request(cls="mig.nvidia.com")))
    page = page_of(report)
    assert "as it comes with NVIDIA's DRA driver (Helm chart dra-driver-nvidia-gpu)" in page
    assert advice in page
    # The only class that there is selects devices of another kind.
    assert "use class" not in page
    manifest = next(step.manifest for each in report.remedies for step in each.steps)
    expression = 'device.driver == "gpu.nvidia.com" && device.attributes["gpu.nvidia.com"].type == "mig"'
    assert manifest["spec"]["selectors"] == [{"cel": {"expression": expression}}]


def test_a_missing_class_is_for_the_driver_whose_attributes_the_request_reads() -> None:
    many = build.slice_("node-1", *(build.device(f"c-{i}") for i in range(3)), pool="cpus", driver="cpu.example.com")
    wish = build.request(cls="multinic", selector=f'device.attributes["{DRIVER}"].model == "A100"')
    report = report_of(build.device_class("other"), build.node(), GPUS, many, POD, build.claim("claim", wish))
    page = page_of(report)
    assert f"for driver {DRIVER}, whose attributes the request reads, and which publishes 2 devices here" in page
    (way,) = [each for each in report.remedies if each.kind is RemedyKind.CREATE_OBJECT]
    assert f'device.driver == "{DRIVER}"' in str(way.steps)
    assert "What usually helps" not in page


def test_a_class_that_serves_a_resource_and_another_change_together() -> None:
    wish = build.request(selector=f'device.attributes["{DRIVER}"].model == "H100"')
    nics = build.device_class(
        "nic.example.com", selectors=[{"cel": {"expression": 'device.driver == "nic.example.com"'}}]
    )
    there = build.slice_("node-1", build.device("nic-0"), pool="nics", driver="nic.example.com")
    pod = build.pod(claims=["claim"], requests={"example.com/nic": "1"})
    objects = [build.device_class(), nics, there, build.node(), GPUS, pod, build.claim("claim", wish)]
    page = page_of(report_of(*objects))
    assert "set extendedResourceName of class nic.example.com to node-1 example.com/nic, and drop" in page


def _created(*objects: dict[str, Any], volume: str = "data") -> tuple[dict[str, Any], str]:
    """The manifest of what would be created for a pod with a volume, and the page."""
    claimed = [{"name": "disk", "persistentVolumeClaim": {"claimName": volume}}]
    report = report_of(build.node(), GPUS, build.claim("claim"), *objects, build.pod(claims=["claim"], volumes=claimed))
    (way,) = [each for each in report.remedies if each.kind is RemedyKind.CREATE_OBJECT]
    assert not way.verified
    (step,) = way.steps
    assert step.manifest is not None
    return step.manifest, page_of(report)


def _volume_claim(namespace: str, name: str = "data") -> dict[str, Any]:
    meta = {"name": name, "namespace": namespace, "uid": f"{namespace}-{name}"}
    resources = {"requests": {"storage": "7Gi"}}
    spec = {"accessModes": ["ReadWriteMany"], "storageClassName": "fast", "resources": resources}
    return {"kind": "PersistentVolumeClaim", "metadata": meta, "spec": spec, "status": {"phase": "Pending"}}


def test_a_missing_volume_claim_gets_a_skeleton() -> None:
    manifest, page = _created()
    assert (manifest["apiVersion"], manifest["kind"]) == ("v1", "PersistentVolumeClaim")
    assert manifest["metadata"] == {"name": "data", "namespace": "ml"}
    assert manifest["spec"] == {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    assert "its manifest names size 1Gi; change that where another is meant" in page
    bound = _volume_claim("other")
    bound["spec"]["volumeName"] = "theirs"
    manifest, page = _created(bound)
    assert manifest["spec"] == _volume_claim("other")["spec"]
    assert "size" not in page


def test_a_missing_storage_class_gets_a_skeleton_for_a_driver_that_exists() -> None:
    slow = {"kind": "StorageClass", "metadata": {"name": "slow"}, "provisioner": "disk.example.com"}
    manifest, _ = _created(_volume_claim("ml"), {**slow, "volumeBindingMode": "Immediate"})
    assert (manifest["kind"], manifest["metadata"]["name"]) == ("StorageClass", "fast")
    assert (manifest["provisioner"], manifest["volumeBindingMode"]) == ("disk.example.com", "WaitForFirstConsumer")


# --- other pods, and what takes too long ------------------------------------------------------------------------------


def test_where_the_pods_run_that_an_affinity_requires_is_told() -> None:
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "cache"}}}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    cache = build.pod("cache-0", node_name="node-2", phase="Running")
    cache["metadata"]["labels"] = {"app": "cache"}
    nodes = [build.node(name, labels={"kubernetes.io/hostname": name}) for name in ("node-1", "node-2")]
    pod = build.pod(claims=["claim"], affinity=affinity)
    told = first_line(report_of(*nodes, GPUS, cache, build.claim("claim"), pod))
    assert "no pod with app=cache that its affinity requires" in told
    assert "such pods run on node-2" in told


def test_a_claim_that_is_overdue_is_not_waited_for() -> None:
    pod = from_template()
    del pod["status"]["resourceClaimStatuses"]
    pod["metadata"]["creationTimestamp"] = before(5)
    old = page_of(report_of(build.node(), GPUS, template("true"), pod))
    assert "The pod is 5h old, and the controller usually makes a claim within a second" in old
    young = pod | {"metadata": pod["metadata"] | {"creationTimestamp": before(0)}}
    assert "within a second" not in page_of(report_of(build.node(), GPUS, template("true"), young))


def test_a_controller_that_ends_no_reservations_either_is_named_in_the_first_line() -> None:
    """Two of its tasks are left undone; a pod that has just been made waits for it as usual."""
    pod, gone = from_template(), build.claim("kept", held=[("node-1", "gpu-0")], by=["ended"])
    del pod["status"]["resourceClaimStatuses"]
    pod["metadata"]["creationTimestamp"] = before(5)
    report = report_of(build.node(), GPUS, template("true"), pod, gone)
    entry = 'its claim "gpus" was not created from ResourceClaimTemplate "gpus"'
    told = f"{entry}: kube-controller-manager, which does that within a second, does not run or is refused."
    assert first_line(report) == f"Pod ml/pod is pending: {told}"
    page = " ".join(page_of(report).split())
    assert "Nor has it ended the reservation of claim ml/kept for a pod that is gone or has finished." in page
    alone = " ".join(page_of(report_of(build.node(), GPUS, template("true"), pod)).split())
    assert "it does not run, or the API server refuses its requests." in alone
    assert "Nor has it" not in alone
    pod["metadata"]["creationTimestamp"] = before(0)
    assert (
        first_line(report_of(build.node(), GPUS, template("true"), pod, gone)) == f"Pod ml/pod is pending: {entry} yet."
    )


def test_a_scheduler_of_nearly_the_default_name_is_asked_about() -> None:
    def said(name: str) -> str:
        pod = build.pod(claims=["claim"], schedulerName=name)
        return first_line(report_of(build.device_class(), build.node(), GPUS, pod, build.claim("claim")))

    assert '"defualt-scheduler" (did you mean default-scheduler?), which has to place it' in said("defualt-scheduler")
    assert "did you mean" not in said("my-default-scheduler")
    assert "did you mean" not in said("gpu-scheduler")


@pytest.mark.parametrize(
    ("text", "whose", "advice"),
    [
        ("cannot align pod", "NodeResourceTopologyMatch", "noderesourcetopologies.topology.node.k8s.io"),
        ("node unregistered", "HAMi", "HAMi's extender reads the devices that its own device plugin has written"),
        ("1/1 CardInsufficientMemory", "HAMi", "knows no ResourceSlices"),
        ("out of luck", "an unknown plugin", "No plugin of the default profile writes such words"),
    ],
)
def test_plugins_that_are_known_by_their_words_get_their_own_advice(text: str, whose: str, advice: str) -> None:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    message = f"0/1 nodes are available: 1 {text}. preemption: 0/1 nodes are available: 1 No preemption victims found."
    pod = build.pod(claims=["claim"])
    pod["status"]["conditions"] = [{**condition, "message": message}]
    report = report_of(build.device_class(), build.node(), GPUS, pod, build.claim("claim"))
    assert f"but {whose} says: {text}" in first_line(report)
    assert advice in page_of(report)
    # Commands go to the cluster that was asked.
    lines = pending_page(report, CLOCK.now(), Address(flags=("--context", "prod")))
    assert all("--context prod" in line for line in lines if "kubectl get" in line)


def test_a_pod_that_names_its_node_may_be_let_go_elsewhere() -> None:
    """Its affinity is like any other; that of a DaemonSet's pod is its controller's, and means this one node."""
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-1"]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    waits = build.pod(claims=["claim"], affinity={"nodeAffinity": required})
    closed = build.node() | {"spec": {"unschedulable": True}}
    slices = [build.slice_(name, build.device("gpu-0")) for name in ("node-1", "node-2")]
    objects = [closed, build.node("node-2"), *slices, build.claim("claim"), waits]
    report = report_of(*objects)
    assert first_line(report) == (
        "Pod ml/pod is pending: node-1 has the device but is cordoned; node-2 has the device but does not match the "
        "pod's node selector or affinity (metadata.name In [node-1])."
    )
    drop = "drop the pod's required node affinity"
    assert drop in " ".join(page_of(report).split())
    daemon = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "d", "controller": True}
    waits["metadata"]["ownerReferences"] = [daemon]
    assert drop not in " ".join(page_of(report_of(*objects)).split())


@pytest.mark.parametrize(("name", "meant"), [("gpu.example.co", True), ("nosuch", False)])
def test_a_class_that_may_be_meant_stands_in_the_first_line(name: str, *, meant: bool) -> None:
    """A list of pods has no more than that of each."""
    claim = build.claim("claim", build.request(cls=name))
    told = " (did you mean gpu.example.com?)" if meant else ""
    line = first_line(
        report_of(build.device_class(), build.node(), build.slice_("node-1", build.device("gpu-0")), POD, claim)
    )
    assert line == f"Pod ml/pod is pending: DeviceClass {name} does not exist{told}."
