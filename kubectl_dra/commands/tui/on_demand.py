"""What the terminal UI reads of a live cluster for single pages, as the commands do; kept for some seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.shared.cluster import source_spec
from kubectl_dra.commands.shared.live import with_daemon_sets, with_driver_pods
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.shared.owners import KeptOwners
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.workloads import WorkloadObject
from kubectl_dra.tui.on_demand import NOTHING_MORE, OnDemand

_KEPT_SECONDS: Final = 30.0


def on_demand(options: Options) -> OnDemand:
    """Nothing of files, which hold all that there is."""
    if options.from_ is not None:
        return NOTHING_MORE
    sets = KeptReading(partial(with_daemon_sets, options))
    pods = KeptReading(partial(with_driver_pods, options))
    owner = KeptOwners(source_spec(options).connection)
    return OnDemand(owner, sets, lambda state: pods(sets(state)))


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
