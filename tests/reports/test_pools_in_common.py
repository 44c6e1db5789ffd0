"""What thousands of pools have in common is one object, and a device that is listed has one record."""

from __future__ import annotations

from typing import Any

from kubectl_dra.model.features import features
from kubectl_dra.model.ids import PoolId
from kubectl_dra.reports.devices.class_list import class_rows
from kubectl_dra.reports.devices.open_pool import open_pool
from kubectl_dra.tui.queries import DevicesQuery
from tests.kit import build, facts
from tests.kit.state import state_of

OTHER = "nic.example.com"


def state() -> Any:
    nodes = ("n1", "n2", "n3")
    gpus = [build.slice_(name, build.device("gpu-0"), build.device("gpu-1")) for name in nodes]
    nics = [build.slice_(name, build.device("nic-0"), pool=f"{name}-nic", driver=OTHER) for name in nodes]
    held = build.claim("held", held=[("n1", "gpu-0"), ("n1", "gpu-1")])
    objects = [build.device_class(), *map(build.node, nodes), *gpus, *nics, held]
    return state_of(facts.inventory(objects), facts.evidence(), features(), keeps=True)


def test_pools_share_what_is_the_same_of_all() -> None:
    world = state()
    opened = [open_pool(pool, world) for pool in world.pools]
    assert len(opened) == 6
    assert len({id(each.state_bounds) for each in opened}) == 1
    assert len({id(each.rules) for each in opened}) == 1
    assert len({id(each.judged.pool.counter_sets) for each in opened if each.judged.pool is not None}) == 1
    held = opened[0].held or opened[1].held
    assert len({id(each.consumed) for pool in opened for each in pool.held.values()}) == 1
    assert len(held) == 2


def test_of_a_class_a_pool_keeps_its_devices_as_they_are_listed() -> None:
    world = state()
    (row,) = class_rows(world.inventory.classes.values(), world)
    assert (row.totals.devices.value, row.totals.free.value) == (6, 4)
    assert row.offers is not None
    assert [(each.count, each.devices, each.free.value) for each in row.offers] == [(2, 2, 2), (1, 2, 0)]
    gpus = open_pool(PoolId(build.DRIVER, "n1"), world)
    (kept,) = [made for made in gpus.cache.made.values() if hasattr(made, "devices")]
    assert kept.devices is gpus.listed_states()
    assert len(kept.scopes) == 1
    nothing = [
        made
        for name in ("n1", "n2", "n3")
        for made in open_pool(PoolId(OTHER, f"{name}-nic"), world).cache.made.values()
        if hasattr(made, "devices")
    ]
    assert len(nothing) == 3
    assert len({id(each) for each in nothing}) == 1


def test_a_row_of_the_list_stands_on_what_its_pool_has_listed() -> None:
    world = state()
    rows = DevicesQuery().compute(world)
    assert [(row.id.device, row.state.value) for row in rows if row.pool.pool == "n1"] == [
        ("gpu-0", "inUse"),
        ("gpu-1", "inUse"),
    ]
    for row in rows:
        assert row.stands in open_pool(row.pool, world).listed_states()
        assert row.device in row.slice.spec.devices
