"""How many of all copies fit after a way out, which was found for the next one alone.

The files are placed again in the changed cluster: a template that is changed makes other claims for all of its pods.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Final

import msgspec

from kubectl_dra.api.planned import PodPlan
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.placing import MAX_COPIES
from kubectl_dra.diagnosis.pod.volume_claims import made_from
from kubectl_dra.diagnosis.remedies.adding import nodes_like
from kubectl_dra.diagnosis.remedies.changes import Change, ClaimEdit, PodEdit, VolumeClaimRenewal
from kubectl_dra.diagnosis.remedies.records import Action, EditClaim, EditPod
from kubectl_dra.diagnosis.whatif.records import AddNode
from kubectl_dra.model.base import with_spec
from kubectl_dra.model.core import Pod
from kubectl_dra.model.edited import edited
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.resource import ResourceClaimTemplate
from kubectl_dra.reports.pending.renewal import FitThen
from kubectl_dra.reports.simulation import side_by_side
from kubectl_dra.reports.simulation.course import Course, TrialOptions
from kubectl_dra.reports.simulation.gangs import group_of
from kubectl_dra.reports.simulation.records import PodSimulation
from kubectl_dra.reports.simulation.trials import PodTrial

#: So many ways out are followed to their end, while placing the copies takes no more than this: nodes times copies.
_WAYS: Final = 8
_EFFORT: Final = 200_000
#: A copy takes as long as on so many nodes, however few there are.
_LEAST: Final = 40
_EDITS: Final = (EditClaim, EditPod)
#: More nodes are no way out that is worth a number.
_NODES: Final = 64

#: So many changed clusters are kept, in which trials before the changed one have been placed already.
_COURSES: Final = 8

#: What fits after changes; None where that was not counted.
Asking = Callable[[Sequence[Action], Sequence[Change]], FitThen | None]


@dataclass(frozen=True, slots=True)
class _Changed:
    """A cluster and trials after changes: ``templates`` differ beside it, and are told apart by their users alone."""

    inventory: Inventory
    templates: Mapping[Key, ResourceClaimTemplate]
    trials: Sequence[PodTrial]


@dataclass(slots=True)
class Afterwards:
    """Counts again what comes of ``trials`` in the cluster ``given``, within bounds.

    Trials before those that a change is about end as they did without it: they are placed once in each cluster.
    """

    given: ClusterState
    trials: Sequence[PodTrial]
    asked: TrialOptions
    _left: int = field(default=_EFFORT, init=False)
    _courses: list[Course] = field(default_factory=list, init=False)
    _groups: list[Key | None] | None = field(default=None, init=False)

    def of(self, position: int, state: ClusterState, pod: Key, now: Sequence[PodSimulation], *, is_new: bool) -> Asking:
        """What is asked after each way out for a ``pod`` of one trial in ``state``; ``now``: without any of them.

        ``is_new``: the cluster has no pods of its workload yet.
        """
        trial = self.trials[position]
        # Pods of their own stand and fall alone; so do entries of a catalogue.
        ways = 0 if trial.alone or trial.planned.kind == "Pod" else _WAYS
        return _Pending(self, position, state, pod, now, is_new, ways).then

    def with_trials(self, trials: Sequence[PodTrial], last: int) -> Sequence[PodSimulation] | None:
        """What comes of other trials up to the ``last`` that is asked about; None where that would take too long."""
        course = self.again(_Changed(self.given.inventory, {}, trials), last)
        return course.found if course is not None else None

    def again(self, changed: _Changed, last: int) -> Course | None:
        """The course in another cluster up to the ``last`` trial; None where that would take too long."""
        inventory, templates = changed.inventory, changed.templates
        named = {key for trial in self.trials[:last] for key in _templates(trial.plan.pod)} if templates else set[Key]()
        # Pods of a group may have claims of their own from it.
        if self.given.inventory.groups.pod_groups or not named.isdisjoint(templates):
            inventory, templates = _with_templates(inventory, templates), {}
        first = self._first(changed.trials, last)
        course = self._course(inventory, first)
        if not self._go(course, first):
            return None

        def changing(state: ClusterState) -> ClusterState:
            return state.changed(_with_templates(state.inventory, templates)) if templates else state

        forked = course.forked(changing, changed.trials)
        return forked if self._go(forked, last + 1) else None

    def is_any_lacking(self, course: Course, position: int) -> bool:
        """Whether others than those of one trial do not all fit; True as well where finding that takes too long."""
        for number in range(len(self.trials)):
            if not self._go(course, number + 1) or (number != position and course.found[number].lacks):
                return True
        return False

    def side_by_side(self, changed: _Changed, before: PodSimulation) -> PodSimulation | None:
        """What comes of the only trial, counted without placing its copies; None where these have to be placed."""
        effort = len(changed.inventory.nodes)
        if len(self.trials) > 1 or self._left < effort:
            return None
        self._left -= effort
        state = self.given.changed(_with_templates(changed.inventory, changed.templates))
        return side_by_side.counted(state, changed.trials[0], before)

    def _first(self, trials: Sequence[PodTrial], last: int) -> int:
        """The first of other trials, or the ``last``; those of one group are placed at once."""
        first = next((number for number in range(last) if trials[number] is not self.trials[number]), last)
        if self._groups is None:
            self._groups = [group_of(self.given, trial) for trial in self.trials]
        spanning = {each for each in self._groups[first:] if each is not None}
        together = (number for number, group in enumerate(self._groups[:first]) if group in spanning)
        return next(together, first)

    def _course(self, inventory: Inventory, first: int) -> Course:
        """The trials in a changed cluster, no more of them than those before the ``first`` that is another one."""
        alike = (each for each in self._courses if _is_same(each.given.inventory, inventory))
        found = next(alike, None)
        if found is not None:
            self._courses.remove(found)
        if found is None or len(found.found) > first:
            state = self.given.changed(inventory)
            found = Course(state, self.trials, self.asked, state)
        self._courses = [found, *self._courses[: _COURSES - 1]]
        return found

    def _go(self, course: Course, many: int) -> bool:
        """Place so many of the trials; False where that takes too long."""
        more = course.trials[len(course.found) : many]
        copies = sum(min(trial.plan.copies or 1, MAX_COPIES) for trial in more)
        effort = copies * max(len(self.given.inventory.nodes), _LEAST)
        if self._left < effort:
            return False
        self._left -= effort
        if many:
            course.upto(many - 1)
        return True

    def changed(self, position: int, state: ClusterState, pod: Key, changes: Iterable[Change]) -> _Changed | None:
        """The cluster and the trials with the changes; None where one is about nothing that is there before."""
        inventory, trials = self.given.inventory, list(self.trials)
        for change in changes:
            trial = trials[position]
            if isinstance(change, PodEdit) and change.key == pod:
                trials[position] = replace(trial, plan=replace(trial.plan, pod=change.edit(trial.plan.pod)))
                continue
            if (
                isinstance(change, VolumeClaimRenewal)
                and (plan := _with_volumes(trial.plan, state, change)) is not None
            ):
                trials[position] = replace(trial, plan=plan)
                continue
            template = _template(state.inventory, pod, change.key) if isinstance(change, ClaimEdit) else None
            if isinstance(change, ClaimEdit) and template is not None and template in inventory.templates:
                inventory = _with_template(inventory, template, change)
                continue
            try:
                inventory = change(inventory)
            except KeyError:
                return None
        return _Changed(*_apart(self.given.inventory, inventory), trials)


@dataclass(slots=True)
class _Pending:
    """A ``pod`` of one trial that does not fit in ``state``; so many ``ways`` out are followed to their end."""

    afterwards: Afterwards
    position: int
    state: ClusterState
    pod: Key
    now: Sequence[PodSimulation]
    is_new: bool
    ways: int

    def then(self, actions: Sequence[Action], changes: Sequence[Change]) -> FitThen | None:
        """How many fit after a way out; None where it makes no more fit, or that was not counted."""
        found = self._counted(changes)
        if found is None:
            return None
        it, course = found
        grows = it.growing if it.growing is not None and not it.growing.passing else None
        if it.wanted is None or it.copies <= self._before or it.capped:
            return None
        rest = course is not None and self._others_lack and not self.afterwards.is_any_lacking(course, self.position)
        if not (it.wanted > 1 or rest or grows):
            return None
        most = grows.most if grows is not None and grows.fit is not None else 0
        grown = (grows.fit or 0) if grows is not None else 0
        nodes, more, like = self._further(it.wanted, it, actions, changes) if it.lacks else (0, 0, "")
        return FitThen(it.copies, it.wanted, rest, nodes, most, grown, more, like)

    @property
    def _before(self) -> int:
        return self.now[self.position].copies

    @property
    def _others_lack(self) -> bool:
        return any(each.lacks for number, each in enumerate(self.now) if number != self.position)

    def _counted(self, changes: Sequence[Change]) -> tuple[PodSimulation, Course | None] | None:
        """What comes of the pod's trial, and the course of all of them; None for that of one that was not placed."""
        if not changes or self.ways <= 0:
            return None
        changed = self.afterwards.changed(self.position, self.state, self.pod, changes)
        self.ways -= 1
        if changed is None:
            return None
        alone = self.afterwards.side_by_side(changed, self.now[self.position]) if self.is_new else None
        if alone is not None:
            return alone, None
        course = self.afterwards.again(changed, self.position)
        return (course.found[self.position], course) if course is not None else None

    def _further(
        self, wanted: int, it: PodSimulation, actions: Sequence[Action], changes: Sequence[Change]
    ) -> tuple[int, int, str]:
        """Where some lack still: how many such nodes all need, or how many more like which one; 0 if unknown."""
        if len(actions) == 1 and isinstance(actions[0], AddNode):
            like, each = actions[0].like, it.copies - self._before
            return self._enough((), wanted - self._before, each, like, free=True), 0, ""
        fullest = max(it.nodes, key=lambda node: node.copies, default=None)
        if fullest is None or self._before or not any(isinstance(each, _EDITS) for each in actions):
            return 0, 0, ""
        alone = self._counted([nodes_like(self.afterwards.given.inventory, fullest.node, 1, free=False)])
        # Where new nodes take them as they are written, these are a way out of their own.
        if alone is None or alone[0].copies:
            return 0, 0, ""
        more = self._enough(changes, wanted - it.copies, fullest.copies, fullest.node, free=False)
        return 0, more, fullest.node if more else ""

    def _enough(self, changes: Sequence[Change], lacking: int, each: int, like: str, *, free: bool) -> int:
        """How many new nodes like one all need that still lack, where each of them takes so many; 0 if unknown."""
        many = -(-lacking // each)
        if many > _NODES:
            return 0
        found = self._counted([*changes, nodes_like(self.afterwards.given.inventory, like, many, free=free)])
        return many if found is not None and not found[0].lacks else 0


def _template(inventory: Inventory, pod: Key, claim: Key) -> Key | None:
    """The template of which a pod has a claim."""
    found = inventory.pods[pod]
    names = {each.name: each.resource_claim_name for each in found.status.resource_claim_statuses}
    for entry in found.spec.resource_claims:
        if entry.resource_claim_template_name is not None and names.get(entry.name) == claim.name:
            return Key(pod.namespace, entry.resource_claim_template_name)
    return None


def _with_volumes(plan: PodPlan, state: ClusterState, change: VolumeClaimRenewal) -> PodPlan | None:
    """A plan whose pods get other claims for volumes; None for a claim that is not made for each of them."""
    index = made_from(state.inventory, change.key, plan.volume_claims, plan.pod.metadata.name)
    if index is None:
        return None
    claims = list(plan.volume_claims)
    claims[index] = msgspec.structs.replace(claims[index], spec=change.edit(claims[index].spec))
    return replace(plan, volume_claims=tuple(claims))


def _templates(pod: Pod) -> Iterator[Key]:
    """The templates that a pod names."""
    for entry in pod.spec.resource_claims:
        if entry.resource_claim_template_name is not None:
            yield Key(pod.metadata.namespace, entry.resource_claim_template_name)


def _with_template(inventory: Inventory, key: Key, change: ClaimEdit) -> Inventory:
    template = inventory.templates[key]
    made = with_spec(template, spec=change.edit(template.spec.spec))
    return inventory.replace(templates=edited(inventory.templates, {key: made}))


def _with_templates(inventory: Inventory, templates: Mapping[Key, ResourceClaimTemplate]) -> Inventory:
    return inventory.replace(templates=edited(inventory.templates, templates)) if templates else inventory


def _apart(given: Inventory, changed: Inventory) -> tuple[Inventory, Mapping[Key, ResourceClaimTemplate]]:
    """What was changed but for templates, and the templates that were: each is of its users alone."""
    before, after = given.templates, changed.templates
    if before is after or not before.keys() <= after.keys():
        return changed, {}
    return changed.replace(templates=before), {key: each for key, each in after.items() if before.get(key) is not each}


def _is_same(one: Inventory, other: Inventory) -> bool:
    """Whether changes have led to the same cluster; what they have not touched is one and the same object."""
    names = (each.name for each in fields(Inventory))
    pairs = ((getattr(one, name), getattr(other, name)) for name in names)
    return all(first is second or first == second for first, second in pairs)
