"""A RuntimeClass that pods of the files name and that does not exist: the server refuses each of them.

Upstream: plugin/pkg/admission/runtimeclass/admission.go (Admit) is about pods alone, so that their workload is created.
"""

from __future__ import annotations

from kubectl_dra.cluster import ClusterState
from kubectl_dra.reports.simulation.stops import NoRuntimeClass
from kubectl_dra.reports.simulation.trials import RUNTIME_CLASS, PodTrial


def no_class(world: ClusterState, trial: PodTrial) -> NoRuntimeClass | None:
    """The class, where it stands in the manifest, and the classes that exist."""
    name = next((each.name for each in trial.blocked if each.kind == RUNTIME_CLASS), "")
    if not name:
        return None
    return NoRuntimeClass(
        name, f"{trial.plan.spec_at}.runtimeClassName", tuple(sorted(world.inventory.runtime_classes))
    )
