"""Writes what the cases of a minor bring about on its real control plane as snapshots, for tests that need no server.

``python -m tests.matrix.record 1.30 [CASE ...]`` writes ``tests/generations/recorded/1.30/<case>.json``: every object
of resource.k8s.io, pods with what the scheduler wrote, nodes and events, as the server gave them, and its version.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from tests.controlplane import OLD, Client, ControlPlane, binaries
from tests.controlplane.client import wait_for
from tests.e2e.dialects import NEWEST
from tests.e2e.dialects import OLD as DIALECTS
from tests.e2e.situations import scheduled_condition
from tests.matrix.cases import POD, Case, bring_about, cases

RECORDED: Final = Path(__file__).parents[1] / "generations" / "recorded"
_CORE: Final = ("Node", "Pod", "Event")
_RESOURCE: Final = frozenset(kind for dialect in (NEWEST, *DIALECTS.values()) for kind in dialect.kinds)
# The condition, the scheduling context and the claims are written one after the other; as long as one of them changes,
# the scheduler is not done.
_QUIET_SECONDS: Final = 3.0


def snapshot(client: Client, case: Case) -> dict[str, Any]:
    """The cluster as it is, with a header that says which kinds were read completely."""
    kinds = (*case.dialect.kinds, *_CORE)
    items = [item for kind in kinds for item in _listed(client, case, kind)]
    return {
        "apiVersion": "kubectl-dra/v1alpha1",
        "kind": "Snapshot",
        "server": {"version": client.request("GET", "/version")["gitVersion"]},
        "reads": [
            *({"kind": kind, "coverage": "complete"} for kind in kinds),
            *({"kind": kind, "coverage": "notServed"} for kind in sorted(_RESOURCE - {*kinds})),
        ],
        "items": items,
    }


def _listed(client: Client, case: Case, kind: str) -> list[dict[str, Any]]:
    version = case.dialect.version(kind)
    items = client.list(version, kind, case.namespace)
    for item in items:
        item["metadata"].pop("managedFields", None)
    return [{"apiVersion": version, "kind": kind, **item} for item in items]


def settle(client: Client, case: Case) -> None:
    """Wait until nothing has changed for a while."""
    last: list[Any] = []

    def unchanged() -> bool:
        versions = [
            (item["metadata"]["uid"], item["metadata"]["resourceVersion"])
            for kind in ("Pod", *case.dialect.kinds)
            for item in client.list(case.dialect.version(kind), kind)
        ]
        last.append(versions)
        quiet = int(_QUIET_SECONDS / 0.05)
        return len(last) > quiet and all(each == versions for each in last[-quiet:])

    wait_for(unchanged, "the scheduler is done", 40)


def main(minor: str, *names: str) -> None:
    """Record all cases of a minor, or some."""
    folder = RECORDED / minor
    folder.mkdir(parents=True, exist_ok=True)
    with ControlPlane(binaries(minor), release=OLD[minor]) as plane:
        client = plane.client()
        for name, case in cases(minor).items():
            if names and name not in names:
                continue
            try:
                bring_about(client, replace(case, message=""))
            except AssertionError as error:
                print(f"{name}: {error}", file=sys.stderr)
            settle(client, case)
            condition = scheduled_condition(client, case.namespace, POD) or {}
            print(f"{name}: {condition.get('reason')}: {condition.get('message')}")
            text = json.dumps(snapshot(client, case), indent=1)
            (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
