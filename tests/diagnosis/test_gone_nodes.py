"""Nodes that only slices name: which nodes such a name may mean, and that nobody knows them where nodes are unread."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.diagnosis.explain.gone_nodes import meant_by, published_for_gone
from tests.kit import build, facts
from tests.kit.state import state_of


@pytest.mark.parametrize(
    ("published", "node", "meant"),
    [
        ("w1.example.com", "w1", True),
        ("w1", "w1.example.com", True),
        ("W1", "w1", True),
        ("w1.a.example.com", "w1.b.example.com", True),
        ("w2.example.com", "w1", False),
        # The first number of an address is that of a network.
        ("10.0.0.9", "10.0.0.1", False),
        ("10.0.0.9", "10", False),
    ],
)
def test_a_name_means_the_node_whose_host_has_it(published: str, node: str, meant: bool) -> None:
    assert meant_by([published], [node]) == ((node,) if meant else ())


def _published(node: str) -> dict[str, Any]:
    return build.slice_(node, build.device("gpu-0"))


def test_what_is_gone_is_not_known_any_more_once_nodes_are_not_read_whole() -> None:
    inventory = facts.inventory([build.device_class(), build.node("w1"), _published("w1.example.com")])
    state = state_of(inventory, facts.evidence())
    assert published_for_gone(state, build.DRIVER, ()) is not None
    assert published_for_gone(state.later(inventory, facts.evidence("Node")), build.DRIVER, ()) is None
