"""What why-pending does: find the objects that the words name, diagnose them, print the reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Final

from kubectl_dra.api.controllers import INDIRECT, MAKERS
from kubectl_dra.api.kinds import POD, POD_GROUP, RESOURCE_CLAIM, Kind
from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.shared.cluster import Scoped, read_cluster
from kubectl_dra.commands.shared.errors import CommandError, UsageProblem
from kubectl_dra.commands.shared.makers import with_maker
from kubectl_dra.commands.shared.namespaces import check_namespace
from kubectl_dra.commands.shared.not_found import check_node, key_not_found
from kubectl_dra.commands.shared.options import Options, label_selector
from kubectl_dra.commands.shared.owners import owner_reader
from kubectl_dra.commands.shared.queues import with_queues
from kubectl_dra.commands.shared.show import (
    Answer,
    console,
    is_document,
    note_evidence,
    print_answers,
    print_pages,
    tell,
)
from kubectl_dra.commands.shared.types import ObjectArg, ObjectArgs, parse_targets
from kubectl_dra.commands.shared.unread import after_unread, code_of, nothing_read
from kubectl_dra.commands.shared.whatif_options import (
    check_watch,
    kinds_demanded,
    kinds_everywhere,
    supposed,
    whole_nodes,
)
from kubectl_dra.commands.why_pending.groups import AnyPending, Pending, group_answer, not_served, waiting_groups
from kubectl_dra.commands.why_pending.one_per_line import check_list, is_rows, pod_list, said
from kubectl_dra.commands.why_pending.one_remedy import check_dry_run, check_single, one_remedy
from kubectl_dra.diagnosis import needs
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.diagnose import Diagnoser
from kubectl_dra.diagnosis.gangs.elsewhere import is_held_by_queue
from kubectl_dra.diagnosis.gangs.groups import pods_of
from kubectl_dra.diagnosis.idle import held, idle
from kubectl_dra.diagnosis.pending import is_pending, pending_pods
from kubectl_dra.diagnosis.records import Missing, MissingEvidence, ObjectRef
from kubectl_dra.diagnosis.whatif import Switch, WhatIf
from kubectl_dra.diagnosis.workloads import ReadOwner, owners, resolve_workload
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.model.invocation import Address
from kubectl_dra.output.exit_codes import ExitCode, finding_code
from kubectl_dra.output.pending.claim_page import claim_pending_page, claim_pending_summary
from kubectl_dra.output.pending.evidence import missing_lines
from kubectl_dra.output.pending.group_page import gang_lines
from kubectl_dra.output.pending.groups import claim_groups_page, groups_page
from kubectl_dra.output.pending.headline import pending_summary
from kubectl_dra.output.pending.idle import idle_page, idle_summary
from kubectl_dra.output.pending.page import pending_page
from kubectl_dra.output.pending.remedies import step_lines
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.templates import is_template
from kubectl_dra.output.whatif.page import whatif_lines
from kubectl_dra.reports.idle import WorkloadPendingReport, idle_report
from kubectl_dra.reports.invocations import dra, of, shell_line
from kubectl_dra.reports.pending import (
    ClaimPendingReport,
    PendingReport,
    claim_groups,
    claim_pending_report,
    pending_report,
    reason_groups,
)
from kubectl_dra.reports.remedies import FoundRemedies, find_remedies
from kubectl_dra.reports.unread import PENDING_CLAIMS, PENDING_GROUPS, PENDING_PODS, Subject, Unread, together, unread

if TYPE_CHECKING:
    from kubectl_dra.commands.why_pending.node_groups import Judge

_GOOD: Final = frozenset(
    {"NotPending", "Preparing", "Schedulable", "Reserved", "Allocated", "Starting", "Suspended", "ScaledToZero"}
)
_UNKNOWN: Final = "Unknown"
_ALL: Final = ("kubectl", "dra", "why-pending", "-A")
# Of a claim that many pods wait for, the first few tell the story.
_WAITING_SHOWN: Final = 3


@dataclass(slots=True)
class PendingCall:
    """One call of the command: the options, what was read, and whether a name could not be answered."""

    options: Options
    node: str
    cluster: Scoped
    diagnoser: Diagnoser
    remedies: bool = False
    failed: bool = field(default=False)
    read_owner: ReadOwner | None = None
    moment: datetime | None = None
    what_if: WhatIf | None = None
    sort_by: str = ""
    judge: Judge | None = None

    @property
    def address(self) -> Address:
        """The cluster that commands are about."""
        return self.cluster.state.evidence.address

    @property
    def now(self) -> datetime:
        """The time of the evidence: ages in an old snapshot read as they were."""
        return self.moment or self.diagnoser.world.now


def answer(
    options: Options,
    node: str,
    remedies: bool,
    words: Sequence[str],
    number: int | None = None,
    switches: tuple[Switch, ...] = (),
    node_groups: str = "",
    sort_by: str = "",
    *,
    dry_run: bool = False,
) -> int:
    """Run the command; returns the exit code. ``remedies``: also for lists, and with the commands that do them.

    With a ``number`` nothing but the commands of that way out, with ``dry_run`` what the server says of them.
    ``switches``: what is supposed of the cluster.
    """
    check_watch(options, switches)
    if options.watch and node_groups:
        raise UsageProblem("-w follows the pod; it cannot be combined with --node-groups", "leave out -w")
    check_list(options, words, sort_by)
    judge, everywhere = _judge_of(options, node_groups)
    targets = parse_targets(words, POD, options, MAKERS)
    if dry_run:
        check_dry_run(options, number)
    if number is not None:
        check_single(options, targets, remedies=remedies)
    kinds = {target.kind for target in targets.named} | {targets.kind}
    _check_kinds(kinds)
    workloads = needs.kinds(needs.WORKLOAD) if any(kind.workload for kind in kinds) else ()
    pods = [target.name for target in targets.named if target.kind is POD]
    everywhere = (*everywhere, *kinds_everywhere(switches))
    kinds_read = (*needs.kinds(needs.PENDING), *workloads, *everywhere)
    groups = needs.kinds(needs.GROUPS) if POD_GROUP in kinds else ()

    def respond(options: Options, cluster: Scoped, moment: datetime | None = None) -> int:
        note_evidence(cluster.state, options)
        state = cluster.state
        if is_held_by_queue(state.inventory, cluster.namespace):
            state = with_queues(options, state, cluster.namespace)
        world, what_if = supposed(state, switches)
        cluster = Scoped(world, cluster.namespace)
        with owner_reader(options) as read_owner:
            call = PendingCall(
                options,
                node,
                cluster,
                Diagnoser(world),
                remedies,
                read_owner=read_owner,
                moment=moment,
                what_if=what_if,
                judge=judge,
                sort_by=sort_by,
            )
            check_node(call.node, call.cluster.state)
            if number is not None:
                return one_remedy(options, _only_pod(call, targets), number, call.address, dry_run=dry_run)
            return _named(call, targets) if targets.named else _everything(call, targets.kind)

    if options.watch:
        from kubectl_dra.commands.why_pending.watch import watch

        return watch(options, kinds_read, pods, respond, lambda cluster: _all_run(cluster, targets))
    cluster = read_cluster(
        options,
        kinds_read,
        pods,
        demanded=(*kinds_demanded(switches), *groups),
        whole_nodes=whole_nodes(switches),
        everywhere=everywhere,
    )
    check_namespace(options, cluster)
    return respond(options, cluster)


def _judge_of(options: Options, node_groups: str) -> tuple[Judge | None, tuple[str, ...]]:
    """What answers about groups of nodes, and the kinds that it needs of all namespaces."""
    if not node_groups:
        return None, ()
    from kubectl_dra.commands.why_pending.node_groups import EVERYWHERE, judge_of  # hardly any call asks

    return judge_of(options, node_groups), EVERYWHERE


def _all_run(cluster: Scoped, targets: ObjectArgs) -> bool:
    """Whether no pod that was named, or belongs to a workload that was named, waits any more.

    Of several pods, one that is not there has finished: finished pods are not followed.
    """
    return bool(targets.named) and all(_runs(cluster, target, targets.single is None) for target in targets.named)


def _runs(cluster: Scoped, target: ObjectArg, absent: bool) -> bool:
    inventory, key = cluster.state.inventory, Key(cluster.namespace, target.name)
    if target.kind is POD:
        return not is_pending(inventory.pods[key]) if key in inventory.pods else absent
    found = pods_of(cluster.state, key) if target.kind is POD_GROUP else None
    pods = resolve_workload(inventory, target.kind.name, key) if found is None else found
    return bool(pods) and not any(map(is_pending, pods))


def _check_kinds(kinds: Iterable[Kind]) -> None:
    for kind in kinds:
        if kind not in (POD, RESOURCE_CLAIM, POD_GROUP) and not kind.workload:
            hint = "name a pod, a claim, a PodGroup or a workload"
            raise UsageProblem(f'why-pending has no answer for "{kind.plural}"', hint)


# --- everything in scope --------------------------------------------------------------------------------------------


def _everything(call: PendingCall, kind: Kind) -> int:
    selects = label_selector(call.options.selector)
    namespace, inventory = call.cluster.namespace, call.cluster.state.inventory
    if kind is RESOURCE_CLAIM:
        claims = [key for key, claim in inventory.claims.items() if selects(claim.metadata.labels)]
        found = [_claim_answer(call, key) for key in claims if namespace in ("", key.namespace)]
        answers = [each for each in found if each.report.causes or _is_bad(each)]
        return _list(call, answers, PENDING_CLAIMS, _claims_overview)
    if kind is POD_GROUP:
        groups = [key for key in waiting_groups(inventory, namespace) if selects(_labels(inventory, key))]
        return _list(call, [_group_answer(call, key, remedies=call.remedies) for key in groups], PENDING_GROUPS, _pages)
    pods = pending_pods(call.cluster.state, namespace or None, selects)
    if kind is not POD:
        pods = tuple(key for key in pods if _owned_by(inventory, key, kind))
    answers = [_pod_answer(call, key, remedies=call.remedies) for key in pods]
    answers += _suspended(call, kind, selects) if kind.workload else ()
    return _list(call, answers, PENDING_PODS, _pages if call.remedies else _overview)


def _suspended(call: PendingCall, kind: Kind, selects: Callable[[Mapping[str, str]], bool]) -> Iterator[Pending]:
    """The workloads of a kind that are held back and have no pods, as far as they were read."""
    state, namespace = call.cluster.state, call.cluster.namespace
    for of_kind, where, name in sorted({*state.inventory.workloads, *state.inventory.makers}):
        key = Key(where, name)
        by = held(state, kind.name, key) if of_kind == kind.name and namespace in ("", where) else None
        if by is None or not by.suspended_by or not selects(by.labels):
            continue
        waits = None if resolve_workload(state.inventory, kind.name, key) else _idle(call, state, kind, key)
        if waits is not None:
            yield waits


def _rows(call: PendingCall, answers: Sequence[Pending]) -> list[Safe]:
    reports = [each.report for each in answers if isinstance(each.report, PendingReport)]
    return pod_list(reports, call.now, call.options.output or "wide", call.sort_by)


def _labels(inventory: Inventory, group: Key) -> Mapping[str, str]:
    return inventory.groups.pod_groups[group].metadata.labels


def _list(
    call: PendingCall,
    answers: Sequence[Pending],
    subject: Subject,
    page: Callable[[PendingCall, Sequence[Pending], Unread], list[Safe]],
) -> int:
    """A list: what could not be read and may change it, then what is known."""
    of_list = unread(call.cluster.state, subject, call.cluster.namespace, shown=bool(answers))
    found = together([of_list], (item for each in answers for item in _missing(each.report)))
    if is_template(call.options.output):
        # A template may leave out what the document says about its gaps.
        if not found.answered:
            raise nothing_read(found, call.options)
        for line in missing_lines(found.missing):
            console(call.options).note(line)
    if is_document(call.options):
        print_answers(answers, call.options, "PendingReportList", single=False, missing=found.missing)
    elif not found.answered:
        raise nothing_read(found, call.options)
    else:
        in_rows = is_rows(call.options, call.sort_by) and subject is PENDING_PODS
        lines = _rows(call, answers) if in_rows else after_unread(found, page(call, answers, found))
        supposed_lines = whatif_lines(call.what_if) if call.what_if is not None else []
        if supposed_lines and not in_rows and not (page is _pages and answers):
            lines = [*supposed_lines, Safe(""), *lines]
        if in_rows:
            for line in supposed_lines:
                console(call.options).note(line)
            for line in missing_lines(found.missing):
                console(call.options).note(line)
            for each in answers:
                if isinstance(each.report, WorkloadPendingReport):  # no pod, so no line
                    console(call.options).note(each.summary())
        print_pages([lines], call.options)
    code = _code(call, answers)
    return code_of(found, call.options) if code is ExitCode.OK else code


def _owned_by(inventory: Inventory, pod: Key, kind: Kind) -> bool:
    return any(owner.ref.kind == kind.name for owner in owners(inventory, inventory.pods[pod]))


def _overview(call: PendingCall, answers: Sequence[Pending], found: Unread) -> list[Safe]:
    reports = [each.report for each in answers if isinstance(each.report, PendingReport)]
    waiting = [line for each in answers if isinstance(each.report, WorkloadPendingReport) for line in each.page()]
    if waiting and not reports:
        return waiting
    page = [*waiting, *groups_page(reports, reason_groups(reports), call.cluster.namespace, found.bound, call.address)]
    more = page[-2:] if page and page[-1].startswith("more: ") else []
    return [*page[: len(page) - len(more)], *gang_lines(reports), *said(reports, call.now), *more]


def _claims_overview(call: PendingCall, answers: Sequence[Pending], found: Unread) -> list[Safe]:
    reports = [each.report for each in answers if isinstance(each.report, ClaimPendingReport)]
    return claim_groups_page(claim_groups(reports), call.cluster.namespace, found.bound, call.address)


def _pages(_call: PendingCall, answers: Sequence[Pending], found: Unread) -> list[Safe]:
    lines: list[Safe] = []
    for each in answers:
        lines += [Safe(""), *each.page()] if lines else each.page()
    if found.hides_lines and not answers:
        lines.append(Safe("None of the pods that could be read waits for devices."))
    elif not answers:
        lines.append(Safe("Nothing waits."))
    return lines


def _missing(report: AnyPending) -> Iterator[Missing]:
    """What it lacks, and what its causes do: those of a claim are its pods'."""
    yield from report.missing
    for cause in report.causes:
        if isinstance(cause.detail, MissingEvidence):
            yield from cause.detail.missing


# --- named objects --------------------------------------------------------------------------------------------------


def _named(call: PendingCall, targets: ObjectArgs) -> int:
    """One object that is missing does not hide the others."""
    answers: list[Pending] = []
    for target in targets.named:
        try:
            answers.extend(_answers(call, target))
        except CommandError as problem:
            if targets.single is not None:
                raise
            call.failed = True
            tell(problem, call.options)
    single = targets.single is not None and not targets.single.kind.workload
    return _print(call, answers, single=single)


def _only_pod(call: PendingCall, targets: ObjectArgs) -> PendingReport:
    """The one pod that a way out is asked for. Raises ``CommandError`` where a workload has several."""
    found = [answer.report for target in targets.named for answer in _answers(call, target)]
    pods = [report for report in found if isinstance(report, PendingReport)]
    if len(pods) == 1:
        return pods[0]
    hint = shell_line(
        next((dra("why-pending", of("pod", pod.pod.name, pod.pod.namespace)) for pod in pods), None), _ALL
    )
    raise CommandError(f"--remedy is about one pod, and {len(pods)} are meant", hint)


def _answers(call: PendingCall, target: ObjectArg) -> Iterator[Pending]:
    inventory = call.cluster.state.inventory
    key = Key(call.cluster.namespace, target.name)
    if target.kind is RESOURCE_CLAIM:
        if key not in inventory.claims:
            raise _not_found(call, target.kind, key, inventory.claims)
        claim = _claim_answer(call, key)
        yield claim
        if isinstance(claim.report, ClaimPendingReport) and not is_document(call.options):
            yield from (_pod_answer(call, pod.key) for pod in claim.report.waiting_pods[:_WAITING_SHOWN])
    elif target.kind is POD:
        if key not in inventory.pods:
            raise _not_found(call, target.kind, key, inventory.pods)
        yield _pod_answer(call, key)
    elif target.kind is POD_GROUP:
        groups = inventory.groups.pod_groups
        if key not in groups:
            problem = not_served(call.cluster.state.evidence)
            raise problem or _not_found(call, target.kind, key, groups)
        yield _group_answer(call, key)
    else:
        yield from _workload_answers(call, target.kind, key)


def _workload_answers(call: PendingCall, kind: Kind, key: Key) -> Iterator[Pending]:
    read = call.read_owner if kind.name in INDIRECT else None
    pods = resolve_workload(call.cluster.state.inventory, kind.name, key, read)
    state = with_maker(call.options, call.cluster.state, kind, key, has_pods=bool(pods))
    known = [Key(namespace, name) for (of, namespace, name) in state.inventory.workloads if of == kind.name]
    if not pods and key not in known and kind not in MAKERS:
        raise _not_found(call, kind, key, known)
    pending = [key_of(pod.metadata) for pod in pods if is_pending(pod)]
    found = unread(state, PENDING_PODS, key.namespace, shown=bool(pending))
    if not found.answered:
        raise nothing_read(found, call.options)
    if found.objects:
        for line in missing_lines(found.objects):
            console(call.options).note(line)
    elif not pending:
        waits = _idle(call, state, kind, key) if not pods else None
        if waits is not None:
            yield waits
            return
        console(call.options).note(fmt("note: {} {} has no pending pods", kind.name, str(key)))
    yield from (_pod_answer(call, each) for each in pending)


def _idle(call: PendingCall, state: ClusterState, kind: Kind, key: Key) -> Pending | None:
    """Who holds back the pods of a workload that has none; None where nobody does."""
    by = held(state, kind.name, key)
    if by is not None and by.suspended_by and by.queue:
        state = with_queues(call.options, state, key.namespace)
    found = idle(state, kind.name, key)
    if found is None:
        return None
    report = idle_report(state, ObjectRef(kind.name, key.namespace, key.name), found)
    return Answer("WorkloadPendingReport", report, partial(idle_summary, report), partial(idle_page, report))


def _not_found(call: PendingCall, kind: Kind, key: Key, known: Iterable[Key]) -> CommandError:
    return key_not_found(kind, key, known, call.cluster.state.evidence, ("why-pending",), ("why-pending", "-A"))


# --- reports --------------------------------------------------------------------------------------------------------


def _pod_answer(call: PendingCall, key: Key, *, remedies: bool = True) -> Pending:
    cluster, diagnosis = call.cluster, call.diagnoser.pod(key)
    read = call.read_owner
    found = find_remedies(call.diagnoser.world, diagnosis, read_owner=read) if remedies else FoundRemedies()
    report = pending_report(
        diagnosis,
        cluster.state,
        all_nodes=call.options.output == "wide",
        node=call.node,
        ways=found,
        what_if=call.what_if,
        node_groups=call.judge(call.diagnoser.world, key) if remedies and call.judge is not None else None,
    )
    told = report.without_steps() if is_document(call.options) and not call.remedies else report
    return Answer("PendingReport", told, partial(pending_summary, report), partial(_pod_page, call, report))


def _pod_page(call: PendingCall, report: PendingReport) -> list[Safe]:
    lines = pending_page(report, call.now, call.address)
    steps = list(step_lines(report.remedies, call.address)) if call.remedies else []
    return [*lines, Safe(""), *steps] if steps else lines


def _group_answer(call: PendingCall, key: Key, *, remedies: bool = True) -> Pending:
    steps = call.address if call.remedies else None
    read, what_if = call.read_owner, call.what_if
    return group_answer(call.diagnoser, key, remedies=remedies, steps=steps, read_owner=read, what_if=what_if)


def _claim_answer(call: PendingCall, key: Key) -> Pending:
    report = claim_pending_report(call.diagnoser.claim(key), call.cluster.state, call.what_if)
    page = partial(claim_pending_page, report, call.now)
    return Answer("ClaimPendingReport", report, partial(claim_pending_summary, report), page)


def _print(call: PendingCall, answers: Sequence[Pending], *, single: bool = False) -> int:
    print_answers(answers, call.options, "PendingReportList", single=single)
    return _code(call, answers)


def _code(call: PendingCall, answers: Sequence[Pending]) -> int:
    if call.failed:
        return ExitCode.ERROR
    bad = any(_is_bad(each) and each.report.verdict != _UNKNOWN for each in answers)
    missing = any(item.decides for each in answers for item in each.report.missing)
    partial = missing or any(each.report.verdict == _UNKNOWN for each in answers)
    return finding_code(asked=call.options.exit_code, bad=bad, partial=partial)


def _is_bad(each: Pending) -> bool:
    """Whether something is wrong: also with a pod that runs, or goes, on a device that is not there any more."""
    if each.report.causes and each.report.causes[0].code is Code.DEVICE_VANISHED:
        return True
    # A pod that somebody deletes is none of our findings.
    deleted = each.report.verdict == "Deleting" and isinstance(each.report, PendingReport)
    if deleted and each.report.causes[0].code is Code.POD_BEING_DELETED:
        return False
    return each.report.verdict not in _GOOD
