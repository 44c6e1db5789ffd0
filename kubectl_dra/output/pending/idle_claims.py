"""Below the list of pods that wait: devices that nobody uses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_dra.model.invocation import Address
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, command_line, fmt
from kubectl_dra.output.words import counted
from kubectl_dra.reports.invocations import dra, reading
from kubectl_dra.reports.top import IdleClaim


def idle_lines(idle: Sequence[IdleClaim], address: Address) -> Iterator[Safe]:
    """How many there are, behind an empty line, and the command that names them; nothing where there are none."""
    devices = sum(len(each.devices) for each in idle)
    if not devices:
        return
    yield Safe("")
    verb = Safe("is" if devices == 1 else "are")
    which = Safe("a claim" if len(idle) == 1 else counted(len(idle), "claim"))
    yield from wrapped(fmt("{} {} held for nobody, by {} that no pod uses.", counted(devices, "device"), verb, which))
    yield from command_line("Which: {}", reading(dra("top", "-A"), address))
