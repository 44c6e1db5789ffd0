"""PreFilter and Filter of all plugins, for one node with others' pods on it or for many nodes at once.

Upstream: framework/runtime RunPreFilterPlugins, RunFilterPluginsWithNominatedPods.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from kubectl_dra.model.podinfo import PodInfo, PodShape
from kubectl_dra.scheduler.framework import Cycle, Minding, Plugin, PodsMatter
from kubectl_dra.scheduler.profile import PLUGINS
from kubectl_dra.scheduler.snapshot import NodeInfo
from kubectl_dra.scheduler.status import SUCCESS, NodeError, Status, StatusCode, error, unresolvable


class PreFiltered(msgspec.Struct, frozen=True):
    """What PreFilter leaves. ``stop``: why no node is looked at; ``nodes`` None: all; ``plugins``: who chose them.

    ``unsure``: what PreFilter plugins could not decide. ``refused_by``: the plugin that refused the nominated node.
    """

    stop: Status | None = None
    nodes: frozenset[str] | None = None
    plugins: tuple[str, ...] = ()
    unsure: tuple[Status, ...] = ()
    refused_by: str = ""

    @property
    def absent(self) -> Status:
        """What is said of the nodes that are not looked at."""
        named = sorted({*self.plugins, self.refused_by} - {""})
        return unresolvable(f"node(s) didn't satisfy plugin(s) [{' '.join(named)}]")


def pre_filter(cycle: Cycle) -> PreFiltered:
    """Run PreFilter of all plugins; the first that rejects, fails, or leaves no node ends it."""
    chosen: frozenset[str] | None = None
    plugins: list[str] = []
    unsure: list[Status] = []
    for plugin in cycle.plugins or PLUGINS:
        result = plugin.pre_filter(cycle)
        status = result.status.of(plugin.name)
        if status.code is StatusCode.SKIP:
            cycle.skipped.add(plugin.name)
            continue
        if status.code is StatusCode.UNKNOWN:
            unsure.append(status)
            cycle.skipped.add(plugin.name)
            continue
        if not status.ok:
            return PreFiltered(_failed(status) if status.code is StatusCode.ERROR else status, unsure=tuple(unsure))
        if result.nodes is not None:
            plugins.append(plugin.name)
            chosen = result.nodes if chosen is None else chosen & result.nodes
            if not chosen:
                return PreFiltered(_nothing_left(plugins), unsure=tuple(unsure))
    return PreFiltered(None, chosen, tuple(plugins), tuple(unsure))


def _failed(status: Status) -> Status:
    return replace(status, reasons=(f'running PreFilter plugin "{status.plugin}": {status.message}',))


def _nothing_left(plugins: Sequence[str]) -> Status:
    if len(plugins) == 1:
        return unresolvable(f"node(s) didn't satisfy plugin {plugins[0]}")
    return unresolvable(f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(plugins))}] simultaneously")


def filters(cycle: Cycle) -> Iterator[Plugin]:
    return (plugin for plugin in cycle.plugins or PLUGINS if plugin.name not in cycle.skipped)


class NodeVerdict(msgspec.Struct, frozen=True):
    """What all filters say of one node; ``unsure``: plugins before the decision that could not decide."""

    status: Status = SUCCESS
    unsure: tuple[Status, ...] = ()


_FITS: Final = NodeVerdict()


def passed_without_pods(cycle: Cycle, refused: Status) -> frozenset[str]:
    """The plugins that let a node pass with fewer pods, because they came before the one that ``refused`` it."""
    names = [plugin.name for plugin in cycle.plugins or PLUGINS]
    before = names[: names.index(refused.plugin)] if refused.plugin in names else []
    monotonic = {each.name for each in cycle.plugins or PLUGINS if each.pods is not PodsMatter.EITHER_WAY}
    return frozenset(before) & monotonic


def passed_with_any_pods(cycle: Cycle) -> frozenset[str]:
    """The plugins whose verdict stays, whatever pods come to a node that fits."""
    return frozenset(each.name for each in cycle.plugins or PLUGINS if each.pods is PodsMatter.NEVER)


def filter_node(cycle: Cycle, node: NodeInfo, passed: Collection[str] = ()) -> NodeVerdict:
    """All filters on one node, as it is and with the pods that are about to come there.

    ``passed``: plugins of which it is known that they refuse the node neither way.
    """
    nominated = about_to_come(cycle, node)
    if nominated:
        found = filter_beside(cycle, node, nominated)
        if not found.status.ok:
            return found
    return _filter_one(cycle, node, passed)


def filter_beside(cycle: Cycle, node: NodeInfo, pods: Iterable[PodInfo]) -> NodeVerdict:
    """All filters on one node as if ``pods`` had come there."""
    with_them = cycle.clone()
    for pod in pods:
        node = node.plus(pod)
        add_pod(with_them, pod, node)
    return _filter_one(with_them, node)


def filter_nodes(cycle: Cycle, nodes: Sequence[NodeInfo]) -> list[NodeVerdict]:
    """The same for many nodes; what a plugin finds out for several at once is shared."""
    verdicts: list[NodeVerdict | None] = [None] * len(nodes)
    left = list(range(len(nodes)))
    if cycle.snapshot.nominated:
        for place, node in enumerate(nodes):
            if about_to_come(cycle, node):
                verdicts[place] = filter_node(cycle, node)
        left = [place for place in left if verdicts[place] is None]
    unsure: dict[int, tuple[Status, ...]] = {}
    for plugin in filters(cycle):
        asked = nodes if len(left) == len(nodes) else [nodes[place] for place in left]
        statuses = plugin.filter_all(cycle, asked)
        staying = []
        # Nodes of which a plugin says the same share the verdict: by identity of the status, which is kept meanwhile.
        known: dict[int, NodeVerdict] = {}
        for place, status in zip(left, statuses, strict=True):
            if status is SUCCESS or status.ok:
                staying.append(place)
            elif status.code is StatusCode.UNKNOWN:
                unsure[place] = (*unsure.get(place, ()), status.of(plugin.name))
                staying.append(place)
            elif place in unsure:
                verdicts[place] = NodeVerdict(_named(status, plugin), unsure[place])
            else:
                verdict = known.get(id(status))
                if verdict is None:
                    verdict = known[id(status)] = NodeVerdict(_named(status, plugin))
                verdicts[place] = verdict
        left = staying
    return [verdict or _open_verdict(unsure.get(place, ())) for place, verdict in enumerate(verdicts)]


def _open_verdict(unsure: tuple[Status, ...]) -> NodeVerdict:
    return NodeVerdict(SUCCESS, unsure) if unsure else _FITS


def _filter_one(cycle: Cycle, node: NodeInfo, passed: Collection[str] = ()) -> NodeVerdict:
    return ask(cycle, node, (plugin for plugin in filters(cycle) if plugin.name not in passed))


def ask(cycle: Cycle, node: NodeInfo, plugins: Iterable[Plugin]) -> NodeVerdict:
    """What some plugins, in their order, say of the node as it is."""
    unsure: list[Status] = []
    for plugin in plugins:
        status = plugin.filter(cycle, node)
        if status is SUCCESS:
            continue
        if status.code is StatusCode.UNKNOWN:
            unsure.append(status.of(plugin.name))
        elif not status.ok:
            return NodeVerdict(_named(status, plugin), tuple(unsure))
    return NodeVerdict(SUCCESS, tuple(unsure)) if unsure else _FITS


def passes(cycle: Cycle, node: NodeInfo, plugins: Iterable[Plugin]) -> bool:
    """Whether none of these refuses the node as it is; what can't be decided is no refusal."""
    statuses = (plugin.filter(cycle, node) for plugin in plugins)
    return all(status is SUCCESS or status.ok or status.code is StatusCode.UNKNOWN for status in statuses)


def _named(status: Status, plugin: Plugin) -> Status:
    if status.code is not StatusCode.ERROR or isinstance(status.detail, NodeError):
        return status.of(plugin.name)
    return error(f'running "{plugin.name}" filter plugin: {status.message}', status.detail).of(plugin.name)


def minding(cycle: Cycle, shape: PodShape) -> Minding:
    """The plugins whose Filter may say something else where such a pod comes or goes."""
    return cycle.minding(shape, cycle.plugins or PLUGINS)


def add_pod(cycle: Cycle, pod: PodInfo, node: NodeInfo) -> None:
    """Tell the plugins that are not skipped that ``pod`` is on ``node`` now."""
    for plugin in minding(cycle, pod.shape).counting:
        plugin.add_pod(cycle, pod, node)


def remove_pod(cycle: Cycle, pod: PodInfo, node: NodeInfo) -> None:
    """Tell them that it is there no more."""
    for plugin in minding(cycle, pod.shape).counting:
        plugin.remove_pod(cycle, pod, node)


def about_to_come(cycle: Cycle, node: NodeInfo) -> Iterable[PodInfo]:
    """Pods of at least the same priority that are about to get the node."""
    pods = cycle.snapshot.nominated.get(node.name)
    if not pods:
        return ()
    own, priority = cycle.info.uid, cycle.info.shape.priority
    return [pod for pod in pods if pod.uid != own and pod.shape.priority >= priority]
