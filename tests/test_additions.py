"""Of what CONTRIBUTING.md says an addition touches, one of each is made in a copy of the program, and used there."""

from __future__ import annotations

import fnmatch
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import cache_from_source
from pathlib import Path

import pytest

from tests.kit.sample import sampled

ROOT = Path(__file__).parents[1]

COMMAND = '''"""``kubectl dra greet``."""

import click

from kubectl_dra.commands.shared.options import Options, shared_options
from kubectl_dra.commands.shared.show import console
from kubectl_dra.output.safe import fmt


@click.command("greet")
@shared_options()
@click.argument("name")
def command(options: Options, name: str) -> None:
    """Greet somebody."""
    console(options).out(fmt("Hello {}", name))
'''
VIEW = '''"""Drivers by name."""

from kubectl_dra.output.safe import Safe, safe
from kubectl_dra.tui.columns import Column
from kubectl_dra.tui.queries import ALL_POOLS
from kubectl_dra.tui.list_view import ListView


class DriversView(ListView[str]):
    """The drivers."""

    crumb = Safe("all the drivers")

    def queries(self):
        return (ALL_POOLS,)

    def columns(self):
        return [Column("DRIVER", safe)]

    def all_rows(self):
        pools = self.worker.record(ALL_POOLS)
        return None if pools is None else sorted({pool.driver for pool in pools})

    def identity(self, row):
        return row
'''
PLAY = """
from tests.tui.support import demo_app, play

async def script(ui):
    await ui.press("7")
    print(ui.screen)
    await ui.command("overview")
    await ui.command("drivers")
    print(ui.crumbs)
    await ui.press("question_mark")
    print(*(each.prompt for part in ui.app.screen.lists for each in part.options if each.id == "drivers"))

play(demo_app(), script)
"""

TOLD = """
from kubectl_dra.commands.app import run

run("explain DRA-199".split())
run(["explain"])
for form in ([], ["-o", "json"]):
    run(["why-pending", "finetune", "-n", "lab", "--from", "demo", *form])
"""
PAGE = """# DRA-199: the pod waits for the moon

## What you see

```text
0/6 nodes are available: the moon is down
```

## What it means

It waits.

## How to confirm it

Look up.

## How to fix it

Wait for the night.

## Upstream

None.
"""


PLUGIN = '''"""FullMoon: no pods at full moon."""

from kubectl_dra.scheduler.framework import Plugin
from kubectl_dra.scheduler.status import unresolvable


class FullMoon(Plugin):
    """Every node refuses."""

    name = "FullMoon"

    def filter(self, cycle, node):
        return unresolvable("node(s) howled at the moon")
'''


@dataclass(frozen=True)
class Addition:
    """``row``: what CONTRIBUTING calls it. ``files``: a new file's text, or lines, each with what comes behind it.

    Paths are those of CONTRIBUTING: below ``kubectl_dra/``, but for ``docs/``.

    ``call``: arguments of Python; ``shows``: what they print.
    """

    row: str
    files: Mapping[str, str | tuple[str, ...]]
    call: tuple[str, ...]
    shows: tuple[str, ...]


LETTERS = """
from tests.tui.support import demo_app, play

async def script(ui):
    await ui.press("2")
    print(ui.screen)

play(demo_app(), script)
"""
LETTER: Mapping[str, str | tuple[str, ...]] = {
    "output/devices/pool_columns.py": (
        "POOLS: Final[tuple[ListColumn[PoolSummary], ...]] = (",
        '    ListColumn("LETTER", lambda pool, _: safe(pool.pool[0]), lambda pool: pool.pool[0]),',
    ),
}
GREET: Mapping[str, str | tuple[str, ...]] = {
    "commands/greet.py": COMMAND,
    "commands/app.py": (
        "COMMANDS: Final[dict[str, tuple[str, str]]] = {",
        '    "greet": ("greet", "Greet somebody"),',
    ),
}
SHOUT: Mapping[str, str | tuple[str, ...]] = {
    "cel/declarations/extensions.py": (
        "STRINGS: Table = {",
        '    "shout": (member("string_shout", (STRING,), STRING),),',
    ),
    "cel/functions/strings.py": (
        "OVERLOADS: Final[dict[str, Callable[..., Value]]] = {",
        '    "string_shout": lambda text: text.upper() + "!",',
    ),
}
ADDITIONS = {
    "command": Addition(
        "a command",
        GREET,
        ("-m", "kubectl_dra", "greet", "--from", "demo", "Alan"),
        ("Hello Alan",),
    ),
    "command-in-help": Addition(
        "a command",
        GREET,
        ("-m", "kubectl_dra", "--help"),
        ("greet", "Greet somebody"),
    ),
    "function": Addition(
        "a CEL function",
        SHOUT,
        ("-m", "kubectl_dra", "test-selector", '"a".shout() == "A!"', "--from", "demo"),
        ("All 47 devices match",),
    ),
    "function-with-a-cost": Addition(
        "a CEL function",
        {
            **SHOUT,
            "cel/cost/kubernetes.py": (
                "FUNCTIONS: Final[Mapping[str, CostRule]] = {",
                '    "shout": CostRule(constant(90_000), lambda _: 2_000_000),',
            ),
        },
        ("-m", "kubectl_dra", "test-selector", 'device.driver.shout() == "A!"', "--from", "demo", "-o", "json"),
        ('"estimatedCost": 90', "cost limit exceeded"),
    ),
    "plugin": Addition(
        "a scheduler plugin",
        {
            "scheduler/plugins/full_moon.py": PLUGIN,
            "scheduler/profile.py": (
                "from kubectl_dra.scheduler.framework import Plugin",
                "from kubectl_dra.scheduler.plugins.full_moon import FullMoon",
                "    NodeName(),",
                "    FullMoon(),",
            ),
        },
        ("-m", "kubectl_dra", "why-pending", "trainer-0", "-n", "ml", "--from", "demo"),
        ("FullMoon says: node(s) howled at the moon", "6 node(s) howled at the moon"),
    ),
    "reason": Addition(
        "a reason (`DRA-xxx`)",
        {
            "docs/reasons/DRA-199.md": PAGE,
            "diagnosis/gates/gates.py": (
                "    if pod.spec.scheduling_gates:",
                '        yield Cause(Code.MOON, Gates(("example.com/moon",)))',
            ),
            "diagnosis/codes.py": (
                '    SCHEDULING_GATES = "DRA-100", "scheduling gates", "the pod has scheduling gates", "Gates"',
                '    MOON = "DRA-199", "waits for the moon", "the pod waits for the moon", "Gates"',
            ),
            "output/pending/reasons/untried.py": (
                "SENTENCES: Final[dict[Code, Sentence]] = {",
                '    Code.MOON: with_detail(records.Gates, lambda it, _: fmt("{} waits for the moon", it.names[0])),',
            ),
        },
        ("-c", TOLD),
        (
            "DRA-199  the pod waits for the moon\n",
            "What it means\n  It waits.",
            "DRA-199  waits for the moon",
            "Pod lab/finetune is pending: example.com/moon waits for the moon",
            "kubectl dra explain DRA-199",
            '"title": "waits for the moon"',
            '"page": "docs/reasons/DRA-199.md"',
        ),
    ),
    "column": Addition(
        "a column of a list",
        LETTER,
        ("-m", "kubectl_dra", "get", "pools", "--from", "demo", "--sort-by", "LETTER"),
        ("LETTER  DRIVER", "\nc       mig.example.com"),
    ),
    "column-of-the-tui": Addition(
        "a column of a list",
        {**LETTER, "tui/views/pools.py": ('    Look("DRIVER", least=12),', '    Look("LETTER"),')},
        ("-c", LETTERS),
        ("LETTER",),
    ),
    "screen": Addition(
        "a TUI screen",
        {
            "tui/views/drivers.py": VIEW,
            "tui/screens.py": (
                "SCREENS: Final[tuple[Screen, ...]] = (",
                '    Screen("drivers", "views.drivers", "DriversView", "All drivers by name", key="7"),',
            ),
        },
        ("-c", PLAY),
        ("7 DRIVERS", "all the drivers", "mig.example.com", "All drivers by name", ":drivers"),
    ),
}


def named_in(row: str) -> list[str]:
    """The paths that CONTRIBUTING names for an addition."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (cell,) = re.findall(rf"^\| {re.escape(row)} \| (.*) \|$", text, re.MULTILINE)
    return re.findall(r"`([a-z_/A-Z]+(?:/|\.py))`", cell)


@pytest.mark.parametrize("name", ADDITIONS)
def test_an_addition_touches_what_contributing_names(name: str) -> None:
    addition = ADDITIONS[name]
    named = [path.replace("NAME", "*") + ("*" if path.endswith("/") else "") for path in named_in(addition.row)]
    assert [path for path in addition.files if not any(fnmatch.fnmatch(path, each) for each in named)] == []


@pytest.mark.parametrize("name", sampled(ADDITIONS, len(ADDITIONS)))
def test_an_addition_works_where_nothing_else_was_touched(name: str, tmp_path: Path) -> None:
    addition = ADDITIONS[name]
    copy = tmp_path / "kubectl_dra"
    # With the byte code of what stays as it is, but for what others are about to write.
    shutil.copytree(ROOT / "kubectl_dra", copy, ignore=shutil.ignore_patterns("*.pyc.*"))
    shutil.copytree(ROOT / "docs" / "reasons", tmp_path / "docs" / "reasons")
    before = _run(addition.call, tmp_path)
    for path, change in addition.files.items():
        if isinstance(change, str):
            (tmp_path if path.startswith("docs/") else copy).joinpath(path).write_text(change, encoding="utf-8")
            continue
        for line, new in zip(change[::2], change[1::2], strict=True):
            text = (copy / path).read_text(encoding="utf-8")
            assert text.count(f"{line}\n") == 1
            Path(cache_from_source(str(copy / path))).unlink(missing_ok=True)
            (copy / path).write_text(text.replace(f"{line}\n", f"{line}\n{new}\n"), encoding="utf-8")
    after = _run(addition.call, tmp_path)
    assert [text for text in addition.shows if text not in after] == [], after
    # Before, at least something of it was not there.
    assert [text for text in addition.shows if text not in before] != []


def _run(call: tuple[str, ...], folder: Path) -> str:
    paths = os.pathsep.join([str(folder), str(ROOT)])
    # Modules are written twice within a second: byte code of the first would pass for that of the second.
    ours = {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1", "NO_COLOR": "1", "COLUMNS": "80"}
    environment = {**os.environ, **ours}
    command = [sys.executable, *call]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", check=False, timeout=300
    )
    return done.stdout + done.stderr
