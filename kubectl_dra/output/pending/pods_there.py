"""Who has what a pod lacks on nodes, or keeps it away: pods by name, or by their owner where they are several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from kubectl_dra.diagnosis.records import PodsThere, RepellingTerm
from kubectl_dra.model.names import HOSTNAME
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.output.words import counted, listed, shortened

_NODES: Final = 3
_TERMS: Final = 2
_MOST: Final = 3
#: Whose end would not help: who has less than this part of what the first has.
_LITTLE: Final = 100


def pods_text(there: PodsThere) -> Safe:
    """``ops/proxy``, ``bench/probe-6d-zz (Deployment probe)``, ``3 pods of StatefulSet ml/a``, ``its own replica``.

    With what becomes of them: ``ops/proxy (being deleted)``.
    """
    first, owner = str(there.pods[0].key), there.owner
    beside = [] if owner is None or there.own or there.count > 1 else [fmt("{} {}", owner.kind, owner.name)]
    beside += _states(there)
    if there.own:
        told = fmt("its own replica {}", first) if there.count == 1 else fmt("{} of its own replicas", there.count)
    elif there.count == 1:
        told = safe(first)
    elif owner is None:
        told = listed([str(pod.key) for pod in there.pods])
    else:
        told = fmt("{} of {} {}", counted(there.count, "pod"), owner.kind, str(owner.key))
    return fmt("{} ({})", told, Safe(", ").join(beside)) if beside else told


def _states(there: PodsThere) -> list[Safe]:
    """``being deleted``, ``1 of them nominated for this node``."""
    states = (there.ending, "being deleted"), (there.coming, "nominated for this node")
    every = there.count
    return [Safe(words) if n == every else fmt("{} of them {}", n, Safe(words)) for n, words in states if n]


def whose(by: Sequence[PodsThere], *, on: bool = False) -> Safe:
    """All of them; ``on``: with their nodes."""
    return listed(
        [fmt("{} on {}", pods_text(each), shortened(each.nodes, _NODES)) if on else pods_text(each) for each in by]
    )


def taken_by(by: Sequence[PodsThere]) -> Safe:
    """`` by ops/proxy``, ``: on gpu-b by ops/proxy, on gpu-a by its own replica web-0``; empty: unknown."""
    if not by:
        return Safe("")
    if len({name for each in by for name in each.nodes}) == 1:
        return fmt(" by {}", whose(by))
    return fmt(
        ": {}", Safe(", ").join(fmt("on {} by {}", shortened(each.nodes, _NODES), pods_text(each)) for each in by)
    )


def most_of(by: Sequence[PodsThere], amount: Callable[[int], Safe], total: int = 0) -> Safe:
    """``2 pods of StatefulSet ml/a: 3, ml/nb: 1, others: 4``: who has the most of a ``total``, and what others have.

    Who has next to nothing beside the first is one of the others. Empty where nobody is known.
    """
    named = [each for each in by[:_MOST] if each.amount * _LITTLE >= by[0].amount]
    texts = [
        pods_text(each)
        if each.amount == each.count
        else fmt("{}: {}{}", pods_text(each), amount(each.amount), _for_resize(each, amount))
        for each in named
    ]
    rest = total - sum(each.amount for each in named)
    return Safe(", ").join([*texts, fmt("others: {}", amount(rest))] if texts and rest > 0 else texts)


def _for_resize(there: PodsThere, amount: Callable[[int], Safe]) -> Safe:
    if not there.resizing:
        return Safe("")
    return fmt(", {} of them for a resize that its node has no room for yet", amount(there.resizing))


def repelling(terms: Sequence[RepellingTerm], *, several: bool) -> Safe:
    """The predicate about the node, or ``several`` of them: which pods, and what of the pod their terms are about."""
    return Safe(", and ").join(_repelling(term, several) for term in terms[:_TERMS])


def _repelling(term: RepellingTerm, several: bool) -> Safe:
    labels = listed(term.labels)
    whom = fmt("pods with {}", term.selector) if term.selector else Safe("all pods")
    has = (
        fmt(", and this pod has {}", labels)
        if term.labels and ",".join(term.labels) != term.selector
        else Safe(", like this one")
    )
    return fmt(
        "{}, whose required anti-affinity excludes {}{}{}",
        beside(term.by, term.topology_key, several),
        whom,
        has,
        fmt(" (per {})", HOSTNAME) if term.topology_key == HOSTNAME else Safe(""),
    )


def beside(by: Sequence[PodsThere], key: str, several: bool) -> Safe:
    """``runs ml/a``, or ``shares topology.kubernetes.io/zone with ml/a on node-b``."""
    if key == HOSTNAME:
        return fmt("{} {}", Safe("run" if several else "runs"), whose(by, on=several))
    return fmt("{} {} with {}", Safe("share" if several else "shares"), key, whose(by, on=True))
