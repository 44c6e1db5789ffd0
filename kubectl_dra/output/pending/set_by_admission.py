"""What is said of what admission puts into pods and keeps this one off nodes.

For a RuntimeClass, a LimitRange or a VerticalPodAutoscaler.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kubectl_dra.diagnosis.gates.pod_admission import LIMIT_RANGE, RUNTIME_CLASS, VERTICAL_AUTOSCALER
from kubectl_dra.diagnosis.records import NodeSelection, NodeShortage
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.words import listed
from kubectl_dra.reports.pending.nodes import NodeGroupRecord


def by_runtime(selections: Iterable[NodeSelection]) -> Safe:
    """Behind where a pod may run: that its RuntimeClass says so; empty where the pod itself does."""
    found = [each for each in selections if each.by_runtime]
    if not found:
        return Safe("")
    labels = listed(list(dict.fromkeys(label for each in found for label in each.by_runtime)))
    whole = all(each.by_runtime == each.unmatched for each in found)
    what = Safe("which") if whole else fmt("of which {}", labels)
    return fmt(", {} its RuntimeClass {} sets", what, found[0].runtime_class)


def admission_sets_lines(nodes: Sequence[NodeGroupRecord]) -> Iterator[Safe]:
    """Where it is changed."""
    details = [cause.detail for group in nodes for cause in group.causes]
    yield from _runtime_class(details)
    yield from _limit_range(details)
    yield from _vertical_autoscaler(details)


def _set_by(kind: str, details: Iterable[object]) -> dict[str, Safe]:
    """The objects of a kind, each with the resources of which it sets the requests."""
    found: dict[str, dict[str, None]] = {}
    for shortage in (each for each in details if isinstance(each, NodeShortage)):
        for each in shortage.added:
            if each.kind == kind and each.name:
                found.setdefault(each.name, {})[shortage.resource] = None
    return {name: listed(list(resources)) for name, resources in found.items()}


def _vertical_autoscaler(details: Iterable[object]) -> Iterator[Safe]:
    for name, resources in _set_by(VERTICAL_AUTOSCALER, details).items():
        text = (
            "VerticalPodAutoscaler {} requests {} for each new pod, whatever the template of the pod says: to limit "
            "that, lower maxAllowed in its resourcePolicy, then delete the pod."
        )
        yield from wrapped(fmt(text, name, resources))


def _limit_range(details: Iterable[object]) -> Iterator[Safe]:
    """A default is for containers that request nothing."""
    for name, resources in _set_by(LIMIT_RANGE, details).items():
        text = (
            "LimitRange {} gives this default to containers without a {} request of their own: lowered there, it holds "
        )
        text += "for all pods of the namespace that are created from then on."
        yield from wrapped(fmt(text, name, resources))


def _runtime_class(details: Sequence[object]) -> Iterator[Safe]:
    """What admission puts into a pod it puts there again."""
    selections = [each for each in details if isinstance(each, NodeSelection) and each.by_runtime]
    added = [one for each in details if isinstance(each, NodeShortage) for one in each.added]
    name = next((each.runtime_class for each in selections), "")
    overhead = next((each.name for each in added if each.kind == RUNTIME_CLASS), "")
    fields = [field for field, set_ in (("scheduling.nodeSelector", name), ("overhead", overhead)) if set_]
    if fields:
        labels = list(dict.fromkeys(label for each in selections for label in each.by_runtime))
        what = listed([*labels, *(["the overhead"] if overhead else [])])
        text = (
            "RuntimeClass {} puts {} into each pod that names it, also where the pod is edited. It is changed in the "
            "RuntimeClass ({}), for all of its pods, or by another runtimeClassName."
        )
        yield from wrapped(fmt(text, name or overhead, what, listed(fields)))
