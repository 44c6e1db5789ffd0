"""The table of benchmarks says what has changed since the one that was committed; its commands say what is expected."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import live, world
from bench.changes import figures, told
from bench.frame import Cost, Row, markdown
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
