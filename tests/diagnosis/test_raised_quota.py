"""Claims that a quota forbids: all pods that wait for it are looked at together, with the nodes that they would get."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.records import Verdict
from kubectl_dra.diagnosis.remedies import RemedyKind
from kubectl_dra.diagnosis.remedies.records import RaiseQuota, Wait
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.output.pending.actions import action_text
from kubectl_dra.output.pending.remedies import remedy_lines
from kubectl_dra.output.safe import plain
from kubectl_dra.reports.pending.remedies import RemedyReport, find_remedies
from tests.diagnosis.test_within_quota import DEVICES, quota, template
from tests.kit import build, facts
from tests.kit.clock import CLOCK


def node(name: str, devices: int = 4) -> list[dict[str, Any]]:
    return [build.node(name), build.slice_(name, *(build.device(f"gpu-{i}") for i in range(devices)))]


def waiting(*names: str) -> list[dict[str, Any]]:
    return [build.pod(name, templates=["t"]) for name in names]


def running(name: str, kind: str = "Job") -> list[dict[str, Any]]:
    """A pod of a Job with four devices of the node of its name, and its claim."""
    pod = build.pod(name, templates=["t"], node_name=name, phase="Running")
    pod["metadata"]["ownerReferences"] = [
        {"apiVersion": "batch/v1", "kind": kind, "name": "j", "uid": "j", "controller": True}
    ]
    pod["status"]["resourceClaimStatuses"] = [{"name": "t", "resourceClaimName": f"{name}-t"}]
    owner = {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": f"pod-{name}", "controller": True}
    held = [(name, f"gpu-{number}") for number in range(4)]
    meta = {"metadata": {"ownerReferences": [owner]}}
    return [pod, build.claim(f"{name}-t", build.request(count=4), held=held, by=[name], on=name, **meta)]


def ways(name: str, *objects: dict[str, Any]) -> tuple[RemedyReport, ...]:
    world = ClusterState(
        facts.inventory([build.device_class(), template(build.request(count=4)), *objects]),
        facts.evidence(),
        features(),
        CLOCK,
    )
    return find_remedies(world, Diagnoser(world).pod(Key(build.NAMESPACE, name))).remedies


def page(found: tuple[RemedyReport, ...]) -> str:
    return " ".join(" ".join(remedy_lines(found, Verdict.GATED)).split())


def raised(found: tuple[RemedyReport, ...]) -> tuple[RemedyReport, RaiseQuota]:
    (way,) = (each for each in found if each.kind is RemedyKind.RAISE_QUOTA)
    (action,) = way.actions
    assert isinstance(action, RaiseQuota)
    return way, action


def test_the_limit_is_as_high_as_all_waiting_pods_need() -> None:
    two = [*node("a"), *node("b"), quota(DEVICES, "6", "4"), *waiting("x", "y")]
    for name in "xy":
        found = ways(name, *two)
        way, action = raised(found)
        assert (action.before, action.after, action.least) == ("6", "12", "8")
        assert (action.pods, action.waiting, action.nodes) == (2, 2, ("a", "b"))
        assert way.verified
        told = page(found)
        assert "from 6 to 12, for both pods that wait (8 is enough for one of them)" in plain(action_text(action))
        assert "both would run, on a and b; usually only a cluster administrator may change quotas" in told
        assert "enough for one of the 2 pods that wait; with 1 device each it is for both" in told


def test_no_higher_than_there_are_devices() -> None:
    found = ways("x", *node("a"), quota(DEVICES, "6", "4"), *waiting("x", "y"))
    _, action = raised(found)
    assert (action.after, action.pods, action.waiting, action.no_room) == ("8", 1, 2, True)
    told = "from 6 to 8, for one of the 2 pods that wait: there are not enough free devices for more"
    assert told in plain(action_text(action))


def test_one_pod_alone_is_told_nothing_of_others() -> None:
    found = ways("x", *node("a"), quota(DEVICES, "6", "4"), *waiting("x"))
    way, action = raised(found)
    assert (action.after, action.pods, action.waiting, way.nodes) == ("8", 1, 1, ("a",))
    assert "pods that wait" not in page(found)


def test_the_end_of_a_pod_of_a_job_gives_back_what_its_claim_is_charged() -> None:
    objects = [*node("a"), *node("b"), quota(DEVICES, "6", "4"), *running("a"), *waiting("x", "y")]
    found = ways("x", *objects)
    first = found[0]
    assert first.kind is RemedyKind.WAIT
    assert isinstance(first.actions[0], Wait)
    assert set(first.nodes) == {"a", "b"}
    told = page(found)
    assert "wait until pod a ends: its claim no longer counts then" in told
    assert "the quota is then enough for one of the 2 pods that wait)" in told


@pytest.mark.parametrize("own", [True, False])
def test_pods_of_one_job_may_wait_for_each_other(*, own: bool) -> None:
    runs, mine = running("a"), waiting("x")
    if own:
        mine[0]["metadata"]["ownerReferences"] = runs[0]["metadata"]["ownerReferences"]
    told = page(ways("x", *node("a"), *node("b"), quota(DEVICES, "6", "4"), *runs, *mine))
    assert "wait until pod a ends" in told
    assert ("if the pods of its Job wait for each other, as in distributed training" in told) is own


def test_what_never_ends_is_not_waited_for() -> None:
    objects = [*node("a"), *node("b"), quota(DEVICES, "6", "4"), *running("a", "StatefulSet"), *waiting("x")]
    assert not any(each.kind is RemedyKind.WAIT for each in ways("x", *objects))


def test_more_than_one_limit_is_one_way_out() -> None:
    quotas = [quota(DEVICES, "6", "4"), quota("count/resourceclaims.resource.k8s.io", "1", "1")]
    quotas[1]["metadata"]["name"] = "claims"
    (way,) = (e for e in ways("x", *node("a"), *quotas, *waiting("x")) if e.kind is RemedyKind.RAISE_QUOTA)
    assert sorted(each.after for each in way.actions if isinstance(each, RaiseQuota)) == ["2", "8"]
    assert way.nodes == ("a",)
