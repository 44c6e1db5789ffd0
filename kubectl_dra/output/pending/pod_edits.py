"""Changes of a pod in words."""

from __future__ import annotations

from kubectl_dra.diagnosis.remedies.actions import RemoveLabel
from kubectl_dra.diagnosis.remedies.pod_edits import HOST_PORTS, INIT_ENTRY, POD_LEVEL, RUNTIME, in_brackets
from kubectl_dra.diagnosis.remedies.records import EditPod
from kubectl_dra.model.request_parts import GUARANTEED
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.words import counted, listed


def edit_pod(action: EditPod) -> Safe:
    """Another spec of the pod, or of the template that makes it."""
    how = fmt("in {} {}", action.workload.kind, action.workload.name) if action.workload else Safe("recreate the pod")
    if action.also:
        how = fmt("recreate {} of the group", counted(len(action.also) + 1, "pod"))
    return fmt("{} ({})", _pod_change(action), how)


def _pod_change(action: EditPod) -> Safe:
    name = action.field.partition("[")[0]
    if name == "schedulerName":
        return Safe("use the default scheduler")
    if name == RUNTIME and action.after:
        return fmt("use RuntimeClass {} instead of {}", action.after, action.before)
    if name == RUNTIME:
        return fmt("use no RuntimeClass instead of {}: containers get the node's default runtime", action.before)
    if name == HOST_PORTS:
        ports = action.before.split(",")
        if action.after:
            what = Safe("hostPort" if len(ports) == 1 else "hostPorts")
            return fmt("use {} {} instead of {}", what, listed(action.after.split(",")), listed(ports))
        return fmt("drop the {} {}", Safe("hostPort" if len(ports) == 1 else "hostPorts"), listed(ports))
    if name == "nodeName":
        return Safe("drop spec.nodeName, so that the scheduler places the pod and its claim")
    if name == "claims":
        return fmt("name {} under resources.claims of container {}", action.after, in_brackets(action.field))
    if name == "nodeSelector" and not action.before:
        return fmt("select {} in the pod's node selector: nodes without it do not count then", action.after)
    if name == "nodeSelector" and action.after:
        text = "select {} instead of {}={} in the pod's node selector"
        return fmt(text, action.after, in_brackets(action.field), action.before)
    if name == "nodeSelector":
        return fmt("drop {}={} from the pod's node selector", in_brackets(action.field), action.before)
    if name == "affinity.nodeAffinity":
        return Safe("drop the pod's required node affinity")
    if name.startswith("affinity.pod"):
        what = Safe("affinity" if name.endswith("podAffinity") else "anti-affinity")
        return fmt("drop the required pod {} over {}", what, action.before)
    if name == "topologySpreadConstraints":
        return _spread_change(action)
    if name == "volumes":
        return fmt('use PersistentVolumeClaim "{}" instead of "{}"', action.after, action.before)
    if name == "tolerations":
        return fmt("tolerate the node taint {} in the pod", action.after)
    if name.startswith("resourceClaims") or name == "resources.claim":
        return _entry_change(action, name)
    if name == "resources":
        return fmt("request {} instead of {}", action.after, action.before)
    if name in ("containers", "initContainers", POD_LEVEL):
        return _amount_change(action)
    change = fmt(" to {}", action.after) if action.after else Safe("")
    of_pod = Safe("" if action.field.startswith("spec.") else " of the pod")
    return fmt("change {}{}{}", action.field, of_pod, change)


def _entry_change(action: EditPod, name: str) -> Safe:
    """What a pod names as a claim."""
    if name == INIT_ENTRY:
        text = 'give init containers the devices of "{}", which is used after they end: drop the entry "{}"'
        return fmt(text, action.after, in_brackets(action.field))
    if name == "resourceClaims" and not action.after:
        return fmt('name ResourceClaim "{}" only once: drop the entry "{}"', action.before, in_brackets(action.field))
    if name.startswith("resourceClaims."):
        new, old = ("", "Template") if name.endswith(".claim") else ("Template", "")
        return fmt('name "{}" as resourceClaim{}Name, not as resourceClaim{}Name', action.after, Safe(new), Safe(old))
    if name == "resources.claim":
        return fmt("use a claim from it instead of {} in container {}", action.before, in_brackets(action.field))
    return fmt('name "{}" instead of "{}" in the pod', action.after, action.before)


def _amount_change(action: EditPod) -> Safe:
    """What the pod or one container requests, written there or the default of a LimitRange."""
    keeps = action.qos_class == GUARANTEED
    change = _requested(action, Safe("request and limit" if keeps else "request"))
    if keeps:
        return fmt("{}, so that the pod stays Guaranteed", change)
    return fmt("{}; it is then {}, no longer Guaranteed", change, action.qos_class) if action.qos_class else change


def _requested(action: EditPod, verb: Safe) -> Safe:
    inner = in_brackets(action.field)
    if action.field.startswith(POD_LEVEL):
        text = "{} {} {} instead of {} in the pod's own spec.resources"
        return fmt(text, verb, action.after, inner, action.before)
    kind = Safe("init container" if action.field.startswith("init") else "container")
    if ".resources.requests[" in action.field:
        container, _, resource = inner.partition("].resources.requests[")
        text = "{} {} {} in {} {}, in place of the default of {} from the LimitRange"
        return fmt(text, verb, action.after, resource, kind, container, action.before)
    container, _, resource = inner.partition("].resources[")
    if not action.after:
        return fmt("drop {} from {} {}, which has such a device by its claim", resource, kind, container)
    return fmt("{} {} {} instead of {} in {} {}", verb, action.after, resource, action.before, kind, container)


def remove_label(action: RemoveLabel) -> Safe:
    text = fmt("remove the label {}={} from the pod", action.label, action.value)
    if action.workload is None:
        return text
    return fmt("{}, and from the template in {} {}", text, action.workload.kind, action.workload.name)


def _spread_change(action: EditPod) -> Safe:
    key = action.field.partition("[")[2].rpartition("]")[0]
    if action.field.endswith("maxSkew"):
        return fmt("allow maxSkew {} instead of {} over {}", action.after, action.before, key)
    if action.field.endswith("minDomains"):
        return fmt("lower minDomains over {} from {} to {}", key, action.before, action.after)
    if action.field.endswith("nodeTaintsPolicy"):
        return fmt("count only nodes whose taints the pod tolerates over {} (nodeTaintsPolicy: Honor)", key)
    return fmt("spread over {} only where possible (ScheduleAnyway)", key)
