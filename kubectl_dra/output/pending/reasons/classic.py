"""Claims of old generations, which a driver's controller decides."""

from __future__ import annotations

from typing import Final

from kubectl_dra.diagnosis import records
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.output.pending.reasons.sentence import Sentence, object_name, with_detail
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.words import listed, shortened


def _driver(negotiation: records.Negotiation) -> Safe:
    return fmt("driver {}", negotiation.driver) if negotiation.driver else Safe("its driver")


def _by_driver(text: str) -> Sentence:
    """A sentence about a claim and the driver that decides about it."""

    def say(negotiation: records.Negotiation, cause: records.Cause) -> Safe:
        return fmt(text, claim=object_name(cause.claim), driver=_driver(negotiation))

    return with_detail(records.Negotiation, say)


def _not_shareable(consumers: records.Consumers, cause: records.Cause) -> Safe:
    users = listed([str(ref.key) for ref in consumers.present])
    return fmt("its ResourceClaim {} cannot be shared and is used by {}", object_name(cause.claim), users)


def _resource_class_missing(problem: records.ClassProblem, cause: records.Cause) -> Safe:
    return fmt(
        "ResourceClass {}, which its ResourceClaim {} names, does not exist",
        problem.device_class,
        object_name(cause.claim),
    )


def _parameters_missing(problem: records.ParametersProblem, cause: records.Cause) -> Safe:
    whose = Safe("the class of its ResourceClaim {}") if problem.owner == "class" else Safe("its ResourceClaim {}")
    where = fmt(" in namespace {}", problem.namespace) if problem.namespace else Safe("")
    made = Safe("the parameters generated from ") if problem.generated else Safe("")
    does = Safe("do not exist") if problem.generated else Safe("does not exist")
    owner = fmt(whose, object_name(cause.claim))
    return fmt("{}{} {}{}, which {} refers to, {}", made, problem.kind, problem.name, where, owner, does)


def _class_excludes(problem: records.ClassProblem, cause: records.Cause) -> Safe:
    claim = object_name(cause.claim)
    return fmt("class {} of its ResourceClaim {} excludes {}", problem.device_class, claim, _on_nodes(cause))


def _on_nodes(cause: records.Cause) -> Safe:
    return fmt("node {}", cause.nodes[0]) if len(cause.nodes) == 1 else fmt("nodes {}", shortened(cause.nodes, 3))


def _unsuitable(negotiation: records.Negotiation, cause: records.Cause) -> Safe:
    claim = object_name(cause.claim)
    return fmt(
        "{} reports that it cannot allocate ResourceClaim {} for {}", _driver(negotiation), claim, _on_nodes(cause)
    )


def _allocates(negotiation: records.Negotiation, cause: records.Cause) -> Safe:
    node, claim = negotiation.selected_node, object_name(cause.claim)
    return fmt("{} is asked to allocate ResourceClaim {} for node {} and has not", _driver(negotiation), claim, node)


def _named_fails(error: records.FatalError, _cause: records.Cause) -> Safe:
    return fmt("the selector of {} raises an error on {}", error.owner, error.device)


def _foreign(_error: records.FatalError, _cause: records.Cause) -> Safe:
    return Safe("the PodSchedulingContext of its name belongs to another pod")


SENTENCES: Final[dict[Code, Sentence]] = {
    Code.DEALLOCATION_REQUESTED: _by_driver(
        "{driver} is asked to deallocate its ResourceClaim {claim}, which admits no pod meanwhile"
    ),
    Code.CLAIM_NOT_SHAREABLE: with_detail(records.Consumers, _not_shareable),
    Code.IMMEDIATE_NOT_ALLOCATED: _by_driver(
        "{driver} has not allocated its ResourceClaim {claim}, which does not wait for pods, yet"
    ),
    Code.RESOURCE_CLASS_MISSING: with_detail(records.ClassProblem, _resource_class_missing),
    Code.PARAMETERS_MISSING: with_detail(records.ParametersProblem, _parameters_missing),
    Code.CLASS_EXCLUDES_NODE: with_detail(records.ClassProblem, _class_excludes),
    Code.NODE_UNSUITABLE: with_detail(records.Negotiation, _unsuitable),
    Code.NAMED_SELECTOR_FAILS: with_detail(records.FatalError, _named_fails),
    Code.CONTROLLER_DISABLED: _by_driver(
        "its ResourceClaim {claim} is left to {driver}, and DRAControlPlaneController is off in the scheduler"
    ),
    Code.SCHEDULER_WILL_ASK: _by_driver(
        "its ResourceClaim {claim} waits for its first consumer; the scheduler will ask {driver} at its next attempt"
    ),
    Code.DRIVER_SILENT: _by_driver("{driver} has not said yet on which nodes it can allocate ResourceClaim {claim}"),
    Code.DRIVER_ALLOCATES: with_detail(records.Negotiation, _allocates),
    Code.NEVER_SELECTED: _by_driver(
        "this scheduler never selects a node for ResourceClaim {claim} of {driver} beside as many claims of its own"
    ),
    Code.NEGOTIATION_FOREIGN: with_detail(records.FatalError, _foreign),
}
