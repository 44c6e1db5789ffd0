"""Chance, and what it brought about: every branch of the generator has a name, so that a test sees which were taken."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, Final, TypeVar

Object = dict[str, Any]
T = TypeVar("T")

#: What pods and clusters are about. A cluster has some of them, so that a pod passes most plugins and fails for one.
TOPICS: Final = (
    *("taints", "node affinity", "ports", "resources", "volumes", "spread", "pod affinity", "devices", "preemption"),
    *("declared features", "queue"),
)


class Draw:
    """A source of chance for one cluster. ``taken`` are the names of the branches that were taken."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)
        self.taken: set[str] = set()
        few = self._random.choice((1, 2, 3, 4, len(TOPICS)))
        self.topics = frozenset(self._random.sample(TOPICS, few))
        self._serial = 0
        #: Feature gates that differ from the defaults.
        self.gates: tuple[str, ...] = ()
        if "declared features" in self.topics:
            self.gates += ("UserNamespacesHostNetworkSupport",)
        if self.about("taints", 2, "taints compared as numbers"):
            self.gates += ("TaintTolerationComparisonOperators",)

    def one(self, values: Sequence[T]) -> T:
        """One of the values."""
        return self._random.choice(values)

    def some(self, values: Sequence[T], least: int = 0, most: int | None = None) -> list[T]:
        """Several of the values, in the order given, each at most once."""
        count = self._random.randint(least, min(len(values), len(values) if most is None else most))
        return [values[at] for at in sorted(self._random.sample(range(len(values)), count))]

    def number(self, least: int, most: int) -> int:
        """A whole number, both ends included."""
        return self._random.randint(least, most)

    def rarely(self, one_in: int, branch: str) -> bool:
        """True once in so many times; then the branch counts as taken."""
        if self._random.randrange(one_in):
            return False
        self.taken.add(branch)
        return True

    def about(self, topic: str, one_in: int, branch: str) -> bool:
        """The same for a branch that belongs to a topic: never in clusters that are not about it."""
        return topic in self.topics and self.rarely(one_in, branch)

    def serial(self) -> int:
        """The next number: of objects in the order of their creation."""
        self._serial += 1
        return self._serial

    def metadata(self, name: str, namespace: str = "", labels: Object | None = None) -> Object:
        """Metadata with a UID and a time of creation."""
        number = self.serial()
        metadata: Object = {
            "name": name,
            "uid": f"00000000-0000-4000-8000-{number:012}",
            "creationTimestamp": f"2026-01-01T00:{number // 60:02}:{number % 60:02}Z",
        }
        return metadata | ({"namespace": namespace} if namespace else {}) | ({"labels": labels} if labels else {})
