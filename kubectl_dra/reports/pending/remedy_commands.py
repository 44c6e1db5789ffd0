"""Actions of remedies that one command of kubectl carries out. Nothing is executed.

JSON patches: what an edit changes in a pod's spec, the pod's own or that of the template that makes it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec

from kubectl_dra.api.encode import encode_part
from kubectl_dra.diagnosis.remedies import records
from kubectl_dra.diagnosis.remedies.actions import (
    ClearSelectedNode,
    EditGroup,
    LabelNamespace,
    LabelNode,
    RemoveLabel,
    ScaleDown,
    SetDeletionCost,
    WidenTopology,
)
from kubectl_dra.diagnosis.remedies.pod_edits import edited
from kubectl_dra.diagnosis.remedies.records import EditPod
from kubectl_dra.diagnosis.rollouts import EditRollout
from kubectl_dra.model.core import PodSpec
from kubectl_dra.model.names import DELETION_COST
from kubectl_dra.reports.invocations import Words, kubectl, of, plain_word
from kubectl_dra.scheduler.binder import SELECTED_NODE

Change = tuple[str, Any]
#: Lower than what anybody would write by hand; the annotation holds an int32.
_LOWEST: Final = -1_000_000_000


def _delete_pod(action: records.DeletePod) -> Words | None:
    return kubectl("delete", of("pod", action.pod.name, action.pod.namespace))


def _delete_claim(action: records.DeleteClaim) -> Words | None:
    return kubectl("delete", of("resourceclaim", action.claim.name, action.claim.namespace))


def _remove_gates(action: records.RemoveGates) -> Words | None:
    patch = patch_text([("/spec/schedulingGates", None)])
    return kubectl("patch", of("pod", action.pod.name, action.pod.namespace), "--type=json", "-p", patch)


def _remove_label(action: RemoveLabel) -> Words | None:
    return kubectl("label", of("pod", action.pod.name, action.pod.namespace), plain_word(f"{action.label}-"))


def _scale_down(action: ScaleDown) -> Words | None:
    workload = of(action.workload.kind.lower(), action.workload.name, action.workload.namespace)
    # Where the number has changed since, as many fewer would end another pod.
    guard = (f"--current-replicas={action.replicas}",) if action.to else ()
    return kubectl("scale", workload, *guard, f"--replicas={action.to}")


def _deletion_cost(action: SetDeletionCost) -> Words | None:
    pod = of("pod", action.pod.name, action.pod.namespace)
    return kubectl("annotate", pod, f"{DELETION_COST}={_LOWEST}", "--overwrite")


def _remove_rule(action: records.RemoveTaintRule) -> Words | None:
    return kubectl("delete", of("devicetaintrule", action.rule))


def _narrow_rule(action: records.NarrowTaintRule) -> Words | None:
    names = {"driver": action.driver, "pool": action.pool, "device": action.device}
    patch = patch_text([(pointer("spec", "deviceSelector", key), name) for key, name in names.items() if name])
    return kubectl("patch", of("devicetaintrule", action.rule), "--type=json", "-p", patch)


def _label(action: LabelNamespace) -> Words | None:
    return kubectl("label", of("namespace", action.namespace), plain_word(f"{action.label}={action.value}"))


def _label_node(action: LabelNode) -> Words | None:
    return kubectl("label", of("node", action.node), plain_word(f"{action.label}={action.value}"))


def _clear_selected_node(action: ClearSelectedNode) -> Words | None:
    return kubectl(
        "annotate", of("persistentvolumeclaim", action.claim.name, action.claim.namespace), f"{SELECTED_NODE}-"
    )


def _widen(action: WidenTopology) -> Words | None:
    words = action.field.replace("[", ".").replace("]", "").split(".")
    patch = patch_text([(pointer(*words, "values", "-"), action.value)])
    return kubectl("patch", of("storageclass", action.storage_class), "--type=json", "-p", patch)


def _uncordon(action: records.Uncordon) -> Words | None:
    return kubectl("uncordon", of("node", action.node))


def _raise_quota(action: records.RaiseQuota) -> Words | None:
    patch = patch_text([(pointer("spec", "hard", action.resource), action.after)])
    return kubectl("patch", of("resourcequota", action.quota.name, action.quota.namespace), "--type=json", "-p", patch)


def _raise_nominal_quota(action: records.RaiseNominalQuota) -> Words | None:
    words = action.field.replace("[", ".").replace("]", "").split(".")
    patch = patch_text([(pointer("spec", *words), action.after)])
    return kubectl("patch", of("clusterqueue.kueue.x-k8s.io", action.cluster_queue), "--type=json", "-p", patch)


def _delete_slice(action: records.RepairPool) -> Words | None:
    return kubectl("delete", of("resourceslice", action.slice_name)) if action.slice_name else None


def _edit_class(action: records.EditClass) -> Words | None:
    index = action.field.partition("[")[2].removesuffix("]")
    selector = f"/spec/selectors/{index}" + ("/cel/expression" if action.after else "")
    path = selector if index else f"/spec/{action.field}"
    patch = patch_text([(path, action.after or None)])
    return kubectl("patch", of("deviceclass", action.device_class), "--type=json", "-p", patch)


def _edit_group(action: EditGroup) -> Words | None:
    patch = patch_text([(f"/spec/schedulingPolicy/gang/{action.field}", int(action.after))])
    # Other gang schedulers have PodGroups of their own.
    target = of("podgroup.scheduling.k8s.io", action.group.name, action.group.namespace)
    return kubectl("patch", target, "--type=json", "-p", patch)


def _edit_rollout(action: EditRollout) -> Words | None:
    strategy: dict[str, Any] = {"type": "Recreate"}
    if action.max_unavailable:
        limits = {"maxSurge": 0, "maxUnavailable": action.max_unavailable}
        strategy = {"type": "RollingUpdate", "rollingUpdate": limits}
    target = of(action.workload.kind.lower(), action.workload.name, action.workload.namespace)
    field = "updateStrategy" if action.workload.kind == "DaemonSet" else "strategy"
    return kubectl("patch", target, "--type=json", "-p", patch_text([(pointer("spec", field), strategy)]))


#: By type of action; a command is None where the API can't hold a name of the action.
COMMANDS: Final[dict[type, Callable[[Any], Words | None]]] = {
    records.DeletePod: _delete_pod,
    records.DeleteClaim: _delete_claim,
    records.RemoveGates: _remove_gates,
    RemoveLabel: _remove_label,
    ScaleDown: _scale_down,
    SetDeletionCost: _deletion_cost,
    records.RemoveTaintRule: _remove_rule,
    records.NarrowTaintRule: _narrow_rule,
    LabelNamespace: _label,
    LabelNode: _label_node,
    ClearSelectedNode: _clear_selected_node,
    WidenTopology: _widen,
    records.Uncordon: _uncordon,
    records.RaiseQuota: _raise_quota,
    records.RaiseNominalQuota: _raise_nominal_quota,
    records.EditClass: _edit_class,
    records.RepairPool: _delete_slice,
    EditGroup: _edit_group,
    EditRollout: _edit_rollout,
}


def pod_changes(action: EditPod, spec: PodSpec) -> Sequence[Change]:
    """JSON pointers below ``spec``, with the new values (None: remove); none where there is nothing to change."""
    return tuple(_changes("", spec, edited(spec, action)))


def _changes(path: str, old: object, new: object) -> Iterator[Change]:
    """Each in the deepest place that has it."""
    if old == new:
        return
    if path == "/overhead" and not new:
        # Admission refuses even an empty one (upstream: admission/runtimeclass/admission.go, validateOverhead).
        yield path, None
    elif old in ({}, ()):
        yield path, _json(new)  # it does not stand there
    elif isinstance(old, tuple) and isinstance(new, tuple):
        yield from _of_lists(path, old, new)
    elif isinstance(old, dict | msgspec.Struct) and isinstance(new, dict | msgspec.Struct):
        yield from _of_maps(path, _members(old), _members(new))
    else:
        yield path, _json(new) or None


def _members(each: dict[str, Any] | msgspec.Struct) -> dict[str, Any]:
    if isinstance(each, dict):
        return each
    return {field.encode_name: getattr(each, field.name) for field in msgspec.structs.fields(each)}


def _of_maps(path: str, old: dict[str, Any], new: dict[str, Any]) -> Iterator[Change]:
    """What is gone comes first."""
    for name in old.keys() - new.keys():
        yield path + pointer(name), None
    changes = (change for name in new for change in _changes(path + pointer(name), old.get(name), new[name]))
    yield from sorted(changes, key=lambda change: change[1] is not None)


def _of_lists(path: str, old: tuple[Any, ...], new: tuple[Any, ...]) -> Iterator[Change]:
    if len(old) == len(new):
        for index, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from _changes(f"{path}/{index}", before, after)
    elif new[: len(old)] == old:
        yield from ((f"{path}/-", _json(each)) for each in new[len(old) :])
    else:
        kept, gone = list(new), []
        for index, each in enumerate(old):
            if kept and kept[0] == each:
                kept.pop(0)
            else:
                gone.append(index)
        # From the end, as what is removed moves what comes after it.
        yield from ((path, _json(new)),) if kept else ((f"{path}/{index}", None) for index in reversed(gone))


def _json(value: object) -> Any:  # noqa: ANN401 - any JSON value
    return json.loads(encode_part(value))


def patch_text(changes: Iterable[Change], prefix: str = "") -> str:
    """The JSON patch that makes the changes below ``prefix``."""
    return json.dumps([_operation(prefix + path, value) for path, value in changes])


def _operation(path: str, value: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
    return {"op": "remove", "path": path} if value is None else {"op": "add", "path": path, "value": value}


def pointer(*keys: str) -> str:
    """A JSON pointer made of keys."""
    return "".join("/" + key.replace("~", "~0").replace("/", "~1") for key in keys)
