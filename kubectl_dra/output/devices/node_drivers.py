"""Drivers that do not run on a node which has their devices: what that means for pods there, and where to look."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_dra.model.invocation import Address
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.driver_pods import failing_sentence, known_cure, why_words
from kubectl_dra.output.safe import Safe, command_line, fmt
from kubectl_dra.output.words import listed
from kubectl_dra.reports.devices.nodes import NodeReport
from kubectl_dra.reports.invocations import changing, kubectl, of, reading
from kubectl_dra.reports.pending.failing_pods import FailingPod


def drivers_down(report: NodeReport) -> Iterator[Safe]:
    """``Driver gpu.example.com does not run there: its pod dra/plugin-x is in CrashLoopBackOff (41 restarts)``."""
    for drivers, pods in _alike(report):
        one = len(drivers) == 1
        lead = fmt("{} {} {} not run there", Safe("Driver" if one else "Drivers"), listed(drivers), _does(one))
        yield fmt("{}: {}", lead, failing_sentence(pods, "its" if one else "their"))


def repair_lines(report: NodeReport, address: Address) -> Iterator[Safe]:
    """What waits for the driver meanwhile, its last words, and how to keep other pods away."""
    found = list(_alike(report))
    if not found:
        return
    text = (
        "Until it runs, pods that are placed here with its devices hang in ContainerCreating, and those that are "
        "deleted hang in Terminating."
    )
    yield from wrapped(Safe(text if report.devices else "Once it runs, it publishes the devices that the node has."))
    for _, pods in found:
        cure = known_cure(pods)
        if cure is not None:
            yield from wrapped(fmt("What usually helps: {}", cure))
        for each in pods:
            yield from command_line("Why it does not run: {}", reading(why_words(each), address))
    if report.devices and report.ready and not report.cordoned:
        words = changing(kubectl("cordon", of("node", report.name)), address)
        yield from command_line("To keep new pods away meanwhile: {}", words)


def _alike(report: NodeReport) -> Iterator[tuple[Sequence[str], Sequence[FailingPod]]]:
    """Drivers that run in the same pods together."""
    found: dict[tuple[FailingPod, ...], list[str]] = {}
    for each in report.drivers_down:
        found.setdefault(each.pods, []).append(each.driver)
    return ((drivers, pods) for pods, drivers in found.items())


def _does(one: bool) -> Safe:
    return Safe("does" if one else "do")
