"""Of every recorded cluster all answers are, up to other names, the same after redaction."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.gates.pending import pending_pods
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.model.features import Features, features
from kubectl_dra.output.documents import to_bytes
from kubectl_dra.reports.claims.claim import claim_report
from kubectl_dra.reports.claims.claim_list import claim_rows
from kubectl_dra.reports.devices.class_list import class_rows
from kubectl_dra.reports.devices.pool import pool_report, pool_summaries
from kubectl_dra.reports.pending.pending import pending_report
from kubectl_dra.reports.pending.remedies import find_remedies
from kubectl_dra.reports.redaction import redacted
from kubectl_dra.reports.redaction.words import API
from kubectl_dra.reports.snapshot import snapshot
from kubectl_dra.source.file import assemble
from kubectl_dra.source.manifests import read_manifests
from tests.kit import rollouts
from tests.kit.clock import CLOCK
from tests.reports.clusters import DEMO, FULL, SMALL

pytestmark = pytest.mark.one_in(4)


TESTS = Path(__file__).parents[1]
RECORDED = [
    *sorted(TESTS.glob("scenarios/*/snapshot.json")),
    *sorted(TESTS.glob("generations/recorded/*/*.json")),
    *(TESTS / "reports" / name for name in ("classic.json", "prototype.json", "pool_status.json")),
    SMALL,
    FULL,
    DEMO,
]
# Words of the reports themselves, which are no names; of kinds only those that the API knows.
WORDS = frozenset({"verdict", "agreement", "code", "state", "status", "coverage", "outcome", "health"})
# Suggestions, and the pods of a driver, go by how names are spelled.
BY_SPELLING = frozenset({"similar", "likelyPods"})


def read(content: dict[str, Any]) -> ClusterState:
    inventory, evidence = assemble(read_manifests(json.dumps(content).encode(), "test"))
    known = features(evidence.server_version[1]) if evidence.server_version else Features()
    return ClusterState(inventory, evidence, known, CLOCK)


def answers(facts: ClusterState) -> list[Any]:
    """Everything that the commands say of a cluster, as JSON."""
    inventory = facts.inventory
    diagnoser = Diagnoser(facts)
    found: list[Any] = [pending_report(diagnoser.pod(key), facts) for key in sorted(inventory.pods)]
    found += [claim_report(inventory.claims[key], facts) for key in sorted(inventory.claims)]
    found += [claim_rows(inventory.claims.values(), facts), class_rows(inventory.classes.values(), facts)]
    found += [pool_summaries(facts), [pool_report(pool, facts) for pool in facts.pools]]
    return [json.loads(to_bytes(each)) for each in found]


class Renaming:
    """Whether two documents are the same but for a renaming, one to one, of strings."""

    def __init__(self) -> None:
        self._there: dict[str, str] = {}
        self._back: dict[str, str] = {}

    def differences(self, before: Any, after: Any, path: str = "", field: str = "") -> Iterator[str]:
        match before, after:
            case str(), str():
                if not self._same(before, after, field):
                    yield f"{path}: {before} -> {after}"
            case list(), list() if len(before) == len(after):
                for index, (one, other) in enumerate(zip(before, after, strict=True)):
                    yield from self.differences(one, other, f"{path}[{index}]", field)
            case dict(), dict():
                before, after = ({k: v for k, v in each.items() if k not in BY_SPELLING} for each in (before, after))
                keys = list(before) if before.keys() == after.keys() else list(after)
                if len(before) != len(after):
                    yield f"{path}: {sorted(before)} -> {sorted(after)}"
                    return
                for one, other in zip(before, keys, strict=True):
                    yield from self.differences(one, other, f"{path}.{one} as a key")
                    yield from self.differences(before[one], after[other], f"{path}.{one}", one)
            case _ if before != after:
                yield f"{path}: {str(before)[:200]} -> {str(after)[:200]}"

    def _same(self, before: str, after: str, field: str) -> bool:
        if before == after:
            return True
        if field in WORDS or (field == "kind" and before in API):
            return False
        there, back = self._there.setdefault(before, after), self._back.setdefault(after, before)
        return (there, back) == (after, before)


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_answer_is_the_same_up_to_names(path: Path) -> None:
    state = read(json.loads(path.read_text(encoding="utf-8")))
    taken = snapshot(state)
    hidden = redacted(taken, state.features.shows_sharing)
    before, after = (read(json.loads(json.dumps(each.whole()))) for each in (taken, hidden))
    assert list(Renaming().differences(answers(before), answers(after))) == []


@pytest.mark.parametrize(
    "content",
    [json.loads(SMALL.read_text(encoding="utf-8")), {"apiVersion": "v1", "kind": "List", "items": rollouts.objects()}],
    ids=["small", "rollout"],
)
def test_ways_out_are_the_same_up_to_names(content: dict[str, Any]) -> None:
    def kinds(facts: ClusterState) -> list[Any]:
        diagnoser = Diagnoser(facts)
        pods = sorted(pending_pods(facts))
        return [
            [(each.kind, each.verified, len(each.nodes), len(each.steps)) for each in found]
            for found in (find_remedies(facts, diagnoser.pod(pod)).remedies for pod in pods)
        ]

    state = read(content)
    taken = snapshot(state)
    before, after = (read(json.loads(json.dumps(each.whole()))) for each in (taken, redacted(taken)))
    assert kinds(after) == kinds(before) == kinds(state)


def test_this_test_would_see_a_difference() -> None:
    assert list(Renaming().differences({"verdict": "Gated"}, {"verdict": "Pending"}))
    assert list(Renaming().differences(["a", "b"], ["x", "x"]))
    assert list(Renaming().differences(["a", "a"], ["x", "y"]))
    assert list(Renaming().differences({"a": 1}, {"b": 2}))
    assert list(Renaming().differences([1], [1, 2]))
    assert not list(Renaming().differences({"a": ["a", 1]}, {"b": ["b", 1]}))
