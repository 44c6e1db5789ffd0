"""Workloads of a live cluster that are read when they matter; files hold theirs already.

DaemonSets where no driver publishes what a pod asks for, or nodes come that get pods of them; and what may name a
claim, where no pod uses it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from kubectl_dra.api.controllers import decode_owner
from kubectl_dra.api.decode import DecodeError
from kubectl_dra.api.kinds import NODE
from kubectl_dra.api.sources import Source
from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.shared.cluster import source_spec
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.diagnosis.whatif.daemons import DAEMON_SET
from kubectl_dra.diagnosis.whatif.records import AddNode, Switch
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.meta import OwnerReference
from kubectl_dra.model.workloads import WorkloadObject
from kubectl_dra.source.errors import ClusterError

Kinds = Mapping[str, Mapping[str, str]]
_READ: Final = {"apps": {"daemonsets": DAEMON_SET}}
_NAMING: Final = {
    "apps": {"deployments": "Deployment", "statefulsets": "StatefulSet"},
    "batch": {"jobs": "Job", "cronjobs": "CronJob"},
}


def for_new_nodes(
    options: Options, state: ClusterState, written: Sequence[Source], switches: Sequence[Switch]
) -> ClusterState:
    """The state with all DaemonSets, where nodes come that get pods of them."""
    come = any(each.kind == NODE.name for each in written)
    come = come or any(isinstance(each, AddNode) and not each.free for each in switches)
    return with_daemon_sets(options, state) if come else state


def with_daemon_sets(options: Options, state: ClusterState) -> ClusterState:
    """The state with all DaemonSets, as far as they may be read: they only explain."""
    return state if state.evidence.complete(DAEMON_SET) else _with(options, state, _READ, {})


def with_workloads(options: Options, state: ClusterState, namespace: str) -> ClusterState:
    """The state with the workloads of a namespace whose pods may name a claim, as far as they may be read."""
    everywhere = {plural: namespace for plurals in _NAMING.values() for plural in plurals}
    return _with(options, state, _NAMING, everywhere)


def _with(options: Options, state: ClusterState, kinds: Kinds, namespaces: dict[str, str]) -> ClusterState:
    if options.from_ is not None:
        return state
    from kubectl_dra.source.live.foreign import read_foreign  # the kubernetes package is heavy

    try:
        sources = read_foreign(source_spec(options).connection, kinds, namespaces).objects
    except ClusterError:
        # What is known of the devices is answered without it.
        return state
    found: dict[tuple[str, str, str], WorkloadObject] = {}
    for source in sources:
        try:
            workload = decode_owner(source.data, OwnerReference(api_version=source.api_version, kind=source.kind))
        except DecodeError:
            continue
        found[source.kind, *key_of(workload.metadata)] = workload
    return state.changed(state.inventory.replace(workloads={**state.inventory.workloads, **found})) if found else state
