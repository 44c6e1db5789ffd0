"""A name that is none of the kind that was asked for, but of another one: the command that answers about that."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kubectl_dra.api.kinds import POD, Kind
from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.shared.errors import CommandError
from kubectl_dra.commands.shared.types import means
from kubectl_dra.diagnosis.pod.workloads import Owners, ReadOwner
from kubectl_dra.model.gang_objects import VOLCANO, OtherGroup
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.names import is_subdomain
from kubectl_dra.reports.invocations import Words, dra, kubectl, of, shell_line, within

_SHOWN: Final = 5
_VOLCANO_JOBS: Final = "batch.volcano.sh/"
_GROUPS: Final = f"podgroups.{VOLCANO}"


def of_another_kind(state: ClusterState, kind: Kind, key: Key) -> Words | None:
    """The command for the first kind that has an object of the name; only where a pod was asked for, the default."""
    return next(filter(None, _commands(state, key)), None) if kind is POD else None


def pods_of_any(state: ClusterState, word: str, key: Key, read: ReadOwner | None) -> tuple[Key, ...]:
    """The pods below an owner of this name, of the kind that ``word`` means, or the only kind that has such an owner.

    Raises ``CommandError`` where there are none.
    """
    known, found, there = Owners(state.inventory, read), dict[str, list[Key]](), set[str]()
    for pod in state.inventory.pods.values():
        if pod.metadata.namespace != key.namespace:
            continue
        for owner in known.of(pod):
            there.add(f"{owner.ref.kind} {owner.ref.name}")
            if owner.ref.name == key.name:
                found.setdefault(owner.ref.kind, []).append(key_of(pod.metadata))
    meant = [kind for kind in found if means(word, kind)] or list(found)
    if len(meant) == 1:
        return tuple(sorted(found[meant[0]]))
    if means(word, "Job"):
        held = next((each for each in _volcano_groups(state, key) if each.status.phase in ("", "Pending")), None)
        if held is not None:
            raise _not_enqueued(state, key, held)
    what = f'no pod in namespace "{key.namespace}" belongs to {word} "{key.name}"'
    names = f"; the pods there belong to {', '.join(sorted(there)[:_SHOWN])}" if there else ""
    raise CommandError(what + names, shell_line(dra("why-pending", within(key.namespace))))


def _volcano_groups(state: ClusterState, key: Key) -> Iterator[OtherGroup]:
    """The PodGroups that Volcano's controller has made for a Job of its own."""
    for (group, at), found in state.inventory.gangs.groups.items():
        owners = found.metadata.owner_references if group == VOLCANO and at.namespace == key.namespace else ()
        if any(each.name == key.name and each.api_version.startswith(_VOLCANO_JOBS) for each in owners):
            yield found


def _not_enqueued(state: ClusterState, key: Key, group: OtherGroup) -> CommandError:
    """Why a Job of Volcano has no pods: they are made once its PodGroup may be enqueued.

    Upstream: volcano, pkg/controllers/job (syncJob returns while the PodGroup is Pending), plugins/capacity and
    plugins/proportion (JobEnqueueableFn).
    """
    name, queue = group.metadata.name, group.spec.queue or "default"
    what = f"Volcano Job {key} has no pods yet: Volcano makes them when its PodGroup {name} leaves phase Pending"
    known = state.inventory.gangs.queues.get(queue)
    for resource, limit in (known.spec.capability if known is not None else {}).items():
        wanted = group.spec.min_resources.get(resource)
        if wanted is not None and wanted.cmp(limit) > 0:
            what += f"; it requests {wanted} {resource} (minResources), and Queue {queue} may have {limit} in all"
    last = max(group.status.conditions, key=lambda each: each.last_transition_time or "", default=None)
    what += f". It says: {last.message}" if last is not None and last.status == "True" and last.message else ""
    return CommandError(what, shell_line(kubectl("get", of(_GROUPS, name, key.namespace), "-o", "yaml")))


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
