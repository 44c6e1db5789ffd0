"""The verdict, reason and message of ``kubectl dra why-pending`` beside those of the real scheduler, case by case."""

from __future__ import annotations

import pytest

from tests.controlplane import Client
from tests.e2e.conftest import Explain
from tests.e2e.situations import Case, apply_fix, bring_about, cases, without_preemption

pytestmark = pytest.mark.controlplane


@pytest.mark.parametrize("case", cases().values(), ids=lambda case: case.name)
def test_it_says_what_the_scheduler_says(client: Client, explain: Explain, case: Case) -> None:
    condition = bring_about(client, case)
    report = explain("why-pending", "pod/pod", "-n", case.namespace)
    assert report["kind"] == "PendingReport"
    assert report["verdict"] == case.expect
    assert report["causes"][0]["code"] == case.code
    if case.silent:
        assert condition is None, "the scheduler was expected to write nothing"
        assert report["reason"] == ""
        assert report["message"] == ""
    else:
        assert condition is not None
        assert report["message"] == without_preemption(condition["message"])
        assert report["reason"] == condition["reason"]
        assert report["agreement"] == "agrees"
    if case.fix:
        node = apply_fix(client, case)
        after = explain("why-pending", "pod/pod", "-n", case.namespace)
        assert after["verdict"] in {"NotPending", "Preparing"}, f"although the pod is bound to {node}"


def test_every_kind_of_fix_is_a_change_that_the_scheduler_takes_up() -> None:
    assert sum(bool(case.fix) for case in cases().values()) >= 10
    assert len(cases()) >= 40
    assert len({case.code for case in cases().values()}) >= 30
