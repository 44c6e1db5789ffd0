"""What is said of pods that are refused: the words of the server, what to do about an absent class, and what is next.

That class is a PriorityClass or RuntimeClass; the pods were tried as if it existed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.output.simulation.manifests import blocked_text, left_out_text, refused_words
from kubectl_dra.output.words import shortened
from kubectl_dra.reports.simulation.records import PodSimulation
from kubectl_dra.reports.simulation.stops import AbsentClass
from kubectl_dra.reports.simulation.trials import PRIORITY_CLASS

_KNOWN: Final = 6
_NO_RUNTIME: Final = (
    "Remove {} if it is there for devices: those of DRA reach containers through CDI, without a RuntimeClass."
)


def refusal_of(name: Safe, pod: PodSimulation) -> Safe | None:
    """The first sentence; None where they are admitted, and their classes exist."""
    if pod.refused and not pod.blocked:
        by = fmt(" (LimitRange {})", pod.refused_by) if pod.refused_by else Safe("")
        return fmt("{}: its pods would be refused: {}{}.", name, refused_words(pod.refused), by)
    return blocked_text(name, pod.blocked[0], maker=True) if pod.absent_classes else None


def without_refusal(pod: PodSimulation) -> PodSimulation:
    """What is found of it as if its first class that is absent existed, and else as if the server admitted its pods."""
    if pod.absent_classes:
        return msgspec.structs.replace(pod, blocked=pod.blocked[1:], absent_classes=pod.absent_classes[1:])
    return msgspec.structs.replace(pod, refused=())


def refusal_lines(text: Safe, pod: PodSimulation) -> Iterator[Safe]:
    """The sentence with the ways out, and how what follows is meant."""
    yield from wrapped(styled(text, Style.BOLD))
    absent = pod.absent_classes
    if not absent:
        if pod.refused_at:
            ways = "Change {} in {} {}, or the bounds in LimitRange {}."
            fields = shortened(pod.refused_at, _KNOWN)
            yield from wrapped(fmt(ways, fields, pod.subject.kind, pod.subject.name, pod.refused_by), indent=2)
        yield from ("", Safe("As if they were admitted:"))  # type: ignore[misc]
        return
    first = absent[0]
    yield from wrapped(_known(first), indent=2)
    if first.object.kind == PRIORITY_CLASS:
        ways = fmt("Name another one in {}, remove the field, or create it:", safe(first.field))
        yield from wrapped(ways, indent=2)
        yield from _skeleton("scheduling.k8s.io/v1", first, Safe("value: 1000"))
        yield from ("", *wrapped(fmt("As if PriorityClass {} existed, with value 0:", first.object.name)))  # type: ignore[misc]
        return
    yield from wrapped(fmt(_NO_RUNTIME, safe(first.field)), indent=2)
    yield from wrapped(Safe("Or create it, with a handler that the nodes have:"), indent=2)
    yield from _skeleton("node.k8s.io/v1", first, fmt("handler: {}", first.object.name))
    yield from ("", *wrapped(fmt("As if RuntimeClass {} existed:", first.object.name)))  # type: ignore[misc]


def _known(absent: AbsentClass) -> Safe:
    if absent.left_out:
        return left_out_text(absent.object.kind)
    known = shortened(absent.known, _KNOWN) if absent.known else Safe("none")
    return fmt("{} that exist: {}.", safe(f"{absent.object.kind}es"), known)


def _skeleton(api_version: str, absent: AbsentClass, rest: Safe) -> Iterator[Safe]:
    """The manifest of the class, to be completed."""
    yield fmt("    apiVersion: {}", api_version)
    yield fmt("    kind: {}", absent.object.kind)
    yield Safe("    metadata:")
    yield fmt("      name: {}", absent.object.name)
    yield fmt("    {}", rest)
