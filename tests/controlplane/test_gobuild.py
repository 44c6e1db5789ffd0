"""Programs are built once per content, and by one process at a time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.gobuild import BuildError, GoModule, build

pytestmark = pytest.mark.go
_ROOT = Path(__file__).parents[2]


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GoModule:
    monkeypatch.setenv("KUBECTL_DRA_BUILD_CACHE", str(tmp_path / "cache"))
    source = tmp_path / "source"
    source.mkdir()
    (source / "go.mod").write_text("module example.test/hello\n\ngo 1.21\n", encoding="utf-8")
    (source / "main.go").write_text('package main\n\nvar word = "?"\n\nfunc main() { print(word) }\n', encoding="utf-8")
    return GoModule("hello", source, {"hello": "."}, "-s -w -X main.word=hi")


def test_built_once_and_again_after_a_change(module: GoModule) -> None:
    program = build(module) / "hello"
    assert subprocess.run([program], capture_output=True, check=True).stderr == b"hi"
    written = program.stat().st_mtime_ns
    assert build(module) / "hello" == program
    assert program.stat().st_mtime_ns == written
    (module.folder / "main.go").write_text("package main\n\nfunc main() { print(1) }\n", encoding="utf-8")
    assert module.missing() == ["hello"]


def test_a_failing_build_leaves_nothing_behind(module: GoModule, capfd: pytest.CaptureFixture[str]) -> None:
    (module.folder / "main.go").write_text("package main\n\nfunc main() { nonsense }\n", encoding="utf-8")
    with pytest.raises(BuildError, match="hello"):
        build(module)
    assert "nonsense" in capfd.readouterr().err
    assert [path.name for path in module.built().iterdir()] == [".lock"]


def test_builds_at_the_same_time_share_one_result(module: GoModule) -> None:
    code = (
        "from pathlib import Path; from tests.gobuild import GoModule, build\n"
        f"print(build(GoModule('hello', Path({str(module.folder)!r}), {{'hello': '.'}}, {module.ldflags!r})))"
    )
    both = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=_ROOT)
        for _ in range(2)
    ]
    answers = [process.communicate() for process in both]
    assert {out.decode().strip() for out, _ in answers} == {str(module.built())}
    assert sum(b"building hello" in err for _, err in answers) == 1
