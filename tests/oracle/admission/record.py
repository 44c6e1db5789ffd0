"""Asks the real API server's code about all cases and writes its answers to tests/vectors (needs Go).

Run ``python -m tests.oracle.admission.record`` after a change of the cases or of the Kubernetes version in go.mod.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.gobuild import GoModule, build, go_command
from tests.oracle.admission.canonical import digest
from tests.oracle.admission.cases import cases
from tests.oracle.admission.flat import flat_objects

FOLDER = Path(__file__).parent
VECTORS = FOLDER.parents[1] / "vectors"
FIELDS = FOLDER.parent / "fields"
RELEASES = {
    "1.37": ("go.mod", "v37"),
    "1.33": ("go33.mod", "v33"),
    "1.31": ("go31.mod", "v31"),
    "1.30": ("go30.mod", "v30"),
}
MODULE = GoModule("admission", FOLDER, {"admission": "."})


def answers(questions: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The program's answers, one per question, in order."""
    program = build(MODULE) / "admission"
    lines = "".join(json.dumps(question) + "\n" for question in questions)
    done = subprocess.run(
        [program], input=lines.encode(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def record_errors() -> None:
    """What creating each case ends with, and what it is as v1beta1."""
    named = list(cases())
    created = answers({"id": name, "op": "create", "object": obj} for name, obj in named)
    older = "resource.k8s.io/v1beta1"
    converted = answers({"id": name, "op": "convert", "to": older, "object": obj} for name, obj in named)
    rows = []
    for answer, old in zip(created, converted, strict=True):
        row = {"id": answer["id"], "errors": answer.get("errors", [])}
        rows.append(row | ({"v1beta1": digest(old["object"])} if "object" in old else {}))
    write("admission.jsonl.gz", rows)


def record_conversions() -> None:
    """v1beta1 objects in all their forms, and the v1 that the server makes of them."""
    questions = [{"op": "convert", "to": "resource.k8s.io/v1", "object": obj} for obj in flat_objects()]
    pairs = zip(questions, answers(questions), strict=True)
    write("conversion.jsonl.gz", [{"from": question["object"], "to": answer["object"]} for question, answer in pairs])


def record_fields() -> None:
    """An object with every field set for each kind of each generation."""
    rows = []
    for file, tag in RELEASES.values():
        command = [go_command(), "run", f"-modfile={file}", f"-tags={tag}", "."]
        done = subprocess.run(
            command, cwd=FIELDS, stdout=subprocess.PIPE, check=True, env={**os.environ, "GOWORK": "off"}
        )
        rows += [json.loads(line) for line in done.stdout.splitlines()]
    write("every_field.jsonl.gz", rows)


def write(name: str, rows: list[dict[str, Any]]) -> None:
    """Write rows so that the same rows give the same bytes."""
    text = "".join(json.dumps(row, sort_keys=True) + "\n" for row in rows)
    (VECTORS / name).write_bytes(gzip.compress(text.encode(), mtime=0))
    print(f"{name}: {len(rows)} rows")


if __name__ == "__main__":
    record_errors()
    record_conversions()
    record_fields()
