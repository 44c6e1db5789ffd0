"""What why-pending does: find the objects that the words name, diagnose them, print the reports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from kubectl_dra.api.controllers import MAKERS
from kubectl_dra.api.kinds import POD, POD_GROUP, RESOURCE_CLAIM, Kind
from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.shared import whatif_options
from kubectl_dra.commands.shared.called import with_called
from kubectl_dra.commands.shared.cluster import Scoped, read_cluster
from kubectl_dra.commands.shared.errors import UsageProblem
from kubectl_dra.commands.shared.live import for_new_nodes, with_failed_pods, with_gangs, with_queues
from kubectl_dra.commands.shared.namespaces import check_namespace
from kubectl_dra.commands.shared.not_found import check_node
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.shared.owners import owner_reader
from kubectl_dra.commands.shared.show import (
    note_evidence,
)
from kubectl_dra.commands.shared.types import ObjectArg, ObjectArgs, parse_targets
from kubectl_dra.commands.why_pending.lists import everything
from kubectl_dra.commands.why_pending.named import named, only_pod
from kubectl_dra.commands.why_pending.one_per_line import check_list
from kubectl_dra.commands.why_pending.one_remedy import check_dry_run, check_single, one_remedy
from kubectl_dra.commands.why_pending.single import PendingCall
from kubectl_dra.diagnosis.gangs.elsewhere import gangs_to_read, is_held_by_queue
from kubectl_dra.diagnosis.gangs.groups import pods_of
from kubectl_dra.diagnosis.gates.pending import is_pending
from kubectl_dra.diagnosis.pod import needs
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.pod.workloads import resolve_workload
from kubectl_dra.diagnosis.whatif import Switch
from kubectl_dra.model.gang_objects import VOLCANO
from kubectl_dra.model.ids import Key

if TYPE_CHECKING:
    from kubectl_dra.commands.why_pending.node_groups import Judge


def answer(
    options: Options,
    node: str,
    remedies: bool,
    words: Sequence[str],
    number: int | None = None,
    switches: tuple[Switch, ...] = (),
    node_groups: str = "",
    sort_by: str = "",
    *,
    dry_run: bool = False,
    no_headers: bool = False,
) -> int:
    """Run the command; returns the exit code. ``remedies``: also for lists, and with the commands that do them.

    With a ``number`` nothing but the commands of that way out, with ``dry_run`` what the server says of them.
    ``switches``: what is supposed of the cluster.
    """
    whatif_options.check_watch(options, switches)
    if options.watch and node_groups:
        raise UsageProblem("-w follows the pod; it cannot be combined with --node-groups", "leave out -w")
    targets = parse_targets(words, POD, options, MAKERS, owners=True)
    check_list(options, words, sort_by, no_headers=no_headers, named=bool(targets.named))
    judge, everywhere = _judge_of(options, node_groups)
    if dry_run:
        check_dry_run(options, number)
    if number is not None:
        check_single(options, targets, remedies=remedies)
    _check_kinds(targets.kinds)
    asked = _Question(node, remedies, targets, number, switches, judge, sort_by, dry_run, no_headers)
    everywhere = (*everywhere, *whatif_options.kinds_everywhere(switches))
    if options.watch:
        from kubectl_dra.commands.why_pending.watch import watch

        return watch(options, asked.reads(everywhere), asked.pods, asked.respond, partial(_all_run, targets))
    cluster = read_cluster(
        options,
        asked.reads(everywhere),
        asked.pods,
        demanded=(
            *whatif_options.kinds_demanded(switches),
            *(needs.kinds(needs.GROUPS) if POD_GROUP in targets.kinds else ()),
        ),
        whole_nodes=whatif_options.whole_nodes(switches),
        everywhere=everywhere,
    )
    check_namespace(options, cluster)
    return asked.respond(options, cluster)


class _Question(msgspec.Struct, frozen=True):
    """What was asked, whatever the cluster: the arguments of :func:`answer`, read."""

    node: str
    remedies: bool
    targets: ObjectArgs
    number: int | None
    switches: tuple[Switch, ...]
    judge: Judge | None
    sort_by: str
    dry_run: bool
    no_headers: bool

    @property
    def pods(self) -> list[str]:
        return [target.name for target in self.targets.named if target.kind is POD]

    def reads(self, everywhere: Iterable[str]) -> tuple[str, ...]:
        """The kinds that the answer rests on."""
        workloads = needs.kinds(needs.WORKLOAD) if any(kind.workload for kind in self.targets.kinds) else ()
        return (*needs.kinds(needs.PENDING), *workloads, *everywhere)

    def _may_have_failed_siblings(self, state: ClusterState, namespace: str) -> bool:
        """Whether a workload is asked about, or a pod of one."""
        pods = (state.inventory.pods.get(Key(namespace, name)) for name in self.pods)
        made = any(pod is not None and pod.metadata.controller is not None for pod in pods)
        return made or any(kind.workload for kind in self.targets.kinds)

    def respond(self, options: Options, cluster: Scoped, moment: datetime | None = None) -> int:
        """Print the answer of this cluster; returns the exit code."""
        state = cluster.state
        # What waits in a queue has no pods that would tell of it.
        of_all_pods = not self.targets.named and self.targets.kind is POD
        if of_all_pods or is_held_by_queue(state.inventory.pods.values(), cluster.namespace):
            state = with_queues(options, state, cluster.namespace)
        gangs = gangs_to_read(state.inventory, cluster.namespace) | ({VOLCANO} if of_all_pods else set())
        state = with_gangs(options, state, cluster.namespace, gangs)
        if of_all_pods or self._may_have_failed_siblings(state, cluster.namespace):
            state = with_failed_pods(options, state, cluster.namespace)
        state = with_called(options, state, (Key(cluster.namespace, name) for name in self.pods))
        state = for_new_nodes(options, state, (), self.switches)
        note_evidence(state, options)
        with owner_reader(options) as read_owner:
            supposed, what_if = whatif_options.supposed(state, self.switches, read_owner)
            call = PendingCall(
                options,
                self.node,
                Scoped(supposed, cluster.namespace),
                Diagnoser(supposed),
                self.remedies,
                read_owner=read_owner,
                moment=moment,
                what_if=what_if,
                judge=self.judge,
                sort_by=self.sort_by,
                no_headers=self.no_headers,
            )
            check_node(call.node, call.cluster.state)
            if self.number is not None:
                report = only_pod(call, self.targets)
                return one_remedy(options, report, self.number, call.address, dry_run=self.dry_run)
            return named(call, self.targets) if self.targets.named else everything(call, self.targets.kind)


def _judge_of(options: Options, node_groups: str) -> tuple[Judge | None, tuple[str, ...]]:
    """What answers about groups of nodes, and the kinds that it needs of all namespaces."""
    if not node_groups:
        return None, ()
    from kubectl_dra.commands.why_pending.node_groups import EVERYWHERE, judge_of  # hardly any call asks

    return judge_of(options, node_groups), EVERYWHERE


def _all_run(targets: ObjectArgs, cluster: Scoped) -> bool:
    """Whether no pod that was named, or belongs to a workload that was named, waits any more.

    Of several pods, one that is not there has finished: finished pods are not followed.
    """
    return bool(targets.named) and all(_runs(cluster, target, targets.single is None) for target in targets.named)


def _runs(cluster: Scoped, target: ObjectArg, absent: bool) -> bool:
    inventory, key = cluster.state.inventory, Key(cluster.namespace, target.name)
    if target.kind is POD:
        return not is_pending(inventory.pods[key]) if key in inventory.pods else absent
    found = pods_of(cluster.state, key) if target.kind is POD_GROUP else None
    pods = resolve_workload(inventory, target.kind.name, key) if found is None else found
    return bool(pods) and not any(map(is_pending, pods))


def _check_kinds(kinds: Iterable[Kind]) -> None:
    for kind in kinds:
        if kind not in (POD, RESOURCE_CLAIM, POD_GROUP) and not kind.workload:
            hint = "name a pod, a claim, a PodGroup or a workload"
            raise UsageProblem(f'why-pending has no answer for "{kind.plural}"', hint)
