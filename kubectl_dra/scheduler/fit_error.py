"""The literal texts of a PodScheduled condition: composing them from reasons, and taking observed ones apart.

Upstream: the scheduler's FitError, the wrapping of plugin errors in framework/runtime, RunPostFilterPlugins.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from kubectl_dra.model.meta import ObjectMeta

UNSCHEDULABLE: Final = "Unschedulable"
SCHEDULER_ERROR: Final = "SchedulerError"
SCHEDULING_GATED: Final = "SchedulingGated"
GATED_MESSAGE: Final = "Scheduling is blocked due to non-empty scheduling gates"
NO_NODES_MESSAGE: Final = "no nodes available to schedule pods"
DEALLOCATED: Final = "deallocation of ResourceClaim completed"
DELETED: Final = "deletion of ResourceClaim completed"
# What the plugin says up to 1.36 where it changes nothing: the pod has claims, or it got none as far as PostFilter.
NOTHING_HELPED: Final = "still not schedulable"
NO_CLAIMS: Final = "no new claims to deallocate"

# An error of PostFilter, which also keeps DefaultPreemption from saying anything.
NO_STATE: Final = "not found"

DYNAMIC_RESOURCES: Final = "DynamicResources"
_FIT_ERROR: Final = re.compile(r"0/(\d{1,9}) nodes are available:(.*)", re.DOTALL)
_COUNTED: Final = re.compile(r"(\d{1,9}) (.+)", re.DOTALL)
# What PostFilter plugins append; DefaultPreemption is the last one and always says something.
_MADE_UP: Final = "?????"
_OWN_CLAIM: Final = re.compile(r'(?<=create claim for extended resources )[^"]*"[^"]*"')
_PREEMPTION: Final = re.compile(r"(?:, | )(?:pod group )?preemption: .*\Z", re.DOTALL)
_SAYS_NOTHING: Final = (NOTHING_HELPED, NO_CLAIMS)
_POST_FILTER: Final = (DEALLOCATED, DELETED, NO_STATE, *_SAYS_NOTHING)


def fit_error(nodes: int, reasons: Iterable[str] | Mapping[str, int], post_filter: str = "") -> str:
    """``0/N nodes are available: …``: one reason per (node, text), or how many have each; sorted as strings."""
    counted = sorted(f"{count} {text}" for text, count in Counter(reasons).items())
    message = f"0/{nodes} nodes are available:" + (f" {', '.join(counted)}." if counted else "")
    return f"{message} {post_filter}" if post_filter else message


def pre_filter_rejection(nodes: int, text: str, post_filter: str = "") -> str:
    """The same where a plugin rejected the pod before any node was looked at."""
    message = f"0/{nodes} nodes are available: {text}."
    return f"{message} {post_filter}" if post_filter else message


def pre_filter_error(text: str, plugin: str = DYNAMIC_RESOURCES) -> str:
    """An error before any node was looked at."""
    return f'running PreFilter plugin "{plugin}": {text}'


def filter_error(text: str) -> str:
    return f'running "{DYNAMIC_RESOURCES}" filter plugin: {text}'


def pre_bind_error(text: str) -> str:
    """An error while the decision was written."""
    return f'running PreBind plugin "{DYNAMIC_RESOURCES}": {text}'


def own_claim_refused(metadata: ObjectMeta, refusal: str) -> str:
    """What PreBind says where the claim for extended resources is refused; its name is made up by the API server."""
    where = f"create claim for extended resources {metadata.namespace}/: resourceclaims.resource.k8s.io"
    return f'{where} "{metadata.generate_name}{_MADE_UP}" is forbidden: {refusal}'


def without_made_up_names(message: str) -> str:
    """A message without the name that the API server made up for a claim."""
    return _OWN_CLAIM.sub(_MADE_UP, message)


def without_preemption(message: str) -> str:
    """A message without the tail that DefaultPreemption appends."""
    return _PREEMPTION.sub("", message)


def without_idle_words(message: str) -> str:
    """A message without the text that only says that PostFilter changed nothing, which depends on the version."""
    return next((message.removesuffix(f" {text}") for text in _SAYS_NOTHING if message.endswith(text)), message)


class FitError(msgspec.Struct, frozen=True):
    """A message taken apart: number of nodes, reasons with counts, or the one text of a PreFilter plugin."""

    nodes: int
    reasons: Mapping[str, int] = msgspec.field(default_factory=dict)
    pre_filter: str = ""


def parse_fit_error(message: str) -> FitError | None:
    """Take a ``0/N nodes are available`` message apart; None for any other text."""
    match = _FIT_ERROR.fullmatch(without_preemption(message))
    if match is None:
        return None
    nodes, rest = int(match[1]), match[2].strip()
    post_filter = next((text for text in _POST_FILTER if rest.endswith(text)), "")
    rest = rest.removesuffix(post_filter).strip().removesuffix(".")
    reasons = _reasons(rest)
    if reasons is None:
        return FitError(nodes, pre_filter=rest)
    return FitError(nodes, reasons)


def _reasons(text: str) -> dict[str, int] | None:
    """Reasons and counts; None if the text does not begin with a count. A comma inside a reason stays in it."""
    if not text:
        return {}
    found: list[tuple[int, str]] = []
    for part in text.split(", "):
        match = _COUNTED.fullmatch(part)
        if match is not None:
            found.append((int(match[1]), match[2]))
        elif found:
            count, begun = found[-1]
            found[-1] = (count, f"{begun}, {part}")
        else:
            return None
    return {reason: count for count, reason in found}
