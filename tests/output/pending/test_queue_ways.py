"""Ways out of a queue of Kueue: they are numbered, and Kueue decides."""

from __future__ import annotations

import json

from kubectl_dra.api.queues import queue_objects
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.reports.pending.pending import PendingReport, pending_report
from kubectl_dra.reports.pending.remedies import find_remedies
from tests.diagnosis.test_queues import ALL, NS, local, source
from tests.kit import build, facts
from tests.kit.clock import CLOCK
from tests.output.pending.test_situations import page_of


def waiting_pod(words: str) -> tuple[str, PendingReport]:
    message = f"couldn't assign flavors to pod set main: {words}"
    resources = [{"name": "nvidia.com/gpu", "nominalQuota": "8"}, {"name": "cpu", "nominalQuota": "8"}]
    other = {"flavors": [{"name": "spot", "resources": resources}]}
    groups = [other, {"flavors": [{"name": "a100", "resources": resources}, {"name": "h100", "resources": resources}]}]
    used = [{"name": "h100", "resources": [{"name": "nvidia.com/gpu", "total": "8"}]}]
    meta = {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "pod", "uid": "pod-pod"}]}
    objects = queue_objects(
        [
            source(
                "Workload",
                "w",
                NS,
                meta=meta,
                status={
                    "conditions": [
                        {"type": "QuotaReserved", "status": "False", "reason": "Pending", "message": message}
                    ]
                },
            ),
            local(),
            source("ClusterQueue", "research", spec={"resourceGroups": groups}, status={"flavorsReservation": used}),
        ],
        ALL,
    )
    pod = build.pod(claims=["claim"], schedulingGates=[{"name": "kueue.x-k8s.io/admission"}])
    pod["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "team"}
    inventory = facts.inventory([build.node(), build.device_class(), pod, build.claim("claim")]).replace(queues=objects)
    world = ClusterState(inventory, facts.evidence(), features(), CLOCK)
    found = Diagnoser(world).pod(Key("ml", "pod"))
    report = pending_report(found, world, ways=find_remedies(world, found))
    return page_of(report), report


def test_what_ends_the_waiting_for_a_quota_is_numbered() -> None:
    page, report = waiting_pod("insufficient unused quota for nvidia.com/gpu in flavor h100, 2 more needed")
    assert "1 wait until other work of ClusterQueue research ends" in page
    assert "2 raise nominalQuota of nvidia.com/gpu (flavor h100) in ClusterQueue research from 8 to 10" in page
    steps = report.remedies[1].steps
    assert steps is not None
    patch = json.loads(next(word for word in steps[0].commands[0] if word.startswith("[")))
    assert [(each["path"], each["value"]) for each in patch] == [
        ("/spec/resourceGroups/1/flavors/1/resources/0/nominalQuota", "10")
    ]
    assert "It is admitted as soon as" not in page


def test_more_quota_is_the_way_out_where_no_end_of_other_work_is_enough() -> None:
    capacity = "previously considered podsets requests (0) + current podset request (10) > maximum capacity (8)"
    page, report = waiting_pod(f"insufficient quota for nvidia.com/gpu in flavor h100, {capacity}")
    assert "raise nominalQuota of nvidia.com/gpu (flavor h100) in ClusterQueue research from 8 to 10" in page
    assert page.count("raise ") == 1
    assert "wait until" not in page
    assert len(report.remedies) == 1


def test_quotas_that_one_flavor_lacks_are_raised_together() -> None:
    """More of one of them alone admits nothing."""
    text = (
        "insufficient quota for {} in flavor h100, previously considered podsets requests (0) + current podset request"
    )
    words = ", ".join(f"{text.format(name)} (10) > maximum capacity (8)" for name in ("cpu", "nvidia.com/gpu"))
    page, report = waiting_pod(words)
    (way,) = report.remedies
    assert [(each.resource, each.after) for each in way.actions] == [("cpu", "10"), ("nvidia.com/gpu", "10")]
    assert "raise nominalQuota of cpu (flavor h100)" in page
    assert "raise its nominalQuota" not in page
    steps = way.steps
    assert steps is not None
    assert sum(word.startswith("[") for step in steps for line in step.commands for word in line) == 2
