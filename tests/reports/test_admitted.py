"""What creation does to objects of a simulation: priorities, selectors, and what is around volumes."""

from __future__ import annotations

import json
from typing import Any

from kubectl_dra.api.planned import Planned, read_planned
from kubectl_dra.api.sources import Source
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.reports.admitted import admitted
from kubectl_dra.reports.simulation.existing import with_objects
from tests.kit.state import state_of


def planned(**content: Any) -> Planned:
    return read_planned(Source(json.dumps(content).encode(), content["apiVersion"], content["kind"]), "ml")


def pod(labels: dict[str, str] | None = None, **spec: Any) -> Planned:
    meta = {"name": "p", "labels": labels or {}}
    return planned(apiVersion="v1", kind="Pod", metadata=meta, spec={"containers": [{"name": "c"}], **spec})


def classes(*given: tuple[str, int, bool, str | None]) -> Inventory:
    inventory = Inventory()
    for name, value, default, policy in given:
        fields = {"preemptionPolicy": policy} if policy is not None else {}
        made = planned(
            apiVersion="scheduling.k8s.io/v1",
            kind="PriorityClass",
            metadata={"name": name},
            value=value,
            globalDefault=default,
            **fields,
        )
        assert made.record is not None
        inventory = with_objects(state_of(inventory), [made]).inventory
    return inventory


def stored(inventory: Inventory, given: Planned) -> Pod:
    (found,) = admitted(state_of(inventory), [given])
    return found.pods[0].pod


def test_the_class_gives_priority_and_policy() -> None:
    known = classes(("high", 1000, False, "Never"))
    found = stored(known, pod(priorityClassName="high")).spec
    assert (found.priority, found.preemption_policy) == (1000, "Never")
    assert stored(known, pod(priorityClassName="system-node-critical")).spec.priority == 2_000_001_000
    assert stored(known, pod()).spec.priority is None


def test_the_lowest_of_several_default_classes_counts() -> None:
    known = classes(("a", 20, True, None), ("b", 10, True, None), ("c", 5, False, None))
    assert stored(known, pod()).spec.priority == 10


def test_keys_of_labels_are_merged_into_selectors() -> None:
    term = {
        "topologyKey": "zone",
        "labelSelector": {"matchLabels": {"app": "x"}},
        "matchLabelKeys": ["version", "absent"],
        "mismatchLabelKeys": ["tenant"],
    }
    spread = {
        "topologyKey": "zone",
        "maxSkew": 1,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {},
        "matchLabelKeys": ["version"],
    }
    given = pod(
        {"version": "2", "tenant": "t"},
        affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}},
        topologySpreadConstraints=[spread, {**spread, "labelSelector": None}],
    )
    spec = stored(Inventory(), given).spec
    assert spec.affinity is not None
    assert spec.affinity.pod_anti_affinity is not None
    (merged,) = spec.affinity.pod_anti_affinity.required_during_scheduling_ignored_during_execution
    assert merged.label_selector is not None
    found = [(each.key, each.operator, each.values) for each in merged.label_selector.match_expressions]
    assert found == [("version", "In", ("2",)), ("tenant", "NotIn", ("t",))]
    first, second = spec.topology_spread_constraints
    assert first.label_selector is not None
    assert [each.key for each in first.label_selector.match_expressions] == ["version"]
    assert second.label_selector is None


def test_what_is_around_volumes_comes_into_being() -> None:
    inventory = Inventory()
    for each in (
        planned(
            apiVersion="v1", kind="PersistentVolumeClaim", metadata={"name": "c"}, spec={}, status={"phase": "Bound"}
        ),
        planned(apiVersion="v1", kind="PersistentVolume", metadata={"name": "v"}, spec={}),
        planned(apiVersion="storage.k8s.io/v1", kind="StorageClass", metadata={"name": "s"}, provisioner="d"),
    ):
        assert each.record is not None
        inventory = with_objects(state_of(inventory), [each]).inventory
    storage = inventory.storage
    assert storage.claims[Key("ml", "c")].status.phase == "Pending"
    assert storage.volumes["v"].status.phase == "Available"
    assert storage.classes["s"].volume_binding_mode == "Immediate"
