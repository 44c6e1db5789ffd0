"""Why a PodGroup waits, as a report: the diagnosis of the whole group, its pods, and ways out for all of them."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.gangs.assignment import assignment_of
from kubectl_dra.diagnosis.gangs.groups import diagnose_group
from kubectl_dra.diagnosis.gangs.records import GroupDiagnosis
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.pod.workloads import ReadOwner
from kubectl_dra.diagnosis.records import Verdict
from kubectl_dra.diagnosis.whatif.records import WhatIf
from kubectl_dra.model.ids import Key
from kubectl_dra.reports.base import FeatureRecord, ReadRecord, feature_record, reads_of
from kubectl_dra.reports.groups.placed_group import PlacedGroup, in_brief, placed_group_of, without_words
from kubectl_dra.reports.pending.pending import PendingReport, pending_report
from kubectl_dra.reports.pending.remedies import RemedyReport, find_remedies


class OtherAssignment(StrEnum):
    """Whether the pods would fit on other nodes than the scheduler tries; ``NOT_SEARCHED``: it takes too long.

    ``NONE``: that is no question.
    """

    NONE = ""
    FOUND = "found"
    NOT_FOUND = "notFound"
    NOT_SEARCHED = "notSearched"


class GroupPendingReport(PlacedGroup, frozen=True, kw_only=True):
    """Why one group waits.

    ``other_assignment``: only of a group that was tried and does not fit. ``what_if``: what is supposed of the cluster,
    about which the scheduler has written nothing.
    """

    remedies: tuple[RemedyReport, ...]
    no_pair_helps: bool
    other_assignment: OtherAssignment
    what_if: WhatIf | None = None
    features: FeatureRecord
    read: tuple[ReadRecord, ...]

    def without_steps(self) -> GroupPendingReport:
        """The same without commands and manifests."""
        remedies = tuple(each.without_steps() for each in self.remedies)
        return msgspec.structs.replace(self, remedies=remedies)

    def for_json(self) -> GroupPendingReport:
        """The same with numbers instead of devices in its causes, as the devices stand in ``nodes``."""
        return in_brief(self)


class GroupAnswer(msgspec.Struct, frozen=True):
    """The report of a group, and of the pod whose page tells why: the one in the way, else the first that waits.

    ``pod`` None: no pod waits, all would be placed, or the scheduler takes no notice of groups.
    """

    report: GroupPendingReport
    pod: PendingReport | None


def group_answer(
    diagnoser: Diagnoser,
    key: Key,
    *,
    remedies: bool = True,
    read_owner: ReadOwner | None = None,
    what_if: WhatIf | None = None,
) -> GroupAnswer:
    """The answer about a PodGroup. Raises ``NotFound``."""
    state, diagnosis = diagnoser.state, diagnose_group(diagnoser, key)
    pod = _telling(diagnoser, diagnosis, remedies=remedies, read_owner=read_owner, what_if=what_if)
    group = placed_group_of(state, diagnosis)
    report = GroupPendingReport(
        **msgspec.structs.asdict(group if what_if is None else without_words(group)),
        remedies=pod.remedies if pod is not None else (),
        what_if=what_if,
        no_pair_helps=pod.no_pair_helps if pod is not None else False,
        other_assignment=_assignment(state, diagnosis) if remedies else OtherAssignment.NONE,
        features=feature_record(state.features),
        read=reads_of(state.evidence),
    )
    return GroupAnswer(report, pod)


def _telling(
    diagnoser: Diagnoser,
    group: GroupDiagnosis,
    *,
    remedies: bool,
    read_owner: ReadOwner | None,
    what_if: WhatIf | None,
) -> PendingReport | None:
    """Ways out are tried on the whole group, whichever of its pods they are looked for."""
    if group.verdict in (Verdict.NOT_PENDING, Verdict.SCHEDULABLE) or not (group.members and group.placed_together):
        return None
    pod = group.blocking or group.members[0].pod
    diagnosis = diagnoser.pod(pod.key)
    ways = find_remedies(diagnoser.state, diagnosis, read_owner=read_owner) if remedies else None
    return pending_report(diagnosis, diagnoser.state, ways=ways, what_if=what_if, read_owner=read_owner)


def _assignment(state: ClusterState, diagnosis: GroupDiagnosis) -> OtherAssignment:
    if diagnosis.code is not Code.POD_GROUP_UNPLACED:
        return OtherAssignment.NONE
    found = assignment_of(state, diagnosis.group.key)
    if not found.searched:
        return OtherAssignment.NOT_SEARCHED
    return OtherAssignment.FOUND if found.nodes else OtherAssignment.NOT_FOUND
