"""What why-pending says of everything in scope: lists and overviews."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Final

from kubectl_dra.api.kinds import POD, POD_GROUP, RESOURCE_CLAIM, Kind
from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.shared.live import with_queues
from kubectl_dra.commands.shared.options import label_selector
from kubectl_dra.commands.shared.show import console, is_document, print_answers, print_pages
from kubectl_dra.commands.shared.unread import code_of, noted_around, nothing_read
from kubectl_dra.commands.why_pending import single
from kubectl_dra.commands.why_pending.groups import Pending, waiting_groups
from kubectl_dra.commands.why_pending.one_per_line import is_rows, pod_list, said
from kubectl_dra.diagnosis.codes import Family
from kubectl_dra.diagnosis.gates.pending import pending_pods, unserved
from kubectl_dra.diagnosis.gates.refused_work import refused_workloads
from kubectl_dra.diagnosis.gates.waiting_work import waiting_work
from kubectl_dra.diagnosis.pod import needs
from kubectl_dra.diagnosis.pod.idle import held
from kubectl_dra.diagnosis.pod.workloads import owners, without_pods
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.output.exit_codes import ExitCode
from kubectl_dra.output.pending.group_page import gang_lines
from kubectl_dra.output.pending.groups import (
    claim_groups_page,
    claim_groups_summary,
    groups_page,
    groups_summary,
    is_explained,
    next_commands,
)
from kubectl_dra.output.pending.idle_claims import idle_lines
from kubectl_dra.output.pending.lingering import overdue_lines
from kubectl_dra.output.pending.queued_work import (
    refused_work_lines,
    rejected_lines,
    unread_work_line,
    unserved_lines,
    work_lines,
    work_summary,
)
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.templates import is_template
from kubectl_dra.output.unread import around
from kubectl_dra.output.whatif.page import whatif_lines
from kubectl_dra.output.words import listed_count
from kubectl_dra.reports.base import Bound
from kubectl_dra.reports.pending import pending
from kubectl_dra.reports.pending.by_reason import claim_groups, reason_groups
from kubectl_dra.reports.pending.idle import WorkloadPendingReport
from kubectl_dra.reports.pending.lingering import overdue_pods
from kubectl_dra.reports.pending.rejected import rejected_pods
from kubectl_dra.reports.top import idle_claims
from kubectl_dra.reports.unread import (
    PENDING_CLAIMS,
    PENDING_GROUPS,
    PENDING_PODS,
    ListGaps,
    Subject,
    missing_rights,
    together,
    unread,
)

_SUBJECTS: Final = {RESOURCE_CLAIM: PENDING_CLAIMS, POD_GROUP: PENDING_GROUPS}


def everything(call: single.PendingCall, kind: Kind) -> int:
    """Print all of a kind that waits; returns the exit code."""
    selects = label_selector(call.options.selector)
    namespace, inventory = call.cluster.namespace, call.cluster.state.inventory
    if kind is RESOURCE_CLAIM:
        claims = [key for key, claim in inventory.claims.items() if selects(claim.metadata.labels)]
        found = [single.claim_answer(call, key) for key in claims if namespace in ("", key.namespace)]
        answers = [each for each in found if each.report.causes or single.is_bad(each)]
        return _list(call, answers, kind, _claims_overview)
    if kind is POD_GROUP:
        groups = [key for key in waiting_groups(inventory, namespace) if selects(_labels(inventory, key))]
        return _list(call, [single.pod_group_answer(call, key, remedies=call.remedies) for key in groups], kind, _pages)
    pods = pending_pods(call.cluster.state, namespace or None, selects)
    if kind is not POD:
        pods = tuple(key for key in pods if _owned_by(inventory, key, kind))
    if len(pods) > 1:
        call.cluster.state.devices.alike.expect_more()
    answers = [single.pod_answer(call, key, remedies=call.remedies) for key in pods]
    if kind.workload:
        answers += _suspended(call, kind, selects)
    elif not call.options.selector:
        answers += (single.waiting_answer(call, each) for each in waiting_work(call.cluster.state, namespace))
        refused = refused_workloads(call.cluster.state, namespace, call.read_owner)
        answers += (single.refused_answer(call, call.cluster.state, each.workload, each.refusal) for each in refused)
    overview = _overview if kind.workload else _pods_overview
    return _list(call, answers, kind, _pages if call.remedies else overview)


def _suspended(call: single.PendingCall, kind: Kind, selects: Callable[[Mapping[str, str]], bool]) -> Iterator[Pending]:
    """The workloads of a kind that are held back and have no pods, as far as they were read."""
    state, namespace = call.cluster.state, call.cluster.namespace
    known = sorted({*state.inventory.workloads, *state.inventory.makers})
    here = (Key(where, name) for of, where, name in known if of == kind.name and namespace in ("", where))
    read: dict[str, ClusterState] = {}
    for key in without_pods(state.inventory, kind.name, here):
        by = held(state, kind.name, key)
        if by is None or not by.suspended_by or not selects(by.labels):
            continue
        if by.queue and key.namespace not in read:
            read[key.namespace] = with_queues(call.options, state, key.namespace)
        waits = single.idle_answer(call, read[key.namespace] if by.queue else state, kind, key)
        if waits is not None:
            yield waits


def _rows(call: single.PendingCall, answers: Sequence[Pending]) -> list[Safe]:
    reports = [each.report for each in answers if isinstance(each.report, pending.PendingReport)]
    return pod_list(reports, call.now, call.options.output or "wide", call.sort_by, no_headers=call.no_headers)


def _labels(inventory: Inventory, group: Key) -> Mapping[str, str]:
    return inventory.groups.pod_groups[group].metadata.labels


def _list(
    call: single.PendingCall,
    answers: Sequence[Pending],
    kind: Kind,
    page: Callable[[single.PendingCall, Sequence[Pending], ListGaps], list[Safe]],
) -> int:
    """A list: what is known, and around it what could not be read and may change it."""
    subject = _SUBJECTS.get(kind, PENDING_PODS)
    found = _gaps(call, answers, subject)
    again = ("why-pending",) if kind is POD else ("why-pending", kind.plural)
    if not found.answered and (is_template(call.options.output) or not is_document(call.options)):
        raise nothing_read(found, call.options, call.address, again)
    if is_document(call.options):
        _print_document(call, answers, subject, found)
    else:
        call.told = True
        supposed_lines = whatif_lines(call.what_if, call.address) if call.what_if is not None else []
        if is_rows(call.options, call.sort_by) and subject is PENDING_PODS:
            _print_rows(call, answers, supposed_lines, found)
        else:
            lines = page(call, answers, found)
            if supposed_lines and not (page is _pages and answers):
                lines = [*supposed_lines, Safe(""), *lines]
            print_pages([around(lines, found.missing, call.address)], call.options)
    code = single.code_of_answers(call, answers)
    return code_of(found, call.options, call.address, again) if code is ExitCode.OK else code


def _print_document(call: single.PendingCall, answers: Sequence[Pending], subject: Subject, found: ListGaps) -> None:
    summary = _summary(answers, subject, call.cluster.namespace, found.bound)
    # A template may leave out what the document says about its gaps.
    noted = found.missing if is_template(call.options.output) else ()
    with noted_around(noted, call.options, call.address):
        print_answers(
            answers,
            call.options,
            "PendingReportList",
            "workload",
            single=False,
            summary=summary,
            missing=found.missing,
        )


def _print_rows(
    call: single.PendingCall, answers: Sequence[Pending], supposed: Sequence[Safe], found: ListGaps
) -> None:
    waiting = (each.summary() for each in answers if isinstance(each.report, WorkloadPendingReport))
    with noted_around(found.missing, call.options, call.address):
        for line in (*supposed, *waiting):  # those without pods have no line
            console(call.options).note(line)
        print_pages([_rows(call, answers)], call.options)


def _gaps(call: single.PendingCall, answers: Sequence[Pending], subject: Subject) -> ListGaps:
    """What the list and its answers lack; of a list that can't be begun, what any of its answers would rest on."""
    state, namespace = call.cluster.state, call.cluster.namespace
    of_list = unread(state, subject, namespace, shown=bool(answers))
    if not of_list.answered:
        return together([of_list], missing_rights(state.evidence, needs.kinds(needs.POD), namespace))
    return together([of_list], (item for each in answers for item in single.lacking(each.report)))


def _summary(answers: Sequence[Pending], subject: Subject, scope: str, bound: Bound) -> Safe | None:
    """The first line of the overview; None for workloads without pods."""
    if subject is PENDING_CLAIMS:
        claims = [each.report for each in answers if isinstance(each.report, pending.ClaimPendingReport)]
        return claim_groups_summary(claim_groups(claims), scope, bound)
    if subject is PENDING_GROUPS:
        where = fmt(" in namespace {}", scope) if scope else Safe("")
        waits = Safe("waits" if len(answers) == 1 else "wait")
        return fmt("{} {}{}.", listed_count(len(answers), "PodGroup", bound), waits, where)
    pods = [each.report for each in answers if isinstance(each.report, pending.PendingReport)]
    work = [each.report for each in answers if isinstance(each.report, WorkloadPendingReport)]
    if work and not pods:
        of_work = len(work) > 1 and all(each.queue is not None or each.refused is not None for each in work)
        return fmt("{}.", work_summary(work, scope)) if of_work else None
    told = groups_summary(pods, reason_groups(pods), scope, bound)
    return fmt("{} {}.", told, work_summary(work, scope)) if work else told


def _owned_by(inventory: Inventory, pod: Key, kind: Kind) -> bool:
    return any(owner.ref.kind == kind.name for owner in owners(inventory, inventory.pods[pod]))


def _overview(call: single.PendingCall, answers: Sequence[Pending], found: ListGaps) -> list[Safe]:
    reports = [each.report for each in answers if isinstance(each.report, pending.PendingReport)]
    waiting = [line for each in answers if isinstance(each.report, WorkloadPendingReport) for line in each.page()]
    if waiting and not reports:
        return waiting
    return [*waiting, *_of_pods(call, reports, found)]


def _pods_overview(call: single.PendingCall, answers: Sequence[Pending], found: ListGaps) -> list[Safe]:
    reports = [each.report for each in answers if isinstance(each.report, pending.PendingReport)]
    work = [each.report for each in answers if isinstance(each.report, WorkloadPendingReport)]
    scope = call.cluster.namespace
    lines = [*refused_work_lines(work, scope, call.address), *work_lines(work, scope, call.address)]
    lines += [unread_work_line()] if "Workload" in call.cluster.state.inventory.queues.refused else []
    page = _of_pods(call, reports, found)
    return [*page, Safe(""), *lines] if lines else page


def _of_pods(call: single.PendingCall, reports: Sequence[pending.PendingReport], found: ListGaps) -> list[Safe]:
    if call.options.selector and not reports and found.bound is Bound.EXACT:
        return [_none_selected("pending pod with device claims", call)]
    groups, scope = reason_groups(reports), call.cluster.namespace
    page = [*groups_page(reports, groups, scope, found.bound, call.address)]
    page += gang_lines(reports, page)
    page += [*said(reports, call.now, told=is_explained(groups)), *next_commands(groups, scope, call.address)]
    selects = label_selector(call.options.selector)
    rejected = rejected_pods(call.cluster.state, scope, selects)
    failed = list(rejected_lines(rejected, scope, call.now, call.address))
    page += [Safe(""), *failed] if failed else []
    overdue = list(overdue_lines(overdue_pods(call.cluster.state, scope, selects), scope, call.now, call.address))
    page += [Safe(""), *overdue] if overdue else []
    others = list(unserved_lines(_unserved(call), scope, call.address))
    page += [Safe(""), *others] if others else []
    return [*page, *_held_for_nobody(call, reports)]


def _held_for_nobody(call: single.PendingCall, reports: Sequence[pending.PendingReport]) -> Iterator[Safe]:
    """Where pods lack devices: those that claims of any namespace hold which no pod uses; what was not read may."""
    evidence = call.cluster.state.evidence
    known = evidence.complete("ResourceClaim") and evidence.complete("Pod")
    if known and any(each.code is not None and each.code.family is Family.DEVICES for each in reports):
        yield from idle_lines(idle_claims(call.cluster.state, ""), call.address)


def _unserved(call: single.PendingCall) -> Mapping[Key, Collection[str]]:
    """Pods that have not got a node and ask for what no class serves; none where some classes could not be read."""
    state = call.cluster.state
    if not state.evidence.complete("DeviceClass"):
        return {}
    found = unserved(state, call.cluster.namespace, label_selector(call.options.selector))
    return {key: names for key, names in found.items() if not state.inventory.pods[key].spec.node_name}


def _none_selected(what: str, call: single.PendingCall) -> Safe:
    """That labels select nothing, which does not say that nothing is there."""
    where = fmt(" in namespace {}", call.cluster.namespace) if call.cluster.namespace else Safe("")
    return fmt("No {}{} has labels that match {}.", Safe(what), where, call.options.selector)


def _claims_overview(call: single.PendingCall, answers: Sequence[Pending], found: ListGaps) -> list[Safe]:
    reports = [each.report for each in answers if isinstance(each.report, pending.ClaimPendingReport)]
    if call.options.selector and not reports and found.bound is Bound.EXACT:
        return [_none_selected("ResourceClaim that waits for devices, is unused or can't be deleted", call)]
    return claim_groups_page(claim_groups(reports), call.cluster.namespace, found.bound, call.address)


def _pages(_call: single.PendingCall, answers: Sequence[Pending], found: ListGaps) -> list[Safe]:
    lines: list[Safe] = []
    for each in answers:
        lines += [Safe(""), *each.page()] if lines else each.page()
    if found.hides_lines and not answers:
        lines.append(Safe("None of the pods that could be read waits for devices."))
    elif not answers:
        lines.append(Safe("Nothing waits."))
    return lines
