"""Words of schedulers and plugins that are not Kubernetes' own: who said them, and what can't be known."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Verdict
from kubectl_dra.output.pending.plugin_words import quota_words
from tests.kit import build
from tests.output.pending.test_situations import first_line, page_of, refused, report_of

WHEN = "2026-11-21T12:59:00Z"
GANG = (
    "3/4 tasks in gang unschedulable: pod group is not ready, 4 Pending, 4 minAvailable; Pending: 1 Schedulable, 3 "
    "Unschedulable"
)
CLUSTER = [build.node(), build.slice_("node-1", build.device("gpu-0"))]


def member(name: str) -> list[dict[str, Any]]:
    pod = build.pod(name, claims=[f"of-{name}"], schedulerName="volcano")
    pod["metadata"]["annotations"] = {"scheduling.k8s.io/group-name": "train"}
    return [pod, build.claim(f"of-{name}")]


@pytest.mark.parametrize(
    ("about", "kind", "reason"),
    [("pod", "Pod", "FailedScheduling"), ("pod", "Pod", "Unschedulable"), ("train", "PodGroup", "Unschedulable")],
)
def test_what_volcano_says_of_a_pod_or_its_group_is_quoted(about: str, kind: str, reason: str) -> None:
    event = build.event(about, reason, GANG, kind=kind, time=WHEN)
    report = report_of(*CLUSTER, *member("pod"), *member("second"), event)
    assert first_line(report) == (
        'Pod ml/pod is pending: Volcano (scheduler "volcano") places its group train as a whole, and by the default '
        "scheduler's rules only 1 of its 2 waiting pods finds a node now. second finds none beside the others: no node "
        "has a free device: on node-1, the only one is in use (pod). Volcano says: 4 pods of its group must start "
        "together, and only 1 of the waiting ones finds a node."
    )
    page = page_of(report)
    assert f"The scheduler said so 60s ago, in these words: {GANG}." in " ".join(page.split())
    assert "Check that this scheduler runs" not in page
    assert "lower spec.minMember of PodGroup train, if the program runs with fewer pods" in page
    patch = """kubectl patch podgroups.scheduling.volcano.sh/train -n ml --type=merge -p '{"spec":{"minMember":1}}'"""
    assert f"If the program runs with 1 pod: {patch}" in page


@pytest.mark.parametrize(
    ("counts", "origin", "told"),
    [
        (
            "1 Unschedulable, 1 Schedulable",
            "",
            "2 pods of its group must start together, and only 1 of the waiting ones finds",
        ),
        ("2 Unschedulable", "", "and none of the waiting ones finds a node"),
        (
            "2 Unschedulable",
            ". Origin reason is second: 0/3 nodes are unavailable: 1 node(s) had untolerated taint(s), 2 cannot "
            "allocate all claims.",
            "For second: of 3 nodes, 2 have no free devices that satisfy its claims and 1 has taints that it does not "
            "tolerate. Of its group",
        ),
        (
            "2 Unschedulable",
            ". Origin reason is second: out of luck",
            "none of the waiting ones finds a node. Of its group",
        ),
    ],
)
def test_volcanos_words_are_plain_where_nodes_were_not_read(counts: str, origin: str, told: str) -> None:
    words = (
        f"2/2 tasks in gang unschedulable: pod group is not ready, 2 Pending, 2 minAvailable; Pending: {counts}{origin}"
    )
    event = build.event("pod", "FailedScheduling", words, time=WHEN)
    report = report_of(*CLUSTER, *member("pod"), *member("second"), event, withheld=("Node",))
    assert told in first_line(report)
    assert f"in these words: {words.rstrip('.')}." in " ".join(page_of(report).split())


@pytest.mark.parametrize("queue", ["", "research"])
def test_a_queue_of_volcano_that_is_short_is_what_has_to_get_room(queue: str) -> None:
    pod, claim = member("pod")
    pod["metadata"]["annotations"] |= {"volcano.sh/queue-name": queue} if queue else {}
    words = "queue resource quota insufficient: insufficient cpu"
    report = report_of(*CLUSTER, pod, claim, build.event("train", "Unschedulable", words, kind="PodGroup", time=WHEN))
    assert first_line(report).endswith(f"says: {words}. It is the only unfinished pod of its group train.")
    page = " ".join(page_of(report).split())
    name = f"queue {queue}" if queue else "the queue that spec.queue of PodGroup train names"
    assert f"Wait until other work of {name} ends, or have whoever manages the queue raise" in page
    assert "minMember" not in page
    assert f"kubectl get queues.scheduling.volcano.sh{'/' + queue if queue else ''} -o yaml" in page


def test_a_group_of_one_pod_cannot_start_with_fewer() -> None:
    words = "1/1 tasks in gang unschedulable: pod group is not ready, 1 Pending, 1 minAvailable"
    event = build.event("train", "Unschedulable", words, kind="PodGroup", time=WHEN)
    assert "minMember" not in page_of(report_of(*CLUSTER, *member("pod"), event))


def test_the_newest_words_count() -> None:
    pod = build.pod(claims=["claim"], schedulerName="yunikorn")
    old = refused(pod, "queue root.ml is full")
    queued = build.event("pod", "Scheduling", "ml/pod is queued and waiting for allocation", time=WHEN)
    report = report_of(*CLUSTER, build.claim("claim"), old, queued)
    told = 'YuniKorn (scheduler "yunikorn") has to place it and says: ml/pod is queued and waiting for allocation.'
    assert first_line(report) == f"Pod ml/pod is pending: {told}"
    report = report_of(*CLUSTER, build.claim("claim"), old)
    assert first_line(report).endswith('(scheduler "yunikorn") has to place it and says: queue root.ml is full.')


@pytest.mark.parametrize("reporter", ["karpenter", "cluster-autoscaler"])
def test_words_of_an_autoscaler_are_not_the_schedulers(reporter: str) -> None:
    pod = build.pod(claims=["claim"], schedulerName="mine")
    event = build.event("pod", "FailedScheduling", "no nodepool", time=WHEN) | {"source": {"component": reporter}}
    assert "says" not in first_line(report_of(*CLUSTER, build.claim("claim"), pod, event))


def test_a_plugin_that_is_not_in_the_default_profile_is_named_with_where_it_was_asked() -> None:
    words = 'running PreBind plugin "FabricAttach": binding timeout'
    report = report_of(*CLUSTER, build.claim("claim"), refused(build.pod(claims=["claim"]), words, "SchedulerError"))
    assert (report.verdict, report.code) == (Verdict.UNKNOWN, Code.REFUSED_BY_ANOTHER)
    assert first_line(report) == (
        "Pod ml/pod is pending, although it would fit on node-1: plugin FabricAttach of its scheduler, which is not in "
        "the default profile, refused it after a node and devices were chosen: binding timeout."
    )
    page = page_of(report)
    assert "cannot be read from the cluster" in page
    assert "extender" not in page


def test_words_without_a_speaker_leave_the_verdict_open() -> None:
    report = report_of(*CLUSTER, build.claim("claim"), refused(build.pod(claims=["claim"]), "binding timeout"))
    assert (report.verdict, report.code) == (Verdict.UNKNOWN, Code.REFUSED_BY_ANOTHER)
    assert "refused it: binding timeout" in first_line(report)
    assert "would fit now" not in page_of(report)


def test_an_unknown_reason_of_a_node_gets_no_advice_about_gangs() -> None:
    words = "0/1 nodes are available: 1 binding timeout."
    report = report_of(*CLUSTER, build.claim("claim"), refused(build.pod(claims=["claim"]), words))
    assert "an unknown plugin says: binding timeout" in first_line(report)
    page = page_of(report)
    assert "coscheduling" not in page
    assert "KubeSchedulerConfiguration" in page


def test_a_group_that_would_fit_needs_nothing_freed_but_its_scheduler_looked_at() -> None:
    slice_ = build.slice_("node-1", build.device("gpu-0"), build.device("gpu-1"))
    pods = [*member("pod"), *member("second")]
    words = GANG.replace("4 minAvailable", "2 minAvailable")
    said = build.event("pod", "Unschedulable", words, time=WHEN)
    said |= {"type": "Warning", "count": 170, "firstTimestamp": "2026-11-21T12:00:00Z"}
    # The condition is as old as the first of them.
    first = refused(pods[0], words)
    page = " ".join(page_of(report_of(build.node(), slice_, first, *pods[1:], said)).split())
    assert "The scheduler said so 170 times, first 60m ago, last 60s ago, in these words: 3/4 tasks" in page
    assert "Free or add" not in page
    assert "minMember" not in page
    assert "so nothing has to be freed or added" in page
    assert "kubectl logs deployment/volcano-scheduler -n volcano-system --since=10m" in page


def test_a_group_whose_queue_is_full_is_not_said_to_fit() -> None:
    slice_ = build.slice_("node-1", build.device("gpu-0"), build.device("gpu-1"))
    words = "workload is over the quota of queue research"
    event = build.event("pod", "Unschedulable", words, time=WHEN)
    assert "nothing has to be freed" not in page_of(
        report_of(build.node(), slice_, *member("pod"), *member("b"), event)
    )


NO_SPREAD = "node(s) didn't match pod topology spread constraints"
CONSTRAINT = {"topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}


@pytest.mark.parametrize("words", [NO_SPREAD, f"{NO_SPREAD} (missing required label)"])
def test_a_pod_without_spread_constraints_is_spread_by_the_schedulers_configuration(words: str) -> None:
    """The constraints that the scheduler has by default only score."""
    pod = refused(build.pod(claims=["claim"]), f"0/1 nodes are available: 1 {words}.")
    report = report_of(*CLUSTER, pod, build.claim("claim"))
    assert (report.verdict, report.code) == (Verdict.UNSCHEDULABLE, Code.OTHER_PLUGIN)
    assert first_line(report) == (
        "Pod ml/pod would get its devices on node-1, but the scheduler turned it away by spread constraints of its own "
        "configuration (the pod itself has none)."
    )
    page = " ".join(page_of(report).split())
    assert "with whenUnsatisfiable: ScheduleAnyway they forbid no node" in page
    assert "pluginConfig PodTopologySpread, defaultConstraints" in page


def test_a_pod_with_spread_constraints_that_fits_now_fits() -> None:
    pod = build.pod(claims=["claim"], topologySpreadConstraints=[CONSTRAINT | {"labelSelector": {}}])
    node = build.node(labels={"zone": "a"})
    report = report_of(node, CLUSTER[1], refused(pod, f"0/1 nodes are available: 1 {NO_SPREAD}."), build.claim("claim"))
    assert report.code is Code.FITS_NOW


def test_which_nodes_the_configuration_prescribes_is_said_to_be_there() -> None:
    words = "0/1 nodes are available: 1 node(s) didn't match scheduler-enforced node affinity."
    report = report_of(*CLUSTER, refused(build.pod(claims=["claim"]), words), build.claim("claim"))
    assert first_line(report) == (
        "Pod ml/pod would get its devices on node-1, but the scheduler turned it away by a node affinity that its "
        "configuration adds to all pods."
    )
    assert "addedAffinity" in page_of(report)


@pytest.mark.parametrize(
    ("words", "field", "way"),
    [
        (
            "hpc quota has reached the allowable limit of GPUs. Limit is 6 GPUs, currently 6 GPUs allocated and "
            "workload requested 2 GPUs",
            "gpu.limit",
            "",
        ),
        (
            "Non-preemptible workload is over quota. Workload requested 8 CPU cores, but hpc quota is 4 cores, while 0 "
            "cores are already allocated for non-preemptible pods. Use a preemptible workload to go over quota.",
            "cpu.quota",
            ", or give the pod a PriorityClass that may be preempted, which may use more than the quota",
        ),
    ],
)
def test_a_limit_of_a_queue_of_kai_is_what_has_to_be_raised(words: str, field: str, way: str) -> None:
    """Neither the rest of a group nor nodes are short: its queue may not have more."""
    pod = build.pod(claims=["claim"], schedulerName="kai-scheduler")
    pod["metadata"] |= {"labels": {"kai.scheduler/queue": "hpc"}, "annotations": {"pod-group-name": "pg"}}
    said = build.event("pod", "Unschedulable", words)
    report = report_of(build.node(), build.slice_("node-1", build.device("g")), pod, build.claim(), said)
    page = " ".join(page_of(report).split())
    assert f"whoever manages the queue raise its spec.resources.{field}{way}. Nodes and devices are not" in page
    assert "kubectl get queues.scheduling.run.ai/hpc -o yaml" in page
    assert "kubectl get pods -A -l kai.scheduler/queue=hpc -o wide" in page
    assert "minMember" not in page
    assert "only unfinished pod" not in first_line(report)


@pytest.mark.parametrize(
    ("words", "said", "helps", "command"),
    [
        (
            "DRA claim shared is a shared GPU claim but does not have a queue label (kai.scheduler/queue)",
            "its shared claim shared does not have the label kai.scheduler/queue=hpc",
            "Give claim shared the label kai.scheduler/queue, with the name of the queue of all pods that share it.",
            "kubectl label resourceclaim/shared -n ml kai.scheduler/queue=hpc --overwrite",
        ),
        (
            "DRA claim shared is a shared GPU claim with wrong queue label (expected queue: hpc, claim queue label: x)",
            "its shared claim shared does not have the label kai.scheduler/queue=hpc, but that of queue x",
            "Pods of queue x share claim shared, and would be refused with another label on it",
            "kubectl dra explain DRA-150",
        ),
        (
            "Queue 'hpc' does not exist",
            "queue hpc does not exist",
            "Name a queue that exists in label kai.scheduler/queue of the pod's template",
            "The queues that exist: kubectl get queues.scheduling.run.ai",
        ),
    ],
    ids=["no label", "another label", "no queue"],
)
def test_what_kai_wants_of_claims_and_queues_is_told_with_what_gives_it(
    words: str, said: str, helps: str, command: str
) -> None:
    prefix = "pod ml/pod cannot be scheduled: " if words.startswith("DRA") else ""
    pod = build.pod(claims=["shared"], schedulerName="kai-scheduler")
    pod["metadata"] |= {"labels": {"kai.scheduler/queue": "hpc"}, "annotations": {"pod-group-name": "pg"}}
    event = build.event("pod", "Unschedulable", prefix + words)
    report = report_of(build.node(), build.slice_("node-1", build.device("g")), pod, build.claim("shared"), event)
    assert first_line(report).endswith(f"has to place it and says: {said}.")
    page = " ".join(page_of(report).split())
    assert f"What usually helps: {helps}" in page
    assert "Nodes and devices are not what it waits for." in page
    assert command in page
    assert "minMember" not in page


def test_the_default_scheduler_is_no_way_out_where_the_kubelet_would_refuse_the_pod() -> None:
    """Its topology manager keeps to the rule that the other scheduler's plugin foresees."""
    pod = build.pod(claims=["claim"], schedulerName="topo-aware-scheduler")
    words = "0/1 nodes are available: 1 cannot align container."
    report = report_of(*CLUSTER, pod, build.claim(), build.event("pod", "FailedScheduling", words))
    assert first_line(report) == (
        'Pod ml/pod is pending: its scheduler "topo-aware-scheduler" says that no NUMA node of 1 node has all the cpu '
        'and memory that one of its containers requests ("cannot align container").'
    )
    page = " ".join(page_of(report).split())
    assert "use the default scheduler" not in page
    told = "Another scheduler does not help: the kubelet there would refuse the pod (TopologyAffinityError)."
    assert page.count(told) == 1
    for words in (
        "0/1 nodes are available: 1 node(s) are asleep.",
        # Nothing was compared, as what is cached is not fresh (scheduler-plugins, noderesourcetopology, Filter).
        "0/1 nodes are available: 1 invalid node topology data.",
        "0/2 nodes are available: 1 cannot align pod, 1 node(s) node-1 usage exceed threshold.",
    ):
        said = build.event("pod", "FailedScheduling", words)
        assert "use the default scheduler" in page_of(report_of(*CLUSTER, pod, build.claim(), said)), words


def test_two_changes_are_offered_in_one_order_only() -> None:
    pod = build.pod(claims=["claim"], schedulerName="binpack")
    report = report_of(*CLUSTER, pod, build.claim("claim", build.request(count=2)))
    ways = [{type(action).__name__ for action in way.actions} for way in report.remedies]
    assert ways.count({"EditClaim", "EditPod"}) == 1, ways


def test_a_rule_of_another_scheduler_is_named_where_the_default_one_would_place_the_pod() -> None:
    words = "0/2 nodes are available: 1 cannot allocate all claims, 1 node(s) cpu usage exceed threshold."
    tail = " preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
    pod = build.pod(claims=["claim"], schedulerName="koord-scheduler")
    report = report_of(*CLUSTER, pod, build.claim(), build.event("pod", "FailedScheduling", words + tail))
    assert first_line(report) == f'Pod ml/pod is pending: its scheduler "koord-scheduler" says: {words}'
    page = " ".join(page_of(report).split())
    assert (
        "By the default scheduler's rules it would find a node now: what keeps it is a rule of its scheduler, "
        '"node(s) cpu usage exceed threshold" (1 node). These nodes are used more than Koordinator\'s'
    ) in page
    assert "kubectl get nodemetrics.slo.koordinator.sh -o yaml" in page


@pytest.mark.parametrize(
    ("amounts", "told"),
    [
        (
            'available: {"cpu":"32"}, remained: {"cpu":"2"}, used: {"cpu":"30"}, pod\'s request: {"cpu":"4"}',
            "has too little left: 2 of 32 cpu, and it requests 4",
        ),
        ("runtime: map[cpu:32], used: map[cpu:30], pod's request: map[cpu:4]", "has too little cpu left"),
    ],
)
def test_a_quota_of_koordinator_is_told_in_plain_words_with_who_can_raise_it(amounts: str, told: str) -> None:
    words = f"Insufficient quotas, quotaName: team, {amounts}, exceedDimensions: [cpu]"
    said = f"0/2 nodes are available: quota not enough, {words}."
    pod = build.pod(claims=["claim"], schedulerName="koord-scheduler")
    report = report_of(*CLUSTER, pod, build.claim(), build.event("pod", "FailedScheduling", said))
    first = first_line(report)
    assert first == f'Pod ml/pod is pending: its scheduler "koord-scheduler" says that ElasticQuota team {told}.'
    page = " ".join(page_of(report).split())
    assert "it would find a node now: what keeps it is that rule of its scheduler." in page
    alone = page_of(msgspec.structs.replace(report, remedies=()))
    assert "Wait until other work of this ElasticQuota of Koordinator ends" in " ".join(alone.split())
    assert "kubectl get elasticquotas.scheduling.sigs.k8s.io -A -o yaml" in page
    assert "recreate the pod without schedulerName" not in page


@pytest.mark.parametrize(
    "amount", ['{"x":' + "[" * 100_000 + "}", '{"cpu":{"a":1}}', '{"cpu":[1]}'], ids=["deep", "object", "list"]
)
def test_amounts_of_a_quota_that_are_nested_are_not_read(amount: str) -> None:
    amounts = f"available: {amount}, remained: {amount}, pod's request: {amount}"
    words = f"Insufficient quotas, quotaName: team, {amounts}, exceedDimensions: [cpu]"
    assert quota_words(words) == "ElasticQuota team has too little cpu left"


def test_words_of_plugins_that_every_scheduler_has_are_no_rule_of_its_own() -> None:
    pod = build.pod(claims=["claim"], schedulerName="binpack")
    words = "0/1 nodes are available: 1 cannot allocate all claims."
    page = page_of(report_of(*CLUSTER, pod, build.claim(), build.event("pod", "FailedScheduling", words)))
    assert "it would find a node now." in page
    assert "a rule of its scheduler" not in page


def test_a_second_kube_scheduler_is_not_what_has_to_change() -> None:
    """Its words are the default scheduler's, and so is the cause; what its configuration adds is not known."""
    pod = build.pod(claims=["claim"], schedulerName="binpack")
    words = "0/1 nodes are available: 1 cannot allocate all claims."
    said = build.event("pod", "FailedScheduling", words)
    report = report_of(*CLUSTER, pod, build.claim("claim", build.request(count=2)), said)
    assert report.remedies
    assert not any(way.verified for way in report.remedies)
    page = " ".join(page_of(report).split())
    assert "What could help 1 request 1 device instead of 2 would run on node-1" in page
    assert "use the default scheduler" not in page
    assert "change what is in the way, not schedulerName." in page
    # A rule of its own may be what keeps the pod: then it may be the scheduler that has to change.
    own = build.event("pod", "FailedScheduling", "0/1 nodes are available: 1 node(s) are asleep.")
    other = report_of(*CLUSTER, pod, build.claim("claim", build.request(count=2)), own)
    assert "use the default scheduler" in page_of(other)
