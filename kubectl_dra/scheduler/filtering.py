"""PreFilter and Filter of all plugins, for one node with others' pods on it or for many nodes at once.

Upstream: framework/runtime RunPreFilterPlugins, RunFilterPluginsWithNominatedPods.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Final

import msgspec
from msgspec.structs import replace

from kubectl_dra.model.podinfo import PodInfo, PodShape
from kubectl_dra.scheduler.framework import Cycle, Minding, Plugin, PodsMatter
from kubectl_dra.scheduler.kinds import AskedNodes, Kinds, Sorting
from kubectl_dra.scheduler.profile import PLUGINS
from kubectl_dra.scheduler.snapshot import NodeInfo, Snapshot
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


class Filtered(msgspec.Struct, frozen=True):
    """What all filters say of some nodes. Nodes of one kind (``kinds``) share everything; ``verdicts`` by kind."""

    nodes: Sequence[NodeInfo] = ()
    kinds: Kinds = Kinds.of_each(0)
    verdicts: Sequence[NodeVerdict] = ()

    def where(self, wanted: Callable[[NodeVerdict], bool]) -> list[NodeInfo]:
        """The nodes of whose verdict that is true, in their order."""
        kinds = {number for number, verdict in enumerate(self.verdicts) if wanted(verdict)}
        if not kinds:
            return []
        return [node for node, kind in zip(self.nodes, self.kinds.at, strict=True) if kind in kinds]

    def by_name(self) -> dict[str, NodeVerdict]:
        names = (node.name for node in self.nodes)
        return dict(zip(names, map(self.verdicts.__getitem__, self.kinds.at), strict=True))

    def plus(self, node: NodeInfo, verdict: NodeVerdict) -> Filtered:
        """With one more node, which is of a kind of its own."""
        at, first = (*self.kinds.at, len(self.verdicts)), (*self.kinds.first, len(self.nodes))
        return Filtered((*self.nodes, node), Kinds(at, first), (*self.verdicts, verdict))


def filter_nodes(cycle: Cycle, nodes: Sequence[NodeInfo], places: Sequence[int] | None = None) -> Filtered:
    """The same for many nodes: of those that a plugin can't tell apart it is asked about the first that is left.

    ``places``: those of the nodes among all of the snapshot; None: they are all of them.
    """
    sorting, left = Sorting(cycle.snapshot, nodes, places), _Left(cycle, nodes)
    for plugin in filters(cycle):
        if left.is_empty:
            break
        left.ask(plugin, sorting.by(None if sorting.few else plugin.reads(cycle)))
    return left.result()


class _Left:
    """Nodes while plugin after plugin is asked: sorted by what was said of them, and by nothing else."""

    def __init__(self, cycle: Cycle, nodes: Sequence[NodeInfo]) -> None:
        self._cycle = cycle
        self._nodes = nodes
        #: By kind: the verdict if there is one already, and what plugins could not decide.
        self._verdicts: list[NodeVerdict | None] = [None]
        self._unsure: list[tuple[Status, ...]] = [()]
        # None: all nodes are of the same kind.
        self._kinds: Kinds | None = None
        if cycle.snapshot.nominated:
            self._beside_nominated()
        if not nodes:
            self._verdicts, self._unsure = [], []

    def _beside_nominated(self) -> None:
        """Nodes to which pods are about to come are judged one by one."""
        coming = [place for place, node in enumerate(self._nodes) if about_to_come(self._cycle, node)]
        if not coming:
            return
        own = dict(zip(coming, range(1, len(coming) + 1), strict=True))
        self._split([own.get(place, 0) for place in range(len(self._nodes))])
        assert self._kinds is not None  # noqa: S101 - just made
        for number, place in enumerate(self._kinds.first):
            if place in own:
                self._verdicts[number] = filter_node(self._cycle, self._nodes[place])

    def _split(self, values: Sequence[Hashable]) -> None:
        self._kinds = Kinds.by(values)
        number = len(self._kinds.first)
        self._verdicts, self._unsure = [None] * number, [()] * number

    @property
    def is_empty(self) -> bool:
        return all(verdict is not None for verdict in self._verdicts)

    def result(self) -> Filtered:
        kinds = self._kinds or Kinds([0] * len(self._nodes), (0,) if self._nodes else ())
        pairs = zip(self._verdicts, self._unsure, strict=True)
        return Filtered(self._nodes, kinds, [verdict or _open_verdict(unsure) for verdict, unsure in pairs])

    def ask(self, plugin: Plugin, kinds: Kinds) -> None:
        """What a plugin says of the nodes that are left; ``kinds`` are those that it can't tell apart."""
        first = self._first(kinds)
        asked: dict[int, int] = {}
        for (mine, theirs), place in first.items():
            if self._verdicts[mine] is None:
                asked.setdefault(theirs, place)
        statuses = plugin.filter_all(self._cycle, [self._nodes[place] for place in asked.values()])
        self._cycle.asked[plugin.name] = AskedNodes(self._nodes, kinds, asked)
        if all(status is SUCCESS for status in statuses):
            return
        self._sort(plugin, kinds, first, dict(zip(asked, statuses, strict=True)))

    def _first(self, kinds: Kinds) -> Mapping[tuple[int, int], int]:
        """The first node of each pair of a kind here and one of a plugin, in the order of nodes."""
        if self._kinds is None:
            return {(0, number): place for number, place in enumerate(kinds.first)}
        if len(kinds.first) == 1:
            return {(number, 0): place for number, place in enumerate(self._kinds.first)}
        pairs = zip(reversed(self._kinds.at), reversed(kinds.at), strict=True)
        found = dict(zip(pairs, reversed(range(len(self._nodes))), strict=True))
        return dict(sorted(found.items(), key=itemgetter(1)))

    def _sort(
        self, plugin: Plugin, kinds: Kinds, first: Mapping[tuple[int, int], int], said: Mapping[int, Status]
    ) -> None:
        """Tell those apart of which different things were said."""
        verdicts, unsure = self._verdicts, self._unsure
        self._verdicts, self._unsure = [], []
        numbers: dict[tuple[int, int], int] = {}
        of_pair: dict[tuple[int, int], int] = {}
        places: list[int] = []
        for pair, place in first.items():
            mine, theirs = pair
            status = said[theirs] if verdicts[mine] is None else SUCCESS
            alike = mine, id(status)
            if alike not in numbers:
                numbers[alike] = len(places)
                places.append(place)
                self._add(plugin, verdicts[mine], unsure[mine], status)
            of_pair[pair] = numbers[alike]
        own = self._kinds.at if self._kinds is not None else [0] * len(self._nodes)
        self._kinds = Kinds(list(map(of_pair.__getitem__, zip(own, kinds.at, strict=True))), places)

    def _add(self, plugin: Plugin, verdict: NodeVerdict | None, unsure: tuple[Status, ...], status: Status) -> None:
        if verdict is None and status.code is StatusCode.UNKNOWN:
            unsure = (*unsure, status.of(plugin.name))
        elif verdict is None and not status.ok:
            verdict = NodeVerdict(_named(status, plugin), unsure)
        self._verdicts.append(verdict)
        self._unsure.append(unsure)


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
    return nominated_beside(cycle.snapshot, cycle.info, node.name)


def nominated_beside(snapshot: Snapshot, info: PodInfo, node: str) -> Iterable[PodInfo]:
    """The pods that count on a node for another one as if they were there already."""
    pods = snapshot.nominated.get(node)
    if not pods:
        return ()
    own, priority = info.uid, info.shape.priority
    return [pod for pod in pods if pod.uid != own and pod.shape.priority >= priority]
