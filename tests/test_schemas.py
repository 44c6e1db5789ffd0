"""The published JSON Schemas: fresh, valid themselves, true of what the commands print, and able to refuse."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import jsonschema
import pytest
from referencing import Registry, Resource

from kubectl_dra.commands.app import COMMANDS, app, run
from tests.reports.contract import broken
from tools.schemas import LISTS, REPORTS

pytestmark = pytest.mark.one_in(3)


ROOT = Path(__file__).parents[1]
SCHEMAS = {
    path.stem: json.loads(path.read_text(encoding="utf-8")) for path in (ROOT / "docs" / "schema").glob("*.json")
}
REGISTRY: Registry[Any] = Registry().with_resources(
    (schema["$id"], Resource.from_contents(schema)) for schema in SCHEMAS.values()
)
CALLS = {
    "why-pending -A": "PendingReportList",
    "why-pending claim -n ml": "PendingReportList",
    "why-pending -A --remedies": "PendingReportList",
    "why-pending trainer-0 -n ml -o json": "PendingReport",
    "why-pending claim/serve-0-net -n ml": "ClaimPendingReport",
    "why-pending podgroup/train -n ml --from docs/examples/gang.yaml": "GroupPendingReport",
    "why-pending job/train -n ml --from docs/examples/queue.yaml": "PendingReportList",
    "why-pending podgroups -n ml --from docs/examples/gang.yaml": "PendingReportList",
    "describe-pool": "PoolReportList",
    "describe-pool gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq": "PoolReport",
    "describe-pool gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq mig.example.com/cpu-2": "PoolReportList",
    "describe-claim serve-0-net -n ml": "ClaimReport",
    "describe-claim serve-0-net serve-1-net -n ml": "ClaimReportList",
    "describe-podgroup train -n ml --from docs/examples/gang.yaml": "GroupReport",
    "describe-podgroup train train -n ml --from docs/examples/gang.yaml": "GroupReportList",
    "describe-node cpu-2": "NodeReport",
    "describe-node cpu-1 cpu-2": "NodeReportList",
    "get nodes": "NodeSummaryList",
    "get node cpu-2": "NodeSummary",
    "get pools": "PoolSummaryList",
    "get pool gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq": "PoolSummary",
    "get devices": "DeviceList",
    "get device gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq/gpu-0": "Device",
    "taint-device --list": "TaintList",
    "taint-device nic.example.com/rack-1/nic-3 link:NoExecute --dry-run=client": "TaintPlan",
    "simulate -f docs/examples/two-gpus.yaml": "SimulationReport",
    "capacity --class gpu.example.com --count 8 -n ml": "CapacityReport",
    "capacity -f docs/examples/two-gpus.yaml": "CapacityReport",
    "lint -f docs/examples/old-claim.yaml": "LintReport",
    "top": "TopReport",
    "top nodes": "TopReport",
    "top classes": "TopReport",
    "top pods -A": "TopReport",
    "get claims -A": "List",
    "get classes": "List",
    "get taints": "List",
    "version": "Version",
    "get device gpu-3": "DeviceList",
    "get pool gke-prod-h100-5f3a2b1c-k4tq": "PoolSummaryList",
    "describe-pool gke-prod-h100-5f3a2b1c-k4tq": "PoolReportList",
    "why-pending sts/trainer -n ml": "PendingReportList",
    "test-selector -f docs/examples/two-gpus.yaml": "SelectorReportList",
    "test-selector 'device.driver == \"gpu.example.com\"'": "SelectorReport",
    'test-selector \'device.attributes["gpu.example.com"].modle == "H100"\'': "SelectorReport",
    "test-selector device.nosuch": "SelectorReport",
}


Printed = Callable[[str], dict[str, Any]]


def validator(kind: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(SCHEMAS[kind], registry=REGISTRY)


@pytest.fixture
def printed(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[[str], dict[str, Any]]:
    """What a command prints about the demo cluster."""

    def document(call: str) -> dict[str, Any]:
        monkeypatch.chdir(ROOT)
        run([*shlex.split(call), *([] if " --from " in call else ["--from", "demo"]), "-o", "json"])
        found: dict[str, Any] = json.loads(capfd.readouterr().out)
        return found

    return document


def test_every_schema_is_of_something_that_is_printed() -> None:
    # A workload may have any number of pods, so its answer is a list, whatever is in it.
    assert set(SCHEMAS) == {*CALLS.values(), "Snapshot", "WorkloadPendingReport"}


def with_documents() -> dict[str, click.Command]:
    """The commands that have ``-o json`` for answers of their own."""
    context = click.Context(app)
    commands = {name: command for name in COMMANDS if (command := app.get_command(context, name)) is not None}
    formats = {
        name: each.help for name, command in commands.items() for each in command.params if each.name == "output"
    }
    # convert writes objects of the API.
    return {name: commands[name] for name, help_ in formats.items() if "json" in help_ and name != "convert"}


def test_every_command_with_documents_is_called_here() -> None:
    found = with_documents()
    assert len(found) > 10
    assert {call.split()[0] for call in CALLS} == set(found)


def test_every_command_that_answers_has_its_page_on_request() -> None:
    """Answers begin with a sentence, and ``--text`` adds the page; rows of lists have neither."""
    answers = {kind for kind, (_, answers) in REPORTS.items() if answers}
    answers |= {kind for kind, items in LISTS.items() if {*items} <= answers}
    answering = {call.split()[0] for call, kind in CALLS.items() if kind in answers}
    assert {
        name for name, command in with_documents().items() if "text" in {p.name for p in command.params}
    } == answering


def test_a_snapshot_is_what_is_promised(capfd: pytest.CaptureFixture[str]) -> None:
    run(["snapshot", "--from", "demo"])
    document = json.loads(capfd.readouterr().out)
    validator("Snapshot").validate(document)
    del document["reads"][0]["coverage"]
    assert not validator("Snapshot").is_valid(document)


def test_the_schemas_are_fresh() -> None:
    done = subprocess.run(
        [sys.executable, "tools/schemas.py", "--check"], cwd=ROOT, capture_output=True, encoding="utf-8"
    )
    assert done.returncode == 0, f"stale: {done.stdout}{done.stderr}refresh them with `make docs`"


@pytest.mark.parametrize("kind", SCHEMAS)
def test_a_schema_is_a_schema(kind: str) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[kind])


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("call", "kind"), CALLS.items())
def test_what_is_printed_is_what_is_promised(printed: Printed, call: str, kind: str) -> None:
    document = printed(call)
    assert document["kind"] == kind
    validator(kind).validate(document)
    assert broken(document) == []


@pytest.mark.parametrize("path", sorted((ROOT / "tests" / "golden").rglob("*.json")), ids=lambda path: path.stem)
def test_every_golden_document_is_valid(path: Path) -> None:
    document = json.loads(path.read_text(encoding="utf-8"))
    validator(document["kind"]).validate(document)


def test_a_schema_refuses(printed: Printed) -> None:
    document = printed("why-pending trainer-0 -n ml")
    for field in ("verdict", "causes", "apiVersion", "summary"):
        broken = {name: value for name, value in document.items() if name != field}
        assert not validator("PendingReport").is_valid(broken)
    assert not validator("PendingReport").is_valid(document | {"verdict": "Perhaps"})
    listed = printed("why-pending -A")
    listed["items"][0]["pod"] = 1
    assert not validator("PendingReportList").is_valid(listed)
