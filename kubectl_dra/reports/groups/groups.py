"""Why a PodGroup waits, as a report: the diagnosis of the whole group, its pods, and ways out for all of them."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.gangs.assignment import assignment_of
from kubectl_dra.diagnosis.gangs.groups import diagnose_group
from kubectl_dra.diagnosis.gangs.records import GroupDiagnosis, GroupFinding
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.pod.workloads import ReadOwner
from kubectl_dra.diagnosis.records import Agreement, Verdict
from kubectl_dra.diagnosis.remedies.records import RemedyKind
from kubectl_dra.diagnosis.whatif.records import WhatIf
from kubectl_dra.model.ids import Key
from kubectl_dra.reports.base import FeatureRecord, ReadRecord, feature_record, reads_of
from kubectl_dra.reports.claims.ask import ClaimAsk, pending_asks
from kubectl_dra.reports.pending.pending import NodeGroupRecord, in_numbers, node_records
from kubectl_dra.reports.pending.remedies import FoundRemedies, RemedyReport, find_remedies


class OtherAssignment(StrEnum):
    """Whether the pods would fit on other nodes than the scheduler tries; ``NOT_SEARCHED``: it takes too long."""

    FOUND = "found"
    NOT_FOUND = "notFound"
    NOT_SEARCHED = "notSearched"


class GroupPendingReport(GroupFinding, frozen=True, kw_only=True):
    """Why one group waits. ``nodes`` and ``asks`` are those of the pod that is in the way (``blocking``).

    ``other_assignment``: only of a group that was tried and does not fit. ``what_if``: what is supposed of the cluster,
    about which the scheduler has written nothing.
    """

    asks: tuple[ClaimAsk, ...]
    nodes: tuple[NodeGroupRecord, ...]
    remedies: tuple[RemedyReport, ...]
    no_pair_helps: bool
    other_assignment: OtherAssignment | None
    what_if: WhatIf | None = None
    features: FeatureRecord
    read: tuple[ReadRecord, ...]

    @property
    def code(self) -> Code | None:
        """The main reason."""
        return self.causes[0].code if self.causes else None

    def without_steps(self) -> GroupPendingReport:
        """The same without commands and manifests."""
        remedies = tuple(msgspec.structs.replace(each, steps=None) for each in self.remedies)
        return msgspec.structs.replace(self, remedies=remedies)

    def for_json(self) -> GroupPendingReport:
        """The same with numbers instead of devices in its causes, as the devices stand in ``nodes``."""
        members = tuple(
            msgspec.structs.replace(each, causes=tuple(map(in_numbers, each.causes))) for each in self.members
        )
        return msgspec.structs.replace(self, causes=tuple(map(in_numbers, self.causes)), members=members)


def group_report(
    diagnoser: Diagnoser,
    key: Key,
    *,
    remedies: bool = True,
    read_owner: ReadOwner | None = None,
    what_if: WhatIf | None = None,
) -> GroupPendingReport:
    """The report of a PodGroup. Raises ``NotFound``."""
    state, diagnosis = diagnoser.world, diagnose_group(diagnoser, key)
    found = _ways_out(diagnoser, diagnosis, read_owner) if remedies else FoundRemedies()
    if what_if is not None:
        diagnosis = msgspec.structs.replace(diagnosis, observed=None, agreement=Agreement.UNCHECKED)
    return GroupPendingReport(
        **{name: getattr(diagnosis, name) for name in GroupFinding.__struct_fields__},
        asks=pending_asks(diagnosis.blocking.key, state.inventory) if diagnosis.blocking is not None else (),
        nodes=node_records(diagnosis.nodes),
        remedies=tuple(each for each in found.remedies if what_if is None or each.kind is not RemedyKind.WAIT),
        what_if=what_if,
        no_pair_helps=found.no_pair_helps,
        other_assignment=_assignment(state, diagnosis) if remedies else None,
        features=feature_record(state.features),
        read=reads_of(state.evidence),
    )


def _ways_out(diagnoser: Diagnoser, diagnosis: GroupDiagnosis, read_owner: ReadOwner | None) -> FoundRemedies:
    """Those of its first pod: they are tried on the whole group."""
    if diagnosis.verdict in (Verdict.NOT_PENDING, Verdict.SCHEDULABLE, Verdict.UNKNOWN) or not diagnosis.members:
        return FoundRemedies()
    pod = diagnosis.blocking or diagnosis.members[0].pod
    return find_remedies(diagnoser.world, diagnoser.pod(pod.key), read_owner=read_owner)


def _assignment(state: ClusterState, diagnosis: GroupDiagnosis) -> OtherAssignment | None:
    if diagnosis.code is not Code.POD_GROUP_UNPLACED:
        return None
    found = assignment_of(state, diagnosis.group.key)
    if not found.searched:
        return OtherAssignment.NOT_SEARCHED
    return OtherAssignment.FOUND if found.nodes else OtherAssignment.NOT_FOUND
