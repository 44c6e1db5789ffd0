"""What the terminal UI reads of a live cluster for single pages, as the commands do; kept for some seconds."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.shared.cluster import source_spec
from kubectl_dra.commands.shared.live import (
    with_daemon_sets,
    with_driver_pods,
    with_failed_pods,
    with_gangs,
    with_queues,
)
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.shared.owners import KeptOwners
from kubectl_dra.diagnosis.gangs.elsewhere import gangs_to_read
from kubectl_dra.model.core import Pod
from kubectl_dra.model.evidence import Read
from kubectl_dra.model.gang_objects import NO_GANGS, VOLCANO
from kubectl_dra.model.ids import Key
from kubectl_dra.model.queues import NO_QUEUES
from kubectl_dra.model.workloads import WorkloadObject
from kubectl_dra.tui.on_demand import NOTHING_MORE, OnDemand

_KEPT_SECONDS: Final = 30.0
#: How soon a cluster without queues is asked again whether it has got some.
_ABSENT_SECONDS: Final = 600.0


def on_demand(options: Options) -> OnDemand:
    """Nothing of files, which hold all that there is."""
    if options.from_ is not None:
        return NOTHING_MORE
    sets = KeptReading(partial(with_daemon_sets, options))
    pods = KeptReading(partial(with_driver_pods, options))
    owner = KeptOwners(source_spec(options).connection)
    failed = KeptReading(partial(with_failed_pods, options, namespace=""))
    return OnDemand(owner, sets, lambda state: pods(sets(state)), KeptQueues(options), failed)


class KeptReading:
    """Adds to states the workloads and pods that ``read`` found; it is asked again after some seconds."""

    def __init__(self, read: Callable[[ClusterState], ClusterState]) -> None:
        self._read = read
        self._time = 0.0
        self._workloads: Mapping[tuple[str, str, str], WorkloadObject] = {}
        self._pods: Mapping[Key, Pod] | None = None

    def __call__(self, state: ClusterState) -> ClusterState:
        """The state with what the watches do not follow."""
        inventory, now = state.inventory, time.monotonic()
        if self._pods is None or now - self._time > _KEPT_SECONDS:
            found = self._read(state).inventory
            self._time = now
            self._workloads = {key: each for key, each in found.workloads.items() if key not in inventory.workloads}
            self._pods = {key: each for key, each in found.pods.items() if key not in inventory.pods}
        if not self._workloads and not self._pods:
            return state
        workloads = {**self._workloads, **inventory.workloads}
        pods = dict(sorted({**self._pods, **inventory.pods}.items())) if self._pods else inventory.pods
        return state.changed(inventory.replace(workloads=workloads, pods=pods))


class KeptQueues:
    """Adds to states the queues of Kueue and Volcano; they are read again after some seconds."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._until = 0.0
        self._queues, self._gangs = NO_QUEUES, NO_GANGS
        self._reads: tuple[Read, ...] = ()
        self._made: tuple[ClusterState, ClusterState] | None = None

    def __call__(self, state: ClusterState) -> ClusterState:
        """The same for the same state, so that what follows from it is derived once."""
        if time.monotonic() > self._until:
            self._read(state)
        elif self._made is not None and self._made[0] is state:
            return self._made[1]
        evidence = dataclasses.replace(state.evidence, reads=(*state.evidence.reads, *self._reads))
        known = dataclasses.replace(state, evidence=evidence)
        found = known.changed(state.inventory.replace(queues=self._queues, gangs=self._gangs))
        self._made = state, found
        return found

    def _read(self, state: ClusterState) -> None:
        found = with_queues(self._options, state, "")
        found = with_gangs(self._options, found, "", gangs_to_read(state.inventory, "") | {VOLCANO})
        self._queues, self._gangs = found.inventory.queues, found.inventory.gangs
        self._reads = found.evidence.reads[len(state.evidence.reads) :]
        absent = self._queues.absent and not (self._gangs.complete or self._gangs.refused)
        self._until = time.monotonic() + (_ABSENT_SECONDS if absent else _KEPT_SECONDS)
