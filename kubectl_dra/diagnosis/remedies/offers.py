"""What a request may get whose selector was changed: the free devices by the value that the changed condition reads.

And what such a device has less of than one that was asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

import msgspec

from kubectl_dra.allocation.search.allocator import ClaimSearch
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.explain.funnel import NodeExplainer
from kubectl_dra.diagnosis.records import LessCapacity, ValueCount
from kubectl_dra.diagnosis.remedies.candidate import Case
from kubectl_dra.diagnosis.remedies.records import Action, EditClaim, Remedy
from kubectl_dra.diagnosis.remedies.selectors import CORRECTED, DROPPED
from kubectl_dra.model.attributes import attribute_text
from kubectl_dra.model.forms import forms
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.resource import DeviceAttribute
from kubectl_dra.selectors.catalog import published_value
from kubectl_dra.selectors.compiling import clauses_of
from kubectl_dra.selectors.evaluate import Outcome
from kubectl_dra.selectors.seen_values import compared
from kubectl_dra.selectors.trial import SelectorTrial

#: On more nodes than these the devices are not counted.
_NODES: Final = 40
_MAY_MATCH: Final = (Outcome.MATCHES, Outcome.UNDECIDED)


def with_offers(state: ClusterState, action: Action, nodes: Sequence[str]) -> Action:
    """The edit with the values that are free on ``nodes`` of the changed cluster; others as they are."""
    if not isinstance(action, EditClaim) or not action.field.startswith("selectors") or len(nodes) > _NODES:
        return action
    changed = conditions_only_in(action.before, action.after)
    mention = compared(changed[0]) if len(changed) == 1 else None
    if mention is None or mention.name is None:
        return action
    values: Counter[tuple[str, bool]] = Counter()
    for device in sorted(_free(state, action, nodes)):
        value = _value(state, device, mention.domain.text, mention.name.text)
        values[attribute_text(value) if value is not None else "", value is not None] += 1
    ranked = sorted(values.items(), key=lambda item: (-item[1], item[0]))
    return msgspec.structs.replace(
        action, offers=tuple(ValueCount(text, number, there) for (text, there), number in ranked)
    )


def with_less(case: Case, changed: ClusterState, action: Action) -> Action:
    """The edit of a selector with what all devices that match then have less of; others as they are."""
    if not isinstance(action, EditClaim) or not action.field.startswith("selectors") or not action.after:
        return action
    before, after = (_capacities(case, state, action) for state in (case.state, changed))
    less = tuple(
        LessCapacity(name, str(amount), str(after[name]))
        for name, amount in sorted(before.items())
        if name in after and after[name].at_scale(-9)[0] < amount.at_scale(-9)[0]
    )
    return msgspec.structs.replace(action, less=less) if less else action


def _capacities(case: Case, state: ClusterState, action: EditClaim) -> dict[str, Quantity]:
    """What each device has that matches the request, where they all have the same of it."""
    claim = state.inventory.claims.get(action.claim.key)
    request = dict(forms(claim.spec)).get(action.request) if claim is not None else None
    if request is None:
        return {}
    device_class = state.inventory.classes.get(request.device_class_name)
    expressions = [selector.expression for selector in request.selectors]
    trial = SelectorTrial.of_request(expressions, device_class, case.published, state.features)
    first, *others = [each.device.capacity for each, found in trial.meant if found.outcome in _MAY_MATCH] or [{}]
    return {
        name: capacity.value
        for name, capacity in first.items()
        if all(name in each and each[name].value == capacity.value for each in others)
    }


def useless(ways: Sequence[Remedy]) -> Sequence[Remedy]:
    """Edits of selectors that another way out makes useless.

    Where a selector only has to be written in another way, nobody wants other devices; where devices of one value are
    all that it could get, to select that value says more than to drop the condition.
    """
    edits = [(edit, way) for way in ways if (edit := _selector_edit(way)) is not None]
    spelt = {edit.place for edit, way in edits if way.cost <= CORRECTED}
    selected = {(edit.place, edit.offers) for edit, way in edits if CORRECTED < way.cost < DROPPED}
    found = []
    for edit, way in edits:
        same = way.cost == DROPPED and len(edit.offers) == 1 and (edit.place, edit.offers) in selected
        if same or (way.cost > CORRECTED and edit.place in spelt):
            found.append(way)
    return found


def _selector_edit(way: Remedy) -> EditClaim | None:
    """The edit of a selector that is all that is done."""
    only = way.actions[0] if len(way.actions) == 1 else None
    return only if isinstance(only, EditClaim) and only.field.startswith("selectors") else None


def conditions_only_in(one: str, other: str) -> tuple[str, ...]:
    """The conditions of a selector that another one does not have."""
    kept = {clause.text for clause in clauses_of(other)} if other else set()
    return tuple(clause.text for clause in clauses_of(one) if clause.text not in kept)


def _free(state: ClusterState, action: EditClaim, nodes: Sequence[str]) -> set[str]:
    claim = state.inventory.claims.get(action.claim.key)
    if claim is None:
        return set()
    explainer = NodeExplainer(state, ClaimSearch(state.devices, (claim,)))
    found = (explainer.explain(state.inventory.nodes[name], invalid_pools=False) for name in nodes)
    reports = (report for each in found for report in each.reports if report.request == action.request)
    return {device for report in reports if report.funnel is not None for device in report.funnel.left}


def _value(state: ClusterState, device: str, domain: str, name: str) -> DeviceAttribute | None:
    found = state.device(device)
    return published_value(found[1].attributes, found[0].spec.driver, domain, name) if found is not None else None
