"""What empty lists say where their objects could not be read."""

from __future__ import annotations

import pytest

from kubectl_dra.diagnosis.records import Missing, RbacRule
from kubectl_dra.output.safe import Safe, plain
from kubectl_dra.reports.unread import ListGaps
from kubectl_dra.tui.unread import empty_words


@pytest.mark.parametrize(("coverage", "says"), [("forbidden", "who can permit it"), ("failed", "why")])
def test_only_a_refusal_is_for_somebody_to_permit(coverage: str, says: str) -> None:
    lacking = (Missing("ResourceSlice", coverage, RbacRule("resource.k8s.io", "resourceslices", ("list",))),)
    words = empty_words(ListGaps(lacking, lacking, hides_lines=True, answered=False), Safe("no pools"))
    assert plain(words) == f"not known: ResourceSlice could not be read; ! says {says}"


def test_what_was_read_is_what_there_is() -> None:
    assert empty_words(ListGaps(), Safe("no pools")) == "no pools"
