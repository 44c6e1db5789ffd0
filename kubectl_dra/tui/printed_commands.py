"""The commands that a page prints: what there is to copy of it, and how those are folded that are wider than it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from kubectl_dra.output.layout import width, wrapped
from kubectl_dra.output.safe import Safe, plain

# "To delete it: kubectl delete …", and "Someone can permit it:" with commands in the lines below.
_LABELLED: Final = re.compile(r"\s*(?P<what>[^:]*[^:\s]): (?P<line>kubectl \S.*)")
_LABEL: Final = re.compile(r"\s*(?P<what>[^:].*):")
_BELOW: Final = re.compile(r"\s+(?P<line>kubectl \S.*)")
#: What only reads is a key here, rather than a command.
_READING: Final = re.compile(r"(?:kubectl dra) (?!taint-device\b)")
#: A command that goes on in lines that are not taken would do something else.
_GOES_ON: Final = re.compile(r"<<|\\$")
_HEREDOC: Final = re.compile(r"<<'(?P<end>\w+)'")
#: What a shell takes as one, so that no line may end in it.
_WORD: Final = re.compile(r"""(?:[^\s'"\\]|\\.|'[^']*'|"(?:\\.|[^"\\])*")+""")
_INDENT: Final = 4


@dataclass(frozen=True, slots=True)
class PrintedCommands:
    """Lines that belong together, and what the page says that they are for."""

    what: str
    lines: tuple[Safe, ...]


def printed_commands(page: Sequence[Safe]) -> Iterator[PrintedCommands]:
    """In the order of the page, each once."""
    seen = set[tuple[Safe, ...]]()
    for found in _found([plain(line) for line in page]):
        whole = not any(_GOES_ON.search(line) for line in found.lines)
        if whole and found.lines not in seen and not _READING.match(found.lines[0]):
            seen.add(found.lines)
            yield found


def _found(page: Sequence[Safe]) -> Iterator[PrintedCommands]:
    for index, line in enumerate(page):
        if (match := _LABELLED.fullmatch(line)) is not None:
            yield PrintedCommands(match["what"], (Safe(match["line"].rstrip()),))
        elif (label := _LABEL.fullmatch(line.rstrip())) is not None:
            below: list[Safe] = []
            for after in page[index + 1 :]:
                if (command := _BELOW.fullmatch(after)) is None:
                    break
                below.append(Safe(command["line"].rstrip()))
            if below:
                # A sentence may begin on the line before.
                before = page[index - 1].strip() if index and label["what"][:1].islower() else ""
                yield PrintedCommands(f"{before} {label['what']}".strip(), tuple(below))


def without_cuts(page: Sequence[Safe], columns: int) -> Iterator[Safe]:
    """The lines of a page, commands that are wider than it below what is said of them, and folded."""
    for line in page:
        labelled = _LABELLED.fullmatch(line) if width(line) > columns else None
        command = labelled or (_BELOW.fullmatch(line) if width(line) > columns else None)
        if command is None:
            yield line
            continue
        if labelled is not None:
            yield Safe(line[: labelled.end("what")] + ":")
        indent = Safe("  " if labelled is not None else " " * command.start("line"))
        yield from (indent + each for each in folded([Safe(command["line"])], columns - len(indent)))


def folded(lines: Sequence[Safe], columns: int) -> Iterator[Safe]:
    """Commands in lines of at most ``columns``, as a shell still takes them; here-documents stay as they are."""
    end = ""
    for line in lines:
        heredoc = _HEREDOC.search(line)
        if end or width(line) <= columns:
            yield line
        elif line.startswith("# "):
            first, *rest = wrapped(line, columns, indent=2, first=0)
            yield from (first, *(Safe("#") + Safe(each[1:]) for each in rest))
        else:
            yield from _continued(line, columns)
        end = "" if line == end else heredoc["end"] if heredoc is not None and not end else end


def _continued(line: Safe, columns: int) -> Iterator[Safe]:
    words = [Safe(word) for word in _WORD.findall(line)]
    # Of what is written otherwise nobody knows here where it may be broken.
    if " ".join(words) != line:
        yield line
        return
    start = words[0]
    for word in words[1:]:
        if width(start) + width(word) + len(" ") + len(" \\") > columns:
            yield start + " \\"
            start = Safe(" " * _INDENT) + word
        else:
            start += " " + word
    yield start
