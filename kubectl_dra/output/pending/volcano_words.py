"""What Volcano says of a group that does not start, in plain words.

Upstream: volcano, pkg/scheduler/plugins/gang (the counts of JobInfo.FitError) and pkg/scheduler/api/unschedule_info.go,
which writes of nodes as kube-scheduler does, but for one word.
"""

from __future__ import annotations

import re
from typing import Final

from kubectl_dra.diagnosis.records import HeardReason
from kubectl_dra.output.pending.heard_words import predicate
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.words import counted, listed
from kubectl_dra.scheduler.fit_error import parse_fit_error
from kubectl_dra.scheduler.reasons import plugin_of

_GROUP: Final = re.compile(
    r"\d+/\d+ tasks in gang unschedulable: pod group is not ready, [^;.]*\b(?P<least>\d{1,9}) minAvailable; "
    r"Pending: (?P<pending>[^;.]*)(?:\. Origin reason is (?P<pod>[^:\s]+): (?P<why>.*))?",
    re.DOTALL,
)
_FINDS: Final = re.compile(r"\b(?P<number>\d{1,9}) Schedulable\b")
_NODES: Final = re.compile(r"^(\d+/\d+ nodes are )unavailable: ")


def plain_words(words: str, *, brief: bool = False) -> Safe | None:
    """How many have to start together, how many find a node, and why one finds none; None for other words.

    ``brief``: without the reason.
    """
    found = _GROUP.fullmatch(words.strip().removesuffix("."))
    if found is None:
        return None
    number = _FINDS.search(found["pending"])
    finds = int(number["number"]) if number is not None else 0
    who = Safe("none") if not finds else fmt("only {}", finds)
    least = counted(int(found["least"]), "pod")
    text = "{} of its group must start together, and {} of the waiting ones {} a node"
    told = fmt(text, least, who, Safe("finds" if finds < 2 else "find"))
    why = None if brief else _of_nodes(found["why"] or "")
    return fmt("{}. For {}: {}", told, found["pod"], why) if why is not None else told


def _of_nodes(words: str) -> Safe | None:
    """What nodes do, as of kube-scheduler's words."""
    said = parse_fit_error(_NODES.sub(r"\1available: ", words))
    if said is None or said.pre_filter or not said.reasons:
        return None
    most = sorted(said.reasons.items(), key=lambda each: (-each[1], each[0]))
    parts = [fmt("{} {}", number, predicate(HeardReason(text, number, plugin_of(text)))) for text, number in most]
    return fmt("of {}, {}", counted(said.nodes, "node"), listed(parts))
