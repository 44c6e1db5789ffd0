"""What follows from a SelectorReport: other devices, searches that would be aborted, corrected texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from kubectl_dra.api.kinds import DEVICE_CLASS, NODE, Kind
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.output.selector.code import code
from kubectl_dra.output.words import counted, did_you_mean, listed, plural, shortened
from kubectl_dra.reports.selector.records import CrossCheck, FailingSearch, Rewrite, SelectorReport, compiles
from kubectl_dra.selectors.compiling import names_local_zone

_DRIVERS: Final = 3
_CHANGES: Final = {
    "syntax": "operators as CEL writes them",
    "function": "a name that exists",
    "bare": "with the whole path of the name",
    "boolean": "compared with a value, so that it is true or false",
    "field": "without a field for its type",
    "domain": "the domain that the devices use",
    "name": "the name that the devices use",
    "unit": "a unit that Kubernetes has",
    "comparison": "compared by type",
    "amount": "with the unit that devices publish",
    "literal": "a value that devices have",
    "guard": "guarded where a device lacks it",
    "driver": "only devices of the driver",
}


def outside_lines(report: SelectorReport) -> Iterator[Safe]:
    """The devices that the headline does not speak of."""
    outside = report.outside
    if not outside.devices or not compiles(report):
        return
    if report.device_class:
        yield from wrapped(
            fmt(
                "{} in scope {} not of the class.",
                counted(outside.devices, "other device"),
                plural("is", outside.devices),
            )
        )
        return
    yield from wrapped(_whose(outside.drivers) + _lack(report) + _fate(report))


def _whose(drivers: Mapping[str, int]) -> Safe:
    if len(drivers) > _DRIVERS:
        return fmt("{} of {} other drivers", counted(sum(drivers.values()), "device"), len(drivers))
    parts = [(driver, count) for driver, count in drivers.items()]
    texts = [fmt("{} of {}", counted(count, "device"), driver) for driver, count in parts[:1]]
    texts += [fmt("{} of {}", count, driver) for driver, count in parts[1:]]
    return listed(texts)


def _lack(report: SelectorReport) -> Safe:
    domains = listed(report.outside.domains, "or")
    verb = "has" if report.outside.devices == 1 else "have"
    return fmt(" {} no {} attributes", verb, domains)


def _fate(report: SelectorReport) -> Safe:
    outside = report.outside
    if outside.undecided:
        return Safe(": not all of them were tried.")
    if not outside.fails:
        matching = fmt("{} of them match, ", outside.matches) if outside.matches else Safe("")
        return fmt(": {}none fails.", matching) if matching else Safe(" and don't match, without failing.")
    keeping, fatal = report.harmless_behind, _fatal(report)
    texts = []
    if keeping:
        verb = "does" if len(keeping) == 1 else "do"
        names = shortened(keeping, 3) if len(keeping) > 2 else listed(keeping)
        texts.append(fmt("harmless behind a class that selects the driver ({} {})", names, verb))
    if fatal:
        texts.append(fmt("fatal in one that does not ({})", shortened(fatal)))
    elif report.passing:
        reached = (
            "; whether a search reaches them is unknown"
            if _unread(report, NODE)
            else ", although no search reaches them now"
        )
        texts.append(fmt("not kept away by {}{}", shortened(report.passing), Safe(reached)))
    if not texts:
        fails = _all_or(outside.fails, outside.devices)
        if _unread(report, DEVICE_CLASS):
            return fmt(": it fails on {}; whether a class keeps them away is unknown.", fails)
        return fmt(": it fails on {}, and no class keeps them away.", fails)
    return Safe(": ") + Safe(", ").join(texts) + Safe(".")


def _unread(report: SelectorReport, kind: Kind) -> bool:
    return any(each.kind == kind.name for each in report.missing)


def _all_or(part: int, whole: int) -> Safe:
    return Safe("them") if part == whole else fmt("{} of them", part)


def _fatal(report: SelectorReport) -> list[str]:
    return list(dict.fromkeys(order.device_class for order in report.orders if order.outside))


def local_zone_line(report: SelectorReport) -> Iterator[Safe]:
    """Which time zone "Local" was taken for."""
    if any(names_local_zone(selector.expression) for selector in report.selectors):
        yield from wrapped(
            Safe(
                'note: the time zone "Local" is the scheduler\'s own and is read as UTC here, which its image uses; '
                "name the zone instead"
            )
        )


# --- search orders --------------------------------------------------------------------------------------------------


def order_lines(report: SelectorReport) -> Iterator[Safe]:
    """The warning, where a real search ends with the failure; or that none does now."""
    named = report.device_class or report.subject.kind == "DeviceClass"
    meant = [order for order in report.orders if named or not order.outside]
    if meant:
        yield from wrapped(styled(_warning(meant, report), Style.WARN))
    elif report.totals.fails.value and _unread(report, NODE):
        yield from wrapped(Safe("Nodes could not be read: whether it would abort scheduling can't be said."))
    elif report.totals.fails.value and named:
        yield from wrapped(
            Safe("No search fails on them now: they are in use, not offered, or behind devices that are found first.")
        )


def _warning(orders: Sequence[FailingSearch], report: SelectorReport) -> Safe:
    first = orders[0]
    classes = list(dict.fromkeys(order.device_class for order in orders))
    if report.subject.kind == "DeviceClass":
        behind = Safe("This would abort scheduling of every pod that requests the class:")
    elif report.device_class:
        behind = fmt("This would abort scheduling with class {}:", first.device_class)
    else:
        also = fmt(" (also {})", shortened(classes[1:])) if len(classes) > 1 else Safe("")
        behind = fmt("Behind class {}{} this would abort scheduling:", first.device_class, also)
    return fmt(
        "{} on {} the search comes to {} and ends with the error, for all nodes.", behind, first.node, first.device
    )


# --- corrections ----------------------------------------------------------------------------------------------------


def rewrite_lines(report: SelectorReport) -> Iterator[Safe]:
    """Corrected texts with what they give."""
    for rewrite in report.rewrites:
        yield from wrapped(
            fmt("Instead{} ({}; tried: {}):", _which(report, rewrite), _changes(rewrite), _result(rewrite))
        )
        yield from (styled(line, Style.GOOD) for line in code(rewrite.expression))


def _which(report: SelectorReport, rewrite: Rewrite) -> Safe:
    several = len([s for s in report.selectors if not s.device_class]) > 1
    return fmt(" of selector #{}", rewrite.index) if several else Safe("")


def _changes(rewrite: Rewrite) -> Safe:
    return Safe(", ").join([Safe(_CHANGES[change]) for change in rewrite.changes])


def _result(rewrite: Rewrite) -> Safe:
    verb = "matches" if rewrite.matches == 1 else "match"
    free = fmt(", {} of them free", rewrite.free) if rewrite.matches else Safe("")
    return fmt("{} of {} {}{}, none fails", rewrite.matches, rewrite.matches + rewrite.no, verb, free)


# --- names ----------------------------------------------------------------------------------------------------------


def name_lines(report: SelectorReport) -> Iterator[Safe]:
    """Domains and names that no device has."""
    pointed = {near for failure in report.failures for near in failure.near}
    for domain in report.unknown_domains:
        if pointed.intersection(domain.near):
            continue
        near = did_you_mean(domain.near, ", ") or Safe(".")
        yield from wrapped(fmt("None of the devices has the domain {}{}", domain.name, near))
    known = {domain.name for domain in report.unknown_domains}
    keys = {failure.key for failure in report.failures if failure.near}
    for use in report.names:
        if use.of and not use.have and use.domain not in known and use.name not in keys:
            near = did_you_mean(use.near, ", ") or Safe(".")
            what = "attribute" if use.field == "attributes" else "capacity"
            yield from wrapped(fmt("None of these devices has the {} {} of {}{}", what, use.name, use.domain, near))


def undecided_line(report: SelectorReport) -> Iterator[Safe]:
    if report.totals.undecided.value:
        text = "Undecided: evaluating the selectors takes too long. The scheduler would go on, for every device anew."
        yield from wrapped(Safe(text))


def not_ready_line(report: SelectorReport) -> Iterator[Safe]:
    """Pools whose devices nobody gets now."""
    if report.not_ready:
        count, pools = sum(report.not_ready.values()), list(report.not_ready)
        verb = "is" if count == 1 else "are"
        text = fmt(
            "{} of pool {} {} not offered now: the pool is not ready.", counted(count, "device"), shortened(pools), verb
        )
        yield from wrapped(text)


def refusal_lines(report: SelectorReport) -> Iterator[Safe]:
    """What else admission says of the manifest."""
    own = [text for text in report.refusals if "cel.expression" not in text]
    if own:
        yield Safe("The API server would refuse the object besides:")
        for text in own:
            yield from wrapped(safe(text), indent=4, first=2)


def cross_check_lines(found: CrossCheck) -> list[Safe]:
    """What an independent engine says; the scheduler's verdict is the one of the page."""
    if found.gaps:
        return wrapped(fmt("{} was not asked: it has no {}.", found.engine, listed(found.gaps, "or")))
    if not found.differ:
        devices = counted(found.compared, "device")
        return wrapped(fmt("{}, an independent CEL engine, agrees about {}.", found.engine, devices))
    lines = wrapped(
        fmt(
            "{}, an independent CEL engine, differs about {} of {}; the scheduler decides as shown above:",
            found.engine,
            found.differ,
            counted(found.compared, "device"),
        )
    )
    for each in found.differences:
        error = fmt(" ({})", each.error) if each.error else Safe("")
        lines += wrapped(fmt("  {}: {} in the scheduler, {} there{}", each.device, each.scheduler, each.other, error))
    return lines
