"""What an edit of a pod means for its spec: one row for each field that :class:`EditPod` may name.

The same rows change the pod that is tried and the template that makes it, which does not have what admission adds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from kubectl_dra.diagnosis.remedies.records import EditPod
from kubectl_dra.model.affinity import TopologySpreadConstraint
from kubectl_dra.model.core import (
    Container,
    ContainerClaim,
    ContainerPort,
    Pod,
    PodResourceClaim,
    PodResourceClaimStatus,
    PodSpec,
    ResourceRequirements,
    Toleration,
)
from kubectl_dra.model.names import DEFAULT_SCHEDULER
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.request_parts import GUARANTEED
from kubectl_dra.model.requests import is_overcommitted
from kubectl_dra.model.volumes import Volume

#: How constraints are spoken of in ``EditPod.field``.
SPREAD: Final = "topologySpreadConstraints"
REQUIRED: Final = "DoNotSchedule"
#: All host ports that are changed, or dropped, are one edit.
HOST_PORTS: Final = "hostPorts"
#: What a pod requests as a whole, whatever its containers do.
POD_LEVEL: Final = "resources.requests"
#: In brackets the labels that the present class put into the node selector.
RUNTIME: Final = "runtimeClassName"
#: What the pod and a new claim call devices that were an extended resource.
ENTRY: Final = "devices"
#: An entry of claims that only init containers use, in place of which they use another one.
INIT_ENTRY: Final = "resourceClaims.init"
Amounts = dict[str, Quantity]


def in_brackets(field: str) -> str:
    """``gpu`` of ``resourceClaims[gpu]``."""
    return field.partition("[")[2].removesuffix("]")


def lowers(action: EditPod) -> bool:
    """Whether it is the amount of what a container or the pod requests that changes."""
    return bool(action.after) and _EDITS[action.field.partition("[")[0]] in (_amount, _amount_of_pod)


def edited(spec: PodSpec, action: EditPod) -> PodSpec:
    """The spec with the edit; the same where it has nothing of what is edited."""
    return _EDITS[action.field.partition("[")[0]](spec, action)


def applied(action: EditPod) -> Callable[[Pod], Pod]:
    return lambda pod: replace(pod, spec=edited(pod.spec, action))


def naming(action: EditPod, entry: str, made: str = "") -> Callable[[Pod], Pod]:
    """The pod with another source of one of its claims; ``made``: the claim that was made from a template."""

    def edit(pod: Pod) -> Pod:
        statuses = tuple(each for each in pod.status.resource_claim_statuses if each.name != entry)
        status = replace(pod.status, resource_claim_statuses=statuses)
        if made:
            statuses = (*statuses, PodResourceClaimStatus(name=entry, resource_claim_name=made))
            # Nothing was said of the pod that is made anew.
            status = replace(status, resource_claim_statuses=statuses, conditions=())
        return replace(applied(action)(pod), status=status)

    return edit


def toleration(taint: str) -> Toleration:
    head, _, effect = taint.rpartition(":")
    key, _, value = head.partition("=")
    return Toleration(key, "Equal" if value else "Exists", value, effect)


# --- where pods go ----------------------------------------------------------------------------------------------------


def _scheduler(spec: PodSpec, action: EditPod) -> PodSpec:
    return replace(spec, scheduler_name=action.after or DEFAULT_SCHEDULER) if spec.scheduler_name else spec


def _unplaced(spec: PodSpec, _action: EditPod) -> PodSpec:
    return replace(spec, node_name="")


def _label(spec: PodSpec, action: EditPod) -> PodSpec:
    """Without a label of the node selector, or with another one (``KEY=VALUE``) in its place; with one more."""
    key, (instead, _, value) = in_brackets(action.field), action.after.partition("=")
    if key not in spec.node_selector and action.before:
        return spec
    kept = {k: v for k, v in spec.node_selector.items() if k != key}
    return replace(spec, node_selector={**kept, instead: value} if action.after else kept)


def _anywhere(spec: PodSpec, _action: EditPod) -> PodSpec:
    """Without the required node affinity; what it wishes, and what it asks of other pods, stays."""
    affinity = spec.affinity
    if affinity is None or affinity.node_affinity is None:
        return spec
    node = replace(affinity.node_affinity, required_during_scheduling_ignored_during_execution=None)
    return replace(spec, affinity=replace(affinity, node_affinity=node))


def _without_term(spec: PodSpec, action: EditPod) -> PodSpec:
    """Without one of the required terms about other pods."""
    anti, index = action.field.startswith("affinity.podAnti"), int(in_brackets(action.field))
    affinity = spec.affinity
    old = None if affinity is None else affinity.pod_anti_affinity if anti else affinity.pod_affinity
    if affinity is None or old is None:
        return spec
    terms = old.required_during_scheduling_ignored_during_execution
    kept = (*terms[:index], *terms[index + 1 :])
    new = replace(old, required_during_scheduling_ignored_during_execution=kept)
    return replace(spec, affinity=replace(affinity, **{"pod_anti_affinity" if anti else "pod_affinity": new}))


def is_required(constraint: TopologySpreadConstraint, key: str) -> bool:
    """Whether a constraint of the key keeps pods off nodes."""
    return (constraint.topology_key, constraint.when_unsatisfiable) == (key, REQUIRED)


_SPREAD_FIELDS: Final = {
    "maxSkew": "max_skew",
    "minDomains": "min_domains",
    "whenUnsatisfiable": "when_unsatisfiable",
    "nodeTaintsPolicy": "node_taints_policy",
}


def _spread(spec: PodSpec, action: EditPod) -> PodSpec:
    key, _, field = action.field.partition("[")[2].rpartition("].")
    other = {_SPREAD_FIELDS[field]: int(action.after) if action.after.isdecimal() else action.after}
    constraints = tuple(
        replace(each, **other) if is_required(each, key) else each for each in spec.topology_spread_constraints
    )
    return replace(spec, topology_spread_constraints=constraints)


def _tolerating(spec: PodSpec, action: EditPod) -> PodSpec:
    return replace(spec, tolerations=(*spec.tolerations, toleration(action.after)))


def _runtime(spec: PodSpec, action: EditPod) -> PodSpec:
    """Another RuntimeClass, and nothing of what the former one has put into a pod."""
    labels = in_brackets(action.field).split(",")
    kept = {key: value for key, value in spec.node_selector.items() if key not in labels}
    return replace(spec, runtime_class_name=action.after or None, overhead={}, node_selector=kept)


# --- what containers have ---------------------------------------------------------------------------------------------


def _in_containers(spec: PodSpec, edit: Callable[[Container], Container], only: str = "") -> PodSpec:
    """Changed containers and init containers, or one of them: a name is there once in both lists."""

    def edited(containers: tuple[Container, ...]) -> tuple[Container, ...]:
        return tuple(edit(each) if only in ("", each.name) else each for each in containers)

    return replace(spec, containers=edited(spec.containers), init_containers=edited(spec.init_containers))


def _with_amounts(spec: PodSpec, edit: Callable[[Amounts], Amounts], only: str = "") -> PodSpec:
    return _in_containers(spec, lambda each: replace(each, resources=_amounts(each.resources, edit)), only)


def _amounts(old: ResourceRequirements, edit: Callable[[Amounts], Amounts]) -> ResourceRequirements:
    return replace(old, requests=edit(old.requests), limits=edit(old.limits))


def _renamed(spec: PodSpec, action: EditPod) -> PodSpec:
    """Another resource's name in all containers."""

    def edit(amounts: Amounts) -> Amounts:
        return {action.after if name == action.before else name: amount for name, amount in amounts.items()}

    return _with_amounts(spec, edit)


def _amount(spec: PodSpec, action: EditPod) -> PodSpec:
    """Another amount of a resource of one container, or none of it.

    The limit is lowered with the request only where they have to be equal, or the pod stays Guaranteed by that.
    ``requests`` alone in the field where nobody wrote one: it takes the place of a LimitRange's default.
    """
    after = Quantity.parse(action.after) if action.after else None
    only, of_default, resource = in_brackets(action.field).partition("].resources.requests[")
    if not of_default:
        only, _, resource = in_brackets(action.field).partition("].resources[")
    if after is None or not (of_default or is_overcommitted(resource)):
        return _with_amounts(spec, _having(resource, after), only)
    amounts, keeps = {resource: after}, action.qos_class == GUARANTEED

    def one(old: ResourceRequirements) -> ResourceRequirements:
        if of_default:
            old = replace(old, requests={**old.requests, **amounts})
        return _requested(old, amounts, keeps)

    return _in_containers(spec, lambda each: replace(each, resources=one(each.resources)), only)


def _amount_of_pod(spec: PodSpec, action: EditPod) -> PodSpec:
    """Another amount of cpu or memory that the pod requests as a whole; its limit stays, if that may be higher."""
    if spec.resources is None:
        return spec
    amounts = {in_brackets(action.field): Quantity.parse(action.after)}
    return replace(spec, resources=_requested(spec.resources, amounts, action.qos_class == GUARANTEED))


def _requested(old: ResourceRequirements, amounts: Amounts, limited: bool) -> ResourceRequirements:
    """Another request beside the same limit, or the same one. Who wrote a limit alone has requested as much."""
    if not any(amounts.keys() & each.keys() for each in (old.requests, old.limits)):
        return old
    alone = limited and not amounts.keys() & old.requests.keys()
    requests = old.requests if alone else {**old.requests, **amounts}
    return replace(old, requests=requests, limits={**old.limits, **amounts} if limited else old.limits)


def _having(resource: str, after: Quantity | None) -> Callable[[Amounts], Amounts]:
    def edit(amounts: Amounts) -> Amounts:
        changed = {name: after if name == resource else each for name, each in amounts.items()}
        return {name: each for name, each in changed.items() if each is not None}

    return edit


def _ports(spec: PodSpec, action: EditPod) -> PodSpec:
    """Containers' ports with other host ports in place of some numbers, or without."""
    before = list(map(int, action.before.split(",")))
    after = list(map(int, action.after.split(","))) if action.after else [0] * len(before)
    other = dict(zip(before, after, strict=True))

    def port(old: ContainerPort) -> ContainerPort:
        return replace(old, host_port=other.get(old.host_port, old.host_port))

    def one(container: Container) -> Container:
        return replace(container, ports=tuple(map(port, container.ports)))

    return _in_containers(spec, one)


# --- claims and volumes -----------------------------------------------------------------------------------------------


def _claim_named(spec: PodSpec, action: EditPod) -> PodSpec:
    """An entry of the pod's claims that a container names."""
    return _in_containers(spec, lambda each: _claiming(each, action.after), in_brackets(action.field))


def _claiming(container: Container, entry: str) -> Container:
    resources = container.resources
    return replace(container, resources=replace(resources, claims=(*resources.claims, ContainerClaim(entry))))


def _claim_instead(spec: PodSpec, action: EditPod) -> PodSpec:
    """A claim made from a template in place of an extended resource of one container."""

    def one(container: Container) -> Container:
        old = container.resources
        if action.before not in old.requests and action.before not in old.limits:
            return container
        requests, limits = (
            {name: amount for name, amount in each.items() if name != action.before}
            for each in (old.requests, old.limits)
        )
        return _claiming(replace(container, resources=replace(old, requests=requests, limits=limits)), ENTRY)

    changed = _in_containers(spec, one, in_brackets(action.field))
    entry = PodResourceClaim(ENTRY, resource_claim_template_name=action.after)
    return spec if changed == spec else replace(changed, resource_claims=(*spec.resource_claims, entry))


def _entry(spec: PodSpec, action: EditPod, edit: Callable[[PodResourceClaim], PodResourceClaim]) -> PodSpec:
    name = in_brackets(action.field)
    return replace(
        spec, resource_claims=tuple(edit(each) if each.name == name else each for each in spec.resource_claims)
    )


def _name_in_entry(spec: PodSpec, action: EditPod) -> PodSpec:
    """Another name in an entry, or without the entry."""
    if not action.after:
        return _dropped_entry(spec, action)

    def edit(entry: PodResourceClaim) -> PodResourceClaim:
        if entry.resource_claim_template_name is not None:
            return replace(entry, resource_claim_template_name=action.after)
        return replace(entry, resource_claim_name=action.after)

    return _entry(spec, action, edit)


def _claim_in_entry(spec: PodSpec, action: EditPod) -> PodSpec:
    return _entry(spec, action, lambda entry: PodResourceClaim(entry.name, resource_claim_name=action.after))


def _template_in_entry(spec: PodSpec, action: EditPod) -> PodSpec:
    return _entry(spec, action, lambda entry: PodResourceClaim(entry.name, resource_claim_template_name=action.after))


def _dropped_entry(spec: PodSpec, action: EditPod) -> PodSpec:
    """An entry whose place another one takes (``after``: which, else the one that names the same claim)."""
    name, entries = in_brackets(action.field), spec.resource_claims
    other = action.after or next(
        (e.name for e in entries if e.name != name and e.resource_claim_name == action.before), ""
    )

    def resources(old: ResourceRequirements) -> ResourceRequirements:
        named = (replace(claim, name=other) if claim.name == name else claim for claim in old.claims)
        return replace(old, claims=tuple(dict.fromkeys(named)))

    def one(container: Container) -> Container:
        return replace(container, resources=resources(container.resources))

    return replace(
        _in_containers(spec, one),
        resource_claims=tuple(entry for entry in entries if entry.name != name),
    )


def _volume(spec: PodSpec, action: EditPod) -> PodSpec:
    """Another PersistentVolumeClaim in a volume."""

    def one(volume: Volume) -> Volume:
        source = volume.persistent_volume_claim
        if volume.name != in_brackets(action.field) or source is None:
            return volume
        return replace(volume, persistent_volume_claim=replace(source, claim_name=action.after))

    return replace(spec, volumes=tuple(map(one, spec.volumes)))


_EDITS: Final[dict[str, Callable[[PodSpec, EditPod], PodSpec]]] = {
    "schedulerName": _scheduler,
    "nodeName": _unplaced,
    "nodeSelector": _label,
    "affinity.nodeAffinity": _anywhere,
    "affinity.podAffinity": _without_term,
    "affinity.podAntiAffinity": _without_term,
    SPREAD: _spread,
    "tolerations": _tolerating,
    RUNTIME: _runtime,
    "resources": _renamed,
    "containers": _amount,
    "initContainers": _amount,
    POD_LEVEL: _amount_of_pod,
    HOST_PORTS: _ports,
    "claims": _claim_named,
    "resources.claim": _claim_instead,
    "resourceClaims": _name_in_entry,
    "resourceClaims.claim": _claim_in_entry,
    "resourceClaims.template": _template_in_entry,
    INIT_ENTRY: _dropped_entry,
    "volumes": _volume,
}
