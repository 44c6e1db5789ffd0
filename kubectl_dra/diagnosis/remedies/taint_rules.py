"""Remedies against DeviceTaintRules: to delete one, or to let a wide one select only the device that it is about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

import msgspec

from kubectl_dra.allocation.input.taints import is_narrowed
from kubectl_dra.diagnosis.records import SUPPOSED, StageName
from kubectl_dra.diagnosis.remedies import changes
from kubectl_dra.diagnosis.remedies.candidate import Candidate, Case, removals
from kubectl_dra.diagnosis.remedies.records import NarrowTaintRule, Remedy, RemedyKind, RemoveTaintRule
from kubectl_dra.model.base import with_spec
from kubectl_dra.model.ids import DeviceId
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
            if removal.source not in ("", SUPPOSED):
                found.setdefault(removal.source, removal.reason)
    for name, taint in found.items():
        rule = case.state.inventory.taint_rules[name]
        devices = list(islice(case.state.selected(rule), _MOST))
        action = _narrowing(rule, devices)
        if action is not None:
            yield Candidate(RemedyKind.NARROW_TAINT_RULE, (action,), _NARROWED, (narrowed(action),))
        yield Candidate(
            RemedyKind.REMOVE_TAINT_RULE,
            (_deletion(rule, taint, len(devices)),),
            _DELETED,
            (changes.without_rule(name),),
        )


def _narrowing(rule: DeviceTaintRule, devices: Sequence[DeviceId]) -> NarrowTaintRule | None:
    """To the only device that the rule's name or value names, or to the only pool, which may be named as its node."""
    name, number = rule.metadata.name, len(devices)
    pool = _named_pool(rule, devices)
    device = named(rule, devices) or (named(rule, [each for each in devices if each.pool == pool]) if pool else None)
    if device is not None:
        return NarrowTaintRule(name, device.driver, device.pool, device.device, number)
    return NarrowTaintRule(name, "", pool, "", number) if pool else None


def _named_pool(rule: DeviceTaintRule, devices: Sequence[DeviceId]) -> str:
    """The only one of several pools that the rule names; empty where none or several are."""
    pools = dict.fromkeys(each.pool for each in devices)
    if len(pools) < 2 or is_narrowed(rule):
        return ""
    found = [pool for pool in pools if _names(rule, pool)]
    return found[0] if len(found) == 1 else ""


def named(rule: DeviceTaintRule, devices: Sequence[DeviceId]) -> DeviceId | None:
    """The only one of several devices that the rule's name or the taint's value names; None where none or several do.

    ``drain-gpu3`` names ``gpu-3``, and neither ``gpu-31`` nor a ``gpu``.
    """
    if len(devices) < 2 or is_narrowed(rule):
        return None
    found = [each for each in devices if _names(rule, each.device)]
    return found[0] if len(found) == 1 else None


def _names(rule: DeviceTaintRule, name: str) -> bool:
    return any(_contains(_parts(each), _parts(name)) for each in (rule.metadata.name, rule.spec.taint.value))


def _parts(text: str) -> list[str]:
    """Words and numbers: ``gpu3`` and ``gpu-3`` are the same two."""
    return re.findall(r"[a-z]+|[0-9]+", text.lower())


def _contains(parts: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether all of ``wanted``, at least a word and a number, follow each other."""
    telling = len(wanted) > 1 and any(each.isdecimal() for each in wanted)
    return telling and any(parts[at : at + len(wanted)] == wanted for at in range(len(parts)))


def narrowed(action: NarrowTaintRule) -> changes.Change:
    """The cluster in which the rule selects one device, or one pool."""
    name, named = action.rule, {"driver": action.driver, "pool": action.pool, "device": action.device}

    def one(rule: DeviceTaintRule) -> DeviceTaintRule:
        selector = rule.spec.device_selector
        assert selector is not None  # noqa: S101 - it selects devices
        wanted = msgspec.structs.replace(selector, **{key: text for key, text in named.items() if text})
        return with_spec(rule, device_selector=wanted)

    return changes.edit_object("taint_rules", name, one)


def _deletion(rule: DeviceTaintRule, taint: str, devices: int) -> RemoveTaintRule:
    selector = rule.spec.device_selector
    if devices < 2 or selector is None:
        return RemoveTaintRule(rule.metadata.name, taint)
    return RemoveTaintRule(rule.metadata.name, taint, devices, selector.driver or "", selector.pool or "")


def needless(ways: Sequence[Remedy]) -> Sequence[Remedy]:
    """Deletions of rules that only have to select one device; that a whole pool is meant is less sure."""
    narrow = (each for way in ways for each in way.actions if isinstance(each, NarrowTaintRule))
    found = {each.rule for each in narrow if each.device}
    return [
        way for way in ways if any(isinstance(each, RemoveTaintRule) and each.rule in found for each in way.actions)
    ]
