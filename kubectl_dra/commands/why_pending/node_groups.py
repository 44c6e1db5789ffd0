"""``--node-groups``: the groups of autoscalers, from manifests or from the cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from kubectl_dra.api.sources import Source
from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.shared.cluster import source_spec
from kubectl_dra.commands.shared.errors import CommandError
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.diagnosis.autoscaling.existing import of_cluster, with_unread
from kubectl_dra.diagnosis.autoscaling.groups import ScalableGroup, judged
from kubectl_dra.diagnosis.autoscaling.records import JudgedGroups
from kubectl_dra.diagnosis.autoscaling.templates import SCALING_GROUP, groups_of
from kubectl_dra.diagnosis.pod import needs
from kubectl_dra.diagnosis.pod.missing import lacking
from kubectl_dra.diagnosis.records import Missing, RbacRule
from kubectl_dra.diagnosis.whatif.daemons import DAEMON_SET
from kubectl_dra.model.evidence import LACKING
from kubectl_dra.model.ids import Key
from kubectl_dra.reports.invocations import try_kubectl
from kubectl_dra.source.content import Content
from kubectl_dra.source.errors import ManifestError, SourceError
from kubectl_dra.source.inputs import Inputs, Skipped, opened
from kubectl_dra.source.limits import MAX_BYTES
from kubectl_dra.source.manifests import read_written
from kubectl_dra.source.reading import MANIFEST_BYTES

CLUSTER: Final = "cluster"
#: Read in the whole cluster, so that what they put on a new node is known.
EVERYWHERE: Final = (DAEMON_SET,)
#: Plural and kind by group of the API; deploy/rbac/node-groups.yaml grants them.
READ: Final[Mapping[str, Mapping[str, str]]] = {
    "cluster.x-k8s.io": {
        "machinedeployments": "MachineDeployment",
        "machinepools": "MachinePool",
        "machinesets": "MachineSet",
    },
    "karpenter.sh": {"nodeclaims": "NodeClaim", "nodeoverlays": "NodeOverlay", "nodepools": "NodePool"},
    "test.karpenter.sh": {"draconfigs": "DRAConfig"},
}
Judge = Callable[[ClusterState, Key], JudgedGroups]
_SCALING_GROUPS: Final = "AutoScalingGroups"


def judge_of(options: Options, word: str) -> Judge:
    """What says of each group whether a new node of it would take a pod."""
    live = word == CLUSTER and options.from_ is None
    described, missing = _live(options) if live else ((), ())
    if word != CLUSTER:
        described = groups_of(list(_written(options, word)))
        if not described:
            what = f"{word}: no MachineDeployment, MachineSet, MachinePool, NodePool, AutoScalingGroup or Node in it"
            raise CommandError(what, try_kubectl("get", "machinedeployments,nodepools,draconfigs", "-A", "-o", "yaml"))

    def judge(state: ClusterState, pod: Key) -> JudgedGroups:
        groups = described
        if word == CLUSTER:
            groups = tuple(with_unread(of_cluster(state.inventory, described), state.evidence, missing))
        return JudgedGroups(tuple(judged(state, pod, groups)), (*missing, *_daemon_sets(state)))

    return judge


def _live(options: Options) -> tuple[tuple[ScalableGroup, ...], tuple[Missing, ...]]:
    from kubectl_dra.source.live.foreign import read_foreign  # the kubernetes package is heavy

    found = read_foreign(source_spec(options).connection, READ)
    missing = (
        Missing(
            each.kind,
            each.coverage,
            RbacRule(each.group, each.plural, needs.READING),
            decides=False,
            user=each.user,
        )
        for each in found.unread
    )
    return groups_of(found.objects), tuple(missing)


def _daemon_sets(state: ClusterState) -> Iterator[Missing]:
    """DaemonSets that may not be read: what they take of a new node is not known."""
    coverage = state.evidence.coverage(DAEMON_SET)
    if coverage in LACKING:
        yield lacking(state.evidence, needs.BY_KIND[DAEMON_SET], "")


def _written(options: Options, word: str) -> Iterator[Source]:
    """The objects of files, and AWS's groups as its command line prints them. Raises :class:`SourceError`."""
    limit = MANIFEST_BYTES if options.max_bytes == MAX_BYTES else options.max_bytes
    for each in opened(Inputs((word,), max_bytes=limit)):
        if isinstance(each, Skipped):
            continue
        if isinstance(each, SourceError):
            raise each
        with each:
            found = _scaling_groups(each)
            if found is not None:
                yield from found
                continue
            problems: list[ManifestError] = []
            yield from (
                Source(item.data, item.api_version, item.kind) for item in read_written(each, each.name, problems)
            )
            if problems:
                raise problems[0]


class _Printed(msgspec.Struct, rename={"groups": _SCALING_GROUPS}):
    groups: list[msgspec.Raw]


def _scaling_groups(content: Content) -> Sequence[Source] | None:
    """None for a file that is something else."""
    data = content.read(0, content.size)
    if _SCALING_GROUPS.encode() not in data:
        return None
    try:
        printed = msgspec.json.decode(data, type=_Printed)
    except (ValueError, RecursionError):
        return None
    return [Source(bytes(group), "", SCALING_GROUP) for group in printed.groups]
