"""What why-pending says of objects that were named."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from kubectl_dra.api.controllers import INDIRECT, MAKERS
from kubectl_dra.api.kinds import BY_NAME, POD, POD_GROUP, RESOURCE_CLAIM, Kind
from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.shared.errors import CommandError
from kubectl_dra.commands.shared.live import with_queues
from kubectl_dra.commands.shared.makers import with_maker
from kubectl_dra.commands.shared.not_found import key_not_found, not_there
from kubectl_dra.commands.shared.show import console, is_document, print_answers, print_pages, tell
from kubectl_dra.commands.shared.types import ObjectArg, ObjectArgs, is_any_owner
from kubectl_dra.commands.shared.unread import noted_around, nothing_read
from kubectl_dra.commands.why_pending.groups import Pending, not_served
from kubectl_dra.commands.why_pending.one_per_line import pod_list
from kubectl_dra.commands.why_pending.other_kinds import of_another_kind, pods_of_any
from kubectl_dra.commands.why_pending.single import (
    PendingCall,
    claim_answer,
    code_of_answers,
    idle_answer,
    lacking,
    pod_answer,
    pod_group_answer,
    refused_answer,
)
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.gates.makers import refusal_of_workload
from kubectl_dra.diagnosis.gates.pending import is_pending
from kubectl_dra.diagnosis.pod.idle import held
from kubectl_dra.diagnosis.pod.workloads import resolve_workload
from kubectl_dra.diagnosis.records import GangElsewhere, MakerRefusal, ObjectRef, Verdict
from kubectl_dra.diagnosis.said import events, kubelet
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.headline import pending_summary
from kubectl_dra.output.pending.idle import ailing_sentence
from kubectl_dra.output.pending.made import refused_advice, refused_sentence
from kubectl_dra.output.pending.remedies import remedy_lines
from kubectl_dra.output.safe import Safe, Style, fmt, styled
from kubectl_dra.output.unread import incomplete_lines, lacking_lines, rights_lines
from kubectl_dra.output.words import ago, counted, plural, shortened, without_names
from kubectl_dra.reports.invocations import dra, of, shell_line, try_kubectl, within
from kubectl_dra.reports.pending.ailing import AilingWorkload, ailing_workload
from kubectl_dra.reports.pending.pending import ClaimPendingReport, PendingReport
from kubectl_dra.reports.unread import PENDING_PODS, missing_rights, together, unread

_ALL: Final = ("kubectl", "dra", "why-pending", "-A")
# Of a claim that many pods wait for, the first few tell the story.
_WAITING_SHOWN: Final = 3
_SET: Final = "StatefulSet"
#: What stands between a workload and its pods.
_BETWEEN: Final = {"Deployment": "ReplicaSet", "CronJob": "Job"}


def named(call: PendingCall, targets: ObjectArgs) -> int:
    """One object that is missing does not hide the others."""
    answers: list[Pending] = []
    for target in targets.named:
        try:
            found = list(_answers(call, target))
            # Commands and lines of names are of each pod.
            each_alone = is_document(call.options) or call.remedies or call.options.output == "name"
            answers.extend(found if each_alone else one_of_each(found))
        except CommandError as problem:
            if targets.single is not None:
                raise
            call.failed = True
            tell(problem, call.options)
    with noted_around(call.unlisted, call.options, call.address):
        _print(call, targets, answers)
    return code_of_answers(call, answers)


def _print(call: PendingCall, targets: ObjectArgs, answers: Sequence[Pending]) -> None:
    pods = [each.report for each in answers if isinstance(each.report, PendingReport)]
    waiting = [report for report in pods if report.verdict not in (Verdict.NOT_PENDING, Verdict.ENDED)]
    if call.options.output == "name":
        print_pages([pod_list(waiting, call.now, "name", "")], call.options)
        return
    single = targets.single is not None and not targets.single.kind.workload
    if len(answers) > 1 and not is_document(call.options):
        _print_pages(call, answers)
        return
    summary = None
    if 1 < len(pods) == len(answers):
        summary = fmt("{} of {} {} pending.", len(waiting), counted(len(pods), "pod"), Safe(plural("is", len(waiting))))
    print_answers(answers, call.options, "PendingReportList", "object", single=single, summary=summary)


def _print_pages(call: PendingCall, answers: Sequence[Pending]) -> None:
    """Several pages, and around all of them what any of them lacks."""
    missing = together((), (item for each in answers for item in lacking(each.report))).missing
    call.told = True
    around = (list(incomplete_lines(missing)), list(rights_lines(missing, call.address)))
    print_pages(filter(None, (around[0], *(each.page() for each in answers), around[1])), call.options)


def only_pod(call: PendingCall, targets: ObjectArgs) -> PendingReport:
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
        claim = claim_answer(call, key, alone=True)
        yield claim
        if isinstance(claim.report, ClaimPendingReport) and not is_document(call.options):
            yield from (pod_answer(call, pod.key) for pod in claim.report.waiting_pods[:_WAITING_SHOWN])
    elif target.kind is POD:
        if key not in inventory.pods:
            raise _not_found(call, target.kind, key, inventory.pods)
        yield pod_answer(call, key)
    elif target.kind is POD_GROUP:
        groups = inventory.groups.pod_groups
        if key not in groups:
            problem = not_served(call.cluster.state.evidence)
            raise problem or _not_found(call, target.kind, key, groups)
        yield pod_group_answer(call, key)
    elif is_any_owner(target.kind):
        pods = pods_of_any(call.cluster.state, target.kind.name, key, call.read_owner)
        pending = [each for each in pods if is_pending(inventory.pods[each])]
        if not pending:
            console(call.options).note(fmt("note: {} {} has no pending pods", target.kind.name, str(key)))
        yield from (pod_answer(call, each) for each in pending)
    else:
        yield from _workload_answers(call, target.kind, key)


def _workload_answers(call: PendingCall, kind: Kind, key: Key) -> Iterator[Pending]:
    read = call.read_owner if kind.name in INDIRECT else None
    pods = resolve_workload(call.cluster.state.inventory, kind.name, key, read)
    state = with_maker(call.options, call.cluster.state, kind, key, has_pods=bool(pods))
    known = [Key(namespace, name) for (of, namespace, name) in state.inventory.workloads if of == kind.name]
    if not pods and key not in known and kind not in MAKERS:
        raise _not_found(call, kind, key, known)
    if not pods:
        _check_between(call, state, kind, key)
    pending = [key_of(pod.metadata) for pod in pods if is_pending(pod)]
    found = unread(state, PENDING_PODS, key.namespace, shown=bool(pending))
    if not found.answered:
        raise nothing_read(found, call.options, call.address)
    if found.objects:
        call.unlisted += found.objects
    elif not pending:
        waits = _idle(call, state, kind, key) if not pods else None
        if waits is not None:
            yield waits
            return
        failed = kubelet.last_rejected(pods)
        if failed is not None:
            yield pod_answer(call, failed)
            return
        refused = refusal_of_workload(state, ObjectRef.of(kind.name, key), pods)
        if refused is not None:
            yield refused_answer(call, state, ObjectRef.of(kind.name, key), refused)
            return
        # Upstream: pkg/controller/statefulset/stateful_set_control.go, processReplica: until then nothing has its name.
        leaving = [key_of(pod.metadata) for pod in pods if kind.name == _SET and pod.metadata.deletion_timestamp]
        ailing = leaving or [key_of(pod.metadata) for pod in pods if kubelet.is_unwell(pod)]
        if ailing:
            yield from _ailing(call, ailing_workload(state.inventory, ObjectRef.of(kind.name, key), pods), ailing)
            return
        ended = idle_answer(call, state, kind, key)
        if ended is not None:
            yield ended
            return
        console(call.options).note(fmt("note: {} {} has no pending pods", kind.name, str(key)))
    yield from _pending(call, state, ObjectRef.of(kind.name, key), pods)


def _pending(call: PendingCall, state: ClusterState, ref: ObjectRef, pods: Sequence[Pod]) -> Iterator[Pending]:
    """The pods that wait, below how far the workload is where they wait for different things or do not all exist."""
    answers = [pod_answer(call, key_of(pod.metadata)) for pod in pods if is_pending(pod)]
    known = state.evidence.complete(POD.name, ref.namespace)
    workload = ailing_workload(state.inventory, ref, pods)
    different = len(one_of_each(answers)) > 1
    if answers and known and workload.wanted is not None and (different or workload.missing):
        refused = refusal_of_workload(state, ref, pods) if workload.missing else None
        answers[0] = _below(answers[0], [*wrapped(styled(ailing_sentence(workload), Style.BOLD)), *_why(call, refused)])
    yield from answers


def _why(call: PendingCall, refused: MakerRefusal | None) -> Iterator[Safe]:
    """Why pods are not created."""
    if refused is not None:
        yield from wrapped(fmt("{}.", refused_sentence(refused).rstrip(".")))
        yield from refused_advice(refused, call.address)


def _below(answer: Pending, head: Sequence[Safe]) -> Pending:
    return replace(answer, page=lambda: [*head, Safe(""), *answer.page()])


def _check_between(call: PendingCall, state: ClusterState, kind: Kind, key: Key) -> None:
    """Raises ``CommandError`` where pods are there whose controllers, unread, may be those of the workload."""
    between = _BETWEEN.get(kind.name, "")
    lacking = missing_rights(state.evidence, (between,), key.namespace) if between else ()
    known, here = state.inventory.workloads, state.inventory.pods.values()
    owners = (pod.metadata.controller for pod in here if pod.metadata.namespace == key.namespace)
    names = (each.name for each in owners if each is not None and each.kind == between)
    unknown = any((between, key.namespace, name) not in known for name in names)
    if lacking and unknown:
        what = f"which pods {kind.name} {key} has is unknown: {between} could not be read"
        hint = try_kubectl("auth", "can-i", "list", BY_NAME[between].resource, within(key.namespace))
        raise CommandError(what, hint, details=lacking_lines(lacking, call.address))


def _ailing(call: PendingCall, workload: AilingWorkload, pods: Sequence[Key]) -> Iterator[Pending]:
    """The pods that do not do their work, below how many of the workload do."""
    first, *others = one_of_each([pod_answer(call, each) for each in pods])
    yield _below(first, wrapped(styled(ailing_sentence(workload), Style.BOLD)))
    yield from others


def _idle(call: PendingCall, state: ClusterState, kind: Kind, key: Key) -> Pending | None:
    by = held(state, kind.name, key)
    if by is not None and (by.suspended_by or by.managed_by) and by.queue:
        state = with_queues(call.options, state, key.namespace)
    return idle_answer(call, state, kind, key)


def _not_found(call: PendingCall, kind: Kind, key: Key, known: Iterable[Key]) -> CommandError:
    meant, evidence = of_another_kind(call.cluster.state, kind, key), call.cluster.state.evidence
    if meant is not None and (kind is not POD or evidence.complete(POD.name, key.namespace)):
        return CommandError(not_there(kind, key), shell_line(meant))
    if kind is POD and (gone := _gone(call, key)) is not None:
        return gone
    return key_not_found(kind, key, known, evidence, ("why-pending",))


def _gone(call: PendingCall, key: Key) -> CommandError | None:
    """Of a pod that was there: its last event, and which pod its controller has made in its place."""
    inventory = call.cluster.state.inventory
    about = inventory.events_by_object.get((POD.name, *key), ())
    last = max(about, key=events.last_seen, default=None)
    if last is None or not call.cluster.state.evidence.complete(POD.name, key.namespace):
        return None
    said = " ".join(events.text(last).split())
    what = f"{not_there(POD, key)}: it is gone; its last event, {ago(events.last_seen(last), call.now)}: {said}"
    maker = key.name.rpartition("-")[0]
    pods = (pod.metadata for pod in inventory.pods.values() if is_pending(pod))
    alike = sorted(
        meta.name
        for meta in pods
        if meta.namespace == key.namespace and meta.controller is not None and meta.controller.name == maker
    )
    instead = of(POD.singular, alike[0], key.namespace) if alike else within(key.namespace)
    return CommandError(what, shell_line(dra("why-pending", instead)))


# --- pods that say the same -------------------------------------------------------------------------------------------

_NAMES = 5


def one_of_each(answers: Sequence[Pending]) -> list[Pending]:
    """The first of those that differ only in the names of the pod and its claims, with the names of the others."""
    groups: dict[object, list[Pending]] = {}
    for each in answers:
        alike = _told(each.report) if isinstance(each.report, PendingReport) else id(each)
        groups.setdefault(alike, []).append(each)
    return [_with_others(group) for group in groups.values()]


def _told(report: PendingReport) -> tuple[object, ...]:
    """What the page says, without the names of this pod and its claims."""
    gang = report.causes[0].detail if report.causes else None
    if report.code is Code.OTHER_SCHEDULER and isinstance(gang, GangElsewhere) and (gang.name or gang.application):
        # What is said is of the gang; only its newest words may be of one pod.
        return report.pod.namespace, gang.system, gang.name, gang.application
    if report.group is not None and report.code is Code.POD_GROUP_UNPLACED:
        # Its words name the pod that finds no node, and those that it would have to share devices with.
        return report.pod.namespace, report.verdict, report.group.group
    names = [*(ask.name for ask in report.asks), report.pod.name]
    ways = without_names(names, remedy_lines(report.remedies, report.verdict))
    return (
        report.pod.namespace,
        report.code,
        report.verdict,
        report.agreement,
        without_names(names, [pending_summary(report)]),
        ways,
    )


def _with_others(group: Sequence[Pending]) -> Pending:
    first, others = group[0], [each.report.pod.name for each in group[1:] if isinstance(each.report, PendingReport)]
    if not others:
        return first
    text = fmt("The same holds for {}: {}.", counted(len(others), "other pod"), shortened(others, _NAMES))
    return replace(first, page=lambda: [*first.page(), Safe(""), *wrapped(text)])
