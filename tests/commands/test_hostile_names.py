"""Names that try to act on the terminal, through every table, page and error of devices, claims and snapshots."""

from __future__ import annotations

import json
import re

import pytest

from kubectl_dra.commands.app import run
from tests.reports.clusters import SMALL, document

EVIL = "\x1b[31m\u202eevil\u200b\r\n\x9b\x07[/bold]{0}%s\u2066"
ACTIVE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")
COMMANDS = (
    ["describe-pool"],
    ["describe-pool", "-o", "wide"],
    *(
        ["get", type_, "-A", "-o", output]
        for type_ in ("pools", "devices", "claims", "classes", "taints")
        for output in ("wide", "name")
    ),
    *(["get", type_, "-A"] for type_ in ("pools", "devices", "claims", "classes", "taints")),
)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """The small cluster with an evil tail on every name, label and message, and taints and attributes to match."""
    content = document(SMALL)
    text = json.dumps(content)
    for name in (
        "node-a",
        "gpu-0",
        "serve-0",
        "rack-1",
        "gpu.example.com",
        "ecc-errors",
        "bandwidth",
        "model",
        "H100",
        "xid",
        "full-a",
    ):
        text = re.sub(rf'(?<=[":/ ]){re.escape(name)}(?=")', lambda match: match[0] + json.dumps(EVIL)[1:-1], text)
    path = tmp_path_factory.mktemp("hostile") / "cluster.json"
    path.write_text(text, encoding="utf-8")
    return path


def output(capfd, *arguments):
    run([*map(str, arguments), "--color", "never"])
    return "".join(capfd.readouterr())


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_lists(capfd, cluster, command):
    text = output(capfd, *command, "--from", cluster)
    assert not ACTIVE.search(text)
    assert "evil" in text


@pytest.mark.parametrize(
    "command", [["describe-pool"], ["describe-claim", "-n", "ml"], ["get", "devices"]], ids=" ".join
)
def test_names_that_are_typed(capfd, cluster, command):
    assert not ACTIVE.search(output(capfd, *command, f"nosuch{EVIL}", "--from", cluster))


def test_every_page(capfd, cluster):
    for pool in _names(capfd, cluster):
        text = output(capfd, "describe-pool", pool, "--from", cluster)
        assert text.startswith("Pool ")
        assert not ACTIVE.search(text)


def _names(capfd, cluster):
    run(["get", "pools", "-o", "json", "--from", str(cluster)])
    return [f"{item['driver']}/{item['pool']}" for item in json.loads(capfd.readouterr().out)["items"]]


def test_documents_are_seven_bit_and_lossless(capfd, cluster):
    for arguments in (
        ["snapshot"],
        ["snapshot", "--redact"],
        ["describe-pool", "-o", "json"],
        ["get", "claims", "-A", "-o", "yaml"],
    ):
        text = output(capfd, *arguments, "--from", cluster)
        assert text.isascii()
        assert not ACTIVE.search(text)
    assert any(EVIL in name for name in _names(capfd, cluster))


@pytest.fixture(scope="module")
def long_names(tmp_path_factory):
    """The small cluster with the longest names that the API allows."""
    text = json.dumps(document(SMALL))
    for name, length in (
        ("node-a", 253),
        ("rack-1", 253),
        ("gpu-2", 63),
        ("nic-0", 63),
        ("gpu.example.com", 63),
        ("ecc", 63),
    ):
        text = re.sub(rf'(?<=[":/ ]){re.escape(name)}(?=")', name + "x" * (length - len(name)), text)
    for name in ("serve-0", "full-a", "ecc-errors", "node-a-gpu-old"):
        text = text.replace(f'"{name}"', '"' + name + "y" * (253 - len(name)) + '"')
    path = tmp_path_factory.mktemp("long") / "cluster.json"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("type_", ["pools", "devices", "claims", "classes", "taints"])
def test_long_names_stand_whole_in_one_line(capfd, long_names, type_):
    run(["get", type_, "-A", "--from", str(long_names), "--color", "never"])
    lines = capfd.readouterr().out.splitlines()
    run(["get", type_, "-A", "--from", str(long_names), "-o", "name", "--color", "never"])
    names = capfd.readouterr().out.splitlines()
    for name in names:
        own = [line for line in lines if name.rpartition("/")[2] in line.split()]
        assert own, name
    drivers = sum(line.split()[1] == "driver" for line in lines) if type_ == "taints" else 0
    assert len(lines) == 1 + len(names) + drivers


def test_pages_with_long_names_stay_within_eighty_columns(capfd, long_names):
    pages = [["describe-pool"], *(["describe-pool", name] for name in _names(capfd, long_names))]
    for key in ("serve-0" + "y" * 246 + "-gpus", "serve-0-gpus", "full-a" + "y" * 247):
        pages += [["describe-claim", key, "-n", "ml"], ["describe-claim", key, "-n", "dev"]]
    for page in pages:
        lines = output(capfd, *page, "--from", long_names).splitlines()
        # Commands are never broken.
        prose = [line for line in lines if not line.startswith(("error", "try")) and "kubectl " not in line]
        assert [line for line in prose if len(line) > 80] == []
