"""Remedies with the steps that the API allows: commands as words, manifests as objects. Nothing is executed.

Specs of claims and templates are immutable, so an edit replaces the object: ``kubectl replace --force`` deletes and
creates. A pending pod keeps waiting for a claim of that name. A claim made from a template goes with its pod, which is
made anew: resourceclaim-controller remembers a claim that was deleted, and makes no other for the same pod. Pod specs
are immutable too; how pods are made anew, their owners decide (:mod:`~kubectl_dra.reports.pending.renewal`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec

from kubectl_dra.api.encode import encode
from kubectl_dra.api.kinds import RESOURCE_CLAIM
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.needs import LIMITS
from kubectl_dra.diagnosis.pod.workloads import Owners, ReadOwner
from kubectl_dra.diagnosis.records import ObjectRef, PodDiagnosis
from kubectl_dra.diagnosis.remedies import (
    Proposal,
    Tried,
    find,
    quotas,
    raised_quota,
    records,
    scalable,
    worth_telling,
)
from kubectl_dra.diagnosis.remedies.actions import MoveVolume, ScaleDown
from kubectl_dra.diagnosis.remedies.changes import Change
from kubectl_dra.diagnosis.remedies.claim_instead import spec_of
from kubectl_dra.diagnosis.remedies.outlook import Competition, Prospect
from kubectl_dra.diagnosis.remedies.pod_edits import lowers
from kubectl_dra.diagnosis.remedies.together import as_if_ours, made_alike
from kubectl_dra.model.ids import Key
from kubectl_dra.model.resource import ResourceClaim
from kubectl_dra.reports.base import ReportRecord
from kubectl_dra.reports.invocations import Words, changing, dra, kubectl, of, plain_word
from kubectl_dra.reports.pending.claim_manifests import (
    claim_version,
    edited_template,
    new_claim,
    new_template,
    replaceable,
    unallocated,
)
from kubectl_dra.reports.pending.missing_objects import skeleton
from kubectl_dra.reports.pending.monitors import taking_all
from kubectl_dra.reports.pending.remedy_commands import COMMANDS
from kubectl_dra.reports.pending.remedy_order import asks_for_less, rank
from kubectl_dra.reports.pending.renewal import (
    AutoscalersUnread,
    EnoughFor,
    FitThen,
    LimitsUnread,
    Note,
    QuotasUnread,
    Renewal,
    StartsAgain,
    counted_as_failed,
    remade_claim,
)
from kubectl_dra.reports.pending.reservations import end_of_users
from kubectl_dra.reports.pending.settled import settled

#: Actions that are taken when everything else is done.
_LAST: Final = (records.DeletePod, records.RestartPods)
#: How many of several pods fit after changes; None where that was not counted.
Afterwards = Callable[[Sequence[records.Action], Sequence[Change]], FitThen | None]


class FileEdit(ReportRecord, frozen=True):
    """What to write in a manifest that stands ``at`` a line of a file: a ``value`` in a field; None: remove it.

    Without a ``field`` the value is a whole object that is new, to stand beside what is ``at`` that line.
    """

    object: ObjectRef
    at: str
    field: str
    value: Any = None


class Step(ReportRecord, frozen=True):
    """One thing to do: commands, each reading the output of the one before, the first one reading ``manifest``.

    Or an ``edit`` of what only a file has.
    """

    commands: tuple[Words, ...]
    manifest: dict[str, Any] | None = None
    edit: FileEdit | None = None


class RemedyReport(ReportRecord, frozen=True):
    """A remedy and how to carry it out; no steps where only a person knows how (a driver, a new device).

    ``competition``: who else waits for the same, if any; ``then``: what the pod meets where it only gets into the
    queue; ``notes``: what else happens, and why there are no commands. ``has_steps``: also where they were
    not asked for, and ``steps`` is left out of a document.
    """

    kind: records.RemedyKind
    actions: tuple[records.Action, ...]
    verified: bool
    nodes: tuple[str, ...]
    steps: tuple[Step, ...]
    competition: Competition | None = None
    then: Prospect | None = None
    notes: tuple[Note, ...] = ()
    has_steps: bool = False

    def without_steps(self) -> RemedyReport:
        """What would help, and not how it is done."""
        return msgspec.structs.replace(self, steps=())


class FoundRemedies(ReportRecord, frozen=True):
    """The ways out in the order of their numbers: verified ones first, then by what they change, the cheapest first.

    ``no_pair_helps``: two changes at a time were tried too, and none of them helps. ``additions``: what new devices or
    a new node would do. ``tried``: how many changes were tried.
    """

    remedies: tuple[RemedyReport, ...] = ()
    no_pair_helps: bool = False
    additions: tuple[RemedyReport, ...] = ()
    tried: Tried = Tried()


def find_remedies(
    state: ClusterState,
    diagnosis: PodDiagnosis,
    *,
    keep: Collection[Key] = (),
    read_owner: ReadOwner | None = None,
    then: Afterwards | None = None,
) -> FoundRemedies:
    """What could be done about a pod, without deleting the pods to ``keep`` or making them anew.

    ``read_owner`` gets owners of pods that the Inventory does not have. ``then``: what else comes of changes.
    """
    owners = Owners(state.inventory, read_owner)
    asked = as_if_ours(state, diagnosis)
    found = find(asked.state, asked.diagnosis, keep={*keep, *asked.keep}, owners=owners)

    def reports(proposals: Iterable[Proposal]) -> tuple[RemedyReport, ...]:
        told = settled(state, asked.diagnosis.pod.key, owners, proposals)
        made = (_Steps(state, asked.diagnosis, owners, proposal, keep, then).report() for proposal in told)
        return tuple(sorted(made, key=lambda each: _order(state, each)))

    return FoundRemedies(
        reports(worth_telling(found.proposals)),
        found.none_of_size_two,
        reports(found.additions),
        found.searched,
    )


class _Steps:
    """The steps of one remedy in the order in which they are taken: objects, then pods anew, each once.

    Pods are deleted for it last: what they free would be taken by others before this pod could use it.
    """

    def __init__(
        self,
        state: ClusterState,
        diagnosis: PodDiagnosis,
        owners: Owners,
        proposal: Proposal,
        keep: Collection[Key],
        then: Afterwards | None = None,
    ) -> None:
        self._state = state
        self._diagnosis = diagnosis
        self._pod = diagnosis.pod.key
        self._owners = owners
        self._proposal = proposal
        self._keep = keep
        self._then = then
        self._edits: dict[Key, list[records.EditPod]] = {}
        self._edited: set[ObjectRef] = set()
        self._notes: list[Note] = []

    def report(self) -> RemedyReport:
        remedy = self._proposal.remedy
        found = [self._of(action) for action in remedy.actions if not isinstance(action, _LAST)]
        found += [self._renewed(key) for key in self._edits if key not in self._keep]
        found += [self._of(action) for action in remedy.actions if isinstance(action, _LAST)]
        complete = all(steps is not None for steps in found)
        made = [step for each in found if each is not None for step in each] if complete else []
        address = self._state.evidence.address
        steps = tuple(Step(tuple(changing(words, address) for words in each.commands), each.manifest) for each in made)
        if not remedy.verified and quotas.are_unread(
            self._state, self._state.inventory.pods[self._pod], remedy.actions
        ):
            self._notes.append(QuotasUnread())
        lower = any(isinstance(each, records.EditPod) and lowers(each) for each in remedy.actions)
        if lower and not self._state.evidence.complete(LIMITS.kind, self._pod.namespace):
            self._notes.append(LimitsUnread())
        if scalable.may_be_scaled_back(self._state.evidence, remedy.actions):
            self._notes.append(AutoscalersUnread())
        self._notes += quotas.unspecified(self._state, remedy.actions)
        fit = self._then(remedy.actions, self._proposal.changes) if self._then is not None and remedy.verified else None
        shared = raised_quota.enough_for(self._state, self._diagnosis, remedy.actions, self._proposal.changed)
        self._notes += [fit] if fit is not None else [EnoughFor(*shared)] if shared is not None else []
        self._notes += self._of_the_deleted(remedy)
        return RemedyReport(
            remedy.kind,
            remedy.actions,
            remedy.verified,
            remedy.nodes,
            steps,
            remedy.competition if remedy.competition.count or remedy.competition.untried else None,
            remedy.then,
            tuple(dict.fromkeys(self._notes)),
            bool(steps),
        )

    def _of_the_deleted(self, remedy: records.Remedy) -> Iterator[Note]:
        """Where what is made in their place goes, and what their end means to a Job."""
        if remedy.returns:
            yield StartsAgain(remedy.returns)
        yield from taking_all(self._state, remedy.actions)
        for action in remedy.actions:
            pod = self._state.inventory.pods.get(action.pod.key) if isinstance(action, records.DeletePod) else None
            job = next((each for each in self._owners.of(pod) if each.ref.kind == "Job"), None) if pod else None
            if job is not None and job.object is not None:
                yield counted_as_failed(job.ref, job.object)

    def _of(self, action: records.Action) -> Sequence[Step] | None:
        """The steps of one action, without those that make its pod anew; None where no command could take them."""
        if isinstance(action, records.EditPod):
            for pod in (action.pod, *action.also):
                self._edits.setdefault(pod.key, []).append(action)
            return ()
        if isinstance(action, records.RenewClaim):
            self._edits.setdefault(action.pod.key, [])
            return ()
        if isinstance(action, records.TaintDevice):
            if action.pod is not None:
                self._edits.setdefault(action.pod.key, [])
            words = dra("taint-device", plain_word(action.device), f"{action.key}:NoSchedule")
            return None if words is None else (Step((words,)),)
        if isinstance(action, records.EditClaim):
            return self._of_claim(action)
        if isinstance(action, records.CreateObject):
            return self._created(action)
        if isinstance(action, records.EndReservations):
            ended = end_of_users(action, self._state)
            return None if ended is None else (Step((ended,)),)
        if isinstance(action, MoveVolume) and not action.volume:
            pipe = remade_claim(action)
            return None if pipe is None else (Step(pipe),)
        if isinstance(action, records.RestartPods):
            return _restarted(action)
        make = COMMANDS.get(type(action))
        words = None if make is None else make(action)
        return None if words is None else (Step((words,)),)

    def _created(self, action: records.CreateObject) -> Sequence[Step] | None:
        """The missing object as far as it is clear what it should be."""
        version, ref = claim_version(self._state), action.ref
        if version is None or of(ref.kind, ref.name, ref.namespace) is None:
            return None
        words = kubectl("create", "-f", "-")
        if action.like is not None:
            claim = self._state.inventory.claims.get(action.like.key)
            new = new_claim if ref.kind == "ResourceClaim" else new_template
            made_from = None if claim is None else new(ref, claim, version)
            return (Step((words,), made_from),) if words is not None and made_from is not None else None
        if action.device_class and words is not None:
            return (Step((words,), new_template(ref, ResourceClaim(spec=spec_of(action)), version)),)
        found = skeleton(ref, action.extended_resource, self._state, version)
        if found is None or words is None:
            return None
        made, guess = found
        if guess is not None:
            self._notes.append(guess)
        return (Step((words,), made),)

    def _of_claim(self, action: records.EditClaim) -> Sequence[Step] | None:
        changed, version = self._proposal.changed, claim_version(self._state)
        claim = changed.claims.get(action.claim.key) if changed is not None else None
        if claim is None or version is None or of("resourceclaim", action.claim.name, action.claim.namespace) is None:
            return None
        edited = action.template or action.claim
        if edited in self._edited:
            return ()  # another action on the same object, which has all changes already
        self._edited.add(edited)
        if action.template is None:
            body = encode(unallocated(claim), RESOURCE_CLAIM, RESOURCE_CLAIM.api_version_of(version))
            return (_replace(json.loads(body)),)
        template = self._state.inventory.templates.get(action.template.key)
        if template is None or of("resourceclaimtemplate", action.template.name) is None:
            return None
        for pod in (self._pod, *made_alike(self._state, self._pod, action.template.name)):
            self._edits.setdefault(pod, [])
        return (_replace(edited_template(template, claim, version)),)

    def _renewed(self, key: Key) -> Sequence[Step] | None:
        pod = self._state.inventory.pods.get(key)
        if pod is None:
            return None
        renewal = Renewal(pod, self._owners.of(pod), self._edits[key])
        self._notes += renewal.notes
        return tuple(map(Step, renewal.pipes)) or None


def harm(state: ClusterState, remedy: RemedyReport) -> tuple[int, int]:
    """What the end of other pods costs: nothing where they find another place, most where nothing starts them again.

    Of the same cost, by the priority of the most important of them.
    """
    deleted = [action for action in remedy.actions if isinstance(action, records.DeletePod)]
    pods = (state.inventory.pods.get(action.pod.key) for action in deleted)
    priority = max((pod.spec.priority or 0 for pod in pods if pod is not None), default=0)
    if any(action.recreated_by is None for action in deleted):
        return 2, priority
    again = next((note.nodes for note in remedy.notes if isinstance(note, StartsAgain)), ("",))
    lost = bool(deleted) and not all(again)
    return int(lost or any(isinstance(action, ScaleDown) for action in remedy.actions)), priority


def _order(state: ClusterState, remedy: RemedyReport) -> tuple[object, ...]:
    """What is sure first, then by what it changes, by how much it harms, and by how many fit with it."""
    fit = next((note.copies for note in remedy.notes if isinstance(note, FitThen)), 0)
    actions = remedy.actions
    return not remedy.verified, rank(actions), asks_for_less(actions), harm(state, remedy), -fit


def _restarted(action: records.RestartPods) -> Sequence[Step] | None:
    """To none and back, and in between until the old pod is gone: else nobody sees that there were to be none."""
    workload = of(action.workload.kind.lower(), action.workload.name, action.workload.namespace)
    words = (
        kubectl("scale", workload, "--replicas=0"),
        kubectl("wait", "--for=delete", of("pod", action.pod.name, action.pod.namespace), "--timeout=5m"),
        kubectl("scale", workload, f"--replicas={action.replicas}"),
    )
    steps = tuple(Step((each,)) for each in words if each is not None)
    return steps if len(steps) == len(words) else None


def lacks_a_name(remedy: RemedyReport) -> bool:
    """Whether there are no steps because an object has a name that the API can't hold."""
    return not remedy.steps and any(map(_is_unnameable, remedy.actions))


def _is_unnameable(action: records.Action) -> bool:
    if isinstance(action, records.RepairPool) and not action.slice_name:
        return False
    if (make := COMMANDS.get(type(action))) is not None:
        return make(action) is None
    named = (getattr(action, name) for name in action.__struct_fields__)
    refs = (each for each in named if isinstance(each, ObjectRef))
    return any(of(ref.kind.lower(), ref.name, ref.namespace) is None for ref in refs)


def _replace(manifest: dict[str, Any]) -> Step:
    return Step((("kubectl", "replace", "--force", "-f", "-"),), replaceable(manifest))
