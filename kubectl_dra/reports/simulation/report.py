"""The whole simulation: admission, the cluster with the objects of the files, trials, effects."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from msgspec.structs import replace

from kubectl_dra.api.planned import Planned
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod import missing, needs
from kubectl_dra.diagnosis.pod.workloads import ReadOwner
from kubectl_dra.diagnosis.records import Missing
from kubectl_dra.diagnosis.whatif import Switch, WhatIf, what_if
from kubectl_dra.model.ids import Key
from kubectl_dra.reports.admitted import admitted
from kubectl_dra.reports.base import Fits, feature_record, reads_of
from kubectl_dra.reports.devices.advertised import advertised
from kubectl_dra.reports.simulation.admission import manifest_reports
from kubectl_dra.reports.simulation.copies import simulated
from kubectl_dra.reports.simulation.effects import effects
from kubectl_dra.reports.simulation.existing import new_namespaces, with_namespaces, with_objects
from kubectl_dra.reports.simulation.pods import Copies
from kubectl_dra.reports.simulation.quotas import with_quotas
from kubectl_dra.reports.simulation.records import ManifestReport, PodSimulation, Role, SimulationReport
from kubectl_dra.reports.simulation.served_fields import as_served
from kubectl_dra.reports.simulation.trials import trials

_UNTRIED: Final = (Role.UNTRIED,)
# Where nothing is created, no event can tell why.
_OF_ALL_NAMESPACES: Final = tuple(need for need in needs.POD if need.kind != "Event")


def simulation_report(
    world: ClusterState,
    objects: Sequence[Planned],
    copies: Copies,
    switches: Sequence[Switch] = (),
    *,
    together: bool = False,
    read_owner: ReadOwner | None = None,
) -> SimulationReport:
    """Simulate the creation of all ``objects`` in their order; ``together``: the entries of catalogues as well.

    ``switches`` are supposed of the cluster with the objects, before any pod is tried. ``read_owner`` gets owners of
    pods that the Inventory does not have. Raises
    :class:`~kubectl_dra.diagnosis.whatif.WhatIfError`.
    """
    objects = tuple(as_served(world, objects))
    namespace = next((each.namespace for each in objects if each.namespace), "")
    missing_namespaces = new_namespaces(world, objects)
    prepared = with_namespaces(world, objects, missing_namespaces)
    said = list(manifest_reports(world, prepared, objects))
    usable = [each for each, found in zip(objects, said, strict=True) if not (found.refused or found.error)]
    refused = [each for each, found in zip(objects, said, strict=True) if found.refused or found.error]
    with_all = with_objects(prepared, usable)
    with_files, supposed = with_all, None
    if switches:
        with_all, supposed = what_if(with_all, switches, read_owner)
    tried = trials(with_all, admitted(with_all, usable), refused, together=together)
    tries = zip(tried, simulated(with_all, tried, copies, read_owner), strict=True)
    pods = tuple(with_quotas(world, tries, missing_namespaces))
    kept = {(trial.planned.kind, trial.planned.key) for trial in tried}
    manifests = tuple(_with_role(each, planned, kept) for each, planned in zip(said, objects, strict=True))
    return SimulationReport(
        fits=_all_fit(manifests, pods, supposed, pods_known=world.evidence.complete("Pod")),
        not_as_written=sum(len(each.findings) for each in manifests),
        new_namespaces=missing_namespaces,
        manifests=manifests,
        pods=pods,
        effects=effects(world, with_files, usable),
        certainty=missing.certainty(world.evidence),
        missing=_deciding(
            missing.missing(world.evidence, needs.POD if namespace else _OF_ALL_NAMESPACES, namespace), pods
        ),
        features=feature_record(world.features),
        read=reads_of(world.evidence),
        what_if=supposed,
        also_advertised=advertised(with_all, (each.node for pod in pods for each in pod.nodes)),
    )


def _deciding(lacking: Iterable[Missing], pods: Iterable[PodSimulation]) -> tuple[Missing, ...]:
    """What is lacking; what left a pod open decides, also where it only explains in other cases."""
    opened = {(each.kind, each.namespace): each for pod in pods for each in pod.unread}
    return tuple({**{(each.kind, each.namespace): each for each in lacking}, **opened}.values())


def _with_role(report: ManifestReport, planned: Planned, tried: Collection[tuple[str, Key]]) -> ManifestReport:
    if (planned.kind, planned.key) in tried:
        return replace(report, role=Role.TRIED)
    if planned.untried:
        return replace(report, role=Role.UNTRIED)
    return replace(report, role=Role.NO_PART if report.ignored else Role.USED)


def _all_fit(
    manifests: Iterable[ManifestReport], pods: Sequence[PodSimulation], supposed: WhatIf | None, *, pods_known: bool
) -> Fits:
    """``pods_known``: whether those are that would have to leave nodes."""
    manifests = list(manifests)
    verdicts = {pod.fits for pod in pods}
    dropped = any(not finding.corrected for each in manifests for finding in each.findings)
    if Fits.NO in verdicts or dropped or any(each.refused or each.error for each in manifests):
        return Fits.NO
    # Of a workload that makes no pods none was tried.
    some = any(each.wanted != 0 for each in pods)
    untried = not (some or supposed is not None) or any(each.role in _UNTRIED for each in manifests)
    unseen = supposed is not None and supposed.moves and not pods_known
    return Fits.UNKNOWN if Fits.UNKNOWN in verdicts or untried or unseen else Fits.YES
