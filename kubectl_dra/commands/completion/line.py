"""The words typed so far, read with click's own declarations: which command, which option waits for its value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import click

from kubectl_dra.commands.app import app


@dataclass(slots=True)
class TypedLine:
    """``current`` is the word to complete; ``option`` waits for it as its value, or ``current`` is a word of its own.

    ``values`` are the options given so far by their first long name, each with all its values.
    """

    command: click.Command
    current: str = ""
    option: click.Option | None = None
    words: list[str] = field(default_factory=list)
    values: dict[str, list[str]] = field(default_factory=dict)
    ended: bool = False

    @property
    def in_command(self) -> bool:
        return self.command is not app

    def value(self, name: str) -> str:
        """The last value of an option, empty if not given."""
        return self.values.get(name, [""])[-1]

    def options(self) -> Iterator[click.Option]:
        """The options that fit here, ``--help`` last."""
        for parameter in self.command.get_params(_context(self.command)):
            if isinstance(parameter, click.Option):
                yield parameter


def read_line(words: Sequence[str]) -> TypedLine:
    """Read what the shell gives: all words behind the program's name, the last one being typed (maybe empty)."""
    *done, current = words or [""]
    line = TypedLine(app)
    for word in done:
        _read_word(line, word)
    line.current = current
    if line.option is None and not line.ended and current.startswith("-"):
        _split_current(line)
    return line


def long_name(option: click.Option) -> str:
    """The first long name: what an option is known by."""
    return next((name for name in option.opts if name.startswith("--")), option.opts[0])


def _read_word(line: TypedLine, word: str) -> None:
    if line.option is not None:
        _keep(line, line.option, word)
        line.option = None
    elif line.ended or not word.startswith("-") or word == "-":
        _read_argument(line, word)
    elif word == "--":
        line.ended = True
    else:
        option, value = _option(line, word)
        if option is None:
            return
        if option.is_flag or value is not None:
            _keep(line, option, value or "")
        else:
            line.option = option


def _read_argument(line: TypedLine, word: str) -> None:
    found = app.get_command(_context(app), word) if line.command is app else None
    if found is not None:
        line.command = found
    else:
        line.words.append(word)


def _keep(line: TypedLine, option: click.Option, value: str) -> None:
    line.values.setdefault(long_name(option), []).append(value)


def _option(line: TypedLine, word: str) -> tuple[click.Option | None, str | None]:
    """The option that a word names, and the value in the same word: ``--x=v``, ``-xv``, ``-x=v``."""
    name, equals, value = word.partition("=")
    options = {spelled: option for option in line.options() for spelled in option.opts}
    if name in options:
        return options[name], value if equals else None
    if not word.startswith("--") and word[:2] in options and not options[word[:2]].is_flag:
        return options[word[:2]], word[2:]
    return None, None


def _split_current(line: TypedLine) -> None:
    """``--flag=par``: the shells expect candidates for the value alone."""
    option, value = _option(line, line.current)
    if option is not None and value is not None and "=" in line.current and not option.is_flag:
        line.option, line.current = option, value


def _context(command: click.Command) -> click.Context:
    return click.Context(command, resilient_parsing=True)
