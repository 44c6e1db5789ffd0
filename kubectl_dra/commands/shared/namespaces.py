"""A namespace that does not exist is an error, not a place where nothing is."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_dra.api.kinds import NAMESPACE
from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.shared.cluster import Scoped, read_cluster
from kubectl_dra.commands.shared.errors import CommandError
from kubectl_dra.commands.shared.not_found import not_found
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.model.evidence import Coverage, Evidence
from kubectl_dra.model.features import Features
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.likeness import did_you_mean
from kubectl_dra.reports.invocations import try_kubectl
from kubectl_dra.source.errors import SourceError


def check_namespace(options: Options, cluster: Scoped) -> None:
    """Raises ``CommandError`` where the namespace in scope is known not to exist.

    Only where nothing of it was read are the namespaces of a live cluster looked up, which takes the right to list
    them. A list without any Namespace may leave out one that is empty: what it says of a name that was asked for is
    that nothing is in it.
    """
    name = cluster.namespace
    if not name or name in set(_used(cluster.state.inventory)):
        return
    if options.from_ is not None and not options.namespace:
        # Nobody named it: a file has no current namespace.
        return
    state = _with_namespaces(options, cluster.state)
    coverage, existing = state.evidence.coverage(NAMESPACE.name), state.inventory.namespaces
    if coverage is Coverage.COMPLETE and existing and name not in existing:
        raise not_found(NAMESPACE.resource, name, existing, try_kubectl("get", "namespaces"))
    used = set(_used(state.inventory))
    if coverage is Coverage.ASSUMED and options.namespace and used:
        what = f'nothing in {state.evidence.origin} is in namespace "{name}"'
        raise CommandError(what + did_you_mean(name, sorted(used)), "name another namespace with -n, or all with -A")


def check_named(options: Options, read: ClusterState | None = None) -> None:
    """The same of ``-n`` before anything else is read; ``read``: what a file has."""
    if options.namespace and not options.all_namespaces:
        state = read or ClusterState(Inventory(), Evidence(), Features(), options.clock)
        check_namespace(options, Scoped(state, options.namespace))


def _with_namespaces(options: Options, state: ClusterState) -> ClusterState:
    if options.from_ is not None or state.evidence.complete(NAMESPACE.name):
        return state
    try:
        return read_cluster(options, (NAMESPACE.name,)).state
    except SourceError:
        # What was asked for could be read: that this could not changes nothing about it.
        return state


def _used(inventory: Inventory) -> Iterator[str]:
    """The namespaces of what was read."""
    known = (
        inventory.pods,
        inventory.claims,
        inventory.templates,
        inventory.quotas,
        inventory.budgets,
        inventory.services,
    )
    for keys in known:
        yield from (key.namespace for key in keys)
    yield from (namespace for _, namespace, _ in inventory.workloads)
