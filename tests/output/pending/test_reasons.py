"""The sentences of reasons fit the evidence that diagnoses bring: of every recorded cluster and of the demo cluster."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import partial

import pytest

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.gates.pending import pending_pods
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.records import Cause
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.output.pending.reasons import _SENTENCES, reason_sentence
from kubectl_dra.source.demo import load_demo
from tests.diagnosis.test_scenarios import EXPECTED
from tests.kit import facts
from tests.kit.state import check_evidence, diagnose_pod, state_of


def causes() -> Iterator[Cause]:
    """Every cause with evidence, those of single groups of nodes too."""
    inventory, evidence = load_demo()
    demo = state_of(inventory, evidence, features())
    found = [Diagnoser(demo).pod(key) for key in pending_pods(demo)]
    for name in sorted(EXPECTED):
        inventory, result = facts.scenario(name)
        found.append(diagnose_pod(inventory, facts.evidence(), features(), Key(*result["pod"].split("/"))))
    for diagnosis in found:
        for cause in (*diagnosis.causes, *(cause for group in diagnosis.nodes for cause in group.causes)):
            if cause.detail is not None:
                yield cause


@pytest.fixture(scope="module")
def by_code() -> dict[Code, list[Cause]]:
    """All of them."""
    found: defaultdict[Code, list[Cause]] = defaultdict(list)
    for cause in causes():
        found[cause.code].append(cause)
    return found


def test_many_reasons_occur(by_code: dict[Code, list[Cause]]) -> None:
    assert len(by_code) > 30


def test_evidence_is_said_wherever_a_sentence_is_there_for_it(by_code: dict[Code, list[Cause]]) -> None:
    """A sentence falls back to the code's meaning where it does not know the kind of evidence."""
    told = {code: found for code, found in by_code.items() if code in _SENTENCES}
    mute = {code for code, found in told.items() if any(reason_sentence(cause) == code.meaning for cause in found)}
    assert mute == set()


def test_the_evidence_is_what_the_rows_of_the_codes_name(by_code: dict[Code, list[Cause]]) -> None:
    for found in by_code.values():
        check_evidence(found)
    told = {code: say.args[0].__name__ for code, say in _SENTENCES.items() if isinstance(say, partial)}
    assert len(told) > 70
    assert {code for code, kind in told.items() if kind not in code.evidence} == set()


def test_no_sentence_is_of_a_reason_that_is_not_there() -> None:
    assert set(_SENTENCES) <= set(Code)
