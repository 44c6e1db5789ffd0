"""What a pod's report is about and only manifests have, so that no command reaches it."""

from __future__ import annotations

from kubectl_dra.reports.base import ReportRecord


class Written(ReportRecord, frozen=True):
    """Nodes, and pools as ``DRIVER/POOL``, that are in the files of a simulation and not in the cluster."""

    nodes: tuple[str, ...] = ()
    pools: tuple[str, ...] = ()
