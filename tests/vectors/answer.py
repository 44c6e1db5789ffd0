"""``python tests/vectors/answer.py cel|alloc|sched < rows.jsonl > answers.jsonl``: answers recorded questions anew."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))


def main(what: str) -> None:
    """Read rows from stdin, write one answer per line to stdout."""
    answer = importlib.import_module(f"tests.vectors.answer_{what}").answer
    for line in sys.stdin:
        if line.strip():
            sys.stdout.write(json.dumps(answer(json.loads(line))) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
