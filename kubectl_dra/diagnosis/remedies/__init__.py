"""The smallest changes after which a pod would fit, each tried on the changed cluster, ranked by what they ask.

Each comes with the changed Inventory, from which the manifest of an edited claim can be taken. Everything is computed,
nothing is done.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from operator import attrgetter
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis import classic
from kubectl_dra.diagnosis.codes import Family
from kubectl_dra.diagnosis.gangs.groups import pods_of
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.pod.open_plugins import open_plugins
from kubectl_dra.diagnosis.pod.workloads import Owners
from kubectl_dra.diagnosis.records import ObjectRef, PodDiagnosis, Verdict
from kubectl_dra.diagnosis.remedies import (
    adding,
    amounts,
    company,
    edits,
    evicting,
    freeing,
    objects,
    offers,
    on_node,
    other_profile,
    own_claim,
    quotas,
    raised_quota,
    rolling,
    scaling,
    selectors,
    shared_claim,
    stale,
    storage,
    taint_rules,
    together,
    within_quota,
)
from kubectl_dra.diagnosis.remedies.candidate import COMBINABLE, FIRST, OF_ONE_POD, Candidate, Case, is_same, merged
from kubectl_dra.diagnosis.remedies.changes import Change
from kubectl_dra.diagnosis.remedies.competition import Competing
from kubectl_dra.diagnosis.remedies.outlook import Competition, Prospect
from kubectl_dra.diagnosis.remedies.proposals import (
    Proposal,
    Proposals,
    Tried,
    holds,
    is_wait,
    ranked,
    untried,
    wanted,
    worth_telling,
)
from kubectl_dra.diagnosis.remedies.records import (
    Action,
    DeletePod,
    EditClaim,
    EditPod,
    Remedy,
    RemedyKind,
)
from kubectl_dra.diagnosis.remedies.trial import Result, Trials
from kubectl_dra.diagnosis.said import foreign
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of

_LIMIT: Final = 8
_PER_KIND: Final = 4
_PAIRS_OF_LARGE: Final = 2
_MAX_PARTS: Final = 8
_ADDITIONS: Final = 2
_LARGE: Final = 1_000
_NODES_ASKED: Final = 40
_cost: Final = attrgetter("cost")
# Rather anything else than what others take first; but before what only new hardware can do.
_LOST_COST: Final = 25
_TRIED: Final = frozenset({Verdict.SCHEDULER_ERROR, Verdict.UNSCHEDULABLE, Verdict.GATED, Verdict.OTHER_SCHEDULER})


def find(
    state: ClusterState,
    diagnosis: PodDiagnosis,
    keep: Collection[Key] = (),
    owners: Owners | None = None,
) -> Proposals:
    """What could be done about a pod, and how far was searched.

    Pods to ``keep`` are not to be deleted, nor is the pod itself; ``owners`` know more of the pods' owners than the
    Inventory.
    """
    claims = (state.inventory.claims.get(ref.key) for ref in diagnosis.claims)
    if classic.concerns(claim for claim in claims if claim is not None):
        return Proposals(())  # what a driver would answer can't be tried
    if (there := other_profile.as_default(state, diagnosis)) is not None:
        return other_profile.unverified(find(*there, keep, owners))
    diagnosis = together.in_the_way(state, diagnosis)
    group = together.together(state, diagnosis)
    theirs = pods_of(state, group.group) if group else ()
    spared = frozenset({*keep, diagnosis.pod.key, *(key_of(pod.metadata) for pod in theirs)})
    return _Finder(Case(state, diagnosis, spared, owners or Owners(state.inventory)), group).find()


class _Finder:
    def __init__(self, case: Case, group: together.GroupOfPod | None) -> None:
        self._case = case
        self._group = group
        self._trials = Trials(case.state, case.diagnosis, group)
        self._competing = Competing(case)
        self._gated = case.diagnosis.verdict is Verdict.GATED
        self._found: list[Proposal] = []
        self._proven: list[tuple[Action, ...]] = []
        self._tried = 0
        self._fits_only = False
        self._large = len(case.state.inventory.nodes) >= _LARGE
        self._per_kind = _PER_KIND

    def find(self) -> Proposals:
        case = self._case
        if case.diagnosis.verdict not in _TRIED or foreign.refused(case.diagnosis):
            others = [untried(each) for each in objects.candidates(case) if not each.changes]
            anew = tuple(self._made_anew())
            return Proposals(ranked((*anew, *(each for each in others if not anew or not is_wait(each))))[:_LIMIT])
        singles = sorted(_simple(case), key=_cost)
        self._verify_all(rolling.candidates(case, self._trials))
        self._verify_all(singles)
        self._verify_all(sorted(stale.candidates(case, self._trials), key=_cost))
        self._verify_all(sorted(freeing.candidates(case, self._trials), key=_cost))
        self._verify_all(sorted((*evicting.candidates(case), *evicting.scaled_down(case)), key=_cost))
        single = self._tried
        pairs = not any(self._settles(each) for each in self._found if each.remedy.kind is not RemedyKind.RAISE_QUOTA)
        if pairs:
            self._fits_only = True
            self._per_kind = _PAIRS_OF_LARGE if self._large else _PER_KIND
            self._verify_all(self._pairs([*singles, *freeing.single_pods(case)]))
            if not any(map(self._settles, self._found)):
                self._verify_all(self._pairs(singles, freed=True))
            if not any(map(holds, self._found)):
                self._verify_all(selectors.without_any(case))
        ended = self._trials.exhausted
        repeats = any(proposal.remedy.kind is RemedyKind.AVOID_DEVICE for proposal in self._found)
        others = [
            untried(each) for each in singles if not each.changes and not (repeats and each.kind is RemedyKind.WAIT)
        ]
        best = ranked((*wanted(self._found, edits.alike(case.searched)), *others))
        decent = freeing.spares_the_system(case.state.inventory, [each.remedy for each in best[:1]])
        return Proposals(
            best[:_LIMIT] if decent else (),
            pairs and not ended,
            tuple(self._additions()),
            Tried(single, self._tried - single, ended),
        )

    def _made_anew(self) -> Iterator[Proposal]:
        """What helps a pod that has its node, or one whose claim is in the process of being allocated."""
        case = self._case
        in_flight = own_claim.candidates(case) if case.diagnosis.verdict is Verdict.UNKNOWN else ()
        for candidate in (*on_node.candidates(case), *in_flight):
            result = self._trials.all(*candidate.changes)
            if result.fits and not self._refused(candidate):
                yield self._proposal(candidate, result)

    def _additions(self) -> Iterator[Proposal]:
        """What new devices would do, and a new node; each the first that works."""
        self._fits_only = not self._gated
        for candidates in adding.in_order(self._case):
            found = self._first(candidates)
            if found is not None:
                yield found
        if _ruled_out(self._case):
            elsewhere = self._first(adding.devices_elsewhere(self._case))
            if elsewhere is not None:
                yield elsewhere
        if self._case.diagnosis.nodes and not self._found:
            yield from (untried(candidate) for candidate in adding.unlike(self._case))

    def _first(self, candidates: Iterable[Candidate]) -> Proposal | None:
        """The first that works and is not lost to others, of a few."""
        lost = None
        most = 1 if self._large else _ADDITIONS
        for candidate in islice(candidates, most):
            found = self._verify(candidate)
            if found is not None and not found.remedy.competition.may_be_lost:
                return found
            lost = lost or found
        return lost

    def _verify_all(self, candidates: Iterable[Candidate]) -> None:
        before = len(self._found)
        for candidate in candidates:
            # What one way of freeing has found does not keep another from being tried.
            enough = sum(p.remedy.kind is candidate.kind for p in self._found[before:]) >= self._per_kind
            again = any(is_same(candidate.actions, each, of_group=self._group is not None) for each in self._proven)
            if not candidate.changes or enough or again or self._trials.exhausted:
                continue
            self._tried += 1
            proposal = self._verify(candidate)
            if proposal is not None:
                self._found.append(proposal)
                self._proven.append(candidate.actions)

    def _verify(self, candidate: Candidate) -> Proposal | None:
        """The first form of the candidate that works, rather one that leaves nothing to others who come first."""
        lost: Proposal | None = None
        for form in (candidate, *candidate.steps):
            if self._trials.exhausted:
                break
            if not self._works(self._trials.sample(*form.changes, nodes=form.only or None)):
                continue
            result = self._result(form)
            fits = self._works(result) and all(self._works(each) for each in self._instead(form))
            if fits and not self._refused(form) and not self._partly_enough(form.changes, result.nodes):
                proposal = self._proposal(form, result)
                if not proposal.remedy.competition.may_be_lost:
                    return proposal
                lost = lost or proposal
        return lost

    def _refused(self, form: Candidate) -> bool:
        return quotas.refused(self._case.state, self._trials.state(form.changes), form.actions)

    def _result(self, form: Candidate) -> Result:
        """The result on all nodes; where only some can help, on those, and whether anything else ends the attempt."""
        if form.kind is RemedyKind.ADD_DEVICES and form.only:
            return self._trials.sample(*form.changes, nodes=form.only)
        return self._trials.all(*form.changes)

    def _instead(self, form: Candidate) -> Iterator[Result]:
        return (self._trials.sample(each, nodes=form.only or None) for each in form.instead)

    def _proposal(self, form: Candidate, result: Result) -> Proposal:
        case = self._case
        changed = self._trials.state(form.changes)
        competition, then = Competition(), None
        actions = tuple(offers.with_less(case, changed, self._with_owner(each)) for each in form.actions)
        if result.fits and self._group is None:
            actions, competition = scaling.lasting(case, self._competing, actions, form.changes, changed, result.nodes)
        elif result.fits and self._group is not None:
            actions, competition = scaling.lasting_for_group(case, self._group, actions, form.changes)
        elif self._gated and not result.fits:
            found = Diagnoser(changed).pod(case.diagnosis.pod.key)
            then = Prospect(found.verdict, found.causes[0].code if found.causes else None)
        cost = form.cost + (_LOST_COST if competition.may_be_lost else 0)
        unread = quotas.are_unread(case.state, case.pod, actions)
        required = any(True for _ in quotas.unspecified(case.state, actions))
        verified = not (unread or required or open_plugins(case.state, case.pod))
        nodes = self._trials.taken_from(form.changes, result.nodes, case.owners)
        nodes = tuple(dict.fromkeys((*nodes, *(name for each in self._instead(form) for name in each.nodes))))
        if len(actions) == 1 and selectors.SEEN <= form.cost <= selectors.DROPPED:
            actions = (offers.with_offers(changed, actions[0], nodes),)
        remedy = Remedy(form.kind, actions, verified, nodes, cost, competition, then)
        return Proposal(remedy, changed.inventory, form.changes)

    def _with_owner(self, action: Action) -> Action:
        """With who makes a deleted pod anew, or which pods need the same, which is only asked of what is proposed."""
        if isinstance(action, EditPod) and action.workload is None and self._group is not None:
            own = action.field.startswith(OF_ONE_POD)
            also = () if own else tuple(ObjectRef.of("Pod", key) for key in self._group.alike(action.pod.key))
            return msgspec.structs.replace(action, also=also)
        if not isinstance(action, DeletePod):
            return action
        owner = self._case.owners.restarting(action.pod.key)
        return msgspec.structs.replace(action, recreated_by=owner.ref if owner is not None else None)

    def _partly_enough(self, changes: Sequence[Change], nodes: Sequence[str]) -> bool:
        """Whether all but one of several changes do as well: asked of all nodes only where they do on some."""
        if len(changes) < 2:
            return False
        near = frozenset((*self._trials.near, *nodes[:_NODES_ASKED]))
        parts = ((*changes[:i], *changes[i + 1 :]) for i in range(len(changes)))
        return any(
            self._works(self._trials.sample(*part, nodes=near)) and self._works(self._trials.all(*part))
            for part in parts
        )

    def _pairs(self, singles: Iterable[Candidate], *, freed: bool = False) -> Iterator[Candidate]:
        """A change that does not help alone, with one that what is then in the way asks for, or a pod that ends."""
        for first in [c for c in singles if c.changes and c.kind in FIRST][:_MAX_PARTS]:
            if self._trials.exhausted:
                return
            yield from self._followers(first, freed)

    def _followers(self, first: Candidate, freed: bool) -> Iterator[Candidate]:
        """The candidates for the cluster that ``first`` leads to, each together with it."""
        case = self._case
        state = self._trials.state(first.changes)
        found = together.in_the_way(state, Diagnoser(state).pod(case.diagnosis.pod.key))
        then = replace(case, state=state, diagnosis=found, read=case.state.inventory)
        for second in sorted(freeing.single_pods(then) if freed else _simple(then), key=_cost):
            if second.changes and (freed or second.kind in COMBINABLE):
                yield merged(first, second)

    def _settles(self, proposal: Proposal) -> bool:
        """Whether the pod gets a node that way; of a group, all of its pods, with all that they ask for."""
        return holds(proposal) and (self._group is None or not together.gives_up(proposal.remedy.actions))

    def _works(self, result: Result) -> bool:
        return result.tried if self._gated and not self._fits_only else result.fits


def _ruled_out(case: Case) -> bool:
    """Whether what is first in the way of a pod is that nodes reject it, so that devices elsewhere would do."""
    return bool(case.diagnosis.causes) and case.diagnosis.causes[0].code.family is Family.NODES


def _simple(case: Case) -> Iterator[Candidate]:
    """Candidates that take no trial to make, none of which writes what an old claim says over its changed template."""
    changed = set(case.changed_templates.values())
    for candidate in _all_simple(case):
        edited = {action.template for action in candidate.actions if isinstance(action, EditClaim)}
        if not edited & changed:
            yield candidate


def _all_simple(case: Case) -> Iterator[Candidate]:
    yield from edits.candidates(case)
    yield from selectors.candidates(case)
    yield from amounts.candidates(case)
    yield from within_quota.candidates(case)
    yield from raised_quota.candidates(case)
    yield from objects.candidates(case)
    yield from taint_rules.candidates(case)
    yield from own_claim.candidates(case)
    yield from shared_claim.candidates(case)
    yield from shared_claim.one_after_the_other(case)
    yield from on_node.while_binding(case)
    yield from company.candidates(case)
    yield from storage.candidates(case)
    yield from together.candidates(case)


__all__ = ["Action", "Proposal", "Proposals", "Remedy", "RemedyKind", "Tried", "find", "worth_telling"]
