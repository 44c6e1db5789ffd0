"""Pods that have to leave their nodes, and where the scheduler would put what their controllers make in their place.

Upstream: kubectl drain (pkg/drain: which pods it evicts, skips or refuses), the eviction API with its disruption
budgets, and the taint managers, which ask no budget. A pod that is made again is scheduled like any other, the most
important first; of nodes that are equally good the first by name is taken, and all of them are told.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis import classic
from kubectl_dra.diagnosis.explain.attempt import attempt
from kubectl_dra.diagnosis.gates.gates import other_scheduler
from kubectl_dra.diagnosis.pod import choice
from kubectl_dra.diagnosis.pod.judgement import judge
from kubectl_dra.diagnosis.pod.placing import added, as_claimed, bound
from kubectl_dra.diagnosis.pod.workloads import Owners, ReadOwner
from kubectl_dra.diagnosis.records import NodeOutcome, ObjectRef, Verdict
from kubectl_dra.diagnosis.remedies.changes import without_pods
from kubectl_dra.diagnosis.whatif.nodes import MIRROR, stays_with_node
from kubectl_dra.diagnosis.whatif.records import Because, Displaced, PodFate
from kubectl_dra.model.core import Pod, PodStatus
from kubectl_dra.model.held import devices_of
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.model.podneeds import in_group
from kubectl_dra.model.policy import PodDisruptionBudget
from kubectl_dra.model.resource import ResourceClaimTemplate
from kubectl_dra.model.terms import requirements_of, selects
from kubectl_dra.model.usage import TERMINAL
from kubectl_dra.scheduler.claims import ClaimProblem, ResolvedEntry, claims_of, resolve

_TEMPLATE: Final = "ResourceClaimTemplate"
#: Pods in these phases are evicted whatever a budget says (CanIgnorePDB).
_WITHOUT_BUDGET: Final = TERMINAL | {"Pending"}


class LeavesBy(Enum):
    """Who makes a pod leave: a drain, a NoExecute taint, or the end of its node."""

    DRAIN = "drain"
    TAINT = "taint"
    REMOVAL = "removal"


class Leaving(msgspec.Struct):
    """The pods that have to leave, each with who makes it."""

    pods: dict[Key, LeavesBy] = msgspec.field(default_factory=dict)

    def add(self, keys: Iterable[Key], by: LeavesBy) -> None:
        """Who has to leave for several reasons leaves for the one that asks the least: the end of the node."""
        rank = (LeavesBy.DRAIN, LeavesBy.TAINT, LeavesBy.REMOVAL)
        for key in keys:
            known = self.pods.get(key)
            if known is None or rank.index(by) > rank.index(known):
                self.pods[key] = by


def displace(
    state: ClusterState, leaving: Leaving, read_owner: ReadOwner | None = None
) -> tuple[ClusterState, tuple[Displaced, ...]]:
    """The cluster after the pods have left and found other nodes, or have not; in the order of their keys.

    ``state`` has its nodes as they are then: cordoned, tainted or gone. ``read_owner`` gets controllers of the pods
    that the Inventory does not have, where these decide between nodes.
    """
    return _Displacing(state, read_owner).run(leaving)


class _Displacing:
    def __init__(self, state: ClusterState, read_owner: ReadOwner | None) -> None:
        self._state = state
        self._owners = Owners(state.inventory, read_owner)
        self._found: dict[Key, Displaced] = {}
        budgets = state.inventory.budgets
        self._allowed = {key: budget.status.disruptions_allowed for key, budget in budgets.items()}

    def run(self, leaving: Leaving) -> tuple[ClusterState, tuple[Displaced, ...]]:
        pods = self._state.inventory.pods
        forced, asking = [], []
        for key, by in sorted(leaving.pods.items()):
            pod = pods[key]
            because = _exempt(pod)
            if because is not None:
                self._tell(pod, PodFate.STAYS if by is LeavesBy.DRAIN else PodFate.GONE, because)
                if by is not LeavesBy.DRAIN:
                    self._remove([pod])
            elif by is LeavesBy.DRAIN:
                asking.append(pod)
            else:
                forced.append(pod)
        self._move(forced)
        while asking:
            allowed = [pod for pod in asking if self._admits(pod)]
            if not allowed:
                break
            self._move(allowed)
            gone = {key_of(pod.metadata) for pod in allowed}
            asking = [pod for pod in asking if key_of(pod.metadata) not in gone]
        self._stay(asking)
        return self._state, tuple(self._found[key] for key in sorted(self._found))

    def _stay(self, pods: Sequence[Pod]) -> None:
        """Pods that their budgets keep where they are, with what would become of all of them together without these."""
        state, refusing = self._state, [self._refusing(pod) for pod in pods]
        self._move(pods)
        self._state = state
        for pod, budget in zip(pods, refusing, strict=True):
            then = self._found[key_of(pod.metadata)]
            more = {name: getattr(then, name) for name in ("node", "equal", "devices", "message")}
            self._tell(pod, PodFate.STAYS, Because.BUDGET, budget=budget, released=then.fate, **more)

    # --- budgets ---

    def _budgets(self, pod: Pod) -> list[Key]:
        if pod.status.phase in _WITHOUT_BUDGET:
            return []
        return [key for key, budget in self._state.inventory.budgets.items() if covers(budget, pod)]

    def _admits(self, pod: Pod) -> bool:
        """Take one disruption of the pod's budget; the API refuses a pod that several budgets cover."""
        mine = self._budgets(pod)
        if len(mine) > 1 or any(self._allowed[key] <= 0 for key in mine):
            return False
        for key in mine:
            self._allowed[key] -= 1
        return True

    def _refusing(self, pod: Pod) -> str:
        mine = self._budgets(pod)
        refusing = mine if len(mine) > 1 else [key for key in mine if self._allowed[key] <= 0]
        return ", ".join(map(str, refusing))

    # --- moving ---

    def _move(self, pods: Sequence[Pod]) -> None:
        """Take the pods away together, then place what is made again, the most important first."""
        if not pods:
            return
        self._remove(pods)
        for pod in sorted(pods, key=lambda pod: (-(pod.spec.priority or 0), key_of(pod.metadata))):
            for_good = _for_good(pod)
            if for_good is not None:
                self._tell(pod, PodFate.GONE, for_good)
                continue
            if self._place(pod):
                for key in self._budgets(pod):
                    self._allowed[key] += 1

    def _remove(self, pods: Sequence[Pod]) -> None:
        change = without_pods({key_of(pod.metadata) for pod in pods})
        self._before = self._state.inventory
        self._state = self._state.changed(change(self._state.inventory))

    def _place(self, pod: Pod) -> bool:
        state, key = self._state, key_of(pod.metadata)
        unknown = _undecidable(state, pod, self._before)
        if unknown is not None:
            self._tell(pod, PodFate.UNKNOWN, unknown)
            return False
        state = _with(state, again(pod), self._before)
        made = state.inventory.pods[key]
        entries = resolve(state.inventory, state.evidence, state.features, made)
        claims = [entry.claim for entry in entries if entry.claim is not None]
        problems = [entry for entry in entries if entry.problem is not None]
        self._state = state
        if problems:
            certain = next((each for each in problems if not _is_open(state, each, key.namespace)), None)
            if certain is not None:
                self._tell(pod, PodFate.PENDING, message=certain.text)
            else:
                self._tell(pod, PodFate.UNKNOWN, Because.NOT_READ)
            return False
        told = choice.told(state, made, self._owners)
        tried = attempt(told or state, made, claims)
        judged = judge(state, made, tried)
        if judged.verdict is not Verdict.SCHEDULABLE:
            known = judged.verdict in (Verdict.UNSCHEDULABLE, Verdict.SCHEDULER_ERROR)
            message = judged.messages[0] if judged.messages else ""
            self._tell(
                pod,
                PodFate.PENDING if known else PodFate.UNKNOWN,
                message=message,
                because=Because.NONE if known else Because.NOT_READ,
            )
            return False
        fits = tried.names(NodeOutcome.FITS)
        best = choice.best(tried)
        self._state = state.changed(bound(state, key, *tried.fitting(best[0]), tried))
        devices = tuple(_devices(self._state.inventory, key))
        because = Because.NONE
        if len(fits) > 1 and told is None:
            because = Because.NOT_READ
        elif choice.compared(state, len(fits)):
            because = Because.SOME_COMPARED
        likely = best if because is Because.NONE else (best[0], *(name for name in fits if name != best[0]))
        equal = likely if len(likely) > 1 else ()
        self._tell(pod, PodFate.MOVES, because, node=best[0], equal=equal, devices=devices)
        return True

    def _tell(self, pod: Pod, fate: PodFate, because: Because = Because.NONE, **more: object) -> None:
        key = key_of(pod.metadata)
        ref = ObjectRef.of("Pod", key)
        self._found[key] = Displaced(ref, pod.spec.node_name, fate, because, **more)  # type: ignore[arg-type]


def _is_open(state: ClusterState, entry: ResolvedEntry, namespace: str) -> bool:
    """Whether a claim keeps the pod away only because it, or the template that it is made from, was not read."""
    if entry.problem is ClaimProblem.NOT_CREATED:
        return not state.evidence.complete(_TEMPLATE, namespace)
    return entry.problem is ClaimProblem.UNREADABLE


def _exempt(pod: Pod) -> Because | None:
    """Why a pod does not leave its node, or ends there for good; None if another one is made for another node."""
    if not stays_with_node(pod):
        return None
    return Because.STATIC if MIRROR in pod.metadata.annotations else Because.DAEMON_SET


def _for_good(pod: Pod) -> Because | None:
    """Why nothing is made in place of a pod that leaves: of one that is being deleted, what comes next is there."""
    if pod.metadata.deletion_timestamp is not None:
        return Because.BEING_DELETED
    return Because.NO_CONTROLLER if pod.metadata.controller is None else None


def covers(budget: PodDisruptionBudget, pod: Pod) -> bool:
    """Whether the eviction API asks this budget: in policy/v1 an empty selector covers every pod of the namespace."""
    if budget.metadata.namespace != pod.metadata.namespace or budget.spec.selector is None:
        return False
    return selects(requirements_of(budget.spec.selector), pod.metadata.labels)


def _undecidable(state: ClusterState, pod: Pod, before: Inventory) -> Because | None:
    if in_group(pod):
        return Because.GANG
    if other_scheduler(pod, state.schedulers) is not None:
        return Because.OTHER_SCHEDULER
    return Because.DRIVER_DECIDES if classic.concerns(claims_of(pod, before)) else None


# --- pods that are made again ---------------------------------------------------------------------------------------


def again(pod: Pod) -> Pod:
    """What the controller of a pod makes in its place; it keeps the name, though most controllers choose a new one."""
    own = pod.metadata
    meta = msgspec.structs.replace(own, uid=f"again-{own.uid}", deletion_timestamp=None, creation_timestamp=None)
    spec = msgspec.structs.replace(pod.spec, node_name="")
    return msgspec.structs.replace(pod, metadata=meta, spec=spec, status=PodStatus(phase="Pending"))


def _with(state: ClusterState, pod: Pod, before: Inventory) -> ClusterState:
    """With the pod and its claims. What the old claims were charged for the new ones are: quotas play no part.

    A template that could not be read is what the old claim was made from.
    """
    inventory = state.inventory
    templates = {**_templates(state, pod, before), **inventory.templates}
    made = added(inventory.replace(templates=templates, quotas={}), pod, extended=state.features.extended_resource)
    return state.changed(made.replace(templates=inventory.templates, quotas=inventory.quotas))


def _templates(state: ClusterState, pod: Pod, before: Inventory) -> Mapping[Key, ResourceClaimTemplate]:
    namespace = pod.metadata.namespace
    if state.evidence.complete(_TEMPLATE, namespace):
        return {}
    return dict(as_claimed(before.pods[key_of(pod.metadata)], lambda name: before.claims.get(Key(namespace, name))))


def _devices(inventory: Inventory, pod: Key) -> Iterator[str]:
    """The devices that a pod's claims hold, those for extended resources included."""
    extended = inventory.claims.get(Key(pod.namespace, f"{pod.name}-extended-resources"))
    for claim in (*claims_of(inventory.pods[pod], inventory), *((extended,) if extended is not None else ())):
        yield from map(str, devices_of(claim))
