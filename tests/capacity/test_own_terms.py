"""Shapes whose pods keep each other away: the limit is named, with what would fit without it."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.capacity import Capacity, Shape, capacity
from kubectl_dra.diagnosis.capacity.records import DependsOn
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.model.core import Pod
from kubectl_dra.model.features import features
from tests.kit import build, facts
from tests.kit.clock import CLOCK
from tests.kit.state import decoded
from tests.output.pending.test_pods_there import HOST, anti, running

INF = {"matchLabels": {"app": "inf"}}


def counted(affinity: dict[str, Any], *there: dict[str, Any]) -> Capacity:
    """Pods with a device each, on two nodes with three devices each."""
    nodes = [build.node(name, labels={HOST: name}) for name in ("a", "b")]
    slices = [build.slice_(name, *(build.device(f"{name}{i}") for i in range(3))) for name in ("a", "b")]
    template = {
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "one", "namespace": build.NAMESPACE},
        "spec": {"spec": build.claim("x")["spec"]},
    }
    pod = build.pod("inf", templates=["one"], affinity=affinity)
    pod["metadata"]["labels"] = {"app": "inf"}
    inventory = facts.inventory([build.device_class(), build.namespace(), *nodes, *slices, template, *there])
    world = ClusterState(inventory, facts.evidence(), features(), CLOCK)
    _, record = decoded(pod, "v1", "Pod")
    assert isinstance(record, Pod)
    return capacity(world, Shape(record, {}))


def test_how_many_would_fit_without_their_anti_affinity() -> None:
    found = counted(anti(INF), running("inf-0", "a", {"app": "inf"}))
    assert found.copies.value == 1
    assert found.depends_on == (DependsOn.AFFINITY,)
    term = found.own_term
    assert term is not None
    assert (term.topology_key, term.selector, term.copies.value) == (HOST, "app=inf", 6)
    assert term.there == (ObjectRef("Pod", "ml", "inf-0"),)


def test_a_pod_that_runs_with_the_same_term_still_keeps_its_node() -> None:
    found = counted(anti(INF), running("inf-0", "a", {"app": "inf"}, affinity=anti(INF)))
    assert found.own_term is not None
    assert (found.copies.value, found.own_term.copies.value) == (1, 3)


@pytest.mark.parametrize("affinity", [anti({"matchLabels": {"app": "db"}}), {}])
def test_terms_about_others_are_no_limit_of_its_own(affinity: dict[str, Any]) -> None:
    assert counted(affinity, running("db", "a", {"app": "db"})).own_term is None
