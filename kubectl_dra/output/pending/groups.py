"""Everything that hangs, on one screen: pods, or claims, grouped by their main reason."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, zip_longest
from typing import Final

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Bound, ObjectRef
from kubectl_dra.model.invocation import HERE, Address
from kubectl_dra.output.layout import Column, lines_of_rows, wrapped
from kubectl_dra.output.pending.headline import is_untried, pending_cause
from kubectl_dra.output.pending.reasons import title
from kubectl_dra.output.safe import Safe, command, fmt, safe
from kubectl_dra.output.words import counted, listed_count, without_names
from kubectl_dra.reports.invocations import dra, of, reading
from kubectl_dra.reports.pending.by_reason import ClaimGroup, ReasonGroup
from kubectl_dra.reports.pending.pending import PendingReport

_RETRY = (
    "            the scheduler retries within 5 minutes, sooner when a claim, class,",
    "            node or slice is added or changed",
)
#: A page of more reasons would be a page of prose: ``-o wide`` has the cause of each pod.
_EXPLAINED: Final = 6
#: Causes under one reason, and where they stand: below its title.
_CAUSES: Final = 2
#: Of more pods the causes are not laid beside each other: that takes as long as to find them.
_COMPARED: Final = 500
_BELOW: Final = 11
#: As many names stand in a row one by one, if they are short; of more the first and the last.
_NAMED: Final = 3
_SHORT: Final = 48
#: What stands before the name of an object of another namespace.
_NAMESPACE: Final = re.compile(r"\b[a-z0-9-]+/")


def groups_page(
    reports: Sequence[PendingReport],
    groups: Sequence[ReasonGroup],
    scope: str,
    bound: Bound = Bound.EXACT,
    address: Address = HERE,
) -> list[Safe]:
    """The overview; ``scope`` is a namespace, or empty for the whole cluster; ``bound`` that of the number of pods.

    ``address`` is the cluster that commands are to ask.
    """
    if not reports:
        everywhere = command(reading(dra("why-pending", "-A"), address)) if bound is Bound.EXACT else None
        more = [Safe("In all namespaces: ") + everywhere] if scope and everywhere is not None else []
        return [groups_summary(reports, groups, scope, bound), *more]
    head = _before_lines(groups_summary(reports, groups, scope, bound))
    told = {report.pod: report for report in reports} if is_explained(groups) else {}
    causes = [_causes([told[ref] for ref in group.pods if ref in told], scope) for group in groups]
    lines = [head, Safe(""), *_table([(group.code, group.pods) for group in groups], scope, causes)]
    # Nothing is tried again where no scheduler runs.
    if any(group.code is Code.FITS_NOW for group in groups) and not any(map(is_untried, reports)):
        lines += [Safe(line) for line in _RETRY]
    return lines


def is_explained(groups: Sequence[ReasonGroup]) -> bool:
    """Whether the overview has the cause of each reason, beside its title."""
    return len(groups) <= _EXPLAINED


def next_commands(groups: Sequence[ReasonGroup], scope: str, address: Address = HERE) -> list[Safe]:
    """How to read more about the pods of the overview; the causes of all where it has none."""
    one = next((ref for group in groups for ref in group.pods), None)
    lines = _more("pod", one, address) if one is not None else []
    if not is_explained(groups):
        where = ("-n", scope) if scope else ("-A",)
        line = command(reading(dra("why-pending", *where, "-o", "wide"), address))
        lines += [fmt("the cause of each: {}", line)] if line is not None else []
    return lines


def _causes(reports: Sequence[PendingReport], scope: str) -> list[Safe]:
    """What is wrong with the pods of one reason: once where it is the same but for the names of their own claims."""
    if len(reports) > _COMPARED:
        first = reports[0]
        text = fmt("for example {}: {}", _names([first.pod], scope), pending_cause(first))
        return wrapped(text, indent=_BELOW)
    said: dict[str, list[PendingReport]] = {}
    for report in reports:
        said.setdefault(pending_cause(report), []).append(report)
    # The same words may name one of the pods: as a member of its group, or as who holds what others lack.
    found: dict[str, list[PendingReport]] = {}
    for alike in said.values():
        found.setdefault(_but_for_names(alike[0]), []).extend(alike)
    most = sorted(found.values(), key=len, reverse=True)
    # The longest names the namespaces of holders, which are another pod's own.
    texts = [max(map(pending_cause, alike), key=len) for alike in most[:_CAUSES]]
    if len(most) > 1:
        named = [_names([each.pod for each in alike], scope) for alike in most]
        texts = [fmt("{}: {}", names, text) for names, text in zip(named, texts, strict=False)]
    if len(most) > _CAUSES:
        texts.append(fmt("and {}", counted(len(most) - _CAUSES, "other cause")))
    return [line for text in texts for line in wrapped(text, indent=_BELOW)]


def _but_for_names(report: PendingReport) -> str:
    """The cause as its siblings have it."""
    names = [*(ask.name for ask in report.asks), report.pod.name]
    return without_names(names, [Safe(_NAMESPACE.sub("", pending_cause(report)))])


def groups_summary(reports: Sequence[PendingReport], groups: Sequence[ReasonGroup], scope: str, bound: Bound) -> Safe:
    """How many pods are pending, for how many reasons."""
    where = fmt(" in namespace {}", scope) if scope else Safe("")
    if not reports and bound is not Bound.EXACT:
        return fmt("None of the pods that could be read is pending with device claims{}.", where)
    if not reports:
        return fmt("No pod with device claims is pending{}.", where)
    number, verb = listed_count(len(reports), "pod", bound), Safe("is" if len(reports) == 1 else "are")
    reasons = counted(len(groups), "reason")
    return fmt("{} with device claims {} pending{}, for {}.", number, verb, where, reasons)


def claim_groups_page(
    groups: Sequence[ClaimGroup], scope: str, bound: Bound = Bound.EXACT, address: Address = HERE
) -> list[Safe]:
    """The same for claims that have no devices, waste them, or can't be deleted."""
    claims = [ref for group in groups for ref in group.claims]
    if not claims:
        return [claim_groups_summary(groups, scope, bound)]
    head = _before_lines(claim_groups_summary(groups, scope, bound))
    rows = _table([(group.code, group.claims) for group in groups], scope)
    return [head, Safe(""), *rows, *_more("claim", claims[0], address)]


def claim_groups_summary(groups: Sequence[ClaimGroup], scope: str, bound: Bound) -> Safe:
    """How many claims need attention, for how many reasons."""
    where = fmt(" in namespace {}", scope) if scope else Safe("")
    claims = sum(len(group.claims) for group in groups)
    if not claims and bound is not Bound.EXACT:
        return fmt("No ResourceClaim is known to wait for devices, to be unused or to be undeletable{}.", where)
    if not claims:
        return fmt("No ResourceClaim waits for devices, is unused or can't be deleted{}.", where)
    number, verb = listed_count(claims, "ResourceClaim", bound), Safe("needs" if claims == 1 else "need")
    return fmt("{} {} attention{}, for {}.", number, verb, where, counted(len(groups), "reason"))


def _before_lines(summary: Safe) -> Safe:
    return Safe(f"{summary.removesuffix('.')}:")


def _more(kind: str, one: ObjectRef, address: Address) -> list[Safe]:
    """The command for one of them, unless the API can't hold its name."""
    line = command(reading(dra("why-pending", of(kind, one.name, one.namespace)), address))
    return [] if line is None else [Safe(""), Safe("more: ") + line]


def _table(
    groups: Sequence[tuple[Code | None, Sequence[ObjectRef]]], scope: str, below: Sequence[Sequence[Safe]] = ()
) -> list[Safe]:
    """A line per reason, and below it what is said about it."""
    rows = [[safe(code or "-"), title(code), Safe(str(len(refs))), _names(refs, scope)] for code, refs in groups]
    columns = [Column(), Column(flexible=True), Column(right=True), Column(flexible=True)]
    explained = zip_longest(lines_of_rows(columns, rows, indent=2), below, fillvalue=())
    return [line for lines in explained for line in chain.from_iterable(lines)]


def _names(refs: Sequence[ObjectRef], scope: str) -> Safe:
    names = [ref.name if scope else str(ref.key) for ref in refs]
    if len(names) < _NAMED or (len(names) == _NAMED and sum(map(len, names)) <= _SHORT):
        return Safe(", ").join(names)
    return fmt("{} … {}", names[0], names[-1])
