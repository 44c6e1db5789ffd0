"""The wheel and the source distribution: what is in them, and that the wheel's contents run."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from kubectl_dra.commands.completion.scripts import SCRIPTS
from kubectl_dra.version import __version__

#: Each worker that has one of them builds.
pytestmark = pytest.mark.one_in(3)
ROOT = Path(__file__).parents[1]
SHARED = {
    "bash": "share/bash-completion/completions/kubectl-dra",
    "zsh": "share/zsh/site-functions/_kubectl-dra",
    "fish": "share/fish/vendor_completions.d/kubectl-dra.fish",
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both distributions."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(folder)], cwd=ROOT, check=True, capture_output=True
    )
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> zipfile.ZipFile:
    (path,) = built.glob("*.whl")
    assert path.name == f"kubectl_dra-{__version__}-py3-none-any.whl"
    return zipfile.ZipFile(path)


def test_the_wheel_holds_the_program_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    names = wheel.namelist()
    package = {name for name in names if name.startswith("kubectl_dra/")}
    tracked = {path.relative_to(ROOT).as_posix() for path in (ROOT / "kubectl_dra").rglob("*.py")}
    assert tracked <= package
    assert {"kubectl_dra/py.typed", "kubectl_dra/source/demo/cluster.json"} <= package
    info = f"kubectl_dra-{__version__}."
    assert all(name.startswith(("kubectl_dra/", f"{info}dist-info/", f"{info}data/")) for name in names)
    assert f"{info}dist-info/licenses/LICENSE" in names


def test_the_wheel_brings_both_executables_and_the_completions(wheel: zipfile.ZipFile) -> None:
    info = f"kubectl_dra-{__version__}"
    scripts = wheel.read(f"{info}.dist-info/entry_points.txt").decode()
    assert "kubectl-dra = kubectl_dra.__main__:main" in scripts
    assert "kubectl_complete-dra = kubectl_dra.commands.completion.complete:main" in scripts
    for shell, path in SHARED.items():
        assert wheel.read(f"{info}.data/data/{path}").decode() == SCRIPTS[shell]


def test_the_same_sources_give_the_same_bytes(built: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    assert {p.name: p.read_bytes() for p in built.iterdir()} == {p.name: p.read_bytes() for p in tmp_path.iterdir()}


def test_the_wheel_runs_without_the_checkout(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    wheel.extractall(tmp_path / "site")
    code = "import sys; sys.path.insert(0, sys.argv.pop(1)); from kubectl_dra.__main__ import main; main()"
    command = [sys.executable, "-c", code, str(tmp_path / "site"), "why-pending", "nosuch", "--from", "demo"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, encoding="utf-8", check=False, stdin=subprocess.DEVNULL
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[0] == 'error: pods "nosuch" not found in namespace "default"'


def test_the_source_distribution_holds_the_documents(built: Path) -> None:
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"README.md", "LICENSE", "CHANGELOG.md", "docs/development/proofs.md", "deploy/krew/dra.yaml"} <= names
    assert {path.relative_to(ROOT).as_posix() for path in (ROOT / "completions").iterdir()} <= names


def test_the_krew_template_has_what_the_archive_fills_in() -> None:
    text = (ROOT / "deploy" / "krew" / "dra.yaml").read_text(encoding="utf-8")
    assert all(text.count(f"@{name}@") == 1 for name in ("VERSION", "SHA256", "ARCHIVE_URL"))
