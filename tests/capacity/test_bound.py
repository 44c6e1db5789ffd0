"""On small random clusters every placement is tried: no bound is below the truth, and nearly all are equal to it."""

from __future__ import annotations

import os
import random
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

import pytest

from kubectl_dra.diagnosis.capacity import capacity
from kubectl_dra.diagnosis.capacity.filling import fill
from kubectl_dra.diagnosis.capacity.movable import movable
from kubectl_dra.diagnosis.capacity.relaxed import relaxed
from kubectl_dra.diagnosis.capacity.shape import waiting
from tests.capacity.brute import TooMany, most_copies
from tests.capacity.clusters import DRIVER, cluster
from tests.capacity.worlds import shape_of, world_of
from tests.kit.sample import sampled, seed

CLUSTERS: Final = int(os.environ.get("CAPACITY_CLUSTERS", "300"))
_PARTS: Final = 4
_FEW: Final = 20
_MODEL_A: Final = f"device.attributes['{DRIVER}'].model == 'A'"


def test_no_bound_is_below_the_truth() -> None:
    """On other clusters with each commit."""
    first = random.Random(seed()).randrange(CLUSTERS - _FEW)
    compared, *_ = _compared(range(first, first + _FEW))
    assert compared


@pytest.mark.rows
@pytest.mark.parametrize("part", range(_PARTS))
def test_no_bound_is_below_the_truth_and_nine_of_ten_are_equal_to_it(part: int) -> None:
    numbers = range(part * CLUSTERS // _PARTS, (part + 1) * CLUSTERS // _PARTS)
    compared, equal, relaxed_equal, more = _compared(numbers)
    assert compared >= 0.8 * CLUSTERS / _PARTS
    assert equal >= 0.9 * compared
    assert relaxed_equal >= 0.8 * compared
    assert more


@pytest.mark.parametrize("part", sampled(range(_PARTS), _PARTS))
def test_the_bound_of_alternatives_holds_and_counts_devices(part: int) -> None:
    """Each copy takes one of the alternatives: no more of them fit than all devices together have room for."""
    compared = 0
    for number in range(part * _FEW, (part + 1) * _FEW):
        row, wanted = cluster(f"small-{number}", small=True)
        draw = random.Random(number)
        wanted = replace(wanted, selector=_MODEL_A, otherwise=draw.choice((1, 2, 3)))
        world, shape = world_of(row), shape_of(wanted)
        try:
            truth = most_copies(world, shape, 2000)
        except TooMany:
            continue
        compared += 1
        filled = fill(waiting(world, shape))
        found, most = capacity(world, shape, 0), relaxed(filled, movable(world))
        assert found.copies.value <= truth <= found.repacked.value, (number, found.copies, found.repacked, truth)
        devices = sum(len(each.spec.devices) for each in world.inventory.slices.values())
        assert truth <= max(most, filled.copies) <= devices // min(wanted.count, wanted.otherwise), number
    assert compared > 0.5 * _FEW


def _compared(numbers: Iterable[int]) -> tuple[int, int, int, int]:
    """How many could be compared, on how many the bound is the truth, the relaxed one, and one pod moved helps."""
    compared = equal = relaxed_equal = more = 0
    for number in numbers:
        row, wanted = cluster(f"small-{number}", small=True)
        world, shape = world_of(row), shape_of(wanted)
        try:
            truth = most_copies(world, shape)
        except TooMany:
            continue
        found = capacity(world, shape, 0)
        compared += 1
        assert found.copies.value <= truth <= found.repacked.value, (number, found.copies, found.repacked, truth)
        equal += found.repacked.value == truth
        # Large clusters have only the relaxation.
        filled = fill(waiting(world, shape))
        most = max(filled.copies, relaxed(filled, movable(world)))
        assert most >= truth, number
        relaxed_equal += most == truth
        more += truth > found.copies.value
        if found.reached:
            assert found.repacked.value == truth, number
    return compared, equal, relaxed_equal, more
