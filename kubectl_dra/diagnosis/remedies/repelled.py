"""What is done about pods that may not be on one node, or cannot be: what ways out say of it."""

from __future__ import annotations

from kubectl_dra.diagnosis.records import Evidence, ObjectRef


class RemoveLabel(Evidence, frozen=True):
    """Take a label off the pod, which can be done in place; ``workload`` gives it to the pods that it makes later."""

    pod: ObjectRef
    label: str
    value: str
    workload: ObjectRef | None = None


class ScaleDown(Evidence, frozen=True):
    """Scale a workload from ``replicas`` to none; ``pods``: the first few that end.

    ``frees``: devices that pods hold which do not run, for the reason ``failing``.
    """

    workload: ObjectRef
    replicas: int
    pods: tuple[ObjectRef, ...]
    frees: tuple[str, ...] = ()
    failing: str = ""
