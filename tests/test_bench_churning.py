"""The server that changes while it is watched: a list holds every change up to the position that it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import churning, server, world


def test_a_list_never_says_a_position_whose_change_it_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server.record(tmp_path, {"nodes": world.nodes(3), "resourceclaims": world.held(3), "pods": world.running(3)})
    cluster = churning.Cluster(tmp_path)
    at_change: list[tuple[int, int]] = []
    tell = churning.Kind.tell

    def told(kind: churning.Kind, position: int, event: str, item: bytes) -> None:
        at_change.append((cluster.position, position))
        tell(kind, position, event, item)

    monkeypatch.setattr(churning.Kind, "tell", told)
    for _ in range(200):
        cluster._step()
    assert [said for said, _ in at_change] == [position - 1 for _, position in at_change]
    assert cluster.position == at_change[-1][1]
