"""Writes the JSON Schemas of all reports into docs/schema: ``python tools/schemas.py`` (``--check``: is it stale?).

They are generated from the records that the reports are made of, so they can't say anything else than the program.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from inspect import cleandoc
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec

from kubectl_dra.api.quantities import encode_hook
from kubectl_dra.diagnosis.records import Missing
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.taint_plan import TaintPlan
from kubectl_dra.output.documents import API_VERSION
from kubectl_dra.reports.base import ReportRecord
from kubectl_dra.reports.capacity.capacity import CapacityReport
from kubectl_dra.reports.claims.claim import ClaimReport
from kubectl_dra.reports.devices.device_list import ListedDevice
from kubectl_dra.reports.devices.nodes import NodeReport, NodeSummary
from kubectl_dra.reports.devices.pool import PoolReport, PoolSummary
from kubectl_dra.reports.groups.group_state import GroupReport
from kubectl_dra.reports.groups.groups import GroupPendingReport
from kubectl_dra.reports.lint import LintReport
from kubectl_dra.reports.pending.idle import WorkloadPendingReport
from kubectl_dra.reports.pending.pending import ClaimPendingReport, PendingReport
from kubectl_dra.reports.selector import SelectorReport
from kubectl_dra.reports.simulation import SimulationReport
from kubectl_dra.reports.taints.taint_list import ListedTaint
from kubectl_dra.reports.top import TopReport
from kubectl_dra.reports.version import Version
from kubectl_dra.source.snapshot import SnapshotHeader

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "schema"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
# kind -> the record, and whether it is an answer: with a sentence for people, and on request its page.
REPORTS: dict[str, tuple[type[msgspec.Struct], bool]] = {
    "PendingReport": (PendingReport, True),
    "ClaimPendingReport": (ClaimPendingReport, True),
    "GroupPendingReport": (GroupPendingReport, True),
    "WorkloadPendingReport": (WorkloadPendingReport, True),
    "PoolReport": (PoolReport, True),
    "PoolSummary": (PoolSummary, False),
    "Device": (ListedDevice, False),
    "NodeReport": (NodeReport, True),
    "NodeSummary": (NodeSummary, False),
    "ClaimReport": (ClaimReport, True),
    "GroupReport": (GroupReport, True),
    "SelectorReport": (SelectorReport, True),
    "TaintPlan": (TaintPlan, True),
    "SimulationReport": (SimulationReport, True),
    "CapacityReport": (CapacityReport, True),
    "TopReport": (TopReport, True),
    "LintReport": (LintReport, True),
    "Version": (Version, False),
}
# kind of the list -> kinds of its items.
LISTS = {
    "PendingReportList": ("PendingReport", "ClaimPendingReport", "GroupPendingReport", "WorkloadPendingReport"),
    "PoolReportList": ("PoolReport", "PoolSummary"),
    "PoolSummaryList": ("PoolSummary",),
    "DeviceList": ("Device",),
    "NodeReportList": ("NodeReport",),
    "NodeSummaryList": ("NodeSummary",),
    "ClaimReportList": ("ClaimReport",),
    "GroupReportList": ("GroupReport",),
    "SelectorReportList": ("SelectorReport",),
}
PATTERN = "#/$defs/{name}"
CODE = {"type": ["string", "null"], "description": "The main reason: the code of the first of causes."}
SUMMARY = {"type": "string", "description": "The answer in a sentence. For people; the words may change."}
OUTPUT = {
    "type": "object",
    "description": "With --text. For people; the words may change.",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
}


def schemas() -> dict[str, dict[str, Any]]:
    """Every schema by the kind that it describes."""
    documents = {kind: _document(kind, *_report(*entry), text=entry[1]) for kind, entry in REPORTS.items()}
    unread, rights = _components(Missing)
    missing = {"type": "array", "items": unread, "description": "What could not be read and may change the list."}
    _complete_plan(documents["TaintPlan"], unread, rights)
    for kind, items in LISTS.items():
        described = [{"$ref": f"{item}.json#/$defs/{REPORTS[item][0].__name__}"} for item in items]
        fields = {"apiVersion": {"const": API_VERSION}, "kind": {"enum": list(items)}}
        item_kind = {"type": "object", "properties": fields, "required": list(fields)}
        item = {"allOf": [item_kind, {"anyOf": described} if len(described) > 1 else described[0]]}
        listed = {"summary": SUMMARY, "missing": missing, "items": {"type": "array", "items": item}}
        documents[kind] = _document(kind, listed, rights)
    row, definitions = _components(ListedTaint)
    listed = {"summary": SUMMARY, "missing": missing, "items": {"type": "array", "items": row}}
    header, parts = _report(SnapshotHeader, False)
    items = {"type": "array", "items": {"type": "object"}, "description": "API objects of every kind that was read."}
    documents["Snapshot"] = _document("Snapshot", {**header, "items": items}, parts)
    documents["List"] = _objects(missing, rights)
    documents["TaintList"] = _document("TaintList", listed, {**definitions, **rights})
    return documents


def _objects(missing: Mapping[str, Any], rights: Mapping[str, Any]) -> dict[str, Any]:
    """kubectl's list of API objects, with what it lacks."""
    listed = {"summary": SUMMARY, "missing": missing, "items": {"type": "array", "items": {"type": "object"}}}
    document = _document("List", listed, rights)
    document["properties"]["apiVersion"] = {"const": "v1"}
    return document


def _complete_plan(plan: dict[str, Any], unread: Mapping[str, Any], rights: Mapping[str, Any]) -> None:
    """What stands in a plan beside its record."""
    rules = {"type": "array", "items": {"type": "object"}, "description": "The DeviceTaintRules as they would be."}
    outcome = {name: {"type": "string"} for name in ("rule", "verb", "state")}
    outcomes = {"type": "object", "properties": outcome, "required": list(outcome)}
    more = {
        "objects": rules,
        "missing": {"type": "array", "items": unread, "description": "What could not be read and may be hit."},
        "outcomes": {
            "type": "array",
            "items": outcomes,
            "description": "What became of each write; none in a dry run.",
        },
    }
    plan["properties"] |= more
    plan["required"] += more
    plan["$defs"] |= rights


def _report(record: type[msgspec.Struct], answer: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """The properties of a report that are always there, and all definitions."""
    _, definitions = _components(record)
    properties = dict(definitions[record.__name__]["properties"])
    main = {"code": CODE} if hasattr(record, "code") and "causes" in properties else {}
    return ({"summary": SUMMARY, **properties, **main} if answer else properties), definitions


def _document(
    kind: str, properties: Mapping[str, Any], definitions: Mapping[str, Any], text: bool = False
) -> dict[str, Any]:
    head = {"apiVersion": {"const": API_VERSION}, "kind": {"const": kind}}
    every = {**head, **properties}
    document = {"$schema": DIALECT, "$id": f"{kind}.json", "title": kind, "type": "object"}
    optional = {"output": OUTPUT} if text else {}
    return {
        **document,
        "properties": every | optional,
        "required": list(every),
        "$defs": dict(sorted(definitions.items())),
    }


def _components(record: type[msgspec.Struct]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The reference to a record, and the definitions of all that it is made of."""
    # Defaults of quantities are written as the program writes them.
    builtins = msgspec.to_builtins
    with patch("msgspec._json_schema.to_builtins", lambda value, **more: builtins(value, enc_hook=encode_hook, **more)):
        (reference,), definitions = msgspec.json.schema_components([record], schema_hook=_hook, ref_template=PATTERN)
    named: dict[str, list[type[msgspec.Struct]]] = {}
    for each in _subclasses(msgspec.Struct):
        named.setdefault(each.__name__, []).append(each)
    for name, definition in definitions.items():
        if "description" in definition:
            definition["description"] = cleandoc(definition["description"])  # Python 3.13 does it by itself
        # Reports leave out nothing; objects of the API leave out what is empty.
        fields = set(definition.get("properties", ()))
        classes = [each for each in named.get(name, ()) if set(_always(each)) == fields]
        if classes and all(issubclass(each, ReportRecord) for each in classes):
            definition["required"] = _always(classes[0])
    return reference, {name: _null_last(definition) for name, definition in definitions.items()}


def _null_last(schema: Any) -> Any:
    """Alternatives in one order: msgspec before 0.22 puts null first."""
    if isinstance(schema, list):
        return sorted(map(_null_last, schema), key=lambda each: each == {"type": "null"})
    return {key: _null_last(value) for key, value in schema.items()} if isinstance(schema, dict) else schema


def _always(record: type[msgspec.Struct]) -> list[str]:
    tag = record.__struct_config__.tag_field
    return [*([tag] if tag else []), *record.__struct_encode_fields__]


def _subclasses(kind: type[msgspec.Struct]) -> set[type[msgspec.Struct]]:
    below = set(kind.__subclasses__())
    return below.union(*map(_subclasses, below))


def _hook(kind: type) -> dict[str, Any]:
    assert kind is Quantity, f"a report holds a {kind}, which has no schema"
    return {"type": "string", "description": "A Kubernetes quantity such as 80Gi."}


def main() -> int:
    """Write or check all files."""
    fresh = {FOLDER / f"{kind}.json": json.dumps(schema, indent=2) + "\n" for kind, schema in schemas().items()}
    stale = [path for path, text in fresh.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    stale += [path for path in FOLDER.glob("*.json") if path not in fresh]
    if "--check" not in sys.argv:
        for path in stale:
            path.write_text(fresh[path], encoding="utf-8") if path in fresh else path.unlink()
    print("\n".join(path.name for path in stale) or "all schemas are fresh")
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
