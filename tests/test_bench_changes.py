"""The table of benchmarks says what has changed since the one that was committed."""

from __future__ import annotations

from bench.changes import figures, told
from bench.frame import Cost, Row, markdown

PEER = Cost(2.0, 2.0)


def test_rows_are_compared_with_those_of_the_document() -> None:
    before = [
        Row("ratio", "10 nodes", Cost(1.0, 1.0), "peer", PEER),
        Row("time", "", Cost(0.5, 0.5)),
        Row("long", "", Cost(3.0, 3.0)),
        Row("unknown", "", None, "peer", PEER),
    ]
    known = figures("# Performance\n\n" + "\n".join(markdown(before)) + "\n| a | b |\n")
    assert known == {("ratio", "10 nodes"): 0.5, ("time", ""): 500.0, ("long", ""): 3000.0}
    assert told(Row("ratio", "10 nodes", Cost(0.5, 0.5), "peer", PEER), known) == "  -50%"
    assert told(Row("time", "", Cost(0.6, 0.5)), known) == "  +20%"
    assert told(Row("long", "", Cost(0.3, 0.3)), known) == "  -90%"
    assert told(Row("ratio", "20 nodes", Cost(0.5, 0.5), "peer", PEER), known) == "  new"
    assert told(Row("unknown", "", None, "peer", PEER), known) == ""
