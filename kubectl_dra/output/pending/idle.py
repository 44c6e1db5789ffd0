"""What is said of a workload without pods: who holds them back, and whether devices would be there."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_dra.diagnosis.idle import Idle
from kubectl_dra.output.pending.reasons import reason_sentence
from kubectl_dra.output.safe import Safe, fmt


def idle_lines(kind: str, name: str, found: Idle) -> Iterator[Safe]:
    """Lines about one workload."""
    if found.suspended and found.queue:
        text = "note: {} {} is suspended and waits in queue {}: Kueue creates its pods once it has quota for them"
        yield fmt(text, kind, name, found.queue)
        yield fmt("  kubectl get workloads.kueue.x-k8s.io -n {} shows what Kueue waits for", name.partition("/")[0])
    elif found.suspended:
        yield fmt("note: {} {} is suspended: it has no pods until spec.suspend is false", kind, name)
    else:
        yield fmt("note: {} {} is scaled to 0", kind, name)
    if found.node:
        yield fmt("  one of its pods would fit now, on {}: devices are not what it waits for", found.node)
    elif found.failed is not None and found.failed.causes:
        yield fmt("  not even one of its pods would fit now: {}", reason_sentence(found.failed.causes[0]))
