"""The words about slices that a pool lacks: which, since when, and where its driver says why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from kubectl_dra.model.ids import PoolId
from kubectl_dra.model.invocation import Address
from kubectl_dra.model.resource import ResourceSlice
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, command_line, fmt
from kubectl_dra.output.words import ago, counted, plural, shortened
from kubectl_dra.reports.devices.pool import PoolReport
from kubectl_dra.reports.devices.pool_state import PoolState
from kubectl_dra.reports.invocations import dra, kubectl, of, plain_word, reading, shell_line, within

_NAMED: Final = 3
_HINT: Final = (
    "The driver publishes its slices itself, and most drivers delete one that was written by hand. The driver's log "
    "says what failed; if it has no error, restart the driver's pod, which publishes the pool again."
)


def without_sets(undefined: Sequence[str]) -> Safe:
    """``, without counter set x that its devices use``, to stand behind how many slices there are."""
    if not undefined:
        return Safe("")
    noun = Safe(plural("counter set", len(undefined)))
    return fmt(", without {} {} that its devices use", noun, shortened(undefined, _NAMED))


def lacking_notes(
    pools: Iterable[PoolId], slices: Mapping[PoolId, Sequence[ResourceSlice]], address: Address
) -> Iterator[Safe]:
    """Below a list, of the first pool that is short of slices: how many are missing, and what says which."""
    found = [(pool, *short) for pool in pools if (short := _short(slices.get(pool, ()))) is not None]
    for pool, seen, expected in found[:1]:
        text = fmt("note: pool {} lacks {} of its {} slices", str(pool), expected - seen, expected)
        more = fmt(", as do {} more", len(found) - 1) if len(found) > 1 else Safe("")
        look = shell_line(reading(dra("describe-pool", plain_word(str(pool))), address))
        yield fmt("{}{}{}", text, more, fmt("; which: {}", look) if look else Safe(""))


def _short(slices: Sequence[ResourceSlice]) -> tuple[int, int] | None:
    newest = max((each.spec.pool.generation for each in slices), default=0)
    current = [each.spec.pool for each in slices if each.spec.pool.generation == newest]
    expected = current[0].resource_slice_count if current else 0
    return (len(current), expected) if len(current) < expected else None


def lack_lines(report: PoolReport, now: datetime, address: Address) -> Iterator[Safe]:
    """Nothing of a pool that is not short of slices."""
    lacking = report.view.expected - sum(each.current for each in report.slices)
    if report.view.state not in (PoolState.INCOMPLETE, PoolState.PARTIAL) or lacking < 1:
        return
    undefined = report.view.undefined
    sets = fmt("{} {}", Safe(plural("counter set", len(undefined))), shortened(undefined, _NAMED))
    which = fmt(", with {}", sets) if undefined and lacking == 1 else fmt(", {} among them", sets)
    missing = counted(lacking, "slice")
    told = fmt("Missing: {} of generation {}{}", missing, report.view.generation, which if undefined else Safe(""))
    newest = max((each.created for each in report.slices if each.current), default="")
    since = fmt(" The newest slice of the pool was created {}.", ago(newest, now)) if newest else Safe("")
    yield from wrapped(fmt("{}.{}", told, since))
    yield from wrapped(Safe(_HINT))
    for pod in report.driver_pods:
        words = kubectl("logs", of("pod", pod.name), within(pod.namespace), "--all-containers")
        yield from command_line("Log of the driver: {}", reading(words, address))
    if not report.driver_pods and report.scope.node:
        find = kubectl("get", "pods", "-A", "-o", "wide", "--field-selector", f"spec.nodeName={report.scope.node}")
        yield from command_line("Its pod is one of these, then kubectl logs: {}", reading(find, address))
