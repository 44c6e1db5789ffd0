"""The worker: what is on the screen first, nothing starves, newer facts count, errors are not swallowed."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

import pytest

from kubectl_dra.model.features import NEWEST_MINOR, features
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.tui.report_worker import ReportWorker
from tests.kit.state import state_of

LOG = []


@dataclass(frozen=True)
class Query:
    name: str
    seconds: float = 0.0

    def compute(self, cluster):
        LOG.append((self.name, cluster.revision))
        time.sleep(self.seconds)
        return f"{self.name}@{cluster.revision}"


@dataclass(frozen=True)
class Held:
    """Computed until it is released."""

    name: str
    begun: threading.Event = field(default_factory=threading.Event, compare=False)
    released: threading.Event = field(default_factory=threading.Event, compare=False)

    def compute(self, cluster):
        self.begun.set()
        self.released.wait(60)
        return self.name


@dataclass(frozen=True)
class Broken:
    def compute(self, cluster):
        raise ZeroDivisionError


def state(number):
    return state_of(Inventory(), features=features(NEWEST_MINOR, {}), revision=number)


@pytest.fixture
def worker():
    LOG.clear()
    woken = threading.Event()
    made = ReportWorker(woken.set)
    made.woken = woken
    yield made
    made.stop()


def wait(worker):
    for _ in range(1000):
        if worker.idle:
            return
        time.sleep(0.005)
    raise AssertionError("never idle")


def test_what_is_on_the_screen_comes_first(worker):
    worker.want([Query("shown")], [Query("a"), Query("b"), Query("c")])
    worker.show(state(1))
    worker.start()
    wait(worker)
    assert LOG[0] == ("shown", 1)
    assert worker.record(Query("b")) == "b@1"
    assert worker.woken.is_set()


def test_each_query_is_computed_once_per_state(worker):
    worker.want([Query("shown")], [Query("a")])
    worker.show(state(1))
    worker.start()
    wait(worker)
    worker.want([Query("shown")], [Query("a")])
    wait(worker)
    assert sorted(LOG) == [("a", 1), ("shown", 1)]
    worker.show(state(2))
    wait(worker)
    assert worker.answer(Query("a")).cluster.revision == 2


def test_nothing_starves_while_facts_change_all_the_time(worker):
    others = [Query(f"other-{index}", 0.002) for index in range(6)]
    worker.want([Query("shown", 0.002)], others)
    worker.show(state(1))
    worker.start()
    number, behind = 1, 0
    while behind < 20 and number < 10_000:
        number += 1
        worker.show(state(number))
        time.sleep(0.003)
        behind = min(found.cluster.revision if (found := worker.answer(query)) else 0 for query in others)
    assert behind >= 20
    wait(worker)
    assert {worker.answer(query).cluster.revision for query in others} == {number}


def test_queries_that_nobody_wants_are_dropped(worker):
    worker.want([Query("a"), Query("b")])
    worker.show(state(1))
    worker.start()
    wait(worker)
    worker.want([Query("b")])
    assert worker.record(Query("a")) is None
    assert worker.record(Query("b")) == "b@1"


def test_another_cluster_forgets_everything(worker):
    worker.want([Query("a")])
    worker.show(state(1))
    worker.start()
    wait(worker)
    worker.show(None)
    assert worker.record(Query("a")) is None


def test_a_record_of_a_former_cluster_is_not_taken(worker):
    held = Held("slow")
    worker.want([held])
    worker.show(state(1))
    worker.start()
    assert held.begun.wait(60)
    worker.show(None)
    held.released.set()
    assert worker.woken.wait(60)
    assert worker.record(held) is None


def test_errors_of_the_program_reach_the_app(worker):
    worker.want([Broken()])
    worker.show(state(1))
    worker.start()
    assert worker.woken.wait(2)
    assert isinstance(worker.error, ZeroDivisionError)
