"""A message that the first line has is not printed again: only who said it, how often and when."""

from __future__ import annotations

from tests.kit import build
from tests.output.pending.test_said_causes import FORBIDDEN, on_the_node, waiting
from tests.output.pending.test_situations import POD, SLICE, first_line, page_of, refused, report_of

UNPLUGGED = "no free downstream port on switch sw-2"


def test_the_words_of_the_kubelet_stand_in_the_first_line_only() -> None:
    words = "error preparing devices: error creating MIG device: error creating GPU instance: Insufficient Resources"
    page = page_of(on_the_node(f"NodePrepareResources failed for ResourceClaim claim: {words}"))
    assert page.count("Insufficient Resources") == 1
    assert "The kubelet said so 31 times, first " in page
    assert "Its events" not in page
    # What a new pod would get is told where no way out was found.
    found = on_the_node(f"NodePrepareResources failed for ResourceClaim claim: {words}")
    told = "the one that you make in its place may get the same device again" in page
    assert told is not any(each.verified for each in found.remedies)


def test_words_of_the_kubelet_that_the_first_line_does_not_have_are_printed() -> None:
    page = page_of(on_the_node("pod pod is not allowed to use ResourceClaim claim (some)"))
    assert "Kubelet, 31 times, first " in page
    assert "is not allowed to use ResourceClaim claim" in page


def test_events_are_pointed_at_where_the_page_has_none_of_their_words() -> None:
    assert "Its events: kubectl describe" in page_of(waiting("Strange"))
    assert "Its events" not in page_of(waiting("CreateContainerError", "CDI device injection failed"))


def test_a_right_that_the_scheduler_lacks_is_told_once() -> None:
    pod = refused(build.pod(claims=["claim"], schedulerName="batch"), FORBIDDEN, "SchedulerError")
    page = page_of(report_of(build.node(), SLICE, build.claim("claim"), pod))
    assert page.count("cannot patch") == 1
    assert "The scheduler said so " in page
    assert "could not be compared" not in page


def test_words_that_cannot_be_compared_are_printed_without_a_verdict() -> None:
    pod = refused(build.pod(claims=["claim"], schedulerName="batch"), "1/4 tasks in gang unschedulable")
    report = report_of(build.node(), SLICE, build.claim("claim"), pod)
    assert first_line(report).endswith("says: 1/4 tasks in gang unschedulable.")
    page = page_of(report)
    assert page.count("tasks in gang") == 1
    assert "could not be compared" not in page


def test_words_that_match_take_one_line() -> None:
    page = page_of(
        report_of(
            build.node(),
            SLICE,
            build.claim("claim", build.request(cls="gone.example.com")),
            refused(POD, "0/1 nodes are available: request gpu: device class gone.example.com does not exist."),
        )
    )
    assert "its message matches this diagnosis." in page
    assert page.count("does not exist") == 1


def test_of_a_gate_the_scheduler_says_nothing_new() -> None:
    pod = refused(
        build.pod(claims=["claim"], schedulingGates=[{"name": "example.com/quota"}]),
        "Scheduling is blocked due to non-empty scheduling gates",
        "SchedulingGated",
    )
    page = page_of(report_of(build.node(), SLICE, build.claim("claim"), pod))
    assert "example.com/quota" in page
    assert "SchedulingGated" not in page


def test_why_a_device_could_not_be_attached_is_in_the_first_line_and_nowhere_else() -> None:
    claim = build.claim("claim", held=[("node-1", "gpu-0")], on="node-1")
    result = claim["status"]["allocation"]["devices"]["results"][0]
    result |= {"bindingConditions": ["Attached"], "bindingFailureConditions": ["AttachFailed"]}
    failed = {"type": "AttachFailed", "status": "True", "reason": "NoPort", "message": UNPLUGGED}
    claim["status"]["devices"] = [{key: result[key] for key in ("driver", "pool", "device")} | {"conditions": [failed]}]
    report = report_of(build.node(), SLICE, claim, POD)
    assert f"failed to bind: {UNPLUGGED} (AttachFailed)" in first_line(report)
    page = page_of(report)
    assert page.count(UNPLUGGED) == 1
    assert "cannot be used there" not in page
