"""Events of type Normal that say something of a pod's fate are read from a live cluster; routine is left out."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.diagnosis.said import foreign, kubelet
from kubectl_dra.reports.pending import events as autoscalers
from kubectl_dra.source.live import Needs, read
from kubectl_dra.source.live.feed import FedState, Feed
from kubectl_dra.source.live.telling import REASONS
from tests.kit.fake_api import Answer, FakeApi, chunk_of, connection_to

NEEDS = Needs(frozenset({"Event"}), ("ml",))


def event(name: str, reason: str, kind: str = "Normal") -> dict[str, Any]:
    about = {"kind": "Pod", "namespace": "ml", "name": "train", "uid": "u"}
    meta = {"name": name, "namespace": "ml", "resourceVersion": "8"}
    return {"metadata": meta, "involvedObject": about, "type": kind, "reason": reason, "message": name}


EVENTS = [
    event("added", "TriggeredScaleUp"),
    event("not-added", "NotTriggerScaleUp"),
    event("queue", "Informational"),
    event("routine", "Killing"),
    event("refused", "FailedScheduling", "Warning"),
]


def test_a_list_keeps_those_that_tell(tmp_path: Path, api: FakeApi) -> None:
    path = api.serve("Event", EVENTS, namespace="ml")
    inventory, _ = read(connection_to(tmp_path, api), NEEDS)
    kept = {each.metadata.name for each in inventory.events_by_object["Pod", "ml", "train"]}
    assert kept == {"added", "not-added", "queue", "refused"}
    left_out = api.asked(path)[0].query["fieldSelector"].split(",")
    assert "reason!=Killing" in left_out
    assert not [reason for reason in REASONS if f"reason!={reason}" in left_out]


def test_so_does_a_watch(tmp_path: Path, api: FakeApi) -> None:
    path = api.serve("Event", [], namespace="ml")
    news, found = threading.Event(), list[FedState]()

    def lines() -> Any:
        for each in (event("routine", "Killing"), EVENTS[0]):
            yield json.dumps({"type": "ADDED", "object": each}).encode() + b"\n"
        news.wait(60)

    def answer(request: Any) -> Answer:
        return Answer(stream=lines()) if "watch" in request.query else chunk_of(request, "Event", [], "v1")

    api.routes[path] = answer

    def publish(state: FedState) -> None:
        found.append(state)
        if state.inventory.events_by_object:
            news.set()

    def crash(error: BaseException) -> None:
        raise error

    feed = Feed(connection_to(tmp_path, api), NEEDS, publish, crash)
    feed.start()
    try:
        assert news.wait(60)
    finally:
        news.set()
        feed.close()
    kept = {each.metadata.name for each in found[-1].inventory.events_by_object["Pod", "ml", "train"]}
    assert kept == {"added"}


@pytest.mark.parametrize(
    "used",
    [
        {*autoscalers._ACTS, *autoscalers._REFUSES},
        kubelet._PROGRESS,
        {"Informational", "Scheduling"} & foreign._REASONS,
    ],
)
def test_whatever_a_diagnosis_takes_from_such_events_is_kept(used: frozenset[str]) -> None:
    assert used
    assert used <= REASONS
