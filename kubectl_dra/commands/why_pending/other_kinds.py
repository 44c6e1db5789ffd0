"""A name that is none of the kind that was asked for, but of another one: the command that answers about that."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_dra.api.kinds import POD, Kind
from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.ids import Key
from kubectl_dra.model.names import is_subdomain
from kubectl_dra.reports.invocations import Words, dra, kubectl, of, within


def of_another_kind(state: ClusterState, kind: Kind, key: Key) -> Words | None:
    """The command for the first kind that has an object of the name; only where a pod was asked for, the default."""
    return next(filter(None, _commands(state, key)), None) if kind is POD else None


def _commands(state: ClusterState, key: Key) -> Iterator[Words | None]:
    inventory, named = state.inventory, (key.name, key.namespace)
    if key in inventory.claims:
        yield dra("why-pending", of("claim", *named))
    if key in inventory.groups.pod_groups:
        yield dra("why-pending", of("podgroup", *named))
    for kind, namespace, name in sorted({*inventory.workloads, *inventory.makers}):
        if (namespace, name) == (key.namespace, key.name):
            yield dra("why-pending", of(kind.lower(), *named))
    if key in inventory.templates:
        yield dra("get", "claims", within(key.namespace))
    if key.name in inventory.nodes:
        yield dra("describe-node", key.name) if is_subdomain(key.name) else None
    if key.name in inventory.classes:
        yield kubectl("get", of("deviceclass", key.name), "-o", "yaml")
