"""Writes docs/commands, one page per command, from the program: ``python tools/command_reference.py`` (``--check``)."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from kubectl_dra.commands.app import COMMANDS, PROGRAM, app
from kubectl_dra.commands.shared.options import SharedOption

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "commands"
INDEX = "README.md"


def pages() -> dict[str, str]:
    """Every page by the name of its file."""
    root = click.Context(app, info_name=PROGRAM)
    found = {INDEX: _index(root)}
    for name, (_, line) in COMMANDS.items():
        command = app.get_command(root, name)
        assert command is not None
        found[f"{name}.md"] = _page(name, line, command, click.Context(command, parent=root, info_name=name))
    return found


def _index(root: click.Context) -> str:
    lines = [
        "# Commands",
        "",
        "Written by the program itself (`make docs`). The [guide](../guide.md) shows their output.",
        "",
    ]
    lines += ["| command | what it does |", "|---|---|"]
    lines += [f"| [{name}]({name}.md) | {_cell(line)} |" for name, (_, line) in COMMANDS.items()]
    shared = [each for each in app.get_params(root) if isinstance(each, SharedOption)]
    lines += ["", "## Options of all commands", "", *_options(shared, root)]
    habits = (
        "`--version`, `help COMMAND`, `options` and `describe TYPE NAME` are understood as kubectl understands them."
    )
    return "\n".join([*lines, "", habits, ""])


def _page(name: str, line: str, command: click.Command, context: click.Context) -> str:
    usage = command.get_usage(context).removeprefix("Usage: ")
    text = inspect.cleandoc(command.help or "")
    lines = [f"# {PROGRAM} {name}", "", f"{line}.", "", "```", *_dedented(usage), "```", "", text, ""]
    examples = inspect.cleandoc((command.epilog or "").replace("\b", "")).removeprefix("Examples:").strip("\n")
    if examples:
        lines += ["## Examples", "", "```", *inspect.cleandoc(f"\n{examples}").splitlines(), "```", ""]
    own = [each for each in command.get_params(context) if isinstance(each, click.Option)]
    own = [each for each in own if not isinstance(each, SharedOption)]
    lines += [
        "## Options",
        "",
        *_options(own, context),
        "",
        f"And the [options of all commands]({INDEX}#options-of-all-commands).",
        "",
    ]
    return "\n".join(lines)


def _dedented(usage: str) -> list[str]:
    return [re.sub(r"\s+", " ", usage)]


def _options(options: list[click.Option] | list[SharedOption], context: click.Context) -> Iterator[str]:
    yield "| option | meaning |"
    yield "|---|---|"
    for option in options:
        record = option.get_help_record(context)
        if record is not None:
            yield f"| `{_cell(record[0])}` | {_cell(record[1])} |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def main() -> int:
    """Write or check all pages; pages of commands that are gone go."""
    found, stale = pages(), []
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.md"):
        if path.name not in found:
            stale.append(path.name)
            if "--check" not in sys.argv:
                path.unlink()
    for name, text in found.items():
        path = FOLDER / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
            if "--check" not in sys.argv:
                path.write_text(text, encoding="utf-8")
    print("\n".join(stale) or "all pages of commands are fresh")
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
