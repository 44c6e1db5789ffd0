"""Differences are by identity, in the order of the later mapping; what is gone comes apart."""

from __future__ import annotations

import gc
import random
import weakref
from collections.abc import Mapping

import pytest

from kubectl_dra.model import differences
from kubectl_dra.model.edited import edited

A, B, C = ["a"], ["b"], ["c"]


def test_what_is_another_object_or_new_has_changed():
    before, after = {"x": A, "y": B, "z": C}, {"w": A, "y": ["b"], "x": A}
    assert differences.changed(before, after) == ["w", "y"]
    assert differences.gone(before, after) == ["z"]


def test_the_same_mapping_and_an_equal_order_of_the_same_objects_have_no_differences():
    before = {"x": A, "y": B}
    assert differences.changed(before, before) == differences.gone(before, before) == []
    assert differences.changed(before, {"y": B, "x": A}) == differences.gone(before, {"y": B, "x": A}) == []


def test_from_nothing_and_to_nothing():
    assert differences.changed({}, {"x": A}) == ["x"]
    assert differences.gone({"x": A}, {}) == ["x"]
    assert differences.changed({"x": A}, {}) == []


def test_edited_copies_know_what_differs_from_each_mapping_before_them() -> None:
    """The same as a comparison of all entries tells, however many edits lie between, and with those gone that do."""
    numbers = random.Random(7)
    for length in range(60):
        mappings: list[Mapping[int, object]] = [{key: [key] for key in range(30)}]
        for _ in range(length % 9):
            put: dict[int, object] = {key: [key] for key in numbers.sample(range(40), numbers.choice((0, 1, 3)))}
            mappings.append(edited(mappings[-1], put, numbers.sample(range(40), 2)))
        after = mappings[-1]
        if length % 2:
            del mappings[1:-2]
        for before in mappings:
            expected = {key for key in after if after[key] is not before.get(key)}
            assert set(differences.changed(before, after)) == expected
            assert set(differences.gone(before, after)) == before.keys() - after.keys()


def test_an_edited_copy_is_the_mapping_with_its_edits_in_their_order() -> None:
    before = {"x": A, "y": B, "z": C}
    after = edited(before, {"w": A, "y": C}, ("z", "nowhere"))
    assert list(after.items()) == [("x", A), ("y", C), ("w", A)]
    assert before == {"x": A, "y": B, "z": C}
    assert after.touched_since(before) == ("z", "w", "y")
    assert after.touched_since(dict(before)) is None


def test_an_entry_that_is_taken_out_and_put_in_anew_has_changed_once() -> None:
    before = {"x": A, "y": B}
    after = edited(before, {"x": C}, ("x",))
    assert after == {"y": B, "x": C}
    assert differences.changed(before, after) == ["x"]
    assert differences.gone(before, after) == []


def test_what_many_steps_have_touched_is_known_in_their_order() -> None:
    first = {"x": A, "y": B}
    copies = [edited(first, {"z0": C})]
    for number in range(1, 20):
        copies += [edited(copies[-1], {f"z{number}": C}, ("y",) if number == 3 else ())]
    assert copies[-1].touched_since(first) == ("z0", "z1", "z2", "y", *(f"z{number}" for number in range(3, 20)))
    assert copies[-1].touched_since(copies[17]) == ("z18", "z19")
    assert differences.gone(first, copies[-1]) == ["y"]


def test_only_the_first_of_many_copies_is_kept_by_those_that_follow() -> None:
    first = edited({"x": A}, {"y": B})
    second = edited(first, {"z": C})
    watched = weakref.ref(first)
    del first
    gc.collect()
    assert watched() is None
    assert second.touched_since({"x": A}) is None


@pytest.mark.parametrize("step", [1, 3, 64])
def test_it_does_not_matter_how_many_are_compared_in_one_step(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {number: object() for number in range(64)}
    after = {number: object() if number % 7 == 0 else each for number, each in before.items() if number % 5}
    after |= {number: object() for number in range(100, 103)}
    expected = [number for number, each in after.items() if each is not before.get(number)]
    monkeypatch.setattr(differences, "_STEP", step)
    assert differences.changed(before, after) == expected
    assert differences.gone(before, after) == [number for number in range(64) if not number % 5]
