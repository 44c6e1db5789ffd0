"""Devices that the kubelet reports as not healthy: what a page says of them, and how they are kept free."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kubectl_dra.diagnosis.records import Cause, ContainerWaits, Health, Verdict
from kubectl_dra.model.ids import DeviceId
from kubectl_dra.model.invocation import Address
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.reasons.running import unwell
from kubectl_dra.output.safe import Safe, command_line, fmt
from kubectl_dra.output.words import plural, shortened
from kubectl_dra.reports.invocations import changing, dra, of_device
from kubectl_dra.reports.pending.pending import PendingReport

_NAMED: Final = 3
#: DRIVER/POOL/DEVICE; names of pools may have more slashes (k8s.io/api core/v1, ResourceHealth.resourceID).
_LEAST_PARTS: Final = 3
_TAINT: Final = "unhealthy:NoExecute"


def _found(causes: Sequence[Cause]) -> list[Health]:
    """Each device once: every container that uses it reports it."""
    found = (cause.detail for cause in causes if isinstance(cause.detail, Health))
    return list({each.device: each for each in found}.values())


def runs_with_unhealthy(report: PendingReport, pod: Safe) -> Safe | None:
    """The first line about a pod that was started and has such devices; None for others."""
    found = _found(report.causes)
    if not found or report.verdict is not Verdict.NOT_PENDING:
        return None
    state = "Unhealthy" if any(each.health == "Unhealthy" for each in found) else found[0].health
    why = next((fmt(" ({})", each.message) for each in found if each.health == state and each.message), Safe(""))
    names = shortened([each.device for each in found if each.health == state], _NAMED)
    many = sum(each.health == state for each in found) != 1
    said = fmt("the kubelet reports its {} {} as {}{}", Safe(plural("device", 2 if many else 1)), names, state, why)
    waits = next((cause.detail for cause in report.causes if isinstance(cause.detail, ContainerWaits)), None)
    if waits is not None:
        return fmt("{} is not working on node {}: {}, and its {}.", pod, report.node, said, unwell(waits))
    return fmt("{} runs on node {}, but {}.", pod, report.node, said)


def unhealthy_lines(report: PendingReport, address: Address) -> Iterator[Safe]:
    """That health keeps nobody away, and the taint that does; nothing where no device is reported Unhealthy."""
    found = [each for each in _found(report.causes) if each.health == "Unhealthy"]
    if not found or report.verdict is not Verdict.NOT_PENDING:
        return
    yield from wrapped(
        Safe("The scheduler ignores the health of devices: a pod that is created again may get the same one.")
    )
    text = "To evict its pods and keep others off it until it is repaired (for an administrator): {}"
    for each in found[:_NAMED]:
        if each.device.count("/") + 1 >= _LEAST_PARTS:
            device = of_device(DeviceId.of(each.device))
            yield from command_line(text, changing(dra("taint-device", device, _TAINT), address))
