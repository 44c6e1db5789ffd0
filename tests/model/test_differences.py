"""Differences are by identity, in the order of the later mapping; what is gone comes apart."""

from __future__ import annotations

from kubectl_dra.model import differences

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
