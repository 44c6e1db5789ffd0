"""What became of a plan: kubectl's line per rule, what a failed write left behind, what a second reading found new.

What the version of a server means for rules: said beside the plan. The words of --observe and --wait: what the
controller counts, how far an eviction is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kubectl_dra.api.kinds import DEVICE_TAINT_RULE
from kubectl_dra.model.features import Features
from kubectl_dra.model.resource import DeviceTaintRule
from kubectl_dra.model.taint_plan import Hit, RuleWrite, TaintPlan, Verb
from kubectl_dra.model.taint_text import taint_text
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, Style, fmt, plain, safe, styled
from kubectl_dra.output.taints.hits import fate_text, who_text
from kubectl_dra.output.taints.plan_page import selector_text
from kubectl_dra.output.words import counted, listed
from kubectl_dra.reports.taints.taint_observation import Counts

_PAST: Final = {Verb.CREATE: "created", Verb.PATCH: "patched", Verb.DELETE: "deleted"}
# The first minor version whose rules have effect None and a status.
_EFFECT_NONE_SINCE: Final = 35


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


def has_effect_none(api_version: str, server_version: tuple[int, int] | None) -> bool:
    """Whether the server knows effect None and the status of rules; an unknown v1alpha3 is taken to be an old one."""
    if server_version is None:
        return not api_version.endswith("/v1alpha3")
    return server_version >= (1, _EFFECT_NONE_SINCE)


def version_notes(api_version: str, server_version: tuple[int, int] | None, features: Features) -> Iterator[Safe]:
    """What old versions can't express, and a gate that is off unless somebody switched it on."""
    if not has_effect_none(api_version, server_version):
        yield fmt(
            "{} of this server has neither effect None nor a status: what the controller does can't be read from "
            "the rule, only from the pods.",
            api_version,
        )
    if server_version is not None and not features.device_taint_rules:
        yield fmt(
            "In Kubernetes 1.{} rules count only where the feature gate DRADeviceTaintRules (DRADeviceTaints up to "
            "1.34) was switched on in kube-scheduler and kube-controller-manager.",
            features.minor,
        )


def _counts_text(counts: Counts) -> Safe:
    """``1 published device, 2 allocations, 1 pod in 1 namespace``."""
    published, allocated = counted(counts.published, "published device"), counted(counts.allocated, "allocation")
    pods, namespaces = counted(counts.pods, "pod"), counted(counts.namespaces, "namespace")
    return fmt("{}, {}, {} in {}", published, allocated, pods, namespaces)


def comparison_lines(controller: Counts, plan: Counts, agree: bool) -> Iterator[Safe]:
    """The controller's numbers beside ours."""
    if agree:
        yield fmt("The controller counts the same with NoExecute: {}.", _counts_text(controller))
        return
    yield styled(Safe("The controller counts otherwise than this plan:"), Style.WARN)
    yield fmt("  controller  {}", _counts_text(controller))
    yield fmt("  plan        {}", _counts_text(plan))


def progress_text(gone: int, going: int, total: int) -> Safe:
    """``1 of 3 pods gone, 1 being deleted, 1 still to go``."""
    parts = [fmt("{} of {} gone", gone, counted(total, "pod"))]
    parts += [fmt("{} being deleted", going)] if going else []
    left = total - gone - going
    parts += [fmt("{} not evicted yet", left)] if left else []
    return Safe(", ").join(parts)


def left_text(going: Sequence[Hit], waiting: Sequence[Hit]) -> Safe:
    """Who is still there when time is up, and why."""
    parts = []
    if waiting:
        soonest = [hit.seconds for hit in waiting if hit.seconds]
        names = listed([f"{hit.namespace}/{hit.pod}" for hit in waiting])
        tail = fmt(" (tolerates it for {} s)", min(soonest)) if len(soonest) == len(waiting) else Safe("")
        parts.append(fmt("{} not evicted yet{}", names, tail))
    if going:
        names = listed([f"{hit.namespace}/{hit.pod}" for hit in going])
        parts.append(fmt("{} being deleted, but not ended by the kubelet", names))
    return Safe("; ").join(parts) if parts else safe("nobody")
