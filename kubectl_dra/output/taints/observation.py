"""The words of --observe and --wait: what the controller counts, how far an eviction is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_dra.model.taint_plan import Hit
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.output.words import counted, listed
from kubectl_dra.reports.taints.taint_observation import Counts


def counts_text(counts: Counts) -> Safe:
    """``1 published device, 2 allocations, 1 pod in 1 namespace``."""
    published, allocated = counted(counts.published, "published device"), counted(counts.allocated, "allocation")
    pods, namespaces = counted(counts.pods, "pod"), counted(counts.namespaces, "namespace")
    return fmt("{}, {}, {} in {}", published, allocated, pods, namespaces)


def comparison_lines(controller: Counts, plan: Counts, agree: bool) -> Iterator[Safe]:
    """The controller's numbers beside ours."""
    if agree:
        yield fmt("The controller counts the same with NoExecute: {}.", counts_text(controller))
        return
    yield styled(Safe("The controller counts otherwise than this plan:"), Style.WARN)
    yield fmt("  controller  {}", counts_text(controller))
    yield fmt("  plan        {}", counts_text(plan))


def progress_text(gone: int, going: int, total: int) -> Safe:
    """``1 of 3 pods gone, 1 being deleted, 1 still to go``."""
    parts = [fmt("{} of {} gone", gone, counted(total, "pod"))]
    parts += [fmt("{} being deleted", going)] if going else []
    left = total - gone - going
    parts += [fmt("{} not evicted yet", left)] if left else []
    return Safe(", ").join(parts)


def left_text(going: Sequence[Hit], waiting: Sequence[Hit]) -> Safe:
    """Who is still there when time is up, and why."""
    parts = []
    if waiting:
        soonest = [hit.seconds for hit in waiting if hit.seconds]
        names = listed([f"{hit.namespace}/{hit.pod}" for hit in waiting])
        tail = fmt(" (tolerates it for {} s)", min(soonest)) if len(soonest) == len(waiting) else Safe("")
        parts.append(fmt("{} not evicted yet{}", names, tail))
    if going:
        names = listed([f"{hit.namespace}/{hit.pod}" for hit in going])
        parts.append(fmt("{} being deleted, but not ended by the kubelet", names))
    return Safe("; ").join(parts) if parts else safe("nobody")
