"""The table of benchmarks says what has changed since the one that was committed; its commands say what is expected."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import live, world
from bench.changes import figures, told
from bench.document import PARTS, Part, sections_of, with_part
from bench.frame import ROOT, Budget, Cost, Measure, Row, markdown
from kubectl_dra.commands.app import run

PEER = Cost(2.0, 2.0)


def test_rows_are_compared_with_those_of_the_document() -> None:
    before = [
        Row("ratio", "10 nodes", Cost(1.0, 1.0), "peer", PEER),
        Row("time", "", Cost(0.5, 0.5)),
        Row("long", "", Cost(3.0, 3.0)),
        Row("unknown", "", None, "peer", PEER),
    ]
    known = figures("# Performance\n\n" + "\n".join(markdown(before)) + "\n| a | b |\n")
    assert known == {("ratio", "10 nodes", "peer"): 0.5, ("time", "", ""): 500.0, ("long", "", ""): 3000.0}
    assert told(Row("ratio", "10 nodes", Cost(0.5, 0.5), "peer", PEER), known) == "  -50%"
    assert told(Row("time", "", Cost(0.6, 0.5)), known) == "  +20%"
    assert told(Row("long", "", Cost(0.3, 0.3)), known) == "  -90%"
    assert told(Row("ratio", "20 nodes", Cost(0.5, 0.5), "peer", PEER), known) == "  new"
    assert told(Row("ratio", "10 nodes", Cost(0.5, 0.5), "another", PEER), known) == "  new"
    assert told(Row("unknown", "", None, "peer", PEER), known) == ""


def test_a_part_that_is_measured_again_replaces_its_own_rows_only() -> None:
    document = (ROOT / "docs" / "development" / "performance.md").read_text(encoding="utf-8")
    slow = Row("why-pending POD", "9 nodes", Cost(4.0, 4.0), "peer", PEER, Budget(Measure.RATIO, 1.5), why="as ever")
    part = Part("live", "2026-11-28 10:00", "0123abcd", (1.0, 2.0), [slow])
    after = with_part(document, part, ("go",))
    sections, before = sections_of(after), sections_of(document)
    assert "\n".join(before["live"]) not in after
    assert sections["live"][0] == "Measured 2026-11-28 10:00 after 0123abcd, at a load of 1.0 before and 2.0 after."
    assert sections["live"][-1] == "- why-pending POD, 9 nodes: as ever"
    others = [name for name in PARTS if name != "live"]
    assert [sections[name] for name in others] == [before[name] for name in others]
    assert "- MISSED: why-pending POD 9 nodes: 2.00 x and  MB, budget 1.5 x" in sections["Budgets"]
    kept = {key: value for key, value in figures(document).items() if key[2] != "a bare loop"}
    assert figures(after) == {**kept, ("why-pending POD", "9 nodes", "peer"): 2.0}
    # Nothing of it is left where the part is measured once more.
    again = with_part(after, Part("live", "now", "0123abcd", (1.0, 2.0), []), ())
    assert "9 nodes" not in again


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bench") / "cluster.json"
    world.write_snapshot(path, world.objects(20, live.PENDING))
    return path


@pytest.mark.parametrize("name", list(live.CASES))
def test_commands_that_are_measured_say_what_they_are_checked_by(
    name: str, cluster: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = live.CASES[name]
    run([*case.words, "--from", str(cluster)])
    assert case.expect in capsys.readouterr().out
