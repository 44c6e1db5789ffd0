"""What all reports share: the base record, references to objects, how sure a number is, and what was read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import TypeVar

import msgspec

from kubectl_dra.diagnosis.records import Amount as Amount
from kubectl_dra.diagnosis.records import Bound as Bound
from kubectl_dra.diagnosis.records import Count as Count
from kubectl_dra.model.base import ReportRecord as ReportRecord
from kubectl_dra.model.evidence import Coverage, Evidence, Read
from kubectl_dra.model.features import Features, gates_of

T_co = TypeVar("T_co", covariant=True)


class Series(Iterable[T_co]):
    """What is made anew, one by one, each time somebody goes through it, because there may be too many to hold."""

    def __init__(self, make: Callable[[], Iterator[T_co]]) -> None:
        self._make = make

    def __iter__(self) -> Iterator[T_co]:
        return self._make()


class Fits(StrEnum):
    """Whether something fits: ``Unknown`` where what could not be read, or is not simulated, decides."""

    YES = "Yes"
    NO = "No"
    UNKNOWN = "Unknown"


def raw_or_none(raw: msgspec.Raw | msgspec.UnsetType) -> msgspec.Raw | None:
    """JSON of drivers as it stands in an object, None where it does not."""
    return None if isinstance(raw, msgspec.UnsetType) else raw


class ReadRecord(ReportRecord, frozen=True):
    """Lists of one namespace (empty: of the cluster) that were read alike, from the time of the first to the last.

    ``lists`` has the resource version of each kind, empty where there is none. Kinds of which several lists were taken
    stand in several records.
    """

    namespace: str
    coverage: Coverage
    first: str
    last: str
    lists: Mapping[str, str]


def reads_of(evidence: Evidence) -> tuple[ReadRecord, ...]:
    """What was read, in the order in which it was read."""
    groups: list[tuple[Read, list[Read]]] = []
    for read in evidence.reads:
        alike = (
            reads
            for like, reads in groups
            if (like.namespace, like.coverage) == (read.namespace, read.coverage)
            and all(each.kind != read.kind for each in reads)
        )
        known = next(alike, None)
        if known is None:
            groups.append((read, [read]))
        else:
            known.append(read)
    return tuple(_reads_alike(reads) for _, reads in groups)


def _reads_alike(reads: Sequence[Read]) -> ReadRecord:
    times = sorted(read.time for read in reads if read.time) or [""]
    lists = {read.kind: read.resource_version for read in reads}
    return ReadRecord(reads[0].namespace, reads[0].coverage, times[0], times[-1], lists)


def assumptions_of(evidence: Evidence) -> tuple[str, ...]:
    """Kinds that were taken as having no objects because a plain list does not mention them."""
    return tuple(sorted({read.kind for read in evidence.reads if read.coverage is Coverage.ASSUMED}))


class FeatureRecord(ReportRecord, frozen=True):
    """What is assumed of the scheduler: its minor version, the gates that are on, the allocator that they choose."""

    minor: int
    implementation: str
    enabled: tuple[str, ...]


def feature_record(features: Features) -> FeatureRecord:
    enabled = tuple(gate for gate, on in gates_of(features).items() if on)
    return FeatureRecord(features.minor, features.implementation, enabled)
