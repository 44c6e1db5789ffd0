"""Kueue's objects of a live cluster, read when something waits in a queue; files hold theirs already."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from kubectl_dra.api.queues import READ, queue_objects, reads_of, with_files
from kubectl_dra.api.sources import Source
from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.shared.cluster import source_spec
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.model.queues import COHORT, KINDS, QueueObjects
from kubectl_dra.source.errors import ClusterError

if TYPE_CHECKING:
    # What reads manifests is for commands that get some.
    from kubectl_dra.api.planned import Planned
    from kubectl_dra.source.manifests import Written

_DEFAULT_NAMESPACE: Final = "default"


def with_queues(options: Options, state: ClusterState, namespace: str) -> ClusterState:
    """The state with the queues that matter in ``namespace`` (empty: in all), as far as they may be read."""
    if options.from_ is not None:
        return state
    found = _read(options, namespace)
    reads = (*state.evidence.reads, *reads_of(found, namespace, state.as_of))
    known = dataclasses.replace(state, evidence=dataclasses.replace(state.evidence, reads=reads))
    return known.changed(state.inventory.replace(queues=found))


def with_queues_of(
    options: Options, state: ClusterState, objects: Sequence[Planned], written: Sequence[Written]
) -> ClusterState:
    """With Kueue's queues, where an object of the files waits in one: the cluster's, and those of the files."""
    namespaces = {each.key.namespace or _DEFAULT_NAMESPACE for each in objects if each.queue and each.pods}
    if not namespaces:
        return state
    from kubectl_dra.source.queue_config import queue_config

    state = with_queues(options, state, namespaces.pop() if len(namespaces) == 1 else "")
    sources = [Source(each.data, each.api_version, each.kind) for each in written]
    queues = with_files(state.inventory.queues, sources)
    queues = dataclasses.replace(queues, config=queue_config(written, queues.config))
    return state.changed(state.inventory.replace(queues=queues))


def _read(options: Options, namespace: str) -> QueueObjects:
    from kubectl_dra.source.live.foreign import read_foreign  # the kubernetes package is heavy

    within = {plural: namespace for plural, namespaced in KINDS.values() if namespaced}
    try:
        found = read_foreign(source_spec(options).connection, READ, within)
    except ClusterError:
        # What is known of the devices is answered without it.
        return queue_objects((), refused=KINDS)
    absent = not (found.complete or found.unread)
    refused = {each.kind for each in found.unread}
    # Where its kind is not served, there is none.
    known = {*found.complete, COHORT} if found.complete and COHORT not in refused else found.complete
    objects = queue_objects(found.objects, known, refused)
    return dataclasses.replace(objects, absent=absent)
