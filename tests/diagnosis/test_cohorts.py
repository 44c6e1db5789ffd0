"""What a ClusterQueue can have with its cohorts, and whether that is enough.

Expected amounts follow kubernetes-sigs/kueue, pkg/cache/scheduler/resource_node.go.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from kubectl_dra.api.queues import queue_objects
from kubectl_dra.api.sources import Source
from kubectl_dra.diagnosis.gates.cohorts import share
from kubectl_dra.diagnosis.gates.flavor_choice import PlannedSet
from kubectl_dra.diagnosis.gates.queue_room import QueueRoom, Room, queue_room
from kubectl_dra.model.core import Pod, PodSpec
from kubectl_dra.model.queues import QueueObjects

ALL = ("ClusterQueue", "Cohort", "ResourceFlavor")
GPU = "gpus"


def thing(kind: str, name: str, spec: dict[str, Any], status: dict[str, Any] | None = None) -> Source:
    body = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": {"name": name}, "spec": spec}
    return Source(json.dumps({**body, "status": status or {}}).encode(), "kueue.x-k8s.io/v1beta2", kind)


def groups(nominal: int, *flavors: str, **limits: int) -> dict[str, Any]:
    quota = {"name": GPU, "nominalQuota": nominal, **limits}
    return {
        "resourceGroups": [
            {"coveredResources": [GPU], "flavors": [{"name": each, "resources": [quota]} for each in flavors or ("f",)]}
        ]
    }


def queue(name: str, nominal: int, cohort: str = "", used: int = 0, **limits: int) -> Source:
    usage = {"flavorsReservation": [{"name": "f", "resources": [{"name": GPU, "total": used}]}]}
    return thing("ClusterQueue", name, {**groups(nominal, **limits), "cohortName": cohort}, usage)


def cohort(name: str, nominal: int = 0, parent: str = "", **limits: int) -> Source:
    return thing("Cohort", name, {**groups(nominal, **limits), "parentName": parent})


def have(*sources: Source, known: tuple[str, ...] = ALL) -> tuple[int | None, int | None]:
    objects = queue_objects(sources, known)
    found = share(objects, objects.cluster_queues["q"], "f", GPU)
    return found.most, found.unused


@pytest.mark.parametrize(
    ("sources", "most", "unused"),
    [
        ([queue("q", 16, used=8)], 16, 8),
        # Without a cohort a limit of borrowing means nothing.
        ([queue("q", 16, borrowingLimit=4)], 16, 16),
        ([queue("q", 16, "all", borrowingLimit=4)], 16, 16),
        ([queue("q", 16, "all", 8), queue("r", 3, "all", 1)], 19, 10),
        ([queue("q", 16, "all", borrowingLimit=2), queue("r", 8, "all")], 18, 18),
        ([queue("q", 16, "all"), queue("r", 8, "all", lendingLimit=3)], 19, 19),
        ([queue("q", 16, "all"), queue("r", 8, "other")], 16, 16),
        # What others lend and have borrowed is gone; what they keep is theirs.
        ([queue("q", 4, "all"), queue("r", 8, "all", 6, lendingLimit=3)], 7, 6),
        ([queue("q", 4, "all"), cohort("all", 5)], 9, 9),
        ([queue("q", 4, "team"), cohort("team", 0, "all"), queue("r", 10, "all")], 14, 14),
        ([queue("q", 4, "team"), cohort("team", 0, "all", borrowingLimit=3), queue("r", 10, "all")], 7, 7),
        ([queue("q", 4, "all"), queue("r", 10, "team"), cohort("team", 0, "all", lendingLimit=2)], 6, 6),
        ([queue("q", 4, "a"), cohort("a", 0, "b"), cohort("b", 0, "a")], None, None),
    ],
)
def test_what_a_queue_can_have(sources: list[Source], most: int | None, unused: int | None) -> None:
    assert have(*sources) == (most, unused)


def test_what_is_not_read_of_a_cohort_may_lend_anything_up_to_the_limit() -> None:
    assert have(queue("q", 16, "all", 8), known=("ClusterQueue",)) == (None, None)
    assert have(queue("q", 16, "all", 8, borrowingLimit=4), known=()) == (20, 12)
    assert have(queue("q", 16, used=8), known=()) == (16, 8)


def many_cohorts() -> list[Source]:
    return [cohort(f"c{number}", 0, f"c{number + 1}") for number in range(1500)]


def test_cohorts_without_end_are_not_followed() -> None:
    assert have(queue("q", 4, "c0"), *many_cohorts()) == (None, None)


# --- room -------------------------------------------------------------------------------------------------------------


def pods(
    copies: int,
    each: int,
    *,
    name: str = "w",
    selector: dict[str, str] | None = None,
    resource: str = GPU,
    least: int | None = None,
) -> PlannedSet:
    pod = Pod(spec=PodSpec(node_selector=selector or {}))
    return PlannedSet(name, copies, {resource: each}, pod, {}, copies if least is None else least, ("spec.replicas", 1))


def room(sources: list[Source], *sets: PlannedSet, units: int = 1, undeclared: Room = Room.NEVER) -> QueueRoom:
    objects: QueueObjects = queue_objects(sources, ALL)
    return queue_room(objects, objects.cluster_queues["q"], sets, units, undeclared=undeclared)


@pytest.mark.parametrize(
    ("copies", "found"), [(1, Room.NOW), (2, Room.LATER), (3, Room.NEVER)], ids=["now", "later", "never"]
)
def test_what_is_in_use_comes_back(copies: int, found: Room) -> None:
    assert room([queue("q", 16, used=8)], pods(copies, 8)).room is found


def test_the_numbers_of_what_never_fits() -> None:
    told = room([queue("q", 16, "all", 8, borrowingLimit=4)], pods(1, 0, name="driver"), pods(3, 8))
    assert (told.requested, told.most, told.nominal, told.unused, told.cohort) == ("24", "16", "16", "8", "all")
    assert [(part.role, part.copies, part.each) for part in told.parts] == [("w", 3, "8")]
    assert told.smaller is not None
    assert (told.smaller.field, told.smaller.value, told.smaller.now) == ("spec.replicas", 2, False)
    assert told.more is not None
    assert (told.more.field, told.more.after) == ("resourceGroups[0].flavors[0].resources[0].nominalQuota", "24")


def of_flavors(*names: str) -> Source:
    return thing("ClusterQueue", "q", groups(8, *names))


def flavor(name: str, taints: list[dict[str, str]] | None = None) -> Source:
    return thing("ResourceFlavor", name, {"nodeLabels": {"pool": name}, "nodeTaints": taints or []})


def test_all_pods_of_a_set_get_one_flavor_and_sets_may_get_different_ones() -> None:
    assert room([of_flavors("a", "b")], pods(2, 8)).room is Room.NEVER
    assert room([of_flavors("a", "b")], pods(1, 8), pods(1, 8, name="x")).room is Room.NOW
    assert room([of_flavors("a", "b")], *(pods(1, 8, name=name) for name in "xyz")).room is Room.NEVER


def test_a_flavor_counts_only_where_the_pods_may_get_it() -> None:
    sources = [of_flavors("a", "b"), flavor("a"), flavor("b")]
    both = pods(1, 8, selector={"pool": "a"}), pods(1, 8, name="x", selector={"pool": "a"})
    assert room(sources, *both).flavors == ("a",)
    assert room(sources, *both).room is Room.NEVER
    tainted = [of_flavors("a"), flavor("a", [{"key": "k", "value": "v", "effect": "NoSchedule"}])]
    assert room(tainted, pods(1, 1)).room is Room.NEVER
    assert room(tainted, pods(1, 1)).flavors == ()
    soft = [of_flavors("a"), flavor("a", [{"key": "k", "value": "v", "effect": "PreferNoSchedule"}])]
    assert room(soft, pods(1, 1)).room is Room.NOW


def test_without_any_quota_of_a_resource() -> None:
    told = room([queue("q", 16)], pods(1, 2000, resource="cpu"))
    assert (told.room, told.uncovered, told.requested) == (Room.NEVER, True, "2")
    assert room([queue("q", 16)], pods(1, 2000, resource="cpu"), undeclared=Room.UNKNOWN).room is Room.UNKNOWN
    assert room([queue("q", 16)], pods(1, 2000, resource="cpu"), undeclared=Room.NOW).room is Room.NOW
    assert room([queue("q", 16)], pods(1, 0, resource="cpu")).room is Room.NOW


def test_fewer_pods_may_be_enough() -> None:
    """A batch Job may say with how few pods Kueue starts it."""
    found = room([queue("q", 16)], pods(3, 8, least=2))
    assert (found.room, found.starts) == (Room.NOW, 2)
    assert room([queue("q", 16)], pods(3, 8, least=3)).room is Room.NEVER


def test_pods_that_are_admitted_one_by_one() -> None:
    assert room([queue("q", 16)], pods(1, 8), units=2).room is Room.NOW
    some = room([queue("q", 16)], pods(1, 8), units=3)
    assert (some.room, some.at_a_time, some.units, some.requested) == (Room.SOME, 2, 3, "24")
    later = room([queue("q", 16, used=8)], pods(1, 8), units=2)
    assert (later.room, later.at_a_time) == (Room.LATER, 1)
    assert room([queue("q", 16)], pods(1, 17), units=3).room is Room.NEVER
    assert room([queue("q", 1000)], pods(1, 1), units=500).room is Room.NOW


def test_many_pods_that_are_admitted_one_by_one_are_counted_over_all_flavors() -> None:
    """As many as there are places for, with no search: three flavors of 8, and more pods than are tried one by one."""
    found = room([of_flavors("a", "b", "c")], pods(1, 3), units=20)
    each = found.most
    assert (found.room, found.units) == (Room.SOME, 20)
    assert found.at_a_time == 3 * (int(each) // 3)
    assert found.more is not None
    # What the other flavors have is not asked of the one that is raised.
    assert int(found.more.after) - int(found.more.before) == (20 - found.at_a_time) * 3
    many = room([queue("q", 70)], pods(1, 1), units=3000)
    assert (many.room, many.at_a_time, many.untried) == (Room.SOME, 70, False)
    assert room([queue("q", 3000)], pods(1, 1), units=3000).room is Room.NOW


def test_what_a_cohort_lends_is_not_known() -> None:
    objects = queue_objects([queue("q", 16, "all")], ("ClusterQueue",))
    found = queue_room(objects, objects.cluster_queues["q"], [pods(3, 8)], undeclared=Room.NEVER)
    assert found.room is Room.UNKNOWN


def test_too_many_choices_are_not_tried_to_the_end() -> None:
    names = [f"f{number}" for number in range(16)]
    sets = [pods(1, 5, name=str(number)) for number in range(17)]
    found = room([of_flavors(*names)], *sets)
    assert (found.room, found.untried) == (Room.UNKNOWN, True)
