"""Plurals, lists, ages."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kubectl_dra.diagnosis.records import Bound, Count
from kubectl_dra.output.devices.parts import number, spoken
from kubectl_dra.output.words import age, ago, counted, duration, lasting, listed, plural, shortened

M, H, D = 60, 3600, 86400


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-2, "in the future"),
        (-1, "0s"),
        (0, "0s"),
        (119, "119s"),
        (2 * M, "2m"),
        (2 * M + 1, "2m1s"),
        (10 * M - 1, "9m59s"),
        (10 * M + 59, "10m"),
        (3 * H - 1, "179m"),
        (3 * H, "3h"),
        (3 * H + M, "3h1m"),
        (8 * H - 1, "7h59m"),
        (8 * H + M, "8h"),
        (48 * H - 1, "47h"),
        (2 * D, "2d"),
        (2 * D + H, "2d1h"),
        (8 * D - 1, "7d23h"),
        (8 * D + H, "8d"),
        (2 * 365 * D - 1, "729d"),
        (2 * 365 * D, "2y"),
        (3 * 365 * D + 5 * D, "3y5d"),
        (8 * 365 * D, "8y"),
        (20 * 365 * D + 9 * D, "20y"),
    ],
)
def test_durations_as_kubectl_prints_them(seconds: int, text: str) -> None:
    assert duration(seconds) == text


def test_ages() -> None:
    now = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
    assert age("2026-11-21T11:56:00Z", now) == "4m"
    assert age("2026-11-21T11:56:00.123456Z", now) == "3m59s"
    assert age("2026-11-21T13:56:00+02:00", now) == "4m"
    assert age(None, now) == age("", now) == age("yesterday", now) == "<unknown>"


@pytest.mark.parametrize(
    ("word", "many"),
    [
        ("device", "devices"),
        ("class", "classes"),
        ("policy", "policies"),
        ("day", "days"),
        ("is", "are"),
        ("tax", "taxes"),
    ],
)
def test_plurals(word: str, many: str) -> None:
    assert (plural(word, 1), plural(word, 0), plural(word, 2)) == (word, many, many)


def test_counts_and_lists() -> None:
    assert (counted(1, "device"), counted(0, "pod"), counted(80_000, "device")) == (
        "1 device",
        "0 pods",
        "80,000 devices",
    )
    assert [listed(names) for names in ([], ["a"], ["a", "b"], ["a", "b", "c\x1b"])] == [
        "",
        "a",
        "a and b",
        "a, b and c\\u{1b}",
    ]
    assert (shortened(["a", "b"]), shortened(["a", "b", "c"]), shortened(["a", "b"], 1)) == ("a, b", "a, b +1", "a +1")


def test_ages_in_sentences() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    assert ago("2025-12-31T23:56:00Z", now) == "4m ago"
    assert ago("2026-01-01T00:02:00Z", now) == "in the future"
    assert ago("2026-01-01T00:00:20Z", now) == "0s ago"  # a clock that is some seconds ahead
    assert ago(None, now) == ago("soon", now) == "at an unknown time"
    assert lasting("2025-12-31T23:56:00Z", now) == "for 4m"
    assert lasting("2026-01-01T00:02:00Z", now) == "since a time in the future"


def test_numbers_of_sentences_have_their_thousands_apart_and_those_of_tables_are_for_programs() -> None:
    for bound, sign in ((Bound.EXACT, ""), (Bound.AT_LEAST, "≥"), (Bound.AT_MOST, "≤")):
        assert number(Count(16500, bound)) == f"{sign}16500"
        assert spoken(Count(16500, bound)) == f"{sign}16,500"
    assert spoken(Count(0, Bound.AT_LEAST)) == number(Count(0, Bound.AT_LEAST)) == "?"
    assert spoken(Count(7, Bound.UNKNOWN)) == "?"
