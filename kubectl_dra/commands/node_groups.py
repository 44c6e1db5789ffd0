"""``--node-groups``: the groups of autoscalers, from manifests or from the labels of nodes that are there."""

from __future__ import annotations

from collections.abc import Callable

from kubectl_dra.api.convert import Source
from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.errors import CommandError
from kubectl_dra.commands.options import Options
from kubectl_dra.diagnosis.autoscaling.groups import Group, judged, of_cluster
from kubectl_dra.diagnosis.autoscaling.records import GroupVerdict
from kubectl_dra.diagnosis.autoscaling.templates import groups_of
from kubectl_dra.model.ids import Key
from kubectl_dra.reports.invocations import try_kubectl
from kubectl_dra.source.inputs import Inputs
from kubectl_dra.source.reading import read_objects

CLUSTER = "cluster"
Judge = Callable[[ClusterState, Key], tuple[GroupVerdict, ...] | None]


def judge_of(options: Options, word: str) -> Judge:
    """What says of each group whether a fresh node of it would take a pod; None of each pod where nobody asked."""
    if not word:
        return lambda _world, _pod: None
    groups: tuple[Group, ...] | None = None
    if word != CLUSTER:
        found = read_objects(Inputs((word,), max_bytes=options.max_bytes))
        groups = groups_of([Source(each.data, each.api_version, each.kind) for each in found.objects])
        if not groups:
            what = f"{word}: no MachineDeployment, MachineSet, MachinePool, NodePool or Node describes a node group"
            raise CommandError(what, try_kubectl("get", "machinedeployments,nodepools,draconfigs", "-A", "-o", "yaml"))
    return lambda world, pod: tuple(judged(world, pod, of_cluster(world.inventory) if groups is None else groups))
