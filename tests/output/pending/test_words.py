"""The words of why-pending: complete for every code, plain for hostile names."""

from __future__ import annotations

import pytest

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Cause, FatalError, HeldFor, Removal, StageName
from kubectl_dra.model.clock import parse_time
from kubectl_dra.output.pending.evidence import evidence_lines
from kubectl_dra.output.pending.reasons import reason_sentence
from kubectl_dra.output.pending.removals import removal_note
from kubectl_dra.selectors.comparisons import short_clause

NOW = parse_time("2026-11-21T12:00:00Z")


def test_every_code_has_a_title_of_few_words():
    assert all(code.label for code in Code)
    assert max(len(code.label) for code in Code) <= 30


@pytest.mark.parametrize("code", list(Code))
def test_every_code_has_a_sentence_even_without_evidence(code):
    sentence = reason_sentence(Cause(code))
    assert sentence
    assert not sentence.endswith(".")


def test_clauses_are_shown_without_their_domains():
    assert short_clause('device.attributes["gpu.example.com"].model ==  "H100"') == 'model == "H100"'
    assert short_clause('device.capacity["d"].memory.compareTo(quantity("1Gi")) > 0').startswith("memory.compareTo")


def test_values_that_say_nothing_are_left_out():
    removals = [
        Removal(StageName.SELECTORS, 'device.attributes["d"].uuid == "a"', (f"d/p/{i}",), f"uuid-{i}") for i in range(9)
    ]
    assert removal_note(StageName.SELECTORS, removals, "ml") == "uuid is another value"
    assert removal_note(StageName.SELECTORS, removals[:1], "ml") == "uuid is uuid-0"


def test_holders_are_named_without_the_pods_own_namespace():
    removals = [
        Removal(StageName.UNUSED, "ml/claim-a", ("x", "y"), "ml/serve-1"),
        Removal(StageName.UNUSED, "dev/claim-b", ("z",), "dev/nb"),
        Removal(StageName.UNUSED, "ml/idle", ("w",)),
    ]
    assert removal_note(StageName.UNUSED, removals, "ml") == "serve-1 2, claim idle 1, dev/nb 1"


@pytest.mark.parametrize(
    ("users", "held_for", "expected"),
    [
        ("ml/a", HeldFor.GONE, "claim c held for pod a that no longer exists"),
        ("ml/a, ml/b", HeldFor.FINISHED, "claim c held for pods a and b that no longer run"),
        ("", HeldFor.NOBODY, "claim c held for nobody"),
        ("ml/a, ml/b, ml/c, ml/d", HeldFor.GONE, "claim c held for 4 pods that no longer exist"),
    ],
)
def test_what_is_held_for_pods_that_are_gone_says_so(users, held_for, expected):
    removal = Removal(StageName.UNUSED, "ml/c", ("x",), users, held_for=held_for)
    assert removal_note(StageName.UNUSED, [removal], "ml") == expected


def test_the_caret_stands_under_the_missing_key():
    expression = 'device.attributes["gpu.example.com"].nvlinkGeneration >= 4'
    error = FatalError("text", expression=expression, detail="no such key: nvlinkGeneration")
    shown, caret = (str(line) for line in evidence_lines(Cause(Code.SELECTOR_FAILS, error), "ml", NOW))
    assert shown[caret.replace("\x1b[31m", "").index("^") :].startswith("nvlinkGeneration")


def test_a_key_that_is_mentioned_twice_gets_no_caret():
    expression = 'device.attributes["a"].x == 1 || device.attributes["b"].x == 2'
    error = FatalError("text", expression=expression, detail="no such key: x")
    assert not any("^" in line for line in evidence_lines(Cause(Code.SELECTOR_FAILS, error), "ml", NOW))


def test_long_expressions_are_cut_around_the_place():
    expression = " && ".join([f'device.attributes["d"].a{i} == {i}' for i in range(30)])
    error = FatalError("text", expression=expression, detail="no such key: a20")
    lines = [
        str(line).replace("\x1b[31m", "").replace("\x1b[0m", "")
        for line in evidence_lines(Cause(Code.SELECTOR_FAILS, error), "ml", NOW)
    ]
    assert max(map(len, lines)) <= 80
    assert lines[0][lines[1].index("^") :].startswith("a20")
