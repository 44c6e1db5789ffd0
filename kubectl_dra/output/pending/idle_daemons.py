"""A driver whose DaemonSet runs on no node: why, and the labels that would change that."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kubectl_dra.model.invocation import Address, Words
from kubectl_dra.model.names import is_subdomain
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.kept_off_drivers import tolerations_of
from kubectl_dra.output.safe import Safe, command_line, fmt
from kubectl_dra.output.words import listed, plural, shortened
from kubectl_dra.reports.invocations import changing, kubectl, of, plain_word, reading
from kubectl_dra.reports.pending.idle_daemons import IdleDaemonSet

_SHOWN: Final = 3
_CONSEQUENCE: Final = Safe(
    "The DaemonSet then starts a pod there, which publishes the devices. Where another program sets these labels (node "
    "feature discovery, the vendor's operator), find out why it does not."
)


def idle_sentence(found: IdleDaemonSet) -> Safe:
    """``DaemonSet N/D, by its name the driver's, runs on no node: no node matches …``."""
    name = fmt("DaemonSet {}, by its name the driver's,", str(found.daemon_set.key))
    if found.absent_from:
        return _absent_sentence(found, name)
    who = fmt("{} runs on no node", name)
    if found.tainted:
        text = "{}: it does not tolerate {} of {}"
        return fmt(text, who, shortened(found.taints), shortened(found.tainted, _SHOWN))
    return fmt("{}: no node matches {}", who, listed(found.wants, "or"))


def _absent_sentence(found: IdleDaemonSet, name: Safe) -> Safe:
    """``… runs on node-1, and not on node-2, which does not match …``."""
    where = shortened(found.runs_on, _SHOWN)
    if found.running > len(found.runs_on):
        where = fmt("{} and {} more", listed(found.runs_on), found.running - len(found.runs_on))
    lead = fmt("{} runs on {}, and not on {}", name, where, found.absent_from)
    unmatched = fmt(", which does not match {}", listed(found.wants, "or")) if found.wants else Safe("")
    if found.taints:
        besides = Safe(", and" if found.wants else ":")
        return fmt("{}{}{} it does not tolerate {}", lead, unmatched, besides, shortened(found.taints))
    return fmt("{}{}", lead, unmatched or Safe(", although it selects that node"))


def idle_advice(found: IdleDaemonSet) -> Iterator[Safe]:
    """Who can do what: nodes that seem to have the hardware are named."""
    what = Safe("")
    if found.absent_from and not (found.tainted or found.wants):
        what = Safe("Its events say why it has no pod there.")
    elif found.tainted:
        what = fmt("Add to {}, or remove the taint.", tolerations_of(found.taints))
        what += Safe(" The node needs the label as well." if found.labels else "")
    elif not found.labels:
        what = Safe("Add nodes that it selects, or change what it selects, with the values of the driver's chart.")
    if what:
        yield from wrapped(fmt("What usually helps: {}", what))
        return
    if found.nodes:
        text = "label the nodes that have the hardware; {} may, by their label {}"
        what_to_do = fmt(text, listed(found.nodes[:_SHOWN]), listed(found.marks[:1]))
    elif found.absent_from:
        what_to_do = fmt("label {}, if it has the hardware", found.absent_from)
    else:
        what_to_do = Safe("label the nodes that have the hardware")
    yield from wrapped(fmt("What usually helps: {}. {}", what_to_do, _CONSEQUENCE))


def idle_commands(found: IdleDaemonSet, address: Address) -> Iterator[Safe]:
    """The labels as they are set, and where the selection of the DaemonSet stands."""
    labels = [plain_word(label) for label in found.labels]
    if labels and None not in labels:
        named = (found.absent_from,) if found.absent_from else found.nodes
        nodes: Words = tuple(filter(is_subdomain, named)) or ("NODE",)
        yield from command_line(
            "To label {}: {}",
            changing(kubectl("label", "nodes", *nodes, *labels), address),
            Safe(plural("node", len(nodes))),
        )
    ref = found.daemon_set
    if found.absent_from and not (found.tainted or found.wants):
        yield from command_line(
            "Its events: {}", reading(kubectl("describe", of("daemonset", ref.name, ref.namespace)), address)
        )
        return
    yield from command_line(
        "What it selects: {}", reading(kubectl("get", of("daemonset", ref.name, ref.namespace), "-o", "yaml"), address)
    )
