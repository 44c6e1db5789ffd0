"""Old servers: one sentence about what they can't express, and none about those that can."""

import pytest

from kubectl_dra.output.generations import server_note


@pytest.mark.parametrize(
    ("minor", "words"),
    [
        (27, "Kubernetes 1.27 has classic DRA (resource.k8s.io/v1alpha2)"),
        (30, "no DeviceClasses, taints"),
        (31, "(resource.k8s.io/v1alpha3) has no alternatives"),
        (32, "(resource.k8s.io/v1beta1) has no alternatives"),
        (33, "(resource.k8s.io/v1beta1 or v1beta2) has no shared devices"),
    ],
)
def test_what_an_old_server_lacks(minor: int, words: str) -> None:
    assert words in server_note((1, minor))


def test_schedulers_before_those_that_are_reproduced_are_taken_for_the_oldest() -> None:
    assert "verdicts are those of the scheduler of 1.30" in server_note((1, 29))
    assert "verdicts" not in server_note((1, 30))


@pytest.mark.parametrize("version", [None, (1, 34), (1, 37), (1, 40)])
def test_others_need_no_note(version: tuple[int, int] | None) -> None:
    assert server_note(version) == ""
