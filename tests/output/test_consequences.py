"""Who else waits for what a way out frees, in words."""

from __future__ import annotations

import pytest

from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.diagnosis.remedies.outlook import Competition
from kubectl_dra.diagnosis.remedies.records import DeletePod, RemedyKind
from kubectl_dra.output.pending.consequences import note_texts
from kubectl_dra.output.pending.remedies import remedy_text
from kubectl_dra.reports.pending.remedies import RemedyReport

A, B = ObjectRef("Pod", "ml", "a"), ObjectRef("Pod", "ml", "b")
TRAIN = ObjectRef("PodGroup", "ml", "train")


@pytest.mark.parametrize(
    ("competition", "text"),
    [
        (Competition(after=2), ""),
        (
            Competition(before=1, groups=1, first=(TRAIN,), lost=True),
            "1 other PodGroup waits for the same; ml/train comes first, and will probably take it",
        ),
        (
            Competition(after=1, again=1),
            "the scheduler tries this pod first, before the one that is started again",
        ),
        (
            Competition(before=1, again=1, first=(A,), lost=True),
            "the replacement is scheduled first and will probably take it",
        ),
        (Competition(after=2, again=1), ""),
        (
            Competition(before=1, after=1, groups=1, first=(TRAIN,), lost=True),
            "1 other pod and 1 PodGroup wait for the same; ml/train comes first, and will probably take it",
        ),
        (Competition(before=2, first=(A, B)), ""),
        (Competition(after=2, untried=7), ""),
        (
            Competition(before=2, first=(A, B), lost=True, untried=7),
            "at least 2 other pods wait for the same; ml/a and ml/b come first, and will probably take it",
        ),
        (
            Competition(after=2, untried=7, untried_first=True),
            "at least 2 other pods wait for the same; more that wait for longer may take it",
        ),
        (
            Competition(untried=7, untried_first=True),
            "7 other pods wait for longer, and it is not known whether they take it",
        ),
        (
            Competition(before=42, groups=2, first=(A, B, TRAIN), lost=True),
            "40 other pods and 2 PodGroups wait for the same; ml/a, ml/b, ml/train and 39 more come first, "
            "and will probably take it",
        ),
    ],
)
def test_who_comes_first(competition: Competition, text: str) -> None:
    """Only where that decides: others that come later, or leave enough, are no consequence."""
    report = RemedyReport(RemedyKind.FREE_DEVICES, (), True, ("node-1",), (), competition)
    assert list(note_texts(report)) == ([text] if text else [])


@pytest.mark.parametrize(
    ("competition", "said"),
    [
        # Nothing else tells of it.
        (None, True),
        (Competition(after=2, again=1), True),
        # A note does: this pod is first, or what is started again is.
        (Competition(after=1, again=1), False),
        (Competition(before=1, again=1, first=(A,), lost=True), False),
        (Competition(before=1, first=(B,), lost=True), False),
    ],
)
def test_who_takes_what_is_freed_is_said_once(competition: Competition | None, said: bool) -> None:
    delete = DeletePod(A, ("gpu.example.com/node-1/gpu-0",), recreated_by=ObjectRef("StatefulSet", "ml", "a"))
    report = RemedyReport(RemedyKind.FREE_DEVICES, (delete,), True, ("node-1",), (), competition)
    text = str(remedy_text(report))
    assert "its StatefulSet starts it again" in text
    assert ("it may take them back" in text) is said
    assert said or list(note_texts(report))
