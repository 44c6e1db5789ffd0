"""What why-pending says of PodGroups: one by name, or all that wait."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from kubectl_dra.api.kinds import POD_GROUP
from kubectl_dra.commands.shared.errors import CommandError
from kubectl_dra.commands.shared.show import Answer
from kubectl_dra.diagnosis.gangs.groups import has_members_waiting
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.pod.workloads import ReadOwner
from kubectl_dra.diagnosis.whatif.records import WhatIf
from kubectl_dra.model.evidence import Coverage, Evidence
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.invocation import Address
from kubectl_dra.output.pending.group_page import group_page, group_summary
from kubectl_dra.output.pending.remedies import step_lines
from kubectl_dra.output.safe import Safe
from kubectl_dra.reports.groups.groups import GroupAnswer, GroupPendingReport, group_answer
from kubectl_dra.reports.invocations import try_dra, try_kubectl
from kubectl_dra.reports.pending.idle import WorkloadPendingReport
from kubectl_dra.reports.pending.pending import ClaimPendingReport, PendingReport

AnyPending = PendingReport | ClaimPendingReport | GroupPendingReport | WorkloadPendingReport
Pending = Answer[AnyPending]


def answer_about(
    diagnoser: Diagnoser,
    key: Key,
    *,
    remedies: bool,
    steps: Address | None,
    read_owner: ReadOwner | None,
    what_if: WhatIf | None = None,
) -> Pending:
    """The answer about one group; with ``steps`` the commands of its ways out, for that cluster."""
    found = group_answer(diagnoser, key, remedies=remedies, read_owner=read_owner, what_if=what_if)
    report = found.report
    told = report if steps is not None else report.without_steps()
    page = partial(_page, found, diagnoser, steps)
    return Answer("GroupPendingReport", told, partial(group_summary, found), page)


def _page(found: GroupAnswer, diagnoser: Diagnoser, steps: Address | None) -> list[Safe]:
    lines = group_page(found, diagnoser.state.now, address=diagnoser.state.evidence.address)
    commands = list(step_lines(found.report.remedies, steps)) if steps is not None else []
    return [*lines, Safe(""), *commands] if commands else lines


def not_served(evidence: Evidence) -> CommandError | None:
    """Why a server has no PodGroups at all; None where it has some, or where nobody asked a server."""
    if evidence.server_version is None or evidence.coverage(POD_GROUP.name) is not Coverage.NOT_SERVED:
        return None
    older = next((read.note for read in evidence.reads if read.kind == POD_GROUP.name and read.note), "")
    what = older or f"the server does not serve {POD_GROUP.resource}: pods are placed one by one"
    return CommandError(what, try_kubectl("api-versions") if older else try_dra("why-pending", "-A"))


def waiting_groups(inventory: Inventory, namespace: str) -> Iterator[Key]:
    """The groups in scope that have pods without a node."""
    return (
        key
        for key in inventory.groups.pod_groups
        if namespace in ("", key.namespace) and has_members_waiting(inventory, key)
    )
