"""What an object expands to: pod templates, how many pods of each, and where that number is from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from kubectl_dra.api.trees import Tree

#: What a field of the API can hold (int32); larger products are a mistake of whoever wrote them, or an attack.
MAX_PODS: Final = 2**31 - 1


class CountSource(Enum):
    """Where the number of pods comes from."""

    STATED = "stated"
    PER_NODE = "perNode"
    ASSUMED = "assumed"  # a field of an unknown kind that known kinds use for it
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class CountField:
    """Where the number of pods stands: ``fields`` with their values, of which the largest counts.

    Each unit of it makes ``pods`` of them, or ``per`` units make one. ``bounds``: other fields above whose values the
    number does not count.
    """

    fields: tuple[tuple[str, int], ...] = ()
    pods: int = 1
    bounds: tuple[tuple[str, int], ...] = ()
    per: int = 1

    @property
    def scale(self) -> tuple[str, int]:
        """The first field, and the pods that each of its units makes; empty where no field says the number."""
        return (self.fields[0][0], self.pods) if self.fields and self.per == 1 else ("", 1)

    def made(self, value: int) -> int:
        """The pods with such a value of the field."""
        return -(-self.pods * value // self.per)

    def lowered(self, pods: int) -> CountField:
        """The fields to lower, with their new values, so that no more than ``pods`` are made; none if that can't be."""
        units = pods // self.pods * self.per if self.pods else 0
        return CountField(tuple((path, units) for path, value in self.fields if value > units > 0), self.pods)

    def raised(self, pods: int) -> CountField:
        """The fields to raise, with their new values, so that at least ``pods`` are made."""
        units = -(-pods // self.pods) * self.per if self.pods else 0
        fields = [*self.fields[:1], *self.bounds]
        return CountField(tuple((path, units) for path, value in fields if value < units), self.pods)


UNCOUNTED: Final = CountField()


@dataclass(frozen=True, slots=True)
class Growth:
    """What may make more pods later, up to ``most``; ``passing``: for a while, which is told where these don't fit."""

    by: str
    most: int
    passing: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AlikePods:
    """What an object says of pods that are alike: ``copies`` of them, None for one per node.

    ``role``: what the object calls them. ``count`` says where the number is from; unknown: ``copies`` is 1.
    ``assumed``: the fields that were taken for it.
    ``after``: the roles of the same object whose pods have ended before these start. ``awaits``: those whose pods have
    to be ready, or to have ended, before these are made; ``awaits_any``: each of these awaits one of them.
    ``rest_by``: who makes all of the pods but their claims, which alone are here; empty for whole ones.
    ``counted_by``: the fields that would make fewer of them, ``growth``: what may make more later.
    ``spec_at``: where the spec of the pods stands; ``moved``: fields that say what containers request of a resource,
    empty where more than one does. ``in_turn``: each runs to its end without the others, so that those for which there
    is no room start once others have ended.
    ``one_by_one``: the field by whose value each is made only when the one before it is ready, empty for no such.
    ``claims_lost_to``: the field of which the controller makes all that containers request, who then name no claims.
    ``stands_in_for``: where no template is set, so that they are made from that of other pods.
    """

    role: str = ""
    copies: int | None = 1
    count: CountSource = CountSource.STATED
    assumed: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    rest_by: str = ""
    awaits: tuple[str, ...] = ()
    awaits_any: bool = False
    counted_by: CountField = UNCOUNTED
    growth: Growth | None = None
    spec_at: str = ""
    moved: tuple[tuple[str, str], ...] = ()
    in_turn: bool = False
    one_by_one: str = ""
    claims_lost_to: str = ""
    stands_in_for: str = ""


@dataclass(frozen=True, slots=True)
class MadeTemplate(AlikePods):
    """``body`` has ``metadata`` and ``spec`` of the pods; ``path`` is where it stands, ``spec_at`` empty for below it.

    ``problem``: what stands at the path is no template.
    """

    path: str
    body: Tree
    problem: str = ""

    @property
    def spec_path(self) -> str:
        """Where the spec of its pods stands."""
        return self.spec_at or f"{self.path}.spec"


@dataclass(frozen=True, slots=True)
class Expansion:
    """``known``: the kind's fields are known. ``catalog``: it makes no pods by itself. ``suspended``: its pods wait.

    ``untried`` says why pods of it are not known. No templates, not ``known`` and nothing ``untried``: nothing in the
    object looks like a pod. ``left_out``: parts that make pods beside the templates.
    """

    templates: tuple[MadeTemplate, ...] = ()
    known: bool = False
    catalog: bool = False
    suspended: bool = False
    untried: str = ""
    left_out: tuple[str, ...] = ()
