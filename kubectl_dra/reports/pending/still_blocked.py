"""Why what is in the way first is not all: what a pod would lack with the attribute that is meant, or once admitted."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis import records
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.remedies import changes
from kubectl_dra.model.base import with_spec
from kubectl_dra.model.evidence import Read
from kubectl_dra.model.forms import Form, forms
from kubectl_dra.model.ids import Key
from kubectl_dra.model.meta import ObjectMeta
from kubectl_dra.model.resource import CELSelector, DeviceClass, DeviceSelector, ResourceClaim, ResourceClaimSpec
from kubectl_dra.reports.base import ReportRecord
from kubectl_dra.reports.claims.ask import ClaimAsk, ExtendedAsk, extended_asks, pending_asks
from kubectl_dra.reports.pending.nodes import NodeGroupRecord, in_numbers, node_records
from kubectl_dra.selectors.hidden import with_attribute

_CLASS = "DeviceClass"
_REFUSED = (records.Verdict.UNSCHEDULABLE, records.Verdict.SCHEDULER_ERROR)


class StillBlocked(ReportRecord, frozen=True):
    """What would be in the way of a pod then: ``causes``, and of these ``nodes``, ``asks`` and ``extended``.

    With an attribute called ``after`` in place of ``before``; with ``classes``, which could not be read, that select
    every device; with neither once the queue lets the pod go. ``missing``: classes that do not exist, whatever they
    will select.
    """

    causes: tuple[records.Cause, ...]
    nodes: tuple[NodeGroupRecord, ...]
    asks: tuple[ClaimAsk, ...]
    extended: tuple[ExtendedAsk, ...]
    before: str = ""
    after: str = ""
    classes: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    def for_json(self) -> StillBlocked:
        """Without the funnels of causes: the numbers of the closest node are enough."""
        return msgspec.structs.replace(self, causes=tuple(map(in_numbers, self.causes)), nodes=())


class _Rename(msgspec.Struct, frozen=True):
    """An attribute of a selector; without ``domain`` the full name of one in a constraint."""

    domain: str
    name: str
    after: str


def still_blocked(diagnosis: records.PodDiagnosis, state: ClusterState) -> StillBlocked | None:
    """The pod with the name that is most alike, or without the gate of its queue; None where it would fit then."""
    cause = diagnosis.causes[0] if diagnosis.causes else None
    if cause is not None and cause.code is Code.QUEUED and isinstance(cause.detail, records.GangElsewhere):
        return _once_admitted(diagnosis.pod.key, state) if cause.detail.fitting == 0 else None
    if diagnosis.verdict is records.Verdict.UNKNOWN and not state.evidence.complete(_CLASS):
        return _whatever_classes_select(diagnosis.pod.key, state)
    if cause is not None and cause.code is Code.CLASS_MISSING:
        return _beside_missing_classes(diagnosis.pod.key, state)
    rename = _rename(cause.detail) if cause is not None and diagnosis.verdict in _REFUSED else None
    key = cause.claim.key if cause is not None and cause.claim is not None else None
    claim = state.inventory.claims.get(key) if key is not None else None
    spec = _edited(claim, rename) if claim is not None and rename is not None else None
    if key is None or claim is None or rename is None or spec is None or spec == claim.spec:
        return None
    change = changes.ClaimEdit(key, lambda _: spec)
    found = in_the_way_of(diagnosis.pod.key, state.changed(change(state.inventory)))
    return msgspec.structs.replace(found, before=rename.name, after=rename.after) if found is not None else None


def _once_admitted(key: Key, state: ClusterState) -> StillBlocked | None:
    pod = state.inventory.pods[key]
    free = with_spec(pod, scheduling_gates=())
    return in_the_way_of(key, state.changed(changes.PodEdit(key, lambda _: free)(state.inventory)))


def _whatever_classes_select(key: Key, state: ClusterState) -> StillBlocked | None:
    """The pod where unread classes select every device: what lacks then lacks whatever they really select.

    The search tries all sets of devices, so that fewer candidates never help; a request for all devices of a node is
    another matter, and so is an error that a device raises which the class would leave out.
    """
    requests = [request for ask in pending_asks(key, state.inventory) for request in ask.requests]
    known = state.inventory.classes
    names = tuple(dict.fromkeys(each.device_class for each in requests if each.device_class not in known))
    if not names or any(each.count is None for each in requests) or extended_asks(key, state):
        return None
    classes = {name: DeviceClass(metadata=ObjectMeta(name=name)) for name in names}
    read = (*(each for each in state.evidence.reads if each.kind != _CLASS), Read(_CLASS))
    inventory = state.inventory.replace(classes={**known, **classes})
    assumed = state.later(inventory, replace(state.evidence, reads=read))
    found = in_the_way_of(key, assumed, (records.Verdict.UNSCHEDULABLE,))
    return msgspec.structs.replace(found, classes=names) if found is not None else None


def _beside_missing_classes(key: Key, state: ClusterState) -> StillBlocked | None:
    """The pod without the requests whose classes do not exist, and without constraints: what lacks then lacks anyway.

    Nothing where no request is left: which nodes have the devices of a class nobody knows before it is there.
    """
    inventory, missing = state.inventory, dict[str, None]()
    for ask in pending_asks(key, inventory):
        claim_key = Key(key.namespace, ask.name)
        claim = inventory.claims.get(claim_key)
        if claim is None:
            return None
        lacking = {name: form.device_class_name for name, form in forms(claim.spec)}
        lacking = {name: each for name, each in lacking.items() if each not in inventory.classes}
        missing |= dict.fromkeys(lacking.values())
        edited = _without({name.partition("/")[0] for name in lacking}, claim.spec)
        if not edited.devices.requests:
            return None
        inventory = changes.ClaimEdit(claim_key, lambda _, edited=edited: edited)(inventory)  # type: ignore[misc]
    found = in_the_way_of(key, state.changed(inventory)) if missing else None
    return msgspec.structs.replace(found, missing=tuple(missing)) if found is not None else None


def _without(names: Container[str], spec: ResourceClaimSpec) -> ResourceClaimSpec:
    requests = tuple(each for each in spec.devices.requests if each.name not in names)
    return msgspec.structs.replace(
        spec, devices=msgspec.structs.replace(spec.devices, requests=requests, constraints=())
    )


def in_the_way_of(key: Key, state: ClusterState, refused: Container[records.Verdict] = _REFUSED) -> StillBlocked | None:
    """What keeps a pod from every node; None where it would fit, or its verdict is another one."""
    found = Diagnoser(state).pod(key)
    if found.verdict not in refused:
        return None
    # What was edited here differs from its template; what else does is told of the pod as it is.
    asks = (msgspec.structs.replace(ask, template_changed=False) for ask in pending_asks(key, state.inventory))
    return StillBlocked(found.causes, node_records(found.nodes), tuple(asks), extended_asks(key, state))


def _rename(detail: object) -> _Rename | None:
    match detail:
        # A name that other devices publish is no mistake, however much another resembles it.
        case records.FatalError(similar=(after, *_)) as error if not (
            "/" in after or error.publishers or error.owner.startswith("class ")
        ):
            domain, _, name = error.attribute.rpartition("/")
            return _Rename(domain, name, after)
        case records.Unpublished(domain=domain, name=name, similar=(after, *_)):
            return _Rename(domain, name, after)
        case records.UnpublishedInConstraint(attribute=name) as found if found.elsewhere or found.similar:
            return _Rename("", name, (*found.elsewhere, *found.similar)[0])
    return None


def _edited(claim: ResourceClaim, rename: _Rename) -> ResourceClaimSpec:
    spec = claim.spec
    if not rename.domain:
        for index, each in enumerate(spec.devices.constraints):
            if rename.name in (each.match_attribute, each.distinct_attribute):
                spec = changes.compare_in_constraint(index, rename.after)(spec)
        return spec

    def selector(old: DeviceSelector) -> DeviceSelector:
        if old.cel is None:
            return old
        return DeviceSelector(CELSelector(with_attribute(old.expression, rename.domain, rename.name, rename.after)))

    def edit(request: Form) -> Form:
        return msgspec.structs.replace(request, selectors=tuple(map(selector, request.selectors)))

    for name, _ in forms(claim.spec):
        spec = changes.edit_request(name, edit)(spec)
    return spec
