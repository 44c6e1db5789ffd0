"""The records of a simulation: what is said of each manifest, and how many copies of each pod fit where."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum

import msgspec

from kubectl_dra.api.lint import Mistake
from kubectl_dra.diagnosis.gates.queue_room import Admits, QueueRoom
from kubectl_dra.diagnosis.gates.queues import Queued
from kubectl_dra.diagnosis.records import (
    BeingBound,
    Certainty,
    Missing,
    ObjectRef,
    OpenPlugin,
    QuotaLimit,
    Unspecified,
    Verdict,
)
from kubectl_dra.diagnosis.whatif.records import WhatIf
from kubectl_dra.reports.base import Bound, FeatureRecord, Fits, ReadRecord, ReportRecord
from kubectl_dra.reports.claims.ask import UnfoundRequest
from kubectl_dra.reports.devices.advertised import AdvertisedResource
from kubectl_dra.reports.pending.pending import PendingReport
from kubectl_dra.reports.pending.remedies import FileEdit
from kubectl_dra.reports.simulation.alternatives import TakenAlternative
from kubectl_dra.reports.simulation.counts import FewerPods, Growing, InGroups, KeptOff
from kubectl_dra.reports.simulation.displaced import WithoutPlace
from kubectl_dra.reports.simulation.effects import Effects
from kubectl_dra.reports.simulation.shared_claims import CommonClaim
from kubectl_dra.reports.simulation.stops import (
    AbsentClass,
    DomainFit,
    GangCount,
    Misplaced,
    OpenClasses,
    Repeated,
    UnreadHolder,
)
from kubectl_dra.reports.simulation.uncompiled import CorrectedSelector


class Correction(ReportRecord, frozen=True):
    """One mistake in a manifest: what kind, where, and whether it was corrected before anything was tried."""

    code: Mistake
    path: str
    message: str
    corrected: bool


class Role(StrEnum):
    """What an object of the file is in the simulation."""

    TRIED = "Tried"  # its pods were tried, or a pod with it
    USED = "Used"  # pods of the file use it, or the cluster of the simulation has it
    UNTRIED = "Untried"  # it makes pods, but which can't be said
    NOT_APPLIED = "NotApplied"  # it may have pods refused or changed, in ways that were not tried
    MAKES_NODES = "MakesNodes"  # nodes are made after it, and nobody knows yet which
    NO_PART = "NoPart"  # its kind has nothing to do with scheduling


class ManifestReport(ReportRecord, frozen=True):
    """One object of the file. ``refused`` are the API server's words; ``exists``: the cluster's own object counts.

    ``error``: it could not be read. ``ignored``: its kind plays no part. ``untried`` says why an object that makes pods
    has none here. ``corrected`` is the manifest as it was tried, None if nothing was corrected. ``suspended``: its pods
    are held back until it is resumed, by the queue ``queue`` of Kueue if that is set; they are tried as if they were
    not. ``waits``: what is known of that queue, ``room``: of its quota, ``admits``: whether Kueue starts it as
    things are; Yes of what waits in none. ``generated``: the server makes up the end of the name. ``made_by``: the
    object whose controller makes it. ``differs``: the cluster's own object counts and has another spec.
    ``left_out``: parts of it that make pods of which nothing is known. ``may_refuse``: the widest level of Pod Security
    at which its namespace, which could not be read, refuses its pods; ``not_checked``: the one that it enforces, where
    a controller makes their containers by itself.
    """

    object: ObjectRef
    role: Role = Role.USED
    findings: tuple[Correction, ...] = ()
    refused: tuple[str, ...] = ()
    error: str = ""
    exists: bool = False
    ignored: bool = False
    untried: str = ""
    left_out: tuple[str, ...] = ()
    suspended: bool = False
    queue: str = ""
    waits: Queued | None = None
    room: QueueRoom | None = None
    admits: Admits = Admits.YES
    generated: bool = False
    made_by: str = ""
    corrected: msgspec.Raw | None = None
    differs: bool = False
    may_refuse: str = ""
    not_checked: str = ""


class NodeCopies(ReportRecord, frozen=True):
    """Copies on one node."""

    node: str
    copies: int


class Counted(StrEnum):
    """Where a number of pods comes from."""

    STATED = "Stated"  # the manifest says it, or the kind has a default
    PER_NODE = "PerNode"
    ASSUMED = "Assumed"  # a field of an unknown kind, as known kinds have it
    UNKNOWN = "Unknown"  # one pod was tried
    ASKED = "Asked"  # --copies


class PodSimulation(ReportRecord, frozen=True):
    """Copies of one pod. ``wanted`` None: as many as fit. ``capped``: no more than ``copies`` were tried.

    ``bound`` is that of ``copies``; ``fits``: all that was wanted fits, and nothing else decides.
    ``subject`` is what the pods are made from: a pod, a workload, or a claim or template that was tried with a bare
    pod; ``role`` is what it calls these pods where it has several kinds of them. ``counted`` says where ``wanted`` is
    from and ``assumed`` which fields were taken for it. ``alone``: tried as if the file had no other pods.
    ``misread``: a server drops something of the manifest, or of one that the pod names; the rest was tried.
    ``blocked``: objects that the pod names and the API server would refuse, so that it can't be tried, or that do not
    exist; ``absent_classes``: classes of these, with which its pods were tried as if they existed.
    ``pending`` tells of the first copy that does not fit. ``open``: what decides as well and is not simulated, so
    that ``copies`` are at most what fits. ``unseen``: entries of ``spec.resourceClaims`` that no container names,
    ``unseen_for``: for the sake of a field. ``unfound``: requests that containers name and claims do not have.
    ``scheduler``: what decides instead of the default scheduler, by whose rules the copies were tried; empty where the
    default scheduler decides. ``like``: an object that differs in its name only was tried instead, and ``pending`` is
    about that one. ``quota``: the ResourceQuotas of its namespace where they could not be read and may forbid some or
    all of the copies. ``beside``: LimitRanges, a RuntimeClass or autoscalers that could not be read and may change the
    pods or want more of them. ``refused``: what the API server has against the pods, in its words, so that none is
    created. ``unspecified``: what quotas require and only a LimitRange may still give, where none could be read.
    ``rest_by``: who makes all of the pods but their claims, which alone were tried, with ``amounts`` of resources where
    the object says these.
    ``choice``: the Services of its namespace, where they could not be read and may have the scheduler prefer other
    ``nodes``. ``nodes_compared``: more nodes fit than the scheduler compares, which are so many, those that it meets
    first: it may prefer others than ``nodes``; 0 where it compares all. ``nodes_are_example``: ``nodes`` are one way in
    which the copies fit, because not all nodes were tried for each of them. ``being_bound``: pods that may make
    ``copies`` fewer. ``bypasses``: the node that the manifest names itself (``spec.nodeName``), so that the scheduler
    never sees the pod and allocates nothing for it; ``unknown_node``: there is no such node. ``present``: so many
    copies run already, on nodes that are not told here. ``replaces``: so many pods run of another template, which new
    ones replace; ``stuck``: none of them may go before a new one is ready, and that finds no place beside them.
    ``held``: it makes no pods until somebody resumes it, and its copies take nothing from others.
    ``domains``: whether the domains of nodes that another program keeps pods in have room for them, where that could be
    computed. ``after``: roles of the same object whose pods have ended before these start, so that they were tried
    without them; where the number of pods is unknown, may have ended. ``awaits``: roles of the same object that have to
    be ready before these pods are made, and do not fit; none of these was tried. ``flavors``: those that Kueue gives
    them. ``group``: the PodGroup that they were placed with, in one cycle; ``pending`` is about all of it. ``admits``:
    whether Kueue starts them as things are; Yes of pods that wait in no queue. ``fewer``: the fields that would make no
    more of them than fit, ``more``: as many as their gang needs, all of which fit. ``growing``: what may make more
    later; where ``counted`` is unknown it makes none now.
    ``kept_off``: nodes on which a DaemonSet should make none. ``open_classes``: those that could not be read.
    ``in_turn``: some fit, and the others start once these have ended. ``in_groups``: with pods of other roles.
    ``alternatives``: what the copies that fit got of requests with several.
    ``shared``: claims that all of them use.
    ``made_from``: the template of other pods that they are made from, as ``instead_of`` is not set.
    ``refused_by``: the LimitRange that refuses them, for amounts ``refused_at`` these fields. ``runs_alone``: the
    policy of a CronJob that runs now, for which its next run was tried without that. ``hook``: of Helm or Argo CD,
    which is not created together with the rest. ``shared_volumes``: claims whose volumes are taken as reachable from
    several nodes once they are made; ``attached_once``: those of which only one node at a time can have the volume,
    although the scheduler puts the pods on several. ``held_up_by``: of ``after`` those that never complete, as they do
    not fit. ``limit``: where devices leave it open, how many of them quotas admit, if less than what was wanted.
    ``unread_holders``: what it lacks and files of the call may have, or have in a form that the server does not take.
    """

    subject: ObjectRef
    wanted: int | None
    copies: int
    capped: bool
    nodes: tuple[NodeCopies, ...]
    pending: PendingReport | None
    open: tuple[OpenPlugin, ...] = ()
    unseen: tuple[str, ...] = ()
    unseen_for: str = ""
    unfound: tuple[UnfoundRequest, ...] = ()
    role: str = ""
    counted: Counted = Counted.STATED
    assumed: tuple[str, ...] = ()
    alone: bool = False
    blocked: tuple[ObjectRef, ...] = ()
    misread: bool = False
    scheduler: str = ""
    like: ObjectRef | None = None
    quota: Missing | None = None
    beside: tuple[Missing, ...] = ()
    rest_by: str = ""
    amounts: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    unspecified: tuple[Unspecified, ...] = ()
    choice: Missing | None = None
    nodes_compared: int = 0
    nodes_are_example: bool = False
    being_bound: BeingBound | None = None
    bypasses: str = ""
    unknown_node: bool = False
    present: int = 0
    replaces: int = 0
    stuck: bool = False
    held: bool = False
    domains: tuple[DomainFit, ...] = ()
    after: tuple[str, ...] = ()
    made_from: str = ""
    instead_of: str = ""
    flavors: tuple[str, ...] = ()
    awaits: tuple[str, ...] = ()
    group: str = ""
    admits: Admits = Admits.YES
    fewer: FewerPods | None = None
    more: FewerPods | None = None
    growing: Growing | None = None
    kept_off: KeptOff | None = None
    open_classes: OpenClasses = OpenClasses()
    absent_classes: tuple[AbsentClass, ...] = ()
    alternatives: tuple[TakenAlternative, ...] = ()
    in_turn: bool = False
    in_groups: InGroups | None = None
    shared: tuple[CommonClaim, ...] = ()
    refused_by: str = ""
    refused_at: tuple[str, ...] = ()
    runs_alone: str = ""
    hook: str = ""
    shared_volumes: tuple[str, ...] = ()
    attached_once: tuple[str, ...] = ()
    tolerated: tuple[str, ...] = ()
    held_up_by: tuple[str, ...] = ()
    limit: QuotaLimit | None = None
    unread_holders: tuple[UnreadHolder, ...] = ()
    bound: Bound = Bound.EXACT
    fits: Fits = Fits.UNKNOWN

    def __post_init__(self) -> None:
        """What follows from the rest."""
        msgspec.structs.force_setattr(self, "bound", self._bound())
        msgspec.structs.force_setattr(self, "fits", self._fits())

    @property
    def lacks(self) -> bool:
        """Whether less than what was wanted fits; without a number, not even one."""
        return self.copies < (1 if self.wanted is None else self.wanted)

    def _bound(self) -> Bound:
        more, fewer = self.capped or bool(self.undecided), self.may_be_fewer
        if (more and fewer) or self.scheduler:
            return Bound.UNKNOWN
        return Bound.AT_LEAST if more else Bound.AT_MOST if fewer else Bound.EXACT

    def _fits(self) -> Fits:
        refused = self.blocked or self.refused or self.misread or self.bypasses or self.awaits
        if refused or not all(each.fits for each in self.domains):
            return Fits.NO
        if self.admits is Admits.NO and self.wanted != 0:
            return Fits.NO
        if self.scheduler and self.wanted != 0:
            return Fits.UNKNOWN
        if self.lacks:
            known = self.pending is not None and self.pending.verdict is not Verdict.UNKNOWN
            few = self.open_classes.too_few(self.wanted) or self.limit is not None
            return Fits.NO if known or few else Fits.UNKNOWN
        doubt = self.may_be_fewer or self.counted is Counted.UNKNOWN
        return Fits.UNKNOWN if doubt or self.admits is Admits.UNKNOWN else Fits.YES

    @property
    def may_be_fewer(self) -> bool:
        """Whether something else may keep away copies that fit by what is simulated."""
        if self.open or self.rest_by or self.being_bound is not None:
            return True
        return self.copies > 0 and (self.quota is not None or bool(self.unspecified or self.beside))

    @property
    def unread(self) -> tuple[Missing, ...]:
        """What could not be read, where that leaves open whether it fits."""
        forbids = (self.quota,) if self.quota is not None and self.copies > 0 else ()
        return (*self.undecided, *forbids, *(self.beside if self.copies > 0 else ()))

    @property
    def undecided(self) -> tuple[Missing, ...]:
        """What could not be read, where that leaves open whether more copies find their devices."""
        if self.pending is None or self.pending.verdict is not Verdict.UNKNOWN:
            return ()
        return tuple(each for each in self.pending.missing if each.decides)


class SimulationReport(ReportRecord, frozen=True):
    """All files. ``fits``: kubectl apply takes them as they are written, and all copies and pods that have to move fit.

    Where nothing was tried it is ``Unknown``. ``not_as_written`` counts the mistakes of manifests; those that were not
    corrected are what other clients drop. ``new_namespaces`` don't exist: they are taken as created first.
    ``what_if``: what else is supposed of the cluster, and where pods go that have to leave their nodes.
    ``also_advertised``: what device plugins offer on nodes that pods would get, and may be the same devices. ``gangs``:
    those of other programs of which too few pods fit. ``repeated``: objects of which the files have several.
    ``unlabelled``: namespaces that lack the ``label`` for admin access; all else is told as if they had it, and
    ``labels`` where the files have the namespace.
    ``misplaced``: templates in another namespace than their pods, ``corrected``: selectors that
    do not compile, ``accepted``: what is refused for no more than its pods say. ``then``: these pods as if the
    templates were there, the selectors as they are meant, and the server took what it refuses. ``supposed_gates``: off
    by default, and taken as on because PodGroups of the files need them. ``owned``: objects that others of the
    files make, so that they are not created beside these. ``without_place``: why pods that have to leave their nodes
    find no others. ``read_as_meant``: files that are not YAML as they are written, for quotes inside of quotes.
    """

    fits: Fits
    not_as_written: int
    new_namespaces: tuple[str, ...]
    manifests: tuple[ManifestReport, ...]
    pods: tuple[PodSimulation, ...]
    effects: Effects
    certainty: Certainty
    missing: tuple[Missing, ...]
    features: FeatureRecord
    read: tuple[ReadRecord, ...]
    what_if: WhatIf | None = None
    also_advertised: tuple[AdvertisedResource, ...] = ()
    gangs: tuple[GangCount, ...] = ()
    unlabelled: tuple[str, ...] = ()
    label: str = ""
    labels: tuple[FileEdit, ...] = ()
    repeated: tuple[Repeated, ...] = ()
    misplaced: tuple[Misplaced, ...] = ()
    corrected: tuple[CorrectedSelector, ...] = ()
    accepted: tuple[ObjectRef, ...] = ()
    then: tuple[PodSimulation, ...] = ()
    supposed_gates: tuple[str, ...] = ()
    owned: tuple[ObjectRef, ...] = ()
    without_place: tuple[WithoutPlace, ...] = ()
    read_as_meant: tuple[str, ...] = ()

    def without_steps(self) -> SimulationReport:
        """With what would help, and not how it is done."""
        return self._with_pending(PendingReport.without_steps)

    def for_json(self) -> SimulationReport:
        """The same of what it says of pods."""
        return self._with_pending(PendingReport.for_json)

    def _with_pending(self, change: Callable[[PendingReport], PendingReport]) -> SimulationReport:
        def changed(pods: Iterable[PodSimulation]) -> tuple[PodSimulation, ...]:
            return tuple(
                pod if pod.pending is None else msgspec.structs.replace(pod, pending=change(pod.pending))
                for pod in pods
            )

        return msgspec.structs.replace(self, pods=changed(self.pods), then=changed(self.then))

    @property
    def bad(self) -> bool:
        """Whether something is refused, unreadable or not as the server reads it, or certainly does not fit."""
        return self.fits is Fits.NO

    @property
    def unread(self) -> tuple[Missing, ...]:
        """What could not be read, where that leaves open whether something fits."""
        moved = self.missing if self.what_if is not None and self.what_if.moves else ()
        # Pods that have to leave get new claims, from templates as they are now.
        opened = (
            msgspec.structs.replace(each, decides=True)
            for each in moved
            if each.decides or each.kind == "ResourceClaimTemplate"
        )
        return tuple(dict.fromkeys((*opened, *(each for pod in self.pods for each in pod.unread))))

    @property
    def answered(self) -> bool:
        """Whether of any pod, or of any manifest, something could be said."""
        said = self.bad or any(each.copies or each.fits is not Fits.UNKNOWN or not each.unread for each in self.pods)
        moved = self.what_if is not None and (not self.what_if.moves or bool(self.what_if.displaced or not self.unread))
        return said or bool(self.effects) or moved

    @property
    def partial(self) -> bool:
        """Whether evidence is missing that decides, or not everything was tried or is simulated."""
        untried = any(
            each.may_be_fewer or each.scheduler or (each.capped and each.wanted is not None) for each in self.pods
        )
        untried = (
            untried
            or not (any(each.wanted != 0 for each in self.pods) or self.what_if is not None)
            or any(each.role is Role.UNTRIED or each.left_out for each in self.manifests)
        )
        uncounted = any(each.counted is Counted.UNKNOWN or each.admits is Admits.UNKNOWN for each in self.pods)
        return untried or uncounted or bool(self.unread) or any(each.decides for each in self.missing)
