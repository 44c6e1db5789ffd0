"""What the scheduler decides about a pod before it looks at any node.

Upstream: RunPreFilterPlugins and the PreFilter of nodeaffinity and dynamicresources. The first problem ends it; all of
them are reported as causes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from kubectl_dra.allocation import nodes
from kubectl_dra.allocation.errors import NodeSelectorUnparsable
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.nodefilters.affinity import CONFLICT_TEXT
from kubectl_dra.diagnosis.records import Cause, ClassProblem, FatalError, NodeSelection, ObjectRef
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.likeness import similar
from kubectl_dra.model.meta import NodeSelector
from kubectl_dra.model.resource import DeviceRequest, ResourceClaim
from kubectl_dra.scheduler import fit_error
from kubectl_dra.scheduler.allocation_errors import allocation_error


@dataclass(frozen=True, slots=True)
class Stop:
    """The attempt ends before any node is looked at; ``fatal`` makes it a SchedulerError.

    ``certain`` is False where a class is missing that may merely not have been read. ``post_filter`` is what the
    plugin's PostFilter makes of it, where that does not depend on the version.
    """

    text: str
    fatal: bool
    causes: tuple[Cause, ...]
    certain: bool = True
    post_filter: str = ""

    def message(self, nodes_total: int, post_filter: str = "") -> str:
        """The message that the scheduler writes; ``post_filter`` is what the plugin adds to a rejection."""
        if self.fatal:
            return fit_error.pre_filter_error(self.text)
        return fit_error.pre_filter_rejection(nodes_total, self.text, self.post_filter or post_filter)


def affinity_conflict() -> Stop:
    """Every term of the required affinity names nodes that contradict each other.

    NodeAffinity ends the attempt before the plugin's PreFilter, whose notes its PostFilter then misses.
    """
    cause = Cause(Code.NODE_AFFINITY, NodeSelection((CONFLICT_TEXT,)))
    return Stop(CONFLICT_TEXT, False, (cause,), post_filter=fit_error.NO_STATE)


def check_claims(world: ClusterState, claims: Sequence[ResourceClaim]) -> Stop | None:
    """What keeps the existing claims of a pod from being tried on any node."""
    return first_of([problem for claim in claims for problem in problems_of(world, claim)])


def first_of(problems: Sequence[Stop]) -> Stop | None:
    """The first problem, which ends the attempt, with the causes of all."""
    if not problems:
        return None
    first = problems[0]
    return replace(first, causes=tuple(dict.fromkeys(cause for problem in problems for cause in problem.causes)))


def problems_of(world: ClusterState, claim: ResourceClaim) -> Iterator[Stop]:
    """Everything that is wrong with one claim, in the scheduler's order."""
    allocation = claim.status.allocation
    if allocation is None:
        for request in claim.spec.devices.requests:
            yield from _request_problems(world, claim, request)
    else:
        yield from unparsable(claim, allocation.node_selector)


def unparsable(claim: ResourceClaim, selector: NodeSelector | None) -> Iterator[Stop]:
    """A node selector of the claim's allocation, or of its class, that can't be parsed."""
    if selector is not None and (problems := nodes.parse(selector).problems):
        text = allocation_error(NodeSelectorUnparsable(selector, problems))
        yield _stop(Code.NODE_SELECTOR_MALFORMED, text, claim, "", fatal=True)


def _request_problems(world: ClusterState, claim: ResourceClaim, request: DeviceRequest) -> Iterator[Stop]:
    subrequests = request.first_available
    if request.exactly is not None:
        yield from _class_problems(world, claim, request.name, request.exactly.device_class_name)
    elif subrequests and not world.features.prioritized_list:
        text = "has subrequests, but the DRAPrioritizedList feature is disabled"
        yield _stop(Code.FEATURE_DISABLED, _about(claim, request, text), claim, request.name)
    elif subrequests:
        for subrequest in subrequests:
            name = f"{request.name}/{subrequest.name}"
            yield from _class_problems(world, claim, name, subrequest.device_class_name)
    else:
        yield _stop(Code.REQUEST_MALFORMED, _about(claim, request, "unknown request type"), claim, request.name)


def _about(claim: ResourceClaim, request: DeviceRequest, text: str) -> str:
    return f"resource claim {key_of(claim.metadata)}, request {request.name}: {text}"


def _class_problems(world: ClusterState, claim: ResourceClaim, request: str, device_class: str) -> Iterator[Stop]:
    classes = world.inventory.classes
    if not device_class:
        text = f"request {request}: unsupported request type"
        yield _stop(Code.REQUEST_MALFORMED, text, claim, request, fatal=True)
    elif device_class not in classes:
        detail = ClassProblem(device_class, similar(device_class, classes))
        cause = Cause(Code.CLASS_MISSING, detail, _ref(claim), request)
        text = f"request {request}: device class {device_class} does not exist"
        yield Stop(text, False, (cause,), certain=world.evidence.complete("DeviceClass"))


def _stop(code: Code, text: str, claim: ResourceClaim, request: str, fatal: bool = False) -> Stop:
    return Stop(text, fatal, (Cause(code, FatalError(text), _ref(claim), request),))


def _ref(claim: ResourceClaim) -> ObjectRef:
    return ObjectRef.of("ResourceClaim", key_of(claim.metadata))


def classes_known(world: ClusterState, claims: Iterable[ResourceClaim]) -> bool:
    """Whether every class that the claims name was read."""
    for claim in claims:
        for request in claim.spec.devices.requests:
            forms = (request.exactly, *request.first_available)
            if any(form is not None and form.device_class_name not in world.inventory.classes for form in forms):
                return world.evidence.complete("DeviceClass")
    return True
