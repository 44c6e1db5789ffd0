"""Where expressions name domains, attributes and capacities."""

from __future__ import annotations

import pytest

from kubectl_dra.cel import SCHEDULER
from kubectl_dra.cel.check.errors import CompileError
from kubectl_dra.cel.check.front import check
from kubectl_dra.cel.read.mentions import mentions
from kubectl_dra.cel.syntax.parser import parse
from tests.vectors.rows import rows

Told = tuple[str, str, str | None, str, bool, bool]


def told(source: str) -> list[Told]:
    return [
        (m.field, m.domain.text, m.name.text if m.name else None, source[m.start : m.end], m.bracket, m.guarded)
        for m in mentions(parse(source))
    ]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('device.attributes["d"].x == 1', ("attributes", "d", "x", 'device.attributes["d"].x', False, False)),
        ("1 == device.capacity['d'] [ 'x' ]", ("capacity", "d", "x", "device.capacity['d'] [ 'x' ]", True, False)),
        ('device.attributes["d"].?x', ("attributes", "d", "x", 'device.attributes["d"].?x', False, True)),
        ('device.attributes["d"][?"x"]', ("attributes", "d", "x", 'device.attributes["d"][?"x"]', True, True)),
        ('has(device.attributes["d"].x)', ("attributes", "d", "x", 'device.attributes["d"].x', False, True)),
        ("device.attributes.d.x", ("attributes", "d", "x", "device.attributes.d.x", False, False)),
        ('device.attributes["d"].`x/y`', ("attributes", "d", "x/y", 'device.attributes["d"].`x/y`', False, False)),
        ('"x" in device.attributes["d"]', ("attributes", "d", None, 'device.attributes["d"]', True, False)),
        (
            '[1].all(i, i == device.attributes["d"].x)',
            ("attributes", "d", "x", 'device.attributes["d"].x', False, False),
        ),
    ],
)
def test_one(source: str, expected: Told) -> None:
    assert told(source) == [expected]


@pytest.mark.parametrize("source", ["device.driver", "device.attributes[device.driver].x", "device.attributes", "true"])
def test_none(source: str) -> None:
    assert told(source) == []


def test_all_in_the_order_of_the_source() -> None:
    source = 'device.attributes["d"].b > 1 && (device.capacity["e"].a == device.capacity["d"].?c.value())'
    assert [(domain, name) for _, domain, name, *_ in told(source)] == [("d", "b"), ("e", "a"), ("d", "c")]


def test_what_is_mentioned_is_read() -> None:
    """Every name mentioned in a recorded expression is one that an evaluation may read."""
    from kubectl_dra.cel.read.reads import reads

    compared = 0
    for row in rows("cel")[::3]:
        try:
            checked = check(row["expression"], SCHEDULER, row.get("derived", False))
        except CompileError:
            continue
        found = reads(checked)
        for mention in mentions(checked.parsed):
            assert row["expression"][mention.start :].startswith("device"), row["id"]
            if mention.name is not None and not found.all:
                compared += 1
                names = found.attributes if mention.field == "attributes" else found.capacity
                assert (mention.domain.text, mention.name.text) in names, row["id"]
    assert compared > 300
