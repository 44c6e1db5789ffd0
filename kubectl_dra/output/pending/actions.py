"""What a way out does, step by step, in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from kubectl_dra.diagnosis.records import HeldFor
from kubectl_dra.diagnosis.remedies import records
from kubectl_dra.diagnosis.remedies.actions import (
    AddVolume,
    ClearSelectedNode,
    EditGroup,
    LabelNamespace,
    LabelNode,
    MoveVolume,
    RemoveLabel,
    ScaleDown,
    SetDeletionCost,
    WidenTopology,
)
from kubectl_dra.diagnosis.remedies.queue_ways import CLUSTER_QUEUE
from kubectl_dra.diagnosis.remedies.raised_quota import POD_ENDS
from kubectl_dra.diagnosis.rollouts import EditRollout
from kubectl_dra.diagnosis.whatif.records import AddNode
from kubectl_dra.model.names import HOSTNAME
from kubectl_dra.output.pending.claim_edits import edit_claim
from kubectl_dra.output.pending.gangs import group_edit, pinned_pods
from kubectl_dra.output.pending.pod_edits import edit_pod, remove_label
from kubectl_dra.output.pending.removals import users_gone
from kubectl_dra.output.pending.rollouts import rollout_edit
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.output.words import counted, every, kind_and_name, listed, plural, quota_noun
from kubectl_dra.scheduler.binder import SELECTED_NODE
from kubectl_dra.selectors.comparisons import short_clause

#: One pod has words of its own.
_SEVERAL: Final = 2


def action_text(action: records.Action) -> Safe:
    """What is to be done, as a clause without a full stop."""
    return _WORDS[type(action)](action)


_ACTORS: Final = {
    "resource-claim-controller": "the resource-claim-controller of kube-controller-manager to create the claim",
    "kube-scheduler": "the scheduler's next attempt",
    "consumers": "the pods that still use the claim, then create it again",
    "driver": "the driver",
    "kubelet": "the kubelet",
}


def _wait(action: records.Wait) -> Safe:
    if action.for_whom.startswith(POD_ENDS):
        pod = action.for_whom.removeprefix(POD_ENDS).rpartition("/")[2]
        what = Safe("its claims no longer count" if len(action.releases) > 1 else "its claim no longer counts")
        return fmt("wait until pod {} ends: {} then", pod, what)
    if action.for_whom.startswith(CLUSTER_QUEUE):
        return fmt("wait until other work of {} ends", action.for_whom)
    if action.releases:
        claims = [claim.name for claim in action.releases]
        if len(claims) == 1:
            return fmt("wait for the scheduler's next attempt, after which claim {} is released", claims[0])
        return fmt("wait for the scheduler's next attempts, each of which releases one of claims {}", listed(claims))
    return fmt("wait for {}", Safe(_ACTORS[action.for_whom]) if action.for_whom in _ACTORS else safe(action.for_whom))


def _gates(action: records.RemoveGates) -> Safe:
    return fmt("remove the scheduling {} {}", Safe(plural("gate", len(action.gates))), listed(action.gates))


def _renew_claim(action: records.RenewClaim) -> Safe:
    how = Safe("delete pod {}") if action.workload is not None else Safe("recreate the pod {}")
    text = "{}: its new claim is made from template {}, which has changed since"
    return fmt(text, fmt(how, str(action.pod.key)), action.template.name)


def _edit_class(action: records.EditClass) -> Safe:
    if not action.field.startswith("selectors"):
        return fmt("set {} of class {} to {}", action.field, action.device_class, action.after)
    if not action.after:
        return fmt("drop the selector {} of class {}", short_clause(action.before), action.device_class)
    return fmt("change the selector of class {} to {}", action.device_class, " ".join(action.after.split()))


def shares(action: records.CreateObject) -> bool:
    """Whether a claim takes the place of those that a template made for several pods."""
    return action.like is not None and action.ref.kind == "ResourceClaim"


def _create(action: records.CreateObject) -> Safe:
    if action.like is not None and shares(action):
        return fmt('share one claim: make ResourceClaim "{}" from claim {}', action.ref.name, action.like.name)
    if action.like is not None:
        text = 'give the pod a claim of its own: make {} "{}" from claim {}'
        return fmt(text, action.ref.kind, action.ref.name, action.like.name)
    if action.device_class:
        devices = counted(action.devices, "device")
        return fmt(
            'create the {} "{}" with {} of class {}', action.ref.kind, action.ref.name, devices, action.device_class
        )
    serving = fmt(" that serves {}", action.extended_resource) if action.extended_resource else Safe("")
    return fmt('create the {} "{}"{}', action.ref.kind, action.ref.name, serving)


def _delete_claim(action: records.DeleteClaim) -> Safe:
    freed = counted(len(action.frees), "device")
    return fmt("delete claim {}, which no pod uses: frees {}", str(action.claim.key), freed)


def _end_reservations(action: records.EndReservations) -> Safe:
    if action.held_for is HeldFor.EMPTY_GROUP:
        text = "delete {}, if nobody needs {} any more: frees {}"
        groups, it = users_gone(action.held_for, action.pods), Safe("it" if len(action.pods) == 1 else "them")
        return fmt(text, groups, it, counted(len(action.frees), "device"))
    text = "end the reservation of claim {} for {}: frees {}; the resource claim controller should have done that"
    freed = counted(len(action.frees), "device")
    return fmt(text, str(action.claim.key), users_gone(action.held_for, action.pods), freed)


def deletion_text(
    action: records.DeletePod, *, taken_back: bool, again: str | None = None, fails: bool = False
) -> Safe:
    """What a deletion frees; ``taken_back``: whether what is started again may have that is told nowhere else.

    ``again``: a node that has room for that, or nothing; None where it is not known. ``fails``: its Job then has as
    many failed pods as end it.
    """
    devices = [counted(len(action.frees), "device")] if action.frees else []
    freed = listed([*devices, *map(safe, action.amounts)]) or Safe("its place")
    if action.recreated_by is None:
        return fmt("delete pod {}: frees {}; nothing starts it again", str(action.pod.key), freed)
    if fails:
        return fmt("delete pod {}: frees {}, and its {} is over", str(action.pod.key), freed, action.recreated_by.kind)
    if again:
        text = "delete pod {}: frees {}; its {} starts it again, and {} has room for it"
        return fmt(text, str(action.pod.key), freed, action.recreated_by.kind, again)
    if again is not None:
        text = "delete pod {}: frees {}, but its {} starts it again, and that one then waits"
        return fmt(text, str(action.pod.key), freed, action.recreated_by.kind)
    text = "delete pod {}: frees {}, but its {} starts it again{}"
    back = Safe(" and it may take them back" if taken_back else "")
    return fmt(text, str(action.pod.key), freed, action.recreated_by.kind, back)


def deletions_text(actions: Sequence[records.Action], again: Sequence[str]) -> Safe | None:
    """Several pods that share a fate, deleted together; None for others. ``again``: see :func:`deletion_text`."""
    pods = [each for each in actions if isinstance(each, records.DeletePod)]
    kinds = {each.recreated_by.kind if each.recreated_by is not None else "" for each in pods}
    if len(pods) < _SEVERAL or len(pods) < len(actions) or len(kinds) > 1 or any(each.amounts for each in pods):
        return None
    names = listed([str(each.pod.key) for each in pods])
    freed = counted(sum(len(each.frees) for each in pods), "device")
    deleted, kind = fmt("delete pods {}: frees {}", names, freed), kinds.pop()
    if not kind:
        return fmt("{}; nothing starts them again", deleted)
    owners = len({each.recreated_by for each in pods})
    theirs = fmt("their {} {} them again", *((kind, Safe("starts")) if owners == 1 else (f"{kind}s", Safe("start"))))
    nodes = list(dict.fromkeys(again))
    if nodes and all(nodes):
        text = "{}; {}, and {} {} room for them"
        return fmt(text, deleted, theirs, listed(nodes), Safe("has" if len(nodes) == 1 else "have"))
    if nodes and any(nodes):
        return None
    return fmt("{}, but {}{}", deleted, theirs, Safe(", and they then wait" if nodes else ""))


def _delete_pod(action: records.DeletePod) -> Safe:
    return deletion_text(action, taken_back=True)


def _restart(action: records.RestartPods) -> Safe:
    pods, what = counted(action.replicas, "replica"), kind_and_name(action.workload)
    return fmt("scale {} to 0 and back to {}: pod {} still has the devices", what, pods, action.pod.name)


def _deletion_cost(action: SetDeletionCost) -> Safe:
    return fmt("make pod {} the first to go", str(action.pod.key))  # the next one says so


def _scale_down(action: ScaleDown) -> Safe:
    text = fmt("scale {} {} to {} (now {})", action.workload.kind, str(action.workload.key), action.to, action.replicas)
    if not action.failing:
        devices = [counted(len(action.frees), "device")] if action.frees else []
        freed = listed([*devices, *map(safe, action.amounts)])
        if action.frees or action.amounts:
            text = (
                fmt("{}, which ends {}", text, listed([str(pod.key) for pod in action.pods]))
                if action.pods and action.to
                else text
            )
        return fmt("{}: frees {}", text, freed) if freed else text
    whose = Safe("its pod does not run" if len(action.pods) == 1 else "none of its pods runs")
    return fmt("{}: frees {}; {} ({})", text, counted(len(action.frees), "device"), whose, action.failing)


def _taint(action: records.TaintDevice) -> Safe:
    text = fmt("taint device {}, so that another one is taken", action.device)
    if action.pod is None:
        return text
    how = fmt("delete pod {}", action.pod.name) if action.workload else Safe("recreate the pod")
    return fmt("{} ({})", text, how)


def _remove_rule(action: records.RemoveTaintRule) -> Safe:
    return fmt("delete DeviceTaintRule {} ({})", action.rule, action.taint)


def _narrow_rule(action: records.NarrowTaintRule) -> Safe:
    to = fmt("device {}", action.device) if action.device else fmt("pool {}", action.pool)
    return fmt(
        "narrow DeviceTaintRule {} to {} (it now taints {})", action.rule, to, counted(action.selected, "device")
    )


def _label(action: LabelNamespace) -> Safe:
    return fmt("label namespace {} with {}={}", action.namespace, action.label, action.value)


def _label_node(action: LabelNode) -> Safe:
    if action.label == HOSTNAME:
        return fmt("label node {} with {}={}", action.node, action.label, action.value)
    text = "label node {} with its {}; the pod fits if that is {}"
    return fmt(text, action.node, action.label, action.value)


def _selected_node(action: ClearSelectedNode) -> Safe:
    if action.gone:
        return fmt("remove the annotation {} of PersistentVolumeClaim {}", SELECTED_NODE, str(action.claim.key))
    text = "unless PersistentVolumeClaim {} is just being provisioned for {}, remove its annotation {}"
    return fmt(text, str(action.claim.key), action.node, SELECTED_NODE)


def _topology(action: WidenTopology) -> Safe:
    text = "allow StorageClass {} to provision volumes for {}={} too, if its driver can"
    return fmt(text, action.storage_class, action.key, action.value)


def _volume(action: MoveVolume) -> Safe:
    if action.size:
        return _smaller_volume(action)
    other = fmt("{} (provisioner {})", action.storage_class, action.provisioner)
    if action.workload is not None:
        text = "in volumeClaimTemplates {}, set storageClassName to {} instead of {} (in {} {})"
        where = action.workload
        return fmt(text, action.template, other, action.former, where.kind, where.name)
    if not action.volume:
        text = "recreate PersistentVolumeClaim {}, which has no volume yet, with storageClassName {} instead of {}"
        return fmt(text, str(action.claim.key), other, action.former)
    if action.lost:
        text = "if its node never joins again, give up volume {}: delete PersistentVolumeClaim {} and create it anew"
        return fmt(text, action.volume, str(action.claim.key))
    text = "replace PersistentVolumeClaim {} with a new one, after copying its data: StorageClass {} makes its volume "
    text += "where the pod goes, which cannot reach volume {}"
    return fmt(text, str(action.claim.key), other if action.former else action.storage_class, action.volume)


def _smaller_volume(action: MoveVolume) -> Safe:
    if action.workload is not None:
        where = action.workload
        text = "in volumeClaimTemplates {}, request {} instead of {} (in {} {})"
        return fmt(text, action.template, action.size, action.former_size, where.kind, where.name)
    text = "recreate PersistentVolumeClaim {}, which has no volume yet, with {} instead of {}"
    return fmt(text, str(action.claim.key), action.size, action.former_size)


def _add_volume(action: AddVolume) -> Safe:
    modes = fmt(" ({})", listed(action.access_modes)) if action.access_modes else Safe("")
    demands = fmt(", with {},", listed(action.demands)) if action.demands else Safe("")
    text = "add a PersistentVolume of class {} with at least {}{}{} on {}"
    return fmt(text, action.storage_class, action.size, modes, demands, listed(action.nodes, "or"))


def _uncordon(action: records.Uncordon) -> Safe:
    text = "drop spec.unschedulable of Node {} in the files" if action.in_files else "uncordon node {}"
    return fmt(text, action.node)


def _move_template(action: records.MoveTemplate) -> Safe:
    text = "put {} {} into namespace {}, in which its pods are"
    return fmt(text, action.template.kind, str(action.template.key), action.namespace)


def _quota(action: records.RaiseQuota) -> Safe:
    text = "raise the limit of ResourceQuota {} for {} from {} to {}"
    raised = fmt(text, action.quota.name, quota_noun(action.resource), action.before, action.after)
    if action.waiting == 1:
        return raised
    if action.pods == action.waiting:
        text = "{}, for {} that wait ({} is enough for one of them)"
        return fmt(text, raised, every(action.pods, "pod"), action.least)
    few = Safe("one") if action.pods == 1 else safe(str(action.pods))
    more = Safe(": there are not enough free devices for more") if action.no_room else Safe("")
    return fmt("{}, for {} of the {} pods that wait{}", raised, few, action.waiting, more)


def _nominal_quota(action: records.RaiseNominalQuota) -> Safe:
    text = "raise nominalQuota of {} (flavor {}) in ClusterQueue {} from {} to {}"
    return fmt(text, action.resource, action.flavor, action.cluster_queue, action.before, action.after)


def _pool(action: records.RepairPool) -> Safe:
    if action.in_files and action.doubled:
        return fmt("drop device {} of ResourceSlice {} in the files", action.doubled, action.slice_name)
    if action.in_files:
        return fmt("complete pool {} in the files: its other ResourceSlices, or resourceSliceCount", action.pool)
    if action.doubled:
        text = "delete ResourceSlice {}, which publishes {} a second time, after {}: the driver publishes pool {} anew"
        return fmt(text, action.slice_name, action.doubled, action.first_slice, action.pool)
    return fmt("have the driver publish pool {} anew: read its log, then restart its pod", action.pool)


def _add(action: records.AddDevices) -> Safe:
    if not action.like:
        number = Safe("one more device") if action.count == 1 else fmt("{} more devices", action.count)
        return fmt(
            "publish {} that {} class {}",
            number,
            Safe("matches" if action.count == 1 else "match"),
            action.device_class,
        )
    number = fmt("{} more {}", action.count, Safe(plural("device", action.count)))
    return fmt("add {} like {}{}", number, action.like, _differing(action))


def _differing(action: records.AddDevices) -> Safe:
    name = action.differing.rpartition("/")[2]
    return fmt(", of another {}", name) if name else Safe("")


def hardware_text(action: records.Action, told: str | None) -> tuple[Safe, str | None]:
    """New devices or nodes without a verb, and the node that the text is about; a node ``told`` before has no name."""
    if isinstance(action, AddNode):
        if action.count == 1 and action.like == told:
            return fmt("another such node{}", _clique(action)), told
        return Safe(_add_node(action).removeprefix("add ")), action.like
    text = Safe(action_text(action).removeprefix("add "))
    # Pools usually have the name of their node.
    if isinstance(action, records.AddDevices) and action.node and action.like.split("/")[1:-1] == [action.node]:
        number = fmt("{} more {}", action.count, Safe(plural("device", action.count)))
        like = action.like.rpartition("/")[2]
        return fmt("{} like {} on {}{}", number, like, action.node, _differing(action)), action.node
    if isinstance(action, records.AddDevices) and action.node and action.like:
        return fmt("{} on {}", text, action.node), None
    return text, None


def _add_node(action: AddNode) -> Safe:
    where = _clique(action)
    if action.count == 1:
        return fmt("add a node like {}{}", action.like, where)
    return fmt("add {} nodes like {}{} (fewer are not enough)", action.count, action.like, where)


def _clique(action: AddNode) -> Safe:
    return fmt(" in the same NVLink clique (nvidia.com/gpu.clique={})", action.clique) if action.clique else Safe("")


_WORDS: Final[dict[type, Callable[[Any], Safe]]] = {
    records.Wait: _wait,
    records.RemoveGates: _gates,
    records.EditClaim: edit_claim,
    records.RenewClaim: _renew_claim,
    records.EditClass: _edit_class,
    EditGroup: group_edit,
    RemoveLabel: remove_label,
    records.EditPod: edit_pod,
    records.PinPods: pinned_pods,
    records.CreateObject: _create,
    records.MoveTemplate: _move_template,
    records.DeleteClaim: _delete_claim,
    records.DeletePod: _delete_pod,
    records.EndReservations: _end_reservations,
    records.RemoveTaintRule: _remove_rule,
    records.NarrowTaintRule: _narrow_rule,
    EditRollout: rollout_edit,
    records.RestartPods: _restart,
    ScaleDown: _scale_down,
    SetDeletionCost: _deletion_cost,
    records.TaintDevice: _taint,
    LabelNamespace: _label,
    LabelNode: _label_node,
    ClearSelectedNode: _selected_node,
    WidenTopology: _topology,
    MoveVolume: _volume,
    AddVolume: _add_volume,
    records.Uncordon: _uncordon,
    records.RaiseQuota: _quota,
    records.RaiseNominalQuota: _nominal_quota,
    records.RepairPool: _pool,
    records.AddDevices: _add,
    AddNode: _add_node,
}
