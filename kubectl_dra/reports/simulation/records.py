"""The records of a simulation: what is said of each manifest, and how many copies of each pod fit where."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from kubectl_dra.diagnosis.records import Certainty, Missing, ObjectRef, OpenPlugin, Verdict
from kubectl_dra.diagnosis.whatif.records import Fate, WhatIf
from kubectl_dra.reports.base import Fits, ReadRecord, ReportRecord
from kubectl_dra.reports.pending import PendingReport


class Correction(ReportRecord, frozen=True):
    """One mistake in a manifest: where, what, and whether it was corrected before anything was tried."""

    path: str
    message: str
    corrected: bool


class ManifestReport(ReportRecord, frozen=True):
    """One object of the file. ``refused`` are the API server's words; ``exists``: the cluster's own object counts.

    ``error``: it could not be read. ``ignored``: its kind plays no part. ``corrected`` is the manifest as it was tried,
    None if nothing was corrected.
    """

    object: ObjectRef
    findings: tuple[Correction, ...] = ()
    refused: tuple[str, ...] = ()
    error: str = ""
    exists: bool = False
    ignored: bool = False
    corrected: msgspec.Raw | None = None


class NodeCopies(ReportRecord, frozen=True):
    """Copies on one node."""

    node: str
    copies: int


class PodSimulation(ReportRecord, frozen=True):
    """Copies of one pod. ``wanted`` None: as many as fit. ``capped``: more than ``copies`` may fit.

    ``subject`` is what the pods are made from: a pod, a workload, or a claim or template that was tried with a bare
    pod. ``pending`` tells of the first copy that does not fit. ``open``: what decides as well and is not simulated, so
    that ``copies`` are at most what fits. ``unseen``: entries of ``spec.resourceClaims`` that no container names.
    """

    subject: ObjectRef
    wanted: int | None
    copies: int
    capped: bool
    nodes: tuple[NodeCopies, ...]
    pending: PendingReport | None
    open: tuple[OpenPlugin, ...] = ()
    unseen: tuple[str, ...] = ()

    @property
    def lacks(self) -> bool:
        """Whether less than what was wanted fits; without a number, not even one."""
        return self.copies < (1 if self.wanted is None else self.wanted)

    @property
    def fits(self) -> Fits:
        """Whether all that was wanted fits, and nothing else decides."""
        if self.lacks:
            known = self.pending is not None and self.pending.verdict is not Verdict.UNKNOWN
            return Fits.NO if known else Fits.UNKNOWN
        return Fits.UNKNOWN if self.open else Fits.YES

    @property
    def unread(self) -> tuple[Missing, ...]:
        """What could not be read, where that leaves open whether it fits."""
        if self.pending is None or self.pending.verdict is not Verdict.UNKNOWN:
            return ()
        return tuple(each for each in self.pending.missing if each.decides)


class SimulationReport(ReportRecord, frozen=True):
    """The whole file. ``fits``: nothing is refused or unreadable, and all copies fit.

    ``what_if``: what else is supposed of the cluster, and where pods go that have to leave their nodes.
    """

    fits: Fits
    manifests: tuple[ManifestReport, ...]
    pods: tuple[PodSimulation, ...]
    certainty: Certainty
    missing: tuple[Missing, ...]
    features: Mapping[str, bool | int | str]
    read: tuple[ReadRecord, ...]
    what_if: WhatIf | None = None

    def without_steps(self) -> SimulationReport:
        """With what would help, and not how it is done."""
        return self._with_pending(PendingReport.without_steps)

    def for_json(self) -> SimulationReport:
        """The same of what it says of pods."""
        return self._with_pending(PendingReport.for_json)

    def _with_pending(self, change: Callable[[PendingReport], PendingReport]) -> SimulationReport:
        pods = (
            pod if pod.pending is None else msgspec.structs.replace(pod, pending=change(pod.pending))
            for pod in self.pods
        )
        return msgspec.structs.replace(self, pods=tuple(pods))

    @property
    def bad(self) -> bool:
        """Whether something is refused or unreadable, or certainly does not fit."""
        refused = any(each.refused or each.error for each in self.manifests)
        homeless = self.what_if is not None and bool(self.what_if.of(Fate.PENDING))
        return (
            refused
            or homeless
            or any(
                each.lacks and each.pending is not None and each.pending.verdict is not Verdict.UNKNOWN
                for each in self.pods
            )
        )

    @property
    def unread(self) -> tuple[Missing, ...]:
        """What could not be read, where that leaves open whether something fits."""
        return tuple(dict.fromkeys(each for pod in self.pods for each in pod.unread))

    @property
    def answered(self) -> bool:
        """Whether of any pod, or of any manifest, something could be said."""
        said = self.bad or any(each.copies or each.fits is not Fits.UNKNOWN or not each.unread for each in self.pods)
        return said or not self.pods

    @property
    def partial(self) -> bool:
        """Whether evidence is missing that decides, or something is not simulated, or more copies are not tried."""
        untried = any(each.open or (each.capped and each.wanted is not None) for each in self.pods)
        return untried or any(each.decides for each in self.missing)
