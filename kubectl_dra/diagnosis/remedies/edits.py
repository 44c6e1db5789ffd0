"""Remedies that change what the pod asks for: its claims, a class, the pod itself."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

import msgspec

from kubectl_dra.allocation.checks.requests import MAX_RESULTS
from kubectl_dra.allocation.input.allocated import nano
from kubectl_dra.diagnosis import records
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.explain.class_facts import offers
from kubectl_dra.diagnosis.gates.pod_admission import RUNTIME_CLASS, selected_by_runtime
from kubectl_dra.diagnosis.gates.queues import flavors_that_select
from kubectl_dra.diagnosis.records.nodes import tells_of_node
from kubectl_dra.diagnosis.remedies import changes, constraints, own_shares, runtimes, shares, tolerations
from kubectl_dra.diagnosis.remedies.candidate import (
    Candidate,
    Case,
    ClaimEditor,
    first_of,
    pod_edit,
    removals,
    request_of,
)
from kubectl_dra.diagnosis.remedies.records import EditClaim, Remedy, RemedyKind, RenewClaim
from kubectl_dra.model.forms import Form, forms
from kubectl_dra.model.likeness import similar
from kubectl_dra.model.public_classes import PUBLIC_CLASSES
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.resource import (
    CapacityRequirements,
    ResourceClaim,
)
from kubectl_dra.scheduler.reasons import kubelets_refuse

_COST: Final = {
    "capacityName": 26,
    "template": 28,
    "deviceClassName": 32,
    "capacity": 34,
    "capacityNone": 36,
    "count": 35,
    "requests": 45,
}
_POD_COST: Final = 38
# Weaker forms of one change that are tried.
_STEPS: Final = 16
_CLASSES: Final = 3


def candidates(case: Case) -> Iterator[Candidate]:
    for claim, name, request, funnels in case.funnels():
        editor = ClaimEditor(case, claim, name)
        yield from _count(editor, request, funnels)
        yield from shares.candidates(case, editor, request, funnels)
        yield from own_shares.candidates(case, editor, request, funnels)
        yield from tolerations.candidates(case, editor, request, funnels)
        yield from _capacity(case, editor, request, funnels)
        yield from _capacity_names(editor, request, funnels)
        yield from _not_all(editor, request, max(len(funnel.left) for funnel in funnels))
    yield from _renewed(case)
    yield from constraints.candidates(case)
    yield from _fewer_requests(case)
    yield from _fewer_alternatives(case)
    yield from _all_mode_errors(case)
    yield from _classes(case)
    yield from _pod(case)
    yield from runtimes.candidates(case)


# --- one request ----------------------------------------------------------------------------------------------------


def _count(editor: ClaimEditor, request: Form, funnels: Sequence[records.Funnel]) -> Iterator[Candidate]:
    """The largest smaller count that works, from what the nearest funnel leaves downwards."""
    if request.allocation_mode != "ExactCount" or request.count < 2:
        return
    there = max(funnel.together for funnel in funnels)
    counts = range(min(there, request.count - 1), 0, -1)[:_STEPS]
    yield from first_of([with_count(editor, request.count, number, _COST["count"]) for number in counts])


def with_count(editor: ClaimEditor, before: int, after: int, cost: int) -> Candidate:
    return editor.edit("count", str(before), str(after), changes.having(count=after), cost)


def _capacity(case: Case, editor: ClaimEditor, request: Form, funnels: Sequence[records.Funnel]) -> Iterator[Candidate]:
    """As much of a capacity as some device has left, in an amount that its policy allows.

    A request that names no amount takes the default of the policy, or all of the device.
    """
    wanted = request.capacity.requests if request.capacity is not None else {}
    short = [each for each in removals(funnels, records.StageName.CAPACITY) if each.short is not None]
    for name in dict.fromkeys((*wanted, *(each.reason for each in short))):
        smaller: dict[int, Quantity] = {}
        for removal in short:
            text = removal.short.left or removal.short.total if removal.short is not None else ""
            if removal.reason == name and text:
                for quantity in _allowed(case, removal.devices, name, Quantity.parse(text)):
                    if quantity.sign > 0 and (name not in wanted or quantity.cmp(wanted[name]) < 0):
                        smaller.setdefault(nano(quantity), quantity)
        most = [smaller[key] for key in sorted(smaller, reverse=True)]
        before = str(wanted.get(name, ""))
        yield from first_of([_with_capacity(editor, name, before, quantity) for quantity in most[:_STEPS]])


def _allowed(case: Case, devices: Iterable[str], name: str, left: Quantity) -> Iterator[Quantity]:
    """What may be asked of one of the devices: all that is left, and what its request policy has below that."""
    yield left
    found = case.state.device(next(iter(devices), ""))
    capacity = found[1].capacity.get(name) if found is not None else None
    policy = capacity.request_policy if capacity is not None else None
    if policy is None:
        return
    if policy.valid_range is not None and policy.valid_range.min is not None:
        yield policy.valid_range.min
        if policy.valid_range.step is not None:
            yield _stepped(left, policy.valid_range.min, policy.valid_range.step)
    yield from (value for value in policy.valid_values if value.cmp(left) <= 0)


def _stepped(left: Quantity, least: Quantity, step: Quantity) -> Quantity:
    """The largest amount of the range that is not more than what is left."""
    size = nano(step)
    steps = (nano(left) - nano(least)) // size if size > 0 else 0
    whole, rest = divmod(nano(least) + max(steps, 0) * size, 10**9)
    return Quantity(whole, 0, left.format) if rest == 0 else least


def _with_capacity(editor: ClaimEditor, name: str, before: str, after: Quantity) -> Candidate:
    def edit(exactly: Form) -> Form:
        requests = exactly.capacity.requests if exactly.capacity is not None else {}
        return msgspec.structs.replace(exactly, capacity=CapacityRequirements(requests={**requests, name: after}))

    return editor.edit(f"capacity.requests[{name}]", before, str(after), edit, _COST["capacity"])


def _capacity_names(editor: ClaimEditor, request: Form, funnels: Sequence[records.Funnel]) -> Iterator[Candidate]:
    """The same amount of a capacity whose name devices publish, else none of what they do not publish.

    Names are compared with their domains.
    Upstream: structured/internal/incubating/consumable_capacity.go, requestsContainNonExistCapacity.
    """
    wanted = request.capacity.requests if request.capacity is not None else {}
    found: dict[str, dict[str, None]] = {}
    for removal in removals(funnels, records.StageName.CAPACITY):
        if removal.unpublished and removal.reason in wanted:
            names = found.setdefault(removal.reason, {})
            names.update((each, None) for each in _alike(removal.reason, removal.source.split(", ")))
    for before, names in found.items():
        yield from (_with_capacity_name(editor, before, after) for after in names if after not in wanted)
        if not names:
            yield _without_capacity(editor, before, str(wanted[before]))


def _alike(name: str, published: Sequence[str]) -> list[str]:
    """Published names that mean the same but for their domain, else those that look like it."""
    own, last = _last(name), {each: _last(each) for each in published}
    near = (own,) if own in last.values() else similar(own, last.values())
    return [each for word in near for each in published if last[each] == word]


def _last(name: str) -> str:
    return name.rpartition("/")[2]


def _with_capacity_name(editor: ClaimEditor, before: str, after: str) -> Candidate:
    def edit(exactly: Form) -> Form:
        requests = exactly.capacity.requests if exactly.capacity is not None else {}
        renamed = {after if name == before else name: amount for name, amount in requests.items()}
        return msgspec.structs.replace(exactly, capacity=CapacityRequirements(requests=renamed))

    return editor.edit("capacity.name", before, after, edit, _COST["capacityName"])


def _without_capacity(editor: ClaimEditor, name: str, before: str) -> Candidate:
    def edit(exactly: Form) -> Form:
        requests = exactly.capacity.requests if exactly.capacity is not None else {}
        rest = {each: amount for each, amount in requests.items() if each != name}
        return msgspec.structs.replace(exactly, capacity=CapacityRequirements(requests=rest) if rest else None)

    return editor.edit(f"capacity.requests[{name}]", before, "", edit, _COST["capacityNone"])


def _not_all(editor: ClaimEditor, request: Form, count: int) -> Iterator[Candidate]:
    """A number of devices in place of all of them, the largest that works."""
    if request.allocation_mode == "All":
        yield from first_of([_with_number(editor, number) for number in range(count, 0, -1)][:_STEPS])


def _with_number(editor: ClaimEditor, count: int) -> Candidate:
    edit = changes.having(allocation_mode="ExactCount", count=count)
    return editor.edit("allocationMode", "All", f"ExactCount {count}", edit, _COST["count"])


def _all_mode_errors(case: Case) -> Iterator[Candidate]:
    """Requests for all devices that abort the attempt; how many there are could not be said, or are too many."""
    for cause in case.causes(Code.ALL_MODE_POOL, Code.ALL_MODE_CONSTRAINT, Code.TOO_MANY_DEVICES):
        most = MAX_RESULTS if cause.code is Code.TOO_MANY_DEVICES else 1
        claim = case.claim_of(cause)
        if claim is None:
            continue
        for name in _full_names(claim, cause.request):
            request = request_of(claim, name)
            assert request is not None  # noqa: S101 - it was named by its claim
            yield from _not_all(ClaimEditor(case, claim, name), request, most)


def _full_names(claim: ResourceClaim, name: str) -> Iterator[str]:
    """Errors call an alternative by its short name."""
    return (full for full, _ in forms(claim.spec) if full == name or full.rpartition("/")[2] == name)


def _renewed(case: Case) -> Iterator[Candidate]:
    """The claims as their templates, which were changed since, make them."""
    for key, template in case.changed_templates.items():
        ref = records.ObjectRef.of("ResourceClaim", key)
        action = RenewClaim(case.diagnosis.pod, ref, template, case.workload)
        yield Candidate(RemedyKind.RENEW_CLAIM, (action,), _COST["template"], (changes.renew_claim(key, template.key),))


# --- claims and classes ---------------------------------------------------------------------------------------------


def _fewer_requests(case: Case) -> Iterator[Candidate]:
    """Without one of several requests, unless a container names it."""
    named = {
        (use.name, use.request)
        for container in (*case.pod.spec.init_containers, *case.pod.spec.containers)
        for use in container.resources.claims
    }
    for claim in case.searched:
        requests, last = claim.spec.devices.requests, alike([claim])
        for name in [request.name for request in requests] if len(requests) > 1 else ():
            editor = ClaimEditor(case, claim, name)
            if not any((entry, name) in named for entry in case.entries(editor.key)):
                # One fewer of the same is what a smaller count is.
                cost = _COST["count" if name in last else "requests"]
                yield editor.of_spec("requests", name, "", changes.drop_request(name), cost)


def alike(claims: Iterable[ResourceClaim]) -> frozenset[str]:
    """The last of three or more requests of a claim that say the same but for their names: none other is dropped.

    Of two, one fewer leaves nothing that a constraint could hold together, or apart.
    """
    found: set[str] = set()
    for claim in claims:
        requests = [(each.name, msgspec.structs.replace(each, name="")) for each in claim.spec.devices.requests]
        for index, (name, said) in enumerate(requests):
            before, after = ([other for _, other in some] for some in (requests[:index], requests[index + 1 :]))
            if before.count(said) > 1 and said not in after:
                found.add(name)
    return frozenset(found)


def _fewer_alternatives(case: Case) -> Iterator[Candidate]:
    """Without an alternative whose class does not exist, which keeps the others from being tried."""
    for cause in case.causes(Code.CLASS_MISSING):
        parent, _, name = cause.request.partition("/")
        claim = case.claim_of(cause)
        if claim is None or not name:
            continue
        request = next((each for each in claim.spec.devices.requests if each.name == parent), None)
        if request is not None and len(request.first_available) > 1:
            edit, editor = changes.drop_alternative(parent, name), ClaimEditor(case, claim, parent)
            yield editor.of_spec("firstAvailable", cause.request, "", edit, _COST["requests"])


def _classes(case: Case) -> Iterator[Candidate]:
    """A class that exists in place of one that does not."""
    for cause in case.causes(Code.CLASS_MISSING):
        claim = case.claim_of(cause)
        if claim is None or not isinstance(cause.detail, records.ClassProblem):
            continue
        for name in _instead(case, cause, cause.detail):
            edit = changes.having(device_class_name=name)
            editor = ClaimEditor(case, claim, cause.request)
            yield editor.edit("deviceClassName", cause.detail.device_class, name, edit, _COST["deviceClassName"])


def _instead(case: Case, cause: records.Cause, missing: records.ClassProblem) -> Sequence[str]:
    """Classes that may be meant: of a similar name, of the missing one's driver, the only one.

    The driver has the name of the class, unless it is a public one, and of these the only class is somebody else's.
    """
    if "/" in cause.request:
        return missing.similar  # one alternative is rather dropped than asked for of another class
    classes = sorted(case.state.inventory.classes)
    public = PUBLIC_CLASSES.get(missing.device_class)
    of_driver = list(_of_driver(case, public.driver if public is not None else missing.device_class, classes))
    only = classes if len(classes) == 1 and public is None else ()
    return list(dict.fromkeys((*missing.similar, *of_driver, *only)))[:_CLASSES]


def _of_driver(case: Case, driver: str, classes: Sequence[str]) -> Iterator[str]:
    """Classes that have devices of a driver, which takes a look at all devices: only where there is such a driver."""
    if any(pool.driver == driver for pool in case.state.pools):
        known = offers(case.state)
        for each in classes:
            facts = known.of(each)
            if facts is not None and any(found.driver == driver for found in facts.devices):
                yield each


# --- the pod --------------------------------------------------------------------------------------------------------


def _pod(case: Case) -> Iterator[Candidate]:
    for cause in case.causes(Code.NODE_AFFINITY):
        if isinstance(cause.detail, records.NodeSelection):
            yield from _selecting_instead(case, cause.detail, cause.nodes)
            yield from _without_selection(case, cause.nodes)
            break
    for cause in case.causes(Code.NODE_TAINTS):
        if isinstance(cause.detail, records.NodeTaint) and not tells_of_node(cause.detail.taint):
            yield _tolerating(case, cause.detail.taint, cause.nodes)
    # A gang is another matter: the default scheduler would place its pods one by one.
    named = [cause.detail for cause in case.causes(Code.OTHER_SCHEDULER)]
    if any(isinstance(each, records.SchedulerName) and not kubelets_refuse(each.words) for each in named):
        name = case.pod.spec.scheduler_name
        yield pod_edit(case, "schedulerName", name, "", _POD_COST)


def _set_by_others(case: Case) -> Collection[str]:
    """The keys of the nodeSelector that Kueue or the RuntimeClass adds, and would add again."""
    _, added = flavors_that_select(case.state, case.pod)
    pod, state = case.pod, case.state
    name = pod.spec.runtime_class_name
    if name and name not in state.inventory.runtime_classes and not state.evidence.complete(RUNTIME_CLASS):
        # Which of them it sets is not known.
        return pod.spec.node_selector.keys()
    return added | selected_by_runtime(state, pod).keys()


def _selecting_instead(case: Case, found: records.NodeSelection, nodes: tuple[str, ...]) -> Iterator[Candidate]:
    """A label that some node has, in place of one like it in the nodeSelector that none has."""
    selector, added = case.pod.spec.node_selector, _set_by_others(case)
    for each in found.nowhere:
        value = selector.get(each.label)
        if value is None or each.label in added or each.wish != f"{each.label}={value}":
            continue
        kept = {k: v for k, v in selector.items() if k != each.label}
        for label in each.similar:
            key, _, instead = label.partition("=")
            if kept.get(key, instead) == instead:
                yield pod_edit(case, f"nodeSelector[{each.label}]", value, label, _POD_COST - 1, nodes)


def _without_selection(case: Case, nodes: tuple[str, ...]) -> Iterator[Candidate]:
    """Without a label of the nodeSelector, or without the required affinity."""
    spec, added = case.pod.spec, _set_by_others(case)
    for key, value in sorted(spec.node_selector.items()):
        if key not in added:
            yield pod_edit(case, f"nodeSelector[{key}]", value, "", _POD_COST, nodes)
    required = spec.affinity.node_affinity if spec.affinity is not None else None
    if required is not None and required.required_during_scheduling_ignored_during_execution is not None:
        yield pod_edit(case, "affinity.nodeAffinity", "required", "", _POD_COST, nodes)


def _tolerating(case: Case, taint: str, nodes: tuple[str, ...]) -> Candidate:
    return pod_edit(case, f"tolerations[{len(case.pod.spec.tolerations)}]", "", taint, _POD_COST, nodes)


def contained(ways: Sequence[Remedy]) -> list[Remedy]:
    """Edits to fewer devices than another way out of the same request asks for: who may have four wants no three."""
    counts: dict[tuple[records.ObjectRef, str], list[tuple[int, Remedy]]] = {}
    for way in ways:
        edit = way.actions[0]
        if len(way.actions) == 1 and isinstance(edit, EditClaim) and edit.field == "count" and edit.after.isdecimal():
            counts.setdefault((edit.template or edit.claim, edit.request), []).append((int(edit.after), way))
    return [way for found in counts.values() for number, way in found if number < max(most for most, _ in found)]
