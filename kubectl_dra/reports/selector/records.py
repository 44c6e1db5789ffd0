"""The records of a SelectorReport: verdicts, outcomes, clauses, failures, corrections, search orders."""

from __future__ import annotations

from collections.abc import Mapping

from kubectl_dra.diagnosis.records import AttributeValue, Missing
from kubectl_dra.reports.base import Bound, Count, FeatureRecord, ReadRecord, ReportRecord
from kubectl_dra.reports.devices.device_state import DeviceState
from kubectl_dra.selectors.compiling import Verdict
from kubectl_dra.selectors.evaluate import Outcome


class Subject(ReportRecord, frozen=True):
    """What holds the selectors: an argument (``kind`` Expression), or an object with the request that is meant.

    ``request`` is ``request`` or ``request/subrequest``, empty for a DeviceClass. ``origin`` is where the object stood.
    """

    kind: str
    namespace: str = ""
    name: str = ""
    request: str = ""
    origin: str = ""


class SelectorRecord(ReportRecord, frozen=True):
    """One selector with where it stands: in a class, or (``device_class`` None) in the request.

    ``admission`` is what creating it would say today. ``estimated_cost`` None: it does not compile.
    ``spent`` is the highest actual cost on one of the devices.
    """

    device_class: str
    index: int
    expression: str
    admission: Verdict
    scheduler: Verdict
    output_type: str
    estimated_cost: int | None
    cost_limit: int
    spent: int | None


class Totals(ReportRecord, frozen=True):
    """The devices in scope by outcome: ``devices`` is the sum of the four.

    ``free`` of those that match can be had, ``partly`` of these in part only.
    """

    devices: Count
    matches: Count
    free: Count
    partly: Count
    no: Count
    fails: Count
    undecided: Count


class Seen(ReportRecord, frozen=True):
    """Values that devices had where a clause said no, by name; None where they lack it."""

    values: Mapping[str, str | None]
    devices: int


class Clause(ReportRecord, frozen=True):
    """A condition at ``expression[start:end]`` of a selector, and how many devices it is the first to remove.

    ``seen`` are the values of what it reads, the most frequent first; ``more`` devices had others.
    """

    device_class: str
    index: int
    text: str
    start: int
    end: int
    removes: int
    seen: tuple[Seen, ...]
    more: int


class Failure(ReportRecord, frozen=True):
    """An evaluation error: on how many devices, which come first, where in the expression (null: not known).

    ``skipped`` of them the scheduler would not look at now: in use as a whole, or in a pool that is not ready.
    ``key`` is the name that was not there and ``near`` are names that exist. Where types do not go together, ``reads``
    are the values of the first device, and ``elsewhere`` those of another type on ``other``, which does not fail.
    """

    device_class: str
    index: int
    error: str
    offset: int | None
    length: int
    devices: int
    skipped: int
    examples: tuple[str, ...]
    key: str
    near: tuple[str, ...]
    reads: tuple[AttributeValue, ...] = ()
    elsewhere: tuple[AttributeValue, ...] = ()
    other: str = ""


class NameUse(ReportRecord, frozen=True):
    """An attribute or capacity that the selectors name: how many of the devices in scope have it.

    ``lacking`` are pools of devices that don't, the first 20. ``guarded``: every mention allows for that.
    """

    field: str
    domain: str
    name: str
    have: int
    of: int
    lacking: tuple[str, ...]
    more: int
    guarded: bool
    near: tuple[str, ...]


class DomainUse(ReportRecord, frozen=True):
    """A domain or driver that no device has, and those that look like it."""

    name: str
    near: tuple[str, ...]


class Rewrite(ReportRecord, frozen=True):
    """A corrected selector that was compiled for both sides and evaluated on all devices in scope without an error.

    ``changes`` are codes: ``syntax``, ``function``, ``field``, ``domain``, ``name``, ``unit``, ``comparison``,
    ``amount``, ``literal``, ``guard``, ``driver``, ``bare``, ``boolean``.
    """

    index: int
    expression: str
    changes: tuple[str, ...]
    estimated_cost: int
    matches: int
    free: int
    no: int


class DeviceOutcome(ReportRecord, frozen=True):
    """One device: its state, what the selectors say of it, and why not: the condition that says no, or the error."""

    driver: str
    pool: str
    device: str
    state: DeviceState
    state_bound: Bound
    outcome: Outcome
    reason: str


class PoolOutcome(ReportRecord, frozen=True):
    """The devices in scope of one pool by outcome, in search order; ``free`` of those that match.

    ``bound`` is that of all their numbers but ``free``, which has ``free_bound``.
    """

    driver: str
    pool: str
    matches: tuple[str, ...]
    free: tuple[str, ...]
    no: tuple[str, ...]
    fails: tuple[str, ...]
    undecided: tuple[str, ...]
    bound: Bound
    free_bound: Bound


class Outside(ReportRecord, frozen=True):
    """Devices that the headline does not speak of: those of other drivers, or that the class leaves out.

    ``domains`` are those that they lack, ``drivers`` whose they are with their number.
    """

    devices: int
    matches: int
    no: int
    fails: int
    undecided: int
    domains: tuple[str, ...]
    drivers: Mapping[str, int]


class FailingSearch(ReportRecord, frozen=True):
    """A real search that ends with an error: a request for ``device_class`` on ``node`` reaches ``device``.

    ``outside``: the device is none of those that the headline speaks of. ``message`` is the scheduler's.
    """

    device_class: str
    node: str
    device: str
    state: DeviceState
    outside: bool
    message: str


class ExplainedPart(ReportRecord, frozen=True):
    """A part of an expression: what it was in its first evaluations, and how often it was evaluated."""

    text: str
    depth: int
    values: tuple[str, ...]
    error: str
    times: int


class ExplainedSelector(ReportRecord, frozen=True):
    """One selector on the device; ``evaluated`` is false where an earlier one already said no or failed."""

    device_class: str
    index: int
    expression: str
    evaluated: bool
    outcome: Outcome
    error: str
    cost: int | None
    parts: tuple[ExplainedPart, ...]


class Explanation(ReportRecord, frozen=True):
    """All selectors on one device."""

    device: str
    state: DeviceState
    state_bound: Bound
    outcome: Outcome
    selectors: tuple[ExplainedSelector, ...]


class Difference(ReportRecord, frozen=True):
    """A device on which the engines differ: ``scheduler`` is the outcome that counts, ``other`` the engine's.

    ``error`` is the other engine's text where it fails.
    """

    device: str
    scheduler: Outcome
    other: Outcome
    error: str


class CrossCheck(ReportRecord, frozen=True):
    """How many devices were ``compared`` with ``engine``, and those that ``differ`` (the first 10 in ``differences``).

    ``gaps``: what the engine lacks of what the selectors use; then nothing was compared. ``left_out``: devices beyond
    the first 1,000, and those that we left undecided.
    """

    engine: str
    compared: int
    differ: int
    differences: tuple[Difference, ...]
    gaps: tuple[str, ...]
    left_out: int


class PublishedDomain(ReportRecord, frozen=True):
    """What devices publish in one domain: names of attributes and capacities with the value of one device each."""

    domain: str
    attributes: dict[str, str]
    capacity: dict[str, str]


class SelectorReport(ReportRecord, frozen=True):
    """What would become of one list of selectors: those of the class first, then those of the request.

    ``device_class`` is None without one; where it does not exist nothing is evaluated, and ``class_near`` are names of
    classes like it. ``refusals``: all that
    admission says of the manifest. ``harmless_behind`` are classes that keep the failing devices of ``outside`` away,
    ``passing`` classes that let some of them through; ``orders`` are searches that really fail, one per class.
    ``not_ready`` are pools in scope that the scheduler does not look at.
    """

    subject: Subject
    device_class: str
    class_found: bool
    class_near: tuple[str, ...]
    node: str
    driver: str
    pool: str
    selectors: tuple[SelectorRecord, ...]
    refusals: tuple[str, ...]
    totals: Totals
    clauses: tuple[Clause, ...]
    failures: tuple[Failure, ...]
    names: tuple[NameUse, ...]
    unknown_domains: tuple[DomainUse, ...]
    rewrites: tuple[Rewrite, ...]
    published: tuple[PublishedDomain, ...]
    pools: tuple[PoolOutcome, ...]
    outside: Outside
    harmless_behind: tuple[str, ...]
    passing: tuple[str, ...]
    orders: tuple[FailingSearch, ...]
    not_ready: Mapping[str, int]
    explanation: Explanation | None
    cross_check: CrossCheck | None
    missing: tuple[Missing, ...]
    assumed: tuple[str, ...]
    features: FeatureRecord
    read: tuple[ReadRecord, ...]


def compiles(report: SelectorReport) -> bool:
    """Whether the scheduler can evaluate all of its selectors."""
    return all(selector.scheduler.accepted for selector in report.selectors)


def is_bad(report: SelectorReport) -> bool:
    """Whether somebody should change the selectors: refused, failing on a device in scope, or certainly no match."""
    refused = not all(s.admission.accepted and s.scheduler.accepted for s in report.selectors)
    totals = report.totals
    matches = totals.matches.value or totals.matches.bound not in (Bound.EXACT, Bound.AT_MOST)
    return (
        refused
        or not report.class_found
        or bool(report.refusals)
        or totals.fails.value > 0
        or not (matches or totals.undecided.value)
    )
