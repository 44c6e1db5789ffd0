"""Kueue's objects of a live cluster, read when something waits in a queue; files hold theirs already."""

from __future__ import annotations

from kubectl_dra.api.queues import READ, queue_objects
from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.cluster import source_spec
from kubectl_dra.commands.options import Options
from kubectl_dra.model.queues import GROUP, QueueObjects
from kubectl_dra.source.errors import ClusterError


def with_queues(options: Options, state: ClusterState, namespace: str) -> ClusterState:
    """The state with the queues that matter in ``namespace`` (empty: in all), as far as they may be read."""
    if options.from_ is not None:
        return state
    return state.changed(state.inventory.replace(queues=_read(options, namespace)))


def _read(options: Options, namespace: str) -> QueueObjects:
    from kubectl_dra.source.live.foreign import read_foreign  # the kubernetes package is heavy

    within = {"workloads": namespace, "localqueues": namespace}
    try:
        found = read_foreign(source_spec(options).connection, READ, within)
    except ClusterError:
        # What is known of the devices is answered without it.
        return queue_objects((), refused=READ[GROUP].values())
    absent = not (found.complete or found.unread)
    objects = queue_objects(found.objects, found.complete, (each.kind for each in found.unread))
    return QueueObjects(
        objects.workloads, objects.local_queues, objects.cluster_queues, objects.complete, objects.refused, absent
    )
