"""What to do about devices that a driver publishes for a node under another name than the node has."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_dra.model.invocation import Address
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, command_line, fmt
from kubectl_dra.reports.invocations import kubectl, reading


def misnamed_lines(published: str, node: str, address: Address) -> Iterator[Safe]:
    """``node``: the one that may be meant by the name that slices have."""
    text = (
        "ResourceSlices are published for node {}, which does not exist. If {} is meant, the driver has to publish "
        "them under its Kubernetes name, {}, not under the host name: pods get it from the downward API (fieldPath: "
        "spec.nodeName)."
    )
    yield from wrapped(fmt(text, published, node, node))
    slices = kubectl("get", "resourceslices", "--field-selector", f"spec.nodeName={published}")
    yield from command_line("To list them: {}", reading(slices, address))
