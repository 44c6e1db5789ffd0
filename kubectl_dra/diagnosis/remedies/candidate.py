"""A remedy that has not been tried yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Final, NamedTuple

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.pod.workloads import Owners
from kubectl_dra.diagnosis.records import Cause, Funnel, NodeOutcome, ObjectRef, PodDiagnosis, Removal, StageName
from kubectl_dra.diagnosis.remedies.changes import Change, ClaimEdit, PodEdit, SpecEdit, edit_request
from kubectl_dra.diagnosis.remedies.pod_edits import applied
from kubectl_dra.diagnosis.remedies.records import Action, EditClaim, EditPod, RemedyKind
from kubectl_dra.model.core import Pod
from kubectl_dra.model.forms import Form, forms
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.model.resource import Device, ResourceClaim
from kubectl_dra.scheduler.claims import ResolvedEntry, resolve
from kubectl_dra.selectors.catalog import PublishedDevices


@dataclass(frozen=True, slots=True)
class Candidate:
    """Actions, what they change, and what they ask of their reader.

    ``changes``: one per action; empty: what it leads to can't be tried. ``steps`` are weaker forms of the same, tried
    in their order until one works. ``only``: the nodes where it could help. ``instead``: what may become of the
    cluster in place of the only change; the pod has to fit after each.
    """

    kind: RemedyKind
    actions: tuple[Action, ...]
    cost: int
    changes: tuple[Change, ...] = ()
    steps: tuple[Candidate, ...] = ()
    only: tuple[str, ...] = ()
    instead: tuple[Change, ...] = ()


def pod_edit(
    case: Case,
    field: str,
    before: str,
    after: str,
    cost: int,
    only: tuple[str, ...] = (),
    edit: Callable[[Pod], Pod] | None = None,
    qos_class: str = "",
) -> Candidate:
    """The pod, or what makes it, with another value of one field of its spec; ``edit``: what else comes of it."""
    action = EditPod(case.diagnosis.pod, field, before, after, case.workload, qos_class=qos_class)
    change = PodEdit(case.diagnosis.pod.key, edit or applied(action))
    return Candidate(RemedyKind.EDIT_POD, (action,), cost, (change,), only=only)


def _differ(inventory: Inventory, claim: Key, template: Key) -> bool:
    made, maker = inventory.claims.get(claim), inventory.templates.get(template)
    return made is not None and maker is not None and maker.spec.spec != made.spec


#: Fields of what each pod names of its own.
OF_ONE_POD: Final = ("resourceClaims", "volumes")
#: Changes that make sense together with another one.
COMBINABLE: Final = frozenset(
    {RemedyKind.EDIT_CLAIM, RemedyKind.EDIT_POD, RemedyKind.NARROW_TAINT_RULE, RemedyKind.REMOVE_TAINT_RULE}
)
#: Those that others are combined with.
FIRST: Final = COMBINABLE | {
    RemedyKind.REMOVE_GATE,
    RemedyKind.RENEW_CLAIM,
    RemedyKind.FREE_DEVICES,
    RemedyKind.EDIT_CLASS,
    RemedyKind.UNCORDON,
    RemedyKind.LABEL_NODE,
}
# Selectors are corrected with what these many show.
_NODES_PER_GROUP: Final = 2
_POOLS: Final = 150
_DEVICES: Final = 2_000


class Published(NamedTuple):
    """A device and the driver that published it."""

    driver: str
    device: Device


@dataclass(frozen=True)
class Case:
    """The pod whose diagnosis asks for remedies; the pods to ``keep`` are not to be deleted.

    ``read``: the objects as they were read, where ``state`` has one change already.
    """

    state: ClusterState
    diagnosis: PodDiagnosis
    keep: frozenset[Key] = frozenset()
    owners: Owners = field(default_factory=lambda: Owners(Inventory()))
    read: Inventory | None = None

    @cached_property
    def pod(self) -> Pod:
        return self.state.inventory.pods[self.diagnosis.pod.key]

    @cached_property
    def workload(self) -> ObjectRef | None:
        """The topmost owner that is known of, which would make the pod anew."""
        return self.owner_of(self.pod)

    def owner_of(self, pod: Pod) -> ObjectRef | None:
        """The same of any pod."""
        top = self.owners.top(pod)
        return top.ref if top is not None else None

    @cached_property
    def _entries(self) -> tuple[ResolvedEntry, ...]:
        state = self.state
        return resolve(state.inventory, state.evidence, state.features, self.pod)

    def entries(self, claim: Key) -> Iterator[str]:
        """What the pod calls a claim."""
        return (entry.entry.name for entry in self._entries if entry.name == claim)

    @cached_property
    def templates(self) -> dict[Key, ObjectRef]:
        """Claims of the pod that were made from a template, with the template."""
        namespace = self.pod.metadata.namespace
        return {
            entry.name: ObjectRef("ResourceClaimTemplate", namespace, entry.template)
            for entry in self._entries
            if entry.name is not None and entry.template
        }

    @cached_property
    def changed_templates(self) -> dict[Key, ObjectRef]:
        """Of :attr:`templates` those that say something else than the claim by now."""
        # What is supposed of a claim would be written into its template as well.
        inventories = (self.state.inventory, *(() if self.read is None else (self.read,)))
        return {k: ref for k, ref in self.templates.items() if all(_differ(each, k, ref.key) for each in inventories)}

    @cached_property
    def published(self) -> PublishedDevices[Published]:
        """Devices to try selectors on: those of the nodes that differ, and of pools in even distances."""
        pools, inventory = self.state.pools, self.state.inventory
        near = {name for group in self.diagnosis.nodes for name in group.nodes[:_NODES_PER_GROUP]}
        slices = [each for name in near for each in inventory.slices_by_node.get(name, ())]
        chosen = {each.spec.pool_id for each in slices}
        chosen.update(pools[:: max(len(pools) // _POOLS, 1)])
        devices = (Published(p.driver, d) for p in sorted(chosen) for _, d in self.state.published(p))
        return PublishedDevices(tuple(islice(devices, _DEVICES)))

    def is_sibling(self, pod: Pod) -> bool:
        """Whether a pod is made by the same controller, and so from the same template."""
        return self.owners.are_siblings(self.pod, pod)

    def is_of_same_workload(self, pod: Pod) -> bool:
        """Whether a pod is a part of what this pod is a part of: to end one part for another helps nobody."""
        return self.owners.share_workload(self.pod, pod)

    def causes(self, *codes: Code) -> Iterator[Cause]:
        return (cause for cause in self.diagnosis.causes if cause.code in codes)

    def claim_of(self, cause: Cause) -> ResourceClaim | None:
        """The claim that a cause is about, if it exists."""
        return self.state.inventory.claims.get(cause.claim.key) if cause.claim is not None else None

    def funnels(self) -> Iterator[tuple[ResourceClaim, str, Form, Sequence[Funnel]]]:
        """The requests of existing claims that were searched in vain, with their funnels, nearest first."""
        found: dict[tuple[ObjectRef, str], list[Funnel]] = {}
        for group in self.diagnosis.nodes:
            if group.outcome is NodeOutcome.CANNOT_ALLOCATE:
                for report in group.requests:
                    if report.funnel is not None:
                        found.setdefault((report.claim, report.request), []).append(report.funnel)
        for (ref, name), funnels in found.items():
            claim = self.state.inventory.claims.get(ref.key)
            request = request_of(claim, name) if claim is not None else None
            if claim is not None and request is not None:
                yield claim, name, request, funnels

    @property
    def searched(self) -> tuple[ResourceClaim, ...]:
        """The claims for which devices were looked for in vain."""
        return tuple({key_of(claim.metadata): claim for claim, _, _, _ in self.funnels()}.values())


class ClaimEditor:
    """Makes candidates that edit one claim, or one request of it."""

    def __init__(self, case: Case, claim: ResourceClaim, request: str = "") -> None:
        self.key = key_of(claim.metadata)
        self.request = request
        self.claim = ObjectRef.of("ResourceClaim", self.key)
        self.template = case.templates.get(self.key)
        self.several = len(claim.spec.devices.requests) > 1

    def edit(self, field: str, before: str, after: str, edit: Callable[[Form], Form], cost: int) -> Candidate:
        return self.of_spec(field, before, after, edit_request(self.request, edit), cost)

    def of_spec(self, field: str, before: str, after: str, edit: SpecEdit, cost: int) -> Candidate:
        """The claim with another spec."""
        action = EditClaim(self.claim, self.request, field, before, after, self.template, several=self.several)
        return Candidate(RemedyKind.EDIT_CLAIM, (action,), cost, (ClaimEdit(self.key, edit),))


def _one_after_the_other(change: Change, then: Change) -> Change:
    if isinstance(change, ClaimEdit) and isinstance(then, ClaimEdit):
        edit, again = change.edit, then.edit
        return ClaimEdit(change.key, lambda spec: again(edit(spec)))
    # The first may make the claim, of which a quota forbids as much as its template asks for.
    return lambda inventory: then(change(inventory))


def is_same(one: Sequence[Action], other: Sequence[Action], *, of_group: bool = False) -> bool:
    """Whether these are the same changes in another order; ``of_group``: each is one of all pods of a group."""
    alone = _of_all if of_group else _alone
    known = list(map(alone, other))
    return len(one) == len(other) and all(alone(action) in known for action in one)


def _of_all(action: Action) -> Action:
    """Without which pod of a group, or which of the claims from one template, it was found for."""
    if isinstance(action, EditClaim) and action.template is not None:
        action = msgspec.structs.replace(action, claim=action.template)
    if isinstance(action, EditPod) and not action.field.startswith(OF_ONE_POD):
        return msgspec.structs.replace(action, pod=ObjectRef("Pod", action.pod.namespace, ""))
    return _alone(action)


def _alone(action: Action) -> Action:
    """Without what a change before it has left of the claim."""
    return msgspec.structs.replace(action, several=False) if isinstance(action, EditClaim) else action


def merged(first: Candidate, second: Candidate) -> Candidate:
    """Both changes together; two edits of one field are one edit.

    Nothing is freed for others before this pod can use it.
    """
    cost, one, other = first.cost + second.cost, first.actions[-1], second.actions[0]
    if isinstance(one, EditClaim) and isinstance(other, EditClaim) and one.place == other.place:
        action = msgspec.structs.replace(one, after=other.after)
        both = _one_after_the_other(first.changes[-1], second.changes[0])
        return Candidate(first.kind, (*first.actions[:-1], action), cost, (*first.changes[:-1], both))
    if first.kind is RemedyKind.FREE_DEVICES:
        return Candidate(first.kind, (*second.actions, *first.actions), cost, (*second.changes, *first.changes))
    return Candidate(first.kind, (*first.actions, *second.actions), cost, (*first.changes, *second.changes))


def first_of(forms: Sequence[Candidate]) -> Iterator[Candidate]:
    """One candidate that takes the first of the forms that works."""
    if forms:
        yield replace(forms[0], steps=tuple(forms[1:]))


def request_of(claim: ResourceClaim, name: str) -> Form | None:
    return dict(forms(claim.spec)).get(name)


def removals(funnels: Sequence[Funnel], stage: StageName) -> Iterator[Removal]:
    """What one stage of the funnels took out."""
    return (removal for funnel in funnels for removal in funnel.removed if removal.stage is stage)
