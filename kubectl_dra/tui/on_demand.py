"""What is read of a live cluster only where a page is about it: no watch follows it, and files hold theirs already."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.workloads import ReadOwner


def _nothing_more(state: ClusterState) -> ClusterState:
    return state


@dataclass(frozen=True, slots=True)
class OnDemand:
    """Each reads in the worker's thread, or gives what it read some seconds ago.

    ``owner``: of a pod. ``daemon_sets``: the state with all of them; ``drivers``: also with the pods of drivers.
    ``queues``: with the queues of Kueue and Volcano, and what waits in them. ``failed_pods``: with pods that their
    nodes did not take.
    """

    owner: ReadOwner | None = None
    daemon_sets: Callable[[ClusterState], ClusterState] = _nothing_more
    drivers: Callable[[ClusterState], ClusterState] = _nothing_more
    queues: Callable[[ClusterState], ClusterState] = _nothing_more
    failed_pods: Callable[[ClusterState], ClusterState] = _nothing_more


#: Of a file, which is read whole.
NOTHING_MORE = OnDemand()
