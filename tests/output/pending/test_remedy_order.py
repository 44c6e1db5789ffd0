"""In which order ways out are told: what costs the pod a part of what it asks for comes late."""

from __future__ import annotations

import pytest

from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.diagnosis.remedies.records import Action, DeletePod, EditClaim, EditPod, RaiseQuota, RemedyKind
from kubectl_dra.output.pending.remedies import remedy_text
from kubectl_dra.reports.pending.remedies import RemedyReport
from kubectl_dra.reports.pending.remedy_order import Area, area, asks_for_less, rank

CLAIM = ObjectRef("ResourceClaim", "ml", "c")
POD = ObjectRef("Pod", "ml", "p")


def edit(field: str, before: str, after: str, request: str = "gpu") -> EditClaim:
    return EditClaim(CLAIM, request, field, before, after)


@pytest.mark.parametrize(
    ("action", "where", "less"),
    [
        (edit("count", "8", "7"), Area.REQUEST, True),
        (edit("count", "2", "1"), Area.REQUEST, True),
        (edit("count", "8", "1"), Area.DO_WITHOUT, True),
        (edit("capacity.requests[memory]", "10Gi", "1Gi"), Area.DO_WITHOUT, True),
        (edit("capacity.requests[memory]", "10Gi", "9Gi"), Area.REQUEST, True),
        (edit("requests", "nic", ""), Area.DO_WITHOUT, True),
        (edit("constraints[0]", "x/numa", ""), Area.REQUEST, True),
        (edit("selectors[0]", "a == 1", "a == 2"), Area.REQUEST, False),
        (EditPod(POD, "tolerations[0]", "", "a=b:NoSchedule"), Area.REQUEST, False),
        (EditPod(POD, "nodeSelector[a]", "b", ""), Area.REQUEST, True),
        (DeletePod(POD, ()), Area.OTHER_WORK, False),
    ],
)
def test_a_part_of_the_request_is_given_up_last(action: Action, where: Area, less: bool) -> None:
    assert (area([action]), asks_for_less([action])) == (where, less)


def test_work_of_others_is_stopped_before_a_request_is_given_up() -> None:
    assert rank([RaiseQuota(POD, "x", "1")]) < rank([DeletePod(POD, ())]) < rank([edit("requests", "nic", "")])


def test_the_alternative_is_named_of_which_a_way_out_is() -> None:
    """Two alternatives with one selector would read alike."""
    way = RemedyReport(RemedyKind.EDIT_CLAIM, (edit("count", "2", "1", "gpu/l40s"),), True, (), ())
    assert remedy_text(way) == "gpu/l40s: request 1 device instead of 2"
