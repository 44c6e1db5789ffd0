"""From what the scheduler's plugins of volumes say is in the way to causes with codes."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Cause, ObjectRef, VolumeTrouble
from kubectl_dra.scheduler.storage import CLAIM, VolumeProblem, VolumeReason

CODES: Final[Mapping[VolumeReason, Code]] = MappingProxyType(
    {
        VolumeReason.CLAIM_MISSING: Code.VOLUME_CLAIM,
        VolumeReason.CLAIM_NOT_CREATED: Code.VOLUME_CLAIM,
        VolumeReason.CLAIM_NOT_OWNED: Code.VOLUME_CLAIM,
        VolumeReason.CLAIM_LOST: Code.VOLUME_CLAIM,
        VolumeReason.CLAIM_DELETED: Code.VOLUME_CLAIM,
        VolumeReason.CLAIM_UNBOUND: Code.VOLUME_CLAIM,
        VolumeReason.CLASS_MISSING: Code.VOLUME_CLAIM,
        VolumeReason.VOLUME_MISSING: Code.VOLUME_CLAIM,
        VolumeReason.VOLUME_UNREACHABLE: Code.VOLUME_ELSEWHERE,
        VolumeReason.VOLUME_ZONE: Code.VOLUME_ELSEWHERE,
        VolumeReason.OTHER_NODE_SELECTED: Code.VOLUME_ELSEWHERE,
        VolumeReason.TOPOLOGY_NOT_ALLOWED: Code.VOLUME_ELSEWHERE,
        VolumeReason.NOTHING_TO_BIND: Code.NO_VOLUME,
        VolumeReason.NO_SPACE: Code.NO_VOLUME,
        VolumeReason.CLAIM_IN_USE: Code.VOLUME_IN_USE,
        VolumeReason.DISK_IN_USE: Code.VOLUME_IN_USE,
        VolumeReason.TOO_MANY: Code.VOLUME_LIMIT,
        VolumeReason.DRIVER_NOT_INSTALLED: Code.VOLUME_DRIVER_MISSING,
    }
)


def volume_problems(detail: object) -> tuple[VolumeProblem, ...]:
    """The problems that a status' detail consists of; none where it is another plugin's."""
    if isinstance(detail, tuple) and detail and all(isinstance(each, VolumeProblem) for each in detail):
        return detail
    return ()


def volume_identity(problem: VolumeProblem) -> Hashable:
    """What tells problems apart: not the numbers, nor who else uses the volume."""
    return problem.reason, problem.entry, problem.claim, problem.volume, problem.about, problem.wanted


def volume_causes(detail: object, nodes: tuple[str, ...] = ()) -> Iterator[Cause]:
    """One cause for each volume that is in the way."""
    for problem in volume_problems(detail):
        yield Cause(CODES[problem.reason], _trouble(problem), nodes=nodes)


def _trouble(problem: VolumeProblem) -> VolumeTrouble:
    return VolumeTrouble(
        problem.reason.value,
        problem.entry,
        ObjectRef.of(CLAIM, problem.claim) if problem.claim is not None else None,
        problem.volume,
        problem.about,
        problem.wanted,
        tuple(map(str, problem.users)),
        problem.used,
        problem.asked,
        problem.limit,
    )
