"""What pods lack and the files of the same call may have: it is not to be created, the file is to be corrected."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import msgspec

from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.diagnosis.remedies.records import Action, CreateObject
from kubectl_dra.reports.base import Fits
from kubectl_dra.reports.simulation.records import PodSimulation, SimulationReport
from kubectl_dra.reports.simulation.stops import UnreadHolder


def with_unread_files(report: SimulationReport, files: Sequence[str], as_meant: Sequence[str] = ()) -> SimulationReport:
    """The report with who may have what pods lack; ``files``: those in which a document could not be read.

    ``as_meant``: files that kubectl apply does not read, and that were read as they are meant.
    """
    broken = {each.object for each in report.manifests if each.error or each.refused}
    if as_meant:
        report = msgspec.structs.replace(report, fits=Fits.NO, read_as_meant=tuple(dict.fromkeys(as_meant)))
    if not (broken or files):
        return report

    def changed(pods: Iterable[PodSimulation]) -> tuple[PodSimulation, ...]:
        return tuple(_with_holders(pod, broken, tuple(dict.fromkeys(files))) for pod in pods)

    return msgspec.structs.replace(report, pods=changed(report.pods), then=changed(report.then))


def _with_holders(pod: PodSimulation, broken: Collection[ObjectRef], files: tuple[str, ...]) -> PodSimulation:
    if pod.pending is None:
        return pod
    lacking = dict.fromkeys(ref for way in pod.pending.remedies for ref in _created(way.actions))
    found = {ref: UnreadHolder(ref, () if ref in broken else files) for ref in lacking if ref in broken or files}
    if not found:
        return pod
    ways = (way for way in pod.pending.remedies if found.keys().isdisjoint(_created(way.actions)))
    pending = msgspec.structs.replace(pod.pending, remedies=tuple(ways))
    return msgspec.structs.replace(pod, pending=pending, unread_holders=tuple(found.values()))


def _created(actions: Iterable[Action]) -> list[ObjectRef]:
    """What is made from nothing that is there."""
    return [each.ref for each in actions if isinstance(each, CreateObject) and each.like is None]
