"""What could be done about a pod, as lists: the cheapest first, new devices last."""

from __future__ import annotations

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.records import PodDiagnosis
from kubectl_dra.diagnosis.remedies import Proposal, Remedy, find


def proposals(world: ClusterState, diagnosis: PodDiagnosis) -> tuple[Proposal, ...]:
    """All proposals, each with what it leads to."""
    found = find(world, diagnosis)
    return (*found.proposals, *found.additions)


def remedies(world: ClusterState, diagnosis: PodDiagnosis) -> tuple[Remedy, ...]:
    """The same without what they lead to."""
    return tuple(proposal.remedy for proposal in proposals(world, diagnosis))
