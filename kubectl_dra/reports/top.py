"""Who holds most: devices by node, class, namespace or pod; and claims that hold devices for nobody."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from enum import StrEnum
from typing import Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.records import Missing, ObjectRef
from kubectl_dra.model.forms import forms
from kubectl_dra.model.held import device_of, results_of
from kubectl_dra.model.ids import DeviceId, Key
from kubectl_dra.model.resource import ResourceClaim
from kubectl_dra.reports.base import Bound, Count, ReadRecord, ReportRecord, reads_of
from kubectl_dra.reports.claims.claim_list import is_unused
from kubectl_dra.reports.devices.class_list import class_rows
from kubectl_dra.reports.devices.holders import OVER, ConsumerState, consumers_of
from kubectl_dra.reports.devices.nodes import placed_devices
from kubectl_dra.reports.devices.totals import DeviceTally, DeviceTotals
from kubectl_dra.reports.devices.twins import one_machine
from kubectl_dra.reports.devices.unpublished import vanished
from kubectl_dra.reports.scope import ScopeKind
from kubectl_dra.reports.unread import missing_rights

#: Devices that no single node has.
SHARED: Final = ""


class By(StrEnum):
    """What the rows are."""

    NODES = "nodes"
    CLASSES = "classes"
    NAMESPACES = "namespaces"
    PODS = "pods"


class TopRow(ReportRecord, frozen=True):
    """One node, class, namespace or pod. ``devices``, ``partly`` and ``free`` are None where no whole is counted.

    ``used`` devices are held (admin access does not count), of nodes and classes those of which nothing is left;
    ``idle`` of those held are held by claims that nobody uses.
    """

    name: str
    namespace: str
    devices: Count | None
    used: Count
    partly: Count | None
    free: Count | None
    idle: Count


class IdleClaim(ReportRecord, frozen=True):
    """A claim that holds devices although no pod uses it or waits for it.

    ``reserved``: for pods that have ended or are gone, which kube-controller-manager should notice; ``groups``: for
    PodGroups without pods, which keep their claims until they are deleted.
    """

    claim: ObjectRef
    reserved: bool
    devices: tuple[str, ...]
    created: str
    groups: tuple[ObjectRef, ...] = ()


class TopReport(ReportRecord, frozen=True):
    """The rows, those that hold most first, and all idle claims of the scope, the largest first.

    ``vanished``: of nodes and classes, what claims hold that no slice publishes any more, so that no row has it.
    ``machines``: nodes that publish the same devices, which are counted for each of them.
    """

    by: By
    rows: tuple[TopRow, ...]
    idle: tuple[IdleClaim, ...]
    missing: tuple[Missing, ...]
    read: tuple[ReadRecord, ...]
    vanished: tuple[str, ...] = ()
    machines: tuple[tuple[str, ...], ...] = ()

    @property
    def bad(self) -> bool:
        """Whether devices are held for nobody."""
        return bool(self.idle)

    @property
    def answered(self) -> bool:
        """Whether anything can be said: a row, or that there is none."""
        return bool(self.rows) or not self.partial

    @property
    def partial(self) -> bool:
        """Whether evidence is missing that decides."""
        return any(each.decides for each in self.missing)


def top_report(state: ClusterState, by: By, namespace: str) -> TopReport:
    """The answer; ``namespace`` limits pods and idle claims, empty: all."""
    rows = {By.NODES: _nodes, By.CLASSES: _classes, By.NAMESPACES: _namespaces, By.PODS: _pods}[by]
    found = sorted(rows(state, namespace), key=_place)
    idle = idle_claims(state, namespace)
    lacking = missing_rights(state.evidence, _NEEDED[by], namespace if by in _OF_NAMESPACES else "")
    gone = () if by in _OF_NAMESPACES else vanished(state)
    machines = () if by in _OF_NAMESPACES else one_machine(state)
    return TopReport(by, tuple(found), idle, lacking, reads_of(state.evidence), gone, machines)


def idle_claims(state: ClusterState, namespace: str) -> tuple[IdleClaim, ...]:
    """The claims of a namespace, empty: all, that hold devices for nobody, the largest first."""
    claims = (
        claim for claim in _holding(state) if namespace in ("", claim.metadata.namespace) and is_unused(claim, state)
    )
    found = (_idle_claim(claim, state) for claim in claims)
    return tuple(sorted(found, key=lambda each: (-len(each.devices), each.claim.key)))


def _place(row: TopRow) -> tuple[int, int, str, str]:
    """Those that hold most first."""
    held = row.used.value + (row.partly.value if row.partly is not None else 0)
    return -held, -row.idle.value, row.namespace, row.name


_NEEDED: Final = {
    By.NODES: ("ResourceSlice", "ResourceClaim", "DeviceTaintRule", "Node", "Pod"),
    By.CLASSES: ("DeviceClass", "ResourceSlice", "ResourceClaim", "DeviceTaintRule", "Node", "Pod"),
    By.NAMESPACES: ("ResourceClaim", "Pod"),
    By.PODS: ("ResourceClaim", "Pod"),
}
_OF_NAMESPACES: Final = (By.NAMESPACES, By.PODS)


def _holding(state: ClusterState) -> Iterator[ResourceClaim]:
    return (claim for claim in state.inventory.claims.values() if claim.status.allocation is not None)


def _devices(claim: ResourceClaim) -> tuple[DeviceId, ...]:
    """What a claim holds for itself."""
    return tuple(device_of(result) for result in results_of(claim) if not result.admin_access)


def _idle_claim(claim: ResourceClaim, state: ClusterState) -> IdleClaim:
    empty = [each for each in consumers_of(claim, state) if each.state is ConsumerState.EMPTY]
    return IdleClaim(
        ObjectRef.of_claim(claim),
        bool(claim.status.reserved_for) and not empty,
        tuple(map(str, _devices(claim))),
        claim.metadata.creation_timestamp or "",
        tuple(ObjectRef("PodGroup", each.namespace, each.name) for each in empty),
    )


# --- rows -----------------------------------------------------------------------------------------------------------


def _sure(state: ClusterState, namespace: str = "") -> Bound:
    return Bound.EXACT if state.evidence.complete("ResourceClaim", namespace) else Bound.AT_LEAST


def _idle_count(number: int, state: ClusterState, namespace: str = "") -> Count:
    """A pod that was not read may use or want a claim, so that fewer are idle than all that were read can tell."""
    sure = _sure(state, namespace)
    known = state.evidence.users_known(*([namespace] if namespace else []))
    return Count(number, sure if known else Bound.AT_LEAST)


def _of_whole(name: str, totals: DeviceTotals, idle: int, state: ClusterState) -> TopRow:
    return TopRow(name, "", totals.devices, totals.in_use, totals.partly, totals.free, _idle_count(idle, state))


def _nodes(state: ClusterState, _namespace: str) -> Iterator[TopRow]:
    """Every node that has devices of its own; devices of no single node have a row without a name."""
    idle = {device for claim in _holding(state) if is_unused(claim, state) for device in _devices(claim)}
    tallies: defaultdict[str, DeviceTally] = defaultdict(DeviceTally)
    wasted: Counter[str] = Counter()
    for opened, each, scope in placed_devices(state):
        node = scope.node if scope.kind is ScopeKind.NODE else SHARED
        tallies[node].device(each.state, each.tainted, admin_only=False)
        wasted[node] += opened.device_id(each.device) in idle
    for node, tally in tallies.items():
        yield _of_whole(node, tally.totals(state.evidence), wasted[node], state)


def _classes(state: ClusterState, _namespace: str) -> Iterator[TopRow]:
    idle: Counter[str] = Counter()
    for claim in _holding(state):
        if is_unused(claim, state):
            classes = {name: form.device_class_name for name, form in forms(claim.spec)}
            idle.update(classes.get(result.request, "") for result in results_of(claim))
    for row in class_rows(state.inventory.classes.values(), state):
        yield _of_whole(row.name, row.totals, idle[row.name], state)


def _namespaces(state: ClusterState, namespace: str) -> Iterator[TopRow]:
    """A device that several claims share counts once."""
    used: defaultdict[str, set[DeviceId]] = defaultdict(set)
    idle: defaultdict[str, set[DeviceId]] = defaultdict(set)
    for claim in _holding(state):
        name = claim.metadata.namespace
        if namespace in ("", name):
            used[name].update(_devices(claim))
            idle[name].update(_devices(claim) if is_unused(claim, state) else ())
    for name, devices in used.items():
        if devices:
            used_here = Count(len(devices), _sure(state, name))
            yield TopRow(name, "", None, used_here, None, None, _idle_count(len(idle[name]), state, name))


def _pods(state: ClusterState, namespace: str) -> Iterator[TopRow]:
    """A device that several pods share counts for each of them."""
    used: Counter[Key] = Counter()
    for claim in _holding(state):
        if namespace not in ("", claim.metadata.namespace):
            continue
        for consumer in consumers_of(claim, state):
            if consumer.resource == "pods" and consumer.state not in OVER:
                used[Key(claim.metadata.namespace, consumer.name)] += len(_devices(claim))
    sure = _sure(state, namespace)
    rows = ((key, number) for key, number in used.items() if number)
    none = Count(0, sure)
    return (TopRow(key.name, key.namespace, None, Count(number, sure), None, None, none) for key, number in rows)
