"""The whole simulation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from kubectl_dra.api.planned import Planned
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis import missing, needs
from kubectl_dra.diagnosis.whatif import Switch, what_if
from kubectl_dra.reports.admitted import admitted
from kubectl_dra.reports.base import Fits, feature_record, reads_of
from kubectl_dra.reports.simulation.admission import manifest_reports
from kubectl_dra.reports.simulation.copies import Copies, simulated
from kubectl_dra.reports.simulation.existing import with_objects
from kubectl_dra.reports.simulation.records import ManifestReport, PodSimulation, SimulationReport

_NAMESPACE: Final = "Namespace"


def simulation_report(
    world: ClusterState, objects: Sequence[Planned], copies: Copies, switches: Sequence[Switch] = ()
) -> SimulationReport:
    """Simulate the creation of all ``objects`` in their order; every pod finds what those before it left.

    ``switches`` are supposed of the cluster with the objects, before any pod is tried. Raises
    :class:`~kubectl_dra.diagnosis.whatif.WhatIfError`.
    """
    namespace = next((each.namespace for each in objects if each.namespace), "")
    namespaces = [each for each in objects if each.kind == _NAMESPACE]
    with_namespaces = with_objects(world, namespaces)
    manifests = tuple(manifest_reports(world, with_namespaces, objects))
    usable = [each for each, found in zip(objects, manifests, strict=True) if not (found.refused or found.error)]
    with_all = with_objects(world, usable)
    supposed = None
    if switches:
        with_all, supposed = what_if(with_all, switches)
    pods = tuple(simulated(with_all, admitted(with_all.inventory, usable), copies))
    lacking = missing.missing(world.evidence, needs.POD, namespace)
    return SimulationReport(
        fits=_all_fit(manifests, pods),
        manifests=manifests,
        pods=pods,
        certainty=missing.certainty(world.evidence),
        missing=lacking,
        features=feature_record(world.features),
        read=reads_of(world.evidence),
        what_if=supposed,
    )


def _all_fit(manifests: Iterable[ManifestReport], pods: Iterable[PodSimulation]) -> Fits:
    verdicts = {pod.fits for pod in pods}
    if Fits.NO in verdicts or any(each.refused or each.error for each in manifests):
        return Fits.NO
    return Fits.UNKNOWN if Fits.UNKNOWN in verdicts else Fits.YES
