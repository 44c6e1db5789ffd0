"""What is read of a live cluster by names that a pod mentions and that are not where they are looked for.

A template that its namespace does not have may stand in another one, and a scheduler that writes nothing may be a
workload of that name without pods. They only explain: what may not be read is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Final

from kubectl_dra.api.kinds import RESOURCE_CLAIM_TEMPLATE, WORKLOADS, Kind
from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.shared.cluster import source_spec
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.model.base import Record
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.names import is_subdomain
from kubectl_dra.source.errors import ClusterError

#: What runs a scheduler, by what it is installed with.
_RUNNING: Final = tuple(kind for kind in WORKLOADS if kind.name in ("Deployment", "StatefulSet"))
#: A pod has a few claims; who names more has another problem first.
_MOST: Final = 5


def with_called(options: Options, state: ClusterState, pods: Iterable[Key]) -> ClusterState:
    """The state with what is called like what these pods name in vain."""
    known = (state.inventory.pods.get(key) for key in pods)
    wanted = tuple(dict.fromkeys(each for pod in known if pod is not None for each in _named_in_vain(state, pod)))
    if options.from_ is not None or not wanted:
        return state
    from kubectl_dra.source.live.called import read_called  # the kubernetes package is heavy

    found: list[tuple[Kind, Record]] = []
    with suppress(ClusterError):
        found = read_called(source_spec(options).connection, wanted[:_MOST])
    names = {name for _, name in wanted}
    templates, workloads = dict(state.inventory.templates), dict(state.inventory.workloads)
    for kind, record in found:
        key = key_of(record.metadata)  # type: ignore[attr-defined]
        if key.name not in names:
            continue  # a server that can't select by name sends all
        if kind is RESOURCE_CLAIM_TEMPLATE:
            templates.setdefault(key, record)  # type: ignore[arg-type]
        else:
            workloads.setdefault((kind.name, *key), record)  # type: ignore[arg-type]
    return state.changed(state.inventory.replace(templates=templates, workloads=workloads)) if found else state


def _named_in_vain(state: ClusterState, pod: Pod) -> Iterator[tuple[Kind, str]]:
    namespace, kind = pod.metadata.namespace, RESOURCE_CLAIM_TEMPLATE
    if state.evidence.complete(kind.name, namespace) and not state.evidence.complete(kind.name):
        for name in (entry.resource_claim_template_name for entry in pod.spec.resource_claims):
            if name and is_subdomain(name) and Key(namespace, name) not in state.inventory.templates:
                yield kind, name
    scheduler = pod.spec.scheduler_name
    if scheduler and not pod.spec.node_name and scheduler not in state.schedulers and is_subdomain(scheduler):
        yield from ((each, scheduler) for each in _RUNNING)
