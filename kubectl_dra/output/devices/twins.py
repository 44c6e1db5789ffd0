"""What is said of counts in which one machine under several names is counted for each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kubectl_dra.model.invocation import Address
from kubectl_dra.model.names import is_subdomain
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, command_line, fmt
from kubectl_dra.output.words import counted, listed
from kubectl_dra.reports.invocations import dra, reading

_SHOWN: Final = 3


def counted_twice_lines(machines: Sequence[Sequence[str]], address: Address) -> Iterator[Safe]:
    """Which nodes these are, and the command that tells which of them may be left over."""
    for names in machines[:_SHOWN]:
        text = "{} publish the same devices (by their uuid), which are counted for each of these nodes."
        yield from wrapped(fmt(text, listed(names)))
        words = dra("describe-node", names[0]) if is_subdomain(names[0]) else None
        yield from command_line("More: {}", reading(words, address))
    if len(machines) > _SHOWN:
        yield from wrapped(fmt("So it is with {}.", counted(len(machines) - _SHOWN, "other set")))
