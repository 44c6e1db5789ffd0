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
from kubectl_dra.model.base import Record
from kubectl_dra.reports.base import Bound
from tests.reports.contract import broken
from tools.schemas import LISTS, REPORTS

pytestmark = pytest.mark.one_in(6)


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
    "why-pending podgroup/train -n ml --from docs/examples/gang.yaml",
    "describe-podgroup train -n ml --from docs/examples/gang.yaml",
    "describe-node cpu-2",
    "capacity --class gpu.example.com --count 8 -n ml",
    "top nodes",
    "lint -f docs/examples/old-claim.yaml",
)
Printed = Callable[[str], str]


@pytest.fixture
def printed(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Printed:
    """What a command prints about the demo cluster."""
    monkeypatch.chdir(ROOT)

    def document(call: str) -> str:
        assert run([*shlex.split(call), *([] if " --from " in call else ["--from", "demo"])]) == 0
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
    # "top" begins with the name of who holds most.
    assert re.fullmatch(r".*\." if call.startswith("top") else r"[A-Z0-9].*\.", report["summary"])
    text = told.pop("output")["text"]
    assert told == report
    assert text == printed(call).partition("\n\nNothing was written")[0].rstrip("\n")
    if call.startswith("lint"):
        assert " ".join(text.split()).endswith(report["summary"])
    elif not call.startswith(("describe-pool", "taint-device", "top")):
        assert " ".join(text.split()).startswith(report["summary"])


LISTED = {
    "get devices": "47 devices.",
    "get device gpu-3": "4 devices.",
    "get claims -n ml": "16 claims in namespace ml.",
    "get claims,templates -n ml": "21 objects in namespace ml.",
    "get pools --from docs/examples/gang.yaml": "2 pools.",
    "get podgroups -n ml": "No podgroups found in namespace ml.",
    "describe-pool": "7 pools of 3 drivers, 47 devices: 20 free, 4 partly used, 16 in use, 1 tainted, 2 blocked, "
    "4 not offered.",
    "describe-claim serve-0-net gpu-pool-a -n ml": "2 claims.",
    "why-pending -A": "21 pods with device claims are pending, for 15 reasons.",
    "why-pending claim -n lab": "5 ResourceClaims need attention in namespace lab, for 5 reasons.",
    "why-pending podgroup -A": "0 PodGroups wait.",
    "why-pending trainer-0 serve-0 -n ml": "1 of 2 pods is pending.",
    "taint-device --list": "2 taints: 1 by rules, 1 by drivers.",
}


@pytest.mark.parametrize("call", LISTED)
def test_a_list_begins_with_how_many_it_has(printed: Printed, call: str) -> None:
    found = json.loads(printed(f"{call} -o json"))
    assert list(found)[:4] == ["apiVersion", "kind", "summary", "missing"]
    assert found["summary"] == LISTED[call]
    number = re.match("[0-9]+ (?!of|taints)", found["summary"])
    assert number is None or int(number[0]) == len(found["items"])
    assert list(found)[-1] == "items"


def test_every_kind_that_answers_is_among_the_answers(printed: Printed) -> None:
    kinds = {json.loads(printed(f"{call} -o json"))["kind"] for call in ANSWERS}
    # A workload may have any number of pods, so its answer is only in lists.
    assert kinds == {kind for kind, (_, answers) in REPORTS.items() if answers} - {"WorkloadPendingReport"}


def test_pages_are_only_for_documents(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["why-pending", "-A", "--from", "demo", "--text"]) == 2
    assert "-o json --text" in capfd.readouterr().err


BROKEN: dict[str, Callable[[dict[str, Any]], object]] = {
    "begins with": lambda report: report.pop("summary"),
    "summary is empty": lambda report: report.update(summary=""),
    "output": lambda report: report.update(output={"text": "words"}),
    "bound is": lambda report: report.update(nodes=[{"bound": "="}]),
    "certainty.nodes": lambda report: report["certainty"].update(nodes=True),
    "fits is": lambda report: report.update(fits=True),
    "lacks page": lambda report: report["causes"][0].update(page=""),
    "causes[] DRA-": lambda report: report["causes"][0].update(title="words"),
    "findings[] lacks code": lambda report: report.update(findings=[{"rule": "x"}]),
    "missing[] lacks rule": lambda report: report.update(missing=[{"kind": "Pod", "coverage": "forbidden"}]),
    "has the status": lambda report: report.update(taint={"devices": [], "status": "STATUS"}),
    "says nothing by": lambda report: report.update(verdict="-"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_what_breaks_the_contract_is_seen(printed: Printed, what: str) -> None:
    report = json.loads(printed("why-pending trainer-0 -n ml -o json"))
    assert broken(report) == []
    BROKEN[what](report)
    assert any(what in each for each in broken(report))


def definitions() -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted((ROOT / "docs" / "schema").glob("*.json")):
        yield from json.loads(path.read_text(encoding="utf-8"))["$defs"].items()


def subclasses(kind: type) -> set[str]:
    return {kind.__name__}.union(*map(subclasses, kind.__subclasses__()))


def test_only_parts_of_objects_of_the_api_leave_fields_out() -> None:
    fields = {name: record for name, record in definitions() if record.get("properties")}
    sparse = {name for name, record in fields.items() if set(record.get("required", ())) != set(record["properties"])}
    assert len(fields) > 100
    assert sparse <= subclasses(Record)
    assert [name for name, _ in definitions() if "." in name] == []


def test_there_is_one_vocabulary_for_how_sure_a_number_is() -> None:
    words = {bound.value for bound in Bound}
    enums = {name: set(record["enum"]) for name, record in definitions() if "enum" in record}
    assert {name for name, found in enums.items() if found & (words - {"unknown"})} == {"Bound"}
    assert enums["Bound"] == words


def records() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every field of every record of ours: objects of the API, which leave out what is empty, are not ours."""
    for path in sorted((ROOT / "docs" / "schema").glob("*.json")):
        for name, record in json.loads(path.read_text(encoding="utf-8"))["$defs"].items():
            fields = record.get("properties", {})
            if fields and set(record.get("required", ())) == set(fields):
                yield from ((name, field, schema) for field, schema in fields.items())


ENUMS = {name for name, record in definitions() if all(isinstance(word, str) for word in record.get("enum", [0]))}


def inner(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A field's own forms and those of the members of its map."""
    yield schema
    if isinstance(schema.get("additionalProperties"), dict):
        yield schema["additionalProperties"]


def may_be_null(schema: dict[str, Any]) -> bool:
    return {"type": "null"} in schema.get("anyOf", ())


def is_text(schema: dict[str, Any]) -> bool:
    """Whether one of the forms is a text, free or one of a few words."""
    forms = schema.get("anyOf", [schema])
    return any(each.get("type") == "string" or each.get("$ref", "").rpartition("/")[2] in ENUMS for each in forms)


def test_a_text_that_is_not_there_is_empty_and_nothing_is_left_out() -> None:
    known = {(name, field): schema for name, field, schema in records()}
    assert len(known) > 500
    nullable = {where for where, schema in known.items() if any(may_be_null(each) for each in inner(schema))}
    texts = {where for where in nullable if any(is_text(each) for each in inner(known[where]))}
    # An attribute may be an empty text, and codes are words of their own.
    assert {(name, field) for name, field in texts if field != "code"} == {("Seen", "values")}
    assert [where for where, schema in known.items() if schema.get("default") == -1] == []


def test_a_list_or_map_of_nothing_is_empty_and_never_null() -> None:
    def is_many(schema: dict[str, Any]) -> bool:
        return schema.get("type") == "array" or "additionalProperties" in schema

    known = {(name, field): schema.get("anyOf", ()) for name, field, schema in records()}
    many = {where: any(map(is_many, forms)) for where, forms in known.items() if {"type": "null"} in forms}
    assert len(many) > 50
    assert [where for where, found in many.items() if found] == []


#: What every answer with a verdict has besides: why, how sure it is, and what it rests on.
OF_A_VERDICT = {"code", "causes", "certainty", "missing", "assumed", "read"}


def test_every_report_with_a_verdict_says_why_how_surely_and_from_what() -> None:
    fields = {kind: required(kind) for kind in REPORTS}
    judged = {kind for kind, found in fields.items() if "verdict" in found}
    assert judged == set(LISTS["PendingReportList"])
    assert {kind: OF_A_VERDICT - fields[kind] for kind in judged if not fields[kind] >= OF_A_VERDICT} == {}


def required(kind: str) -> set[str]:
    """The fields that every document of the kind has."""
    schema = json.loads((ROOT / "docs" / "schema" / f"{kind}.json").read_text(encoding="utf-8"))
    return set((schema if "required" in schema else schema["$defs"][REPORTS[kind][0].__name__])["required"])
