"""Reading the recorded answers: one JSON object per line."""

import gzip
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent

Row = dict[str, Any]


@cache
def rows(name: str) -> tuple[Row, ...]:
    """The rows of ``name.jsonl.gz``, in recorded order; shared, so leave them as they are."""
    with gzip.open(HERE / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return tuple(json.loads(line) for line in lines)


def cel_answers() -> Iterator[tuple[Row, str, Row]]:
    """Each CEL row once per environment: the row, ``scheduler`` or ``admission``, the recorded answer."""
    for row in rows("cel"):
        yield row, "scheduler", row["expect"]
        yield row, "admission", row["expect_new"]
