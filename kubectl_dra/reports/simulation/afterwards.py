"""How many of all copies fit after a way out, which was found for the next one alone.

The files are placed again in the changed cluster: a template that is changed makes other claims for all of its pods.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
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
from kubectl_dra.model.edited import edited
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.reports.pending.renewal import FitThen
from kubectl_dra.reports.simulation import side_by_side
from kubectl_dra.reports.simulation.records import PodSimulation
from kubectl_dra.reports.simulation.trials import PodTrial

#: So many ways out are followed to their end, while placing the copies takes no more than this: nodes times copies.
_WAYS: Final = 8
_EFFORT: Final = 200_000
_EDITS: Final = (EditClaim, EditPod)
#: More nodes are no way out that is worth a number.
_NODES: Final = 64

#: What fits after changes; None where that was not counted.
Asking = Callable[[Sequence[Action], Sequence[Change]], FitThen | None]
#: Places all trials in a cluster, without looking for ways out.
Placing = Callable[[ClusterState, Sequence[PodTrial]], Sequence[PodSimulation]]


@dataclass(slots=True)
class Afterwards:
    """Counts again what comes of ``trials`` in the cluster ``given``, within bounds."""

    given: ClusterState
    trials: Sequence[PodTrial]
    placing: Placing
    _left: int = field(default=_EFFORT, init=False)

    def of(self, position: int, world: ClusterState, pod: Key, now: Sequence[PodSimulation], *, is_new: bool) -> Asking:
        """What is asked after each way out for a ``pod`` of one trial in ``world``; ``now``: without any of them.

        ``is_new``: the cluster has no pods of its workload yet.
        """
        trial = self.trials[position]
        # Pods of their own stand and fall alone; so do entries of a catalogue.
        ways = 0 if trial.alone or trial.planned.kind == "Pod" else _WAYS
        return _Pending(self, position, world, pod, now, is_new, ways).then

    def again(self, world: ClusterState, trials: Sequence[PodTrial]) -> Sequence[PodSimulation] | None:
        """What comes of other trials in another cluster; None where that would take too long."""
        effort = self._effort()
        if self._left < effort:
            return None
        self._left -= effort
        return self.placing(world, trials)

    def side_by_side(
        self, world: ClusterState, trials: Sequence[PodTrial], before: PodSimulation
    ) -> PodSimulation | None:
        """What comes of the only trial, counted without placing its copies; None where these have to be placed."""
        effort = len(world.inventory.nodes)
        if len(trials) > 1 or self._left < effort:
            return None
        self._left -= effort
        return side_by_side.counted(world, trials[0], before)

    def _effort(self) -> int:
        copies = sum(min(trial.plan.copies or 1, MAX_COPIES) for trial in self.trials)
        return copies * max(len(self.given.inventory.nodes), 1)

    def changed(
        self, position: int, world: ClusterState, pod: Key, changes: Iterable[Change]
    ) -> tuple[ClusterState, Sequence[PodTrial]] | None:
        """The cluster and the trials with the changes; None where one is about nothing that is there before."""
        inventory, trials = self.given.inventory, list(self.trials)
        for change in changes:
            trial = trials[position]
            if isinstance(change, PodEdit) and change.key == pod:
                trials[position] = replace(trial, plan=replace(trial.plan, pod=change.edit(trial.plan.pod)))
                continue
            if (
                isinstance(change, VolumeClaimRenewal)
                and (plan := _with_volumes(trial.plan, world, change)) is not None
            ):
                trials[position] = replace(trial, plan=plan)
                continue
            template = _template(world.inventory, pod, change.key) if isinstance(change, ClaimEdit) else None
            if isinstance(change, ClaimEdit) and template is not None and template in inventory.templates:
                inventory = _with_template(inventory, template, change)
                continue
            try:
                inventory = change(inventory)
            except KeyError:
                return None
        return self.given.changed(inventory), trials


@dataclass(slots=True)
class _Pending:
    """A ``pod`` of one trial that does not fit in ``world``; so many ``ways`` out are followed to their end."""

    afterwards: Afterwards
    position: int
    world: ClusterState
    pod: Key
    now: Sequence[PodSimulation]
    is_new: bool
    ways: int

    def then(self, actions: Sequence[Action], changes: Sequence[Change]) -> FitThen | None:
        """How many fit after a way out; None where it makes no more fit, or that was not counted."""
        found = self._counted(changes)
        if found is None:
            return None
        it, rest = found[self.position], _lack(self.now, self.position) and not _lack(found, self.position)
        grows = it.growing if it.growing is not None and not it.growing.passing else None
        if it.wanted is None or it.copies <= self._before or it.capped or not (it.wanted > 1 or rest or grows):
            return None
        most = grows.most if grows is not None and grows.fit is not None else 0
        grown = (grows.fit or 0) if grows is not None else 0
        nodes, more, like = self._further(it.wanted, it, actions, changes) if it.lacks else (0, 0, "")
        return FitThen(it.copies, it.wanted, rest, nodes, most, grown, more, like)

    @property
    def _before(self) -> int:
        return self.now[self.position].copies

    def _counted(self, changes: Sequence[Change]) -> Sequence[PodSimulation] | None:
        if not changes or self.ways <= 0:
            return None
        changed = self.afterwards.changed(self.position, self.world, self.pod, changes)
        self.ways -= 1
        if changed is None:
            return None
        alone = self.afterwards.side_by_side(*changed, self.now[self.position]) if self.is_new else None
        return [alone] if alone is not None else self.afterwards.again(*changed)

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
        if alone is None or alone[self.position].copies:
            return 0, 0, ""
        more = self._enough(changes, wanted - it.copies, fullest.copies, fullest.node, free=False)
        return 0, more, fullest.node if more else ""

    def _enough(self, changes: Sequence[Change], lacking: int, each: int, like: str, *, free: bool) -> int:
        """How many new nodes like one all need that still lack, where each of them takes so many; 0 if unknown."""
        many = -(-lacking // each)
        if many > _NODES:
            return 0
        found = self._counted([*changes, nodes_like(self.afterwards.given.inventory, like, many, free=free)])
        return many if found is not None and not found[self.position].lacks else 0


def _lack(found: Sequence[PodSimulation], position: int) -> bool:
    """Whether others than those of one trial do not all fit."""
    return any(each.lacks for number, each in enumerate(found) if number != position)


def _template(inventory: Inventory, pod: Key, claim: Key) -> Key | None:
    """The template of which a pod has a claim."""
    found = inventory.pods[pod]
    names = {each.name: each.resource_claim_name for each in found.status.resource_claim_statuses}
    for entry in found.spec.resource_claims:
        if entry.resource_claim_template_name is not None and names.get(entry.name) == claim.name:
            return Key(pod.namespace, entry.resource_claim_template_name)
    return None


def _with_volumes(plan: PodPlan, world: ClusterState, change: VolumeClaimRenewal) -> PodPlan | None:
    """A plan whose pods get other claims for volumes; None for a claim that is not made for each of them."""
    index = made_from(world.inventory, change.key, plan.volume_claims, plan.pod.metadata.name)
    if index is None:
        return None
    claims = list(plan.volume_claims)
    claims[index] = msgspec.structs.replace(claims[index], spec=change.edit(claims[index].spec))
    return replace(plan, volume_claims=tuple(claims))


def _with_template(inventory: Inventory, key: Key, change: ClaimEdit) -> Inventory:
    template = inventory.templates[key]
    made = with_spec(template, spec=change.edit(template.spec.spec))
    return inventory.replace(templates=edited(inventory.templates, {key: made}))
