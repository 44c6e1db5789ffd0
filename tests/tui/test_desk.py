"""The worker: what is on the screen first, nothing starves, newer facts count, errors are not swallowed."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

import pytest

from kubectl_dra.model.features import NEWEST_MINOR, features
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.tui.desk import Desk
from tests.kit.state import state_of

LOG = []


@dataclass(frozen=True)
class Topic:
    name: str
    seconds: float = 0.0

    def compute(self, cluster):
        LOG.append((self.name, cluster.revision))
        time.sleep(self.seconds)
        return f"{self.name}@{cluster.revision}"


@dataclass(frozen=True)
class Broken:
    def compute(self, cluster):
        raise ZeroDivisionError


def state(number):
    return state_of(Inventory(), features=features(NEWEST_MINOR, {}), revision=number)


@pytest.fixture
def desk():
    LOG.clear()
    woken = threading.Event()
    made = Desk(woken.set)
    made.woken = woken
    yield made
    made.stop()


def wait(desk):
    for _ in range(1000):
        if desk.idle:
            return
        time.sleep(0.005)
    raise AssertionError("never idle")


def test_what_is_on_the_screen_comes_first(desk):
    desk.want([Topic("shown")], [Topic("a"), Topic("b"), Topic("c")])
    desk.show(state(1))
    desk.start()
    wait(desk)
    assert LOG[0] == ("shown", 1)
    assert desk.record(Topic("b")) == "b@1"
    assert desk.woken.is_set()


def test_each_topic_is_computed_once_per_moment(desk):
    desk.want([Topic("shown")], [Topic("a")])
    desk.show(state(1))
    desk.start()
    wait(desk)
    desk.want([Topic("shown")], [Topic("a")])
    wait(desk)
    assert sorted(LOG) == [("a", 1), ("shown", 1)]
    desk.show(state(2))
    wait(desk)
    assert desk.result(Topic("a")).cluster.revision == 2


def test_nothing_starves_while_facts_change_all_the_time(desk):
    others = [Topic(f"other-{index}", 0.002) for index in range(6)]
    desk.want([Topic("shown", 0.002)], others)
    desk.show(state(1))
    desk.start()
    for number in range(2, 80):
        desk.show(state(number))
        time.sleep(0.003)
    numbers = {topic.name: desk.result(topic).cluster.revision for topic in others}
    assert min(numbers.values()) > 20
    wait(desk)
    assert {desk.result(topic).cluster.revision for topic in others} == {79}


def test_topics_that_nobody_wants_are_dropped(desk):
    desk.want([Topic("a"), Topic("b")])
    desk.show(state(1))
    desk.start()
    wait(desk)
    desk.want([Topic("b")])
    assert desk.record(Topic("a")) is None
    assert desk.record(Topic("b")) == "b@1"


def test_another_cluster_forgets_everything(desk):
    desk.want([Topic("a")])
    desk.show(state(1))
    desk.start()
    wait(desk)
    desk.show(None)
    assert desk.record(Topic("a")) is None


def test_a_record_of_a_former_cluster_is_not_taken(desk):
    desk.want([Topic("slow", 0.05)])
    desk.show(state(1))
    desk.start()
    time.sleep(0.02)
    desk.show(None)
    time.sleep(0.08)
    assert desk.record(Topic("slow", 0.05)) is None


def test_errors_of_the_program_reach_the_app(desk):
    desk.want([Broken()])
    desk.show(state(1))
    desk.start()
    assert desk.woken.wait(2)
    assert isinstance(desk.error, ZeroDivisionError)
