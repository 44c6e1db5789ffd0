"""What else happens when a way out is taken, and why one has no commands, in a line each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any, Final

from kubectl_dra.api.controllers import resource_of
from kubectl_dra.diagnosis.records import ObjectRef, Unspecified
from kubectl_dra.diagnosis.remedies.actions import EditGroup, MoveVolume
from kubectl_dra.diagnosis.remedies.outlook import Competition
from kubectl_dra.diagnosis.remedies.records import (
    CreateObject,
    EditClaim,
    RaiseQuota,
    RemoveTaintRule,
    Wait,
)
from kubectl_dra.diagnosis.rollouts import EditRollout
from kubectl_dra.output.pending.actions import shares
from kubectl_dra.output.pending.claim_edits import drops_condition
from kubectl_dra.output.pending.quotas import refused_unless
from kubectl_dra.output.pending.rollouts import missing_replicas
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.output.words import counted, every, kind_and_name, listed
from kubectl_dra.reports.invocations import kubectl, shell_line, within
from kubectl_dra.reports.pending import renewal
from kubectl_dra.reports.pending.missing_objects import MIN_COUNT, UNREAD_CLASS
from kubectl_dra.reports.pending.remedies import FileEdit, RemedyReport
from kubectl_dra.reports.pending.remedy_order import tolerates_as_the_pod

_VALUES: Final = 3
#: Fields whose keys have dots.
_QUOTED: Final = "spec.hard"
#: The words of a change name the request, and the field is long.
_CLAIMS: Final = ("ResourceClaim", "ResourceClaimTemplate")
_MEANT: Final = (
    "the pod has such a toleration, which counts for taints of nodes only: those of devices are tolerated in the "
    "request of the claim"
)
_SHARED: Final = (
    "a template makes a claim for each pod, which gets devices of its own; pods that name one claim share its devices, "
    "on one node"
)

_NEVER: Final = "if the pods of its Job wait for each other, as in distributed training, that one never ends"


def note_texts(remedy: RemedyReport) -> Iterator[Safe]:
    """One text for each consequence of a remedy, and for each note."""
    yield from (_what_it_gets(each) for each in remedy.actions if isinstance(each, EditClaim) and drops_condition(each))
    if any(isinstance(each, Wait) and each.own for each in remedy.actions):
        yield Safe(_NEVER)
    yield from (_less(each) for each in remedy.actions if isinstance(each, EditClaim) and each.less)
    if any(map(tolerates_as_the_pod, remedy.actions)):
        yield Safe(_MEANT)
    yield from (_ends(each) for each in remedy.actions if isinstance(each, RemoveTaintRule) and each.selected)
    if any(isinstance(each, CreateObject) and shares(each) for each in remedy.actions):
        yield Safe(_SHARED)
    yield from (_with_the_quota(each) for each in remedy.actions[-1:] if isinstance(each, RaiseQuota))
    yield from (_go_on_waiting(each) for each in remedy.actions if isinstance(each, EditGroup) and each.waiting)
    yield from (_of_a_set(each) for each in remedy.actions if isinstance(each, MoveVolume) and each.made_by)
    yield from (missing_replicas(each) for each in remedy.actions if isinstance(each, EditRollout))
    # Where it is known where what starts again goes, the phrase has it, or that it waits.
    told, taking = bool(starts_again(remedy)), remedy.competition
    if taking is not None and decides(taking) and (taking.may_be_lost or taking.untried_first or not told):
        yield _competition(taking)
    if remedy.then is not None and remedy.then.code is not None:
        yield fmt("then it meets {}: {}", remedy.then.code, remedy.then.code.meaning)
    yield from (_WORDS[type(note)](note) for note in remedy.notes if not isinstance(note, renewal.StartsAgain))
    edits = (step.edit for step in remedy.steps if step.edit is not None)
    yield from _places([edit for edit in edits if edit.field])


def starts_again(remedy: RemedyReport) -> tuple[str, ...]:
    """The nodes that have room for what is made in place of deleted pods, in their order; none where not known."""
    return next((note.nodes for note in remedy.notes if isinstance(note, renewal.StartsAgain)), ())


def ended_jobs(remedy: RemedyReport) -> set[ObjectRef]:
    """The Jobs that fail with the pods that are deleted: nothing starts those again."""
    notes = (note for note in remedy.notes if isinstance(note, renewal.CountsAsFailed))
    return {note.owner for note in notes if note.failed > note.limit}


def _places(edits: Sequence[FileEdit]) -> Iterator[Safe]:
    """Where the changes belong: each object once, with its fields."""
    for _, found in groupby(edits, key=lambda edit: (edit.at, edit.object)):
        first, *others = dict.fromkeys(map(_place, found))
        head = Safe(first.rpartition(": ")[0])
        fields = [each.removeprefix(f"{head}: ") for each in others if each != first]
        yield fmt("{} and {}", first, listed(list(map(Safe, fields)))) if fields else first


def _place(edit: FileEdit) -> Safe:
    """Where a change belongs."""
    whose = kind_and_name(edit.object)
    if edit.object.kind in _CLAIMS and edit.field.startswith("spec"):
        return fmt("{}: {}", edit.at, whose) if edit.at else fmt("in {}", whose)
    # The line is that at which the object begins.
    where = fmt("{} at {}", whose, edit.at) if edit.at else whose
    if isinstance(edit.value, dict) and edit.field.endswith(_QUOTED):
        return fmt('{}: {}["{}"]', where, edit.field, *edit.value)
    return fmt("{}: {}", where, edit.field)


def _what_it_gets(action: EditClaim) -> Safe:
    """Without a condition a pod gets any of the devices that it refused; values of one or of no device say nothing."""
    each_differs = len(action.offers) > _VALUES and all(each.devices == 1 for each in action.offers)
    if each_differs or not any(each.published for each in action.offers):
        number = sum(each.devices for each in action.offers)
        return fmt("it may then get any of {}", counted(number, "free device")) if number > 1 else Safe("")
    texts = [fmt("{} ({} free)", each.value, each.devices) for each in action.offers if each.published]
    texts += [fmt("one without it ({} free)", each.devices) for each in action.offers if not each.published]
    if len(texts) > _VALUES:
        texts = [*texts[:_VALUES], counted(len(texts) - _VALUES, "other")]
    return fmt("it may then get {}", listed(texts, "or"))


def _less(action: EditClaim) -> Safe:
    """What is given up: of two capacities in one device each."""
    texts = [
        fmt("{} of {} instead of {}", each.after, each.name.rpartition("/")[2], each.before) for each in action.less
    ]
    return fmt("each device then has only {}", listed(texts))


def _ends(action: RemoveTaintRule) -> Safe:
    """A rule for one device that names none taints, and its end frees, many more."""
    by = f" of pool {action.pool}" if action.pool else f" of driver {action.driver}" if action.driver else ""
    text = "all {}{} that it selects are then used again{}"
    # Nobody means to taint the devices of all drivers and nodes.
    narrow = Safe("" if by else "; to keep the taint where it is meant, name its driver, pool or device in the rule")
    return fmt(text, counted(action.selected, "device"), by, narrow)


def _go_on_waiting(action: EditGroup) -> Safe:
    """What the group then starts without."""
    one = action.waiting == 1
    text = "{} of its pods {} on waiting, and the others start without {}"
    return fmt(text, action.waiting, Safe("goes" if one else "go"), Safe("it" if one else "them"))


def _of_a_set(action: MoveVolume) -> Safe:
    """What the other pods get, as what a StatefulSet makes claims from can't be changed."""
    assert action.made_by is not None  # noqa: S101 - asked above
    text = (
        "of this pod only: volumeClaimTemplates cannot be changed; for the other pods delete StatefulSet {} with "
        "--cascade=orphan, and apply it with {}"
    )
    return fmt(text, action.made_by.name, action.size)


def _with_the_quota(action: RaiseQuota) -> Safe:
    """Where all of them run then, and whose business it is."""
    whose = Safe("usually only a cluster administrator may change quotas")
    if not action.nodes:
        return whose
    every = Safe("both") if action.pods == 2 else fmt("{} of them", action.pods)
    return fmt("{} would run, on {}; {}", every, listed(action.nodes), whose)


def decides(found: Competition) -> bool:
    """Whether it is said who takes what is freed: others do, or what is started again, which waits or comes later."""
    return found.may_be_lost or found.untried_first or (not found.before and found.after == found.again)


def _competition(found: Competition) -> Safe:
    """``2 other pods wait for the same; ml/a comes first``: what is freed is shared in the order of the queue."""
    if not found.before and found.after == found.again and not found.untried:
        return Safe("the scheduler tries this pod first, before the one that is started again")
    if found.taken_back:
        return Safe("the replacement is scheduled first and will probably take it")
    if found.untried_first and not found.count:
        longer = Safe("waits for longer" if found.untried == 1 else "wait for longer")
        return fmt("{} {}, and it is not known whether they take it", counted(found.untried, "other pod"), longer)
    pods = found.count - found.groups
    parts = [counted(pods, "other pod")] if pods else []
    parts += [counted(found.groups, "PodGroup" if parts else "other PodGroup")] if found.groups else []
    verb = Safe("waits" if found.count == 1 else "wait")
    least = Safe("at least " if found.untried else "")
    waiting = fmt("{}{} {} for the same", least, Safe(" and ").join(parts), verb)
    if found.lost is False and found.untried_first:
        return fmt("{}; more that wait for longer may take it", waiting)
    names = [str(ref.key) for ref in found.first]
    more = found.before - len(names)
    whose = listed([*names, f"{more} more"] if more else names)
    if found.lost is None:
        have = Safe("has" if found.before == 1 else "have")
        return fmt("{}; {} {} waited for as long, and may get it instead", waiting, whose, have)
    first = Safe("comes" if found.before == 1 else "come")
    return fmt("{}; {} {} first, and will probably take it", waiting, whose, first)


def _restarts(note: renewal.Restarts) -> Safe:
    return fmt("replaces all pods of {}", kind_and_name(note.owner))


def _starts_over(note: renewal.StartsOver) -> Safe:
    return fmt("deletes {} and creates it again; what it has finished is done again", kind_and_name(note.owner))


def _takes_all(note: renewal.TakesAll) -> Safe:
    text = "if {} only monitors devices, request them with adminAccess: true, which takes none"
    needs = [fmt("the label {}=true on namespace {}", note.label, note.owner.namespace)] if note.label else []
    needs += [fmt("the feature gate {}", note.gate)] if note.gate else []
    return fmt(text, kind_and_name(note.owner)) + (fmt("; this needs {}", listed(needs)) if needs else Safe(""))


def _counts_as_failed(note: renewal.CountsAsFailed) -> Safe:
    if note.failed > note.limit:
        return fmt("{} then fails: it may have {}", kind_and_name(note.owner), counted(note.limit, "failed pod"))
    return fmt("counts as failed pod {} of the {} that {} may have", note.failed, note.limit, kind_and_name(note.owner))


def _enough_for(note: renewal.EnoughFor) -> Safe:
    few = Safe("one") if note.pods == 1 else safe(str(note.pods))
    each = (
        fmt("; with {} each it is for {}", counted(note.each, "device"), every(note.waiting)) if note.each else Safe("")
    )
    return fmt("the quota is then enough for {} of the {} pods that wait{}", few, note.waiting, each)


def _unspecified(note: Unspecified) -> Safe:
    refused = refused_unless(note, "the new pod")
    return fmt("{}: must specify {} for: {}", refused, note.resource, ",".join(note.containers))


def _quotas_unread(_note: renewal.QuotasUnread) -> Safe:
    return Safe("a ResourceQuota may refuse the new objects: the quotas could not be read")


def _limits_unread(_note: renewal.LimitsUnread) -> Safe:
    return Safe("a LimitRange may forbid so small a request: LimitRanges could not be read")


def _autoscalers_unread(_note: renewal.AutoscalersUnread) -> Safe:
    return Safe("an autoscaler of that workload would undo it: autoscalers were not read")


def _one_of_several(note: renewal.OneOfSeveral) -> Safe:
    if note.kind == MIN_COUNT:
        text = "its manifest has {} {}, the pods that name it so far; change that where more have to start together"
        return fmt(text, note.kind, note.chosen)
    if note.chosen == UNREAD_CLASS:
        return fmt("put the name of a DeviceClass in place of {}; which there are could not be read", note.chosen)
    of = fmt(", one of {}", note.count) if note.count else Safe("")
    return fmt("its manifest names {} {}{}; change that where another is meant", note.kind, note.chosen, of)


def comes_with(note: renewal.ComesWith) -> Safe:
    """``as it comes with NVIDIA's DRA driver (…) with SETTING, whose driver … publishes no devices here``."""
    setting = fmt(" with {}", note.setting) if note.setting and not note.devices else Safe("")
    there = Safe("may publish some" if note.devices is None else "publishes no devices")
    there = fmt("publishes {}", counted(note.devices, "device")) if note.devices else there
    if not note.project:
        return fmt("for driver {}, whose attributes the request reads, and which {} here", note.driver, there)
    return fmt("as it comes with {}{}, whose driver {} {} here", note.project, setting, note.driver, there)


def _no_command(note: renewal.NoCommand) -> Safe:
    owner, field = kind_and_name(note.owner), safe(note.field)
    match note.why:
        case renewal.Hindrance.UNKNOWN_KIND:
            return fmt("no command: change {} in the pod template of {}, then delete the pod", field, owner)
        case renewal.Hindrance.NOT_READABLE:
            return fmt("no command: {} could not be read{}", owner, _may_get(note.owner))
        case renewal.Hindrance.NOT_READ:
            return fmt("no command: {} makes the pod and was not read", owner)
        case renewal.Hindrance.NOT_IN_TEMPLATE:
            return fmt("no command: {} is not in the pod template of {}; something else adds it", field, owner)


def _may_get(owner: ObjectRef) -> Safe:
    resource = resource_of(owner.kind)
    line = shell_line(kubectl("auth", "can-i", "get", resource, within(owner.namespace))) if resource else ""
    return fmt(" ({})", line) if line else Safe("")


def fit_then(note: renewal.FitThen) -> Safe:
    """How many copies fit with a way out: ``all 8``, ``5 of 8``."""
    if note.copies < note.wanted:
        return fmt("{:,} of {:,}", note.copies, note.wanted)
    return every(note.wanted)


def _fit_then(note: renewal.FitThen) -> Safe:
    parts = []
    if note.wanted > 1:
        parts.append(fmt("then {} {}", fit_then(note), Safe("fits" if note.copies == 1 else "fit")))
    if note.nodes:
        parts.append(fmt("with {} such nodes all do", note.nodes))
    if note.more:
        parts.append(fmt("with {} like {} all do", counted(note.more, "more node"), note.like))
    if note.most:
        text = "{:,} of up to {:,} {}" if parts else "then {:,} of up to {:,} {}"
        parts.append(fmt(text, note.grown, note.most, Safe("fits" if note.grown == 1 else "fit")))
    if note.rest:
        parts.append(Safe("the rest of the files then fits as well"))
    return Safe("; ").join(parts)


_WORDS: Final[dict[type, Callable[[Any], Safe]]] = {
    renewal.Restarts: _restarts,
    renewal.StartsOver: _starts_over,
    renewal.OneOfSeveral: _one_of_several,
    renewal.ComesWith: comes_with,
    renewal.CountsAsFailed: _counts_as_failed,
    renewal.EnoughFor: _enough_for,
    renewal.TakesAll: _takes_all,
    renewal.FitThen: _fit_then,
    renewal.NoCommand: _no_command,
    renewal.QuotasUnread: _quotas_unread,
    renewal.LimitsUnread: _limits_unread,
    renewal.AutoscalersUnread: _autoscalers_unread,
    Unspecified: _unspecified,
}
