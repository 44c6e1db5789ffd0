"""Another RuntimeClass, where what the present one puts into the pod keeps it off the nodes: its selector or overhead.

In the pod it can't be changed: admission sets it again. Upstream: plugin/pkg/admission/runtimeclass/admission.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.gates.pod_admission import (
    RUNTIME_CLASS,
    refusals,
    selected_by_runtime,
    with_other_runtime,
)
from kubectl_dra.diagnosis.records import NodeShortage
from kubectl_dra.diagnosis.remedies.candidate import Candidate, Case, pod_edit
from kubectl_dra.diagnosis.remedies.pod_edits import RUNTIME

# Another runtime is another sandbox: what only moves the pod comes first.
_COST: Final = 44
_CLASSES: Final = 3


def candidates(case: Case) -> Iterator[Candidate]:
    name, inventory = case.pod.spec.runtime_class_name, case.state.inventory
    if not name or name not in inventory.runtime_classes:
        return
    nodes = _kept_off(case)
    selected = ",".join(sorted(selected_by_runtime(case.state, case.pod)))
    others = [each for each in sorted(inventory.runtime_classes) if each != name]
    for after in (*others[:_CLASSES], "") if nodes else ():
        edit = partial(with_other_runtime, inventory=inventory, name=after)
        if not any(refusals(edit(case.pod), inventory)):
            yield pod_edit(case, f"{RUNTIME}[{selected}]", name, after, _COST, nodes, edit)


def _kept_off(case: Case) -> tuple[str, ...]:
    """The nodes that what the class sets rules out."""
    selected = bool(selected_by_runtime(case.state, case.pod))
    found = [name for cause in case.causes(Code.NODE_AFFINITY) if selected for name in cause.nodes]
    for cause in case.causes(Code.NODE_RESOURCES):
        if isinstance(cause.detail, NodeShortage) and any(each.kind == RUNTIME_CLASS for each in cause.detail.added):
            found += cause.nodes
    return tuple(dict.fromkeys(found))
