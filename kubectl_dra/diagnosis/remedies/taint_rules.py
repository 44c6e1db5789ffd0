"""Remedies against DeviceTaintRules: to delete one, or to let a wide one select only the device that it is about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

import msgspec

from kubectl_dra.allocation.input.taints import Narrowing, is_narrowed, selects
from kubectl_dra.diagnosis.records import StageName
from kubectl_dra.diagnosis.remedies import changes
from kubectl_dra.diagnosis.remedies.candidate import Candidate, Case, removals
from kubectl_dra.diagnosis.remedies.records import NarrowTaintRule, Remedy, RemedyKind, RemoveTaintRule
from kubectl_dra.model.base import with_spec
from kubectl_dra.model.ids import DeviceId
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.resource import DeviceTaintRule

_NARROWED = 51
_DELETED = 52
#: A rule for more devices than these is about no single one.
_MOST = 10_000


def candidates(case: Case) -> Iterator[Candidate]:
    """For the rules whose taints keep devices from the pod."""
    found: dict[str, str] = {}
    for _, _, _, funnels in case.funnels():
        for removal in removals(funnels, StageName.TAINTS):
            if removal.source:
                found.setdefault(removal.source, removal.reason)
    for name, taint in found.items():
        rule = case.world.inventory.taint_rules[name]
        devices = list(islice(selected(case, rule), _MOST))
        device = named(rule, devices)
        if device is not None:
            yield Candidate(
                RemedyKind.NARROW_TAINT_RULE,
                (NarrowTaintRule(name, device.driver, device.pool, device.device, len(devices)),),
                _NARROWED,
                (narrowed(name, device),),
            )
        yield Candidate(
            RemedyKind.REMOVE_TAINT_RULE,
            (_deletion(rule, taint, len(devices)),),
            _DELETED,
            (changes.without_rule(name),),
        )


def selected(case: Case, rule: DeviceTaintRule) -> Iterator[DeviceId]:
    """The published devices that a rule taints."""
    narrowing = Narrowing(case.world.inventory.classes)
    for pool in case.world.pools:
        if selects(rule, pool.driver, pool.pool):
            for _, device in case.world.published(pool):
                hit = selects(rule, pool.driver, pool.pool, device.name)
                if hit and narrowing.admits(rule, pool.driver, device):
                    yield DeviceId(pool.driver, pool.pool, device.name)


def named(rule: DeviceTaintRule, devices: Sequence[DeviceId]) -> DeviceId | None:
    """The only one of several devices that the rule's name or the taint's value names; None where none or several do.

    ``drain-gpu3`` names ``gpu-3``, and neither ``gpu-31`` nor a ``gpu``.
    """
    if len(devices) < 2 or is_narrowed(rule):
        return None
    text = [_parts(each) for each in (rule.metadata.name, rule.spec.taint.value)]
    found = [each for each in devices if any(_contains(parts, _parts(each.device)) for parts in text)]
    return found[0] if len(found) == 1 else None


def _parts(text: str) -> list[str]:
    """Words and numbers: ``gpu3`` and ``gpu-3`` are the same two."""
    return re.findall(r"[a-z]+|[0-9]+", text.lower())


def _contains(parts: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether all of ``wanted``, at least a word and a number, follow each other."""
    telling = len(wanted) > 1 and any(each.isdecimal() for each in wanted)
    return telling and any(parts[at : at + len(wanted)] == wanted for at in range(len(parts)))


def narrowed(name: str, device: DeviceId) -> changes.Change:
    """The cluster in which the rule selects one device."""

    def change(inventory: Inventory) -> Inventory:
        rule = inventory.taint_rules[name]
        selector = rule.spec.device_selector
        assert selector is not None  # noqa: S101 - it selects devices
        one = msgspec.structs.replace(selector, driver=device.driver, pool=device.pool, device=device.device)
        return inventory.replace(
            taint_rules=changes.put(inventory.taint_rules, name, with_spec(rule, device_selector=one))
        )

    return change


def _deletion(rule: DeviceTaintRule, taint: str, devices: int) -> RemoveTaintRule:
    selector = rule.spec.device_selector
    if devices < 2 or selector is None:
        return RemoveTaintRule(rule.metadata.name, taint)
    return RemoveTaintRule(rule.metadata.name, taint, devices, selector.driver or "", selector.pool or "")


def needless(ways: Sequence[Remedy]) -> Sequence[Remedy]:
    """Deletions of rules that only have to select less."""
    found = {each.rule for way in ways for each in way.actions if isinstance(each, NarrowTaintRule)}
    return [
        way for way in ways if any(isinstance(each, RemoveTaintRule) and each.rule in found for each in way.actions)
    ]
