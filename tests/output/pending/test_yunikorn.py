"""Pods of YuniKorn: the application, queue and task group, and why the default scheduler's rules place none."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import GangElsewhere
from tests.kit import build
from tests.kit.clock import CLOCK
from tests.output.pending.test_situations import first_line, page_of, report_of

GROUPS = '[{"name":"workers","minMember":2,"minResource":{"cpu":"4"}}]'
CLUSTER = [build.node(), build.slice_("node-1", build.device("gpu-0"))]


def member(name: str, scheduler: str = "yunikorn", groups: str = GROUPS) -> list[dict[str, Any]]:
    pod = build.pod(name, claims=[f"of-{name}"], schedulerName=scheduler)
    pod["metadata"]["labels"] = {"applicationId": "app-7", "queue": "root.hpc"}
    named = {"yunikorn.apache.org/task-group-name": "workers", "yunikorn.apache.org/task-groups": groups}
    pod["metadata"]["annotations"] = named if groups else {}
    return [pod, build.claim(f"of-{name}")]


def test_what_the_labels_say_and_what_is_lacking() -> None:
    report = report_of(*CLUSTER, *member("pod"), *member("second"))
    assert first_line(report) == (
        'Pod ml/pod is pending: YuniKorn (scheduler "yunikorn") in queue root.hpc has to place it (application app-7, '
        "task group workers of 2 pods that start together). By the default scheduler's rules only 1 of its 2 waiting "
        "pods finds a node now. second finds none beside the others: no node has a free device: on node-1, the only "
        "one is in use (pod)."
    )
    page = page_of(report)
    assert "schedulerName" not in page
    assert "kubectl port-forward service/yunikorn-service -n yunikorn 9889" in page
    assert "podgroups" not in page.lower()


def test_its_words_are_in_events_of_type_normal() -> None:
    words = "Request 'a' does not fit in queue 'root.hpc' (requested map[pods:1], available map[pods:0])"
    event = build.event("pod", "Informational", words) | {"type": "Normal"}
    told = "and says: of what it requests, queue root.hpc has only 0 of the 1 pods left"
    assert told in first_line(report_of(*CLUSTER, *member("pod"), event))


def test_amounts_of_a_queue_are_told_in_units_that_people_use() -> None:
    amounts = (
        "requested map[memory:17179869184 nvidia.com/gpu:2 vcore:4000], available map[memory:8589934592 vcore:1500]"
    )
    event = build.event("pod", "Informational", f"Request 'a' does not fit in queue 'root.hpc' ({amounts})")
    report = report_of(*CLUSTER, *member("pod", groups=""), event | {"type": "Normal"})
    assert first_line(report).endswith(
        "and says: of what it requests, queue root.hpc has only 8Gi of the 16Gi of memory and 1.5 of the 4 CPUs left."
    )
    page = " ".join(page_of(report).split())
    assert "map[" not in page
    assert "have whoever manages the queue raise its resources.max in YuniKorn's configuration" in page
    assert "Nodes and devices are not what it waits for." in page
    assert "of a task group" not in page


def test_the_quota_of_a_user_and_words_that_are_not_known() -> None:
    words = "Request 'a' exceeds the available user quota (requested map[vcore:4000], available map[vcore:0])"
    event = build.event("pod", "Informational", words) | {"type": "Normal"}
    assert "the quota of its user has only 0 of the 4 CPUs left" in first_line(
        report_of(*CLUSTER, *member("pod", groups=""), event)
    )
    odd = "Request 'a' does not fit in queue 'root.hpc' (requested map[vcore:x], available map[vcore:0])"
    event = build.event("pod", "Informational", odd) | {"type": "Normal"}
    assert f"and says: {odd}" in first_line(report_of(*CLUSTER, *member("pod", groups=""), event))


def test_of_a_single_pod_it_is_said_whether_the_default_scheduler_would_place_it() -> None:
    told = "By the default scheduler's rules it would find {} now."
    assert told.format("a node") in page_of(report_of(*CLUSTER, *member("pod", groups="")))
    two = member("pod", groups="")
    two[1] = build.claim("of-pod", build.request(count=2))
    assert told.format("no node") in page_of(report_of(*CLUSTER, *two))


def test_a_scheduler_that_nobody_knows_and_that_says_nothing() -> None:
    pod, claim = member("pod", "binpack")
    long_ago = (CLOCK.now() - timedelta(minutes=42)).strftime("%Y-%m-%dT%H:%M:%SZ")
    pod["metadata"]["creationTimestamp"] = long_ago
    page = " ".join(page_of(report_of(*CLUSTER, pod, claim)).split())
    silent = "Nothing was written about it since it was created 42m ago: probably no scheduler of this name runs."
    called = "What is called like it: kubectl get deployments,statefulsets,pods -A | grep binpack"
    assert f"{silent} {called} By the" in page
    assert "By the default scheduler's rules it would find a node now." in page
    # It may have written what was not read, or has just begun, or it has written something.
    assert silent not in " ".join(page_of(report_of(*CLUSTER, pod, claim, withheld=("Event",))).split())
    young = CLOCK.now().strftime("%Y-%m-%dT%H:%M:%SZ")
    pod["metadata"]["creationTimestamp"] = young
    assert "Nothing was written" not in page_of(report_of(*CLUSTER, pod, claim))
    pod["metadata"]["creationTimestamp"] = long_ago
    said = build.event("pod", "FailedScheduling", "binpack: no bin")
    page = page_of(report_of(*CLUSTER, pod, claim, said))
    assert "Nothing was written" not in page
    # Its log is there, where nobody knows the name of what runs it.
    assert called in " ".join(page.split())
    pod["spec"]["schedulerName"] = "bin; rm -r *"
    assert "-A | grep 'bin; rm -r *'" in page_of(report_of(*CLUSTER, pod, claim))


def test_without_task_groups_or_with_broken_ones() -> None:
    for groups in ("", "[", '[{"name": 3}]'):
        report = report_of(*CLUSTER, *member("pod", groups=groups))
        told = first_line(report)
        assert "(application app-7" in told
        assert "start together" not in told


def test_the_labels_mean_nothing_with_another_scheduler() -> None:
    ours = report_of(*CLUSTER, *member("pod", "default-scheduler"))
    assert ours.code is Code.FITS_NOW
    others = report_of(*CLUSTER, *member("pod", "batch"))
    assert not isinstance(others.causes[0].detail, GangElsewhere)
