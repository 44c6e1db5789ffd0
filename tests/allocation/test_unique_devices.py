"""Devices of a driver none of which is like another are no longer compared, and what is said of each is the same."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.allocation import ClaimSearch
from kubectl_dra.allocation.checks import selection
from kubectl_dra.model.features import features
from tests.kit import build, facts
from tests.kit.state import state_of

UUID = f'device.attributes["{build.DRIVER}"].uuid'
NODES = [f"n{number}" for number in range(6)]
EXPRESSIONS = (
    f'{UUID} == "n3-1"',
    f'{UUID}.endsWith("-0") && device.driver == "{build.DRIVER}"',
    # Two devices have no such attribute: an error that names the device.
    f'{UUID}.startsWith("n") && device.attributes["{build.DRIVER}"].model == "a"',
)


def seen(expression: str) -> tuple[list[Any], int]:
    """What an attempt sees of each device, as numbers in the order of the first of each; and how many it compared."""
    devices = [
        build.device(
            f"gpu-{place}",
            attributes={
                "uuid": f"{node}-{place}",
                **({} if (node, place) in (("n1", 0), ("n4", 1)) else {"model": "ab"[place]}),
            },
        )
        for node in NODES
        for place in range(2)
    ]
    slices = [build.slice_(node, *devices[2 * number : 2 * number + 2]) for number, node in enumerate(NODES)]
    claim = build.claim("claim", build.request(selector=expression))
    inventory = facts.inventory([build.device_class(), *map(build.node, NODES), *slices, claim])
    world = state_of(inventory, facts.evidence(), features())
    memo = ClaimSearch(world.devices, list(inventory.claims.values())).selection
    found = [memo.seen(build.DRIVER, each) for slice_ in inventory.slices.values() for each in slice_.spec.devices]
    numbers: dict[Any, int] = {}
    return [numbers.setdefault(each, len(numbers)) for each in found], len(memo._seen)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_what_is_said_of_devices_that_are_not_compared_is_the_same(
    expression: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared, known = seen(expression)
    assert len(set(compared)) < known == 2 * len(NODES)
    monkeypatch.setattr(selection, "_PATIENCE", 3)
    assert seen(expression) == (compared, 4)
