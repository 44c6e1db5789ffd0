"""Why a pod is not tried: gates, claims that are missing or not its own, quotas, other schedulers."""

from __future__ import annotations

from typing import Final

from kubectl_dra.diagnosis import records
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.model.likeness import similar
from kubectl_dra.model.names import DEFAULT_SCHEDULER
from kubectl_dra.output.pending.gangs import elsewhere_sentence
from kubectl_dra.output.pending.go_errors import innermost
from kubectl_dra.output.pending.plugin_words import alignment_words, quota_words
from kubectl_dra.output.pending.quotas import quota_sentence
from kubectl_dra.output.pending.reasons.sentence import Sentence, object_name, with_detail
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.words import listed, plural, shortened
from kubectl_dra.scheduler.fit_error import without_idle_words, without_preemption

_ELSEWHERE: Final = 3
_USERS: Final = 3


def _gates(gates: records.Gates, _cause: records.Cause) -> Safe:
    return fmt(
        "it has the scheduling {} {}, which the controller that set {} has to remove",
        Safe(plural("gate", len(gates.names))),
        listed(gates.names),
        Safe("it" if len(gates.names) == 1 else "them"),
    )


def _claim_missing(entry: records.ClaimEntry, cause: records.Cause) -> Safe:
    if cause.claim is None:
        return fmt('it waits for ResourceClaim "{}", which does not exist', entry.entry)
    told = fmt('it waits for ResourceClaim "{}", which does not exist in its namespace', cause.claim.name)
    if any(ref.kind == "ResourceClaimTemplate" for ref in entry.similar):
        text = 'it names the ResourceClaim "{}", which does not exist: there is a ResourceClaimTemplate of that name'
        return fmt(text, cause.claim.name)
    return _but_elsewhere(told, entry, cause.claim.name)


def _not_served(entry: records.ClaimEntry, _cause: records.Cause) -> Safe:
    return fmt('the cluster does not serve resource.k8s.io, the API that its claim "{}" is of', entry.entry)


def _but_elsewhere(told: Safe, entry: records.ClaimEntry, name: str) -> Safe:
    """With the other namespaces that have an object of the name."""
    elsewhere = [ref.namespace for ref in entry.similar if ref.name == name]
    if not elsewhere:
        return told
    return fmt("{} (there is one in {}, for pods of that namespace only)", told, listed(elsewhere[:_ELSEWHERE]))


def _not_created(entry: records.ClaimEntry, _cause: records.Cause) -> Safe:
    told = fmt('its claim "{}" was not created from ResourceClaimTemplate "{}"', entry.entry, entry.template)
    text = "{}: kube-controller-manager, which does that within a second, does not run or is refused"
    return fmt(text, told) if entry.overdue else fmt("{} yet", told)


def _template_missing(entry: records.ClaimEntry, _cause: records.Cause) -> Safe:
    if any(ref.kind == "ResourceClaim" for ref in entry.similar):
        text = 'it names the ResourceClaimTemplate "{}", which does not exist: there is a ResourceClaim of that name'
        return fmt(text, entry.template)
    if any(ref.name == entry.template for ref in entry.similar):
        told = fmt('it needs ResourceClaimTemplate "{}", which does not exist in its namespace', entry.template)
        return _but_elsewhere(told, entry, entry.template)
    return fmt('it needs ResourceClaimTemplate "{}", which does not exist', entry.template)


def _creation_failed(entry: records.ClaimEntry, _cause: records.Cause) -> Safe:
    told = fmt('the controller cannot create its claim "{}" from template "{}"', entry.entry, entry.template)
    return fmt("{}: {}", told, innermost(entry.event_message)) if entry.event_message else told


def _admin_label(entry: records.ClaimEntry, _cause: records.Cause) -> Safe:
    text = (
        'its template "{}" requests admin access, and its namespace lacks the label {}=true, without which no claim is '
        "created"
    )
    return fmt(text, entry.template, entry.label)


def _deleting(entry: records.ClaimEntry, cause: records.Cause) -> Safe:
    told = fmt("its ResourceClaim {} is being deleted", object_name(cause.claim))
    users = [ref.name for ref in entry.consumers]
    if not users:
        return told
    use, keep = ("uses", "keeps") if len(users) == 1 else ("use", "keep")
    text = "{} and serves no new pod; {}, which still {} it, {} it from going"
    return fmt(text, told, shortened(users, _USERS), Safe(use), Safe(keep))


def _not_owned(entry: records.ClaimEntry, cause: records.Cause) -> Safe:
    owner = fmt("belongs to {} {}", entry.owner.kind, entry.owner.name) if entry.owner else Safe("has no owner")
    return fmt(
        "ResourceClaim {}, which its status names, does not belong to it: the claim {}", object_name(cause.claim), owner
    )


def _left_to(cause: records.Cause) -> Safe:
    match cause.detail:
        case records.SchedulerName(name=name, stopped=records.ObjectRef() as stopped):
            text = 'it names the scheduler "{}", and {} {}, which is called like it, has 0 replicas'
            return fmt(text, name, stopped.kind, stopped.key)
        case records.SchedulerName(name=name, words=words) if words:
            if (plain := quota_words(words) or alignment_words(words)) is not None:
                return fmt('its scheduler "{}" says that {}', name, plain)
            said = without_idle_words(without_preemption(words))
            return fmt('its scheduler "{}" says: {}', name, said.rstrip(". "))
        case records.SchedulerName(name=name):
            # One that contains the name is a scheduler of its own.
            # The last word is that of any scheduler's name.
            word, own = (text.removesuffix("-scheduler") for text in (name, DEFAULT_SCHEDULER))
            near = DEFAULT_SCHEDULER not in name and bool(similar(word, [own]))
            meant = fmt(" (did you mean {}?)", DEFAULT_SCHEDULER) if near else Safe("")
            text = 'it names the scheduler "{}"{}, which has to place it; the default scheduler ignores it'
            return fmt(text, name, meant)
        case records.GangElsewhere() as gang:
            return elsewhere_sentence(gang, cause)
    return Safe(cause.code.meaning)


SENTENCES: Final[dict[Code, Sentence]] = {
    Code.SCHEDULING_GATES: with_detail(records.Gates, _gates),
    Code.CLAIM_MISSING: with_detail(records.ClaimEntry, _claim_missing),
    Code.API_NOT_SERVED: with_detail(records.ClaimEntry, _not_served),
    Code.CLAIM_NOT_CREATED: with_detail(records.ClaimEntry, _not_created),
    Code.TEMPLATE_MISSING: with_detail(records.ClaimEntry, _template_missing),
    Code.CLAIM_CREATION_FAILED: with_detail(records.ClaimEntry, _creation_failed),
    Code.ADMIN_LABEL_MISSING: with_detail(records.ClaimEntry, _admin_label),
    Code.QUOTA_EXCEEDED: with_detail(records.QuotaShortage, lambda shortage, _: quota_sentence(shortage)),
    Code.CLAIM_BEING_DELETED: with_detail(records.ClaimEntry, _deleting),
    Code.CLAIM_NOT_OWNED: with_detail(records.ClaimEntry, _not_owned),
    Code.OTHER_SCHEDULER: _left_to,
}
