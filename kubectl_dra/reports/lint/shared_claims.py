"""A ResourceClaim that all replicas of a workload share, although they have to be on several nodes, or are too many.

The devices of a claim are allocated once, for all pods that name it, and those of a node are used there only (upstream:
plugins/dynamicresources, Filter). Replicas that may be on one node share a claim rightly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from kubectl_dra.api.planned import Planned, PodPlan
from kubectl_dra.api.workloads.expand import CountSource
from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.affinity import PodAffinityTerm
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.names import HOSTNAME
from kubectl_dra.model.resource import ResourceClaim
from kubectl_dra.model.terms import requirements_of, selects
from kubectl_dra.reports.lint.objects import UnplacedFinding
from kubectl_dra.reports.lint.records import Rule

#: Upstream: pkg/apis/resource/types.go, ResourceClaimReservedForMaxSize.
_MOST_USERS: Final = 256


def shared_claim_findings(
    planned: Planned, claims: dict[Key, ResourceClaim], devices: ClusterState | None
) -> Iterator[UnplacedFinding]:
    """One finding per claim; claims that are not among the files may be of any kind."""
    for plan in planned.pods:
        number = plan.copies
        if number is not None and number < 2:
            continue
        for name in _named(plan.pod):
            claim = claims.get(Key(plan.pod.metadata.namespace, name))
            if claim is None or _is_not_exclusive(claim):
                continue
            if number is not None and number > _MOST_USERS:
                text = f'{number} pods share ResourceClaim "{name}", which at most {_MOST_USERS} pods can use'
                yield UnplacedFinding(Rule.SHARED_CLAIM, text, "spec")
            elif (why := _apart(plan)) and not _from_anywhere(devices):
                pods = f"{number} pods" if number is not None else "all pods"
                text = f'{pods} share ResourceClaim "{name}" and so the node of its devices, but {why}'
                yield UnplacedFinding(Rule.SHARED_CLAIM, text, "spec")


def _named(pod: Pod) -> Iterable[str]:
    return dict.fromkeys(each.resource_claim_name for each in pod.spec.resource_claims if each.resource_claim_name)


def _is_not_exclusive(claim: ResourceClaim) -> bool:
    """Whether all its requests are for admin access, which takes no device from anybody."""
    exactly = [each.exactly for each in claim.spec.devices.requests]
    return all(each is not None and each.admin_access for each in exactly)


def _from_anywhere(devices: ClusterState | None) -> bool:
    """Whether of recorded devices some can be used on several nodes; which of them it would be is not known."""
    slices = devices.inventory.slices.values() if devices is not None else ()
    return any(not each.spec.node_name for each in slices)


def _apart(plan: PodPlan) -> str:
    """What puts the pods on several nodes; empty where one node may have all of them."""
    pod = plan.pod
    if plan.count is CountSource.PER_NODE:
        return "the DaemonSet puts each of them on another node"
    affinity = pod.spec.affinity.pod_anti_affinity if pod.spec.affinity is not None else None
    for term in affinity.required_during_scheduling_ignored_during_execution if affinity is not None else ():
        if _is_about_itself(term, pod):
            return f"their required anti-affinity over {term.topology_key} keeps them apart"
    for each in pod.spec.topology_spread_constraints:
        hard = each.when_unsatisfiable == "DoNotSchedule" and each.topology_key == HOSTNAME
        # As many as may be more on one node than on any other can be on that one.
        if (
            hard
            and (plan.copies or 0) > each.max_skew
            and selects(requirements_of(each.label_selector), pod.metadata.labels)
        ):
            return f"their topologySpreadConstraint over {HOSTNAME} spreads them"
    ports = {port.host_port for each in pod.spec.containers for port in each.ports if port.host_port}
    return f"their hostPort {min(ports)} is free for one of them per node" if ports else ""


def _is_about_itself(term: PodAffinityTerm, pod: Pod) -> bool:
    """Whether other pods of the same template, in the same namespace, match a term."""
    elsewhere = term.namespaces and pod.metadata.namespace not in term.namespaces
    return not elsewhere and selects(requirements_of(term.label_selector), pod.metadata.labels)
