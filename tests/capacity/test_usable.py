"""The devices that requests could get, pool by pool and by classes of nodes, are those found device by device."""

from __future__ import annotations

import random
from typing import Any

from kubectl_dra.allocation import ClaimSearch
from kubectl_dra.allocation.input.pools import gather
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.capacity.accounts import DeviceSet, UsableDevices, never, union
from kubectl_dra.diagnosis.capacity.shape import device_classes
from kubectl_dra.model.ids import DeviceId, PoolId
from kubectl_dra.model.resource import ResourceClaim
from tests.kit.build import DRIVER, claim, device, device_class, node, request, slice_
from tests.kit.state import inventory_of, state_of

Object = dict[str, Any]
_H100 = f'device.attributes["{DRIVER}"].model == "H100"'


def _alone(name: str, at: str, *names: str, generation: int = 1, count: int = 1, model: str = "H100") -> Object:
    devices = [device(each, attributes={"model": model}) for each in names]
    found = slice_(at, *devices, pool=name)
    found["metadata"]["name"] = f"{name}-{at or 'all'}-{generation}"
    found["spec"]["pool"] = {"name": name, "generation": generation, "resourceSliceCount": count}
    return found


def _state(*objects: Object) -> ClusterState:
    return state_of(inventory_of([device_class(), *objects]))


def _of(state: ClusterState, asked: ResourceClaim) -> DeviceSet:
    found = UsableDevices(state).of((asked,), frozenset(state.inventory.nodes))
    assert found is not None
    return found


def _one_by_one(state: ClusterState, asked: ResourceClaim) -> set[DeviceId]:
    search = ClaimSearch(state.devices, (asked,))
    found: set[DeviceId] = set()
    for each in state.inventory.nodes.values():
        checks = search.checks(each, gather(state.devices.index, each).pools)
        found |= {c.id for c in checks.candidates if not all(never(checks, r, c) for r in search.plan.requests)}
    return found


def _flat(devices: DeviceSet) -> set[DeviceId]:
    return {DeviceId(*pool, name) for pool, names in devices._pools.items() for name in names}


def _claim(*requests: Object) -> ResourceClaim:
    return next(iter(inventory_of([claim("asked", *requests)]).claims.values()))


def test_a_pool_that_cannot_be_used_stands_between_two_that_can() -> None:
    # What stands in the middle lacks a slice, or has two devices of one name.
    state = _state(
        node("one"),
        node("two"),
        node("three"),
        *(_alone(f"a-{at}", at, "gpu-0", "gpu-1") for at in ("one", "two", "three")),
        _alone("b-one", "one", "gpu-0", "gpu-1", count=2),
        _alone("b-two", "two", "gpu-0", "gpu-1"),
        _alone("b-three", "three", "gpu-0", "gpu-0"),
        *(_alone(f"c-{at}", at, "gpu-2", model="L40") for at in ("one", "two", "three")),
        *(_alone(f"d-{at}", at, "gpu-3") for at in ("one", "two", "three")),
    )
    asked = _claim(request(selector=_H100))
    found = _flat(_of(state, asked))
    assert found == _one_by_one(state, asked)
    assert DeviceId(DRIVER, "b-two", "gpu-1") in found
    assert {each.pool for each in found}.isdisjoint({"b-one", "b-three", "c-one", "c-two", "c-three"})
    assert {each.pool for each in found} >= {"d-one", "d-two", "d-three"}


def test_an_older_generation_is_dropped() -> None:
    state = _state(
        *map(node, ("one", "two")),
        *(_alone(f"a-{at}", at, "gpu-0") for at in ("one", "two")),
        _alone("b", "two", "gpu-1", count=2),
        _alone("b", "one", "gpu-2", generation=2),
        *(_alone(f"c-{at}", at, "gpu-3") for at in ("one", "two")),
    )
    asked = _claim(request())
    assert _flat(_of(state, asked)) == _one_by_one(state, asked)
    assert {each.device for each in _one_by_one(state, asked) if each.pool == "b"} == {"gpu-2"}


def test_nodes_may_divide_equal_devices_into_other_pools() -> None:
    state = _state(
        node("one"),
        node("two"),
        _alone("a-one", "one", "gpu-0", "gpu-1", "gpu-2"),
        _alone("b-one", "one", "gpu-3", model="L40"),
        _alone("a-two", "two", "gpu-0"),
        _alone("b-two", "two", "gpu-1", "gpu-2"),
        _alone("c-two", "two", "gpu-3", model="L40"),
    )
    asked = _claim(request(selector=_H100))
    assert _flat(_of(state, asked)) == _one_by_one(state, asked)
    assert len(_of(state, asked)) == 6


def test_random_clusters() -> None:
    met = {"alike": 0, "unusable": 0}
    for seed in range(150):
        draw = random.Random(seed)
        names = [f"n{number}" for number in range(draw.randint(2, 6))]
        slices = [_random(draw, at, pool) for at in names for pool in range(draw.randint(0, 4))]
        if draw.random() < 0.3:
            shared = _alone("shared", "", *(f"gpu-{number}" for number in range(2)))
            del shared["spec"]["nodeName"]
            slices.append({**shared, "spec": {**shared["spec"], "allNodes": True}})
        held = [
            claim(f"held-{number}", held=[(each["spec"]["pool"]["name"], "gpu-0")])
            for number, each in enumerate(slices)
            if draw.random() < 0.3
        ]
        state = _state(*map(node, names), *slices, *held)
        asked = _claim(request(count=draw.randint(1, 3), **({"selector": _H100} if draw.random() < 0.7 else {})))
        assert _flat(_of(state, asked)) == _one_by_one(state, asked), seed
        classes = device_classes(state, ClaimSearch(state.devices, (asked,)), state.inventory.nodes)
        met["alike"] += len(set(classes.values())) < len(names)
        met["unusable"] += any(each["spec"]["pool"]["resourceSliceCount"] > 1 for each in slices)
    assert min(met.values()) > 20, met


def _random(draw: random.Random, at: str, pool: int) -> Object:
    names = [f"gpu-{number}" for number in range(draw.randint(1, 2))]
    if draw.random() < 0.1:
        names.append("gpu-0")
    missing, model = draw.random() < 0.1, draw.choice(("H100", "H100", "L40"))
    return _alone(f"{pool}-{at}", at, *names, count=2 if missing else 1, model=model)


def test_sets_pool_by_pool_are_sets_of_devices() -> None:
    draw = random.Random(7)
    all_names = [frozenset(names) for names in ("a", "b", "ab", "abc", "c")]
    for _ in range(200):
        one, two = (
            DeviceSet({PoolId(DRIVER, pool): draw.choice(all_names) for pool in draw.sample("xyz", draw.randint(0, 3))})
            for _ in range(2)
        )
        assert _flat(one.without(two)) == _flat(one) - _flat(two)
        assert _flat(union((one, two, one))) == _flat(one) | _flat(two)
        assert len(one) == len(_flat(one))
        assert all((device in two) == (device in _flat(two)) for device in _flat(one))
