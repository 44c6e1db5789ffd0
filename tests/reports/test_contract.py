"""What programs may rely on in JSON: small, said once, words for people only beside codes or on request."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.commands.app import run
from kubectl_dra.diagnosis.codes import Code

ROOT = Path(__file__).parents[2]
#: The longest answer about one pod on the six nodes of the demo cluster.
MOST = 20_000
ANSWERS = (
    "why-pending trainer-0 -n ml",
    "why-pending claim/serve-0-net -n ml",
    "describe-pool gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq",
    "describe-claim serve-0-net -n ml",
    "simulate -f docs/examples/two-gpus.yaml",
    "taint-device nic.example.com/rack-1/nic-3 link:NoExecute --dry-run=client",
    "test-selector 'device.driver == \"gpu.example.com\"'",
)
Printed = Callable[[str], str]


@pytest.fixture
def printed(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Printed:
    """What a command prints about the demo cluster."""
    monkeypatch.chdir(ROOT)

    def document(call: str) -> str:
        assert run([*shlex.split(call), "--from", "demo"]) == 0
        return capfd.readouterr().out

    return document


def every(value: Any, name: str) -> Iterator[Any]:
    """The values of all fields of one name."""
    if isinstance(value, dict):
        yield from (member for key, member in value.items() if key == name)
        value = list(value.values())
    for member in value if isinstance(value, list) else ():
        yield from every(member, name)


def test_one_pod_is_small_and_names_no_device_twice_per_request(printed: Printed) -> None:
    listed = json.loads(printed("why-pending -A -o json"))["items"]
    funnels = 0
    for item in listed:
        ref = item["pod"]
        text = printed(f"why-pending {ref['name']} -n {ref['namespace']} -o json")
        assert len(text) <= MOST, ref
        for funnel in every(json.loads(text)["nodes"], "funnel"):
            named = [*funnel["left"], *(device for removal in funnel["removed"] for device in removal["devices"])]
            assert len(named) == len(set(named)) == funnel["total"]
            funnels += 1
    assert len(listed) > 15
    assert funnels > 15


def test_a_causes_evidence_is_the_closest_funnel_in_numbers(printed: Printed) -> None:
    report = json.loads(printed("why-pending trainer-0 -n ml -o json"))
    told = [cause["detail"] for cause in report["causes"] if (cause["detail"] or {}).get("type") == "Nearest"]
    funnels = {funnel["node"]: funnel for funnel in every(report["nodes"], "funnel")}
    assert told
    for detail in told:
        funnel = funnels[detail["node"]]
        assert (detail["needed"], detail["left"], detail["best"]) == (
            funnel["needed"],
            len(funnel["left"]),
            funnel["best"],
        )


def test_every_cause_has_its_title_and_page(printed: Printed) -> None:
    causes = [cause for found in every(json.loads(printed("why-pending -A -o json")), "causes") for cause in found]
    assert len(causes) > 20
    for cause in causes:
        assert cause["title"] == Code(cause["code"]).label
        assert (ROOT / cause["page"]).read_text(encoding="utf-8").startswith(f"# {cause['code']}")


@pytest.mark.parametrize("call", ANSWERS)
def test_an_answer_begins_with_its_sentence_and_has_its_page_on_request(printed: Printed, call: str) -> None:
    report, told = json.loads(printed(f"{call} -o json")), json.loads(printed(f"{call} -o json --text"))
    assert list(report)[:3] == ["apiVersion", "kind", "summary"]
    assert re.fullmatch(r"[A-Z0-9].*\.", report["summary"])
    text = told.pop("output")["text"]
    assert told == report
    assert text == printed(call).partition("\n\nNothing was written")[0].rstrip("\n")
    if not call.startswith(("describe-pool", "taint-device")):
        assert " ".join(text.split()).startswith(report["summary"])


def test_pages_are_only_for_documents(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["why-pending", "-A", "--from", "demo", "--text"]) == 2
    assert "-o json --text" in capfd.readouterr().err


def records() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every field of every record of ours: objects of the API, which leave out what is empty, are not ours."""
    for path in sorted((ROOT / "docs" / "schema").glob("*.json")):
        for name, record in json.loads(path.read_text(encoding="utf-8"))["$defs"].items():
            fields = record.get("properties", {})
            if fields and set(record.get("required", ())) == set(fields):
                yield from ((name, field, schema) for field, schema in fields.items())


def test_a_text_that_is_not_there_is_empty_and_nothing_is_left_out() -> None:
    known = {(name, field): schema for name, field, schema in records()}
    assert len(known) > 500
    nullable = {"type": "null"}
    texts = [where for where, s in known.items() if {"type": "string"} in s.get("anyOf", ()) and nullable in s["anyOf"]]
    assert texts == []
    assert [where for where, schema in known.items() if schema.get("default") == -1] == []
