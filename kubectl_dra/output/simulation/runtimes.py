"""What is said of pods whose RuntimeClass does not exist: the server's refusal, what to do, and what comes after it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.output.simulation.manifests import blocked_text, refused_words
from kubectl_dra.output.words import shortened
from kubectl_dra.reports.simulation.records import PodSimulation
from kubectl_dra.reports.simulation.stops import NoRuntimeClass

_KNOWN: Final = 6


def refusal_of(name: Safe, pod: PodSimulation) -> Safe | None:
    """The first sentence; None where they are admitted, and their RuntimeClass exists."""
    if pod.refused and not pod.blocked:
        by = fmt(" (LimitRange {})", pod.refused_by) if pod.refused_by else Safe("")
        return fmt("{}: its pods would be refused: {}{}.", name, refused_words(pod.refused), by)
    return blocked_text(name, pod.blocked[0], maker=True) if pod.no_class is not None and pod.blocked else None


def without_refusal(pod: PodSimulation) -> PodSimulation:
    """What is found of it as if its RuntimeClass existed, and the server admitted its pods."""
    blocked = () if pod.no_class is not None else pod.blocked
    return msgspec.structs.replace(pod, blocked=blocked, refused=())


def refusal_lines(text: Safe, missing: NoRuntimeClass | None) -> Iterator[Safe]:
    """The sentence with the ways out, and how what follows is meant."""
    yield from wrapped(styled(text, Style.BOLD))
    if missing is None:
        yield from ("", Safe("As if they were admitted:"))  # type: ignore[misc]
        return
    known = shortened(missing.known, _KNOWN) if missing.known else Safe("none")
    yield from wrapped(fmt("RuntimeClasses that exist: {}.", known), indent=2)
    drop = "Remove {} if it is there for devices: those of DRA reach containers through CDI, without a RuntimeClass."
    yield from wrapped(fmt(drop, safe(missing.field)), indent=2)
    yield from wrapped(Safe("Or create it, with a handler that the nodes have:"), indent=2)
    yield from _skeleton(missing.name)
    yield Safe("")
    yield from wrapped(fmt("As if RuntimeClass {} existed:", missing.name))


def _skeleton(name: str) -> Iterator[Safe]:
    """The manifest of the class, to be completed."""
    yield Safe("    apiVersion: node.k8s.io/v1")
    yield Safe("    kind: RuntimeClass")
    yield Safe("    metadata:")
    yield fmt("      name: {}", name)
    yield fmt("    handler: {}", name)
