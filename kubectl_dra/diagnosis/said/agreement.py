"""Comparing the predicted message with the one on the pod.

A text that differs although nothing changed since it was written would be a fault of the model; one about an earlier
state is merely old. What changed is told by resource versions, which grow through the whole cluster.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.diagnosis.records import Agreement, Observed
from kubectl_dra.diagnosis.said import events as events_
from kubectl_dra.model.core import Event, Pod
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.meta import ObjectMeta
from kubectl_dra.scheduler import fit_error, reasons

_SCHEDULING_EVENT = "FailedScheduling"
_CUT = " ..."
# What is simulated and comes after plugins that are not: they may take nodes away from it.
_AFTER_OTHERS = frozenset({fit_error.DYNAMIC_RESOURCES, "InterPodAffinity"})
# What ends by itself: another pod's attempt holds the claim, which only the scheduler's memory knows; or the attempt
# has allocated the claim itself for one entry of the pod, before it failed at another one that names the same claim.
_PASSING = (" is in the process of being allocated", " got allocated elsewhere in the meantime")
_NO_CLASS = re.compile(r"\bdevice class \S+ does not exist")


class Prediction(msgspec.Struct, frozen=True):
    """What the scheduler would write: nothing (``silent``), one of ``messages``, or what could not be predicted.

    ``earlier``: parts of what it wrote of the same reason when it still tried the pod, before it kept silent.
    With ``fitting`` nodes it would bind the pod; ``messages`` then tell what it says of all other nodes. ``unspread``:
    the pod has no spread constraints of its own.
    """

    messages: tuple[str, ...] = ()
    silent: bool = False
    fitting: int = 0
    earlier: tuple[str, ...] = ()
    unspread: bool = False

    def meets(self, actual: str) -> bool:
        """Whether one of the messages says the same."""
        return any(same(message, actual, self.fitting, self.unspread) for message in self.messages)


def most_telling(messages: Sequence[str], seen: Observed | None) -> str:
    """The message that is on the pod if it is among those that may be written, else the first; empty without any."""
    for message in messages:
        if seen is not None and same(message, seen.message):
            return seen.message if fit_error.without_made_up_names(message) != message else message
    return messages[0] if messages else ""


def observed(pod: Pod, events: Iterable[Event]) -> Observed | None:
    """The PodScheduled condition; its time is that of the last event with the same words, if that is later."""
    condition = next((c for c in pod.status.conditions if c.type == "PodScheduled"), None)
    if condition is None:
        return None
    times = [time for event in events if same_words(event, condition.message) and (time := events_.last_seen(event))]
    latest = max([*times, condition.last_transition_time or ""])
    return Observed(condition.status, condition.reason, condition.message, latest or "")


def same_words(event: Event, message: str) -> bool:
    """Whether an event of the scheduler holds the message, whole or cut."""
    if event.reason != _SCHEDULING_EVENT:
        return False
    text = events_.text(event)
    return text == message or (text.endswith(_CUT) and message.startswith(text.removesuffix(_CUT)))


def compare(prediction: Prediction, seen: Observed | None, changed_since: Callable[[], bool]) -> Agreement:
    """How the prediction relates to the condition. ``changed_since``: something that matters changed afterwards.

    That is asked only where it decides, as it takes a look at all objects.
    """
    if seen is None or seen.status != "False":
        if prediction.silent:
            return Agreement.AGREES
        return Agreement.UNOBSERVED if prediction.messages else Agreement.UNCHECKED
    if prediction.silent:
        return Agreement.AGREES if any(text in seen.message for text in prediction.earlier) else Agreement.STALE
    if not prediction.messages:
        return Agreement.UNCHECKED
    told = any(text in seen.message for text in prediction.earlier)
    if told or prediction.meets(seen.message):
        return Agreement.AGREES
    passing = any(text in seen.message for text in _PASSING)
    if passing or changed_since() or all(_tells_of_more(seen.message, message) for message in prediction.messages):
        return Agreement.STALE
    return Agreement.UNTRACED if prediction.fitting else Agreement.DIFFERS


def _tells_of_more(actual: str, predicted: str) -> bool:
    """Whether what the scheduler wrote is about nodes or a class that are gone: deletions leave no trace but this."""
    mine, theirs = fit_error.parse_fit_error(predicted), fit_error.parse_fit_error(actual)
    if mine is not None and theirs is not None and theirs.nodes > mine.nodes:
        return True
    return _NO_CLASS.search(predicted) is not None and _NO_CLASS.search(actual) is None


def same(predicted: str, actual: str, fitting: int = 0, unspread: bool = False) -> bool:
    """Whether two messages say the same: equal texts, or equal up to nodes that plugins not simulated here rejected."""
    predicted, actual = (
        fit_error.without_made_up_names(fit_error.without_idle_words(fit_error.without_preemption(text)))
        for text in (predicted, actual)
    )
    if predicted == actual and not fitting:
        return True
    mine, theirs = fit_error.parse_fit_error(predicted), fit_error.parse_fit_error(actual)
    return mine is not None and theirs is not None and _same_up_to_others(mine, theirs, fitting, unspread)


def _same_up_to_others(mine: fit_error.FitError, theirs: fit_error.FitError, fitting: int, unspread: bool) -> bool:
    """Other plugins run before DynamicResources and take nodes away from it, never from the simulated ones."""
    others = not_simulated(theirs, unspread=unspread)
    if not others or mine.nodes != theirs.nodes:
        return False
    if mine.pre_filter or theirs.pre_filter:
        return bool(theirs.pre_filter)
    taken = fitting
    for reason in {*mine.reasons, *theirs.reasons} - set(others):
        before, after = mine.reasons.get(reason, 0), theirs.reasons.get(reason, 0)
        if reasons.plugin_of(reason) not in _AFTER_OTHERS and before != after:
            return False
        if after > before:
            return False
        taken += before - after
    return taken <= sum(others.values())


def not_simulated(message: fit_error.FitError, blind: bool = False, unspread: bool = False) -> Mapping[str, int]:
    """The reasons that plugins not simulated here gave; one given before any node was tried is about all of them.

    ``blind``: nor are those of plugins that look at volumes and at other pods, as these were not read. ``unspread``:
    the pod has no spread constraints, and what the configuration of the scheduler gives it is not known.
    """
    counts = {message.pre_filter: message.nodes} if message.pre_filter else message.reasons
    known = reasons.is_about_nodes if blind else reasons.is_simulated
    return {reason: count for reason, count in counts.items() if not known(reason, unspread)}


def changed_since(metadata: ObjectMeta, newest: Sequence[tuple[int, str]]) -> bool:
    """Whether something that a decision about a pod or group depends on is newer than its own last change.

    The condition is part of the object, which is at least as new as its condition. Deletions leave no trace.
    ``newest`` is that of :func:`newest_versions`.
    """
    version = metadata.revision
    return version is None or any(other > version for other, uid in newest if not uid or uid != metadata.uid)


def _of_what_if(
    newest: tuple[tuple[int, str], ...], before: ClusterState, after: ClusterState
) -> tuple[tuple[int, str], ...] | None:
    """A cluster as it would be has no version of its own: what was said is as old as it was."""
    return newest if before.revision == after.revision else None


@derived(later=_of_what_if)
def newest_versions(state: ClusterState) -> tuple[tuple[int, str], ...]:
    """The highest resource versions of what decisions depend on, with the uid; two, as one may be the pod's own."""
    versions = ((metadata.revision or 0, metadata.uid) for metadata in _relevant(state.inventory))
    return tuple(heapq.nlargest(2, versions))


def _relevant(inventory: Inventory) -> Iterable[ObjectMeta]:
    objects = (inventory.claims, inventory.classes, inventory.slices, inventory.taint_rules, inventory.nodes)
    classic = inventory.classic
    old = (classic.classes, classic.class_parameters, classic.claim_parameters, classic.scheduling_contexts)
    for kind in (*objects, *old):
        for record in kind.values():
            yield record.metadata
    for pod in inventory.pods.values():
        if pod.spec.node_name:
            yield pod.metadata
