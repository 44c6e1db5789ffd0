"""Ways out in words: one without commands says why."""

from __future__ import annotations

import pytest

from kubectl_dra.diagnosis.records import ObjectRef, Verdict
from kubectl_dra.diagnosis.remedies.records import (
    Action,
    AddDevices,
    DeletePod,
    EditClaim,
    EditPod,
    RemedyKind,
    Uncordon,
)
from kubectl_dra.output.pending.actions import action_text
from kubectl_dra.output.pending.remedies import remedy_lines
from kubectl_dra.output.safe import plain
from kubectl_dra.reports.pending.remedies import RemedyReport

BAD = ObjectRef("Pod", "ml", "--all")
CLAIM = ObjectRef("ResourceClaim", "ml", "c")
WHY = "       (no command: the API does not allow a name in it)"


def lines(*actions: Action) -> list[str]:
    report = RemedyReport(RemedyKind.DELETE_IDLE_CLAIM, actions, verified=True, nodes=("node-a",), steps=())
    return list(map(str, remedy_lines([report], Verdict.UNSCHEDULABLE)))


@pytest.mark.parametrize(
    "action",
    [
        DeletePod(BAD, ()),
        Uncordon("a b"),
        EditPod(BAD, "nodeSelector[a]", "b", ""),
        EditPod(ObjectRef("Pod", "ml", "a"), "nodeSelector[a]", "b", "", ObjectRef("Deployment", "ml", "-f")),
        EditClaim(ObjectRef("ResourceClaim", "a/b", "c"), "r", "count", "2", "1"),
        EditClaim(CLAIM, "r", "count", "2", "1", ObjectRef("ResourceClaimTemplate", "ml", "..")),
    ],
    ids=lambda action: type(action).__name__,
)
def test_a_name_that_the_api_cannot_hold_is_why_there_is_no_command(action: Action) -> None:
    assert WHY in lines(action)


@pytest.mark.parametrize(
    "action", [AddDevices(1, "gpu-0", "gpu.example.com"), EditClaim(CLAIM, "r", "count", "2", "1")]
)
def test_nothing_is_said_where_only_a_person_knows_how(action: Action) -> None:
    assert WHY not in lines(action)


@pytest.mark.parametrize(
    ("after", "said"), [("5Gi", ""), ("4Gi", " (only 40% of it)"), ("64Mi", " (only 1% of it)"), ("all", "")]
)
def test_less_than_half_of_an_amount_is_called_so(after: str, said: str) -> None:
    claim = ObjectRef("ResourceClaim", "ml", "claim")
    edit = EditClaim(claim, "gpu", "capacity.requests[memory]", "10Gi", after)
    assert plain(action_text(edit)) == f"request {after} of memory instead of 10Gi{said}"
