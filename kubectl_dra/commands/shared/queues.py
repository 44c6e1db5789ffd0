"""Kueue's objects of a live cluster, read when something waits in a queue; files hold theirs already."""

from __future__ import annotations

import dataclasses

from kubectl_dra.api.queues import READ, queue_objects, reads_of
from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.shared.cluster import source_spec
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.model.queues import KINDS, QueueObjects
from kubectl_dra.source.errors import ClusterError


def with_queues(options: Options, state: ClusterState, namespace: str) -> ClusterState:
    """The state with the queues that matter in ``namespace`` (empty: in all), as far as they may be read."""
    if options.from_ is not None:
        return state
    found = _read(options, namespace)
    reads = (*state.evidence.reads, *reads_of(found, namespace, state.as_of))
    known = dataclasses.replace(state, evidence=dataclasses.replace(state.evidence, reads=reads))
    return known.changed(state.inventory.replace(queues=found))


def _read(options: Options, namespace: str) -> QueueObjects:
    from kubectl_dra.source.live.foreign import read_foreign  # the kubernetes package is heavy

    within = {plural: namespace for plural, namespaced in KINDS.values() if namespaced}
    try:
        found = read_foreign(source_spec(options).connection, READ, within)
    except ClusterError:
        # What is known of the devices is answered without it.
        return queue_objects((), refused=KINDS)
    absent = not (found.complete or found.unread)
    objects = queue_objects(found.objects, found.complete, (each.kind for each in found.unread))
    return dataclasses.replace(objects, absent=absent)
