"""What could not be read although it decides, which right would give it, and what that makes of numbers.

Missing rights never turn into zero: unseen claims and taint rules mean that fewer devices may be free, unseen pods that
fewer nodes may have room.

Kinds of which everything that a pod names is known: what else could not be read of them changes nothing for it. A class
that somebody may not list can stand in a file that is given beside the cluster.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Final

from kubectl_dra.api.kinds import RESOURCE_CLAIM_TEMPLATE
from kubectl_dra.api.queues import unread_coverage
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.gates.queues import HeldBy, Queued
from kubectl_dra.diagnosis.pod import needs
from kubectl_dra.diagnosis.records import Bound, Certainty, Missing, NodeGroup, NodeOutcome, RbacRule
from kubectl_dra.model.core import Pod
from kubectl_dra.model.evidence import Coverage, Evidence
from kubectl_dra.model.forms import class_names
from kubectl_dra.model.gang_objects import KINDS as GANG_KINDS
from kubectl_dra.model.gang_objects import GangObjects
from kubectl_dra.model.gang_objects import qualified as qualified_gang
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import group_key
from kubectl_dra.model.podneeds import is_spread
from kubectl_dra.model.queues import GROUP, KINDS, QueueObjects, qualified
from kubectl_dra.model.resource import ResourceClaimSpec
from kubectl_dra.scheduler.claims import resolve, sources
from kubectl_dra.scheduler.extended import asked

DEVICE_CLASS: Final = "DeviceClass"


def missing(evidence: Evidence, wanted: Iterable[needs.Need], namespace: str) -> tuple[Missing, ...]:
    """Those of ``wanted`` that are not complete; namespaced ones that only explain are wanted in ``namespace`` only."""
    found = []
    for need in wanted:
        scope = "" if need.cluster_wide else namespace
        if not evidence.complete(need.kind, scope):
            found.append(lacking(evidence, need, scope))
    return tuple(found)


def of_spreading(evidence: Evidence, pod: Pod, groups: Iterable[NodeGroup]) -> tuple[Missing, ...]:
    """Services, if they were refused: of several nodes that fit, one with few pods of the same Service is the best."""
    namespace = pod.metadata.namespace
    fitting = sum(len(group.nodes) for group in groups if group.outcome is NodeOutcome.FITS)
    if fitting < 2 or not is_spread(pod) or evidence.coverage("Service", namespace) is Coverage.NOT_READ:
        return ()
    return missing(evidence, needs.SPREADING, namespace)


def of_the_choice(evidence: Evidence, pod: Pod) -> Missing | None:
    """Services, if they are not known and tell which of several nodes that fit the scheduler takes."""
    namespace = pod.metadata.namespace
    (need,) = needs.SPREADING
    if not is_spread(pod) or evidence.complete(need.kind, namespace):
        return None
    return lacking(evidence, need, namespace)


def missing_of_kueue(found: Queued, objects: QueueObjects, namespace: str) -> Iterator[Missing]:
    """What of Kueue could not be read, and the rights that would give it; it decides where nothing else told."""
    for kind in found.unread:
        plural, namespaced = KINDS[kind]
        where = namespace if namespaced else ""
        rule = RbacRule(GROUP, plural, needs.READING, where)
        coverage = unread_coverage(objects, kind, Coverage.NOT_READ)
        yield Missing(qualified(kind), coverage.value, rule, where, found.held_by is HeldBy.UNKNOWN)


def missing_of_gangs(objects: GangObjects, groups: Iterable[str], namespace: str) -> Iterator[Missing]:
    """What of the gangs of other schedulers may not be read, and the rights that would give it."""
    for group in groups:
        for kind, (plural, namespaced) in GANG_KINDS[group].items():
            name, where = qualified_gang(group, kind), namespace if namespaced else ""
            if name in objects.refused:
                rule = RbacRule(group, plural, needs.READING, where)
                yield Missing(name, unread_coverage(objects, name, Coverage.FORBIDDEN).value, rule, where, False)


def lacking(evidence: Evidence, need: needs.Need, namespace: str) -> Missing:
    """What is missing of one kind in ``namespace`` (empty: in the cluster), and where it was read all the same."""
    coverage = evidence.coverage(need.kind, namespace)
    read_in = () if namespace else evidence.namespaces_read(need.kind)
    user = evidence.refused_user if coverage is Coverage.FORBIDDEN else ""
    reason = evidence.reason_refused(need.kind, namespace) if user else ""
    return Missing(need.kind, coverage.value, need.rule(namespace), namespace, need.decides, read_in, user, reason)


def certainty(evidence: Evidence, known: Collection[str] = ()) -> Certainty:
    """What counts of devices and nodes are worth. Of ``known`` kinds all that is named was read."""
    nodes = evidence.complete("Node")
    devices = _devices(evidence, known)
    free = all(map(evidence.complete, ("ResourceClaim", "DeviceTaintRule")))
    return Certainty(
        devices=devices,
        free_devices=Bound.UNKNOWN if devices is not Bound.EXACT else Bound.EXACT if free else Bound.AT_MOST,
        nodes=Bound.UNKNOWN if not nodes else Bound.EXACT if evidence.complete("Pod") else Bound.AT_MOST,
    )


def _devices(evidence: Evidence, known: Collection[str]) -> Bound:
    """Devices of a class: without the class nobody knows which they are."""
    if "DeviceClass" not in known and not evidence.complete("DeviceClass"):
        return Bound.UNKNOWN
    match evidence.coverage("ResourceSlice"):
        case Coverage.PARTIAL:
            return Bound.AT_LEAST
        case _ if evidence.complete("ResourceSlice"):
            return Bound.EXACT
    return Bound.UNKNOWN


def kinds_known(state: ClusterState, pod: Pod) -> frozenset[str]:
    """DeviceClass and ResourceClaimTemplate, as far as all that the pod names of them are in the Inventory.

    Nothing where both were read as a whole. What the other pods of its group name is not asked, and of extended
    resources any class may be the one behind them.
    """
    kinds = (DEVICE_CLASS, RESOURCE_CLAIM_TEMPLATE.name)
    if group_key(pod) is not None or all(map(state.evidence.complete, kinds)):
        return frozenset()
    specs, found = list(_specs(state, pod)), set[str]()
    templates = [template for entry in pod.spec.resource_claims if (template := sources(entry)[1]) is not None]
    if templates and all(Key(pod.metadata.namespace, name) in state.inventory.templates for name in templates):
        found.add(RESOURCE_CLAIM_TEMPLATE.name)
    served = state.features.extended_resource and asked(pod)
    if specs and not served and all(spec is not None and _has_classes(state, spec) for spec in specs):
        found.add(DEVICE_CLASS)
    return frozenset(found)


def _specs(state: ClusterState, pod: Pod) -> Iterator[ResourceClaimSpec | None]:
    """Of each claim that it has or gets; None where that could not be read."""
    for entry in resolve(state.inventory, state.evidence, state.features, pod):
        template = state.inventory.templates.get(Key(pod.metadata.namespace, entry.template or ""))
        if entry.claim is not None:
            yield entry.claim.spec
        elif entry.problem is not None:
            yield template.spec.spec if template is not None else None


def _has_classes(state: ClusterState, spec: ResourceClaimSpec) -> bool:
    return all(name in state.inventory.classes for name in class_names(spec))
