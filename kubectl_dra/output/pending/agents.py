"""What to do where a node has nothing of an extended resource: the program that serves it, or the kernel."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from kubectl_dra.diagnosis.records import NodeShortage
from kubectl_dra.model.invocation import Address
from kubectl_dra.output.safe import Safe, command_line, fmt
from kubectl_dra.output.words import listed
from kubectl_dra.reports.invocations import kubectl, of, reading
from kubectl_dra.reports.pending.agents import Agent

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
