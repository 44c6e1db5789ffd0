"""What all reports share: the base record, references to objects, how sure a number is, and what was read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import TypeVar

from kubectl_dra.diagnosis.records import Bound as Bound
from kubectl_dra.model.base import ReportRecord as ReportRecord
from kubectl_dra.model.evidence import Coverage, Evidence
from kubectl_dra.model.features import Features, gates_of

T_co = TypeVar("T_co", covariant=True)


class Series(Iterable[T_co]):
    """What is made anew, one by one, each time somebody goes through it, because there may be too many to hold."""

    def __init__(self, make: Callable[[], Iterator[T_co]]) -> None:
        self._make = make

    def __iter__(self) -> Iterator[T_co]:
        """All of them, from the first."""
        return self._make()


class Fits(StrEnum):
    """Whether something fits: ``Unknown`` where what could not be read, or is not simulated, decides."""

    YES = "Yes"
    NO = "No"
    UNKNOWN = "Unknown"


class Count(ReportRecord, frozen=True):
    """A number and how sure it is."""

    value: int
    bound: Bound = Bound.EXACT


class ReadRecord(ReportRecord, frozen=True):
    """One list that the report rests on."""

    kind: str
    namespace: str
    coverage: Coverage
    resource_version: str
    time: str


def reads_of(evidence: Evidence) -> tuple[ReadRecord, ...]:
    """What was read, in the order in which it was read."""
    return tuple(ReadRecord(r.kind, r.namespace, r.coverage, r.resource_version, r.time) for r in evidence.reads)


def assumptions_of(evidence: Evidence) -> tuple[str, ...]:
    """Kinds that were taken as having no objects because a plain list does not mention them."""
    return tuple(sorted({read.kind for read in evidence.reads if read.coverage is Coverage.ASSUMED}))


def feature_record(features: Features) -> Mapping[str, bool | int | str]:
    """The gates that the answer assumes, the minor version behind them, and the allocator that they choose."""
    return {**gates_of(features), "minor": features.minor, "implementation": features.implementation}
