"""What is read of a live cluster only where it matters to an answer; files hold theirs already.

Kueue's objects when something waits in a queue, gangs of other schedulers when a pod that waits is in one, autoscalers
when advice is about the number of a workload's pods, DaemonSets where no driver publishes what a pod asks for, or nodes
come that get pods of them, and there the pods of drivers; what may name a claim, where no pod uses it; and pods that
their nodes did not take.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

from msgspec import structs

from kubectl_dra.api.controllers import decode_owner
from kubectl_dra.api.decode import DecodeError, decode_object
from kubectl_dra.api.kinds import AUTOSCALER, NODE
from kubectl_dra.api.queues import READ, gang_objects, queue_objects, reads_of, with_files
from kubectl_dra.api.sources import Source
from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.shared.cluster import source_spec
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.diagnosis.said.kubelet import is_rejected, was_not_taken
from kubectl_dra.diagnosis.whatif.daemons import DAEMON_SET
from kubectl_dra.diagnosis.whatif.records import AddNode, Switch
from kubectl_dra.model.admission import HorizontalPodAutoscaler
from kubectl_dra.model.core import Pod
from kubectl_dra.model.evidence import Coverage, Read
from kubectl_dra.model.gang_objects import KINDS as GANG_KINDS
from kubectl_dra.model.gang_objects import qualified
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.meta import OwnerReference
from kubectl_dra.model.names import DEFAULT_NAMESPACE
from kubectl_dra.model.queues import COHORT, GROUP, KINDS, QueueObjects
from kubectl_dra.model.workloads import WorkloadObject
from kubectl_dra.reports.pending.drivers import daemon_sets_of, named_by
from kubectl_dra.reports.pending.kept_off_drivers import has_nothing
from kubectl_dra.source.errors import ClusterError

if TYPE_CHECKING:
    # What reads manifests is for commands that get some, and the kubernetes package is heavy.
    from kubectl_dra.api.planned import Planned
    from kubectl_dra.source.live.foreign import ForeignObjects
    from kubectl_dra.source.manifests import Written

_AUTOSCALERS: Final = {AUTOSCALER.group: {AUTOSCALER.plural: AUTOSCALER.name}}
_DAEMON_SETS: Final = {"apps": {"daemonsets": DAEMON_SET}}
#: Drivers are installed in one, rarely in two.
_MOST_NAMESPACES: Final = 3
_NAMING: Final = {
    "apps": {"deployments": "Deployment", "statefulsets": "StatefulSet"},
    "batch": {"jobs": "Job", "cronjobs": "CronJob"},
}


def _read(
    options: Options, kinds: Mapping[str, Mapping[str, str]], namespaces: Mapping[str, str]
) -> ForeignObjects | None:
    """All of these kinds; None where the server refuses: what is known of the devices is answered without it."""
    from kubectl_dra.source.live.foreign import read_foreign

    try:
        return read_foreign(source_spec(options).connection, kinds, namespaces)
    except ClusterError:
        return None


def _with_reads(state: ClusterState, reads: Iterable[Read], words: Iterable[str] = ()) -> ClusterState:
    """``words``: what the server says of lists that it failed to give."""
    notes = tuple(dict.fromkeys((*state.evidence.notes, *words)))
    evidence = dataclasses.replace(state.evidence, reads=(*state.evidence.reads, *reads), notes=notes)
    return dataclasses.replace(state, evidence=evidence)


def _words(found: ForeignObjects | None) -> Iterator[str]:
    """A webhook of the project that does not answer may be what is wrong."""
    yield from (each.what for each in (found.unread if found is not None else ()) if each.what)


# --- queues and gangs -----------------------------------------------------------------------------------------------


def with_queues(options: Options, state: ClusterState, namespace: str) -> ClusterState:
    """The state with the queues that matter in ``namespace`` (empty: in all), as far as they may be read."""
    if options.from_ is not None:
        return state
    found = _read(options, {GROUP: READ[GROUP]}, _within(KINDS, namespace))
    objects = _queues(found)
    known = _with_reads(state, reads_of(objects, (GROUP,), namespace, state.as_of), _words(found))
    return known.changed(state.inventory.replace(queues=objects))


def _queues(found: ForeignObjects | None) -> QueueObjects:
    if found is None:
        return dataclasses.replace(queue_objects((), refused=KINDS), failed=frozenset(KINDS))
    refused = {each.kind for each in found.unread}
    failed = frozenset(each.kind for each in found.unread if each.coverage is not Coverage.FORBIDDEN)
    # Where its kind is not served, there is none.
    known = {*found.complete, COHORT} if found.complete and COHORT not in refused else found.complete
    absent = not (found.complete or found.unread)
    return dataclasses.replace(queue_objects(found.objects, known, refused), absent=absent, failed=failed)


def with_queues_of(
    options: Options, state: ClusterState, objects: Sequence[Planned], written: Sequence[Written]
) -> ClusterState:
    """With Kueue's queues, where an object of the files waits in one: the cluster's, and those of the files."""
    namespaces = {each.key.namespace or DEFAULT_NAMESPACE for each in objects if each.queue and each.pods}
    if not namespaces:
        return state
    from kubectl_dra.source.queue_config import queue_config

    state = with_queues(options, state, namespaces.pop() if len(namespaces) == 1 else "")
    sources = [Source(each.data, each.api_version, each.kind) for each in written]
    queues = with_files(state.inventory.queues, sources, alone=_is_list(options, state))
    queues = dataclasses.replace(queues, config=queue_config(written, queues.config))
    return state.changed(state.inventory.replace(queues=queues))


def _is_list(options: Options, state: ClusterState) -> bool:
    """Whether the cluster is a list of objects in files, which nobody wrote what was read into."""
    return options.from_ is not None and state.evidence.server_version is None


def with_gangs(options: Options, state: ClusterState, namespace: str, groups: Collection[str]) -> ClusterState:
    """The state with the gangs of ``namespace`` (empty: of all) of these API ``groups``, as far as they may be read."""
    if options.from_ is not None or not groups:
        return state
    sources, complete, refused, failed = list[Source](), list[str](), list[str](), list[str]()
    words: list[str] = []
    for group in groups:
        found = _read(options, {group: READ[group]}, _within(GANG_KINDS[group], namespace))
        if found is None:
            refused += [qualified(group, kind) for kind in GANG_KINDS[group]]
            failed += [qualified(group, kind) for kind in GANG_KINDS[group]]
            continue
        sources += found.objects
        words += _words(found)
        # Kinds of two groups have the same name.
        complete += [qualified(group, kind) for kind in found.complete]
        refused += [qualified(group, each.kind) for each in found.unread]
        failed += [qualified(group, each.kind) for each in found.unread if each.coverage is not Coverage.FORBIDDEN]
    objects = structs.replace(gang_objects(sources, complete, refused), failed=frozenset(failed))
    known = _with_reads(state, reads_of(objects, groups, namespace, state.as_of), words)
    return known.changed(state.inventory.replace(gangs=objects))


def _within(kinds: Mapping[str, tuple[str, bool]], namespace: str) -> dict[str, str]:
    return {plural: namespace for plural, namespaced in kinds.values() if namespaced}


# --- workloads ------------------------------------------------------------------------------------------------------


def with_autoscalers(options: Options, state: ClusterState, namespace: str) -> ClusterState:
    """The state with the autoscalers of one namespace, as far as they may be read: they only explain."""
    if options.from_ is not None or state.evidence.complete(AUTOSCALER.name, namespace):
        return state
    found = _read(options, _AUTOSCALERS, {AUTOSCALER.plural: namespace})
    if found is None or found.unread:
        return state
    try:
        records = [decode_object(each.data, each.api_version, AUTOSCALER) for each in found.objects]
    except DecodeError:
        return state
    scalers = {key_of(each.metadata): each for each in records if isinstance(each, HorizontalPodAutoscaler)}
    known = _with_reads(state, (Read(AUTOSCALER.name, namespace, Coverage.COMPLETE, time=state.as_of),))
    return known.changed(state.inventory.replace(autoscalers={**state.inventory.autoscalers, **scalers}))


def _is_not_taken(pod: Pod) -> bool:
    return is_rejected(pod) and was_not_taken(pod.status.reason, pod.status.message)


def with_failed_pods(options: Options, state: ClusterState, namespace: str) -> ClusterState:
    """The state with the pods of ``namespace`` (empty: of all) that their nodes did not take: they only explain.

    Others that have failed are left out, as all of them are while nobody asks.
    """
    if options.from_ is not None:
        return state
    from kubectl_dra.source.live.failed import read_failed

    try:
        found = read_failed(source_spec(options).connection, namespace, _is_not_taken)
    except ClusterError:
        return state
    there = {key_of(pod.metadata): pod for pod in found}
    pods = dict(sorted({**there, **state.inventory.pods}.items()))
    return state.changed(state.inventory.replace(pods=pods)) if there else state


def for_new_nodes(
    options: Options, state: ClusterState, written: Sequence[Source], switches: Sequence[Switch]
) -> ClusterState:
    """The state with all DaemonSets, where nodes come that get pods of them, or drivers may be kept off a node."""
    come = any(each.kind == NODE.name for each in written)
    come = come or any(isinstance(each, AddNode) and not each.free for each in switches)
    come = come or any(has_nothing(node, state) for node in state.inventory.nodes.values())
    return with_daemon_sets(options, state) if come else state


def with_daemon_sets(options: Options, state: ClusterState) -> ClusterState:
    """The state with all DaemonSets, as far as they may be read: they only explain."""
    return state if state.evidence.complete(DAEMON_SET) else _with_owners(options, state, _DAEMON_SETS, {})


def with_driver_pods(options: Options, state: ClusterState) -> ClusterState:
    """The state with the pods of drivers' DaemonSets, which lists of pods leave out as they have no claims.

    Why they do not run may be why nothing is published.
    """
    if options.from_ is not None:
        return state
    from kubectl_dra.source.live.failed import read_pods

    drivers = {name for each in state.inventory.classes for name in named_by(each, state.inventory)}
    there: dict[Key, Pod] = {}
    for namespace, uids in sorted(daemon_sets_of(drivers, state.inventory).items())[:_MOST_NAMESPACES]:
        with suppress(ClusterError):
            found = read_pods(source_spec(options).connection, namespace, partial(_is_made_by, uids))
            there |= {key_of(pod.metadata): pod for pod in found}
    pods = dict(sorted({**there, **state.inventory.pods}.items()))
    return state.changed(state.inventory.replace(pods=pods)) if there else state


def _is_made_by(uids: Collection[str], pod: Pod) -> bool:
    return any(owner.uid in uids for owner in pod.metadata.owner_references)


def with_workloads(options: Options, state: ClusterState, namespace: str) -> ClusterState:
    """The state with the workloads of a namespace whose pods may name a claim, as far as they may be read."""
    within = {plural: namespace for plurals in _NAMING.values() for plural in plurals}
    return _with_owners(options, state, _NAMING, within)


def _with_owners(
    options: Options, state: ClusterState, kinds: Mapping[str, Mapping[str, str]], namespaces: Mapping[str, str]
) -> ClusterState:
    read = _read(options, kinds, namespaces) if options.from_ is None else None
    found: dict[tuple[str, str, str], WorkloadObject] = {}
    for source in read.objects if read is not None else ():
        try:
            workload = decode_owner(source.data, OwnerReference(api_version=source.api_version, kind=source.kind))
        except DecodeError:
            continue
        found[source.kind, *key_of(workload.metadata)] = workload
    return state.changed(state.inventory.replace(workloads={**state.inventory.workloads, **found})) if found else state
