"""PodGroup, Workload, CompositePodGroup: what is read of them, in which versions, and what they show."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kubectl_dra.api.decode import DecodeError, decode_object
from kubectl_dra.api.defaults import defaulted
from kubectl_dra.api.encode import encode
from kubectl_dra.api.kinds import BY_NAME
from kubectl_dra.api.validate import validate
from kubectl_dra.model.evidence import Coverage
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.scheduling import DisruptionMode, Marker, PodGroup
from kubectl_dra.model.signs import shown_gates
from kubectl_dra.reports.snapshot import objects_of
from tests.kit.state import build_inventory

V1BETA1, V1ALPHA3 = "scheduling.k8s.io/v1beta1", "scheduling.k8s.io/v1alpha3"
TEMPLATE = {
    "schedulingPolicy": {"gang": {"minCount": 4}},
    "schedulingConstraints": {"topology": [{"key": "rack"}]},
    "resourceClaims": [{"name": "shared", "resourceClaimTemplateName": "gpus"}],
    "disruptionMode": {"all": {}},
    "priorityClassName": "high",
    "priority": 100,
    "preemptionPolicy": "Never",
}
GROUP: dict[str, Any] = {
    "kind": "PodGroup",
    "metadata": {"name": "train", "namespace": "team", "uid": "1"},
    "spec": {
        "parentCompositePodGroupName": "all",
        "workloadRef": {"workloadName": "job", "templateName": "workers"},
        **TEMPLATE,
    },
    "status": {
        "conditions": [{"type": "PodGroupInitiallyScheduled", "status": "False", "reason": "Unschedulable"}],
        "resourceClaimStatuses": [{"name": "shared", "resourceClaimName": "train-shared-x"}],
    },
}
WORKLOAD: dict[str, Any] = {
    "kind": "Workload",
    "metadata": {"name": "job", "namespace": "team"},
    "spec": {
        "controllerRef": {"apiGroup": "batch", "kind": "Job", "name": "job"},
        "podGroupTemplates": [{"name": "workers", **TEMPLATE}],
    },
}
COMPOSITE: dict[str, Any] = {
    "kind": "CompositePodGroup",
    "metadata": {"name": "all", "namespace": "team"},
    "spec": {
        "workloadRef": {"workloadName": "job", "templateName": "all"},
        "schedulingPolicy": {"gang": {"minGroupCount": 2}},
        "disruptionMode": {"single": {}},
    },
}


def read(written: dict[str, Any], api_version: str) -> Inventory:
    kind = BY_NAME[written["kind"]]
    return build_inventory([(kind, decode_object(json.dumps(written).encode(), api_version, kind))])


@pytest.mark.parametrize(
    ("written", "api_version"),
    [
        *((each, version) for each in (GROUP, WORKLOAD) for version in (V1BETA1, V1ALPHA3)),
        (COMPOSITE, V1ALPHA3),
    ],
    ids=lambda value: value["kind"] if isinstance(value, dict) else value,
)
def test_everything_that_the_scheduler_reads_survives(written: dict[str, Any], api_version: str) -> None:
    kind = BY_NAME[written["kind"]]
    record = decode_object(json.dumps(written).encode(), api_version, kind)
    assert json.loads(encode(record, kind)) == {"apiVersion": kind.api_version, **written}
    assert [found for each, found in objects_of(read(written, api_version)) if each is kind] == [record]


@pytest.mark.parametrize("version", ["v1alpha1", "v1alpha2"])
def test_versions_that_are_gone_are_refused_by_name(version: str) -> None:
    with pytest.raises(DecodeError, match=rf"no PodGroup in apiVersion scheduling\.k8s\.io/{version}, only in"):
        read(GROUP, f"scheduling.k8s.io/{version}")


def test_there_was_no_group_of_groups_in_v1beta1() -> None:
    with pytest.raises(DecodeError, match=r"no CompositePodGroup in apiVersion scheduling\.k8s\.io/v1beta1, only"):
        read(COMPOSITE, V1BETA1)


@pytest.mark.parametrize(
    ("policy", "needed"), [({"gang": {"minCount": 3}}, 3), ({"basic": {}}, 1), ({}, 1)], ids=["gang", "basic", "none"]
)
def test_one_pod_is_enough_for_what_is_no_gang(policy: dict[str, Any], needed: int) -> None:
    group = {**GROUP, "spec": {"schedulingPolicy": policy}}
    found = read(group, V1BETA1).groups.pod_groups[Key("team", "train")]
    assert (found.min_count, found.evicted_as_one, found.topology_key) == (needed, False, None)


def group(**spec: Any) -> dict[str, Any]:
    return {**GROUP, "spec": {"schedulingPolicy": {"basic": {}}, **spec}, "status": {}}


def member(**spec: Any) -> dict[str, Any]:
    return {"kind": "Pod", "metadata": {"name": "pod", "namespace": "team"}, "spec": spec}


def claim(api_version: str, kind: str, user: str = "pods") -> dict[str, Any]:
    owner = {"apiVersion": api_version, "kind": kind, "name": "train", "uid": "1", "controller": True}
    users = [{"apiGroup": "scheduling.k8s.io", "resource": user, "name": "train", "uid": "1"}]
    metadata = {"name": "claim", "namespace": "team", "ownerReferences": [owner]}
    return {"kind": "ResourceClaim", "metadata": metadata, "spec": {}, "status": {"reservedFor": users}}


TOGETHER = {"GenericWorkload"}
PLACEMENTS = "pod group is unschedulable, 0/1 placements are available, first placement status: minCount (2) …"
SHARED = TOGETHER | {"DRAWorkloadResourceClaims"}


@pytest.mark.parametrize(
    ("written", "api_version", "shown"),
    [
        (member(), "v1", set()),
        (member(schedulingGroup={"podGroupName": "train"}), "v1", TOGETHER),
        (group(), V1BETA1, TOGETHER),
        (WORKLOAD, V1BETA1, TOGETHER),
        (group(schedulingConstraints={}), V1BETA1, TOGETHER | {"TopologyAwareWorkloadScheduling"}),
        (
            {**group(), "status": {"conditions": [{"type": "PodGroupInitiallyScheduled", "message": PLACEMENTS}]}},
            V1BETA1,
            TOGETHER | {"TopologyAwareWorkloadScheduling"},
        ),
        (group(preemptionPolicy="Never"), V1BETA1, TOGETHER | {"PodGroupPreemptionPolicy"}),
        (group(resourceClaims=[{"name": "a", "resourceClaimName": "a"}]), V1BETA1, SHARED),
        (claim("v1", "Pod"), "resource.k8s.io/v1", set()),
        (claim(V1ALPHA3, "PodGroup"), "resource.k8s.io/v1", SHARED),
        (claim("v1", "Pod", "podgroups"), "resource.k8s.io/v1", SHARED),
        (claim("example.com/v1", "PodGroup"), "resource.k8s.io/v1", set()),
        (COMPOSITE, V1ALPHA3, TOGETHER | {"TopologyAwareWorkloadScheduling", "CompositePodGroup"}),
    ],
)
def test_what_a_server_keeps_is_on(written: dict[str, Any], api_version: str, shown: set[str]) -> None:
    inventory = read(written, api_version)
    assert shown_gates(inventory, 37) == shown
    # Before, the same fields had other rules.
    assert shown_gates(inventory, 36) == set()
    found = features(37, {}, shown_gates(inventory, 37))
    assert (found.generic_workload, found.workload_resource_claims) == (bool(shown), shown >= SHARED)
    assert found.composite_pod_groups == ("CompositePodGroup" in shown)


@pytest.mark.parametrize(
    ("coverage", "shown"),
    [
        (Coverage.COMPLETE, TOGETHER),
        (Coverage.ASSUMED, set()),
        (Coverage.FORBIDDEN, set()),
        (Coverage.NOT_SERVED, set()),
    ],
)
def test_who_serves_groups_has_the_feature(coverage: Coverage, shown: set[str]) -> None:
    assert shown_gates(read(member(), "v1"), 37, coverage) == shown
    grouped = read(member(schedulingGroup={"podGroupName": "train"}), "v1")
    # Pods keep what was written while the feature was on; a server without PodGroups has it off now.
    assert shown_gates(grouped, 37, coverage) == (set() if coverage is Coverage.NOT_SERVED else TOGETHER)
    assert shown_gates(grouped, 36, coverage) == set()


def test_nothing_of_it_is_on_by_itself() -> None:
    found = features(37)
    assert not (found.generic_workload or found.workload_resource_claims or found.topology_aware_workloads)


# --- what the API server refuses; the words are those of a real one, 1.37.1 -------------------------------------------

BASIC: dict[str, Any] = {"schedulingPolicy": {"basic": {}}}
SOURCES = "`resourceClaimName`, `resourceClaimTemplateName`"


def shared(**entry: Any) -> dict[str, Any]:
    return {**BASIC, "resourceClaims": [{"name": "c", **entry}]}


@pytest.mark.parametrize(
    ("spec", "problems"),
    [
        (BASIC, []),
        ({"schedulingPolicy": {}}, ['spec.schedulingPolicy: Invalid value: "": must specify one of: `basic`, `gang`']),
        (
            {"schedulingPolicy": {"basic": {}, "gang": {"minCount": 2}}},
            ['spec.schedulingPolicy: Invalid value: "{basic, gang}": must specify exactly one of: `basic`, `gang`'],
        ),
        ({"schedulingPolicy": {"gang": {}}}, ["spec.schedulingPolicy.gang.minCount: Required value"]),
        (
            {"schedulingPolicy": {"gang": {"minCount": -1}}},
            ["spec.schedulingPolicy.gang.minCount: Invalid value: -1: must be greater than or equal to 1"],
        ),
        (
            {**BASIC, "schedulingConstraints": {"topology": [{"key": "a"}, {"key": "b"}]}},
            ["spec.schedulingConstraints.topology: Too many: 2: must have at most 1 item"],
        ),
        (
            {**BASIC, "schedulingConstraints": {"topology": [{"key": ""}]}},
            ["spec.schedulingConstraints.topology[0].key: Required value"],
        ),
        (
            {**BASIC, "resourceClaims": [{"name": f"c{i}", "resourceClaimName": "x"} for i in range(5)]},
            ["spec.resourceClaims: Too many: 5: must have at most 4 items"],
        ),
        (shared(), [f'spec.resourceClaims[0]: Invalid value: "": must specify one of: {SOURCES}']),
        (
            shared(resourceClaimName="x", resourceClaimTemplateName="y"),
            [
                'spec.resourceClaims[0]: Invalid value: "{resourceClaimName, resourceClaimTemplateName}": '
                f"must specify exactly one of: {SOURCES}"
            ],
        ),
        (
            {**BASIC, "resourceClaims": [{"name": "c", "resourceClaimName": name} for name in ("x", "y")]},
            ['spec.resourceClaims[1]: Duplicate value: {"name":"c","resourceClaimName":"y"}'],
        ),
        (shared(name="", resourceClaimName="x"), ["spec.resourceClaims[0].name: Required value"]),
        (
            {**BASIC, "disruptionMode": {"single": {}, "all": {}}},
            ['spec.disruptionMode: Invalid value: "{single, all}": must specify exactly one of: `single`, `all`'],
        ),
        (
            {**BASIC, "disruptionMode": {}},
            ['spec.disruptionMode: Invalid value: "": must specify one of: `single`, `all`'],
        ),
        (
            {**BASIC, "workloadRef": {}},
            ["spec.workloadRef.workloadName: Required value", "spec.workloadRef.templateName: Required value"],
        ),
    ],
)
def test_what_the_server_refuses_is_refused_in_its_words(spec: dict[str, Any], problems: list[str]) -> None:
    group = {"kind": "PodGroup", "metadata": {"name": "train", "namespace": "team"}, "spec": spec}
    record = read(group, V1BETA1).groups.pod_groups[Key("team", "train")]
    assert [str(each) for each in validate(defaulted(record))] == problems


def test_without_a_mode_pods_are_evicted_one_by_one() -> None:
    record = read({**GROUP, "spec": dict(BASIC)}, V1BETA1).groups.pod_groups[Key("team", "train")]
    found = defaulted(record)
    assert isinstance(found, PodGroup)
    assert found.spec.disruption_mode == DisruptionMode(single=Marker())
    assert defaulted(found) == found
