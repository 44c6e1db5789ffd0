"""Pods as they come in: those that matter to claims are kept, of all others only what they take of their node.

So memory does not grow with the pods of a cluster, only with its nodes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import lru_cache
from sys import intern
from typing import Any, Final

from kubectl_dra.api.decode import DecodeError, decode_object
from kubectl_dra.api.glance import GlancedMeta, GlancedPod, WrittenPods, glance
from kubectl_dra.api.kinds import POD
from kubectl_dra.model.base import Record
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.podinfo import MOST_SHAPES, PodInfo, PodInfos, PodShape
from kubectl_dra.model.podneeds import in_group
from kubectl_dra.model.usage import TERMINAL, NodeUsage, is_terminal, sum_of_pods
from kubectl_dra.source.live.listing import Taken
from kubectl_dra.source.live.sharing import Sharer, kept

#: The node of a pod, and what it takes there.
Placed = tuple[str, PodInfo]
#: Pods with which a pod is compared before its content is made.
_MOST_RECENT: Final = 4
#: The same text for equal ones, which a job's pods have: of 100,000 start times 7 MB.
_kept_once: Final = lru_cache(maxsize=4096)(str)


class PodTracker:
    """Takes chunks of a list of pods, and remembers of each what it takes, so that it can be taken away again.

    What was ``placed`` before and is the same is taken over: a list that is taken again needs hardly any memory.
    """

    def __init__(
        self,
        named: frozenset[Key],
        keep_all: bool,
        known: Callable[[Key], Any],
        placed: Callable[[Key], Placed | None],
        sharer: Sharer,
        whole_nodes: frozenset[str] = frozenset(),
    ) -> None:
        self.kept: list[Record] = []
        self.usage: dict[str, NodeUsage] = {}
        self.taken: dict[Key, Placed] = {}
        self._named = named
        self._keep_all = keep_all
        self._known = known
        self._placed = placed
        self._sharer = sharer
        self._whole_nodes = whole_nodes

    def add(self, records: Iterable[Record]) -> None:
        for pod in records:
            if isinstance(pod, Pod):
                if self._keep_all or key_of(pod.metadata) in self._named or matters(pod, self._whole_nodes):
                    self.kept.append(kept(pod, self._known, self._sharer))
                if place := taken_by(pod, self._sharer):
                    before = self._placed(place[1].key)
                    place = before if before == place else place
                    self.taken[place[1].key] = place

    def take(self, data: bytes, api_version: str) -> Taken | None:
        """Who follows pods needs all that may change in them: every chunk is decoded."""
        return None


class PodReducer:
    """Takes chunks of a list of pods: ``kept`` as the list has them, ``usage`` over all pods, kept ones included.

    Pods that matter only by what they take of their nodes are decoded once per shape.
    """

    def __init__(
        self,
        named: frozenset[Key] = frozenset(),
        keep_all: bool = False,
        whole_nodes: frozenset[str] = frozenset(),
    ) -> None:
        self.kept: list[Record] = []
        self._placed: defaultdict[str, list[PodInfo]] = defaultdict(list)
        self._named = named
        self._names = frozenset(key.name for key in named)
        self._keep_all = keep_all
        self._whole_nodes = whole_nodes
        self._infos = PodInfos()
        self._shapes: dict[Hashable, PodShape] = {}
        # Pods of a workload come one after the other: the one that was met last comes first.
        self._recent: list[tuple[GlancedPod, PodShape]] = []

    @property
    def usage(self) -> dict[str, NodeUsage]:
        return {node: sum_of_pods(infos) for node, infos in self._placed.items()}

    def add(self, records: Iterable[Record]) -> None:
        for pod in records:
            if isinstance(pod, Pod):
                if self._keep_all or matters(pod, self._whole_nodes) or key_of(pod.metadata) in self._named:
                    self.kept.append(pod)
                if pod.spec.node_name and not is_terminal(pod):
                    self._placed[pod.spec.node_name].append(self._infos.of(pod))

    def take(self, data: bytes, api_version: str) -> Taken | None:
        """Take one chunk straight from its bytes; None where it has to be decoded first: nothing of it is taken."""
        page = None if self._keep_all or api_version != POD.api_version else glance(data)
        if page is None:
            return None
        whole = _Whole(data, api_version, len(page.items))
        kept: list[Record] = []
        placed: list[tuple[str, PodInfo]] = []
        try:
            for number, pod in enumerate(page.items):
                meta, node = pod.metadata, pod.spec.node_name
                if not meta.name:
                    return None
                named = meta.name in self._names and Key(meta.namespace, meta.name) in self._named
                ended = pod.status.phase in TERMINAL
                if named or pod.has_devices_or_group or not (node or ended) or node in self._whole_nodes:
                    found = whole.pod(number, meta)
                    if named or matters(found, self._whole_nodes):
                        kept.append(found)
                if node and not ended:
                    started = _kept_once(pod.take_place())
                    shape = self._shape(pod, number, whole)
                    placed.append((node, PodInfo(Key(shape.namespace, meta.name), meta.uid, shape, started)))
        except DecodeError:
            return None
        self.kept += kept
        for node, info in placed:
            self._placed[node].append(info)
        first = page.items[0].metadata if page.items else None
        return Taken(page.metadata, Key(first.namespace, first.name) if first is not None else None)

    def _shape(self, pod: GlancedPod, number: int, whole: _Whole) -> PodShape:
        for place, (known, shape) in enumerate(self._recent):
            if pod.is_replica_of(known):
                if place:
                    self._recent.insert(0, self._recent.pop(place))
                return shape
        content = pod.content()
        if content is None:
            return self._infos.shape_of(whole.pod(number, pod.metadata))
        found = self._shapes.get(content)
        if found is None:
            found = self._infos.shape_of(whole.pod(number, pod.metadata))
            if len(self._shapes) < MOST_SHAPES:
                self._shapes[content] = found
        self._recent = [(pod, found), *self._recent[: _MOST_RECENT - 1]]
        return found


class _Whole:
    """The pods of a chunk that are decoded whole."""

    def __init__(self, data: bytes, api_version: str, pods: int) -> None:
        self._written = WrittenPods(data, pods)
        self._api_version = api_version
        self._known: tuple[int, Pod] | None = None

    def pod(self, number: int, glanced: GlancedMeta) -> Pod:
        """One of them. Raises :class:`DecodeError`."""
        if self._known is not None and self._known[0] == number:
            return self._known[1]
        found = self._in_piece(number, glanced)
        if found is None:
            found = self._decoded(self._written.item(number))
        self._known = number, found
        return found

    def _in_piece(self, number: int, glanced: GlancedMeta) -> Pod | None:
        data = self._written.piece(glanced.name, number)
        if data is None:
            return None
        try:
            found = self._decoded(data)
        except DecodeError:
            return None
        meta = found.metadata
        same = (meta.uid, meta.name, meta.namespace) == (glanced.uid, glanced.name, glanced.namespace)
        return found if same else None

    def _decoded(self, data: bytes) -> Pod:
        found = decode_object(data, self._api_version, POD)
        assert isinstance(found, Pod)  # noqa: S101 - what the kind says
        return found


def taken_by(pod: Pod, sharer: Sharer) -> Placed | None:
    """The node of a pod and what plugins read of it there; None if it takes nothing."""
    if not pod.spec.node_name or is_terminal(pod):
        return None
    return intern(pod.spec.node_name), sharer.pod(pod)


def add_usage(total: dict[str, NodeUsage], more: Mapping[str, NodeUsage]) -> None:
    for node, usage in more.items():
        total[node] = total[node].plus(usage) if node in total else usage


def matters(pod: Pod, whole_nodes: frozenset[str] = frozenset()) -> bool:
    """Whether a pod has claims or a group, or waits for a node: what becomes free there, others may take first.

    Every pod on ``whole_nodes`` matters.
    """
    if (
        pod.spec.node_name in whole_nodes
        or pod.spec.resource_claims
        or in_group(pod)
        or pod.status.extended_resource_claim_status is not None
    ):
        return True
    return not pod.spec.node_name and not is_terminal(pod)
