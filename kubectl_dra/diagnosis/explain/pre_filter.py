"""Why the scheduler rejects a pod before it looks at any node, as causes.

The decision is that of the PreFilter of plugins (``kubectl_dra.scheduler``). The first problem ends it; of claims
all are reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from kubectl_dra.allocation.errors import NodeSelectorUnparsable
from kubectl_dra.allocation.input import nodes
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.explain.volumes import volume_causes
from kubectl_dra.diagnosis.records import Cause, ClassProblem, FatalError, NodeSelection, ObjectRef, PluginText
from kubectl_dra.model.likeness import similar
from kubectl_dra.model.meta import NodeSelector
from kubectl_dra.model.resource import ResourceClaim
from kubectl_dra.scheduler import claim_problems, fit_error
from kubectl_dra.scheduler.allocation_errors import selector_problems
from kubectl_dra.scheduler.claim_problems import RequestProblem
from kubectl_dra.scheduler.fit_error import DYNAMIC_RESOURCES
from kubectl_dra.scheduler.reasons import PluginSubject, kind_of
from kubectl_dra.scheduler.snapshot import Snapshot
from kubectl_dra.scheduler.status import Status, StatusCode


@dataclass(frozen=True, slots=True)
class PreFilterStop:
    """The attempt ends before any node is looked at; ``fatal`` makes it a SchedulerError.

    ``certain`` is False where a class is missing that may merely not have been read. ``post_filter`` is what the
    plugin's PostFilter makes of it, where that does not depend on the version.
    """

    text: str
    fatal: bool
    causes: tuple[Cause, ...]
    certain: bool = True
    post_filter: str = ""
    plugin: str = DYNAMIC_RESOURCES

    def message(self, nodes_total: int, post_filter: str = "") -> str:
        """The message that the scheduler writes; ``post_filter`` is what the plugin adds to a rejection."""
        if self.fatal:
            return fit_error.pre_filter_error(self.text, self.plugin)
        return fit_error.pre_filter_rejection(nodes_total, self.text, self.post_filter or post_filter)


def stop_of(
    state: ClusterState, status: Status, claims: Sequence[ResourceClaim], *, reached_devices: bool
) -> PreFilterStop:
    """What ended the attempt; a plugin before DynamicResources keeps its PostFilter from doing anything."""
    if isinstance(status.detail, PreFilterStop):
        return status.detail
    if status.plugin == DYNAMIC_RESOURCES:
        # Else an entry has no claim that could be used, which keeps a real pod out of the queue.
        return check_claims(state, claims) or PreFilterStop(status.message, False, ())
    fatal = status.code is StatusCode.ERROR
    text = status.message.removeprefix(fit_error.pre_filter_error("", status.plugin))
    post_filter = "" if reached_devices else fit_error.NO_STATE
    causes = tuple(volume_causes(status.detail)) or (_cause_of(status, text),)
    return PreFilterStop(text, fatal, causes, post_filter=post_filter, plugin=status.plugin)


_CODES: Final = {
    PluginSubject.NODES: Code.NODE_AFFINITY,
    PluginSubject.VOLUMES: Code.VOLUMES,
    PluginSubject.TOPOLOGY: Code.TOPOLOGY,
    PluginSubject.OTHER: Code.OTHER_PLUGIN,
}


def _cause_of(status: Status, text: str) -> Cause:
    code = _CODES[kind_of(status.plugin)]
    if code is Code.NODE_AFFINITY:
        return Cause(code, NodeSelection((text,)))
    return Cause(code, PluginText(status.plugin, text))


def check_claims(state: ClusterState, claims: Sequence[ResourceClaim]) -> PreFilterStop | None:
    """What keeps the existing claims of a pod from being tried on any node."""
    return first_of([problem for claim in claims for problem in problems_of(state, claim)])


def first_of(problems: Sequence[PreFilterStop]) -> PreFilterStop | None:
    """The first problem, which ends the attempt, with the causes of all."""
    if not problems:
        return None
    first = problems[0]
    return replace(first, causes=tuple(dict.fromkeys(cause for problem in problems for cause in problem.causes)))


def problems_of(state: ClusterState, claim: ResourceClaim) -> Iterator[PreFilterStop]:
    """Everything that is wrong with one claim, in the scheduler's order."""
    for status in claim_problems.problems_of(Snapshot(state), claim):
        assert isinstance(status.detail, RequestProblem)  # noqa: S101 - each has one
        yield _claim_problem(state, status, status.detail)


def _claim_problem(state: ClusterState, status: Status, problem: RequestProblem) -> PreFilterStop:
    text, fatal, ref = status.message, status.code is StatusCode.ERROR, ObjectRef.of_claim(problem.claim)
    classes = state.inventory.classes
    if problem.device_class:
        detail = ClassProblem(problem.device_class, similar(problem.device_class, classes))
        cause = Cause(Code.CLASS_MISSING, detail, ref, problem.request)
        return PreFilterStop(text, fatal, (cause,), certain=state.evidence.complete("DeviceClass"))
    code = Code.REQUEST_MALFORMED
    if not problem.request:
        code = Code.NODE_SELECTOR_MALFORMED
    elif problem.disabled:
        code = Code.FEATURE_DISABLED
    return PreFilterStop(text, fatal, (Cause(code, FatalError(text), ref, problem.request),))


def unparsable(claim: ResourceClaim, selector: NodeSelector | None) -> Iterator[PreFilterStop]:
    """A node selector of the claim's class that can't be parsed."""
    if selector is not None and (problems := nodes.parse(selector).problems):
        text = selector_problems(NodeSelectorUnparsable(selector, problems))
        yield PreFilterStop(
            text, True, (Cause(Code.NODE_SELECTOR_MALFORMED, FatalError(text), ObjectRef.of_claim(claim)),)
        )
