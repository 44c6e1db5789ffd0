"""Composing the texts of a PodScheduled condition, taking them apart, and comparing them."""

import pytest

from kubectl_dra.diagnosis.records import Agreement, Observed
from kubectl_dra.diagnosis.said import agreement
from kubectl_dra.diagnosis.said.agreement import Prediction, compare, same
from kubectl_dra.scheduler import fit_error, reasons
from tests.kit import build, facts
from tests.kit.state import state_of


def test_reasons_are_sorted_as_strings() -> None:
    reasons = ["b"] * 12 + ["c"] * 2 + ["a"]
    assert fit_error.fit_error(15, reasons) == "0/15 nodes are available: 1 a, 12 b, 2 c."


def test_post_filter_text_follows_after_a_space() -> None:
    assert fit_error.fit_error(1, ["a"], fit_error.DEALLOCATED) == (
        "0/1 nodes are available: 1 a. deallocation of ResourceClaim completed"
    )


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (
            "0/2 nodes are available: 2 cannot allocate all claims. preemption: 0/2 nodes are available: "
            "2 Preemption is not helpful for scheduling.",
            "0/2 nodes are available: 2 cannot allocate all claims.",
        ),
        (
            "0/1 nodes are available: 1 a. deallocation of ResourceClaim completed, "
            "preemption: not eligible due to preemptionPolicy=Never.",
            "0/1 nodes are available: 1 a. deallocation of ResourceClaim completed",
        ),
        ('running "DynamicResources" filter plugin: x', 'running "DynamicResources" filter plugin: x'),
    ],
)
def test_the_preemption_tail_is_cut(message: str, expected: str) -> None:
    assert fit_error.without_preemption(message) == expected


def test_taking_a_message_apart() -> None:
    found = fit_error.parse_fit_error(
        "0/14 nodes are available: 1 Insufficient cpu, 13 node(s) didn't satisfy plugin(s) [A B]. "
        "deletion of ResourceClaim completed, preemption: 0/14 nodes are available: 14 No."
    )
    assert found is not None
    assert found.nodes == 14
    assert found.reasons == {"Insufficient cpu": 1, "node(s) didn't satisfy plugin(s) [A B]": 13}


def test_a_pre_filter_text_is_not_counted() -> None:
    found = fit_error.parse_fit_error("0/3 nodes are available: request gpu: device class x, y does not exist.")
    assert found is not None
    assert (found.reasons, found.pre_filter) == ({}, "request gpu: device class x, y does not exist")


def test_other_texts_are_not_taken_apart() -> None:
    assert fit_error.parse_fit_error("no nodes available to schedule pods") is None


# --- comparing ------------------------------------------------------------------------------------------------------

MINE = "0/5 nodes are available: 1 Insufficient cpu, 4 cannot allocate all claims."


@pytest.mark.parametrize(
    ("theirs", "equal"),
    [
        (MINE, True),
        # Plugins that are not simulated come before DynamicResources and take nodes away from it.
        (
            "0/5 nodes are available: 1 Insufficient cpu, 1 cannot allocate all claims, "
            "3 a plugin of somebody else says no.",
            True,
        ),
        (
            "0/5 nodes are available: 2 Insufficient cpu, 2 cannot allocate all claims, "
            "1 a plugin of somebody else says no.",
            False,
        ),
        ("0/5 nodes are available: 1 Insufficient cpu, 3 cannot allocate all claims.", False),
        ("0/6 nodes are available: 1 Insufficient cpu, 5 cannot allocate all claims.", False),
        (
            "0/5 nodes are available: 1 Insufficient cpu, 1 cannot allocate all claims, 1 licence server says no.",
            False,
        ),
    ],
)
def test_equal_up_to_plugins_that_are_not_simulated(theirs: str, equal: bool) -> None:
    assert same(MINE, theirs) is equal


def test_nodes_that_fit_may_be_rejected_by_other_plugins() -> None:
    mine = "0/3 nodes are available: 1 cannot allocate all claims."
    theirs = "0/3 nodes are available: 1 cannot allocate all claims, 2 a plugin of somebody else says no."
    assert same(mine, theirs, fitting=2)
    assert not same(mine, theirs, fitting=3)


def seen(message: str, status: str = "False") -> Observed:
    return Observed(status, "Unschedulable", message)


@pytest.mark.parametrize(
    ("prediction", "observed", "changed", "expected"),
    [
        (Prediction(silent=True), None, False, Agreement.AGREES),
        (Prediction(silent=True), seen("x"), False, Agreement.STALE),
        (Prediction(silent=True), seen("", "True"), False, Agreement.AGREES),
        (Prediction(("x",)), None, False, Agreement.UNOBSERVED),
        (Prediction(("x",)), seen("x"), True, Agreement.AGREES),
        (Prediction(("x", "y")), seen("y"), False, Agreement.AGREES),
        (Prediction(("x",)), seen("y"), False, Agreement.DIFFERS),
        (Prediction(("x",)), seen("y"), True, Agreement.STALE),
        (Prediction(), seen("y"), False, Agreement.UNCHECKED),
        (Prediction(("0/1 nodes are available:",), fitting=1), seen("y"), True, Agreement.STALE),
        (Prediction(("0/1 nodes are available:",), fitting=1), seen("y"), False, Agreement.UNTRACED),
        (
            Prediction(("0/1 nodes are available:",), fitting=1),
            seen("0/2 nodes are available: z"),
            False,
            Agreement.STALE,
        ),
    ],
)
def test_agreement(prediction: Prediction, observed: Observed | None, changed: bool, expected: Agreement) -> None:
    assert compare(prediction, observed, lambda: changed) is expected


@pytest.mark.parametrize(
    ("mine", "theirs", "expected"),
    [
        # The class was there then.
        ("request gpu: device class gpu does not exist.", "5 cannot allocate all claims.", Agreement.STALE),
        (
            "request gpu: device class gpu does not exist.",
            "request gpu: device class x does not exist.",
            Agreement.DIFFERS,
        ),
        ("5 cannot allocate all claims.", "request gpu: device class gpu does not exist.", Agreement.DIFFERS),
    ],
)
def test_a_class_that_is_gone_may_have_been_deleted_since(mine: str, theirs: str, expected: Agreement) -> None:
    """Deletions leave no trace in the versions of what is still there."""
    prediction = Prediction((f"0/5 nodes are available: {mine}",))
    assert compare(prediction, seen(f"0/5 nodes are available: {theirs}"), changed_since=lambda: False) is expected


@pytest.mark.parametrize(("nodes", "expected"), [(6, Agreement.STALE), (4, Agreement.DIFFERS)])
def test_a_message_about_more_nodes_than_there_are_is_old(nodes: int, expected: Agreement) -> None:
    """A node that came would have a version of its own."""
    theirs = seen(f"0/{nodes} nodes are available: {nodes} Insufficient cpu.")
    assert compare(Prediction((MINE,)), theirs, changed_since=lambda: False) is expected


def test_what_changed_after_the_pod_makes_a_message_old() -> None:
    pod, slice_ = build.pod(claims=["claim"]), build.slice_("node-1")
    inventory = facts.inventory([pod, slice_])
    subject = next(iter(inventory.pods.values()))
    assert not agreement.changed_since(subject.metadata, agreement.newest_versions(state_of(inventory)))
    slice_["metadata"]["resourceVersion"] = "101"
    assert agreement.changed_since(
        subject.metadata, agreement.newest_versions(state_of(facts.inventory([pod, slice_])))
    )


def test_the_time_of_a_message_is_that_of_its_last_event() -> None:
    pod = build.pod()
    pod["status"]["conditions"] = [
        {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": "words " * 300,
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }
    ]
    cut = ("words " * 300)[:1020] + " ..."
    late = build.event("pod", "FailedScheduling", cut, time="2026-01-01T00:05:00Z")
    later = build.event("pod", "FailedScheduling", "other words", time="2026-01-01T00:09:00Z")
    inventory = facts.inventory([pod, late, later])
    found = agreement.observed(next(iter(inventory.pods.values())), inventory.events)
    assert found is not None
    assert found.time == "2026-01-01T00:05:00Z"


def test_until_1_36_the_plugin_says_that_it_changed_nothing() -> None:
    said = "0/1 nodes are available: 1 cannot allocate all claims. still not schedulable, preemption: 0/1 nodes are ..."
    assert fit_error.without_idle_words(fit_error.without_preemption(said)).endswith("all claims.")
    assert agreement.same("0/1 nodes are available: 1 cannot allocate all claims.", said)
    assert not agreement.same("0/1 nodes are available: 2 cannot allocate all claims.", said)
    found = fit_error.parse_fit_error(said)
    assert found is not None
    assert found.reasons == {"cannot allocate all claims": 1}


def test_words_of_older_schedulers_are_known() -> None:
    said = (
        "node(s) had untolerated taint {gpu: yes}",
        "resourceclaim cannot be allocated for the node (unsuitable)",
        'checking structured parameters failed: checking node "n" and resources of driver "d": no such key: x',
        "waiting for resource driver to provide information",
    )
    assert [reasons.kind_of(reasons.plugin_of(text)) for text in said] == [reasons.PluginSubject.NODES] * 4
