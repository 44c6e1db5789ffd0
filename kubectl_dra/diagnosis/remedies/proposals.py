"""What is proposed: remedies with what they lead to, which of them are worth telling, and in which order."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from kubectl_dra.diagnosis.remedies import edits, offers, taint_rules
from kubectl_dra.diagnosis.remedies.candidate import Candidate
from kubectl_dra.diagnosis.remedies.changes import Change
from kubectl_dra.diagnosis.remedies.records import Action, EditClaim, Remedy, RemedyKind
from kubectl_dra.model.base import ReportRecord
from kubectl_dra.model.inventory import Inventory


@dataclass(frozen=True, slots=True)
class Proposal:
    """A remedy, the Inventory that it leads to (None where that can't be tried), and what each action changes."""

    remedy: Remedy
    changed: Inventory | None = None
    changes: tuple[Change, ...] = ()


class Tried(ReportRecord, frozen=True):
    """How many changes were tried, and how many pairs of changes; ``ended``: there were more than could be tried."""

    singles: int = 0
    pairs: int = 0
    ended: bool = False


@dataclass(frozen=True, slots=True)
class Proposals:
    """All proposals, cheapest first. ``tried_pairs``: no single change was enough, so that two together were tried.

    ``additions``: what new devices and nodes would do, which no command can bring.
    """

    proposals: tuple[Proposal, ...]
    tried_pairs: bool = False
    additions: tuple[Proposal, ...] = ()
    searched: Tried = field(default_factory=Tried)

    @property
    def none_of_size_two(self) -> bool:
        """Whether neither one change nor two together help, and nothing else is proposed."""
        return self.tried_pairs and not self.proposals


def holds(proposal: Proposal) -> bool:
    """Whether the pod gets a node that way, whoever else waits."""
    return bool(proposal.remedy.nodes) and not proposal.remedy.competition.may_be_lost


def is_wait(proposal: Proposal) -> bool:
    return proposal.remedy.kind is RemedyKind.WAIT


def untried(candidate: Candidate) -> Proposal:
    return Proposal(Remedy(candidate.kind, candidate.actions, False, (), candidate.cost))


def wanted(found: Sequence[Proposal], alike: Collection[str]) -> Iterator[Proposal]:
    """Without those that drop a whole request, none of the ``alike``, where to drop a constraint is enough."""
    loose = any(_drops(proposal, "constraints[") and holds(proposal) for proposal in found)
    held = [proposal.remedy for proposal in found if holds(proposal)]
    useless = (*offers.useless(held), *taint_rules.needless(held), *edits.contained(held))
    for proposal in found:
        if not (proposal.remedy in useless or (loose and _drops(proposal, "requests", *alike))):
            yield proposal


def worth_telling(found: Sequence[Proposal]) -> Iterator[Proposal]:
    """Without those whose devices a pod that is made again takes back, where another way leads to a node."""
    sure = any(map(holds, found))
    return (proposal for proposal in found if not (sure and proposal.remedy.competition.taken_back))


def _drops(proposal: Proposal, field: str, *beside: str) -> bool:
    """Whether all that is done is to drop something of a claim, ``beside`` nothing else."""
    edited = (each if isinstance(each, EditClaim) and not each.after else None for each in proposal.remedy.actions)
    return all(each and each.field.startswith(field) and each.before not in beside for each in edited)


def ranked(found: Iterable[Proposal]) -> tuple[Proposal, ...]:
    """Cheapest first, every set of actions once."""
    kept: dict[tuple[Action, ...], Proposal] = {}
    for proposal in sorted(found, key=lambda p: (p.remedy.cost, not p.remedy.verified)):
        kept.setdefault(proposal.remedy.actions, proposal)
    return tuple(kept.values())
