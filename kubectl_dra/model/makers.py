"""Objects of other projects that make pods: what holds these back, and the templates that they are made from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from kubectl_dra.model.core import Pod

#: ``spec.managedBy`` of work whose usual controller makes the pods; with any other value it makes none (KEP-4368).
USUAL_MANAGERS: Final = frozenset(
    {
        "kubernetes.io/job-controller",
        "jobset.sigs.k8s.io/jobset-controller",
        "kubeflow.org/training-operator",
        "kubeflow.org/mpi-operator",
        "trainer.kubeflow.org/trainjob-controller",
        "ray.io/kuberay-operator",
    }
)
#: The same of work that Kueue dispatches to another cluster.
MULTIKUEUE: Final = "kueue.x-k8s.io/multikueue"


def managed_elsewhere(managed_by: str) -> str:
    """Who manages work in place of its usual controller, which makes no pods of it then; empty where that does."""
    return "" if managed_by in USUAL_MANAGERS else managed_by


class Maker(msgspec.Struct, frozen=True):
    """One object. ``suspended_by``: the field by which its pods are held back; empty where none does.

    ``pods`` has one pod of each template, by the name that its object gives them (empty for the only one); ``copies``:
    how many there are to be of each at the same time, empty where that is not known.
    ``scaled``: there are to be none. ``untried``: why its pods are not known. ``managed_by``: who manages it in place
    of its usual controller.
    """

    suspended_by: str = ""
    queue: str = ""
    pods: tuple[tuple[str, Pod], ...] = ()
    copies: tuple[int, ...] = ()
    scaled: bool = False
    untried: str = ""
    labels: Mapping[str, str] = msgspec.field(default_factory=dict)
    managed_by: str = ""
