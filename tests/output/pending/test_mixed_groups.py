"""A PodGroup whose pods contradict it, or one another: which pod, in what, and what it has to be created again with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.diagnosis.gangs import group, member
from tests.kit import build
from tests.output.pending.test_gang_pages import Printed, told

BATCH = {"priority": 1000, "priorityClassName": "batch"}


def cluster(*pods: dict[str, Any], **of_group: Any) -> list[dict[str, Any]]:
    return [build.node(), group(2, **of_group), *pods]


@pytest.mark.parametrize("asked", ["podgroup/train", "train-0", "train-1"])
def test_a_pod_with_another_priority(asked: str, capfd: Printed, tmp_path: Path) -> None:
    objects = cluster(*member(0, **BATCH), *member(1, priority=0), **BATCH)
    page = told(capfd, tmp_path, objects, "why-pending", asked)
    assert (
        "train is refused as a whole: all of its pods need its priority 1000 (class batch), and train-1 has 0 "
        "(no priorityClassName)." in page
    )
    assert "Create train-1 again with priorityClassName: batch" in page
    assert "kubectl get pod/train-1 -n ml -o yaml" in page
    assert page.count("got 0 and 1000") <= 1


def test_a_group_without_a_class(capfd: Printed, tmp_path: Path) -> None:
    page = told(capfd, tmp_path, cluster(*member(0), *member(1, **BATCH)), "why-pending", "podgroup/train")
    assert "need its priority 0, and train-1 has 1000 (class batch)." in page
    assert "Create train-1 again without priorityClassName" in page


def test_the_odd_one_is_that_which_differs_from_most(capfd: Printed, tmp_path: Path) -> None:
    pods = [*member(0, preemptionPolicy="Never"), *member(1), *member(2)]
    page = told(capfd, tmp_path, cluster(*pods), "why-pending", "podgroup/train")
    assert "preemptionPolicy, and train-0 has Never (the others PreemptLowerPriority)." in page
    assert "Create train-0 again with preemptionPolicy: PreemptLowerPriority" in page
