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
    path.write_text(text)
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
