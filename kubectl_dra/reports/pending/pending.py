"""Why pods and claims wait: the diagnosis of each as a report, and all of them grouped by their main reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.autoscaling.records import GroupVerdict, JudgedGroups
from kubectl_dra.diagnosis.codes import Code, Family
from kubectl_dra.diagnosis.gangs.elsewhere import gang_groups
from kubectl_dra.diagnosis.pod.choice import choice_of
from kubectl_dra.diagnosis.pod.missing import missing_of_gangs, missing_of_kueue
from kubectl_dra.diagnosis.pod.siblings import Siblings, siblings
from kubectl_dra.diagnosis.pod.workloads import Owners, ReadOwner, controller_of
from kubectl_dra.diagnosis.records import (
    Agreement,
    ClaimDiagnosis,
    GangElsewhere,
    Missing,
    ObjectRef,
    PodDiagnosis,
    PodFinding,
)
from kubectl_dra.diagnosis.remedies import Tried
from kubectl_dra.diagnosis.remedies.records import RemedyKind
from kubectl_dra.diagnosis.whatif.records import WhatIf
from kubectl_dra.diagnosis.whatif.undoing import undoes
from kubectl_dra.model.core import Pod
from kubectl_dra.reports.base import FeatureRecord, ReadRecord, feature_record, reads_of
from kubectl_dra.reports.claims.ask import ClaimAsk, ExtendedAsk, claim_ask, extended_asks, pending_asks, unseen_entries
from kubectl_dra.reports.claims.claim import HeldDevice, held_by
from kubectl_dra.reports.groups.placed_group import PlacedGroup, in_brief, placed_group
from kubectl_dra.reports.invocations import Words
from kubectl_dra.reports.pending.agents import Agent, agent_of
from kubectl_dra.reports.pending.awaited import Awaited, awaited
from kubectl_dra.reports.pending.claim_users import IdleUser, idle_users
from kubectl_dra.reports.pending.configurations import ConfiguredIn, configured_in
from kubectl_dra.reports.pending.descheduled import Turn, turn
from kubectl_dra.reports.pending.drivers import DriverOnNode, devices_of, drivers_of
from kubectl_dra.reports.pending.dropped_claims import dropped_claims
from kubectl_dra.reports.pending.events import AutoscalerWords, NamedEvent, autoscaler_words, named_event
from kubectl_dra.reports.pending.failing_pods import FailingPod, StartingDriver, all_failing, starting_drivers
from kubectl_dra.reports.pending.free_nodes import FreeNodes, free_nodes
from kubectl_dra.reports.pending.idle_daemons import IdleDaemonSet
from kubectl_dra.reports.pending.kept_off_drivers import drivers_off
from kubectl_dra.reports.pending.lingering import LingeringPod, lingering_for
from kubectl_dra.reports.pending.missing_objects import Existing, existing
from kubectl_dra.reports.pending.nodes import (
    NAMES_SHOWN,
    NodeGroupRecord,
    brief_offer,
    in_numbers,
    node_group,
    without_values,
)
from kubectl_dra.reports.pending.older_template import OlderTemplate, older_template
from kubectl_dra.reports.pending.pressure import PressedNode, pressed_nodes
from kubectl_dra.reports.pending.queue_admission import QueueAdmission, queue_admission
from kubectl_dra.reports.pending.rejected import RejectedPods, rejected_siblings
from kubectl_dra.reports.pending.remedies import FoundRemedies, RemedyReport
from kubectl_dra.reports.pending.reservations import end_of_reservations
from kubectl_dra.reports.pending.same_pools import SamePool, same_pools
from kubectl_dra.reports.pending.still_blocked import StillBlocked, still_blocked
from kubectl_dra.reports.pending.unready import UnreadyNode, unready_nodes
from kubectl_dra.reports.pending.visible import VisibleDevices, visible_devices
from kubectl_dra.reports.pending.written import Written

#: Those that leave few nodes, on which a driver is wanted.
_BOUND_TO_NODES: Final = (Code.NODE_AFFINITY, Code.NODE_NAME, Code.VOLUME_ELSEWHERE)


class PendingReport(PodFinding, frozen=True, kw_only=True):
    """Why one pod is pending: what was found, what the pod asks for, the nodes, ways out.

    ``unseen``: entries of ``spec.resourceClaims`` that no container names. ``what_if``: what is supposed of the
    cluster; of one that is only supposed nothing was observed. ``created``: when the pod was. ``devices`` are allocated
    to its claims; ``drivers``: whose log matters, and where. ``existing``: what there is of the kind that the pod
    misses. ``node_groups``: whether a fresh node of each group of an autoscaler would take the pod, where that was
    asked (``node_groups_judged``). ``agent``: who serves the extended resource that a node lacks. ``failing``: pods of
    drivers that do not run (``starting``: not yet), ``idle_daemon_sets``: drivers that run on no node, or not where it
    matters, or that a taint keeps off some nodes; ``autoscaler``: its last words about the pod. ``owner``: the
    controller that makes the pod, None for a bare one. ``configured``: where the configuration stands that a driver
    refuses. ``best_nodes``: of a pod that would fit now, those with the best score among the nodes that fit; the
    scheduler takes one of them. Empty where that can't be told: Services or the pod's controller were not read, the pod
    is scheduled with its group, or more nodes fit than the scheduler compares, which are ``nodes_compared``, those that
    it meets first (0: all). ``admission``: what Kueue has decided about it. ``siblings``: pods of its own workload that
    hold what it needs, or wait with it; None in lists too. ``lingering``: pods that should have ended and hold devices.
    ``same_pools``: pools of one name that several nodes publish, so that they lack each other's devices in use.
    ``visible``: where claims of other namespaces could not be read, the devices that match all the same.
    ``still_blocked``: what would be in the way with the attribute that is meant, or once its queue lets it go.
    ``older_template``: of a pod that its StatefulSet would make otherwise by now, and does not replace. ``group``: what
    keeps the pod waiting is the PodGroup that it is placed with; None in documents of lists too. ``written``: nodes and
    pools of a simulation's files, if any. ``named_event``: of objects that the pod names. ``unready``, ``pressed``:
    nodes whose taint says so. ``not_taken``: pods of its own controller that failed as a node did not take them.
    ``free_nodes``: where nodes could not be read, those whose devices would do. ``awaited``: the pod that it has to run
    beside and that waits itself. ``dropped_claims``: entries of its manifest that a server without Dynamic Resource
    Allocation did not store. ``turn``: the pod that it replaces, if that was evicted, and what comes after it.
    ``held``: of a pod that runs, those of its devices of which more is known than their names.
    """

    asks: tuple[ClaimAsk, ...]
    extended: tuple[ExtendedAsk, ...]
    nodes: tuple[NodeGroupRecord, ...]
    remedies: tuple[RemedyReport, ...]
    no_pair_helps: bool
    additions: tuple[RemedyReport, ...]
    tried: Tried
    features: FeatureRecord
    read: tuple[ReadRecord, ...]
    unseen: tuple[str, ...] = ()
    created: str = ""
    devices: tuple[str, ...] = ()
    drivers: tuple[DriverOnNode, ...] = ()
    existing: Existing | None = None
    what_if: WhatIf | None = None
    node_groups: tuple[GroupVerdict, ...] = ()
    node_groups_judged: bool = False
    failing: tuple[FailingPod, ...] = ()
    starting: tuple[StartingDriver, ...] = ()
    idle_daemon_sets: tuple[IdleDaemonSet, ...] = ()
    agent: Agent | None = None
    autoscaler: AutoscalerWords | None = None
    configured: ConfiguredIn | None = None
    owner: ObjectRef | None = None
    best_nodes: tuple[str, ...] = ()
    nodes_compared: int = 0
    admission: QueueAdmission | None = None
    siblings: Siblings | None = None
    lingering: tuple[LingeringPod, ...] = ()
    same_pools: tuple[SamePool, ...] = ()
    unready: tuple[UnreadyNode, ...] = ()
    pressed: tuple[PressedNode, ...] = ()
    visible: tuple[VisibleDevices, ...] = ()
    still_blocked: StillBlocked | None = None
    older_template: OlderTemplate | None = None
    group: PlacedGroup | None = None
    written: Written | None = None
    named_event: NamedEvent | None = None
    not_taken: tuple[RejectedPods, ...] = ()
    free_nodes: FreeNodes | None = None
    awaited: Awaited | None = None
    dropped_claims: tuple[str, ...] = ()
    turn: Turn | None = None
    held: tuple[HeldDevice, ...] = ()

    def without_steps(self) -> PendingReport:
        """With what would help, and not how it is done."""

        def brief(ways: Iterable[RemedyReport]) -> tuple[RemedyReport, ...]:
            return tuple(way.without_steps() for way in ways)

        return msgspec.structs.replace(self, remedies=brief(self.remedies), additions=brief(self.additions))

    def in_list(self) -> PendingReport:
        """Without its group, which would be there once for each of its pods."""
        return msgspec.structs.replace(self, group=None)

    def for_json(self) -> PendingReport:
        """Without the funnels of causes, which stand in ``nodes``: the numbers of the closest node are enough."""
        nodes = (*self.nodes[:1], *map(without_values, self.nodes[1:]))
        causes = (*map(in_numbers, self.causes[:1]), *(brief_offer(in_numbers(cause)) for cause in self.causes[1:]))
        group = in_brief(self.group) if self.group is not None else None
        then = self.still_blocked
        if then is not None:
            then = then.for_json()
        beside = self.awaited.for_json() if self.awaited is not None else None
        found = {"causes": causes, "nodes": nodes, "group": group, "still_blocked": then, "awaited": beside}
        return msgspec.structs.replace(self, **found)

    @property
    def code(self) -> Code | None:
        return self.causes[0].code if self.causes else None

    @property
    def idle_drivers(self) -> tuple[IdleDaemonSet, ...]:
        """Drivers without a pod where it matters; those that are only kept off other nodes are left out."""
        return tuple(each for each in self.idle_daemon_sets if not each.beside)

    @property
    def in_files(self) -> Written:
        """The nodes and pools that only files have."""
        return self.written or Written()


class ClaimPendingReport(ClaimDiagnosis, frozen=True, kw_only=True):
    """Why one claim has no devices, keeps them, or does not go away.

    ``ending``: the command that ends reservations of pods that are gone. ``what_if``: what is supposed of the cluster.
    ``idle_users``: workloads that name a claim which no pod uses, and have no pods.
    """

    asks: tuple[ClaimAsk, ...]
    features: FeatureRecord
    read: tuple[ReadRecord, ...]
    ending: tuple[Words, ...] = ()
    what_if: WhatIf | None = None
    idle_users: tuple[IdleUser, ...] = ()

    @property
    def code(self) -> Code | None:
        return self.causes[0].code if self.causes else None


def pending_report(
    diagnosis: PodDiagnosis,
    state: ClusterState,
    *,
    all_nodes: bool = False,
    node: str = "",
    ways: FoundRemedies | None = None,
    what_if: WhatIf | None = None,
    node_groups: JudgedGroups | None = None,
    read_owner: ReadOwner | None = None,
    read_autoscalers: Callable[[], ClusterState] | None = None,
) -> PendingReport:
    """The report of one diagnosis, with the ``ways`` out where they were looked for.

    ``read_owner`` gets the controller of the pod where it decides between nodes and the Inventory does not have it;
    ``read_autoscalers`` the state with those that may set the number of its siblings.
    ``all_nodes`` names every node instead of the first 20 of a group; ``node`` leaves only the group of that node.
    """
    groups = [group for group in diagnosis.nodes if not node or node in group.nodes]
    found = _found(diagnosis, what_if)
    pod, owners = state.inventory.pods.get(diagnosis.pod.key), Owners(state.inventory, read_owner)
    of_one, ways = ways is not None, ways or FoundRemedies()
    judged = node_groups or JudgedGroups(())
    found["missing"] = (*diagnosis.missing, *_of_kueue(diagnosis, state), *_of_gangs(pod, state), *judged.missing)
    if pod is not None:
        found |= _of_the_pod(pod, state, what_if)
    asks = pending_asks(diagnosis.pod.key, state.inventory)
    choice = choice_of(state, diagnosis, owners)
    return PendingReport(
        **found,
        **_of_drivers(diagnosis, pod, asks, state),
        asks=asks,
        extended=extended_asks(diagnosis.pod.key, state),
        nodes=tuple(node_group(group, None if all_nodes else NAMES_SHOWN, node) for group in groups),
        remedies=tuple(each for each in ways.remedies if what_if is None or _is_for(each, what_if)),
        no_pair_helps=ways.no_pair_helps,
        additions=ways.additions,
        tried=ways.tried,
        what_if=what_if,
        configured=configured_in(diagnosis.causes, asks, state.inventory),
        existing=existing(diagnosis.causes[0] if diagnosis.causes else None, diagnosis.pod.namespace, state),
        node_groups=judged.verdicts,
        node_groups_judged=node_groups is not None,
        best_nodes=choice.best,
        nodes_compared=choice.compared,
        **(_of_one(diagnosis, asks, state, owners, read_autoscalers) if of_one else {}),
        group=placed_group(state, diagnosis.causes, supposed=what_if is not None),
        features=feature_record(state.features),
        read=reads_of(state.evidence),
    )


def _is_for(way: RemedyReport, what_if: WhatIf) -> bool:
    """Whether a way out is one in a cluster that is only supposed, and as it is supposed: nobody waits in it."""
    return way.kind is not RemedyKind.WAIT and not any(undoes(each, what_if.switches) for each in way.actions)


def _of_one(
    diagnosis: PodDiagnosis,
    asks: Sequence[ClaimAsk],
    state: ClusterState,
    owners: Owners,
    read: Callable[[], ClusterState] | None,
) -> dict[str, Any]:
    """What only the page of a single pod has."""
    found = siblings(state, diagnosis, owners)
    if found is not None and found.may_be_scaled:
        found = found.scaled(read() if read is not None else state)
    return {
        "siblings": found,
        "turn": turn(state, diagnosis, owners),
        "agent": agent_of(diagnosis.causes, state),
        "lingering": lingering_for(diagnosis, state),
        "same_pools": same_pools(diagnosis.nodes, state),
        "still_blocked": still_blocked(diagnosis, state),
        "older_template": older_template(diagnosis, state, owners),
        "visible": visible_devices(diagnosis, asks, state),
        "free_nodes": free_nodes(diagnosis, state),
        "awaited": awaited(diagnosis, state),
        "not_taken": rejected_siblings(state, diagnosis.pod.key),
        "dropped_claims": dropped_claims(diagnosis.pod.key, state, owners),
    }


def _of_the_pod(pod: Pod, state: ClusterState, what_if: WhatIf | None) -> dict[str, Any]:
    return {
        "unseen": unseen_entries(pod),
        "owner": controller_of(pod),
        "admission": queue_admission(pod, state),
        "created": pod.metadata.creation_timestamp or "",
        "devices": devices_of(pod, state.inventory),
        "held": held_by(pod, state.inventory) if pod.status.phase == "Running" else (),
        "autoscaler": autoscaler_words(pod, state) if what_if is None else None,
        "named_event": named_event(pod, state.inventory) if what_if is None else None,
    }


def _of_drivers(
    diagnosis: PodDiagnosis, pod: Pod | None, asks: Sequence[ClaimAsk], state: ClusterState
) -> dict[str, Any]:
    """The pods of the drivers that matter, as far as they do not run; drivers without any where it matters."""
    drivers = drivers_of(pod, diagnosis.causes, diagnosis.nodes, state.inventory) if pod is not None else ()
    failing = all_failing(diagnosis, drivers, asks, state)
    # Where something else keeps the pod off the nodes with devices, those without any are beside the point.
    first = diagnosis.causes[0].code if diagnosis.causes else None
    kept_off = first is not None and first.family is Family.NODES and first not in _BOUND_TO_NODES
    idle = () if failing or kept_off else drivers_off(diagnosis, asks, state)
    of_nodes = {"unready": unready_nodes(diagnosis.causes, state), "pressed": pressed_nodes(diagnosis.causes, state)}
    starting = () if failing else starting_drivers(diagnosis.nodes, asks, state)
    return {"drivers": drivers, "failing": failing, "starting": starting, "idle_daemon_sets": idle, **of_nodes}


def _found(diagnosis: PodDiagnosis, what_if: WhatIf | None) -> dict[str, Any]:
    """What the report has from the diagnosis as it is; other messages are those that differ.

    The scheduler has said nothing about a cluster that is only supposed.
    """
    found = {name: getattr(diagnosis, name) for name in PodFinding.__struct_fields__}
    if what_if is not None:
        found |= {"observed": None, "agreement": Agreement.UNCHECKED}
    return found | {"alternatives": tuple(text for text in diagnosis.alternatives if text != diagnosis.message)}


def is_unused(diagnosis: ClaimDiagnosis) -> bool:
    """Whether a claim waits for a pod that uses it."""
    return any(cause.code is Code.CLAIM_WAITS_FOR_POD for cause in diagnosis.causes)


def claim_pending_report(
    diagnosis: ClaimDiagnosis, state: ClusterState, what_if: WhatIf | None = None
) -> ClaimPendingReport:
    claim = state.inventory.claims.get(diagnosis.claim.key)
    return ClaimPendingReport(
        **{name: getattr(diagnosis, name) for name in ClaimDiagnosis.__struct_fields__},
        asks=(claim_ask(claim),) if claim is not None else (),
        features=feature_record(state.features),
        read=reads_of(state.evidence),
        ending=tuple(end_of_reservations(claim, state)) if claim is not None else (),
        what_if=what_if,
        idle_users=idle_users(diagnosis.claim.key, state) if is_unused(diagnosis) else (),
    )


def _of_gangs(pod: Pod | None, state: ClusterState) -> Iterator[Missing]:
    """What may not be read of the gang that another scheduler makes of the pod and others."""
    if pod is not None:
        yield from missing_of_gangs(state.inventory.gangs, gang_groups(pod), pod.metadata.namespace)


def _of_kueue(diagnosis: PodDiagnosis, state: ClusterState) -> Iterator[Missing]:
    """What of Kueue could not be read, of a pod that waits in one of its queues."""
    for cause in diagnosis.causes:
        waits = cause.detail.waits if isinstance(cause.detail, GangElsewhere) else None
        if waits is not None:
            yield from missing_of_kueue(waits, state.inventory.queues, diagnosis.pod.namespace)
