"""``python -m tests.scheduler.edges`` asks the real scheduler (Go needed) and records what it answers."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from tests.oracle.scheduler_oracle import Oracle
from tests.scheduler.edges.all import EDGES


def main() -> None:
    """Write the recorded file anew."""
    with Oracle("admit") as admit, Oracle("schedule") as schedule, Oracle("gangs") as gangs:
        lines = []
        for edge in EDGES:
            row = admit.ask(edge.row())
            answer = (gangs if row.get("podgroups") else schedule).ask(row)
            lines.append(json.dumps({**row, "expect": answer["expect"]}, sort_keys=True))
    path = Path(__file__).parent.parent / "edges.jsonl.gz"
    path.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode(), mtime=0))


if __name__ == "__main__":
    main()
