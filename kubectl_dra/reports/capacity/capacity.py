"""How many pods of a shape the cluster has room for: one answer per shape, with the commands of moves."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from kubectl_dra.api.kinds import POD_GROUP, RESOURCE_SLICE
from kubectl_dra.api.planned import Planned
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.capacity import MORE, Capacity, Devices, Moves, Shape, capacity, of_request, template_of
from kubectl_dra.diagnosis.capacity.accounts import NAMES
from kubectl_dra.diagnosis.capacity.kept_nodes import kept_by
from kubectl_dra.diagnosis.capacity.records import Deletion
from kubectl_dra.diagnosis.capacity.shape import waiting
from kubectl_dra.diagnosis.gangs.cycles import are_placed_together, group_of
from kubectl_dra.diagnosis.gates import quota
from kubectl_dra.diagnosis.pod import missing, needs
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.pod.volume_claims import with_own_volumes
from kubectl_dra.diagnosis.pod.workloads import ReadOwner
from kubectl_dra.diagnosis.records import Bound, Certainty, Count, Missing, ObjectRef, Unspecified
from kubectl_dra.diagnosis.whatif import Switch, WhatIf, what_if
from kubectl_dra.diagnosis.whatif.records import Because
from kubectl_dra.model.base import with_spec
from kubectl_dra.model.core import Pod, PodResourceClaim
from kubectl_dra.model.evidence import Coverage
from kubectl_dra.model.ids import Key
from kubectl_dra.model.invocation import Words
from kubectl_dra.model.resource import ResourceClaim, ResourceClaimTemplate
from kubectl_dra.model.taint_text import taint_text
from kubectl_dra.reports.admitted import admitted
from kubectl_dra.reports.base import FeatureRecord, ReadRecord, ReportRecord, feature_record, reads_of
from kubectl_dra.reports.capacity.bounds import with_bounds
from kubectl_dra.reports.capacity.commands import deleting, restarting, unwaited
from kubectl_dra.reports.capacity.groups import CountedShape, GroupCapacity, group_capacities
from kubectl_dra.reports.claims.ask import ClaimAsk, ExtendedAsk, claim_ask, extended_asks
from kubectl_dra.reports.devices.twins import one_machine
from kubectl_dra.reports.devices.unpublished import vanished
from kubectl_dra.reports.pending.pending import PendingReport, pending_report
from kubectl_dra.reports.pending.remedies import FoundRemedies
from kubectl_dra.reports.simulation.admission import manifest_reports
from kubectl_dra.reports.simulation.copied_slices import CopiedSlice
from kubectl_dra.reports.simulation.effects import effects
from kubectl_dra.reports.simulation.existing import new_namespaces, with_namespaces, with_objects
from kubectl_dra.reports.simulation.flavors import with_flavors
from kubectl_dra.reports.simulation.owned import without_owned
from kubectl_dra.reports.simulation.records import ManifestReport
from kubectl_dra.reports.simulation.served_fields import as_stored
from kubectl_dra.reports.simulation.trials import trials
from kubectl_dra.reports.simulation.unread import unread_admission
from kubectl_dra.scheduler.claims import sources
from kubectl_dra.scheduler.extended import asked

_MOST_SHAPES: Final = 20
#: What decides about what is created, and about nothing else.
_OF_CREATION: Final = frozenset(need.kind for need in (needs.LIMITS, needs.RUNTIMES)) | {quota.KIND}
#: Of what can't be created.
_NONE: Final = Capacity(Count(0, Bound.EXACT), Count(0, Bound.EXACT), False, Devices(), ())


class CapacityRequest(msgspec.Struct, frozen=True):
    """What ``--class``, ``--count`` and ``--selector`` ask for."""

    device_class: str
    count: int = 1
    selectors: tuple[str, ...] = ()


class WayOut(ReportRecord, frozen=True):
    """A set of moves with the commands that carry it out, in their order.

    ``unwaited``: pods of which no command can name what is made in their place.
    """

    moves: Moves
    commands: tuple[Words, ...]
    unwaited: tuple[ObjectRef, ...] = ()


class EndingWay(ReportRecord, frozen=True):
    """Bare pods whose end makes room, with the commands that end them."""

    deletion: Deletion
    commands: tuple[Words, ...]


class ShapeCapacity(ReportRecord, frozen=True):
    """One shape: what it is made from (empty kind: the options), what it asks for, how many fit, what would help.

    ``min_count``: how many pods of the PodGroup that it names are placed at the same time; None if it names no gang.
    ``unspecified``: what quotas require and only a LimitRange may still give, where none could be read; then no copy
    may be created, whatever ``capacity`` says. ``blocked``: objects that it names and the API server would refuse, or a
    PriorityClass or RuntimeClass that does not exist, so that nothing was counted; ``refused``: what the API server has
    against the pod itself, in its words, with the same effect. ``beside``: LimitRanges or a RuntimeClass that could not
    be read and may change the pod.
    ``rest_by``: who makes all of it but its claims, which alone were counted. ``misread``: a server drops something of
    the manifest, or of one that it names; the rest was counted. ``scheduler`` decides instead of the default scheduler,
    by whose rules the copies were counted; empty where that one decides. ``bypasses``: the node that it names itself,
    so that nothing allocates devices for it, and nothing was counted. ``pending``: why not even one copy fits.
    ``extended``: the extended resources that it asks for and a class serves; ``unserved``: those that no class serves.
    ``tolerates``: taints of all nodes with such devices, which a pod that no file describes is supposed to tolerate.
    """

    subject: ObjectRef
    role: str
    asks: tuple[ClaimAsk, ...]
    capacity: Capacity
    ways: tuple[WayOut, ...]
    ends: tuple[EndingWay, ...] = ()
    min_count: int | None = None
    unspecified: tuple[Unspecified, ...] = ()
    blocked: tuple[ObjectRef, ...] = ()
    misread: bool = False
    scheduler: str = ""
    bypasses: str = ""
    refused: tuple[str, ...] = ()
    beside: tuple[Missing, ...] = ()
    rest_by: str = ""
    pending: PendingReport | None = None
    extended: tuple[ExtendedAsk, ...] = ()
    unserved: tuple[str, ...] = ()
    tolerates: tuple[str, ...] = ()

    @property
    def requests_devices(self) -> bool:
        """Whether it asks for devices, by claims or by extended resources, whoever has them."""
        return bool(self.asks or self.extended or self.unserved)

    @property
    def none_fits(self) -> bool:
        """Whether certainly not even one copy fits, as it is written."""
        if self.blocked or self.refused or self.misread or self.bypasses:
            return True
        if self.scheduler:
            return False
        fits = self.capacity.copies
        return not fits.value and fits.bound in (Bound.EXACT, Bound.AT_MOST)


@dataclass(frozen=True, slots=True)
class _Uncounted:
    """A shape before it is counted; ``bare``: its containers stand for others."""

    known: ShapeCapacity
    shape: Shape
    bare: bool = False


class Unreadable(ReportRecord, frozen=True):
    """An object of the file that is not counted, because it can't be read as what it says it is."""

    subject: ObjectRef
    error: str


class CapacityReport(ReportRecord, frozen=True):
    """All shapes, each on the whole cluster by itself. ``more``: shapes of the file that were left out.

    ``manifests``: those that a server refuses, or reads in another way than they are written. ``groups``: how many
    whole groups fit of objects whose pods are of use together only. ``copied``: slices of the file in which a field
    seems to have been left as it was in the slice that they were copied from. ``vanished``: what claims hold that no
    slice publishes any more, so that no count has it. ``machines``: nodes that publish the same devices, counted twice.
    """

    shapes: tuple[ShapeCapacity, ...]
    more: int
    certainty: Certainty
    missing: tuple[Missing, ...]
    features: FeatureRecord
    read: tuple[ReadRecord, ...]
    what_if: WhatIf | None = None
    unreadable: tuple[Unreadable, ...] = ()
    manifests: tuple[ManifestReport, ...] = ()
    groups: tuple[GroupCapacity, ...] = ()
    copied: tuple[CopiedSlice, ...] = ()
    vanished: tuple[str, ...] = ()
    machines: tuple[tuple[str, ...], ...] = ()

    @property
    def bad(self) -> bool:
        """Whether of any shape not even one copy fits, or an object is not what a server would make of it."""
        return bool(self.unreadable or self.manifests or self.copied) or any(each.none_fits for each in self.shapes)

    @property
    def partial(self) -> bool:
        """Whether evidence is missing that decides, or a LimitRange or another scheduler, which are not read."""
        open_ = any(
            (each.unspecified or each.scheduler or each.rest_by) and each.capacity.copies.value for each in self.shapes
        )
        return open_ or any(each.decides for each in self.missing)

    @property
    def unread(self) -> frozenset[str]:
        """Kinds that decide what is left of nodes and could not be read."""
        return _unread(self.missing)

    @property
    def answered(self) -> bool:
        """Whether any number could be given."""
        return any(each.capacity.copies.bound is not Bound.UNKNOWN for each in self.shapes)


def capacity_report(
    state: ClusterState,
    shapes: Sequence[Planned] | CapacityRequest,
    namespace: str,
    switches: Sequence[Switch] = (),
    names: int | None = NAMES,
    read_owner: ReadOwner | None = None,
) -> CapacityReport:
    """The answer for the pods of some manifests, or for one request of a bare pod in ``namespace``.

    ``names``: of alike nodes at most so many are named. ``read_owner`` gets controllers of displaced pods. Raises
    :class:`~kubectl_dra.diagnosis.whatif.WhatIfError`.
    """
    lacking = missing.missing(state.evidence, needs.POD, namespace)
    certainty = missing.certainty(state.evidence)
    features, read = feature_record(state.features), reads_of(state.evidence)
    objects = () if isinstance(shapes, CapacityRequest) else tuple(as_stored(state, without_owned(shapes)[0]))
    said = tuple(_said(state, objects))
    refused = [each for each, found in zip(objects, said, strict=True) if found.refused]
    objects = tuple(each for each, found in zip(objects, said, strict=True) if not found.refused)
    new = new_namespaces(state, objects)
    prepared = with_objects(with_namespaces(state, objects, new), objects)
    slices = any(each.kind == RESOURCE_SLICE.name for each in objects)
    copied = effects(state, prepared, objects).copied if slices else ()
    supposed = None
    if switches:
        prepared, supposed = what_if(prepared, switches, read_owner)
    if isinstance(shapes, CapacityRequest):
        kept = kept_by(prepared, shapes.device_class)
        shape = of_request(namespace, shapes.device_class, shapes.count, shapes.selectors, kept)
        tolerates = tuple(map(taint_text, kept))
        bare = ShapeCapacity(ObjectRef("", namespace, ""), "", (), _NONE, (), tolerates=tolerates)
        found = [_Uncounted(bare, shape, bare=True)]
    else:
        found = list(_shapes(prepared, objects, refused, new))
    answers = tuple(_answer(prepared, each, names) for each in found[:_MOST_SHAPES])
    more = max(0, len(found) - _MOST_SHAPES)
    deciding = _deciding(state, lacking, answers)
    answers = tuple(_with_bounds(each, _unread(deciding)) for each in answers)
    wrong = tuple(_unreadable(objects))
    otherwise = tuple(each for each in said if each.refused or each.findings)
    groups, of_nodes = tuple(_groups(prepared, objects, found, answers)), (vanished(prepared), one_machine(prepared))
    return CapacityReport(
        answers, more, certainty, deciding, features, read, supposed, wrong, otherwise, groups, copied, *of_nodes
    )


def _groups(
    state: ClusterState, objects: Sequence[Planned], counted: Sequence[_Uncounted], answers: Sequence[ShapeCapacity]
) -> Iterator[GroupCapacity]:
    """Of what was counted as it is written."""
    shapes = [
        CountedShape(answer.subject, answer.role, each.shape, answer.asks, answer.capacity.copies, answer.scheduler)
        for each, answer in zip(counted, answers, strict=False)
        if not (answer.blocked or answer.misread or answer.bypasses or answer.refused or answer.unspecified)
    ]
    return group_capacities(state, objects, shapes)


def _said(state: ClusterState, objects: Sequence[Planned]) -> Iterator[ManifestReport]:
    """What the API server says of each. What quotas admit is told by a number; one copy needs no PodGroup."""
    if not objects:
        return
    without = state.changed(state.inventory.replace(quotas={}))
    made = with_namespaces(without, objects, new_namespaces(state, objects))
    for each in manifest_reports(without, made, objects, quotas=False):
        yield msgspec.structs.replace(each, refused=()) if each.object.kind == POD_GROUP.name else each


def _unreadable(objects: Iterable[Planned]) -> Iterator[Unreadable]:
    for each in objects:
        if each.error:
            yield Unreadable(ObjectRef(each.kind, each.key.namespace, each.name), each.error)


def _deciding(state: ClusterState, lacking: Iterable[Missing], answers: Sequence[ShapeCapacity]) -> tuple[Missing, ...]:
    """What is lacking; quotas that were not read decide where copies find their devices."""
    fitting = [shape.subject.namespace for shape in answers if shape.capacity.copies.value]
    unread = [name for name in dict.fromkeys(fitting) if not quota.are_read(state, name)]
    (need,) = needs.deciding((quota.KIND,))
    others = (each for each in lacking if each.kind != quota.KIND or not unread)
    beside = dict.fromkeys(each for shape in answers if shape.capacity.copies.value for each in shape.beside)
    found = (*others, *(missing.lacking(state.evidence, need, name) for name in unread))
    return (*found, *beside, *_of_the_choice(state, answers))


def _unread(lacking: Iterable[Missing]) -> frozenset[str]:
    """The kinds that decide; those that do by what is created are about its namespace alone."""
    return frozenset(each.kind for each in lacking if each.decides) - _OF_CREATION


def _with_bounds(answer: ShapeCapacity, unread: Collection[str]) -> ShapeCapacity:
    return msgspec.structs.replace(answer, capacity=with_bounds(answer.capacity, unread)) if unread else answer


def _of_the_choice(state: ClusterState, answers: Iterable[ShapeCapacity]) -> Iterator[Missing]:
    """Services that were refused and tell which node a restarted pod gets, once per namespace."""
    moves = (move for shape in answers for moves in shape.capacity.moves for move in moves.moves)
    open_ = {move.pod.namespace for move in moves if move.because is Because.NOT_READ}
    (need,) = needs.SPREADING
    for namespace in sorted(open_):
        if state.evidence.coverage(need.kind, namespace) is not Coverage.NOT_READ:
            yield from missing.missing(state.evidence, (need,), namespace)


def _answer(state: ClusterState, uncounted: _Uncounted, names: int | None) -> ShapeCapacity:
    known, shape = uncounted.known, uncounted.shape
    tried = not (known.blocked or known.refused or known.bypasses)
    found, copy = capacity(state, shape, MORE, names) if tried else _NONE, waiting(state, shape)
    none = tried and not found.copies.value
    pending = pending_report(Diagnoser(copy.state).pod(copy.key), copy.state, ways=FoundRemedies()) if none else None
    ways = tuple(WayOut(each, tuple(restarting(each, state)), tuple(unwaited(each, state))) for each in found.moves)
    settled = uncounted.bare or quota.is_settled(state, shape.pod.metadata.namespace)
    quotas = () if settled else state.inventory.quotas.values()
    by_defaults = quota.may_exceed(quotas, shape.pod, found.copies.value)
    return msgspec.structs.replace(
        known,
        asks=tuple(claim_ask(claim) for claim in copy.claims),
        extended=(served := extended_asks(copy.key, copy.state)),
        unserved=tuple(sorted(asked(copy.pod).keys() - {each.resource for each in served})),
        capacity=found,
        ways=ways,
        ends=tuple(EndingWay(each, tuple(deleting(each, state))) for each in found.deletions),
        min_count=_min_count(state, shape.pod),
        unspecified=(*known.unspecified, *by_defaults),
        pending=pending,
    )


def _min_count(state: ClusterState, pod: Pod) -> int | None:
    group = group_of(state, pod) if are_placed_together(state) else None
    return group.min_count if group is not None and group.spec.scheduling_policy.gang is not None else None


# --- shapes of manifests --------------------------------------------------------------------------------------------


def _shapes(
    state: ClusterState, objects: Sequence[Planned], refused: Sequence[Planned], new: Collection[str]
) -> Iterator[_Uncounted]:
    """The pods that the objects make, each once, and what quotas require of them; ``new``: namespaces.

    A claim of the files stands for one per copy.
    """
    own = {each.key: each.record for each in objects if isinstance(each.record, ResourceClaim)}
    for trial in trials(state, admitted(state, with_flavors(state, objects)), refused, together=False):
        pod, templates = _with_templates(with_own_volumes(trial.plan.pod, trial.plan.volume_claims), own)
        settled = trial.is_bare or quota.is_settled(state, pod.metadata.namespace)
        required = () if settled else quota.unspecified(state.inventory.quotas.values(), pod)
        known = ShapeCapacity(
            trial.subject,
            trial.plan.role,
            (),
            _NONE,
            (),
            unspecified=tuple(required),
            blocked=trial.blocked,
            misread=trial.misread,
            scheduler=trial.scheduler,
            bypasses=trial.bypasses,
            refused=trial.refused,
            beside=() if trial.is_bare else tuple(unread_admission(state, pod, new)),
            rest_by=trial.plan.rest_by,
        )
        yield _Uncounted(known, Shape(pod, templates), trial.is_bare)


def _with_templates(pod: Pod, claims: dict[Key, ResourceClaim]) -> tuple[Pod, dict[Key, ResourceClaimTemplate]]:
    entries, templates = [], {}
    for entry in pod.spec.resource_claims:
        claim = claims.get(Key(pod.metadata.namespace, sources(entry)[0] or ""))
        if claim is None:
            entries.append(entry)
            continue
        key = Key(pod.metadata.namespace, claim.metadata.name)
        templates[key] = template_of(key, claim.spec)
        entries.append(PodResourceClaim(name=entry.name, resource_claim_template_name=key.name))
    return with_spec(pod, resource_claims=tuple(entries)), templates
