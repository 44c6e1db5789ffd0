"""What is said of a controller that cannot make its pods: the API server's words, and what follows from them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Cause, ClassOffer, GroupWaits, MakerRefusal, ObjectRef
from kubectl_dra.model.invocation import Address
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.autoscalers import says_what_to_change
from kubectl_dra.output.pending.go_errors import innermost
from kubectl_dra.output.pending.quotas import pods_lines, quota_advice, quota_sentence
from kubectl_dra.output.pod_security import refusing_level, wider_level
from kubectl_dra.output.safe import Safe, command_line, fmt
from kubectl_dra.output.words import kind_and_name, listed, often
from kubectl_dra.reports.invocations import kubectl, of, reading, within
from kubectl_dra.reports.pending.pending import PendingReport

#: Upstream: pkg/controller/controller_utils.go and statefulset/stateful_pod_control.go.
_LEAD: Final = re.compile(r"^(?:Error creating: |create Pod \S+ in StatefulSet \S+ failed error: )")
_TEMPLATE: Final = Safe(
    "Change the template of the pods as these words demand, or ask whoever keeps the rule that they name."
)


#: Upstream: apiserver, pkg/admission/plugin/webhook (failed calling webhook); the service stands in the address.
_WEBHOOK: Final = re.compile(
    r'failed calling webhook "(?P<name>[^"]+)"[^"]*'
    r'"https://(?P<service>[a-z0-9-]+)\.(?P<namespace>[a-z0-9-]+)\.svc[^"]*": (?P<why>.+)'
)


#: Upstream: plugin/pkg/admission/limitranger, minConstraint and maxConstraint.
_LIMIT: Final = re.compile(
    r"(?P<end>max|min)imum (?P<resource>\S+) usage per (?P<of>Container|Pod) is (?P<bound>[^\s,]+?)"
    r"(?:, but (?P<field>limit|request) is (?P<value>[^\s,\]]+)|\. +No (?P<unset>limit|request) is specified)"
)


#: Upstream: pkg/quota/v1/evaluator/core/pods.go, Constraints; plugin/pkg/admission/resourcequota, prettyPrint.
_UNSAID: Final = re.compile(
    r"failed quota: (?P<quota>[^:\s]+): must specify (?P<what>\S+ for: [^;]+(?:; \S+ for: [^;]+)*)"
)


def refused_of(cause: Cause) -> MakerRefusal | None:
    """Whom a group waits for in vain; None where nobody is refused."""
    return cause.detail.refused if isinstance(cause.detail, GroupWaits) else None


def is_told_above(report: PendingReport) -> bool:
    """Whether what to do stands above: in the words of who refuses, beside devices of a node by another name.

    Or in an autoscaler's, where no node that exists would do.
    """
    cause = report.causes[0]
    misnamed = isinstance(cause.detail, ClassOffer) and bool(cause.detail.meant)
    asked = cause.code is Code.NODE_AFFINITY and says_what_to_change(report.autoscaler)
    return refused_of(cause) is not None or misnamed or asked


def refused_sentence(refusal: MakerRefusal, subject: ObjectRef | None = None) -> Safe:
    """Who is refused more pods, and why; ``subject``: whom the sentence is about so far."""
    words, webhook = innermost(_LEAD.sub("", refusal.text)), _WEBHOOK.search(refusal.text)
    if webhook is not None:
        words = fmt("webhook {}, which has to admit them, cannot be called: {}", webhook["name"], webhook["why"])
    why = quota_sentence(refusal.shortages[0]) if refusal.shortages else words
    who = Safe("it") if refusal.maker == subject else kind_and_name(refusal.maker)
    return fmt("{} cannot create more pods: {}", who, why)


def refused_lines(refusal: MakerRefusal, now: datetime) -> Iterator[Safe]:
    """How often, and since when; the words are those of the first line."""
    when = often(refusal.times, refusal.first, refusal.time, now)
    yield from wrapped(fmt("{} {} was refused {}.", refusal.maker.kind, refusal.maker.name, when), indent=2)


def refused_advice(refusal: MakerRefusal, address: Address) -> Iterator[Safe]:
    """What makes room for the pod, and who has used it up."""
    webhook = _WEBHOOK.search(refusal.text)
    if webhook is not None:
        text = "What usually helps: Get the pods of Service {} running again; then the pods are created by themselves."
        yield from wrapped(fmt(text, webhook["service"]))
        words = kubectl("get", "pods", "-n", webhook["namespace"])
        yield from command_line("Its pods: {}", reading(words, address))
        return
    limit = _LIMIT.search(refusal.text)
    if limit is not None:
        yield from wrapped(fmt("What usually helps: {}", _within(limit)))
        shown = kubectl("describe", "limitranges", within(refusal.maker.namespace))
        yield from command_line("The limits of the namespace: {}", reading(shown, address))
        return
    unsaid = _UNSAID.search(refusal.text)
    if unsaid is not None:
        yield from wrapped(fmt("What usually helps: {}", _said_by_all(unsaid)))
        shown = kubectl("describe", of("resourcequota", unsaid["quota"]), within(refusal.maker.namespace))
        yield from command_line("Its limits and what is used: {}", reading(shown, address))
        return
    told = quota_advice(refusal.shortages[0]) if refusal.shortages else _of_the_template(refusal)
    yield from wrapped(fmt("What usually helps: {}", told))
    if len(refusal.shortages) == 1:
        yield from pods_lines(refusal.shortages[0])
    where, names = within(refusal.maker.namespace), dict.fromkeys(each.quota for each in refusal.shortages)
    for name in names:
        described = kubectl("describe", of("resourcequota", name), where)
        yield from command_line("Its limits and what is used: {}", reading(described, address))


def _of_the_template(refusal: MakerRefusal) -> Safe:
    """What to change where a policy or Pod Security refuses the pods; a Job's template is immutable once it exists."""
    level = refusing_level(refusal.text)
    again = Safe(" A Job's template cannot be changed: delete the Job and create it again.")
    again = again if refusal.maker.kind == "Job" else Safe("")
    if not level:
        return _TEMPLATE + again
    text = "Remove what these words list from the template of the pods, or {}.{}"
    return fmt(text, wider_level(refusal.maker.namespace, level), again)


def _said_by_all(found: re.Match[str]) -> Safe:
    """What every container has to say where a quota counts it."""
    parts = (part.split(" for: ", 1) for part in found["what"].split("; "))
    each = [fmt("resources.{} of {}", name, listed(who.strip().split(","))) for name, who in parts]
    text = "In the pod template, set {}: ResourceQuota {} counts it, so that every container has to say it."
    return fmt(text, listed(each), found["quota"])


def _within(limit: re.Match[str]) -> Safe:
    """Which field a LimitRange bounds, and by how much."""
    field = fmt("resources.{}s.{}", limit["field"] or limit["unset"], limit["resource"])
    of_ = Safe("each container" if limit["of"] == "Container" else "all containers together")
    most = limit["end"] == "max"
    how = Safe("at most" if most else "at least")
    verb = Safe("set" if limit["unset"] else "lower" if most else "raise")
    text = "In the pod template, {} {} of {} to {} {}, or ask the owner of the LimitRange to {} its {}."
    return fmt(text, verb, field, of_, how, limit["bound"], Safe("raise" if most else "lower"), limit["end"])
