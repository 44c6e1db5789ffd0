"""What would become of objects that don't exist yet: what admission says of each, and how many copies of a pod fit."""

from __future__ import annotations

from kubectl_dra.reports.simulation.effects import Effects
from kubectl_dra.reports.simulation.pods import Copies
from kubectl_dra.reports.simulation.records import (
    Counted,
    ManifestReport,
    PodSimulation,
    Role,
    SimulationReport,
)
from kubectl_dra.reports.simulation.report import simulation_report
