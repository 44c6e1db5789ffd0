"""What to do about pods that a kubelet refuses, that leave with their node, or that a node's program has to serve."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from kubectl_dra.diagnosis.records import KubeletRejection, NodeShortage
from kubectl_dra.model.invocation import Address
from kubectl_dra.output.safe import Safe, command_line, fmt
from kubectl_dra.output.words import listed
from kubectl_dra.reports.invocations import kubectl, of, reading
from kubectl_dra.reports.pending.agents import Agent

#: Upstream: pkg/kubelet/cm/devicemanager/manager.go, devicesToAllocate.
_UNHEALTHY: Final = re.compile(r"cannot allocate unhealthy devices (?P<resource>[^\s,]+)")
_TOO_FEW: Final = re.compile(r"requested number of devices unavailable for (?P<resource>\S+)\. Requested")
_AGAIN: Final = "A controller makes a new pod; create a bare one again."
#: By the kubelet's reason; ``{}`` is the node. Upstream: pkg/kubelet/lifecycle/predicate.go, eviction, nodeshutdown.
_BY_REASON: Final = {
    "TopologyAffinityError": (
        "No NUMA node of {} has at once what it requests, and the node's topology manager wants that. Request fewer "
        "CPUs or devices, or have a cluster administrator change the kubelet's topologyManagerPolicy."
    ),
    "Evicted": (
        "{} ran short of what the message names. Request as much of it as the pod needs, so that the scheduler leaves "
        f"room for it, or end other work there. {_AGAIN}"
    ),
    "NodeAffinity": (
        f"The labels of {{}} no longer match the pod, which the kubelet checked again as it restarted. {_AGAIN}"
    ),
    "NodeShutdown": f"{{}} was being shut down. {_AGAIN}",
    "Terminated": f"{{}} was being shut down. {_AGAIN}",
    "ApplicationRejected": (
        "YuniKorn refused the whole application before it looked for nodes. Correct what its words name: its labels "
        "queue and applicationId stand in the template that makes the pod. The queues that exist, and which it may "
        "create (placementrules), are in ConfigMap yunikorn-configs. New pods with the same labels fail alike."
    ),
    "ResourceReservationTimeout": (
        "YuniKorn did not find room for all pods of the application in time (placeholderTimeoutInSeconds). Free or add "
        f"what they lack, or raise that time in its gang scheduling parameters. {_AGAIN}"
    ),
    "UnexpectedAdmissionError": "The log of the kubelet of {} says what failed. New pods that land there fail alike.",
}
#: The reason of the condition DisruptionTarget for a taint of the node (upstream: pkg/controller/tainteviction).
BY_NODE_TAINT: Final = "DeletionByTaintManager"
_NODES: Final = 2
_HUGE_PAGES: Final = re.compile(r"hugepages-(?P<size>[0-9]+[KMG])i")
_SIZE: Final = {"K": 2**10, "M": 2**20, "G": 2**30}
#: What a node lacks that offers none, although the program runs there.
_LACKS: Final = {
    "devices.kubevirt.io/kvm": (
        "it found no /dev/kvm there, as hardware virtualization is off in the firmware, or the node is itself a "
        "virtual machine without nested virtualization"
    ),
}
_NOTHING_FOUND: Final = "it found none on that node, or its configuration leaves them out"


def rejection_advice(found: KubeletRejection, node: str) -> Safe | None:
    """What the kubelet's reason asks for."""
    unhealthy, few = _UNHEALTHY.search(found.message), _TOO_FEW.search(found.message)
    if unhealthy is not None:
        text = (
            "The device plugin of {} on {} reports none of its devices as healthy, or has not connected to the kubelet "
            "again: its log says why. New pods that land there fail alike until it does."
        )
        return fmt(text, unhealthy["resource"], node)
    if few is not None:
        text = (
            "The kubelet of {} has fewer devices of {} left than the scheduler counts, as after a restart, or while "
            "another pod ends. If new pods fail alike, the log of the device plugin there says why."
        )
        return fmt(text, node, few["resource"])
    if found.reason.startswith("OutOf"):
        return Safe(f"Another pod took it after the scheduler had looked. {_AGAIN}")
    text = _BY_REASON.get(found.reason, "")
    return fmt(text, node) if text else None


def node_advice(node: str) -> Safe:
    """What ends the pod, and when its devices come free (upstream: pkg/controller/podgc, gcTerminating)."""
    text = (
        "A taint of node {} ends it, not one of its devices: spec.taints of the node shows which, and its condition "
        "Ready whether the node can be reached. The pod is gone, and its devices are free, once the kubelet there has "
        "stopped its containers. A node that cannot be reached does not do that: bring it back. Only if that machine "
        "is certainly switched off, give the node the taint node.kubernetes.io/out-of-service: its pods are then "
        "removed."
    )
    return fmt(text, node)


def node_commands(node: str, address: Address) -> Iterator[Safe]:
    """What shows the taints of the node, and whether it can be reached."""
    yield from command_line("Its taints and conditions: {}", reading(kubectl("describe", of("node", node)), address))


def shortage_advice(shortage: NodeShortage, nodes: Sequence[str], agent: Agent | None, *, added: bool) -> Safe:
    """Of a resource of which the nodes have nothing that could become free; ``added``: hardware is offered already."""
    if agent is not None:
        return _of_agent(agent)
    where = listed(nodes[:_NODES], "or")
    pages = _HUGE_PAGES.fullmatch(shortage.resource)
    if pages is not None and nodes:
        each = int(pages["size"][:-1]) * _SIZE[pages["size"][-1]]
        number = -(-shortage.requested // each)
        text = (
            "Reserve huge pages when {} boots (kernel parameters hugepagesz={} hugepages={}); its kubelet then offers "
            "{}."
        )
        return fmt(text, where, pages["size"], number, shortage.resource)
    told = fmt("Set up {} on {}", shortage.resource, where)
    other = Safe("" if added else ", or publish devices on a node that has it")
    return fmt("{}{}: it has none there that could become free.", told, other)


def _of_agent(agent: Agent) -> Safe:
    if agent.pod is None:
        text = (
            "{} comes from DaemonSet {}, which runs on {} and has no pod on {}. What it selects, and the taints that "
            "it tolerates, say why; it offers the resource once it runs there, if the node has it."
        )
        return fmt(text, agent.resource, str(agent.daemon_set.key), listed(agent.runs_on), agent.node)
    if agent.state:
        text = "{} comes from pod {}, which does not run on {} ({}). It offers the resource once it runs."
        return fmt(text, agent.resource, str(agent.pod.key), agent.node, agent.state)
    why = Safe(_LACKS.get(agent.resource, _NOTHING_FOUND))
    text = "{} comes from pod {}, which runs on {} and offers none: {}."
    return fmt(text, agent.resource, str(agent.pod.key), agent.node, why)


def agent_commands(agent: Agent, address: Address) -> Iterator[Safe]:
    """The log of the pod, what keeps it from running, or what its DaemonSet selects."""
    pod, owner = agent.pod, agent.daemon_set
    if pod is None:
        text = "What it selects and tolerates: {}"
        words = kubectl("get", of("daemonset", owner.name, owner.namespace), "-o", "yaml")
    elif agent.state:
        text, words = "Why it does not run: {}", kubectl("describe", of("pod", pod.name, pod.namespace))
    else:
        named = of("pod", pod.name, pod.namespace)
        text, words = "Its log: {}", kubectl("logs", named, "--all-containers", "--since=1h")
    yield from command_line(text, reading(words, address))
