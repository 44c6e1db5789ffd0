"""Causes of nodes that a plugin before DynamicResources rejects: what it has against them.

What of a pod's requests nobody wrote: defaults of a LimitRange, the overhead of a RuntimeClass.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from kubectl_dra.allocation.input.nodes import NAME_FIELD
from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.explain.attempt import AlikeNodes, Rejection, each_of
from kubectl_dra.diagnosis.explain.company import wanted
from kubectl_dra.diagnosis.explain.pods_there import (
    FEW_NODES,
    matching,
    repelling_terms,
    spread_over,
    taken_together,
    with_most,
    with_ports,
    with_volumes,
)
from kubectl_dra.diagnosis.explain.volumes import volume_causes, volume_problems
from kubectl_dra.diagnosis.gates.pod_admission import (
    LIMIT_RANGE,
    LIMIT_RANGER,
    RUNTIME_CLASS,
    VERTICAL_AUTOSCALER,
    selected_by_runtime,
    sets_request,
)
from kubectl_dra.diagnosis.records import (
    AddedRequest,
    Cause,
    Company,
    ExtendedResource,
    KeptAway,
    LabelOnNodes,
    LargestRequest,
    MissingFeatures,
    NodeSelection,
    NodeShortage,
    NodeTaint,
    ObjectRef,
    PluginText,
    PodsThere,
    Spread,
    TakenPorts,
    VolumeTrouble,
)
from kubectl_dra.model.core import Pod
from kubectl_dra.model.likeness import similar
from kubectl_dra.model.names import HOSTNAME
from kubectl_dra.model.request_parts import maker_of
from kubectl_dra.model.requests import HostPort, amount
from kubectl_dra.model.taint_text import removes_node, taint_text
from kubectl_dra.model.terms import selector_text
from kubectl_dra.model.usage import is_terminal
from kubectl_dra.scheduler import in_tree, reasons
from kubectl_dra.scheduler.extended import served_resources
from kubectl_dra.scheduler.matching import Reach
from kubectl_dra.scheduler.plugins.inter_pod_affinity import Unmet
from kubectl_dra.scheduler.plugins.node_affinity import names_in_terms, required_terms
from kubectl_dra.scheduler.plugins.node_declared_features import Required
from kubectl_dra.scheduler.plugins.node_ports import port_text
from kubectl_dra.scheduler.plugins.pod_topology_spread import Skew
from kubectl_dra.scheduler.plugins.spread_constraints import SpreadConstraint
from kubectl_dra.scheduler.resource_names import is_extended_resource
from kubectl_dra.scheduler.storage import VolumeReason

_FILTER_CODES: Final = {
    "NodeName": Code.NODE_NAME,
    "NodeUnschedulable": Code.NODE_UNSCHEDULABLE,
    "TaintToleration": Code.NODE_TAINTS,
    "NodeAffinity": Code.NODE_AFFINITY,
    "NodePorts": Code.NODE_PORTS,
    "NodeResourcesFit": Code.NODE_RESOURCES,
}
_SIMILAR: Final = 2
#: Of more values, as of the names of many nodes, most look alike, and to compare them takes long for each pod.
_VALUES: Final = 500
#: ``KEY=VALUE``, ``KEY In [VALUE VALUE]`` and ``KEY Exists`` (scheduler/plugins/node_affinity.py, unmatched).
_WISH: Final = re.compile(
    r"(?P<key>[^= ]+)=(?P<value>[^ ]*)|(?P<of>[^= ]+) (?:In \[(?P<values>[^\]]*)\]|Exists)", re.DOTALL
)
OTHER_CODES: Final = {
    reasons.PluginSubject.NODES: Code.OTHER_PLUGIN,
    reasons.PluginSubject.VOLUMES: Code.VOLUMES,
    reasons.PluginSubject.TOPOLOGY: Code.TOPOLOGY,
    reasons.PluginSubject.OTHER: Code.OTHER_PLUGIN,
}
#: In which annotation the admission controller of VerticalPodAutoscalers tells what it has set, and its first words.
_VPA_UPDATES: Final = "vpaUpdates"
_UPDATED_BY: Final = "Pod resources updated by "
_SET: Final = re.compile(r"(?P<resources>[^;:]+) request for (?:init )?container (?P<name>[^;\s]+)")


def rejection_causes(
    state: ClusterState, pod: Pod, plugin: str, alike: Sequence[AlikeNodes], names: tuple[str, ...]
) -> Iterator[Cause]:
    """What a plugin has against nodes that it rejects for the same reason; ``names`` are those of all."""
    rejection = alike[0].result.rejection
    if rejection is None:
        detail = _no_such_node(state, pod) if plugin == "NodeAffinity" else None
        yield Cause(_FILTER_CODES[plugin], detail, nodes=names)
    elif rejection.taint is not None:
        yield Cause(Code.NODE_TAINTS, NodeTaint(taint_text(rejection.taint)), nodes=names)
    elif plugin == "NodeUnschedulable" and (leaving := _leaving(state, names)):
        yield Cause(Code.NODE_TAINTS, NodeTaint(leaving), nodes=names)
    elif rejection.ports:
        yield Cause(Code.NODE_PORTS, _taken(state, pod, rejection.ports, names), nodes=names)
    elif rejection.kept_away_by:
        yield Cause(Code.KEPT_AWAY, KeptAway(rejection.kept_away_by, repelling_terms(state, pod, names)), nodes=names)
    elif rejection.lacks:
        yield from _lacks(state, pod, alike, names)
    elif volume_problems(rejection.detail):
        for cause in volume_causes(rejection.detail, names):
            yield _with_world(state, pod, cause)
    elif rejection.named:
        yield Cause(_FILTER_CODES[plugin], _no_such_node(state, pod) or NodeSelection(rejection.unmatched), nodes=names)
    elif plugin in _FILTER_CODES:
        yield Cause(_FILTER_CODES[plugin], _selection(state, pod, rejection.unmatched), nodes=names)
    else:
        known = tuple(company_causes(state, pod, rejection.detail, names))
        yield from known or _in_their_words(rejection, names)


def _leaving(state: ClusterState, names: Sequence[str]) -> str:
    """The taint by which all of these cordoned nodes are being removed, which tells why nobody uncordons them."""
    nodes = state.inventory.nodes
    found = [next((each for each in nodes[name].spec.taints if removes_node(each.key)), None) for name in names]
    return taint_text(found[0]) if found and found[0] is not None and None not in found else ""


def _selection(state: ClusterState, pod: Pod, wishes: tuple[str, ...]) -> NodeSelection | None:
    """What of a pod's selector or affinity nodes do not match, and whether a RuntimeClass sets it."""
    if not wishes:
        return None
    runtime = {f"{key}={value}" for key, value in selected_by_runtime(state, pod).items()}
    by_runtime = tuple(each for each in wishes if each in runtime)
    name = (pod.spec.runtime_class_name or "") if by_runtime else ""
    return NodeSelection(wishes, tuple(nowhere(state, wishes)), by_runtime, name)


def _no_such_node(state: ClusterState, pod: Pod) -> NodeSelection | None:
    """A required affinity to nodes by their names, none of which exists; None for others."""
    wanted, known = names_in_terms(required_terms(pod)), state.inventory.nodes
    if not wanted or any(name in known for name in wanted) or not state.evidence.complete("Node"):
        return None
    near = dict.fromkeys(name for each in sorted(wanted) for name in _alike(each, known))
    wish = f"{NAME_FIELD} In [{' '.join(sorted(wanted))}]"
    return NodeSelection((wish,), (LabelOnNodes(NAME_FIELD, (), tuple(near)[:_SIMILAR], wish),))


def nowhere(state: ClusterState, wishes: Sequence[str]) -> Iterator[LabelOnNodes]:
    """Labels that no node has with a value that will do: of the node selector, and of terms of one requirement.

    ``wishes`` are written as NodeAffinity's ``unmatched`` does.
    """
    for wish in wishes:
        match = _WISH.fullmatch(wish)
        if match is None:
            continue
        label, wanted = match["key"] or match["of"], (match["values"] or "").split()
        wanted = wanted if match["value"] is None else [match["value"]]
        values = _labels(state).get(label, frozenset())
        if values if match["values"] is None and match["value"] is None else not values.isdisjoint(wanted):
            continue
        near = tuple(_near(label, wanted, _labels(state)))[:_SIMILAR]
        yield LabelOnNodes(label, tuple(sorted(filter(None, values))), near, wish)


def _alike(value: str, known: Collection[str]) -> tuple[str, ...]:
    return similar(value, known) if len(known) <= _VALUES else ()


@derived("nodes")
def _labels(state: ClusterState) -> Mapping[str, frozenset[str]]:
    """The values of every label of any node."""
    found: dict[str, set[str]] = {}
    for node in state.inventory.nodes.values():
        for label, value in node.metadata.labels.items():
            found.setdefault(label, set()).add(value)
    return {label: frozenset(values) for label, values in found.items()}


def _near(label: str, wanted: Sequence[str], found: Mapping[str, frozenset[str]]) -> Iterator[str]:
    """Another value of the label, or another label with a value that is wanted."""
    if label in found:
        yield from dict.fromkeys(f"{label}={near}" for value in wanted for near in _alike(value, found[label]))
        return
    domain, _, name = label.rpartition("/")
    alike = similar(name, {key.rpartition("/")[2] for key in found if key.rpartition("/")[0] == domain})
    # In the same domain, or by the same name in another one.
    keys = [f"{domain}/{each}" if domain else each for each in alike]
    keys += sorted(key for key in found if key != label and key.rpartition("/")[2] == name)
    for key in keys:
        values = sorted(found[key])
        yield from (f"{key}={value}" for value in values if value in wanted or (not wanted and len(values) == 1))


def _in_their_words(rejection: Rejection, names: tuple[str, ...]) -> Iterator[Cause]:
    code = OTHER_CODES[reasons.kind_of(rejection.plugin)]
    return (Cause(code, PluginText(rejection.plugin, text), nodes=names) for text in rejection.texts)


def _taken(state: ClusterState, pod: Pod, ports: Sequence[HostPort], names: Sequence[str]) -> TakenPorts:
    return TakenPorts(tuple(map(port_text, ports)), with_ports(state, pod, ports, names))


def _with_world(state: ClusterState, pod: Pod, cause: Cause) -> Cause:
    """With whose volumes are there, where a node has no room for another; or whether a node that matters is gone."""
    trouble = cause.detail
    if isinstance(trouble, VolumeTrouble) and trouble.reason == VolumeReason.OTHER_NODE_SELECTED:
        gone = trouble.about not in state.inventory.nodes and state.evidence.complete("Node")
        users = tuple(_users_there(state, trouble))
        return msgspec.structs.replace(cause, detail=msgspec.structs.replace(trouble, gone=gone, users=users))
    if isinstance(trouble, VolumeTrouble) and trouble.reason == VolumeReason.VOLUME_UNREACHABLE:
        gone = state.evidence.complete("Node") and _reaches_none(state, trouble.volume)
        return msgspec.structs.replace(cause, detail=msgspec.structs.replace(trouble, gone=gone))
    if not isinstance(trouble, VolumeTrouble) or trouble.reason != VolumeReason.TOO_MANY:
        return cause
    by = with_volumes(state, pod, trouble.about, cause.nodes[0])
    return msgspec.structs.replace(cause, detail=msgspec.structs.replace(trouble, by=by))


def _reaches_none(state: ClusterState, name: str) -> bool:
    """Whether a volume is that of nodes by their names, and there is none of these; a new one may come into a zone."""
    volume = state.inventory.storage.volumes.get(name)
    if volume is None:
        return False
    reach = Reach.of(volume)
    if {HOSTNAME} != set(reach.labels()) or reach.places() is None or in_tree.plugin_of(volume.spec) is not None:
        return False
    return not any(reach.includes(each.metadata.labels) for each in state.inventory.nodes.values())


def _users_there(state: ClusterState, trouble: VolumeTrouble) -> Iterator[str]:
    """The pods for which a claim's volume is made on the node that was selected."""
    claim = trouble.claim
    for key, pod in state.inventory.pods.items():
        if claim is None or key.namespace != claim.namespace or pod.spec.node_name != trouble.about or is_terminal(pod):
            continue
        named = (each.persistent_volume_claim for each in pod.spec.volumes)
        if any(each is not None and each.claim_name == claim.name for each in named):
            yield str(key)


def _lacks(state: ClusterState, pod: Pod, alike: Sequence[AlikeNodes], names: tuple[str, ...]) -> Iterator[Cause]:
    kinds = [(each, each.result.rejection.lacks) for each in alike if each.result.rejection is not None]
    for position, lack in enumerate(kinds[0][1]):
        if is_extended_resource(lack.resource) or "/" in lack.resource:
            unserved = _unserved(state, lack.resource)
            if unserved is not None:
                yield Cause(Code.EXTENDED_RESOURCE_UNSERVED, unserved, nodes=names)
                continue
        first, lacks = min(kinds, key=lambda pair: pair[1][position].excess)
        name, closest = first.nodes[0].metadata.name, lacks[position]
        by = with_most(state, pod, lack.resource, name) if len(names) == 1 else ()
        taken: tuple[ObjectRef, ...] = ()
        if len(names) <= FEW_NODES:
            each = ((node, result.rejection) for node, result in each_of(alike))
            excess = {node.metadata.name: its.lacks[position].excess for node, its in each if its is not None}
            taken = taken_together(state, pod, lack.resource, excess)
        less = len({own[position].excess for _, own in kinds}) > 1
        added = tuple(added_requests(state, pod, lack.resource))
        maker = maker_of(pod, lack.resource)
        largest = LargestRequest(maker.field, maker.container, maker.amount) if maker is not None else None
        amounts = closest.requested, closest.used, closest.allocatable
        detail = NodeShortage(lack.resource, *amounts, name, by, taken, others_less=less, added=added, largest=largest)
        yield Cause(Code.NODE_RESOURCES, detail, nodes=names)


def _unserved(state: ClusterState, resource: str) -> ExtendedResource | None:
    """The resource, if neither a class nor any node offers it."""
    if resource in served_resources(state):
        return None
    if any(resource in node.status.allocatable for node in state.inventory.nodes.values()):
        return None
    return ExtendedResource(resource, similar=similar(resource, served_resources(state)))


def company_causes(state: ClusterState, pod: Pod, detail: object, nodes: tuple[str, ...]) -> Iterator[Cause]:
    """One cause for each thing that is in the way; none where the detail is another plugin's."""
    match detail:
        case Skew():
            by = spread_over(state, pod, detail.constraint, nodes[0])
            yield Cause(Code.SPREAD, _spread(detail, by), nodes=nodes)
        case SpreadConstraint():
            yield Cause(Code.SPREAD, Spread(detail.topology_key, selector_text(detail.selector)), nodes=nodes)
        case Unmet():
            code = Code.UNWANTED_COMPANY if detail.anti else Code.NO_COMPANY
            for term in detail.terms:
                found = Company(term.topology_key, selector_text(term.selector))
                if detail.anti:
                    found = msgspec.structs.replace(found, by=matching(state, pod, term, nodes))
                else:
                    found = wanted(state, pod, term, found)
                yield Cause(code, found, nodes=nodes)
        case Required():
            yield Cause(Code.NODE_FEATURES, MissingFeatures(detail.features), nodes=nodes)


def _spread(skew: Skew, by: tuple[PodsThere, ...]) -> Spread:
    constraint = skew.constraint
    selector = selector_text(constraint.selector)
    found = Spread(constraint.topology_key, selector, skew.value, skew.count, skew.fewest, constraint.max_skew, by=by)
    if skew.domains is None:
        return found
    return msgspec.structs.replace(found, min_domains=constraint.min_domains, domains=skew.domains)


def added_requests(state: ClusterState, pod: Pod, resource: str) -> Iterator[AddedRequest]:
    """What admission put into a pod of what it requests of a resource, as the pod itself tells."""
    requested = {each.name: each.resources.requests for each in (*pod.spec.containers, *pod.spec.init_containers)}
    for found in _SET.finditer(pod.metadata.annotations.get(LIMIT_RANGER, "").partition(":")[2]):
        quantity = requested.get(found["name"], {}).get(resource)
        if quantity is not None and resource in found["resources"].strip().split(", "):
            yield AddedRequest(
                LIMIT_RANGE, _limit_range(state, pod, resource), amount(resource, quantity), found["name"]
            )
    yield from _by_autoscaler(pod, resource)
    if (overhead := pod.spec.overhead.get(resource)) is not None:
        yield AddedRequest(RUNTIME_CLASS, pod.spec.runtime_class_name or "", amount(resource, overhead))


def _by_autoscaler(pod: Pod, resource: str) -> Iterator[AddedRequest]:
    """What a VerticalPodAutoscaler has set (upstream: its admission-controller, resource_updates.go)."""
    name, _, updates = pod.metadata.annotations.get(_VPA_UPDATES, "").removeprefix(_UPDATED_BY).partition(": ")
    for index, container in enumerate(pod.spec.containers):
        quantity = container.resources.requests.get(resource)
        mine = next((each for each in updates.split("; ") if each.startswith(f"container {index}: ")), "")
        if quantity is not None and f"{resource} request" in mine.partition(": ")[2].split(", "):
            yield AddedRequest(VERTICAL_AUTOSCALER, name, amount(resource, quantity), container.name)


def _limit_range(state: ClusterState, pod: Pod, resource: str) -> str:
    """The LimitRange that has a default; empty where none is known, or several may be it."""
    ranges = state.inventory.limit_ranges.items()
    own = [key.name for key, each in ranges if key.namespace == pod.metadata.namespace and sets_request(each, resource)]
    return own[0] if len(own) == 1 else ""
