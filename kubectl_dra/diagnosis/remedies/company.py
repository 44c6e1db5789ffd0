"""Remedies for what other plugins ask beside devices: spreading, pods that it wants or avoids beside it, volumes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final

import msgspec

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import KeptAway, ObjectRef, Spread, TakenPorts, VolumeTrouble
from kubectl_dra.diagnosis.remedies.actions import LabelNode, RemoveLabel
from kubectl_dra.diagnosis.remedies.candidate import Candidate, Case, first_of, pod_edit
from kubectl_dra.diagnosis.remedies.changes import PodEdit, edit_object
from kubectl_dra.diagnosis.remedies.pod_edits import HOST_PORTS, REQUIRED, SPREAD, is_required
from kubectl_dra.diagnosis.remedies.records import (
    CreateObject,
    RemedyKind,
)
from kubectl_dra.model.core import Container, Node, Pod
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.likeness import similar
from kubectl_dra.model.names import HOSTNAME
from kubectl_dra.model.workloads import WorkloadObject
from kubectl_dra.scheduler.storage import VolumeReason

#: Which nodes count for a spread constraint.
_COUNT_COST: Final = 36
_SKEW_COST: Final = 37
_ANYWAY_COST: Final = 39
_TERM_COST: Final = 42
_LABEL_COST: Final = 40
_HASH: Final = "pod-template-hash"
_PORT_COST: Final = 40
_NAME_COST: Final = 24
_CREATE_COST: Final = 22
_PREFERRED: Final = "ScheduleAnyway"
_HONOR: Final = "Honor"
_LAST_PORT: Final = 65_535
_NODE_COST: Final = 45
#: So many values of a label are tried.
_VALUES: Final = 6


def candidates(case: Case) -> Iterator[Candidate]:
    for cause in case.causes(Code.SPREAD):
        if isinstance(cause.detail, Spread):
            yield from _spread(case, cause.detail)
            yield from _with_label(case, cause.detail, cause.nodes)
    for code, anti in ((Code.NO_COMPANY, False), (Code.UNWANTED_COMPANY, True)):
        if any(True for _ in case.causes(code)):
            yield from _terms(case, anti=anti)
    for cause in case.causes(Code.KEPT_AWAY):
        if isinstance(cause.detail, KeptAway):
            yield from _labels(case, cause.detail, cause.nodes)
    for cause in case.causes(Code.NODE_PORTS):
        if isinstance(cause.detail, TakenPorts) and not case.pod.spec.host_network:
            yield from _ports(case, cause.detail, cause.nodes)
    for cause in case.causes(Code.VOLUME_CLAIM):
        if not isinstance(cause.detail, VolumeTrouble):
            continue
        if cause.detail.reason == VolumeReason.CLAIM_MISSING:
            yield from _volume(case, cause.detail)
        elif cause.detail.reason == VolumeReason.CLASS_MISSING and cause.detail.about:
            ref = ObjectRef("StorageClass", "", cause.detail.about)
            yield Candidate(RemedyKind.CREATE_OBJECT, (CreateObject(ref),), _CREATE_COST)


# --- spreading --------------------------------------------------------------------------------------------------------


def _spread(case: Case, found: Spread) -> Iterator[Candidate]:
    """As uneven as it would become, or the constraint as a wish."""
    key = found.topology_key
    mine = [each for each in case.pod.spec.topology_spread_constraints if is_required(each, key)]
    if len(mine) != 1:
        return  # a default constraint, or several that can't be told apart
    if found.min_domains:
        least, fewer = str(found.min_domains), str(found.domains)
        yield pod_edit(case, f"{SPREAD}[{key}].minDomains", least, fewer, _SKEW_COST)
    if found.value and mine[0].node_taints_policy != _HONOR:
        yield pod_edit(case, f"{SPREAD}[{key}].nodeTaintsPolicy", mine[0].node_taints_policy or "", _HONOR, _COUNT_COST)
    if found.value:
        yield from _on_such_nodes(case, {key, HOSTNAME})
        skew = found.pods + 1 - found.fewest
        before = mine[0].max_skew
        if skew > before:
            yield pod_edit(case, f"{SPREAD}[{key}].maxSkew", str(before), str(skew), _SKEW_COST)
    yield pod_edit(case, f"{SPREAD}[{key}].whenUnsatisfiable", REQUIRED, _PREFERRED, _ANYWAY_COST)


def _on_such_nodes(case: Case, without: Collection[str]) -> Iterator[Candidate]:
    """Only nodes that have a label count, which all nodes with the devices have and no other.

    Upstream: nodes that the pod's node selector leaves out are no domains (nodeAffinityPolicy, by default Honor).
    """
    with_some = (
        group
        for group in case.diagnosis.nodes
        if group.devices_fit or any(each.funnel is not None and each.funnel.total for each in group.requests)
    )
    wanted, known = {name for group in with_some for name in group.nodes}, case.state.inventory.nodes
    labels = [set(known[name].metadata.labels.items()) for name in sorted(wanted) if name in known]
    others = {item for name, node in known.items() if name not in wanted for item in node.metadata.labels.items()}
    common = set.intersection(*labels) - others if labels else set()
    taken = {*without, *case.pod.spec.node_selector}
    new = [f"{key}={value}" for key, value in sorted(common) if key not in taken]
    yield from first_of(
        [pod_edit(case, f"nodeSelector[{each.partition('=')[0]}]", "", each, _COUNT_COST) for each in new[:_VALUES]]
    )


def _with_label(case: Case, found: Spread, nodes: tuple[str, ...]) -> Iterator[Candidate]:
    """A node with devices gets the label that it lacks, with the first value of other nodes with which the pod fits."""
    fitting = {name for group in case.diagnosis.nodes if group.devices_fit is not False for name in group.nodes}
    node = next((name for name in nodes if name in fitting), None)
    if found.value or node is None:
        return
    key, known = found.topology_key, case.state.inventory.nodes
    there = {each.metadata.labels[key] for each in known.values() if key in each.metadata.labels}
    values = [node] if key == HOSTNAME else sorted(there)[:_VALUES]
    yield from first_of([_labelled(node, key, value) for value in values])


def _labelled(node: str, key: str, value: str) -> Candidate:
    def change(old: Node) -> Node:
        labels = {**old.metadata.labels, key: value}
        return msgspec.structs.replace(old, metadata=msgspec.structs.replace(old.metadata, labels=labels))

    action = LabelNode(node, key, value)
    return Candidate(RemedyKind.LABEL_NODE, (action,), _NODE_COST, (edit_object("nodes", node, change),), only=(node,))


# --- affinity to pods -------------------------------------------------------------------------------------------------


def _terms(case: Case, *, anti: bool) -> Iterator[Candidate]:
    """Without one of the required terms."""
    affinity = case.pod.spec.affinity
    found = None if affinity is None else affinity.pod_anti_affinity if anti else affinity.pod_affinity
    name = "podAntiAffinity" if anti else "podAffinity"
    for index, term in enumerate(found.required_during_scheduling_ignored_during_execution if found else ()):
        yield pod_edit(case, f"affinity.{name}[{index}]", term.topology_key, "", _TERM_COST)


def _labels(case: Case, kept: KeptAway, nodes: tuple[str, ...]) -> Iterator[Candidate]:
    """Without a label that a term of other pods names, unless the pod's owner knows it by that label.

    Of a pod that has no node a label counts at once (upstream: plugins/interpodaffinity, isSchedulableAfterPodChange).
    """
    pod, owners = case.pod, case.owners.of(case.pod)
    if not all(owner.known for owner in owners):
        return
    selected = {key for owner in owners if owner.object for key in _selected(owner.object)}
    if _HASH in selected and owners[-1].ref.kind == "ReplicaSet":
        # A Deployment made it, whose own selector is not known.
        return
    for text in dict.fromkeys(text for term in kept.terms for text in term.labels):
        label, _, value = text.partition("=")
        if label not in selected:
            action = RemoveLabel(case.diagnosis.pod, label, value, case.workload)
            change = PodEdit(key_of(pod.metadata), _without_label(label))
            yield Candidate(RemedyKind.EDIT_POD, (action,), _LABEL_COST, (change,), only=nodes)


def _ports(case: Case, taken: TakenPorts, nodes: tuple[str, ...]) -> Iterator[Candidate]:
    """With other host ports, or none, in place of those taken; a pod on the host's network can't choose."""
    numbers = sorted({int(text.rpartition(":")[2].partition("/")[0]) for text in taken.ports})
    before, other = ",".join(map(str, numbers)), _free_ports(case, numbers, nodes)
    after = ",".join(str(other[number]) for number in numbers) if other else ""
    dropped = pod_edit(case, HOST_PORTS, before, "", _PORT_COST, nodes)
    if not other:
        yield dropped
        return
    moved = pod_edit(case, HOST_PORTS, before, after, _PORT_COST, nodes)
    yield from first_of([moved, dropped])


def _free_ports(case: Case, numbers: Sequence[int], nodes: Collection[str]) -> dict[int, int]:
    """For each port the next one that nobody has on any of the nodes, and the pod itself neither."""
    inventory = case.state.inventory
    names = frozenset(nodes)
    there = (pod for pod in inventory.pods.values() if pod.spec.node_name in names)
    used = {port.host_port for pod in (case.pod, *there) for each in _containers(pod) for port in each.ports}
    found: dict[int, int] = {}
    for number in numbers:
        free = (port for port in range(number + 1, _LAST_PORT + 1) if port not in used)
        if (port := next(free, None)) is None:
            return {}
        found[number] = port
        used.add(port)
    return found


def _containers(pod: Pod) -> tuple[Container, ...]:
    return (*pod.spec.init_containers, *pod.spec.containers)


def _selected(workload: WorkloadObject) -> Iterator[str]:
    selector = workload.spec.selector
    if selector is not None:
        yield from selector.match_labels
        yield from (each.key for each in selector.match_expressions)


def _without_label(label: str) -> Callable[[Pod], Pod]:
    def change(pod: Pod) -> Pod:
        labels = {key: value for key, value in pod.metadata.labels.items() if key != label}
        return msgspec.structs.replace(pod, metadata=msgspec.structs.replace(pod.metadata, labels=labels))

    return change


# --- volumes ----------------------------------------------------------------------------------------------------------


def _volume(case: Case, trouble: VolumeTrouble) -> Iterator[Candidate]:
    """Another claim of the namespace with a name like it, or a claim of that name."""
    if trouble.claim is None:
        return
    known = [key.name for key in case.state.inventory.storage.claims if key.namespace == trouble.claim.namespace]
    for name in similar(trouble.claim.name, known):
        yield pod_edit(case, f"volumes[{trouble.entry}]", trouble.claim.name, name, _NAME_COST)
    ref = ObjectRef("PersistentVolumeClaim", trouble.claim.namespace, trouble.claim.name)
    yield Candidate(RemedyKind.CREATE_OBJECT, (CreateObject(ref),), _CREATE_COST)
