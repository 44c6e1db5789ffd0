"""The rules that every document of ours keeps (docs/json.md), as a check of any of them: what is broken, and where."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Bound
from kubectl_dra.reports.base import Fits
from kubectl_dra.reports.taints.taint_list import TaintStatus
from tools.schemas import LISTS, REPORTS

#: What says "nothing" for people; documents say it by an empty text, an empty list or null.
NOTHING = frozenset({"-", "?", "none", "<none>", "<unset>", "n/a", "null", "not known"})
BOUNDS = frozenset(bound.value for bound in Bound)
#: Fields of vocabularies, and where every object of a name has them.
WORDS = {"bound": BOUNDS, "devicesFit": frozenset(Fits), "fits": frozenset(Fits)}
#: Objects that lists of these names hold, and the fields that tell what each is.
TOLD = {"causes": ("code", "title", "page"), "findings": ("code",), "missing": ("kind", "coverage", "rule")}
#: Documents that hold texts of the API, of users and of commands, word for word.
FOREIGN = frozenset({"attributes", "commands", "conditions", "labels", "messages", "objects", "spec", "values"})


def broken(document: dict[str, Any], *, text: bool = False) -> list[str]:
    """What the document does not keep; ``text``: pages for people were asked for."""
    kind = document["kind"]
    items = document["items"] if kind in LISTS else []
    found = [f"{kind}.{what}" for what in _of_head(document, text=text)]
    for item in items:
        found += [f"{kind}.items.{what}" for what in _of_head(item, text=text)]
    if kind != "List":
        found += [f"{kind}{what}" for what in _of_values(document)]
    return found


def _of_head(document: dict[str, Any], *, text: bool) -> Iterator[str]:
    kind = document["kind"]
    is_answer = REPORTS.get(kind, (None, False))[1]
    fields = list(document)
    has_sentence = is_answer or kind.endswith("List")
    wanted = ["apiVersion", "kind", *(["summary"] if has_sentence else [])]
    if fields[: len(wanted)] != wanted:
        yield f"begins with {fields[: len(wanted)]} instead of {wanted}"
    if has_sentence and not document.get("summary"):
        yield "summary is empty"
    if ("output" in document) is not (text and is_answer):
        yield "output"
    if kind.endswith("List") and not {"items", "missing"} <= set(fields):
        yield "lacks items or missing"


def _of_values(value: Any, path: str = "") -> Iterator[str]:
    if isinstance(value, list):
        for each in value:
            yield from _of_values(each, f"{path}[]")
    elif isinstance(value, str):
        if value.lower() in NOTHING:
            yield f"{path} says nothing by {value!r}"
    elif isinstance(value, dict):
        for name, member in value.items():
            if name in FOREIGN:
                continue
            if name in WORDS and str(member) not in WORDS[name]:
                yield f"{path}.{name} is {member!r}"
            if name == "certainty":
                yield from (f"{path}.certainty.{part}" for part, bound in member.items() if bound not in BOUNDS)
            for field in TOLD.get(name, ()):
                yield from (f"{path}.{name}[] lacks {field}" for each in member if not each.get(field))
            if name == "causes":
                yield from (f"{path}.causes[] {each['code']}" for each in member if not _is_registered(each))
            if name == "taint" and "devices" in member and member.get("status") not in frozenset(TaintStatus):
                yield f"{path}.taint has the status {member.get('status')!r}"
            yield from _of_values(member, f"{path}.{name}")


def _is_registered(cause: dict[str, Any]) -> bool:
    return cause["title"] == Code(cause["code"]).label and cause["page"] == f"docs/reasons/{cause['code']}.md"
