"""What to do where devices are published for nodes with a label that no node has."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_dra.diagnosis.records import ClassOffer, LabelOnNodes
from kubectl_dra.model.invocation import Address
from kubectl_dra.output.safe import Safe, command_line, fmt, safe
from kubectl_dra.reports.invocations import changing, kubectl, plain_word
from kubectl_dra.reports.pending.pending import PendingReport


def label_advice(offer: ClassOffer) -> Safe:
    """The label on the nodes, or the selector of the slices: neither is the pod's."""
    text = (
        "A cluster administrator gives the nodes that reach these devices the label {}, or corrects the nodeSelector "
        "that the driver writes into its ResourceSlices. A change of the pod or of its claim does not help."
    )
    return fmt(text, safe(_label(offer.nowhere[0])))


def label_commands(report: PendingReport, address: Address) -> Iterator[Safe]:
    """How a node gets the label."""
    detail = report.causes[0].detail
    if not isinstance(detail, ClassOffer) or not detail.nowhere or report.idle_drivers:
        return
    words = kubectl("label", "node", "NODE", plain_word(_label(detail.nowhere[0])), "--overwrite")
    yield from command_line("For each of these nodes: {}", changing(words, address))


def _label(found: LabelOnNodes) -> str:
    """``KEY=VALUE`` of what is wanted, with the first of several values; a label that only has to exist has none."""
    if found.wish == f"{found.label} Exists":
        return f"{found.label}="
    _, several, values = found.wish.partition(" In [")
    return f"{found.label}={values.rstrip(']').split()[0]}" if several else found.wish
