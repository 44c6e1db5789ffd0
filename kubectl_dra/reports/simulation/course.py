"""Trials, one after the other: how many of the pods fit, where, and what keeps the next one."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

import msgspec

from kubectl_dra.api.planned import PodPlan
from kubectl_dra.api.workloads.hooks import hook_of
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.gates.pod_admission import refusing_limit_range
from kubectl_dra.diagnosis.pod.missing import of_the_choice
from kubectl_dra.diagnosis.pod.open_plugins import open_plugins
from kubectl_dra.diagnosis.pod.placing import PlacedCopies, being_bound, place
from kubectl_dra.diagnosis.pod.volume_claims import of_one_node, taken_as_shared
from kubectl_dra.diagnosis.pod.workloads import ReadOwner
from kubectl_dra.diagnosis.records import BeingBound, Missing, ObjectRef, OpenPlugin
from kubectl_dra.diagnosis.remedies.changes import without_pods
from kubectl_dra.model import differences
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.reports.base import Fits
from kubectl_dra.reports.claims.ask import unfound_requests, unseen_entries
from kubectl_dra.reports.pending.pending import PendingReport
from kubectl_dra.reports.pending.remedies import find_remedies
from kubectl_dra.reports.simulation.alike import alike_key, settles
from kubectl_dra.reports.simulation.alternatives import taken_alternatives
from kubectl_dra.reports.simulation.file_edits import Places
from kubectl_dra.reports.simulation.flavors import open_flavors
from kubectl_dra.reports.simulation.gangs import GroupTrials, domain_fits, group_of, place_together
from kubectl_dra.reports.simulation.numbers import kept_off, starts_from_none, with_numbers
from kubectl_dra.reports.simulation.pending_copies import Opened, pending_of, told_of, ways_told
from kubectl_dra.reports.simulation.pods import Batch, Copies, batch
from kubectl_dra.reports.simulation.present import Present, present, without
from kubectl_dra.reports.simulation.records import Counted, NodeCopies, PodSimulation
from kubectl_dra.reports.simulation.shared_claims import shared_claims
from kubectl_dra.reports.simulation.trials import PodTrial, absent_classes, tolerated

#: Controllers and queues that choose one rack, zone or the like for all pods of a group.
KUEUE: Final = "Kueue's choice of a flavor"
TOGETHER: Final = "placement in one domain"
#: An object, and what it calls some of its pods.
_Pods = tuple[ObjectRef, str]


@dataclass(frozen=True, slots=True)
class TrialOptions:
    """What is asked of all trials: ``supposed`` are pods that are not in the cluster as it is now.

    ``read_owner``: of pods in the way; ``where`` the files' objects stand. ``counts``: nothing but numbers is asked.
    """

    copies: Copies
    read_owner: ReadOwner | None
    supposed: AbstractSet[Key]
    where: Places
    counts: bool = False


@dataclass(slots=True)
class Course:
    """The ``trials`` in their order in the cluster ``given``, as far as they were needed: what came of them, and where.

    ``opened``: the pods that did not fit; ``state`` has all that was placed.
    """

    given: ClusterState
    trials: Sequence[PodTrial]
    asked: TrialOptions
    state: ClusterState
    found: list[PodSimulation] = field(default_factory=list)
    opened: list[Opened] = field(default_factory=list)
    _simulated: set[Key] = field(default_factory=set)
    _together: dict[int, PodSimulation] = field(default_factory=dict)
    _known: dict[Hashable, PodSimulation] = field(default_factory=dict)
    _placed_by: dict[_Pods, AbstractSet[Key]] = field(default_factory=dict)
    _missing: set[_Pods] = field(default_factory=set)

    def upto(self, position: int) -> PodSimulation:
        """What comes of the trial at a position."""
        while len(self.found) <= position:
            self.found.append(self._next(len(self.found), self.trials[len(self.found)]))
        return self.found[position]

    def forked(self, change: Callable[[ClusterState], ClusterState], trials: Sequence[PodTrial]) -> Course:
        """The same course up to here, with other trials after it, in a cluster with what only these can tell apart."""
        return Course(
            change(self.given),
            trials,
            self.asked,
            change(self.state),
            list(self.found),
            _simulated=set(self._simulated),
            _known=dict(self._known),
            _placed_by=dict(self._placed_by),
            _missing=set(self._missing),
        )

    def _next(self, position: int, trial: PodTrial) -> PodSimulation:
        given, copies = self.given, self.asked.copies
        if (none := _not_made(given, trial, copies, self._missing)) is not None:
            self._missing.add((trial.subject, trial.plan.role))
            return none
        alike = alike_key(given, trial)
        if (same := self._known.get(alike)) is not None:
            self._missing |= _missing(self.trials, trial, same)
            return msgspec.structs.replace(same, subject=trial.subject, like=same.subject)
        group = group_of(given, trial)
        if group is not None:
            if position not in self._together:
                placed_group = place_together(self.state, group, self.trials, copies)
                self.state = placed_group.state
                self._together |= _of_group(given, group, self.trials, placed_group, self.asked)
            return self._in_domains(self._together[position], trial)
        done, replaces = self._alone(position, trial)
        self._missing |= _missing(self.trials, trial, done)
        _learn(self._known, alike, done, replaces=replaces)
        return done

    def _alone(self, position: int, trial: PodTrial) -> tuple[PodSimulation, bool]:
        """What comes of pods of no group, and whether they replace others."""
        given, copies = self.given, self.asked.copies
        before = given if trial.alone else _after(self.state, trial, self._placed_by)
        there = None if copies.as_many_as_fit else present(given, trial, self.asked.read_owner)
        made, placed = _placed(before, trial, copies, there)
        new = _new(placed, made.state)
        if not (trial.alone or trial.held or starts_from_none(trial)):
            self._placed_by[trial.subject, trial.plan.role] = new
            self._simulated |= new
            self.state = placed.state
        told = told_of(trial, placed, new | self.asked.supposed | self._simulated)
        # Who asks how many fit has not asked for more.
        if made.wanted is not None or not placed.copies:
            self.opened += (Opened(each, position, placed.state, there) for _, each in told)
        done = _pod_simulation(trial, made, placed, next((pending for _, pending in told), None))
        if not self.asked.counts:
            done = _with_devices(done, placed, new, _being_bound(before, trial, copies, placed))
        done = kept_off(with_numbers(_beside(done, there), before, trial, copies), before, trial, told)
        # Its own pods that run have the devices.
        done = done if there is not None else self._in_domains(done, trial)
        return done, there is not None

    def _in_domains(self, done: PodSimulation, trial: PodTrial) -> PodSimulation:
        """With what is certain of the domains of nodes that another program chooses from."""
        found = () if self.asked.counts else tuple(domain_fits(self.given, trial, self.asked.copies))
        return msgspec.structs.replace(done, domains=found) if found else done


def _learn(known: dict[Hashable, PodSimulation], alike: Hashable, done: PodSimulation, *, replaces: bool) -> None:
    """Keep what holds for later trials that are alike; ``replaces``: what old pods had may be free now."""
    if replaces:
        known.clear()
    if alike is not None and settles(done):
        known[alike] = done


def _with_devices(
    done: PodSimulation, placed: PlacedCopies, new: AbstractSet[Key], being_bound: BeingBound | None
) -> PodSimulation:
    """With the alternatives that its ``new`` pods got, and who may be getting the devices before them."""
    taken = taken_alternatives(placed.state, new)
    return msgspec.structs.replace(done, being_bound=being_bound, alternatives=taken)


def _of_group(
    given: ClusterState,
    group: Key,
    trials: Sequence[PodTrial],
    placed: GroupTrials,
    asked: TrialOptions,
) -> dict[int, PodSimulation]:
    """What came of the trials of a group, by their positions; what is in its way is told of all of it."""
    pending: PendingReport | None = None
    found: dict[int, PodSimulation] = {}
    for position, (made, share) in placed.found.items():
        if share.failed is not None and pending is None:
            simulated = {*_new(share, given), *asked.supposed}
            # Its own pods give back what they hold while they wait for each other.
            its = {key_of(pod.metadata) for pod in share.state.inventory.pods_by_group.get(group, ())}
            pending = pending_of(trials[position], share, simulated - its)
            ways = find_remedies(share.state, share.failed, keep=simulated, read_owner=asked.read_owner)
            pending = (
                ways_told(pending, ways, share.state, trials[position], asked.where) if pending is not None else None
            )
        done = _pod_simulation(trials[position], made, share, pending if share.failed is not None else None)
        found[position] = msgspec.structs.replace(done, group=group.name)
    return found


def _not_made(
    state: ClusterState, trial: PodTrial, copies: Copies, missing: AbstractSet[_Pods]
) -> PodSimulation | None:
    """The answer for pods that are not made at all: they are refused, or wait for others that are ``missing``."""
    awaits = tuple(role for role in trial.plan.awaits if (trial.subject, role) in missing)
    if awaits or trial.stops or trial.bypasses:
        return msgspec.structs.replace(_untried(state, trial, copies), awaits=awaits)
    return None


def _missing(trials: Sequence[PodTrial], trial: PodTrial, done: PodSimulation) -> AbstractSet[_Pods]:
    """The role of a trial if what waits for its pods waits in vain; some wait for one of them only."""
    some = done.copies and any(each.plan.awaits_any and each.planned is trial.planned for each in trials)
    return {(trial.subject, trial.plan.role)} if done.fits is Fits.NO and done.lacks and not some else set()


def _after(state: ClusterState, trial: PodTrial, placed_by: Mapping[_Pods, AbstractSet[Key]]) -> ClusterState:
    """The cluster without those pods of the same object that have ended before."""
    ended = [key for role in trial.plan.after for key in placed_by.get((trial.subject, role), ())]
    return state.changed(without_pods(ended)(state.inventory)) if ended else state


def _placed(state: ClusterState, trial: PodTrial, copies: Copies, found: Present | None) -> tuple[Batch, PlacedCopies]:
    """Where the new pods of a trial go; of a rollout that ends no old pod before, the first one beside the old ones."""
    if found is None:
        made = batch(state, trial, copies)
        return made, _copies(made)
    state = without(state, found.waiting)
    if found.old and found.surge:
        made = batch(state, trial, copies, found)
        first = place(made.state, islice(made.pods, 1))
        if first.failed is not None:
            return made, first
    made = batch(without(state, found.old), trial, copies, found)
    return made, _copies(made)


def _copies(made: Batch) -> PlacedCopies:
    return place(made.state, made.pods, per_node=made.counted is Counted.PER_NODE)


def _beside(done: PodSimulation, found: Present | None) -> PodSimulation:
    """With the pods that the cluster has of the workload."""
    if found is None:
        return done
    # Of a workload that shrinks some of those that run are ended.
    stay = len(found.stay) if done.wanted is None else min(len(found.stay), done.wanted)
    stuck = bool(found.old) and found.surge and done.lacks and not done.copies
    made = msgspec.structs.replace(done, copies=done.copies + stay, present=stay, replaces=len(found.old), stuck=stuck)
    return msgspec.structs.replace(made, runs_alone=found.policy)


def _being_bound(state: ClusterState, trial: PodTrial, copies: Copies, placed: PlacedCopies) -> BeingBound | None:
    """Pods that may be being bound where copies fit."""

    def again(supposed: ClusterState) -> int:
        return _copies(batch(supposed, trial, copies)).copies

    return being_bound(state, trial.plan.pod, placed.nodes, again)


def _untried(state: ClusterState, trial: PodTrial, copies: Copies) -> PodSimulation:
    wanted = copies.of(1 if trial.plan.copies is None else trial.plan.copies)
    return PodSimulation(
        trial.subject,
        wanted,
        0,
        capped=False,
        nodes=(),
        pending=None,
        role=trial.plan.role,
        alone=trial.alone,
        misread=trial.misread,
        blocked=trial.blocked,
        refused=trial.refused,
        scheduler=trial.scheduler,
        held=trial.held,
        bypasses=trial.bypasses,
        unknown_node=bool(trial.bypasses) and trial.bypasses not in state.inventory.nodes,
    )


def pods_of(state: ClusterState) -> AbstractSet[Key]:
    return state.inventory.pods.keys()


def _new(placed: PlacedCopies, before: ClusterState) -> AbstractSet[Key]:
    known = before.inventory.pods
    return frozenset(key for key in differences.changed(known, placed.state.inventory.pods) if key not in known)


def _pod_simulation(trial: PodTrial, made: Batch, placed: PlacedCopies, pending: PendingReport | None) -> PodSimulation:
    plan = trial.plan
    names = made.state.inventory.nodes
    spread = len(placed.nodes) > 1
    limits, fields = refusing_limit_range(plan.pod, made.state.inventory) if trial.refused else ("", ())
    return PodSimulation(
        subject=trial.subject,
        wanted=made.wanted,
        copies=placed.copies,
        capped=placed.capped,
        nodes=tuple(NodeCopies(name, placed.nodes[name]) for name in names if name in placed.nodes),
        tolerated=tolerated(trial, (names[name] for name in placed.nodes)),
        pending=pending,
        open=tuple(_left_open(made.state, plan)) if made.wanted != 0 else (),
        unseen=unseen_entries(plan.pod),
        unseen_for=plan.claims_lost_to,
        unfound=tuple(unfound_requests(made.state, plan.pod)),
        shared=() if trial.is_bare else tuple(shared_claims(placed.state, plan.pod)),
        role=plan.role,
        after=plan.after,
        made_from=plan.spec_at.removesuffix(".spec") if plan.stands_in_for else "",
        instead_of=plan.stands_in_for,
        flavors=plan.flavors,
        rest_by=plan.rest_by,
        amounts=tuple(name for name, _ in plan.moved) if plan.rest_by else (),
        counted=made.counted,
        assumed=plan.assumed if made.counted is Counted.ASSUMED else (),
        alone=trial.alone,
        shared_volumes=tuple(taken_as_shared(placed.state.inventory, plan.pod)) if spread else (),
        attached_once=tuple(of_one_node(placed.state.inventory, plan.pod)) if spread else (),
        hook=hook_of(trial.planned.annotations)[0],
        blocked=trial.blocked,
        absent_classes=absent_classes(made.state, trial),
        misread=trial.misread,
        refused=trial.refused,
        refused_by=limits,
        refused_at=tuple(f"{plan.spec_at}.{field}" for field in fields),
        scheduler=trial.scheduler,
        held=trial.held,
        choice=_choice(made.state, plan.pod) if placed.copies else None,
        nodes_compared=placed.compared,
        nodes_are_example=placed.example,
    )


def _choice(state: ClusterState, pod: Pod) -> Missing | None:
    """What was not read and tells which of several nodes are taken."""
    return of_the_choice(state.evidence, pod) if len(state.inventory.nodes) > 1 else None


def _left_open(state: ClusterState, plan: PodPlan) -> Iterator[OpenPlugin]:
    """Plugins of the scheduler, and what decides about several pods at once."""
    yield from open_plugins(state, plan.pod)
    if plan.kept_together:
        yield OpenPlugin(TOGETHER, plan.kept_together)
    if plan.flavor_open:
        yield OpenPlugin(KUEUE, tuple(open_flavors(plan)))
