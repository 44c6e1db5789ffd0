"""Why a node's named resources are not enough for a claim: per request what each check leaves, as for devices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from kubectl_dra.allocation.named_resources import (
    DriverDemand,
    Instance,
    NamedInstances,
    NamedOutcome,
    NamedSelectorError,
    admits,
)
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.explain.funnel import NodeExplanation
from kubectl_dra.diagnosis.records import Cause, FatalError, Funnel, ObjectRef, Removal, RequestReport, StageName

_CODES: Final = {
    StageName.CLASS: Code.NO_DEVICE_IN_CLASS,
    StageName.SELECTORS: Code.SELECTOR_MATCHES_NOTHING,
    StageName.UNUSED: Code.DEVICES_IN_USE,
}


def named_story(
    resources: NamedInstances, node: str, claim: ObjectRef, demands: Sequence[DriverDemand], outcome: NamedOutcome
) -> NodeExplanation:
    """The explanation of a node that is not suitable for one claim; requests are numbered per driver."""
    reports, causes = [], []
    for demand in demands:
        instances = list(resources.instances(node, demand.driver))
        error = outcome.selections[demand.driver].error
        if error is not None:
            causes.append(_failed(claim, node, error))
            continue
        chosen = outcome.selections[demand.driver].chosen
        for number, expression in enumerate(demand.requests):
            name = request_name(demands, demand, number)
            funnel = _funnel(node, demand, number, expression, instances)
            reports.append(RequestReport(claim, name, funnel))
            if chosen[number] is None:
                causes.append(_short(claim, name, funnel))
    told = tuple((r.request, tuple(stage.count for stage in r.funnel.stages)) for r in reports if r.funnel is not None)
    nearness = (-len(causes),)
    return NodeExplanation((told, tuple((c.code, c.request) for c in causes)), tuple(reports), tuple(causes), nearness)


def request_name(demands: Sequence[DriverDemand], demand: DriverDemand, number: int) -> str:
    """What a request is called, which has no name: its number, and the driver's name if there are several."""
    return f"request {number}" if len(demands) == 1 else f"{demand.driver} request {number}"


def _failed(claim: ObjectRef, node: str, error: NamedSelectorError) -> Cause:
    owner = "the class's filter" if error.request is None else f"request {error.request}"
    detail = FatalError(
        error.text(node),
        device=f"{error.driver}/{node}/{error.instance}",
        owner=owner,
        expression=error.expression,
        detail=error.detail,
    )
    return Cause(Code.NAMED_SELECTOR_FAILS, detail, claim)


def _short(claim: ObjectRef, request: str, funnel: Funnel) -> Cause:
    """The check that left nothing; if something was left, an earlier request took it."""
    empty = next((stage.name for stage in funnel.stages if not stage.count), None)
    code = Code.REQUESTS_COMPETE if empty is None else _CODES[empty]
    return Cause(code, funnel, claim, request)


def _funnel(node: str, demand: DriverDemand, number: int, expression: str, instances: Iterable[Instance]) -> Funnel:
    passed = [each for each in instances if admits(demand, None, "", each) is True]
    selected = [each for each in passed if admits(demand, number, expression, each) is True]
    refused = [each for each in passed if each not in selected]
    free = [each for each in selected if each.holder is None]
    pool = f"{demand.driver}/{node}"
    by_selector = (Removal(StageName.SELECTORS, expression, _ids(pool, refused)),) if refused else ()
    held = (each for each in selected if each.holder is not None)
    in_use = (Removal(StageName.UNUSED, str(each.holder), _ids(pool, (each,))) for each in held)
    return Funnel(node, 1, len(passed), (*by_selector, *in_use), _ids(pool, free))


def _ids(pool: str, instances: Iterable[Instance]) -> tuple[str, ...]:
    return tuple(f"{pool}/{each.name}" for each in instances)
