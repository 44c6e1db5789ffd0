"""Work in a queue of Kueue: quota, flavor, queue and devices are told apart.

Messages are those of Kueue's scheduler; versions before there were reasons told by words alone.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from kubectl_dra.api.queues import is_queue_object, queue_objects, with_files
from kubectl_dra.api.sources import Source
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.gates.queues import FlavorQuota, HeldBy, Queued, queued
from kubectl_dra.diagnosis.records import Cause, GangElsewhere, ObjectRef
from kubectl_dra.model.features import features
from kubectl_dra.model.invocation import HERE, Address
from kubectl_dra.model.queues import NO_QUEUES, QueueObjects
from kubectl_dra.output.pending.queues import queue_lines, queue_reason, work_lines
from kubectl_dra.output.pending.reasons import reason_sentence
from tests.kit import facts
from tests.kit.clock import CLOCK

NS = "ml"
ALL = ("Workload", "LocalQueue", "ClusterQueue")


def source(kind: str, name: str, namespace: str = "", version: str = "v1beta2", **fields: Any) -> Source:
    meta = {"name": name, **({"namespace": namespace} if namespace else {}), **fields.pop("meta", {})}
    body = {"apiVersion": f"kueue.x-k8s.io/{version}", "kind": kind, "metadata": meta, **fields}
    return Source(json.dumps(body).encode(), body["apiVersion"], kind)


def local(name: str = "team", cluster: str = "research", **spec: Any) -> Source:
    return source("LocalQueue", name, NS, spec={"clusterQueue": cluster, **spec})


def cluster(nominal: Any = 4, reserved: Any = 3, **spec: Any) -> Source:
    flavor = {"name": "h100", "resources": [{"name": "cpu", "nominalQuota": nominal}]}
    used = [{"name": "h100", "resources": [{"name": "cpu", "total": reserved}]}]
    groups = [{"coveredResources": ["cpu"], "flavors": [flavor]}]
    return source(
        "ClusterQueue", "research", spec={"resourceGroups": groups, **spec}, status={"flavorsReservation": used}
    )


def work(*conditions: tuple[str, str, str, str], owner: str = "train", **fields: Any) -> Source:
    listed = [dict(zip(("type", "status", "reason", "message"), each, strict=True)) for each in conditions]
    meta = {"ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": owner, "uid": "1"}]}
    return source(
        "Workload", f"job-{owner}-1", NS, meta=meta, status={"conditions": listed, **fields.pop("status", {})}, **fields
    )


def state(objects: QueueObjects) -> ClusterState:
    inventory = facts.inventory([]).replace(queues=objects)
    return ClusterState(inventory, facts.evidence(), features(), CLOCK)


def found(*sources: Source, complete: tuple[str, ...] = ALL, refused: tuple[str, ...] = ()) -> Queued:
    return queued(state(queue_objects(sources, complete, refused)), "team", NS, ("Job", "train"))


def unreserved(reason: str, message: str) -> tuple[str, str, str, str]:
    return ("QuotaReserved", "False", reason, message)


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (
            'couldn\'t assign flavors to pod set main: topology "racks" allows to fit only 2 out of 4 pod(s)',
            "topology racks (ClusterQueue research) has room for only 2 of its 4 pods",
        ),
        (
            "couldn't assign flavors to pod set main: topology \"racks\" doesn't allow to fit any of 4 pod(s)",
            "topology racks (ClusterQueue research) has no room for any of its 4 pods",
        ),
        (
            'couldn\'t assign flavors to pod set main: topology "racks" allows to fit only 1 out of 2 slice(s). Total '
            'nodes: 6; excluded: nodeSelector: 1, resource "nvidia.com/gpu": 3, taint "m=true:NoSchedule": 1',
            "topology racks (ClusterQueue research) has room for only 1 of its 2 slices (of 6 nodes it leaves out 1 by "
            "its node selector, 3 without enough nvidia.com/gpu and 1 with taint m=true:NoSchedule)",
        ),
        (
            'couldn\'t assign flavors to pod set main: topology "racks" allows to fit only 1 out of 2 pod(s). Total '
            "nodes: 6; excluded: schedulerLibraryNoFit: 3",
            "topology racks (ClusterQueue research) has room for only 1 of its 2 pods",
        ),
        ("topology racks: no", "no part of the topology in ClusterQueue research has room for all of its pods"),
    ],
)
def test_how_many_pods_the_topology_has_room_for_is_told(message: str, told: str) -> None:
    waits = found(local(), cluster(), work(unreserved("TopologyPlacementFailed", message)))
    assert queue_reason(waits) == told
    lines = " ".join(" ".join(queue_lines(waits, NS)).split())
    slices = "slice(s)" in message
    assert ("Start fewer pods, wait until" in lines) is not slices
    assert ("kueue.x-k8s.io/podset-preferred-topology in place of" in lines) is not slices
    assert ("kueue.x-k8s.io/podset-slice-size" in lines) is slices
    # Its words stand below where the sentence has not all of them.
    assert ("Kueue: " in lines) is ("schedulerLibraryNoFit" in message or message.startswith("topology"))


def too_many(resource: str, *flavors: tuple[str, int, int, int], pods: str = "main") -> str:
    texts = (
        f"insufficient quota for {resource} in flavor {flavor}, previously considered podsets requests ({others}) + "
        f"current podset request ({own}) > maximum capacity ({most})"
        for flavor, others, own, most in flavors
    )
    return f"couldn't assign flavors to pod set {pods}: {', '.join(texts)}"


def excess_page(message: str, *counts: int, queue: bool = False, owner: ObjectRef | None = None) -> tuple[str, str]:
    """The reason, and the lines, of work with so many pods in each of its sets."""
    sets = [{"name": "main" if index == 0 else f"other-{index}", "count": count} for index, count in enumerate(counts)]
    said = work(unreserved("ExceedsMaxQuota", message), spec={"podSets": sets})
    told = found(local(), *([cluster()] if queue else []), said, complete=ALL if queue else ("LocalQueue", "Workload"))
    lines = queue_lines(told, NS, work=owner or ObjectRef("Job", NS, "train"))
    return str(queue_reason(told)), " ".join(" ".join(lines).split())


def test_by_how_much_more_is_requested_than_a_queue_can_have_is_told_with_what_is_small_enough() -> None:
    message = too_many("gpu", ("l40s", 0, 8, 6))
    reason, lines = excess_page(message, 2)
    assert reason == "it requests 8 gpu (2 pods × 4), and ClusterQueue research can have at most 6 (flavor l40s)"
    assert "insufficient quota" not in lines  # its numbers are all told
    assert "have 1 of its 2 pods run at a time (it requests 4 then)" in lines
    assert """kubectl patch job/train -n ml --type=merge -p '{"spec":{"parallelism":1}}'""" in lines
    assert "with a request of at most 3 gpu for each of its pods" in lines
    assert "raise its nominalQuota of gpu (flavor l40s) by 2" in lines
    # Only the parallelism of a Job can be changed.
    _, other = excess_page(message, 2, owner=ObjectRef("JobSet", NS, "train"))
    assert "kubectl" not in other
    assert "create it again with 1 in place of 2 pods (it requests 4 then)" in other


def test_what_a_queue_has_of_its_own_is_told_where_it_was_read() -> None:
    _, lines = excess_page(too_many("cpu", ("h100", 0, 10, 5)), 2, queue=True)
    assert "raise its nominalQuota of cpu (flavor h100) from 4 to 9" in lines
    assert "for each of its pods" not in lines  # of amounts no whole number is made


def test_pods_of_other_sets_count_and_are_not_made_fewer() -> None:
    reason, lines = excess_page(too_many("gpu", ("l40s", 2, 8, 6)), 4, 1)
    assert reason == "it requests 10 gpu, and ClusterQueue research can have at most 6 (flavor l40s)"
    assert "at a time" not in lines
    assert "with a request of at most 1 gpu for each of its pods" in lines
    # The words of a second set say something else again, and are kept.
    message = f"{too_many('gpu', ('l40s', 0, 8, 6))}; {too_many('gpu', ('l40s', 0, 9, 6), pods='other-1')}"
    assert "Kueue: couldn't assign" in excess_page(message, 2, 1)[1]


def test_where_not_even_one_pod_is_small_enough_fewer_are_not_advised() -> None:
    reason, lines = excess_page(too_many("gpu", ("a", 0, 8, 6), ("b", 0, 8, 2)), 1)
    assert reason == "it requests 8 gpu, and ClusterQueue research can have at most 6 (flavor a) or 2 (flavor b)"
    assert "pods" not in lines
    assert "create it again with a request of at most 6 gpu" in lines


def both(gpu: tuple[str, int, int, int], cpu: tuple[str, int, int, int]) -> str:
    """Kueue's words about two resources; it sorts them."""
    head, _, more = too_many("gpu", gpu).partition(": ")
    return f"{head}: {too_many('cpu', cpu).partition(': ')[2]}, {more}"


def test_resources_that_one_flavor_lacks_are_told_and_raised_together() -> None:
    """Of cpu 3 pods would fit and of gpu 1: 1 is what fits by both."""
    message = both(("l40s", 0, 16, 4), ("l40s", 0, 16, 12))
    reason, lines = excess_page(message, 4)
    assert reason == (
        "it requests 16 cpu and 16 gpu (4 pods × 4), and ClusterQueue research can have at most 12 cpu and 4 gpu "
        "(flavor l40s)"
    )
    assert "have 1 of its 4 pods run at a time, if" in lines
    assert '{"spec":{"parallelism":1}}' in lines
    assert "raise its nominalQuota of cpu (flavor l40s) by 4 and of gpu (flavor l40s) by 12" in lines
    assert "create it again" not in lines  # fewer gpus alone are not enough
    # Where no pod fits by one of them, fewer are no way out, whatever the other has room for.
    _, none = excess_page(both(("l40s", 0, 16, 3), ("l40s", 0, 16, 12)), 4)
    assert "at a time" not in none


def test_several_whole_numbers_are_made_smaller_together() -> None:
    head, _, nic = too_many("nic", ("l40s", 0, 4, 2)).partition(": ")
    message = f"{head}: {too_many('gpu', ('l40s', 0, 8, 4)).partition(': ')[2]}, {nic}"
    _, lines = excess_page(message, 2)
    assert "have 1 of its 2 pods run at a time (it requests 4 gpu and 2 nic then)" in lines
    assert "with a request of at most 2 gpu and 1 nic for each of its pods" in lines


def test_resources_that_different_flavors_lack_are_alternatives() -> None:
    reason, lines = excess_page(both(("l40s", 0, 8, 4), ("spot", 0, 8, 6)), 2)
    assert reason == (
        "it requests 8 cpu and 8 gpu (2 pods × 4), and ClusterQueue research can have at most 6 cpu (flavor spot) or "
        "4 gpu (flavor l40s)"
    )
    assert "raise its nominalQuota of cpu (flavor spot) by 2" in lines
    assert "gpu" not in lines


def test_words_about_quota_that_say_more_are_quoted() -> None:
    message = f"{too_many('gpu', ('l40s', 0, 8, 6))}, untolerated taint x in flavor spot"
    reason, lines = excess_page(message, 2)
    assert reason == "it requests more than the quota of ClusterQueue research can ever hold"
    assert "untolerated taint x" in lines
    assert "Request less, or ask whoever" in lines


UNUSED = "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor h100, 1 more needed"
TOO_MUCH = (
    "couldn't assign flavors to pod set main: insufficient quota for cpu in flavor h100, previously considered podsets "
    "requests (0) + current podset request (10) > maximum capacity (5)"
)


@pytest.mark.parametrize(
    ("reason", "message", "held"),
    [
        ("WaitingForQuota", UNUSED, HeldBy.QUOTA),
        ("ExceedsMaxQuota", TOO_MUCH, HeldBy.QUOTA_TOO_SMALL),
        ("NoMatchingFlavor", "flavor spot doesn't match node affinity", HeldBy.FLAVOR),
        ("TopologyPlacementFailed", "topology doesn't allow to fit any pod", HeldBy.TOPOLOGY),
        ("WaitingForPreemptedWorkloads", "Waiting for 1 workload", HeldBy.OTHERS),
        ("WaitingForPodsReady", "waiting for all pods to be ready", HeldBy.OTHERS),
        ("Pending", UNUSED, HeldBy.QUOTA),
        ("Pending", TOO_MUCH, HeldBy.QUOTA_TOO_SMALL),
        (
            "Pending",
            "couldn't assign flavors to pod set main: untolerated taint {gpu true NoSchedule <nil>} in flavor h100",
            HeldBy.FLAVOR,
        ),
        ("Pending", "couldn't assign flavors to pod set main: flavor a doesn't match node affinity", HeldBy.FLAVOR),
        # With a flavor that matches and is full, it is the quota that has to change.
        ("Pending", f"{UNUSED}, untolerated taint {{a b NoSchedule <nil>}} in flavor spot", HeldBy.QUOTA),
        ("Inadmissible", "LocalQueue team doesn't exist", HeldBy.NO_QUEUE),
        ("Inadmissible", "ClusterQueue research is inactive", HeldBy.STOPPED),
        ("Inadmissible", "Workload namespace doesn't match ClusterQueue selector", HeldBy.NAMESPACE),
        ("Misconfigured", "DeviceClass gpu is not mapped in DRA configuration for podset main", HeldBy.DEVICES),
        ("New", "words that nobody knows", HeldBy.UNKNOWN),
    ],
)
def test_kueue_says_what_it_waits_for(reason: str, message: str, held: HeldBy) -> None:
    told = found(local(), cluster(), work(unreserved(reason, message)))
    assert (told.held_by, told.cluster_queue, told.message) == (held, "research", message)
    assert told.quota == (FlavorQuota("h100", "cpu", "4", "3", borrows=False),)
    assert queue_reason(told)


def test_what_kueue_does_not_do_by_itself_is_told_of_work_without_pods() -> None:
    off = ("Evicted", "True", "DeactivatedDueToAdmissionCheck", 'The workload is deactivated due to "prov" (no room)')
    told = found(local(), cluster(), work(off, spec={"active": False}))
    lines = " ".join(" ".join(work_lines(told, NS, HERE)).split())
    assert "then set spec.active of the Workload to true" in lines
    assert "kubectl patch workload.kueue.x-k8s.io/job-train-1 -n ml --type=merge" in lines
    waits = found(local(), cluster(), work(unreserved("WaitingForQuota", UNUSED)))
    assert list(work_lines(waits, NS, HERE)) == []


def test_what_kueue_has_evicted_is_queued_again_later() -> None:
    late = "Exceeded the PodsReady timeout ml/train"
    again = {"count": 3, "requeueAt": "2026-11-21T13:40:00Z"}
    said = ("Evicted", "True", "PodsReadyTimeout", late), unreserved("Pending", late)
    waits = work(*said, ("Requeued", "False", "PodsReadyTimeout", late), status={"requeueState": again})
    told = found(waits, local(), cluster())
    assert (told.held_by, told.requeued_at, told.evictions) == (HeldBy.BACKOFF, "2026-11-21T13:40:00Z", 3)
    assert (
        queue_reason(told) == f"Kueue has evicted it ({late}, eviction 3) and queues it again at 2026-11-21T13:40:00Z"
    )
    assert "evicts it again if not all of its pods are ready in time" in " ".join(queue_lines(told, NS))
    # Once its time is over, it waits as all others do.
    over = work(*said, ("Requeued", "True", "BackoffFinished", ""), status={"requeueState": again})
    assert found(over, local(), cluster()).held_by is HeldBy.UNKNOWN


def test_words_that_nobody_knows_are_the_reason_and_no_quota_is_blamed() -> None:
    words = 'Invalid value: "a-or-b": FirstAvailable device selection is not supported'
    told = found(local(), cluster(), work(unreserved("Inadmissible", f"{words}.")))
    assert (told.held_by, queue_reason(told)) == (HeldBy.UNKNOWN, words)
    assert "reserved in" not in " ".join(queue_lines(told, NS))
    assert queue_reason(found(local(), cluster(), work())) == "it starts once Kueue admits it"


def test_reserved_and_admitted_are_two_steps() -> None:
    reserved = ("QuotaReserved", "True", "QuotaReserved", "")
    check = {"name": "provision", "state": "Pending", "message": "no node yet"}
    admission = {"admission": {"clusterQueue": "research"}}
    waiting = found(local(), work(reserved, status={"admissionChecks": [check], **admission}))
    assert (waiting.held_by, waiting.message) == (HeldBy.CHECKS, "provision is Pending: no node yet")
    assert found(work(reserved, ("Admitted", "True", "Admitted", ""))).held_by is HeldBy.ADMITTED


@pytest.mark.parametrize(
    ("sources", "held", "words"),
    [
        ((), HeldBy.NO_QUEUE, "LocalQueue team doesn't exist"),
        ((local("other"),), HeldBy.NO_QUEUE, "LocalQueue team doesn't exist"),
        ((local(),), HeldBy.NO_QUEUE, "ClusterQueue research doesn't exist"),
        ((local(stopPolicy="Hold"), cluster()), HeldBy.STOPPED, "spec.stopPolicy of LocalQueue team is Hold"),
        ((local(), cluster(stopPolicy="HoldAndDrain")), HeldBy.STOPPED, "ClusterQueue research is HoldAndDrain"),
        ((local(), cluster()), HeldBy.NO_WORKLOAD, ""),
        ((local(), cluster(), work(owner="another")), HeldBy.NO_WORKLOAD, ""),
        ((local(), cluster(), work(spec={"active": False})), HeldBy.DEACTIVATED, ""),
        ((local(), cluster(), work()), HeldBy.UNKNOWN, ""),
    ],
)
def test_what_is_wrong_with_queues_is_told_without_kueue(sources: tuple[Source, ...], held: HeldBy, words: str) -> None:
    told = found(*sources)
    assert told.held_by is held
    assert words in told.message


def test_a_queue_that_is_not_active_says_why() -> None:
    inactive = [{"type": "Active", "status": "False", "reason": "FlavorNotFound", "message": "Can't admit: no flavor"}]
    told = found(local(), source("ClusterQueue", "research", status={"conditions": inactive}))
    assert (told.held_by, told.message) == (
        HeldBy.STOPPED,
        "ClusterQueue research is not active: Can't admit: no flavor",
    )


def test_who_was_refused_is_not_told_to_list_the_same_again() -> None:
    told = found(local(), complete=("LocalQueue",), refused=("Workload", "ClusterQueue"))
    live = Address(flags=("--as", "dana"), context="prod")
    page = " ".join(" ".join(queue_lines(told, NS, live)).split())
    command = "kubectl get workloads.kueue.x-k8s.io -n ml --context prod"
    assert f"What Kueue waits for, as whoever may read it: {command}" in page
    assert "--as dana" not in page
    assert "What Kueue waits for: kubectl get" in " ".join(queue_lines(told, NS, Address(("cluster.yaml",))))


def test_what_may_not_be_read_is_no_answer() -> None:
    told = found(local(), complete=("LocalQueue",), refused=("Workload", "ClusterQueue"))
    assert (told.held_by, told.unread) == (HeldBy.UNKNOWN, ("Workload", "ClusterQueue"))
    lines = " ".join(queue_lines(told, NS))
    assert "not read: workloads.kueue.x-k8s.io and clusterqueues.kueue.x-k8s.io" in lines
    nothing = found(complete=(), refused=ALL)
    assert (nothing.held_by, nothing.unread) == (HeldBy.UNKNOWN, ALL)


def test_a_cluster_without_kueue_starts_nothing() -> None:
    objects = QueueObjects({}, {}, {}, absent=True)
    told = queued(state(objects), "team", NS, ("Job", "train"))
    assert told.held_by is HeldBy.NO_KUEUE
    assert "nothing will start it" in queue_reason(told)


def test_broken_objects_make_their_kind_incomplete() -> None:
    broken = Source(b'{"metadata": 3}', "kueue.x-k8s.io/v1beta1", "LocalQueue")
    objects = queue_objects([broken, cluster()], ALL)
    assert (objects.complete, objects.refused) == (frozenset({"Workload", "ClusterQueue"}), frozenset({"LocalQueue"}))


@pytest.mark.parametrize("field", ["cohort", "cohortName"])
def test_of_a_cohort_more_may_be_borrowed(field: str) -> None:
    """v1beta1 and v1beta2 call it differently."""
    (row,) = found(local(), cluster(**{field: "all"})).quota
    assert row.borrows


def test_files_bring_queues_along() -> None:
    known = queue_objects([local(), cluster()], ALL)
    merged = with_files(known, [local(cluster="other"), source("Topology", "f")])
    assert [each.spec.cluster_queue for each in merged.local_queues.values()] == ["other"]
    assert with_files(NO_QUEUES, [source("Topology", "f")]) is NO_QUEUES
    assert not is_queue_object("scheduling.k8s.io/v1beta1", "Workload")


def test_queues_of_files_alone_are_all_that_there_are() -> None:
    alone = with_files(NO_QUEUES, [cluster(), local()], alone=True)
    # Of Workloads nothing is known, and most clusters have no Cohort.
    assert alone.complete == {"ClusterQueue", "LocalQueue", "Cohort"}
    assert not with_files(NO_QUEUES, [cluster(), local()]).complete
    refused = queue_objects((), refused=("ClusterQueue",))
    assert with_files(refused, [cluster(), local()], alone=True).complete == {"LocalQueue", "Cohort"}


def test_a_gate_that_is_left_although_kueue_has_admitted_the_pod() -> None:
    waits = Queued("team", HeldBy.ADMITTED, "research")
    gang = GangElsewhere(
        "Kueue", "workloads.kueue.x-k8s.io", gates=("kueue.x-k8s.io/topology",), queue="team", waits=waits
    )
    told = reason_sentence(Cause(Code.QUEUED, gang))
    assert (
        told
        == "Kueue has admitted it in queue team, and has not yet removed its scheduling gate kueue.x-k8s.io/topology"
    )


def test_workloads_are_looked_through_once_for_all_pods_that_wait() -> None:
    class Counted(dict[Any, Any]):
        looked = 0

        def items(self) -> Any:
            self.looked += 1
            return super().items()

    found = queue_objects([local(), cluster(), *(work(owner=f"train-{number}") for number in range(5))], ALL)
    counted = Counted(found.workloads)
    told = state(replace(found, workloads=counted))
    names = [queued(told, "team", NS, ("Job", f"train-{number}")).workload for number in range(5)]
    assert names == [f"job-train-{number}-1" for number in range(5)]
    assert counted.looked == 1
