"""Whom a taint hits, and which rules are written, by the tolerations that the eviction controller reads."""

from __future__ import annotations

import dataclasses
import json
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.eviction import EvictionVerdict, endured, evicts_at_once
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import DeviceId
from kubectl_dra.model.meta import Condition, ObjectMeta
from kubectl_dra.model.resource import DeviceTaint, DeviceTaintRule, DeviceToleration
from kubectl_dra.model.taint_plan import MANAGED_BY, MANAGER, Fate, Hit, PlannedTaint, PlanTarget, TaintPlan, Verb, Why
from kubectl_dra.output.taints.hits import hit_rows
from kubectl_dra.output.taints.list_page import list_page
from kubectl_dra.reports.taints.taint_list import listed_taints
from kubectl_dra.reports.taints.taint_observation import (
    Counts,
    agrees,
    condition_of,
    counts_of,
    expected_counts,
    observation,
)
from kubectl_dra.reports.taints.taint_plan import NameTakenError, removal_plan, taint_plan
from kubectl_dra.reports.taints.taint_rules import is_own, observing_name, rule_name
from tests.kit.clock import CLOCK
from tests.reports.clusters import facts

VERSION = "resource.k8s.io/v1"
HERE = PlanTarget()
GPU = DeviceId("gpu.example.com", "node-a", "gpu-0")
OTHER = DeviceId("gpu.example.com", "node-a", "gpu-1")
EXECUTE = DeviceTaint("link", "flapping", "NoExecute")
SCHEDULE = DeviceTaint("link", "flapping", "NoSchedule")
Object = dict[str, Any]


def slice_of(*names: str, taints: dict[str, list[Object]] | None = None, generation: int = 1) -> Object:
    devices = [{"name": name, "taints": (taints or {}).get(name, [])} for name in names]
    pool = {"name": "node-a", "generation": generation, "resourceSliceCount": 1}
    spec = {"driver": GPU.driver, "pool": pool, "nodeName": "node-a", "devices": devices}
    return {"apiVersion": VERSION, "kind": "ResourceSlice", "metadata": {"name": f"slice-{generation}"}, "spec": spec}


def claim(
    name: str,
    *devices: DeviceId,
    tolerations: list[Object] | None = None,
    pods: tuple[str, ...] | None = None,
    owner: str = "",
    **result: Any,
) -> Object:
    """An allocated claim that is reserved for ``pods``, by default the pod of the same name."""
    results = [{"request": "r", **d._asdict(), "tolerations": tolerations or [], **result} for d in devices or (GPU,)]
    reserved = [
        {"resource": "pods", "name": pod, "uid": f"uid-{pod}"} for pod in (pods if pods is not None else (name,))
    ]
    metadata: Object = {"name": name, "namespace": "ml", "uid": f"claim-{name}"}
    if owner:
        metadata["ownerReferences"] = [{"kind": "Pod", "name": owner, "uid": f"uid-{owner}", "controller": True}]
    status = {"allocation": {"devices": {"results": results}}, "reservedFor": reserved}
    return {"apiVersion": VERSION, "kind": "ResourceClaim", "metadata": metadata, "status": status}


def pod(name: str, *claims: str, node: str = "node-a", **more: Any) -> Object:
    """A pod that names claims directly; ``status`` and ``metadata`` may be added to."""
    entries = [{"name": each, "resourceClaimName": each} for each in claims or (name,)]
    metadata = {"name": name, "namespace": "ml", "uid": f"uid-{name}", **more.get("metadata", {})}
    spec = {"nodeName": node, "resourceClaims": more.get("entries", entries)}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": more.get("status", {})}


def rule(name: str, taint: DeviceTaint, device: DeviceId | None = GPU, own: bool = True, **selector: str) -> Object:
    labels = {MANAGED_BY: MANAGER} if own else {}
    chosen = device._asdict() if device is not None else selector
    spec = {"deviceSelector": chosen, "taint": json.loads(msgspec.json.encode(taint))}
    metadata = {"name": name, "uid": f"uid-{name}", "resourceVersion": "7", "labels": labels}
    return {"apiVersion": VERSION, "kind": "DeviceTaintRule", "metadata": metadata, "spec": spec}


def cluster(*items: Object, without: tuple[str, ...] = ()) -> ClusterState:
    every = (
        [slice_of("gpu-0", "gpu-1"), *items] if not any(i["kind"] == "ResourceSlice" for i in items) else list(items)
    )
    kinds = ("Pod", "ResourceClaim", "ResourceSlice", "DeviceTaintRule")
    reads = [{"kind": kind, "coverage": "forbidden" if kind in without else "complete"} for kind in kinds]
    kept = [item for item in every if item["kind"] not in without]
    return facts({"apiVersion": "kubectl-dra/v1alpha1", "kind": "Snapshot", "reads": reads, "items": kept})


def plan(known: ClusterState, taint: DeviceTaint = EXECUTE, *devices: DeviceId) -> TaintPlan:
    return taint_plan(known, devices or (GPU,), taint, VERSION, HERE)


def only(hits: tuple[Hit, ...]) -> Hit:
    assert len(hits) == 1, hits
    return hits[0]


def fates(made: TaintPlan) -> dict[str, Fate]:
    return {hit.pod or hit.uses[0].claim: hit.fate for hit in made.hits}


# --- tolerations ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tolerations", "expected"),
    [
        ([], (Fate.EVICTED, Why.NOT_TOLERATED, None)),
        ([{"operator": "Exists", "effect": "NoExecute"}], (Fate.KEPT, Why.TOLERATED, None)),
        ([{"key": "link", "operator": "Exists", "effect": "NoExecute"}], (Fate.KEPT, Why.TOLERATED, None)),
        ([{"key": "link", "value": "flapping", "effect": "NoExecute"}], (Fate.KEPT, Why.TOLERATED, None)),
        ([{"key": "link", "value": "down", "effect": "NoExecute"}], (Fate.EVICTED, Why.NOT_TOLERATED, None)),
        ([{"key": "ecc", "operator": "Exists", "effect": "NoExecute"}], (Fate.EVICTED, Why.NOT_TOLERATED, None)),
        # Sufficient for the scheduler, and no help against eviction.
        ([{"key": "link", "operator": "Exists"}], (Fate.EVICTED, Why.EMPTY_EFFECT, None)),
        ([{"operator": "Exists"}], (Fate.EVICTED, Why.EMPTY_EFFECT, None)),
        ([{"key": "link", "operator": "Exists", "tolerationSeconds": 60}], (Fate.EVICTED, Why.EMPTY_EFFECT, None)),
        ([{"key": "link", "operator": "Exists", "effect": "NoSchedule"}], (Fate.EVICTED, Why.NOT_TOLERATED, None)),
        (
            [{"key": "link", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}],
            (Fate.LATER, Why.TOLERATED_FOR, 300),
        ),
        (
            [{"key": "link", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0}],
            (Fate.EVICTED, Why.TOLERATED_FOR, 0),
        ),
        (
            [{"key": "link", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": -5}],
            (Fate.EVICTED, Why.TOLERATED_FOR, 0),
        ),
        (
            [
                {"key": "link", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
                {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 20},
            ],
            (Fate.LATER, Why.TOLERATED_FOR, 20),
        ),
        (
            [
                {"key": "link", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 3},
                {"operator": "Exists", "effect": "NoExecute"},
            ],
            (Fate.KEPT, Why.TOLERATED, None),
        ),
    ],
)
def test_what_a_toleration_is_worth(tolerations, expected):
    hit = only(plan(cluster(pod("a"), claim("a", tolerations=tolerations))).hits)
    assert (hit.fate, hit.why, hit.seconds) == expected
    assert (hit.namespace, hit.pod, hit.uid, hit.node) == ("ml", "a", "uid-a", "node-a")


def test_the_tolerations_of_the_allocation_count_not_those_of_the_spec():
    body = claim("a")
    request = {
        "name": "r",
        "exactly": {"deviceClassName": "c", "tolerations": [{"operator": "Exists", "effect": "NoExecute"}]},
    }
    body["spec"] = {"devices": {"requests": [request]}}
    assert only(plan(cluster(pod("a"), body)).hits).fate is Fate.EVICTED


@given(
    st.lists(
        st.builds(
            DeviceToleration,
            key=st.sampled_from(["", "link", "ecc"]),
            operator=st.sampled_from(["", "Equal", "Exists"]),
            value=st.sampled_from(["", "flapping"]),
            effect=st.sampled_from(["", "NoSchedule", "NoExecute"]),
            toleration_seconds=st.none() | st.integers(-1, 3),
        ),
        max_size=4,
    )
)
def test_tolerations_never_make_it_worse_and_never_help_without_their_effect(tolerations):
    verdict = endured(tolerations, EXECUTE)
    fewer = endured(tolerations[:-1], EXECUTE)
    without = endured([each for each in tolerations if each.effect == "NoExecute"], EXECUTE)
    assert (verdict.fate, verdict.seconds) == (without.fate, without.seconds)
    assert verdict.evicts == (verdict.fate is not Fate.KEPT)
    if fewer.fate is Fate.KEPT:
        assert verdict.fate is Fate.KEPT
    assert endured(tolerations, SCHEDULE) == EvictionVerdict(Fate.KEPT, Why.NO_EVICTION)


# --- pods and claims ------------------------------------------------------------------------------------------------


def test_no_schedule_hits_nobody_who_has_the_device():
    made = plan(cluster(pod("a"), claim("a")), SCHEDULE)
    assert (only(made.hits).fate, only(made.hits).why) == (Fate.KEPT, Why.NO_EVICTION)
    assert made.evicted() == ()


def test_admin_access_is_evicted_the_same_way():
    hit = only(plan(cluster(pod("a"), claim("a", adminAccess=True))).hits)
    assert hit.fate is Fate.EVICTED
    assert hit.uses[0].admin_access


def test_every_share_of_a_device_is_a_use_of_its_own():
    shares = [
        claim(n, shareID=f"id-{n}", consumedCapacity={"memory": "1Gi"}, tolerations=t)
        for n, t in (("a", []), ("b", [{"operator": "Exists", "effect": "NoExecute"}]))
    ]
    made = plan(cluster(pod("a"), pod("b"), *shares))
    assert fates(made) == {"a": Fate.EVICTED, "b": Fate.KEPT}
    assert made.hits[0].uses[0].share_id == "id-a"
    assert made.hits[0].uses[0].consumed_capacity == {"memory": "1Gi"}


def test_a_pod_with_several_uses_is_evicted_at_the_first():
    patient = [{"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}]
    items = (pod("a", "one", "two"), claim("one", pods=("a",), tolerations=patient), claim("two", OTHER, pods=("a",)))
    assert only(plan(cluster(*items)).hits).fate is Fate.LATER
    hit = only(plan(cluster(*items), EXECUTE, GPU, OTHER).hits)
    assert (hit.fate, len(hit.uses)) == (Fate.EVICTED, 2)


def test_one_claim_of_several_pods_evicts_all_of_them():
    made = plan(cluster(pod("a", "c"), pod("b", "c"), claim("c", pods=("a", "b"))))
    assert fates(made) == {"a": Fate.EVICTED, "b": Fate.EVICTED}


def test_a_claim_that_nobody_uses_is_named():
    hit = only(plan(cluster(claim("left", pods=()))).hits)
    assert (hit.pod, hit.uses[0].claim, hit.fate, hit.why) == ("", "left", Fate.KEPT, Why.NO_POD)


def test_a_consumer_that_is_gone_is_no_hit():
    assert only(plan(cluster(claim("a", pods=("gone",)))).hits).why is Why.NO_POD


def test_a_successor_of_the_same_name_is_not_the_consumer():
    successor = pod("a", metadata={"uid": "another"})
    assert only(plan(cluster(successor, claim("a"))).hits).why is Why.NOT_RESERVED


def test_a_pod_without_a_node_is_evicted_when_it_has_one():
    made = plan(cluster(pod("a", node=""), claim("a", pods=())))
    assert (only(made.hits).fate, made.evicted()) == (Fate.ON_BINDING, ())


def test_a_pod_that_is_being_deleted_is_left_alone():
    leaving = pod("a", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    assert only(plan(cluster(leaving, claim("a"))).hits).why is Why.DELETING


def test_a_finished_pod_is_no_hit():
    assert only(plan(cluster(pod("a", status={"phase": "Succeeded"}), claim("a"))).hits).why is Why.NO_POD


@pytest.mark.parametrize(("owner", "fate"), [("a", Fate.EVICTED), ("stranger", Fate.KEPT)])
def test_a_claim_from_a_template_must_have_been_made_for_the_pod(owner, fate):
    entries = [{"name": "gpu", "resourceClaimTemplateName": "t"}]
    status = {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "made"}]}
    body = pod("a", entries=entries, status=status)
    assert only(plan(cluster(body, claim("made", pods=("a",), owner=owner))).hits).fate is fate


def test_extended_resources_depend_on_the_controllers_version():
    mapping = {"containerName": "main", "resourceName": "example.com/gpu", "requestName": "r"}
    status = {"extendedResourceClaimStatus": {"resourceClaimName": "made", "requestMappings": [mapping]}}
    known = cluster(pod("a", entries=[], status=status), claim("made", pods=("a",), owner="a"))
    hit = only(plan(known).hits)
    assert (hit.fate, hit.why, hit.uses[0].extended_resource) == (
        Fate.UNCERTAIN,
        Why.EXTENDED_RESOURCE,
        "example.com/gpu",
    )
    assert only(plan(known, SCHEDULE).hits).fate is Fate.KEPT
    older = dataclasses.replace(known, features=features(36))
    assert (only(plan(older).hits).fate, only(plan(older).hits).why) == (Fate.KEPT, Why.EXTENDED_RESOURCE)


def test_pods_that_may_not_be_read_are_uncertain_not_absent():
    hit = only(plan(cluster(pod("a"), claim("a"), without=("Pod",))).hits)
    assert (hit.pod, hit.uid, hit.fate, hit.why) == ("a", "uid-a", Fate.UNCERTAIN, Why.NOT_READ)


def test_who_is_evicted_anyway():
    taints = {"gpu-1": [{"key": "dead", "effect": "NoExecute"}]}
    others = (
        rule("theirs", DeviceTaint("x", "", "NoExecute"), own=False, device=None, pool="node-a"),
        slice_of("gpu-0", "gpu-1", taints=taints),
    )
    made = plan(cluster(pod("a"), claim("a", GPU, OTHER), *others))
    assert only(made.hits).anyway == ("driver", "theirs")
    assert [(other.rule, other.key) for other in made.devices[0].others] == [("theirs", "x")]


def test_hits_come_worst_first_and_do_not_depend_on_the_order_of_the_objects():
    soon = [{"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}]
    late = [{"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 50}]
    items = [
        pod("z"),
        claim("z"),
        pod("y"),
        claim("y", tolerations=late),
        pod("x"),
        claim("x", tolerations=soon),
        claim("w", pods=()),
    ]
    made = plan(cluster(*items))
    assert list(fates(made)) == ["z", "x", "y", "w"]
    assert plan(cluster(*reversed(items))).substance == made.substance


# --- which rules are written ----------------------------------------------------------------------------------------


def test_a_new_rule_selects_exactly_the_device():
    (write,) = plan(cluster()).writes
    assert (write.verb, write.name, write.api_version) == (Verb.CREATE, rule_name(GPU, "link"), VERSION)
    assert write.selector is not None
    assert (write.selector.driver, write.selector.pool, write.selector.device) == GPU
    assert (write.taint, write.uid, write.resource_version) == (PlannedTaint.of(EXECUTE), "", "")


def test_the_same_again_is_no_write():
    made = plan(cluster(rule(rule_name(GPU, "link"), EXECUTE)))
    assert (made.writes, made.present) == ((), (rule_name(GPU, "link"),))


@pytest.mark.parametrize("before", [SCHEDULE, DeviceTaint("link", "down", "NoExecute")])
def test_another_value_or_effect_is_a_patch_of_the_same_rule(before):
    (write,) = plan(cluster(rule("ours", before))).writes
    assert (write.verb, write.name, write.before, write.taint) == (
        Verb.PATCH,
        "ours",
        PlannedTaint.of(before),
        PlannedTaint.of(EXECUTE),
    )
    assert (write.uid, write.resource_version) == ("uid-ours", "7")


def test_another_key_or_device_is_another_rule():
    (write,) = plan(cluster(rule("ours", DeviceTaint("ecc", "", "NoExecute")), rule("one", EXECUTE, OTHER))).writes
    assert write.verb is Verb.CREATE


def test_a_rule_of_somebody_else_is_neither_changed_nor_taken_for_ours():
    (write,) = plan(cluster(rule("theirs", EXECUTE, own=False))).writes
    assert write.verb is Verb.CREATE
    with pytest.raises(NameTakenError):
        plan(cluster(rule(rule_name(GPU, "link"), EXECUTE, own=False)))


def test_less_severe_rules_spare_pods():
    made = plan(cluster(pod("a"), claim("a"), rule("ours", EXECUTE)), SCHEDULE)
    assert (only(made.hits).fate, made.writes[0].verb) == (Fate.SPARED, Verb.PATCH)
    assert only(made.hits).anyway == (), "the rule that changes is no other reason"


def test_removal_spares_pods_and_leaves_other_rules():
    known = cluster(pod("a"), claim("a"), rule("ours", EXECUTE), rule("theirs", EXECUTE, own=False))
    made = removal_plan(known, (GPU,), DeviceTaint("link"), VERSION, HERE)
    assert [(write.verb, write.name, write.own) for write in made.writes] == [(Verb.DELETE, "ours", True)]
    assert (only(made.hits).fate, only(made.hits).anyway) == (Fate.SPARED, ("theirs",))
    forced = removal_plan(known, (GPU,), DeviceTaint("link"), VERSION, HERE, force=True)
    assert [write.name for write in forced.writes] == ["ours", "theirs"]
    assert only(forced.hits).anyway == ()


def test_a_wider_rule_brings_all_its_devices_into_the_plan():
    wide = rule("wide", EXECUTE, None, own=False, pool="node-a")
    vanished = DeviceId(GPU.driver, "node-a", "gone")
    known = cluster(pod("b"), claim("b", OTHER), pod("c"), claim("c", vanished), wide)
    made = removal_plan(known, (GPU,), DeviceTaint("link"), VERSION, HERE, force=True)
    assert [device.device for device in made.devices] == ["gpu-0", "gone", "gpu-1"]
    assert {device.device: device.pool_devices for device in made.devices} == {"gpu-0": 2, "gpu-1": 2, "gone": 0}
    assert set(fates(made)) == {"b", "c"}


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (DeviceTaint("link"), True),
        (DeviceTaint("link", effect="NoExecute"), True),
        (DeviceTaint("link", effect="NoSchedule"), False),
        (DeviceTaint("link", "flapping"), True),
        (DeviceTaint("link", "down"), False),
        (DeviceTaint("lin"), False),
    ],
)
def test_what_a_removal_means(wanted, found):
    assert bool(removal_plan(cluster(rule("ours", EXECUTE)), (GPU,), wanted, VERSION, HERE).writes) is found


def test_only_the_newest_generation_counts_for_a_devices_taints():
    old, new = (
        slice_of("gpu-0", taints={"gpu-0": [{"key": "old", "effect": "NoSchedule"}]}),
        slice_of("gpu-0", generation=2),
    )
    assert plan(cluster(old, new)).devices[0].others == ()


def test_substance_ignores_what_writing_does_not_depend_on():
    first = cluster(pod("a"), claim("a"), rule("ours", SCHEDULE))
    touched = rule("ours", SCHEDULE)
    touched["metadata"]["resourceVersion"] = "8"
    running = pod("a", status={"phase": "Running"})
    second = cluster(running, claim("a"), touched)
    assert plan(first).substance == plan(second).substance
    assert (
        plan(first).substance != plan(cluster(pod("a"), pod("b", "a"), claim("a", pods=("a", "b")), touched)).substance
    )


# --- names ----------------------------------------------------------------------------------------------------------


@given(st.text(max_size=70), st.text(max_size=300), st.text(max_size=70), st.text(max_size=300))
def test_names_of_rules_are_valid_and_readable(driver, pool, device, key):
    name = rule_name(DeviceId(driver, pool, device), key)
    assert len(name) <= 51
    assert name.replace("-", "").isalnum()
    assert name.isascii()
    assert name == name.lower()
    assert name[0] != "-"


@given(st.tuples(*[st.text("ab-/.", max_size=4)] * 4), st.tuples(*[st.text("ab-/.", max_size=4)] * 4))
def test_different_devices_and_keys_have_different_names(one, other):
    names = [rule_name(DeviceId(*each[:3]), each[3]) for each in (one, other)]
    assert (names[0] == names[1]) == (one == other)
    assert observing_name(DeviceId(*one[:3]), one[3]) != names[0]


def test_a_readable_name():
    assert rule_name(DeviceId("nic.example.com", "rack-1", "nic-3"), "example.com/link").startswith(
        "nic-rack-1-nic-3-link-"
    )


def test_own_rules_have_the_label_and_one_device():
    labelled = DeviceTaintRule(metadata=ObjectMeta(labels={MANAGED_BY: MANAGER}))
    assert not is_own(labelled), "no selector selects nothing"


# --- observing ------------------------------------------------------------------------------------------------------

MESSAGE = (
    "1 published device selected. 2 allocated devices selected. 1 pod would be evicted in 1 namespace if the effect "
    "was NoExecute. This information will not be updated again. Recreate the DeviceTaintRule to trigger an update."
)


def test_the_controllers_numbers():
    assert counts_of(Condition(message=MESSAGE)) == Counts(1, 2, 1, 1)
    none = MESSAGE.replace("1 pod would be evicted in 1 namespace", "0 pods would be evicted in 0 different namespaces")
    assert counts_of(Condition(message=none)) == Counts(1, 2, 0, 0)
    assert counts_of(Condition(message="something else in a later version")) is None


def test_a_condition_of_an_older_generation_is_no_answer():
    body = rule("r", EXECUTE)
    body["metadata"]["generation"] = 2
    body["status"] = {
        "conditions": [{"type": "EvictionInProgress", "status": "False", "reason": "x", "observedGeneration": 1}]
    }
    known = cluster(body).inventory.taint_rules["r"]
    assert condition_of(known) is None
    body["status"]["conditions"][0]["observedGeneration"] = 2
    assert condition_of(cluster(body).inventory.taint_rules["r"]) is not None


def test_the_plans_numbers_allow_for_pods_that_it_is_not_sure_of():
    status = {"extendedResourceClaimStatus": {"resourceClaimName": "x"}}
    known = cluster(pod("a"), claim("a"), pod("x", entries=[], status=status), claim("x", owner="x"))
    made = plan(known)
    expected = expected_counts(made, known)
    assert expected == Counts(published=1, allocated=2, pods=1, namespaces=1)
    assert [agrees(Counts(1, 2, pods, 1), expected, made) for pods in (0, 1, 2, 3)] == [False, True, True, False]
    assert not agrees(Counts(1, 1, 1, 1), expected, made)
    (write,) = observation(made, VERSION).writes
    assert (write.taint.effect, write.name) == ("None", observing_name(GPU, "link"))


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("", "nothing starts it again"),
        ("StatefulSet", "its StatefulSet starts it again"),
        ("Job", "its Job may start it"),
    ],
)
def test_what_becomes_of_the_work_of_an_evicted_pod_is_told(kind, told):
    owner = {"apiVersion": "apps/v1", "kind": kind, "name": "owner", "uid": "o", "controller": True}
    work = pod("a", "gpu")
    work["metadata"]["ownerReferences"] = [owner] if kind else []
    hit = only(plan(cluster(slice_of("gpu-0"), claim("gpu", pods=("a",)), work)).hits)
    assert hit.controller == kind
    ((_, _, why),) = hit_rows([hit], EXECUTE, ["gpu-0"])
    assert told in why
    kept = only(plan(cluster(slice_of("gpu-0"), claim("gpu", pods=("a",)), work), SCHEDULE).hits)
    ((_, _, why),) = hit_rows([kept], SCHEDULE, ["gpu-0"])
    assert "again" not in why


@pytest.mark.parametrize(
    ("driver", "pool", "unknown", "near"),
    [
        (GPU.driver.replace("gpu", "gpus"), None, GPU.driver.replace("gpu", "gpus"), (GPU.driver,)),
        (GPU.driver, "nod-a", "nod-a", ("node-a",)),
        (GPU.driver, "node-b", "node-b", ()),
        (GPU.driver, "node-a", "", ()),
    ],
)
def test_a_rule_for_what_nobody_publishes_names_it_and_what_may_be_meant(driver, pool, unknown, near):
    selector = {"driver": driver} if pool is None else {"driver": driver, "pool": pool}
    made = rule("r", EXECUTE, None)
    made["spec"]["deviceSelector"] = selector
    (listed,) = listed_taints(cluster(slice_of("gpu-0"), made))
    assert (listed.unknown, listed.near) == (unknown, near)
    page = " ".join(" ".join(list_page([listed], CLOCK.now())).split())
    assert (f"It is on no device: no driver publishes devices of {unknown}; did you mean" in page) == bool(near)
    (unread,) = listed_taints(cluster(made, without=("ResourceSlice",)))
    assert not unread.unknown


def test_what_the_correction_of_a_rule_on_no_device_would_do_is_told_with_its_command():
    made = rule("r", EXECUTE, None)
    wrong = GPU.driver.replace("gpu", "gpus")
    made["spec"]["deviceSelector"] = {"driver": wrong, "pool": GPU.pool, "device": "gpu-0"}
    world = (slice_of("gpu-0", "gpu-1"), claim("gpu", pods=("a",)), pod("a", "gpu"), made)
    (listed,) = listed_taints(cluster(*world))
    assert listed.correction is not None
    assert (listed.correction.field, listed.correction.value) == ("driver", GPU.driver)
    page = " ".join(" ".join(list_page([listed], CLOCK.now())).split())
    told = f"With driver {GPU.driver} it would be on {GPU.driver}/{GPU.pool}/gpu-0 and evict pod ml/a at once."
    assert told in page
    assert "kubectl patch" not in page  # who types it should know that it is meant
    # A name of a device: the driver and the pool are right. A taint that evicts nobody says so.
    made["spec"] |= {
        "deviceSelector": {"driver": GPU.driver, "device": "gpu0"},
        "taint": {"key": "k", "effect": "NoSchedule"},
    }
    (listed,) = listed_taints(cluster(*world))
    page = " ".join(" ".join(list_page([listed], CLOCK.now())).split())
    assert "gpu-0 and evict no pod:" in page
    assert """-p '{"spec":{"deviceSelector":{"device":"gpu-0"}}}'""" in page


@pytest.mark.parametrize(
    "selector",
    [
        {"driver": "nothing.like.it"},
        {"driver": GPU.driver},
        {"driver": GPU.driver, "device": "gpu-9"},
        {"driver": GPU.driver, "pool": "node-b"},
        {"driver": GPU.driver, "pool": "nodea", "device": "gpu0"},  # each would do only with the other
    ],
)
def test_no_correction_is_made_up_where_none_or_several_would_do(selector):
    made = rule("r", EXECUTE, None)
    made["spec"]["deviceSelector"] = selector
    (listed,) = listed_taints(cluster(slice_of("gpu-0", "gpu-1"), made))
    assert listed.correction is None


def test_the_pool_of_a_node_without_slices_is_not_called_a_mistake():
    made = rule("r", EXECUTE, None)
    made["spec"]["deviceSelector"] = {"driver": GPU.driver, "pool": "nodes-a"}
    world = (slice_of("gpu-0"), made)
    (listed,) = listed_taints(cluster(*world))
    assert (listed.near, listed.correction is not None) == (("node-a",), True)
    (listed,) = listed_taints(cluster(*world, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "nodes-a"}}))
    assert (listed.unknown, listed.near, listed.correction) == ("nodes-a", (), None)


def test_no_correction_is_told_where_that_of_one_field_does_as_well_as_that_of_another():
    """Each name is published, though not both together: which of them is wrong cannot be told."""
    made = rule("r", EXECUTE, None)
    made["spec"]["deviceSelector"] = {"driver": "gpus.example.com", "device": "accel"}
    one, other = slice_of("accel"), slice_of("accels", generation=2)
    other["spec"] |= {"driver": "gpus.example.com"}
    (listed,) = listed_taints(cluster(one, other, made))
    assert not listed.taint.devices
    assert listed.correction is None


@pytest.mark.parametrize(
    ("added", "seconds", "told"),
    [
        (60, 300, "evicted in 4m"),
        (0, 300, "evicted in 5m"),
        (300, 300, "evicted now"),
        (None, 300, "evicted after 300s"),
        (60, 9_000_000_000, "evicted in 285y"),
        (60, 2**63 - 1, "evicted now"),
    ],
)
def test_of_a_taint_that_is_there_the_list_says_how_long_a_toleration_still_lasts(added, seconds, told):
    since = None if added is None else (CLOCK.now() - timedelta(seconds=added)).strftime("%Y-%m-%dT%H:%M:%SZ")
    tolerated = claim("a", tolerations=[{"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds}])
    made = rule("r", DeviceTaint("link", "flapping", "NoExecute", since))
    listed = listed_taints(cluster(slice_of("gpu-0"), pod("a"), tolerated, made))
    assert f"{told}\x1b[0m pod ml/a" in " ".join(" ".join(list_page(listed, CLOCK.now())).split())


def test_a_pod_that_is_being_deleted_is_not_called_kept():
    leaving = pod("a", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    listed = listed_taints(cluster(slice_of("gpu-0"), leaving, claim("a"), rule("r", EXECUTE)))
    page = " ".join(" ".join(list_page(listed, CLOCK.now())).split())
    assert "being deleted\x1b[0m pod ml/a" in page
    assert "kept" not in page


@pytest.mark.parametrize(("seconds", "at_once"), [(2**63 - 1, True), (10**10, True), (9 * 10**9, False)])
def test_seconds_that_are_no_int64_of_nanoseconds_may_be_no_time_for_a_pod_that_gets_the_device(seconds, at_once):
    toleration = DeviceToleration(operator="Exists", effect="NoExecute", toleration_seconds=seconds)
    taint = DeviceTaint("link", "", "NoExecute", "2026-01-01T00:00:00Z")
    assert (evicts_at_once([toleration], taint, CLOCK.now()) is not None) is at_once
