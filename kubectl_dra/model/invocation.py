"""What a printed command needs beside its own words: the cluster that it is about, and that it is a command at all.

Commands are made in ``reports.invocations``; hints of every layer may be one.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Final

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Address:
    """How a command reaches the cluster that facts are of.

    ``sources`` is what ``--from`` names, none for a live cluster. ``flags`` are the connection flags as they were
    given, ``own`` those that only this program knows. ``context`` is the context of the cluster: the chosen one, or the
    one that a snapshot was taken through; empty where there is none or nobody wrote it down. ``server`` is its URL.
    ``again`` is the command that runs, for somebody with other rights; empty where it is no question.
    """

    sources: Words = ()
    flags: Words = ()
    own: Words = ()
    context: str = ""
    server: str = ""
    again: Words = ()

    @property
    def live(self) -> bool:
        """Whether the facts are of a cluster that can be asked."""
        return not self.sources


#: The cluster that kubectl itself means.
HERE: Final = Address()


class CommandLine(str):
    """A command for a shell, with nothing or a few words of the program behind it, as a hint.

    Whoever prints it completes it with the flags that were given (``reports.invocations.hint``).
    """

    words: Words
    tail: str

    def __new__(cls, words: Words, tail: str = "") -> CommandLine:
        """The line of ``words``; ``tail`` is prose: ``" removes it"``."""
        line = super().__new__(cls, shlex.join(words) + tail)
        line.words, line.tail = words, tail
        return line

    def then(self, tail: str) -> CommandLine:
        """The same with prose behind it."""
        return CommandLine(self.words, tail)


def flag(name: str, value: str) -> Words:
    """``--name value``, in one word where the value would pass for a flag."""
    return (f"{name}={value}",) if value.startswith("-") else (name, value)
