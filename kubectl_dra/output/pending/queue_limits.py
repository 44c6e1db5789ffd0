"""Limits of the queues of KAI and YuniKorn, which their schedulers tell in words: what is short, and what makes room.

Upstream: KAI-Scheduler, pkg/scheduler/api/messages.go; yunikorn-core, pkg/scheduler/objects/events (ask events), whose
amounts are milli-cores (vcore) and bytes, and where a resource that is not limited stands only among those requested.
KAI wants the queue's name on claims that pods share, too (pkg/scheduler/plugins/dynamicresources, preFilter).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from kubectl_dra.diagnosis.gangs.elsewhere import KAI, VOLCANO, YUNIKORN
from kubectl_dra.diagnosis.records import GangElsewhere
from kubectl_dra.model.invocation import Address
from kubectl_dra.model.names import is_label
from kubectl_dra.output.pending.amounts import part_of
from kubectl_dra.output.pending.volcano_words import plain_words
from kubectl_dra.output.safe import Safe, command_line, fmt, safe
from kubectl_dra.output.words import listed
from kubectl_dra.reports.invocations import changing, kubectl, of, reading

_OF_KAI: Final = (
    re.compile(r"^(?P<queue>\S+) quota has reached the allowable (?P<field>limit) of (?P<what>GPUs|CPU|memory)"),
    re.compile(r"^Non-preemptible .* \S+ (?P<what>GPUs|CPU|GB memory)[^,]*, but (?P<queue>\S+) (?P<field>quota) is "),
)
_UNLABELLED: Final = re.compile(
    r"\bDRA claim (?P<claim>\S+) is a shared GPU claim (?:but does not have|with wrong)\b"
    r"(?:.* claim queue label: (?P<other>[^\s,)]+))?"
)
_NO_QUEUE: Final = re.compile(r"^Queue '(?P<queue>[^']+)' does not exist")
#: What a field of a queue of KAI limits, by its message.
_FIELDS: Final = {"GPUs": "gpu", "CPU": "cpu", "memory": "memory", "GB memory": "memory"}
_KAI_QUEUES: Final = "queues.scheduling.run.ai"
_KAI_LABEL: Final = "kai.scheduler/queue"
_OF_YUNIKORN: Final = re.compile(
    r"^Request '[^']*' (?:does not fit in queue '(?P<queue>[^']*)'|exceeds the available user quota) "
    r"\(requested map\[(?P<wanted>[^\]]*)\], available map\[(?P<left>[^\]]*)\]\)"
)
_NAMES: Final = {"vcore": "cpu"}


class QueueLimit(NamedTuple):
    """``told``: the scheduler's words in units that people use; None where they are plain already.

    ``field``: of the Queue of KAI that limits it. ``claim``: the shared one that has not the label of the queue,
    but perhaps that of an ``other``.
    """

    queue: str
    field: str = ""
    told: Safe | None = None
    claim: str = ""
    other: str = ""


def limit_of(gang: GangElsewhere) -> QueueLimit | None:
    """The limit that keeps a pod in its queue, by the scheduler's last words."""
    if gang.system == KAI.name:
        if (unlabelled := _UNLABELLED.search(gang.words)) is not None:
            claim = unlabelled["claim"]
            value = fmt("={}", gang.queue) if gang.queue else Safe("")
            other = unlabelled["other"] or ""
            has = fmt(", but that of queue {}", other) if other else Safe("")
            told = fmt("its shared claim {} does not have the label {}{}{}", claim, _KAI_LABEL, value, has)
            return QueueLimit(gang.queue, told=told, claim=claim, other=other)
        if (missing := _NO_QUEUE.match(gang.words)) is not None:
            return QueueLimit(missing["queue"], told=fmt("queue {} does not exist", missing["queue"]))
        found = next((match for each in _OF_KAI if (match := each.match(gang.words)) is not None), None)
        if found is None:
            return None
        return QueueLimit(found["queue"], f"spec.resources.{_FIELDS[found['what']]}.{found['field']}")
    match = _OF_YUNIKORN.match(gang.words) if gang.system == YUNIKORN.name else None
    return _of_yunikorn(match) if match is not None else None


def _of_yunikorn(match: re.Match[str]) -> QueueLimit | None:
    wanted, left = _amounts(match["wanted"]), _amounts(match["left"])
    short = [name for name, number in wanted.items() if name in left and left[name] < number]
    if not short:
        return None
    amounts = listed([part_of(_NAMES.get(name, name), max(left[name], 0), wanted[name]) for name in short])
    whose = fmt("queue {}", match["queue"]) if match["queue"] else Safe("the quota of its user")
    return QueueLimit(match["queue"] or "", told=fmt("of what it requests, {} has only {} left", whose, amounts))


def _amounts(text: str) -> Mapping[str, int]:
    """Of Go's ``map[memory:1024 vcore:2000]``; what is not a number is left out."""
    pairs = (each.rpartition(":") for each in text.split())
    return {name: int(number) for name, _, number in pairs if number.lstrip("-").isdecimal()}


def words_of(gang: GangElsewhere) -> Safe:
    """What the scheduler says, in plain words where they are known."""
    limit = limit_of(gang)
    told = limit.told if limit is not None else plain_words(gang.words) if gang.system == VOLCANO.name else None
    return told if told is not None else safe(gang.words.rstrip(". "))


def limit_advice(gang: GangElsewhere, limit: QueueLimit) -> Safe:
    """Whose end makes room, and which field of what says how much there is."""
    queue = fmt("queue {}", limit.queue) if limit.queue else Safe("its user")
    if gang.system == YUNIKORN.name:
        whose = fmt("the queue raise its resources.max" if limit.queue else "the queues raise the limit of the user")
        text = (
            "Wait until other work of {} ends, request no more than is left, or have whoever manages {} in YuniKorn's "
            "configuration (ConfigMap yunikorn-configs).{}"
        )
        return fmt(text, queue, whose, _besides(gang))
    if limit.other:
        text = (
            "Pods of queue {} share claim {}, and would be refused with another label on it: request a claim of its "
            "own, or put all pods that share it into one queue.{}"
        )
        return fmt(text, limit.other, limit.claim, _besides(gang))
    if limit.claim:
        text = (
            "Give claim {} the label {}, with the name of the queue of all pods that share it. KAI wants that of "
            "claims that are not made from a template; it tries again by itself.{}"
        )
        return fmt(text, limit.claim, _KAI_LABEL, _besides(gang))
    if not limit.field:
        text = (
            "Name a queue that exists in label {} of the pod's template, or have whoever manages the queues of KAI "
            "create {}.{}"
        )
        return fmt(text, _KAI_LABEL, queue, _besides(gang))
    preemptible = Safe(
        ", or give the pod a PriorityClass that may be preempted, which may use more than the quota"
        if limit.field.endswith("quota")
        else ""
    )
    text = "Wait until other work of {} ends, end some of it, or have whoever manages the queue raise its {}{}.{}"
    return fmt(text, queue, limit.field, preemptible, _besides(gang))


def _besides(gang: GangElsewhere) -> Safe:
    """That there is room on nodes, where there is for all of its pods."""
    fits = gang.fitting is not None and gang.fitting >= gang.waiting
    return Safe(" Nodes and devices are not what it waits for." if fits else "")


def limit_commands(gang: GangElsewhere, namespace: str, address: Address) -> Iterator[Safe]:
    """What shows a queue of KAI, and the work that it has; what labels a claim."""
    limit = limit_of(gang)
    if limit is None or gang.system != KAI.name:
        return
    if limit.other:
        return
    if limit.claim:
        label = f"{_KAI_LABEL}={limit.queue}"
        words = kubectl("label", of("resourceclaim", limit.claim, namespace), label, "--overwrite")
        yield from command_line("  {}", changing(words, address)) if is_label(limit.queue) else ()
        return
    if not limit.field:
        yield from command_line("The queues that exist: {}", reading(kubectl("get", _KAI_QUEUES), address))
        return
    shown = kubectl("get", of(_KAI_QUEUES, limit.queue), "-o", "yaml")
    yield from command_line("Its limits, and what is allocated: {}", reading(shown, address))
    if limit.queue == gang.queue:
        pods = kubectl("get", "pods", "-A", "-l", f"{_KAI_LABEL}={limit.queue}", "-o", "wide")
        yield from command_line("The work of the queue: {}", reading(pods, address))
