"""The verdict, reason and message of ``kubectl dra why-pending`` beside those of the real scheduler of each minor."""

from __future__ import annotations

import pytest

from tests.controlplane import Client
from tests.matrix.cases import Case, apply_fix, bring_about, without_preemption
from tests.matrix.conftest import Explain

pytestmark = pytest.mark.matrix
BOUND = {"NotPending", "Preparing"}


def test_it_says_what_the_scheduler_says(client: Client, explain: Explain, case: Case) -> None:
    condition = bring_about(client, case)
    report = explain("why-pending", "pod/pod", "-n", case.namespace)
    assert report["verdict"] == case.expect
    if case.binds:
        return
    if case.code:
        assert report["causes"][0]["code"] == case.code
    assert report["reason"] == (condition["reason"] if condition else "")
    assert report["message"] == (without_preemption(condition["message"]) if condition else "")
    if condition:
        assert report["agreement"] == "agrees"
    if case.fix:
        node = apply_fix(client, case)
        after = explain("why-pending", "pod/pod", "-n", case.namespace)
        assert after["verdict"] in BOUND, f"although the pod is bound to {node}"
