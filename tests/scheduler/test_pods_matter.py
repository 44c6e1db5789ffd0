"""What plugins say of other pods' part in their Filter is true, so that dry runs may leave plugins out."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Final, cast

import pytest

from kubectl_dra.model.usage import Ledger, NodeUsage, sum_of_pods
from kubectl_dra.scheduler.filtering import filters, minding, pre_filter, remove_pod
from kubectl_dra.scheduler.framework import Cycle, PodsMatter
from kubectl_dra.scheduler.snapshot import NodeInfo
from kubectl_dra.scheduler.tally import Domains, LabelTally
from tests.scheduler.rows import cycle_of, snapshot_of
from tests.vectors.rows import rows

CATEGORIES: Final = ("preemption", "ports", "mixed", "read-write-once-pod", "spread", "pod-affinity", "volume-binding")
_OF_EACH: Final = 8


def attempts(categories: tuple[str, ...]) -> Iterator[Cycle]:
    """Attempts in recorded clusters, after PreFilter."""
    for category in categories:
        for row in [row for row in rows("sched") if row["category"] == category][:_OF_EACH]:
            snapshot = snapshot_of(row)
            for entry in row["expect"]:
                cycle = cycle_of(snapshot, entry["pod"])
                if entry["outcome"] in ("fits", "unschedulable") and pre_filter(cycle).stop is None:
                    yield cycle


class _Unread:
    """Stands for the usage of a node: whoever looks at it fails."""


def test_a_plugin_to_which_pods_of_the_node_are_nothing_does_not_look_at_them() -> None:
    asked = set()
    for cycle in attempts(CATEGORIES):
        for plugin in filters(cycle):
            if plugin.pods is not PodsMatter.FEWER_IS_BETTER:
                for node in cycle.snapshot.nodes.values():
                    blind = NodeInfo(node.node, cast("NodeUsage", _Unread()))
                    assert plugin.filter(cycle, blind) == plugin.filter(cycle, node)
                asked.add(plugin.name)
    assert {"PodTopologySpread", "InterPodAffinity", "VolumeBinding", "TaintToleration", "DynamicResources"} <= asked


def test_a_pod_that_a_plugin_does_not_mind_changes_nothing_and_fewer_are_no_worse() -> None:
    changed = set()
    for cycle in attempts(CATEGORIES):
        for node in cycle.snapshot.nodes.values():
            for pod in node.pods:
                emptier, ledger = cycle.clone(), Ledger(node.usage)
                ledger.remove(pod)
                remove_pod(emptier, pod, node)
                minded = minding(cycle, pod.shape).plugins
                for plugin in filters(cycle):
                    before = plugin.filter(cycle, node)
                    after = plugin.filter(emptier, NodeInfo(node.node, ledger))
                    if plugin not in minded:
                        assert after == before
                    elif plugin.pods is PodsMatter.FEWER_IS_BETTER and before.ok:
                        assert after.ok
                    if after != before:
                        changed.add(plugin.name)
    assert changed >= {"NodeResourcesFit", "NodePorts", "PodTopologySpread", "InterPodAffinity", "VolumeRestrictions"}


def test_a_ledger_says_what_the_sums_say() -> None:
    chance = random.Random(19)
    for cycle in attempts(CATEGORIES[:2]):
        for node in cycle.snapshot.nodes.values():
            ledger, there = Ledger(node.usage), list(node.pods)
            gone: list[int] = []
            for _ in range(2 * len(there)):
                place = chance.randrange(len(there))
                if place in gone:
                    gone.remove(place)
                    ledger.add(there[place])
                else:
                    gone.append(place)
                    ledger.remove(there[place])
            left = sum_of_pods([pod for place, pod in enumerate(there) if place not in gone])
            assert ledger.placed == left.placed
            assert ledger.pods == left.pods
            assert {name: value for name, value in ledger.requests.items() if value} == left.requests
            assert ledger.kept().requests == left.requests
            assert ledger.non_zero == left.non_zero


# --- counts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_counts_of_a_copy_leave_the_original_alone(seed: int) -> None:
    chance = random.Random(seed)
    tallies: list[tuple[LabelTally, dict[tuple[str, str], int]]] = [(LabelTally(), {})]
    for _ in range(300):
        tally, plain = chance.choice(tallies)
        if chance.random() < 0.1:
            tallies.append((tally.clone(), dict(plain)))
        pair = chance.choice("kl"), chance.choice("abc")
        delta = chance.choice((-1, 1, 2))
        tally.add(*pair, delta)
        plain[pair] = plain.get(pair, 0) + delta
    for tally, plain in tallies:
        assert bool(tally) == any(plain.values())
        for key, value in plain:
            assert tally.at(key, {key: value}) == plain[key, value]
            assert tally.keys_at({key: value}) == ((key,) if plain[key, value] > 0 else ())
        assert tally.at("k", {}) == 0


@pytest.mark.parametrize("seed", range(5))
def test_the_fewest_of_all_domains(seed: int) -> None:
    chance = random.Random(seed)
    copies: list[tuple[Domains, dict[str, int]]] = [(Domains({"a": 2, "b": 0, "c": 1}), {"a": 2, "b": 0, "c": 1})]
    for _ in range(200):
        domains, plain = chance.choice(copies)
        if chance.random() < 0.1:
            copies.append((domains.clone(), dict(plain)))
        value, delta = chance.choice("abcde"), chance.choice((-1, 1))
        domains.add(value, delta)
        plain[value] = plain.get(value, 0) + delta
        assert domains.fewest(1) == min(plain.values())
        assert domains.fewest(len(plain)) == min(plain.values())
        assert domains.fewest(len(plain) + 1) == 0
    for domains, plain in copies:
        assert all(domains.count(value) == number for value, number in plain.items())
        assert domains.count("unknown") == 0
        assert domains.fewest(1) == min(plain.values())
