"""Objects that could not be read and may change the pods of a trial, or want more of them.

How many copies fit at the most where a DeviceClass could not be read: a request's own selectors limit them as well. A
class can only take devices away. Which of those that are left the search would take is not asked: counted are devices
that are free and that the selectors of one request match, on all nodes together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.gates import pod_admission
from kubectl_dra.diagnosis.pod import needs
from kubectl_dra.diagnosis.pod.missing import DEVICE_CLASS, lacking
from kubectl_dra.diagnosis.records import Missing
from kubectl_dra.model.core import Pod
from kubectl_dra.model.forms import class_names
from kubectl_dra.model.ids import DeviceId, Key
from kubectl_dra.model.resource import Device, DeviceRequest, ResourceClaimSpec
from kubectl_dra.reports.simulation.autoscaled import may_be_scaled
from kubectl_dra.reports.simulation.existing import existing
from kubectl_dra.reports.simulation.records import PodSimulation
from kubectl_dra.reports.simulation.stops import AtMost, OpenClasses
from kubectl_dra.reports.simulation.trials import PodTrial
from kubectl_dra.scheduler.claims import sources
from kubectl_dra.selectors.evaluate import Outcome, SelectorSet, placed

_EXACT: Final = "ExactCount"


def with_unread(
    state: ClusterState, trial: PodTrial, found: PodSimulation, new_namespaces: Collection[str]
) -> PodSimulation:
    """What came of a trial, with what was not read; a namespace that does not exist yet holds nothing."""
    planned, pod = trial.planned, trial.plan.pod
    found = _with_at_most(state, trial, found)
    if found.wanted == 0 or trial.is_bare or (planned.kind == "Pod" and existing(state.inventory, planned)):
        return found
    missing = list(unread_admission(state, pod, new_namespaces))
    namespace = pod.metadata.namespace
    if may_be_scaled(planned) and not (namespace in new_namespaces or _complete(state, needs.AUTOSCALERS, namespace)):
        missing.append(_lacking(state, needs.AUTOSCALERS, namespace))
    return msgspec.structs.replace(found, beside=tuple(missing)) if missing else found


def unread_admission(state: ClusterState, pod: Pod, new_namespaces: Collection[str]) -> Iterator[Missing]:
    """What may add to a pod that is created, or refuse it, and was not read."""
    namespace = pod.metadata.namespace
    if namespace not in new_namespaces and not _complete(state, needs.LIMITS, namespace):
        yield _lacking(state, needs.LIMITS, namespace)
    if not pod_admission.runtime_is_known(pod, state):
        yield _lacking(state, needs.RUNTIMES, "")


def _complete(state: ClusterState, need: needs.Need, namespace: str) -> bool:
    return state.evidence.complete(need.kind, namespace)


def _lacking(state: ClusterState, need: needs.Need, namespace: str) -> Missing:
    return lacking(state.evidence, replace(need, decides=True), namespace)


def _with_at_most(state: ClusterState, trial: PodTrial, found: PodSimulation) -> PodSimulation:
    """What came of a trial, with the classes that were not read and how many copies fit at the most."""
    if state.evidence.complete(DEVICE_CLASS) or not found.undecided:
        return found
    specs = list(_specs(state, trial))
    names = dict.fromkeys(name for spec in specs for name in class_names(spec))
    unread = tuple(name for name in names if name not in state.inventory.classes)
    if not unread:
        return found
    # Pods that a rollout replaces give their devices back.
    if found.replaces or not state.evidence.complete("ResourceSlice"):
        return msgspec.structs.replace(found, open_classes=OpenClasses(unread))
    limits = (_limit(state, request, found.present) for spec in specs for request in spec.devices.requests)
    least = min((each for each in limits if each is not None), key=lambda each: each.copies, default=None)
    enough = least is None or (found.wanted is not None and least.copies >= found.wanted)
    return msgspec.structs.replace(found, open_classes=OpenClasses(unread, None if enough else least))


def _specs(state: ClusterState, trial: PodTrial) -> Iterator[ResourceClaimSpec]:
    """Of the claims that each copy gets; one that all share does not limit their number."""
    pod = trial.plan.pod
    for entry in pod.spec.resource_claims:
        template = state.inventory.templates.get(Key(pod.metadata.namespace, sources(entry)[1] or ""))
        if template is not None:
            yield template.spec.spec


def _limit(state: ClusterState, request: DeviceRequest, present: int) -> AtMost | None:
    """None where devices may be shared, or the request takes more or less than a number of them."""
    exactly = request.exactly
    if exactly is None or exactly.admin_access or exactly.allocation_mode not in ("", _EXACT):
        return None
    selectors = SelectorSet(placed(exactly.selectors, None), state.features.shows_sharing)
    # One that raises an error may be refused by the class before.
    matching = [each for driver, each in _free(state) if selectors.of(driver, each).outcome is not Outcome.NO]
    if any(each.allow_multiple_allocations for each in matching):
        return None
    count = max(exactly.count, 1)
    return AtMost(len(matching) // count + present, len(matching), count, request.name, bool(exactly.selectors))


def _free(state: ClusterState) -> Iterator[tuple[str, Device]]:
    held = state.inventory.holdings_by_device
    for pool in state.pools:
        for _, device in state.published(pool):
            holdings = held.get(DeviceId(pool.driver, pool.pool, device.name), ())
            if all(each.result.admin_access for each in holdings):
                yield pool.driver, device
