"""Kinds that are read only when pods make them matter: a cluster in which nobody waits for volumes pays nothing.

What is around volumes is read when a pod that waits uses any; budgets and priority classes, when a pod that waits could
evict others; Services, when a pod that waits does not say itself how it is spread; groups of pods, when any pod is in
one, as the group of a running pod protects it from being evicted; LimitRanges, when a pod that waits asks for amounts,
with which it may be refused when it is made anew. What else changes pods that are created matters to no pod of the
cluster: only who creates some demands it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Final

from kubectl_dra.api.kinds import (
    ADMISSION,
    DISRUPTION_BUDGET,
    GROUPS,
    LIMIT_RANGE,
    PRIORITY_CLASS,
    SERVICE,
    STORAGE,
    Kind,
)
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.podneeds import asks_for_amounts, in_group, is_spread, may_evict, uses_storage
from kubectl_dra.model.usage import is_terminal
from kubectl_dra.source.needs import Needs

PRIORITY: Final = (PRIORITY_CLASS, DISRUPTION_BUDGET)
ON_DEMAND: Final = frozenset(kind.name for kind in (*STORAGE, *PRIORITY, SERVICE, *GROUPS, *ADMISSION))


def at_once(needs: Needs) -> tuple[Kind, ...]:
    """The kinds to read without looking at any pod; who reads everything has questions that are not known yet."""
    return tuple(kind for kind in needs.wanted() if not _is_on_demand(needs, kind))


def _is_on_demand(needs: Needs, kind: Kind) -> bool:
    return bool(needs.kinds) and kind.name in ON_DEMAND and kind.name not in needs.demanded


class Demand:
    """Which kinds pods make matter; each is named once."""

    def __init__(self, needs: Needs) -> None:
        self._needs = needs
        self._left = [kind for kind in needs.wanted() if _is_on_demand(needs, kind)]
        self._priorities: frozenset[int] = frozenset()

    def of(
        self, changed: Iterable[Pod], priorities: Collection[int], everyone: Callable[[], Iterable[Pod]]
    ) -> tuple[Kind, ...]:
        """The kinds that have begun to matter; ``priorities`` are those of pods on nodes.

        ``everyone`` is asked only when there are new ones, which concern also pods that have not ``changed``.
        """
        if not self._left:
            return ()
        new, self._priorities = not self._priorities.issuperset(priorities), frozenset(priorities)
        pods = list(everyone() if new else changed)
        asking = [pod for pod in pods if _asks(self._needs, pod)]
        found: list[Kind] = []
        if any(map(uses_storage, asking)):
            found += (kind for kind in self._left if kind in STORAGE)
        if any(may_evict(pod, priorities) for pod in asking):
            found += (kind for kind in self._left if kind in PRIORITY)
        if any(map(is_spread, asking)):
            found += (kind for kind in self._left if kind is SERVICE)
        if any(map(asks_for_amounts, asking)):
            found += (kind for kind in self._left if kind is LIMIT_RANGE)
        if any(in_group(pod) and not is_terminal(pod) for pod in pods):
            found += (kind for kind in self._left if kind in GROUPS)
        self._left = [kind for kind in self._left if kind not in found]
        return tuple(found)


def _asks(needs: Needs, pod: Pod) -> bool:
    """Whether a pod waits, and is one that the question is about."""
    if is_terminal(pod) or pod.spec.node_name:
        return False
    key = Key(pod.metadata.namespace, pod.metadata.name)
    return not needs.namespaces or key.namespace in needs.namespaces or key in needs.pods
