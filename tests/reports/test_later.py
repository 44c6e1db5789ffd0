"""ClusterState that follow a changing cluster say what facts made anew say, and work out only what has changed."""

from __future__ import annotations

import random

import msgspec
import pytest

from kubectl_dra.allocation.input.allocated import AllocatedState
from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.features import NEWEST_MINOR, features
from kubectl_dra.model.ids import PoolId
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.resource import DeviceTaint, DeviceTaintRule, DeviceTaintRuleSpec, DeviceTaintSelector
from kubectl_dra.reports.devices.class_list import class_rows
from kubectl_dra.reports.devices.open_pool import known_pools, open_pool
from kubectl_dra.reports.devices.pool import pool_report, pool_summaries
from kubectl_dra.source import load
from kubectl_dra.source.spec import DEMO, SourceSpec
from tests.kit.clock import CLOCK

INVENTORY, EVIDENCE = load(SourceSpec(DEMO))
FEATURES = features(NEWEST_MINOR, {})


def kept():
    facts = ClusterState(INVENTORY, EVIDENCE, FEATURES, CLOCK, keeps=True)
    pool_summaries(facts)
    return facts


def _changed_claims(claims, chance):
    """Some claims gone, freed, back again, with admin access, or only reserved for somebody else."""
    changed = dict(claims)
    for key in [key for key in changed if chance.random() < 0.5]:
        claim = changed[key]
        match chance.randrange(5):
            case 0:
                del changed[key]
            case 1:
                changed[key] = msgspec.structs.replace(claim, status=type(claim.status)())
            case 2:
                changed[key] = INVENTORY.claims[key]
            case 3:
                changed[key] = msgspec.structs.replace(
                    claim, status=msgspec.structs.replace(claim.status, reserved_for=())
                )
            case 4 if claim.status.allocation is not None:
                results = tuple(
                    msgspec.structs.replace(result, admin_access=chance.random() < 0.5)
                    for result in claim.status.allocation.devices.results
                )
                devices = msgspec.structs.replace(claim.status.allocation.devices, results=results)
                allocation = msgspec.structs.replace(claim.status.allocation, devices=devices)
                changed[key] = msgspec.structs.replace(
                    claim, status=msgspec.structs.replace(claim.status, allocation=allocation)
                )
    for key in INVENTORY.claims:
        if key not in changed and chance.random() < 0.3:
            changed[key] = INVENTORY.claims[key]
    return changed


def _changed_slices(slices, chance):
    """Some slices gone, back, or with fewer devices."""
    changed = {name: slice_ for name, slice_ in slices.items() if chance.random() < 0.8}
    for name, slice_ in INVENTORY.slices.items():
        if chance.random() < 0.2:
            spec = slice_.spec
            changed[name] = msgspec.structs.replace(
                slice_, spec=msgspec.structs.replace(spec, devices=spec.devices[chance.randrange(2) :])
            )
    return changed


def _rule(chance):
    driver, pool = chance.choice(list(INVENTORY.slices_by_pool))
    spec = DeviceTaintRuleSpec(DeviceTaintSelector(driver=driver, pool=pool), DeviceTaint("k", "v", "NoSchedule"))
    return DeviceTaintRule(spec=spec)


def _step(inventory, chance):
    changes = {}
    if chance.random() < 0.8:
        changes["claims"] = _changed_claims(inventory.claims, chance)
    if chance.random() < 0.3:
        changes["slices"] = _changed_slices(inventory.slices, chance)
    if chance.random() < 0.2:
        changes["nodes"] = {name: node for name, node in INVENTORY.nodes.items() if chance.random() < 0.8}
    if chance.random() < 0.2:
        changes["nodes"] = dict(inventory.nodes)
    if chance.random() < 0.2:
        changes["taint_rules"] = {"rule": _rule(chance)} if chance.random() < 0.5 else {}
    if chance.random() < 0.3:
        changes["pods"] = {key: pod for key, pod in INVENTORY.pods.items() if chance.random() < 0.8}
    return inventory.replace(**changes)


@pytest.mark.parametrize("seed", range(4))
def test_reports_of_later_facts_are_those_of_facts_made_anew(seed):
    chance, facts = random.Random(seed), kept()
    for _ in range(12):
        facts = facts.later(_step(facts.inventory, chance), EVIDENCE)
        inventory = facts.inventory
        anew = ClusterState(inventory.replace(), EVIDENCE, FEATURES, CLOCK)
        anew.inventory.__dict__.pop("holdings_by_device", None)
        assert pool_summaries(facts) == pool_summaries(anew)
        for pool in anew.pools:
            assert pool_report(pool, facts) == pool_report(pool, anew)
        classes = inventory.classes.values()
        assert class_rows(classes, facts) == class_rows(classes, anew)
        assert _sets(inventory.holdings_by_device) == _sets(anew.inventory.holdings_by_device)


def _sets(holdings):
    """Who holds what, in no order: claims that change stand elsewhere afterwards."""
    return {device: sorted((str(key_of(h.claim.metadata)), repr(h)) for h in of) for device, of in holdings.items()}


def test_only_pools_whose_allocations_changed_are_opened_again():
    facts = kept()
    key, claim = next((key, claim) for key, claim in INVENTORY.claims.items() if claim.status.allocation is not None)
    freed = msgspec.structs.replace(claim, status=type(claim.status)())
    later = facts.later(INVENTORY.replace(claims={**INVENTORY.claims, key: freed}), EVIDENCE)
    results = claim.status.allocation.devices.results
    touched = {PoolId(result.driver, result.pool) for result in results}
    assert set(known_pools(facts)) - set(known_pools(later)) == touched
    untouched = next(pool for pool in facts.pools if pool not in touched)
    assert open_pool(untouched, later).cache is open_pool(untouched, facts).cache
    assert open_pool(untouched, later).state is later


def test_a_reservation_alone_opens_no_pool_again():
    facts = kept()
    claims = {
        key: msgspec.structs.replace(claim, status=msgspec.structs.replace(claim.status, reserved_for=()))
        for key, claim in INVENTORY.claims.items()
    }
    later = facts.later(INVENTORY.replace(claims=claims), EVIDENCE)
    assert known_pools(later).keys() == known_pools(facts).keys()


def test_facts_that_keep_nothing_open_a_pool_anew_each_time():
    facts = ClusterState(INVENTORY, EVIDENCE, FEATURES, CLOCK)
    assert open_pool(facts.pools[0], facts).cache is not open_pool(facts.pools[0], facts).cache


def test_what_is_held_later_is_what_is_held():
    chance, claims = random.Random(7), INVENTORY.claims
    state = AllocatedState(claims.values(), FEATURES)
    for _ in range(50):
        after = _changed_claims(claims, chance)
        state, anew = state.later(claims, after), AllocatedState(after.values(), FEATURES)
        for driver, pool in INVENTORY.slices_by_pool:
            mine, theirs = state.pool(driver, pool), anew.pool(driver, pool)
            assert {name: held.signature for name, held in mine.items()} == {
                name: held.signature for name, held in theirs.items()
            }
            assert {name: set(held.holders) for name, held in mine.items()} == {
                name: set(held.holders) for name, held in theirs.items()
            }
            assert set(state.admin(driver, pool)) == set(anew.admin(driver, pool))
        claims = after
