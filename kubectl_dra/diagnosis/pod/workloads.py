"""Who owns a pod, and which pods a workload has: ownerReferences followed upwards, whatever the kinds are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import Final

import msgspec

from kubectl_dra.api.controllers import plural_of
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.model.meta import ObjectMeta, OwnerReference
from kubectl_dra.model.workloads import WorkloadObject

_DEPTH = 8  # longer chains are loops
CRON_JOB: Final = "CronJob"
_HASH: Final = "pod-template-hash"
#: Controllers whose parts follow one another.
_REPLACING: Final = frozenset({"Deployment", CRON_JOB})


class WhyUnread(StrEnum):
    """Why an owner is not known."""

    FORBIDDEN = "forbidden"
    GONE = "gone"
    KIND = "kind"  # a kind whose pods' templates are not known
    NOT_ASKED = "notAsked"


#: Reads one owner by its reference in a namespace.
ReadOwner = Callable[[str, OwnerReference], WorkloadObject | WhyUnread]


class Owner(msgspec.Struct, frozen=True):
    """One owner in a chain; without an ``object`` it was not read, and ``unread`` says why."""

    ref: ObjectRef
    uid: str
    object: WorkloadObject | None = None
    unread: WhyUnread | None = None

    @property
    def known(self) -> bool:
        """Whether the object itself was read, so that the chain can go on."""
        return self.object is not None


class Owners:
    """The owners of pods: those of the Inventory, and those that ``read`` gets one by one, each once."""

    def __init__(self, inventory: Inventory, read: ReadOwner | None = None) -> None:
        self._inventory = inventory
        self._read = read
        self._memo: dict[tuple[str, OwnerReference], WorkloadObject | WhyUnread] = {}

    def of(self, pod: Pod) -> tuple[Owner, ...]:
        """The controllers of a pod, nearest first: ReplicaSet, Deployment …"""
        return tuple(self._chain(pod.metadata))

    def restarting(self, key: Key) -> Owner | None:
        """The topmost controller that makes a pod again, by its name alone, of which perhaps no more is known.

        A CronJob makes none again: its Jobs do, and it starts the next one by the clock.
        """
        pod = self._inventory.pods.get(key)
        found = pod or self._look_up(key.namespace, OwnerReference("v1", "Pod", key.name))
        chain = [] if isinstance(found, WhyUnread) else list(self._chain(found.metadata))
        lasting = [owner for owner in chain if owner.ref.kind != CRON_JOB]
        return lasting[-1] if lasting else None

    def controller(self, pod: Pod) -> Owner | None:
        """The controller of a pod itself; None for a bare pod."""
        return next(self._chain(pod.metadata), None)

    def top(self, pod: Pod) -> Owner | None:
        """The topmost controller that is known of; None for a bare pod."""
        chain = self.of(pod)
        return chain[-1] if chain else None

    def named(self, pod: Pod) -> ObjectRef | None:
        """The topmost controller by name; None for a bare pod.

        Of a ReplicaSet that was not read the Deployment is told that gave it its name, "NAME-HASH", and its pods the
        label. Upstream: pkg/controller/deployment/sync.go getNewReplicaSet.
        """
        top = self.top(pod)
        if top is None:
            return None
        name, _, suffix = top.ref.name.rpartition("-")
        by_deployment = name and suffix == pod.metadata.labels.get(_HASH)
        return ObjectRef("Deployment", top.ref.namespace, name) if _is_unread_set(top) and by_deployment else top.ref

    @staticmethod
    def are_siblings(pod: Pod, other: Pod) -> bool:
        """Whether the same controller makes both, and so from the same template."""
        mine, its = pod.metadata.controller, other.metadata.controller
        return mine is not None and its is not None and bool(mine.uid) and mine.uid == its.uid

    def share_workload(self, pod: Pod, other: Pod) -> bool:
        """Whether both pods are parts of the same, however many controllers stand between.

        To end one part for another helps nobody, and ends whole groups of pods: a LeaderWorkerSet starts all pods of a
        replica again. A pod of an older ReplicaSet of a Deployment, or of an earlier Job of a CronJob, is none.
        """
        if pod.metadata.namespace != other.metadata.namespace:
            return False
        return self.are_siblings(pod, other) or not self._lasting(pod).isdisjoint(self._lasting(other))

    def are_of_one_cron_job(self, pod: Pod, other: Pod) -> bool:
        """Whether both pods are of runs of the same CronJob."""
        mine, its = (
            {owner.uid for owner in self.of(each) if owner.uid and owner.ref.kind == CRON_JOB} for each in (pod, other)
        )
        return not mine.isdisjoint(its)

    def _lasting(self, pod: Pod) -> frozenset[str]:
        """The uids of all controllers above a pod but those that replace one set of pods by the next."""
        return frozenset(owner.uid for owner in self.of(pod) if owner.uid and owner.ref.kind not in _REPLACING)

    def _chain(self, metadata: ObjectMeta) -> Iterator[Owner]:
        namespace = metadata.namespace
        for _ in range(_DEPTH):
            reference = metadata.controller
            if reference is None:
                return
            found = self._look_up(namespace, reference)
            ref = ObjectRef(reference.kind, namespace, reference.name)
            if isinstance(found, WhyUnread):
                yield Owner(ref, reference.uid, unread=found)
                return
            yield Owner(ref, reference.uid, found)
            metadata = found.metadata

    def _look_up(self, namespace: str, reference: OwnerReference) -> WorkloadObject | WhyUnread:
        found = self._inventory.workloads.get((reference.kind, namespace, reference.name)) or self._pod(
            namespace, reference
        )
        if found is not None and not _is_another(found, reference):
            return found
        if not plural_of(reference.api_version, reference.kind):
            return WhyUnread.KIND
        if self._read is None:
            return WhyUnread.NOT_ASKED
        asked = namespace, reference
        if asked not in self._memo:
            self._memo[asked] = self._read(namespace, reference)
        read = self._memo[asked]
        return WhyUnread.GONE if isinstance(read, WorkloadObject) and _is_another(read, reference) else read

    def _pod(self, namespace: str, reference: OwnerReference) -> WorkloadObject | None:
        """A pod that owns others, as the leader of a LeaderWorkerSet does: what leads on is all that matters of it."""
        pod = self._inventory.pods.get(Key(namespace, reference.name)) if reference.kind == "Pod" else None
        return WorkloadObject("v1", "Pod", pod.metadata) if pod is not None else None


def _is_unread_set(owner: Owner) -> bool:
    return owner.ref.kind == "ReplicaSet" and not owner.known


def _is_another(found: WorkloadObject, reference: OwnerReference) -> bool:
    """Whether an object only has the name of the one that is meant."""
    return bool(reference.uid and found.metadata.uid and found.metadata.uid != reference.uid)


def owners(inventory: Inventory, pod: Pod) -> tuple[Owner, ...]:
    """The controllers of a pod in the Inventory, nearest first."""
    return Owners(inventory).of(pod)


def resolve_workload(inventory: Inventory, kind: str, key: Key, read: ReadOwner | None = None) -> tuple[Pod, ...]:
    """The pods of a workload, in order of their names; empty if it has none, or if its parts were not read."""
    wanted = inventory.workloads.get((kind, key.namespace, key.name))
    uid = wanted.metadata.uid if wanted is not None else ""
    known = Owners(inventory, read)
    pods = (pod for pod in inventory.pods.values() if pod.metadata.namespace == key.namespace)
    found = (pod for pod in pods if any(_is(owner, kind, key, uid) for owner in known.of(pod)))
    return tuple(sorted(found, key=lambda pod: key_of(pod.metadata)))


def without_pods(inventory: Inventory, kind: str, keys: Iterable[Key]) -> Iterator[Key]:
    """Those of the workloads of a ``kind`` that have no pods, looked for once: there may be thousands of each."""
    known, owned = Owners(inventory), defaultdict[Key, set[str]](set)
    for pod in inventory.pods.values():
        for owner in known.of(pod):
            if owner.ref.kind == kind:
                owned[owner.ref.key].add(owner.uid)
    for key in keys:
        wanted = inventory.workloads.get((kind, key.namespace, key.name))
        uid = wanted.metadata.uid if wanted is not None else ""
        if not any(_is_of(owner, uid) for owner in owned.get(key, ())):
            yield key


def _is(owner: Owner, kind: str, key: Key, uid: str) -> bool:
    return (owner.ref.kind, owner.ref.name) == (kind, key.name) and _is_of(owner.uid, uid)


def _is_of(owner: str, uid: str) -> bool:
    """Whether a pod that names the uid of an ``owner`` belongs to the one with ``uid``; empty: not known."""
    return not uid or not owner or owner == uid


def controller_of(pod: Pod) -> ObjectRef | None:
    """The controller that a pod names, whether it was read or not."""
    found = pod.metadata.controller
    return ObjectRef(found.kind, pod.metadata.namespace, found.name) if found is not None else None
