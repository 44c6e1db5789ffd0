"""Ways out for pods whose devices fail on their node or on the way there, and where a refused configuration stands."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.output.pending.page import pending_page
from kubectl_dra.output.pending.remedies import remedy_text
from kubectl_dra.output.pending.said_advice import advice_on_words
from kubectl_dra.reports.pending.pending import PendingReport, pending_report
from kubectl_dra.reports.pending.remedies import find_remedies
from tests.kit import build, facts
from tests.kit.clock import CLOCK

TWO = build.slice_("node-1", build.device("gpu-0", attributes={"uuid": "GPU-0001-aa"}), build.device("gpu-1"))
ONE = build.slice_("node-1", build.device("gpu-0"))
PLACED = build.pod(claims=["claim"], node_name="node-1")
MINE = build.claim(held=[("node-1", "gpu-0")], by=["pod"], on="node-1")
TAINTED = f"taint device {build.DRIVER}/node-1/gpu-0, so that another one is taken"


def failed(words: str, count: int = 5) -> dict[str, Any]:
    text = f"Failed to prepare dynamic resources: NodePrepareResources failed for ResourceClaim claim: {words}"
    return build.event("pod", "FailedPrepareDynamicResources", text) | {"count": count}


def report(*objects: dict[str, Any]) -> PendingReport:
    classes = [] if any(each["kind"] == "DeviceClass" for each in objects) else [build.device_class()]
    inventory = facts.inventory([*classes, build.node(), *objects])
    world = ClusterState(inventory, facts.evidence(), features(), CLOCK)
    found = Diagnoser(world).pod(Key("ml", "pod"))
    return pending_report(found, world, ways=find_remedies(world, found))


def ways(*objects: dict[str, Any]) -> list[str]:
    return [str(remedy_text(way)) for way in report(*objects).remedies if way.verified]


def commands(*objects: dict[str, Any]) -> str:
    return str([step.commands for way in report(*objects).remedies for step in way.steps])


def test_a_pod_that_was_put_on_its_node_by_hand_is_left_to_the_scheduler() -> None:
    objects = [ONE, PLACED, build.claim()]
    assert ways(*objects) == [
        "drop spec.nodeName, so that the scheduler places the pod and its claim (recreate the pod)"
    ]
    assert '{"op": "remove", "path": "/spec/nodeName"}' in commands(*objects)
    theirs = build.claim("theirs", held=[("node-1", "gpu-0")], by=["other"], on="node-1")
    assert ways(*objects, theirs) == []


@pytest.mark.parametrize(("hard", "offered"), [("1", True), ("0", False)])
def test_a_quota_may_refuse_the_pod_that_is_made_anew(hard: str, offered: bool) -> None:
    """It was lowered since; what exists is not looked at again."""
    status = {"hard": {"pods": hard}, "used": {"pods": "1"}}
    quota = {"kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "ml"}, "spec": {}, "status": status}
    assert bool(ways(ONE, PLACED, build.claim(), quota)) is offered


def test_a_driver_that_serves_one_pod_per_claim_is_given_two_claims() -> None:
    shared = build.claim(held=[("node-1", "gpu-0")], by=["pod", "other"], on="node-1")
    other = build.pod("other", claims=["claim"], node_name="node-1", phase="Running")
    words = failed("claim is reserved for 2 consumers, the driver supports exactly one pod per claim")
    (way,) = ways(TWO, PLACED, other, shared, words)
    assert way.startswith('give the pod a claim of its own: make ResourceClaimTemplate "claim" from claim claim')
    # Its node is not kept, past the scheduler.
    assert '{"op": "remove", "path": "/spec/nodeName"}' in commands(TWO, PLACED, other, shared, words)
    assert ways(ONE, PLACED, other, shared, words) == []


@pytest.mark.parametrize(
    ("words", "slice_", "expected"),
    [
        ("error creating GPU instance: Insufficient Resources", TWO, [f"{TAINTED} (recreate the pod)"]),
        # None is left, or it is not for want of another device that it fails.
        ("error creating GPU instance: Insufficient Resources", ONE, []),
        ("write /var/run/cdi/x.json: no space left on device", TWO, []),
        # The words speak of the device: by its name, by its UUID, or by an error that only devices have.
        ("enabling gpu-0: not found on the bus", TWO, [f"{TAINTED} (recreate the pod)"]),
        ("GPU-0001-aa is in use by another process", TWO, [f"{TAINTED} (recreate the pod)"]),
        ("Xid 79: GPU has fallen off the bus", TWO, [f"{TAINTED} (recreate the pod)"]),
        # They speak of something else, which the next device lacks as well.
        ('error applying config on gpu-0: widgets.example.com "net" not found', TWO, []),
        ('gpu-0: strict decoding error: unknown field "busy"', TWO, []),
        ("gpu-0: pod using host network can not claim host devices in use", TWO, []),
        ("gpu-0: open /dev/x: permission denied: device busy", TWO, []),
        ("rpc error: code = Unavailable: connection lost", TWO, []),
        ("executable nvidia-smi not found", TWO, []),
        ("gpu-01 is in use", TWO, []),
    ],
)
def test_a_device_that_its_driver_cannot_prepare_is_left_for_another(
    words: str, slice_: dict[str, Any], expected: list[str]
) -> None:
    assert ways(slice_, PLACED, MINE, failed(words)) == expected
    # What failed once may pass by itself.
    assert ways(slice_, PLACED, MINE, failed(words, 1)) == []


def test_the_next_partition_of_a_gpu_without_room_lacks_it_too() -> None:
    part = {"consumesCounters": [{"counterSet": "gpu", "counters": {"slices": {"value": "1"}}}]}
    devices = build.slice_("node-1", build.device("gpu-0", **part), build.device("gpu-1", **part))
    counters = build.slice_("node-1", sharedCounters=[{"name": "gpu", "counters": {"slices": {"value": "4"}}}])
    counters["metadata"]["name"] += "-counters"
    del counters["spec"]["devices"]
    for each in (devices, counters):
        each["spec"]["pool"]["resourceSliceCount"] = 2
    busy, full = failed("device busy"), failed("error creating GPU instance: Insufficient Resources")
    assert ways(devices, counters, PLACED, MINE, busy) == [f"{TAINTED} (recreate the pod)"]
    assert ways(devices, counters, PLACED, MINE, full) == []


def test_a_claim_that_no_container_names_is_named() -> None:
    (way,) = ways(ONE, PLACED, MINE)
    assert way == "name claim under resources.claims of container main (recreate the pod)"
    assert '"path": "/spec/containers/0/resources/claims", "value": [{"name": "claim"}]' in commands(ONE, PLACED, MINE)
    # Of several containers nobody knows which one it is for.
    two = PLACED | {"spec": PLACED["spec"] | {"containers": [{"name": "a"}, {"name": "b"}]}}
    assert ways(ONE, two, MINE) == []


# --- where a configuration stands -----------------------------------------------------------------------------------


def configured(*names: str) -> list[dict[str, Any]]:
    return [{"opaque": {"driver": build.DRIVER, "parameters": {"sharing": {name: 1}}}} for name in names]


def with_config(record: dict[str, Any], *names: str) -> dict[str, Any]:
    devices = {**record["spec"]["devices"], "config": configured(*names)}
    return record | {"spec": {"devices": devices}}


UNKNOWN = failed('strict decoding error: unknown field "sharing.typo"')


@pytest.mark.parametrize(
    ("of_claim", "of_class", "expected"),
    [
        (["good", "typo"], [], ("ResourceClaim", "spec.devices.config[1].opaque.parameters", "sharing.typo")),
        (["good"], ["typo"], ("DeviceClass", "spec.config[0].opaque.parameters", "sharing.typo")),
        # None has it: which one is meant is clear where there is one only.
        (["good"], [], ("ResourceClaim", "spec.devices.config[0].opaque.parameters", "")),
        (["good", "fine"], [], None),
    ],
)
def test_whose_configuration_a_driver_refuses(
    of_claim: list[str], of_class: list[str], expected: tuple[str, str, str] | None
) -> None:
    class_ = build.device_class(config=configured(*of_class))
    found = report(ONE, PLACED, class_, with_config(MINE, *of_claim), UNKNOWN).configured
    assert (None if found is None else (found.ref.kind, found.path, found.field)) == expected


def test_a_quoted_value_is_told_by_its_field() -> None:
    record = with_config(MINE, "good")
    record["spec"]["devices"]["config"][0]["opaque"]["parameters"] = {"kind": "typo", "network": "vf-net"}
    told = report(ONE, PLACED, record, failed('applying config: networks.example.com "vf-net" not found'))
    assert told.configured is not None and told.configured.field == "network"
    advice = "Create networks.example.com vf-net; the kubelet tries again by itself. If another one is meant, correct "
    assert str(advice_on_words(told)).startswith(f"{advice}network in spec.")


def test_a_claim_from_a_template_is_corrected_there() -> None:
    pod = build.pod(templates=["tmpl"], node_name="node-1")
    pod["status"]["resourceClaimStatuses"] = [{"name": "tmpl", "resourceClaimName": "claim"}]
    found = report(ONE, pod, with_config(MINE, "typo"), UNKNOWN).configured
    assert found is not None
    assert (found.ref.kind, found.ref.name) == ("ResourceClaimTemplate", "tmpl")
    assert found.path == "spec.spec.devices.config[0].opaque.parameters"


def test_a_device_that_could_not_be_attached_is_left_for_another() -> None:
    broken = {"type": "Broken", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    mine = build.claim(held=[("node-1", "gpu-0")], on="node-1")
    mine["status"]["allocation"]["devices"]["results"][0] |= {
        "bindingConditions": ["Ready"],
        "bindingFailureConditions": ["Broken"],
    }
    mine["status"]["devices"] = [{"driver": build.DRIVER, "pool": "node-1", "device": "gpu-0", "conditions": [broken]}]
    assert ways(TWO, build.pod(claims=["claim"]), mine) == [TAINTED]
    assert TAINTED not in ways(ONE, build.pod(claims=["claim"]), mine)


# --- what ways out name ---------------------------------------------------------------------------------------------


def test_the_slice_that_publishes_a_device_a_second_time_is_named() -> None:
    parts = [build.slice_("node-1", build.device("gpu-0"), build.device(other)) for other in ("gpu-1", "gpu-2")]
    for name, part in zip(("s1", "s2"), parts, strict=True):
        part["metadata"] = part["metadata"] | {"name": name}
        part["spec"]["pool"] = part["spec"]["pool"] | {"resourceSliceCount": 2}
    objects = [*parts, build.claim(), build.pod(claims=["claim"])]
    (way,) = ways(*objects)
    pool = f"{build.DRIVER}/node-1"
    assert way == (
        f"delete ResourceSlice s2, which publishes gpu-0 a second time, after s1: the driver publishes pool {pool} anew"
    )
    assert "('kubectl', 'delete', 'resourceslice/s2')" in commands(*objects)


def test_what_a_deleted_pod_frees_of_counters_is_told() -> None:
    def part(name: str, memory: str) -> dict[str, Any]:
        return build.device(
            name, consumesCounters=[{"counterSet": "gpu-0-mem", "counters": {"memory": {"value": memory}}}]
        )

    both = {"name": "node-1", "generation": 1, "resourceSliceCount": 2}
    counters = [{"name": "gpu-0-mem", "counters": {"memory": {"value": "40Gi"}}}]
    slice_ = build.slice_("node-1", part("whole", "40Gi"), part("half", "20Gi"))
    slice_["spec"]["pool"] = both
    sets = build.slice_("node-1", pool="counters", sharedCounters=counters)
    del sets["spec"]["devices"]
    sets["spec"]["pool"] = both
    theirs = build.claim("theirs", held=[("node-1", "half")], by=["holder"], on="node-1")
    holder = build.pod("holder", claims=["theirs"], node_name="node-1", phase="Running")
    found = ways(slice_, sets, theirs, holder, build.claim(), build.pod(claims=["claim"]))
    assert "delete pod ml/holder: frees 1 device and 20Gi memory of gpu-0-mem; nothing starts it again" in found


@pytest.mark.parametrize("owned", [False, True])
def test_a_pod_with_the_claim_of_another_is_made_anew_as_it_was_made(*, owned: bool) -> None:
    pod = build.pod(templates=["tmpl"])
    pod["status"]["resourceClaimStatuses"] = [{"name": "tmpl", "resourceClaimName": "claim"}]
    if owned:
        owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "rs", "uid": "rs", "controller": True}
        pod["metadata"]["ownerReferences"] = [owner]
    lines = " ".join(map(str, pending_page(report(ONE, pod, build.claim()), CLOCK.now())))
    assert ("kubectl delete pod/pod -n ml" in lines) is owned
    assert ("kubectl replace --force -f -" in lines) is not owned
