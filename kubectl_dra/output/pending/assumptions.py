"""What an answer takes for granted because nothing can be read of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_dra.diagnosis.records import AssumptionKind, BeingBound, Verdict
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.words import counted, listed, shortened
from kubectl_dra.reports.pending.pending import PendingReport


def assumption_blocks(report: PendingReport) -> Iterator[list[Safe]]:
    """One block of lines for each that is worth telling."""
    yield _taken_to_admit(report)
    yield _random_order(report)
    yield _taken_to_wait(report)


def _taken_to_admit(report: PendingReport) -> list[Safe]:
    """Which plugins the ways out leave open."""
    names = [each.subject for each in report.assumed if each.kind is AssumptionKind.NOT_SIMULATED]
    if not (names and report.remedies):
        return []
    return wrapped(fmt("Assumed to admit the pod, because they are not simulated: {}.", listed(names)))


def unpublished_lines(report: PendingReport) -> Iterator[Safe]:
    """What a list without any ResourceSlice may mean for a pod that has its devices."""
    assumed = {each.subject for each in report.assumed if each.kind is AssumptionKind.NONE_OF_KIND}
    if report.verdict is Verdict.PREPARING and report.devices and "ResourceSlice" in assumed:
        text = (
            "No ResourceSlice was read. If there is none, the driver does not publish {} any more: does it run on {}?"
        )
        yield from wrapped(fmt(text, shortened(report.devices, 2), report.node))


def _random_order(report: PendingReport) -> list[Safe]:
    """What can't be predicted of schedulers that go through devices in random order."""
    for assumption in report.assumed:
        if assumption.kind is AssumptionKind.SEARCH_ORDER:
            text = (
                "The scheduler of Kubernetes {}, with the feature gates assumed here, goes through devices in random "
                "order: which ones the pod gets, and on which the search fails first, is not predicted."
            )
            return wrapped(fmt(text, assumption.subject))
    return []


def _taken_to_wait(report: PendingReport) -> list[Safe]:
    """On whom it depends whether the pod fits."""
    names = [each.subject for each in report.assumed if each.kind is AssumptionKind.NOMINATED]
    return wrapped(_if_being_bound(names, Safe("the pod does not fit"))) if names else []


def fewer_copies(found: BeingBound, *, single: bool = False) -> Safe:
    """How many of the copies are left; ``single``: there is one pod, and no copies of it."""
    room = fmt("there is room for only {}", counted(found.copies, "copy")) if found.copies else Safe("no copy fits")
    return _if_being_bound(found.pods, Safe("the pod does not fit") if single else room)


def _if_being_bound(names: Sequence[str], then: Safe) -> Safe:
    """What follows if nominated pods of lower priority are being bound, which can't be read."""
    text = "{}, with a lower priority, {} nominated for {}: if the scheduler is binding {} already, {}."
    several = len(names) > 1
    node, them = (Safe("these nodes"), Safe("them")) if several else (Safe("the node"), Safe("it"))
    return fmt(text, listed(names), Safe("are" if several else "is"), node, them, then)
