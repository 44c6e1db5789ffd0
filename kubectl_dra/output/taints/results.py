"""What became of a plan: kubectl's line per rule, what a failed write left behind, what a second reading found new."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kubectl_dra.api.kinds import DEVICE_TAINT_RULE
from kubectl_dra.model.resource import DeviceTaintRule
from kubectl_dra.model.taint_plan import Hit, RuleWrite, TaintPlan, Verb
from kubectl_dra.model.taint_text import taint_text
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, fmt, plain
from kubectl_dra.output.taints.hits import fate_text, who_text
from kubectl_dra.output.taints.plan_page import selector_text

_PAST: Final = {Verb.CREATE: "created", Verb.PATCH: "patched", Verb.DELETE: "deleted"}


def rule_reference(name: str) -> Safe:
    """``devicetaintrule.resource.k8s.io/NAME``."""
    return fmt("{}.{}/{}", DEVICE_TAINT_RULE.singular, DEVICE_TAINT_RULE.group, name)


def done_line(write: RuleWrite) -> Safe:
    """``DeviceTaintRule NAME created``."""
    return fmt("DeviceTaintRule {} {}", write.name, Safe(_PAST[write.verb]))


def dry_lines(plan: TaintPlan, server: bool) -> Iterator[Safe]:
    """What a dry run ends with."""
    if plan.writes:
        accepts = "The server accepts this. " if server else ""
        yield Safe(f"{accepts}Nothing was written: this was a dry run.")


def present_lines(plan: TaintPlan, only_names: bool = False) -> Iterator[Safe]:
    """Rules that say already what was asked for."""
    for name in plan.present:
        if only_names:
            yield rule_reference(name)
            continue
        yield from wrapped(
            fmt("DeviceTaintRule {} is already there: {}", name, taint_text(plan.taint)), indent=2, first=0
        )


def truth_text(write: RuleWrite, now: DeviceTaintRule | None) -> Safe:
    """What is true now of the rule of a write that failed."""
    if now is None:
        return fmt("rule {} does not exist", write.name)
    selector = selector_text(now.spec.device_selector)
    return fmt("rule {} says {} on {}", write.name, taint_text(now.spec.taint), selector)


def change_lines(before: TaintPlan, after: TaintPlan) -> Iterator[Safe]:
    """What a second reading found different from what was shown."""
    old, new = _states(before.hits), _states(after.hits)
    for key, text in new.items():
        if key not in old:
            yield fmt("new: {}, {}", who_text(_hit(after.hits, key)), text)
        elif text != old[key]:
            yield fmt("{}: now {}, before {}", who_text(_hit(after.hits, key)), text, old[key])
    for key in old.keys() - new.keys():
        yield fmt("gone: {}", who_text(_hit(before.hits, key)))
    yield from _rule_changes(before, after)


def _rule_changes(before: TaintPlan, after: TaintPlan) -> Iterator[Safe]:
    known = {write.name: write for write in before.writes}
    for write in after.writes:
        if write.name not in known:
            yield fmt("rule {}: now on {}", write.name, selector_text(write.selector))
        elif (write.verb, write.before) != (known[write.name].verb, known[write.name].before):
            yield fmt("rule {}: now {}", write.name, taint_text(write.before) if write.before else Safe("gone"))
    for name in known.keys() - {write.name for write in after.writes}:
        yield fmt("rule {}: {}", name, Safe("now as wanted" if name in after.present else "gone"))


_Key = tuple[str, str, str, str]


def _key(hit: Hit) -> _Key:
    return hit.namespace, hit.pod, hit.uid, "" if hit.pod else hit.uses[0].claim


def _states(hits: Sequence[Hit]) -> dict[_Key, Safe]:
    return {_key(hit): plain(fate_text(hit)) for hit in hits}


def _hit(hits: Sequence[Hit], key: _Key) -> Hit:
    return next(hit for hit in hits if _key(hit) == key)
