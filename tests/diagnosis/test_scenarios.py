"""Recorded clusters of a real control plane: the verdict, the scheduler's literal words, and the main reason."""

from datetime import timedelta

import pytest

from kubectl_dra.diagnosis.records import Agreement, Verdict
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.scheduler.fit_error import without_preemption
from tests.kit import facts
from tests.kit.state import diagnose_pod

# Verdict and code of the first cause. Every pod of tests/scenarios is here.
EXPECTED = {
    "00-ok-allocates-and-binds": ("Preparing", "DRA-600"),
    "02-no-device-class": ("Unschedulable", "DRA-200"),
    "03-class-but-no-slices": ("Unschedulable", "DRA-201"),
    "05-class-selector-matches-nothing": ("Unschedulable", "DRA-204"),
    "06-cel-runtime-error": ("SchedulerError", "DRA-310"),
    "08-cel-runtime-error-unknown-domain": ("SchedulerError", "DRA-310"),
    "09-cel-runtime-type-error": ("SchedulerError", "DRA-310"),
    "11-not-enough-devices": ("Unschedulable", "DRA-210"),
    "12-all-allocated-to-others": ("Unschedulable", "DRA-211"),
    "14-slice-nodeselector-mismatch": ("Unschedulable", "DRA-413"),
    "15-match-attribute-impossible": ("Unschedulable", "DRA-220"),
    "17-match-attribute-two-drivers": ("Unschedulable", "DRA-220"),
    "18-distinct-attribute-impossible": ("Unschedulable", "DRA-220"),
    "20-device-taint-wrong-toleration": ("Unschedulable", "DRA-212"),
    "21-device-taint-rule": ("Unschedulable", "DRA-212"),
    "23-pool-incomplete": ("Unschedulable", "DRA-250"),
    "24-pool-incomplete-all-mode": ("SchedulerError", "DRA-320"),
    "26-pool-new-generation-empty": ("Unschedulable", "DRA-252"),
    "27-pool-invalid-duplicate-device": ("Unschedulable", "DRA-251"),
    "29-first-available-one-class-missing": ("Unschedulable", "DRA-200"),
    "30-all-mode-one-taken": ("Unschedulable", "DRA-215"),
    "33-partitionable-counters-exhausted": ("Unschedulable", "DRA-214"),
    "35-consumable-capacity-over-policy": ("Unschedulable", "DRA-219"),
    "36-claim-name-missing": ("Gated", "DRA-110"),
    "38-template-not-instantiated": ("Gated", "DRA-111"),
    "39-template-claim-not-owned": ("Gated", "DRA-130"),
    "41-claim-reserved-for-max": ("SchedulerError", "DRA-390"),
    "42-claim-allocated-other-node": ("Unschedulable", "DRA-240"),
    "44-shared-claim-cpu-full-on-its-node": ("Unschedulable", "DRA-240"),
    "45-binding-conditions-pending": ("Binding", "DRA-500"),
    "47-binding-conditions-timeout": ("Binding", "DRA-500"),
    "48-extended-resource-exhausted": ("Unschedulable", "DRA-211"),
    "50-extended-resource-implicit-no-class": ("Unschedulable", "DRA-202"),
    "51-extended-resource-no-class": ("Unschedulable", "DRA-202"),
    "53-mixed-three-nodes": ("Unschedulable", "DRA-415"),
    "54-mixed-three-nodes-claims-differ": ("SchedulerError", "DRA-310"),
    "56-cel-runtime-error-on-one-of-two-nodes": ("SchedulerError", "DRA-310"),
    "59-other-scheduler-name": ("OtherScheduler", "DRA-150"),
    "60-scheduling-gated": ("Gated", "DRA-100"),
    "62-deviceclass-deleted-after-claim": ("Unschedulable", "DRA-200"),
    "63-pod-claim-not-used-by-container": ("Preparing", "DRA-600"),
    "65-claim-allocated-with-timestamp-shared": ("Preparing", "DRA-600"),
    "66-mixed-device-reasons": ("Unschedulable", "DRA-250"),
    "68-allocated-device-vanished": ("Preparing", "DRA-722"),
    "69-extended-resource-two-pods-in-turn": ("Unschedulable", "DRA-211"),
    "71-slice-allnodes-consumed-by-other-namespace": ("Unschedulable", "DRA-211"),
    "72-pernode-device-selection": ("Unschedulable", "DRA-413"),
}
# The snapshot was taken after the claim had been deallocated and, two seconds after the message, allocated again.
WRITTEN_ABOUT_AN_EARLIER_STATE = frozenset({"47-binding-conditions-timeout"})


def recorded() -> list[str]:
    return sorted(folder.name for folder in facts.SCENARIOS.iterdir() if facts.scenario(folder.name)[1]["pod"])


def test_every_recorded_pod_is_expected() -> None:
    assert recorded() == sorted(EXPECTED)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_verdict_and_first_cause(name: str) -> None:
    inventory, result = facts.scenario(name)
    found = diagnose_pod(inventory, facts.evidence(), features(), Key(*result["pod"].split("/")))
    assert (found.verdict, found.causes[0].code) == EXPECTED[name]


@pytest.mark.parametrize("name", sorted(set(EXPECTED) - WRITTEN_ABOUT_AN_EARLIER_STATE))
def test_the_schedulers_literal_words(name: str) -> None:
    inventory, result = facts.scenario(name)
    found = diagnose_pod(inventory, facts.evidence(), features(), Key(*result["pod"].split("/")))
    condition = result["pod_scheduled"] or {}
    said = condition.get("message")
    assert found.message == (without_preemption(said) if said else "")
    assert found.reason == (condition.get("reason") or "")
    if found.verdict is not Verdict.OTHER_SCHEDULER:
        assert found.agreement is Agreement.AGREES


@pytest.mark.parametrize("name", sorted(WRITTEN_ABOUT_AN_EARLIER_STATE))
def test_a_message_about_an_earlier_state_is_stale(name: str) -> None:
    inventory, result = facts.scenario(name)
    found = diagnose_pod(inventory, facts.evidence(), features(), Key(*result["pod"].split("/")))
    assert (found.message, found.agreement) == ("", Agreement.STALE)


def test_the_earlier_state_explains_the_message() -> None:
    """The same scenario before its claim was deallocated: ten seconds of the binding timeout had passed."""
    inventory, result = facts.scenario("47-binding-conditions-timeout")
    evidence, timeout = facts.evidence(time="2026-11-21T10:53:00Z"), timedelta(seconds=10)
    found = diagnose_pod(inventory, evidence, features(), Key(*result["pod"].split("/")), binding_timeout=timeout)
    assert found.verdict is Verdict.UNSCHEDULABLE
    assert found.message == without_preemption(result["message"])
    assert found.agreement is Agreement.AGREES
