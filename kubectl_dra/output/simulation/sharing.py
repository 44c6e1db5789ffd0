"""The words about one claim that all copies of a pod use."""

from __future__ import annotations

from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.output.words import counted, listed
from kubectl_dra.reports.simulation.records import PodSimulation


def sharing_text(pod: PodSimulation) -> Safe:
    """That copies share devices, behind the verdict; empty where they do not, or there is one copy only."""
    if not pod.shared or pod.wanted is None or pod.wanted < 2:
        return Safe("")
    names, first = listed([each.name for each in pod.shared]), pod.shared[0]
    claims = fmt("ResourceClaim {}" if len(pod.shared) == 1 else "ResourceClaims {}", names)
    if len(pod.shared) == 1 and first.devices:
        what = fmt(" {}", first.device_class) if first.device_class else Safe("")
        number = counted(first.devices, "device")
        head, _, noun = number.partition(" ")
        claims = fmt("the {}{} {} of {}", safe(head), what, safe(noun), claims)
    where = Safe(", on one node") if any(each.local for each in pod.shared) and len(pod.nodes) == 1 else Safe("")
    return fmt(" All {} copies share {}{}; from a ResourceClaimTemplate each gets its own.", pod.wanted, claims, where)
