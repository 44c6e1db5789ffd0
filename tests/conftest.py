"""Settings of all tests."""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.database import DirectoryBasedExampleDatabase

from tests.kit import sample

_LONGEST = Path(__file__).parent / "tui"
#: Characters of one value in the name of a test.
_LONGEST_ID = 80
# How long one example takes says nothing on a busy machine; benchmarks measure.
# What failed is kept where that is possible; named, the folder is not warned about where it is not.
settings.register_profile(
    "project",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    database=DirectoryBasedExampleDatabase(
        Path(os.environ.get("HYPOTHESIS_STORAGE_DIRECTORY", ".hypothesis")).absolute() / "examples"
    ),
)
settings.load_profile("project")


# Pages are as wide as the terminal, and a test that is about a width says which: that of whoever runs them is none.
os.environ.pop("COLUMNS", None)

# What the terminal UI remembers is the user's, not a test's.
_REMEMBERED = tempfile.mkdtemp(prefix="kubectl-dra-tests-")
os.environ.update(XDG_STATE_HOME=_REMEMBERED, XDG_CONFIG_HOME=_REMEMBERED)
atexit.register(shutil.rmtree, _REMEMBERED, ignore_errors=True)

# Most of what the tests make is long-lived or gone at once; looking for cycles more often took a tenth of the time.
gc.set_threshold(100_000, 50, 100)


#: Folders of which every test needs more than Python, with its marks: what is deselected anyhow is not even imported.
ELSEWHERE = {
    "e2e": ("controlplane",),
    "ways_out": ("controlplane", "controllers"),
    "matrix": ("matrix",),
    "differential": ("go",),
    "oracle": ("go",),
}


def pytest_configure(config: pytest.Config) -> None:
    """What the marks of this run leave out."""
    sample.leaves_out_rows = _leaves_out(config, "rows")


def _leaves_out(config: pytest.Config, mark: str) -> bool:
    return f"not {mark}" in config.getoption("markexpr").split(" and ")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """None: pytest decides."""
    marks = ELSEWHERE.get(collection_path.name, ()) if collection_path.parent == Path(__file__).parent else ()
    return True if marks and all(_leaves_out(config, mark) for mark in marks) else None


def pytest_make_parametrize_id(val: object) -> str | None:
    """Values that are longer than anybody reads go by how they begin and their length. None: pytest decides."""
    if not isinstance(val, str | bytes) or len(val) <= _LONGEST_ID:
        return None
    text = val if isinstance(val, str) else val.decode("latin-1")
    # The environment of a test holds its name, and in some locales only ASCII.
    return f"{ascii(text[: _LONGEST_ID // 2])[1:-1]}-{len(val)}"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest ones first: no worker is left with one of them when the others have ended."""
    sample.share_of(items)
    longest = {path: path.is_relative_to(_LONGEST) for path in {item.path for item in items}}
    items.sort(key=lambda item: not longest[item.path])


def pytest_collection_finish() -> None:
    """Recorded rows and the tests themselves stay to the end: the collector need not look at them, not even now."""
    gc.freeze()


def pytest_unconfigure() -> None:
    """Workers are interrupted in the end: what hypothesis does at each collection would tell of that."""
    gc.callbacks.clear()
