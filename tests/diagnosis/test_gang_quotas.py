"""Pods of groups that a file creates: one that a quota refuses never comes into being, so the group waits for it."""

from __future__ import annotations

import pytest

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.gangs.placing import place_group
from kubectl_dra.model.inventory import key_of
from tests.diagnosis.gangs import GROUP, Object, cluster, group, members
from tests.kit import build


def quota(pods: int, used: int = 0) -> Object:
    """Room for so many pods, of which some are taken."""
    status = {"hard": {"pods": str(pods)}, "used": {"pods": str(used)}}
    return {"kind": "ResourceQuota", "metadata": {"name": "q", "namespace": build.NAMESPACE}, "status": status}


@pytest.mark.parametrize(
    ("room", "used", "least", "placed"),
    [
        (3, 0, 3, 3),  # room for all of them
        (2, 0, 3, 0),  # the third is missing, and the gang is all or nothing
        (2, 0, 2, 2),  # enough without the third
        (3, 2, 2, 0),  # room for one
        (0, 0, None, 0),  # no gang either
        (1, 0, None, 1),
    ],
)
def test_pods_that_a_quota_refuses_are_missing(room: int, used: int, least: int | None, placed: int) -> None:
    created = list(cluster(build.node("node-a"), group(least), *members(3)).inventory.pods.values())
    found = place_group(cluster(build.node("node-a"), group(least), quota(room, used)), GROUP, created)
    assert len(found.nodes) == placed
    if placed == 3:
        assert found.failed is None
        return
    assert found.failed is not None
    assert found.failed.causes[0].code is Code.QUOTA_EXCEEDED
    first = key_of(created[max(0, room - used)].metadata)
    assert first.name == found.failed.pod.name
    assert first in found.waiting.inventory.pods
    assert first not in found.after.inventory.pods


def test_a_pod_that_exists_is_charged_already() -> None:
    """Quotas decide about what is created, never about what waits."""
    state = cluster(build.node("node-a"), group(2), *members(2), quota(2, used=2))
    assert len(place_group(state, GROUP, ()).nodes) == 2
