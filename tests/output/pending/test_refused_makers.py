"""A controller that is refused the pods that are waited for: whose they are, why, and what makes room for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.commands.app import run
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.gates.makers import refusal_of
from kubectl_dra.diagnosis.records import GroupWaits, MakerRefusal, ObjectRef, QuotaShortage
from kubectl_dra.model.invocation import HERE
from kubectl_dra.output.pending.made import refused_advice
from kubectl_dra.output.pending.quotas import pods_lines
from kubectl_dra.output.pending.reasons import reason_sentence
from kubectl_dra.output.safe import plain
from tests.diagnosis.gangs import as_file, cluster, group, members, of_pod
from tests.kit import build

QUOTA = 'pods "train-2" is forbidden: exceeded quota: few, requested: pods=1,requests.cpu=2, used: {}, limited: {}'
SPENT = QUOTA.format("pods=2,requests.cpu=4", "pods=2,requests.cpu=5")


def said(words: str, *, kind: str = "Job", about: str = "train", time: str = "2026-01-01T00:00:00Z") -> dict[str, Any]:
    told = build.event(about, "FailedCreate", words, kind=kind, time=time)
    return told | {"count": 15, "firstTimestamp": "2025-12-31T23:32:00Z"}


def pods(created: str = "2025-12-31T23:00:00Z", kind: str = "Job") -> list[dict[str, Any]]:
    owner = {
        "apiVersion": "batch/v1",
        "kind": kind,
        "name": "train",
        "uid": f"{kind.lower()}-train",
        "controller": True,
    }
    found = members(2)
    for pod in found:
        pod["metadata"] |= {"ownerReferences": [owner], "creationTimestamp": created}
    return found


def refused(*objects: dict[str, Any]) -> tuple[MakerRefusal | None, str]:
    cause = of_pod(cluster(build.node(), group(3), *objects), "train-0").causes[0]
    assert cause.code is Code.POD_GROUP_INCOMPLETE
    assert isinstance(cause.detail, GroupWaits)
    return cause.detail.refused, str(reason_sentence(cause))


def test_a_gang_whose_job_is_refused_a_pod_by_a_quota() -> None:
    found, told = refused(*pods(), said(f"Error creating: {SPENT}"))
    assert told == (
        "PodGroup train needs 3 pods at the same time, and only 2 exist. Job train cannot create more pods: "
        'ResourceQuota "few" forbids the pod: 2 of 2 pods are used, and it requests 1 more'
    )
    assert found is not None
    cpu = QuotaShortage("few", "requests.cpu", "5", "4", "2", kind="Pod")
    assert (found.times, found.shortages[1]) == (15, cpu)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("ReplicaSet", 'Error creating: admission webhook "a.example.com" denied the request: no such team'),
        (
            "StatefulSet",
            "create Pod train-2 in StatefulSet train failed error: admission webhook "
            '"a.example.com" denied the request: no such team',
        ),
    ],
)
def test_other_controllers_and_other_words(kind: str, words: str) -> None:
    told = refused(*pods(kind=kind), said(words, kind=kind))[1]
    webhook = 'admission webhook "a.example.com" denied the request: no such team'
    assert told.endswith(f". {kind} train cannot create more pods: {webhook}")


@pytest.mark.parametrize(
    "objects",
    [
        [*pods("2026-01-01T00:00:01Z"), said(SPENT)],  # it has made one since
        [*members(2), said(SPENT)],  # whose pods they are is not known
        [*pods(), said(SPENT, about="other")],
        [*pods(), said(SPENT) | {"reason": "SuccessfulCreate"}],
        [*pods(), said(SPENT, kind="ReplicaSet")],
    ],
)
def test_what_says_nothing_about_the_pods_that_are_missing(objects: list[dict[str, Any]]) -> None:
    assert refused(*objects) == (None, "PodGroup train needs 3 pods at the same time, and only 2 exist")


@pytest.mark.parametrize("target", ["pod/train-0", "podgroup/train"])
def test_the_page_says_how_often_and_what_makes_room(
    target: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = as_file(tmp_path / "a.json", build.node(), group(3), *pods(), said(SPENT))
    assert run(["why-pending", target, "-n", "ml", "--from", file, "--color", "never"]) == 0
    text = " ".join(capfd.readouterr().out.split())
    assert text.count("forbids the pod") == 1
    assert "Job train was refused 15 times, first " in text
    assert 'Raise the limit on pods in ResourceQuota "few", or delete pods' in text
    if target.startswith("pod/"):
        raised = (
            "raise the limit of ResourceQuota few for pods from 2 to 3 and raise the limit of ResourceQuota few for"
        )
        assert raised in text.replace(", and", " and")
    assert "kubectl describe resourcequota/few -n ml" in text


@pytest.mark.parametrize(("kind", "about"), [("Job", "train"), ("Deployment", "train-5d9c7b6f4")])
def test_a_workload_without_pods_that_is_refused_all(
    kind: str, about: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    workload = {"apiVersion": "apps/v1" if kind == "Deployment" else "batch/v1", "kind": kind, "spec": {}}
    workload["metadata"] = {"name": "train", "namespace": "ml", "uid": "train"}
    maker = "ReplicaSet" if kind == "Deployment" else kind
    file = as_file(
        tmp_path / "a.json", build.node(), workload, said(f"Error creating: {SPENT}", kind=maker, about=about)
    )
    command = ["why-pending", f"{kind.lower()}/train", "-n", "ml", "--from", file, "--color", "never", "--exit-code"]
    assert run(command) == 3
    text = " ".join(capfd.readouterr().out.split())
    who = "it" if maker == kind else f"{maker} {about}"
    assert f'{kind} ml/train has no pending pods: {who} cannot create more pods: ResourceQuota "few"' in text
    assert f"{maker} {about} was refused" in text
    assert "kubectl describe resourcequota/few -n ml" in text


@pytest.mark.parametrize(("status", "is_told"), [("True", True), ("False", False)])
def test_a_refusal_outlives_its_events_in_a_condition(
    status: str, is_told: bool, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = 'pods "train-5d9c7b6f4-" is forbidden: failed quota: few: must specify limits.cpu for: a,b; memory for: a'
    condition = {"type": "ReplicaFailure", "status": status, "reason": "FailedCreate", "message": words}
    condition["lastTransitionTime"] = "2026-01-01T00:00:00Z"
    workload = {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}, "status": {"conditions": [condition]}}
    workload["metadata"] = {"name": "train", "namespace": "ml", "uid": "train"}
    file = as_file(tmp_path / "a.json", build.node(), workload)
    assert run(["why-pending", "deploy/train", "-n", "ml", "--from", file, "--color", "never"]) == 0
    text = " ".join("".join(capfd.readouterr()).split())
    assert ("it cannot create more pods: failed quota: few: must specify limits.cpu for: a,b" in text) == is_told
    advice = "In the pod template, set resources.limits.cpu of a and b and resources.memory of a: ResourceQuota few"
    assert (advice in text and "kubectl describe resourcequota/few -n ml" in text) == is_told


SECURITY = 'pods "train-0" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)'
POLICY = "pods \"train-0\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: too long"
AGAIN = "A Job's template cannot be changed: delete the Job and create it again."


@pytest.mark.parametrize(
    ("words", "kind", "about", "told"),
    [
        (
            SECURITY,
            "Deployment",
            "train-5d9c7b6f4",
            "ask whoever manages namespace ml for a wider level than baseline: its label "
            "pod-security.kubernetes.io/enforce.",
        ),
        (SECURITY, "Job", "train", f"pod-security.kubernetes.io/enforce. {AGAIN}"),
        (POLICY, "Job", "train", f"or ask whoever keeps the rule that they name. {AGAIN}"),
    ],
)
def test_what_a_policy_refuses_is_changed_in_the_template(
    words: str, kind: str, about: str, told: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    workload = {"apiVersion": "apps/v1" if kind == "Deployment" else "batch/v1", "kind": kind, "spec": {}}
    workload["metadata"] = {"name": "train", "namespace": "ml", "uid": "train"}
    maker = "ReplicaSet" if kind == "Deployment" else kind
    event = said(f"Error creating: {words}", kind=maker, about=about)
    file = as_file(tmp_path / "a.json", build.node(), workload, event)
    assert run(["why-pending", f"{kind.lower()}/train", "-n", "ml", "--from", file, "--color", "never"]) == 0
    text = " ".join(capfd.readouterr().out.split())
    assert told in text
    assert (AGAIN in text) == (kind == "Job")


def test_a_webhook_that_does_not_answer_is_named_with_its_pods(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    workload = {"apiVersion": "batch/v1", "kind": "Job", "spec": {}}
    workload["metadata"] = {"name": "train", "namespace": "ml", "uid": "train"}
    words = (
        'Error creating: Internal error occurred: failed calling webhook "mpod.kb.io": failed to call webhook: Post '
        '"https://webhook-service.queues.svc:443/mutate--v1-pod?timeout=10s": no endpoints available for service "x"'
    )
    file = as_file(tmp_path / "a.json", build.node(), workload, said(words, kind="Job", about="train"))
    assert run(["why-pending", "job/train", "-n", "ml", "--from", file, "--color", "never"]) == 0
    text = " ".join(capfd.readouterr().out.split())
    assert "webhook mpod.kb.io, which has to admit them, cannot be called: no endpoints available for service" in text
    assert "kubectl get pods -n queues" in text


ANY = "The end of any of these pods would make room for one more: "


def using(name: str, cpu: str, **fields: Any) -> dict[str, Any]:
    return build.pod(name, node_name="node-1", phase="Running", requests={"cpu": cpu}) | fields


@pytest.mark.parametrize(
    ("others", "told"),
    [
        (
            [("a", "3"), ("b", "1"), ("c", "500m")],
            f"{ANY}a (3), b (1).",
        ),
        ([("a", "3"), ("b", "500m")], "The end of pod a (3) would make room for one more."),
        ([("a", "500m")], "Most of it is requested by a (500m); none of them is enough alone."),
        ([], ""),
    ],
)
def test_whose_end_makes_room_in_a_quota(others: list[tuple[str, str]], told: str) -> None:
    """It lacks one CPU; finished pods and those of other namespaces have none of it."""
    words = QUOTA.format("requests.cpu=4", "requests.cpu=5").replace("pods=1,", "")
    done = using("done", "4", status={"phase": "Succeeded"})
    elsewhere = using("elsewhere", "4")
    elsewhere["metadata"]["namespace"] = "other"
    found, _ = refused(*pods(), said(words), done, elsewhere, *(using(*each) for each in others))
    assert found is not None
    assert " ".join(map(plain, pods_lines(found.shortages[0]))) == told


def test_where_not_all_pods_were_read_nobody_is_named() -> None:
    words = QUOTA.format("requests.cpu=4", "requests.cpu=5").replace("pods=1,", "")
    state = cluster(build.node(), *pods(), said(words), using("a", "3"), withheld=("Pod",))
    found = refusal_of(state, ObjectRef("Job", "ml", "train"))
    assert found is not None
    assert not found.shortages[0].pods


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            "maximum cpu usage per Container is 8, but limit is 16",
            "lower resources.limits.cpu of each container to at most 8, or ask the owner of the "
            "LimitRange to raise its "
            "max.",
        ),
        (
            "[minimum memory usage per Pod is 1Gi, but request is 512Mi, maximum cpu usage per Pod is 8]",
            "raise resources.requests.memory of all containers together to at least 1Gi, or ask the owner of the "
            "LimitRange to lower its min.",
        ),
        (
            "maximum cpu usage per Container is 8.  No limit is specified",
            "set resources.limits.cpu of each container to at most 8, or ask the owner of the LimitRange to raise its "
            "max.",
        ),
    ],
)
def test_the_field_is_named_that_a_limit_range_bounds(words: str, told: str) -> None:
    text = f'Error creating: pods "train-2" is forbidden: {words}'
    refusal = refusal_of(cluster(said(text)), ObjectRef("Job", "ml", "train"))
    assert refusal is not None
    lines = " ".join(map(str, refused_advice(refusal, HERE)))
    assert f"What usually helps: In the pod template, {told}" in " ".join(lines.split())
    assert "kubectl describe limitranges -n ml" in lines
