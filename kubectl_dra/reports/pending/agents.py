"""The program that serves an extended resource, and its pod on the node that lacks it.

The API does not say whose a resource is: names tell, as they are in the charts and manifests of these projects.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.records import Cause, NodeShortage, ObjectRef
from kubectl_dra.diagnosis.whatif.daemons import DAEMON_SET
from kubectl_dra.model.core import Pod
from kubectl_dra.model.inventory import key_of
from kubectl_dra.reports.base import ReportRecord
from kubectl_dra.reports.pending.failing_pods import failing_among

_SHOWN: Final = 3
#: Resources, and what the DaemonSets that serve them are called.
_KNOWN: Final = tuple(
    (re.compile(resource), re.compile(name))
    for resource, name in (
        (r"devices\.kubevirt\.io/", r"virt-handler"),
        (r"nvidia\.com/", r"nvidia.*device-plugin"),
        (r"amd\.com/", r"amd-?gpu.*(?:device-plugin|dp)|amd-gpu-operator-device-plugin"),
        (r"gpu\.intel\.com/", r"intel-gpu-plugin|gpu-plugin"),
        (r"rdma/", r"rdma.*(?:shared-dp|device-plugin)"),
        (r"(?:intel|mellanox|openshift|nvidia)\.(?:com|io)/", r"sriov.*device-plugin"),
        (r"google\.com/tpu", r"tpu-device-plugin"),
        (r"aws\.amazon\.com/neuron", r"neuron.*device-plugin"),
        (r"vpc\.amazonaws\.com/efa", r"efa.*device-plugin"),
        (r"habana\.ai/", r"habana.*device-plugin"),
        (r"smarter-devices/", r"smarter-device-manager"),
    )
)
_DEVICE_PLUGIN: Final = "device-plugin"


class Agent(ReportRecord, frozen=True):
    """Who serves ``resource``: its ``pod`` on ``node``, or a DaemonSet that has none there and ``runs_on`` others.

    ``state``: why the pod does not run; empty for one that does.
    """

    resource: str
    node: str
    daemon_set: ObjectRef
    pod: ObjectRef | None = None
    state: str = ""
    runs_on: tuple[str, ...] = ()


def agent_of(causes: Iterable[Cause], state: ClusterState) -> Agent | None:
    """That of the resource of the first cause, of which the node has nothing; None where nobody's name tells."""
    cause = next(iter(causes), None)
    if cause is None or not isinstance(cause.detail, NodeShortage) or cause.detail.allocatable or not cause.nodes:
        return None
    resource, node = cause.detail.resource, cause.nodes[0]
    pods = [pod for pod in state.inventory.pods.values() if (name := _daemon_set(pod)) and _serves(name, resource)]
    here = next((pod for pod in pods if pod.spec.node_name == node), None)
    chosen = here or next(iter(sorted(pods, key=lambda pod: key_of(pod.metadata))), None)
    if chosen is None:
        return None
    namespace, name = chosen.metadata.namespace, _daemon_set(chosen)
    daemon_set = ObjectRef(DAEMON_SET, namespace, name)
    if here is not None:
        ref = ObjectRef.of("Pod", key_of(here.metadata))
        failing = failing_among([ref], state.inventory)
        return Agent(resource, node, daemon_set, ref, failing[0].state if failing else "")
    its = (pod for pod in pods if (pod.metadata.namespace, _daemon_set(pod)) == (namespace, name))
    on = sorted({pod.spec.node_name for pod in its if pod.spec.node_name})
    # Pods of nodes that were not read one by one may be there.
    known = bool(on) and state.evidence.complete("Pod")
    return Agent(resource, node, daemon_set, runs_on=tuple(on[:_SHOWN])) if known else None


def _daemon_set(pod: Pod) -> str:
    owner = pod.metadata.controller
    return owner.name if owner is not None and owner.kind == DAEMON_SET else ""


def _serves(name: str, resource: str) -> bool:
    """Whether a DaemonSet is, by its name, the one of a resource: as is known, or a device plugin of its vendor."""
    if any(whose.match(resource) and called.search(name) for whose, called in _KNOWN):
        return True
    vendor = resource.partition("/")[0].removesuffix(".com").rpartition(".")[2] if "/" in resource else ""
    return bool(vendor) and vendor in name and _DEVICE_PLUGIN in name
