"""Plain scalars mean what go-yaml v2 reads, because manifests reach the API server through it."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.source.yaml_scalars import resolved


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("y", True),
        ("NO", False),
        ("On", True),
        ("true", True),
        ("tRue", "tRue"),
        ("0", 0),
        ("+1", 1),
        ("-1", -1),
        ("1_000", 1000),
        ("0x1F", 31),
        ("0o17", 15),
        ("0o", "0o"),
        ("-0O", "-0O"),
        ("0x", "0x"),
        ("0b", "0b"),
        ("00", 0),
        ("017", 15),
        ("0b101", 5),
        ("-0b101", -5),
        ("08", 8.0),
        ("1e3", 1000.0),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1.", 1.0),
        ("1.5Gi", "1.5Gi"),
        ("80Gi", "80Gi"),
        ("1:30", "1:30"),
        ("2026-01-01", "2026-01-01"),
        ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
        ("18446744073709551615", 2**64 - 1),
        ("-9223372036854775808", -(2**63)),
        ("18446744073709551616", float(2**64)),
        ("1e400", "1e400"),
        ("9" * 5000, "9" * 5000),
        ("-", "-"),
        (".", "."),
        ("1.2.3", "1.2.3"),
        ("570.12.0", "570.12.0"),
        ("=", "="),
        ("None", "None"),
    ],
)
def test_plain_scalars(text: str, value: Any) -> None:
    assert resolved(text) == value
    assert type(resolved(text)) is type(value)
