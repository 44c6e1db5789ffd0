"""Writes ``kubectl_dra/api/builtin_fields.json``: the fields of pods and of what makes them, as a real server has them.

    python -m tests.controlplane run -- python tools/fields.py

The table is ``type -> field -> what is in it``: ``s`` text, ``i`` number, ``b`` boolean, ``x`` anything, or the name
of a type; ``[`` before it for a list, ``{`` for a map. Required fields end in ``!``.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parent.parent / "kubectl_dra" / "api" / "builtin_fields.json"
KINDS = {
    "api/v1": ("Pod", "PodTemplate", "ReplicationController"),
    "apis/apps/v1": ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"),
    "apis/batch/v1": ("Job", "CronJob"),
}
_SIMPLE = {"string": "s", "integer": "i", "number": "x", "boolean": "b"}
_ANY = ("Quantity", "IntOrString", "RawExtension", "FieldsV1", "Time", "MicroTime")


class Table:
    """The types of one document, as far as they are reached."""

    def __init__(self) -> None:
        self.types: dict[str, dict[str, str]] = {}

    def add(self, name: str, schemas: dict[str, Any]) -> str:
        """Add a type and all that it contains; the short name of it."""
        short = name.rpartition(".")[2]
        if short in _ANY:
            return "x"
        schema = schemas[name]
        if "properties" not in schema:
            return _SIMPLE.get(schema.get("type", ""), "x")
        if short not in self.types:
            self.types[short] = {}
            required = set(schema.get("required", ()))
            for field, inner in sorted(schema["properties"].items()):
                self.types[short][field] = self._of(inner, schemas) + ("!" if field in required else "")
        return short

    def _of(self, schema: dict[str, Any], schemas: dict[str, Any]) -> str:
        if "allOf" in schema:
            return self._of(schema["allOf"][0], schemas)
        if "$ref" in schema:
            return self.add(schema["$ref"].rpartition("/")[2], schemas)
        if schema.get("type") == "array":
            return "[" + self._of(schema["items"], schemas)
        if schema.get("type") == "object" and isinstance(schema.get("additionalProperties"), dict):
            return "{" + self._of(schema["additionalProperties"], schemas)
        if schema.get("format") == "int-or-string":
            return "x"
        return _SIMPLE.get(schema.get("type", ""), "x")


def main() -> None:
    """Read the server that KUBECONFIG names, write the table."""
    table = Table()
    for path, kinds in KINDS.items():
        raw = subprocess.run(["kubectl", "get", "--raw", f"/openapi/v3/{path}"], check=True, capture_output=True).stdout
        schemas = json.loads(raw)["components"]["schemas"]
        for name in schemas:
            if name.rpartition(".")[2] in kinds:
                table.add(name, schemas)
    text = json.dumps(dict(sorted(table.types.items())), indent=0, separators=(",", ":"))
    TARGET.write_text(text + "\n", encoding="utf-8")
    print(f"{TARGET.name}: {len(table.types)} types, {len(text)} bytes")


if __name__ == "__main__":
    main()
