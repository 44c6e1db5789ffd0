"""What the scheduler's message says of nodes that could not be read here: its reasons one by one.

Upstream: framework/types.go, FitError. A node stands in it with every reason of the first plugin that rejects it, so
that the numbers may add up to more than there are nodes; DynamicResources comes behind all other plugins (the order is
that of apis/config/v1/default_plugins.go).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kubectl_dra.diagnosis.records import HeardReason, Observed
from kubectl_dra.model.core import Pod
from kubectl_dra.model.requests import pod_requests
from kubectl_dra.scheduler.fit_error import parse_fit_error
from kubectl_dra.scheduler.profile import PLUGINS
from kubectl_dra.scheduler.reasons import plugin_of

#: Upstream: plugins/noderesources/fit.go, fitsRequest.
_INSUFFICIENT: Final = "Insufficient "


def reasons(pod: Pod, seen: Observed | None) -> tuple[tuple[HeardReason, ...], int]:
    """The reasons, those of the most nodes first, and how many nodes there were; empty without such a message."""
    said = parse_fit_error(seen.message) if seen is not None and seen.status == "False" else None
    if said is None:
        return (), 0
    if said.pre_filter:
        return (HeardReason(said.pre_filter, said.nodes, plugin_of(said.pre_filter), of_all=True),), said.nodes
    most = sorted(said.reasons.items(), key=lambda each: (-each[1], each[0]))
    return tuple(_reason(pod, text, number) for text, number in most), said.nodes


def nearest(heard: Sequence[HeardReason]) -> HeardReason:
    """The reason of the plugin that runs last: nodes that are rejected for it have passed all checks before.

    Whatever else there is has passed fewer, and nobody knows whether it would pass the later ones.
    """
    order = {plugin.name: place for place, plugin in enumerate(PLUGINS)}
    return max(heard, key=lambda each: order.get(each.plugin, -1))


def _reason(pod: Pod, text: str, nodes: int) -> HeardReason:
    resource = text.removeprefix(_INSUFFICIENT) if text.startswith(_INSUFFICIENT) else ""
    requested = pod_requests(pod).get(resource, 0) if resource else 0
    return HeardReason(text, nodes, plugin_of(text), resource, requested)
