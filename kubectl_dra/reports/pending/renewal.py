"""How pods get another spec: from their topmost owner, down to the moment when new pods exist. Nothing is executed.

What each owner does with a changed template was tried on a real control plane. A Deployment replaces its pods; a
StatefulSet waits for ever for a pod that was never Ready, so that it is deleted; ReplicaSets leave their pods alone;
the template of a Job can't be changed; a pod of a Job that is deleted counts as failed (upstream: pkg/controller/job,
isPodFailed).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from kubectl_dra.diagnosis.pod.workloads import Owner, WhyUnread
from kubectl_dra.diagnosis.records import Evidence, ObjectRef, Unspecified
from kubectl_dra.diagnosis.remedies.actions import MoveVolume
from kubectl_dra.diagnosis.remedies.records import EditPod
from kubectl_dra.model.core import Pod
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.workloads import BACKOFF_LIMIT, PodTemplate, WorkloadObject
from kubectl_dra.reports.invocations import Words, kubectl, of
from kubectl_dra.reports.pending.remedy_commands import Change, patch_text, pod_changes, pointer

Pipe = tuple[Words, ...]
_REPLACE: Final[Words] = ("kubectl", "replace", "--force", "-f", "-")
_NODE_NAME: Final = "/nodeName"
_LOCAL: Final = ("--dry-run=client", "-o", "yaml")
_CLASS: Final = "/spec/storageClassName"
_GONE: Final = "--ignore-not-found"
#: What the API server puts into the template of a Job, and refuses in a new one.
_JOB_LABELS: Final = (
    "controller-uid",
    "batch.kubernetes.io/controller-uid",
    "job-name",
    "batch.kubernetes.io/job-name",
)
#: Owners whose pods are made anew from the changed template as soon as they are deleted.
_REFILLS: Final = frozenset({"StatefulSet", "ReplicaSet", "ReplicationController", "RayCluster"})
_ROLLS: Final = frozenset({"Deployment", "LeaderWorkerSet", "DaemonSet"})
_REPLACED: Final = frozenset({"Job", "JobSet", "MPIJob"})
_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


class Hindrance(StrEnum):
    """Why there is no command although something can be done."""

    UNKNOWN_KIND = "unknownKind"
    NOT_READABLE = "notReadable"
    NOT_READ = "notRead"
    NOT_IN_TEMPLATE = "notInTemplate"


class NoCommand(Evidence, frozen=True):
    """A person has to change ``field`` of ``owner``; ``why`` no command is printed."""

    owner: ObjectRef
    field: str
    why: Hindrance


class Restarts(Evidence, frozen=True):
    """All pods of an owner are replaced, not only the one that waits."""

    owner: ObjectRef


class StartsOver(Evidence, frozen=True):
    """An owner is deleted and created again: what it has finished is done again."""

    owner: ObjectRef


class CountsAsFailed(Evidence, frozen=True):
    """A pod of a Job that is deleted counts as one of the failures that it may have; one more, and the Job fails."""

    owner: ObjectRef
    failed: int
    limit: int


class QuotasUnread(Evidence, frozen=True):
    """ResourceQuotas that could not be read may refuse what is made anew."""


class LimitsUnread(Evidence, frozen=True):
    """LimitRanges that could not be read may refuse a pod that requests less."""


class AutoscalersUnread(Evidence, frozen=True):
    """An autoscaler would undo the scaling of a workload, and those of its namespace were not read."""


class OneOfSeveral(Evidence, frozen=True):
    """A new object names one of several classes or drivers (``kind``): ``chosen`` is a guess.

    ``count``: 0 where it is none of those that exist.
    """

    kind: str
    chosen: str
    count: int


class ComesWith(Evidence, frozen=True):
    """A new class as a public ``project`` makes it: its ``driver``, and how many devices that publishes here.

    ``project`` empty: the driver is that of the attributes that requests for the class read.
    ``devices``: None where not all slices were read. ``setting``: what the project's chart has to be told for that.
    """

    project: str
    driver: str
    devices: int | None
    setting: str = ""


class EnoughFor(Evidence, frozen=True):
    """A quota then admits the claims of ``pods`` of those ``waiting``, and of all if each requests ``each`` devices."""

    pods: int
    waiting: int
    each: int = 0


class StartsAgain(Evidence, frozen=True):
    """For each deleted pod that a controller makes again a node that has room for it; empty for one that then waits."""

    nodes: tuple[str, ...]


class TakesAll(Evidence, frozen=True):
    """A DaemonSet's request for all devices takes them, which one with admin access would not.

    ``label``: what its namespace needs for that and lacks; ``gate``: the feature that is off, both empty for none.
    """

    owner: ObjectRef
    label: str = ""
    gate: str = ""


class FitThen(Evidence, frozen=True):
    """So many ``copies`` of those ``wanted`` fit then; ``rest``: and others of the same files, some of which lack now.

    Of a new node ``nodes``: with so many of them all fit; 0 where that was not tried. Of other ways out ``more``: with
    so many new nodes ``like`` one of the cluster beside it all fit. ``grown`` of the ``most`` that somebody may make
    later would fit, where anybody may.
    """

    copies: int
    wanted: int
    rest: bool = False
    nodes: int = 0
    most: int = 0
    grown: int = 0
    more: int = 0
    like: str = ""


Note = (
    NoCommand
    | Restarts
    | StartsOver
    | CountsAsFailed
    | QuotasUnread
    | LimitsUnread
    | AutoscalersUnread
    | Unspecified
    | OneOfSeveral
    | ComesWith
    | EnoughFor
    | StartsAgain
    | TakesAll
    | FitThen
)
_WHY: Final = {
    WhyUnread.KIND: Hindrance.UNKNOWN_KIND,
    WhyUnread.FORBIDDEN: Hindrance.NOT_READABLE,
    WhyUnread.GONE: Hindrance.NOT_READABLE,
    WhyUnread.NOT_ASKED: Hindrance.NOT_READ,
}


def counted_as_failed(ref: ObjectRef, job: WorkloadObject) -> CountsAsFailed:
    """What the deletion of one of its pods means to a Job (upstream: pkg/controller/job, isPodFailed)."""
    limit = BACKOFF_LIMIT if job.spec.backoff_limit is None else job.spec.backoff_limit
    return CountsAsFailed(ref, job.status.failed + 1, limit)


class Renewal:
    """One pod made anew with ``edits``, or as it is: ``pipes`` are the commands, each a pipeline; ``notes`` the rest.

    Without a pipe there is no command for it.
    """

    def __init__(self, pod: Pod, chain: Sequence[Owner], edits: Sequence[EditPod]) -> None:
        self._pod = pod
        self._ref = ObjectRef.of("Pod", key_of(pod.metadata))
        self._chain = chain
        self._edits = edits
        self.notes: list[Note] = []
        self.pipes: tuple[Pipe, ...] = tuple(self._pipes())

    def _pipes(self) -> Iterator[Pipe]:
        if not self._chain:
            yield from self._bare()
            return
        top = self._chain[-1]
        if top.object is None:
            # A pod that is made anew as it is takes nothing but its deletion, whoever owns it.
            if self._edits or top.unread is WhyUnread.GONE:
                self._hinder(top.ref, _WHY[top.unread or WhyUnread.NOT_ASKED])
            else:
                yield from self._deleted()
            return
        found = top.object.template_of(top.ref.kind, self._pod)
        changes = self._changes(found[1]) if found is not None else ()
        if self._edits and (found is None or not changes):
            self._hinder(top.ref, Hindrance.NOT_IN_TEMPLATE)
            return
        path, template = found if found is not None else ("", None)
        yield from self._of_owner(top, top.object, path, template, changes)

    def _changes(self, template: PodTemplate) -> Sequence[Change]:
        """All changes of the template; none where one of the edits is of something that it does not have."""
        each = [pod_changes(edit, template.spec) for edit in self._edits]
        return tuple(change for changes in each for change in changes) if all(each) else ()

    def _hinder(self, owner: ObjectRef, why: Hindrance) -> None:
        fields = ", ".join(edit.field for edit in self._edits) or "template"
        self.notes.append(NoCommand(owner, fields, why))

    # --- pods that nobody owns ----------------------------------------------------------------------------------------

    def _bare(self) -> Iterator[Pipe]:
        target = _target(self._ref)
        changes = [change for edit in self._edits for change in pod_changes(edit, self._pod.spec)]
        if self._edits and not changes:
            return
        if self._pod.spec.node_name and not any(path == _NODE_NAME for path, _ in changes):
            changes.append((_NODE_NAME, None))  # else it would be put onto the same node, past the scheduler
        if changes:
            patch = kubectl("patch", target, "--type=json", "-p", patch_text(changes, "/spec"), *_LOCAL)
        else:
            patch = kubectl("get", target, "-o", "yaml")
        if patch is not None:
            yield patch, _REPLACE

    # --- owners -------------------------------------------------------------------------------------------------------

    def _of_owner(
        self, top: Owner, owner: WorkloadObject, path: str, template: PodTemplate | None, changes: Sequence[Change]
    ) -> Iterator[Pipe]:
        kind, patch = top.ref.kind, self._patch(top.ref, path, changes)
        if kind in _REFILLS:
            recreates = kind == "RayCluster" and owner.spec.upgrade_strategy.type == "Recreate"
            if changes and (recreates or (kind == "StatefulSet" and owner.spec.update_strategy.type != "OnDelete")):
                self.notes.append(Restarts(top.ref))
            yield from patch
            if not (changes and recreates):
                yield from self._deleted()
        elif kind in _ROLLS:
            yield from self._rolled(top.ref, owner, patch, changed=bool(changes))
        elif kind in _REPLACED:
            yield from self._replaced(top.ref, owner, path, template, changes)
        elif kind == "CronJob":
            yield from self._of_cron_job(top.ref, patch, changed=bool(changes))

    def _patch(self, owner: ObjectRef, path: str, changes: Sequence[Change]) -> list[Pipe]:
        if not changes:
            return []
        words = kubectl("patch", _target(owner), "--type=json", "-p", patch_text(changes, f"{path}/spec"))
        return [(words,)] if words is not None else []

    def _deleted(self) -> Iterator[Pipe]:
        words = kubectl("delete", _target(self._ref), _GONE)
        if words is not None:
            yield (words,)

    def _rolled(self, ref: ObjectRef, owner: WorkloadObject, patch: list[Pipe], *, changed: bool) -> Iterator[Pipe]:
        if not changed or owner.spec.update_strategy.type == "OnDelete":
            yield from patch
            yield from self._deleted()
            return
        self.notes.append(Restarts(ref))
        yield from patch
        resume = kubectl("rollout", "resume", _target(ref)) if owner.spec.paused else None
        if patch and resume is not None:
            yield (resume,)

    def _replaced(
        self,
        ref: ObjectRef,
        owner: WorkloadObject,
        path: str,
        template: PodTemplate | None,
        changes: Sequence[Change],
    ) -> Iterator[Pipe]:
        """Deleted and created with another template, which can't be changed; or only the pod, where that is enough."""
        if not changes and ref.kind == "Job" and self._survives(ref, owner):
            yield from self._deleted()
            return
        removed = [] if ref.kind != "Job" or owner.spec.manual_selector else list(_of_the_old_job(path, template))
        edited = [(f"{path}/spec{place}", value) for place, value in changes]
        self.notes.append(StartsOver(ref))
        if removed or edited:
            words = kubectl("patch", _target(ref), "--type=json", "-p", patch_text([*removed, *edited]), *_LOCAL)
        else:
            words = kubectl("get", _target(ref), "-o", "yaml")
        if words is not None:
            yield words, _REPLACE

    def _survives(self, ref: ObjectRef, job: WorkloadObject) -> bool:
        """Whether a Job goes on when one of its pods is deleted."""
        counted = counted_as_failed(ref, job)
        if counted.failed > counted.limit:
            return False
        self.notes.append(counted)
        return True

    def _of_cron_job(self, ref: ObjectRef, patch: list[Pipe], *, changed: bool) -> Iterator[Pipe]:
        job = self._chain[-2] if len(self._chain) > 1 else None
        if job is None or job.object is None:
            return
        if not changed and self._survives(job.ref, job.object):
            yield from self._deleted()
            return
        delete = kubectl("delete", _target(job.ref))
        name = of("cronjob", ref.name)
        create = kubectl("create", "job", job.ref.name, "-n", ref.namespace, *(f"--from={word}" for word in name or ()))
        if delete is not None and create is not None and name is not None:
            self.notes.append(StartsOver(job.ref))
            yield from patch
            yield (delete,)
            yield (create,)


def remade_claim(action: MoveVolume) -> Pipe | None:
    """A claim for a volume, which has none yet, made anew in another class, or for less."""
    change = ("/spec/resources/requests/storage", action.size) if action.size else (_CLASS, action.storage_class)
    patch = patch_text([change])
    words = kubectl("patch", of("pvc", action.claim.name, action.claim.namespace), "--type=json", "-p", patch, *_LOCAL)
    return None if words is None else (words, _REPLACE)


def _target(ref: ObjectRef) -> Words | None:
    return of(ref.kind.lower(), ref.name, ref.namespace)


def _of_the_old_job(path: str, template: PodTemplate | None) -> Iterator[Change]:
    """What says which pods belonged to the Job before; a new one gets its own."""
    yield "/spec/selector", None
    labels = template.metadata.labels if template is not None else _NOTHING
    for label in _JOB_LABELS:
        if label in labels:
            yield f"{path}/metadata/labels{pointer(label)}", None
