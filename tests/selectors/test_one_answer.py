"""Every view that says which devices a selector matches says the same, and the same as the scheduler."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.shared.errors import CommandError, UsageProblem
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.taint.planning import TaintPlanner
from kubectl_dra.commands.taint.source import source_of_facts
from kubectl_dra.commands.taint.words import parse_words
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.records import FatalError, Funnel, StageName
from kubectl_dra.model.ids import DeviceId, Key, PoolId
from kubectl_dra.reports.base import Count
from kubectl_dra.reports.capacity.capacity import CapacityRequest, capacity_report
from kubectl_dra.reports.devices.class_list import class_rows
from kubectl_dra.reports.devices.device_list import DeviceFilter, device_list
from kubectl_dra.reports.devices.pool import pool_report
from kubectl_dra.reports.selector import Setting, expression_question, manifest_questions, selector_report
from kubectl_dra.reports.top import By, top_report
from kubectl_dra.selectors.evaluate import SelectorSet
from kubectl_dra.tui.queries import MatchingQuery
from tests.kit import build, facts
from tests.kit.clock import CLOCK
from tests.kit.sample import sampled
from tests.selectors.clusters import CLASS, COVERED, NODE, POD, Case, any_case

#: As many clusters as cover everything several times.
SEEDS, PARTS = 300, 10
POOL = PoolId(build.DRIVER, NODE)
Names = frozenset[str]


@dataclass(frozen=True)
class Opinion:
    """What a view says of the devices, by name. None: it does not say."""

    in_class: Names | None = None
    matches: Names | None = None
    fails: Names | None = None
    tainted: Names | None = None
    free: Names | None = None


# --- the views ------------------------------------------------------------------------------------------------------


def why_pending(case: Case) -> Opinion:
    """Each device asked about in a cluster of its own, because the first error ends a search."""
    members, matching, failing, tainted = set(), set(), set(), set()
    for name, alone in case.alone():
        found = _alone(alone)
        if found is None:
            failing.add(name)
            continue
        members |= set(found.after(StageName.CLASS))
        matching |= set(found.after(StageName.SELECTORS))
        tainted |= {d for removal in found.stage(StageName.TAINTS).removed for d in removal.devices}
    opinion = Opinion(*map(_names, (members, matching, failing, tainted)))
    _check_together(case, opinion)
    return opinion


def _alone(case: Case) -> Funnel | None:
    """What is told of the search; None if it ends with an error of a selector."""
    world = ClusterState(case.inventory(), facts.evidence(), case.assumed, CLOCK)
    diagnosis = Diagnoser(world).pod(Key(build.NAMESPACE, POD))
    if diagnosis.nodes and diagnosis.nodes[0].requests:
        return diagnosis.nodes[0].requests[0].funnel
    codes = {cause.code for cause in diagnosis.causes}
    assert codes & {Code.SELECTOR_FAILS, Code.CLASS_SELECTOR_FAILS, Code.SELECTOR_DOES_NOT_COMPILE}, codes
    assert all(isinstance(cause.detail, FatalError) for cause in diagnosis.causes)
    return None


def _check_together(case: Case, one_by_one: Opinion) -> None:
    """The search on all devices comes to the same, or ends with the error of one that fails."""
    found = _alone(case)
    if one_by_one.fails:
        assert found is None
    else:
        assert found is not None
        assert _names(found.after(StageName.CLASS)) == one_by_one.in_class
        assert _names(found.after(StageName.SELECTORS)) == one_by_one.matches


def _names(ids: object) -> Names:
    assert isinstance(ids, set | frozenset | tuple | list)
    return frozenset(str(each).rpartition("/")[2] for each in ids)


def describe_pool(case: Case) -> Opinion:
    report = pool_report(POOL, facts_of(case))
    return Opinion(tainted=_names([d.name for d in report.devices if any(taint.prevents for taint in d.taints)]))


def get_classes(case: Case) -> Opinion:
    """The class alone; how many devices it has is asked of one device at a time."""
    rows = {name: class_rows(alone.inventory().classes.values(), facts_of(alone))[0] for name, alone in case.alone()}
    members = _names([name for name, row in rows.items() if row.totals.devices.value])
    (row,) = class_rows(case.inventory().classes.values(), facts_of(case))
    assert row.totals.devices.value == len(members)
    return Opinion(in_class=members, tainted=None)


def top_classes(case: Case) -> Opinion:
    """How many devices the class has, asked of one device at a time."""
    rows = {name: _top_row(alone) for name, alone in case.alone()}
    members = _names([name for name, row in rows.items() if row.value])
    assert _top_row(case).value == len(members)
    return Opinion(in_class=members)


def _top_row(case: Case) -> Count:
    (row,) = (row for row in top_report(facts_of(case), By.CLASSES, "").rows if row.name == CLASS)
    assert row.devices is not None
    return row.devices


def capacity(case: Case) -> Opinion:
    """Whether there is room for one more pod that requests one such device, where it is alone."""
    return Opinion(free=_names([name for name, alone in case.alone() if _has_room(alone)]))


def _has_room(case: Case) -> bool:
    wanted = CapacityRequest(CLASS, 1, (case.selector,))
    (shape,) = capacity_report(facts_of(case), wanted, build.NAMESPACE).shapes
    return shape.capacity.copies.value > 0


def get_devices(case: Case) -> Opinion:
    """``--class``, and both ``--class`` and ``--match``."""
    of_class = SelectorSet.of_class(case.inventory().classes[CLASS], case.assumed.shows_sharing)
    typed = SelectorSet.of_text(case.selector, case.assumed.shows_sharing)
    both = device_list(facts_of(case), DeviceFilter(selectors=(of_class, typed)))
    members = device_list(facts_of(case), DeviceFilter(selectors=(of_class,)))
    return Opinion(
        _names([item.device.name for item in members.items]),
        _names([item.device.name for item in both.items]),
    )


def in_the_lab(case: Case) -> Opinion:
    """The selector behind the class."""
    found = facts_of(case)
    report = selector_report(expression_question(case.selector, CLASS), Setting(found))
    if not all(selector.scheduler.accepted for selector in report.selectors):
        return Opinion(matches=frozenset())
    (pool,) = report.pools or (None,)
    matches = frozenset(pool.matches) if pool is not None else frozenset()
    for name in case.names:
        explained = selector_report(
            expression_question(case.selector, CLASS), Setting(found), DeviceId(*POOL, name)
        ).explanation
        assert explained is not None
        assert (explained.outcome == "matches") == (name in matches)
    question = manifest_questions([(case.inventory().classes[CLASS], "")], case.assumed)[0]
    of_class = selector_report(question, Setting(found))
    members = frozenset(name for each in of_class.pools for name in each.matches)
    fails = frozenset(pool.fails) if pool is not None else frozenset()
    # A device on which the class fails may be one that the headline does not speak of.
    return Opinion(members, matches, fails | frozenset(name for each in of_class.pools for name in each.fails))


VIEWS = (why_pending, describe_pool, get_classes, top_classes, get_devices, capacity, in_the_lab)


def facts_of(case: Case) -> ClusterState:
    return ClusterState(case.inventory(), facts.evidence(), case.assumed, CLOCK)


# --- an expression on its own ---------------------------------------------------------------------------------------


def typed_in_get(case: Case) -> Opinion:
    typed = SelectorSet.of_text(case.selector, case.assumed.shows_sharing)
    found = device_list(facts_of(case), DeviceFilter(selectors=(typed,)))
    return Opinion(matches=_names([item.device.name for item in found.items]))


def typed_in_test_selector(case: Case) -> Opinion:
    report = selector_report(expression_question(case.selector), Setting(facts_of(case)))
    matches = [name for pool in report.pools for name in pool.matches]
    assert len(matches) == report.totals.matches.value
    return Opinion(matches=_names(matches))


def typed_in_taint_device(case: Case) -> Opinion:
    source = source_of_facts(Options(), facts_of(case))
    planner = TaintPlanner(source, parse_words(["new=1:NoSchedule"], match=True), case.selector, False)
    try:
        return Opinion(matches=_names([device.device for device in planner.plan().devices]))
    except (CommandError, UsageProblem):
        return Opinion(matches=frozenset())


def typed_in_tui(case: Case) -> Opinion:
    found = MatchingQuery(case.selector).compute(ClusterState(case.inventory(), facts.evidence(), case.assumed, CLOCK))
    return Opinion(matches=_names([device.device for device in found.devices]))


TYPED = (typed_in_get, typed_in_test_selector, typed_in_taint_device, typed_in_tui)


def open_class(case: Case) -> Case:
    """The same with a class that has all devices."""
    return Case(case.assumed, case.devices, (), case.selector, case.rule, case.covers)


# --- the property ---------------------------------------------------------------------------------------------------


def test_all_features_occur() -> None:
    seen = {feature for seed in range(SEEDS) for feature in any_case(seed).covers}
    assert not COVERED - seen, "never made"


@pytest.mark.parametrize("part", sampled(range(PARTS), PARTS))
def test_every_view_gives_the_same_answer_about_every_device(part: int) -> None:
    for seed in range(part, SEEDS, PARTS):
        case = any_case(seed)
        truth = why_pending(case)
        for view in VIEWS[1:]:
            _compare(truth, view(case), f"{view.__name__} of seed {seed}")
        alone = why_pending(open_class(case))
        for view in TYPED:
            _compare(alone, view(case), f"{view.__name__} of seed {seed}")


def _compare(truth: Opinion, said: Opinion, view: str) -> None:
    assert truth.matches is not None and truth.fails is not None
    if said.matches is not None:
        assert said.matches == truth.matches, view
    if said.fails is not None:
        assert said.fails == truth.fails, view
    if said.in_class is not None and truth.in_class is not None:
        # Of a device on which a selector of the request fails the search says nothing more.
        assert said.in_class - truth.fails == truth.in_class, view
    if said.free is not None and truth.tainted is not None:
        assert said.free == truth.matches - truth.tainted, view
    if said.tainted is not None and truth.tainted is not None:
        # The search looks at taints of devices that the selectors match.
        assert said.tainted & truth.matches == truth.tainted, view
