"""Devices that claims hold for pods that are gone: said as such, and freed by ending the reservations."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.records import Funnel, HeldFor, ObjectRef
from kubectl_dra.diagnosis.remedies.records import DeletePod, EndReservations
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.output.pending.headline import pending_summary
from kubectl_dra.reports.pending.pending import pending_report
from kubectl_dra.reports.pending.remedies import FoundRemedies, RemedyReport, find_remedies
from tests.kit import build, facts
from tests.kit.clock import CLOCK

POD = Key(build.NAMESPACE, "pod")
SLICE = build.slice_("node-1", build.device("gpu-0"), build.device("gpu-1"))


def world(*objects: dict[str, Any], count: int = 2, withheld: tuple[str, ...] = ()) -> ClusterState:
    wanting = [build.pod(claims=["claim"]), build.claim("claim", build.request(count=count))]
    inventory = facts.inventory([build.device_class(), build.node(), SLICE, *wanting, *objects])
    return ClusterState(inventory, facts.evidence(*withheld), features(), CLOCK)


def held_for(state: ClusterState) -> set[HeldFor]:
    causes = Diagnoser(state).pod(POD).causes
    return {each.held_for for cause in causes if isinstance(cause.detail, Funnel) for each in cause.detail.removed}


def ways(state: ClusterState) -> FoundRemedies:
    return find_remedies(state, Diagnoser(state).pod(POD))


def endings(found: FoundRemedies) -> list[RemedyReport]:
    return [each for each in found.remedies if any(isinstance(action, EndReservations) for action in each.actions)]


def holding(name: str, *devices: str, by: tuple[str, ...], **fields: Any) -> dict[str, Any]:
    return build.claim(name, held=[("node-1", each) for each in devices], by=by, on="node-1", **fields)


STALE = holding("stale", "gpu-0", "gpu-1", by=("old-0",))


def test_a_reservation_for_a_pod_that_is_gone_is_ended() -> None:
    state = world(STALE)
    assert held_for(state) == {HeldFor.GONE}
    (way,) = endings(ways(state))
    frees = ("gpu.example.com/node-1/gpu-0", "gpu.example.com/node-1/gpu-1")
    claim = ObjectRef("ResourceClaim", "ml", "stale")
    assert way.actions == (EndReservations(claim, ("old-0",), HeldFor.GONE, frees),)
    assert (way.verified, way.nodes) == (True, ("node-1",))
    ((words,),) = [step.commands for step in way.steps]
    assert words[:2] == ("kubectl", "patch")
    # The controller frees only what it ends itself.
    assert json.loads(words[words.index("-p") + 1])[-1] == {"op": "remove", "path": "/status/allocation"}


GROUP = {
    "apiVersion": "scheduling.k8s.io/v1beta1",
    "kind": "PodGroup",
    "metadata": {"name": "run-1", "namespace": "ml", "uid": "group-run-1"},
    "spec": {"schedulingPolicy": {"gang": {"minCount": 2}}},
}


def of_group(*members: dict[str, Any], **fields: Any) -> ClusterState:
    """A claim with both devices that PodGroup run-1 keeps."""
    kept = holding("kept", "gpu-0", "gpu-1", by=())
    user = {"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "run-1", "uid": "group-run-1"}
    kept["status"]["reservedFor"] = [user]
    return world(kept, GROUP, *members, **fields)


def member(**fields: Any) -> dict[str, Any]:
    found = build.pod("run-1-0", node_name="node-1", **fields)
    return found | {"spec": {**found["spec"], "schedulingGroup": {"podGroupName": "run-1"}}}


@pytest.mark.parametrize("members", [(), (member(phase="Failed"),)])
def test_a_pod_group_without_pods_keeps_its_claim_until_it_is_deleted(members: tuple[dict[str, Any], ...]) -> None:
    """Upstream: the claim controller ends the reservation of a PodGroup only when that is gone."""
    state = of_group(*members)
    assert held_for(state) == {HeldFor.EMPTY_GROUP}
    (way,) = endings(ways(state))
    assert (way.verified, way.nodes) == (True, ("node-1",))
    ((words,),) = [step.commands for step in way.steps]
    assert words == ("kubectl", "delete", "podgroups.scheduling.k8s.io/run-1", "-n", "ml")


def test_a_pod_group_that_was_made_anew_under_the_name_is_not_to_be_deleted() -> None:
    """What keeps the claim is the one before, whose end the claim controller sees by its uid."""
    again = {**GROUP, "metadata": {**GROUP["metadata"], "uid": "group-run-1-again"}}
    kept = holding("kept", "gpu-0", "gpu-1", by=())
    user = {"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "run-1", "uid": "group-run-1"}
    kept["status"]["reservedFor"] = [user]
    state = world(kept, again)
    assert HeldFor.EMPTY_GROUP not in held_for(state)
    assert endings(ways(state)) == []


def test_what_an_empty_pod_group_keeps_on_another_node_than_the_nearest_is_in_the_first_line() -> None:
    holder = build.pod("holder", node_name="node-2", phase="Running")
    taken = build.claim("taken", held=[("node-2", "gpu-0")], by=["holder"])
    other = build.slice_("node-2", build.device("gpu-0"), build.device("gpu-1"))
    state = of_group(build.node("node-2"), other, holder, taken)
    diagnosis = Diagnoser(state).pod(POD)
    report = pending_report(diagnosis, state, ways=find_remedies(state, diagnosis))
    line = " ".join(str(pending_summary(report)).split())
    assert line.endswith(". 2 devices on node-1 are kept for PodGroup run-1 without pods.")


def test_a_pod_group_that_has_pods_or_whose_pods_are_not_known_is_used() -> None:
    for state in (of_group(member()), of_group(withheld=("Pod",))):
        assert HeldFor.EMPTY_GROUP not in held_for(state)
        assert endings(ways(state)) == []


def test_several_claims_are_freed_together_where_none_is_enough() -> None:
    found = ways(world(holding("a", "gpu-0", by=("old-0",)), holding("b", "gpu-1", by=("old-1",))))
    (way,) = endings(found)
    assert [each.claim.name for each in way.actions if isinstance(each, EndReservations)] == ["a", "b"]
    assert way.nodes == ("node-1",)


def test_a_pod_that_has_finished_holds_nothing_but_was_not_deleted() -> None:
    done = build.pod("old-0", claims=["stale"], node_name="node-1", phase="Succeeded")
    state = world(STALE, done)
    assert held_for(state) == {HeldFor.FINISHED}
    assert len(endings(ways(state))) == 1


@pytest.mark.parametrize("there", [True, False])
def test_nothing_is_said_of_pods_that_are_there_or_were_not_read(there: bool) -> None:
    objects = [build.pod("old-0", claims=["stale"], node_name="node-1", phase="Running")] if there else []
    state = world(STALE, *objects, withheld=() if there else ("Pod",))
    assert held_for(state) == {HeldFor.USED}
    assert endings(ways(state)) == []


def test_one_pod_that_is_there_keeps_the_claim() -> None:
    there = build.pod("there", claims=["both"], node_name="node-1", phase="Running")
    state = world(holding("both", "gpu-0", "gpu-1", by=("old-0", "there")), there)
    assert held_for(state) == {HeldFor.USED}
    assert endings(ways(state)) == []


def test_without_the_finalizer_nobody_would_free_the_devices() -> None:
    assert endings(ways(world({**STALE, "metadata": {**STALE["metadata"], "finalizers": []}}))) == []


def test_a_claim_that_is_held_for_nobody_says_so() -> None:
    state = world(holding("idle", "gpu-0", "gpu-1", by=()))
    assert held_for(state) == {HeldFor.NOBODY}
    assert endings(ways(state)) == []


def test_work_goes_on_where_a_reservation_can_be_ended() -> None:
    running = build.pod("busy", claims=["busy"], node_name="node-1", phase="Running")
    found = ways(
        world(holding("stale", "gpu-0", by=("old-0",)), holding("busy", "gpu-1", by=("busy",)), running, count=1)
    )
    kinds = [type(each.actions[0]) for each in found.remedies]
    assert kinds.index(EndReservations) < kinds.index(DeletePod)
