"""docs/fields.md: every field of the v1 API has a line, and what stands in the line is what the commands print."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import typing
from functools import cache
from pathlib import Path

import msgspec
import pytest

from kubectl_dra.api import v1alpha2
from kubectl_dra.commands.app import run
from kubectl_dra.model import classic, poolstatus, proto, resource
from kubectl_dra.model.base import Record
from tests.kit.clock import CLOCK

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "fields.md"
KINDS = (
    resource.ResourceSlice,
    resource.ResourceClaim,
    resource.ResourceClaimTemplate,
    resource.DeviceClass,
    resource.DeviceTaintRule,
)
SOURCE = ("--from", str(ROOT / "tests/reports/full.json"), "--feature-gates", "DRADeviceCompatibilityGroups=true")
# What v1 has not: the fields of these records, by the kind that the page files them under.
OLD_RECORDS = {
    "ResourceClaim": (v1alpha2.ClaimSpec, v1alpha2.ClaimStatus, v1alpha2.Allocation, classic.ResourceHandle),
    "ResourceClass": (classic.ResourceClass,),
    "ResourceClassParameters": (classic.ResourceClassParameters,),
    "ResourceClaimParameters": (classic.ResourceClaimParameters,),
    "ResourceSlice": (v1alpha2.Slice, classic.NamedAttribute),
    "PodSchedulingContext": (classic.PodSchedulingContextSpec, classic.ClaimSchedulingStatus),
    "DeviceClass": (proto.ProtoClassSpec,),
    "DeviceClaim": (
        proto.ProtoClaimSpec,
        proto.ProtoClaimInstance,
        proto.ProtoClaimStatus,
        proto.ProtoDeviceAllocation,
        proto.ProtoResourceAllocation,
        proto.ProtoDeviceStatus,
    ),
    "DevicePool": (
        proto.ProtoPoolSpec,
        proto.ProtoPoolStatus,
        proto.ProtoDevice,
        proto.ProtoAttribute,
        proto.ProtoResourceCapacity,
    ),
    "ResourcePoolStatusRequest": (
        poolstatus.ResourcePoolStatusRequestSpec,
        poolstatus.ResourcePoolStatusRequestStatus,
        poolstatus.PoolStatus,
        poolstatus.PartitionTypeStatus,
        poolstatus.ShareableSummaryStatus,
        poolstatus.ShareableCapacityStatus,
    ),
}
CONTAINERS = {"metadata", "allocation", "structuredData", "namedResources", "name"}


def rows(first: str = "[A-Z]") -> list[list[str]]:
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if re.match(rf"\| {first}", line)]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def older_rows() -> list[tuple[list[str], tuple[str, ...]]]:
    """The lines of older generations, each with the file that the text above its table names."""
    found, source = [], ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if named := re.search(r"read `(tests/reports/\w+\.json)`", line):
            source = named[1]
        if line.startswith("| `"):
            row = [cell.strip() for cell in line.strip("|").split(" | ")]
            found.append((row, ("--from", str(ROOT / source))))
    return found


def leaves(record: type[Record], found: dict[str, None]) -> dict[str, None]:
    """Fields that hold values and not only other fields of ours, as ``Record.field``."""
    for field in msgspec.structs.fields(record):
        own = [part for part in flat(field.type) if part in records()]
        name = f"{record.__name__}.{field.encode_name}"
        if field.encode_name == "metadata" and record in KINDS:
            continue
        if not own:
            found[name] = None
        for part in own:
            leaves(part, found)
    return found


def flat(annotation: typing.Any) -> list[typing.Any]:
    arguments = typing.get_args(annotation)
    return [annotation] if not arguments else [part for argument in arguments for part in flat(argument)]


def expected() -> set[str]:
    return set(dict.fromkeys(name for kind in KINDS for name in leaves(kind, {})))


@cache
def output(command: str, source: tuple[str, ...] = SOURCE) -> str:
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(io.StringIO()):
        run([*shlex.split(command), *source, "--color", "never"], CLOCK)
    return " ".join(stream.getvalue().split())


def test_every_field_has_a_line():
    listed = {row[0] for row in rows()}
    containers = {name for name in listed if name not in expected()}
    assert expected() - listed == set()
    # Lines for fields that hold others are welcome, if the fields exist.
    assert containers <= {f"{r.__name__}.{f.encode_name}" for r in records() for f in msgspec.structs.fields(r)}


def records() -> list[type[Record]]:
    """The records of resource.k8s.io itself, not those of metadata and selectors."""
    own = (value for value in vars(resource).values() if isinstance(value, type) and issubclass(value, Record))
    return [value for value in own if value.__module__ == resource.__name__]


def test_every_field_of_older_generations_has_a_line():
    listed = [row[0].strip("`") for row in rows("`")]
    for kind, parts in OLD_RECORDS.items():
        names = {field.encode_name for part in parts for field in msgspec.structs.fields(part)} - CONTAINERS
        known = {word for line in listed if line.startswith(f"{kind}.") for word in line.split(".")[1:]}
        assert names - known == set(), kind


@pytest.mark.parametrize(("row", "source"), older_rows(), ids=[row[0].strip("`") for row, _ in older_rows()])
def test_what_a_line_about_older_generations_says_is_printed(row, source):
    check(row, source)


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0])
def test_what_a_line_says_is_printed(row):
    check(row, SOURCE)


def check(row: list[str], source: tuple[str, ...]) -> None:
    assert len(row) == 5
    _, text_command, text, yaml_command, yaml = row
    for command, shown in ((text_command, text), (yaml_command, yaml)):
        if command == "none":
            assert len(shown) > 20, "a reason is missing"
            continue
        assert " ".join(shown.strip("`").split()) in output(command.strip("`"), source)
