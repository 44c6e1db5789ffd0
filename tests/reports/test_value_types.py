"""Attributes that some devices of a pool publish as texts and others as numbers."""

from __future__ import annotations

from typing import Any

from kubectl_dra.model.ids import PoolId
from kubectl_dra.output.devices.pool_page import pool_page
from kubectl_dra.output.safe import plain
from kubectl_dra.reports.devices.pool import PoolReport, pool_report
from tests.kit import build, facts
from tests.kit.clock import CLOCK
from tests.kit.state import state_of


def report(*attributes: dict[str, Any]) -> PoolReport:
    devices = [{"name": f"gpu-{number}", "attributes": each} for number, each in enumerate(attributes)]
    inventory = facts.inventory([build.node(), build.slice_("node-1", *devices)])
    return pool_report(PoolId(build.DRIVER, "node-1"), state_of(inventory, facts.evidence()))


def test_values_of_other_types_are_not_the_same_for_all() -> None:
    """A selector for the number fails on the device that has a text."""
    found = report(
        {"cores": {"int": 4}, "ver": {"version": "1.2.3"}}, {"cores": {"string": "4"}, "ver": {"string": "1.2.3"}}
    )
    assert found.same == {}
    assert [each.values["cores"] for each in found.devices] == ["4", '"4"']
    assert [each.values["ver"] for each in found.devices] == ["1.2.3", '"1.2.3"']
    shown = " ".join(map(plain, pool_page(found, CLOCK.now())))
    assert "same for all" not in shown


def test_texts_of_one_type_stand_as_they_are() -> None:
    found = report({"cores": {"string": "4"}, "ok": {"bool": True}}, {"cores": {"string": "4"}, "ok": {"bool": True}})
    assert found.same == {"cores": "4", "ok": "true"}
    assert [each.values["cores"] for each in report({"cores": {"int": 4}}, {"cores": {"int": 5}}).devices] == ["4", "5"]


def test_the_driver_s_own_domain_makes_no_other_attribute() -> None:
    found = report({f"{build.DRIVER}/id": {"int": 1}}, {"id": {"string": "1"}})
    assert [each.values["id"] for each in found.devices] == ["1", '"1"']
