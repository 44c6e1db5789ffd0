"""What a plugin is, and what one attempt keeps for it.

Upstream: k8s.io/kube-scheduler/framework (PreFilterPlugin, FilterPlugin, ScorePlugin, PreFilterExtensions, CycleState).

Scores: how plugins' figures are brought to 0 to 100. Upstream: plugins/helper/normalize_score.go.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import ClassVar, Final, TypeVar

import msgspec

from kubectl_dra.model.core import Pod
from kubectl_dra.model.features import Features
from kubectl_dra.model.podinfo import PodInfo, PodShape
from kubectl_dra.scheduler.kinds import AskedNodes, Reading
from kubectl_dra.scheduler.snapshot import NodeInfo, Snapshot
from kubectl_dra.scheduler.status import SKIP, SUCCESS, Status

T = TypeVar("T")
MAX_SCORE: Final = 100


@dataclass
class Cycle:
    """One attempt for one pod. ``states`` hold what PreFilter found, each under its own type.

    ``info`` is the pod as it would count on a node. ``skipped``: plugins whose PreFilter said Skip; neither their
    Filter nor their ``add_pod`` and ``remove_pod`` are called. ``plugins``: empty for those of the default profile.
    ``asked``: about which nodes each plugin was asked, by its name.
    """

    pod: Pod
    info: PodInfo
    snapshot: Snapshot
    states: dict[type, object] = field(default_factory=dict)
    skipped: set[str] = field(default_factory=set)
    plugins: Sequence[Plugin] = ()
    asked: dict[str, AskedNodes] = field(default_factory=dict)
    _minding: dict[int, Minding] = field(default_factory=dict)

    @property
    def features(self) -> Features:
        return self.snapshot.features

    def write(self, state: object) -> None:
        """Keep a state under its type."""
        self.states[type(state)] = state

    def read(self, kind: type[T]) -> T:
        """A state that was written before. Raises ``KeyError``: the plugin's PreFilter did not run."""
        found = self.states[kind]
        assert isinstance(found, kind)  # noqa: S101 - kept under its type
        return found

    def clone(self) -> Cycle:
        """A copy for a what-if with other pods on a node. States that these change have a ``clone`` of their own."""
        copies = ((key, state, getattr(state, "clone", None)) for key, state in self.states.items())
        states = {key: clone() if clone is not None else state for key, state, clone in copies}
        skipped = set(self.skipped)
        return Cycle(self.pod, self.info, self.snapshot, states, skipped, self.plugins, self.asked, self._minding)

    def instead_of(self, plugin: str, node: str) -> str:
        """The node about which a plugin was asked in the place of another one."""
        return self.asked[plugin].instead_of(node) if plugin in self.asked else node

    def minding(self, shape: PodShape, plugins: Sequence[Plugin]) -> Minding:
        """Which of ``plugins``, the same in every call, mind such a pod; asked once per shape."""
        known = self._minding.get(id(shape))
        if known is None:
            found = tuple(each for each in plugins if each.name not in self.skipped and each.minds(self, shape))
            counting = tuple(each for each in found if type(each).add_pod is not Plugin.add_pod)
            known = self._minding[id(shape)] = Minding(shape, found, counting)
        return known


class Minding(msgspec.Struct, frozen=True):
    """The plugins whose Filter minds pods of a shape; ``counting``: those of them that keep count of pods."""

    shape: PodShape
    plugins: tuple[Plugin, ...]
    counting: tuple[Plugin, ...]


class PreFilterResult(msgspec.Struct, frozen=True):
    """Skip, Success, or why no node is looked at. ``nodes`` None: all of them."""

    status: Status = SUCCESS
    nodes: frozenset[str] | None = None


PASS = PreFilterResult()


class PodsMatter(Enum):
    """What other pods are to a plugin's Filter, so that what-ifs ask it only where the answer may change."""

    NEVER = auto()
    FEWER_IS_BETTER = auto()  # a node that passes does so with fewer pods, too
    EITHER_WAY = auto()  # as the plugin itself has counted them; it does not look at the pods of the node


class Plugin:
    """One plugin of the default profile. It has no state of its own: one object serves all attempts.

    ``weight`` is that of its score in the default profile, 0 if it does not score. ``pods``: whether Filter looks at
    pods, on the node or elsewhere. A plugin that has no Filter says Skip in PreFilter.
    """

    name: ClassVar[str]
    weight: ClassVar[int] = 0
    pods: ClassVar[PodsMatter] = PodsMatter.NEVER

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Look at the pod and the cluster once, before any node."""
        return PASS

    def filter(self, cycle: Cycle, node: NodeInfo) -> Status:
        return SUCCESS

    def filter_all(self, cycle: Cycle, nodes: Sequence[NodeInfo]) -> Sequence[Status]:
        """The same for many nodes, in their order."""
        return [self.filter(cycle, node) for node in nodes]

    def reads(self, cycle: Cycle) -> Reading | None:
        """All that Filter reads of a node for this pod; None if it may be anything. Asked after PreFilter."""
        return None

    def minds(self, cycle: Cycle, shape: PodShape) -> bool:
        """Whether Filter, of any node, may say something else if such a pod comes to a node or goes."""
        return self.pods is not PodsMatter.NEVER

    def add_pod(self, cycle: Cycle, pod: PodInfo, node: NodeInfo) -> None:
        """Change this plugin's state as if ``pod`` came to ``node`` (PreFilterExtensions)."""

    def remove_pod(self, cycle: Cycle, pod: PodInfo, node: NodeInfo) -> None:
        """Change this plugin's state as if ``pod`` left ``node``."""

    def score(self, cycle: Cycle, nodes: Sequence[NodeInfo]) -> Sequence[int] | Status:
        """The normalised scores, 0 to 100, of the nodes that fit, in their order (PreScore, Score, NormalizeScore).

        A status instead: SKIP if the plugin has nothing to say, or the error that fails the attempt.
        """
        return SKIP


def normalised(raw: Sequence[int], *, reverse: bool = False) -> list[int]:
    """``raw`` as shares of the largest, 0 to 100; ``reverse``: small figures are good."""
    largest = max(raw, default=0)
    if largest == 0:
        return [MAX_SCORE if reverse else 0] * len(raw)
    shares = [MAX_SCORE * each // largest for each in raw]
    return [MAX_SCORE - share for share in shares] if reverse else shares
