"""The declared functions are exactly those of the real environment (recorded with its own API)."""

import json
from pathlib import Path

import pytest

from kubectl_dra.cel.check.environment import SCHEDULER, Environment
from kubectl_dra.cel.declarations import FUNCTIONS, OVERLOADS_BY_ID, overloads

RECORDED = json.loads((Path(__file__).parent / "functions.json").read_text(encoding="utf-8"))


def test_functions_are_those_of_the_real_environment():
    assert set(FUNCTIONS) == set(RECORDED)


@pytest.mark.parametrize("function", sorted(RECORDED))
def test_overload_ids(function):
    assert sorted(overload.id for overload in FUNCTIONS[function]) == RECORDED[function]


def test_every_id_has_one_signature():
    for function, declared in FUNCTIONS.items():
        for overload in declared:
            known = OVERLOADS_BY_ID[overload.id]
            assert (known.params, known.result) == (overload.params, overload.result), function
            assert known.member == overload.member, function


def test_includes_needs_list_attributes():
    assert overloads("includes", SCHEDULER)
    assert not overloads("includes", Environment("admission"))
    assert overloads("includes", Environment("admission", list_type_attributes=True))


def test_reserved_old_names_cannot_be_called():
    for function in ("in", "_in_", "__not_strictly_false__"):
        assert overloads(function, SCHEDULER) == ()


def test_admission_declares_the_list_library_before_strings():
    for function in ("indexOf", "lastIndexOf"):
        ids = [overload.id for overload in overloads(function, SCHEDULER)]
        assert [overload.id for overload in overloads(function, Environment("admission"))] == [ids[-1], *ids[:-1]]
