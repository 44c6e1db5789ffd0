"""What a simulation leaves open of copies that fit: plugins that are not simulated, and what could not be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_dra.diagnosis.records import OpenPlugin
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.quotas import unspecified_lines
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.simulation import manifests
from kubectl_dra.reports.simulation import PodSimulation
from kubectl_dra.reports.simulation.course import TOGETHER


def doubt_lines(pod: PodSimulation) -> Iterator[Safe]:
    """What may allow fewer of those that fit."""
    if not pod.copies:
        return
    if left_open := _left_open(pod):
        yield from wrapped(_open(left_open), indent=2)
    if pod.beside:
        yield from wrapped(manifests.beside_text(pod.beside), indent=2)
    if pod.quota is not None:
        text = "not read, and may allow less: the ResourceQuotas of namespace {}"
        yield from wrapped(fmt(text, pod.quota.namespace), indent=2)
    yield from unspecified_lines(pod.unspecified)


def _left_open(pod: PodSimulation) -> list[OpenPlugin]:
    """What else decides, but for domains, of which more is told."""
    return [each for each in pod.open if each.plugin != TOGETHER or not pod.domains]


def _open(plugins: Sequence[OpenPlugin]) -> Safe:
    each = (fmt("{} ({})", one.plugin, Safe(", ").join(one.fields)) for one in plugins)
    return fmt("not simulated, and may allow less: {}", Safe(", ").join(each))
