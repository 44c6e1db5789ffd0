"""What ``kubectl dra explain`` prints."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from kubectl_dra.commands.shared.errors import CommandError
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.model.likeness import did_you_mean
from kubectl_dra.output.console import ColorMode, Console
from kubectl_dra.output.explain.index import found_lines, index_lines, markdown_index, matching
from kubectl_dra.output.explain.pages import reason_page
from kubectl_dra.output.explain.text import page_lines
from kubectl_dra.output.layout import paragraphs
from kubectl_dra.output.safe import Safe, multiline

_CODE: Final = re.compile(r"(?:dra-?)?(\d{3})", re.IGNORECASE)
_PREFIX: Final = "DRA-"


def explain(options: Options, words: Sequence[str]) -> int:
    """Print the pages of the codes that ``words`` name, or the reasons whose message has those words."""
    codes = _codes(words)
    if words and not codes and _print_others(options, " ".join(words)):
        return 0
    found = codes or (matching(" ".join(words)) if words else tuple(Code))
    if not found and len(words) == 1 and words[0].upper().startswith(_PREFIX):
        raise _no_reason(words[0].upper())
    if not found:
        raise CommandError(f'no reason has a message like "{" ".join(words)}"', "kubectl dra explain")
    console = Console(ColorMode(options.color))
    for line in _lines(options.output, found, whole=bool(codes) or (bool(words) and len(found) == 1)):
        console.out(line)
    return 0


def _print_others(options: Options, message: str) -> bool:
    """Print what the words of another program mean; whether there are no others in the message."""
    from kubectl_dra.output.explain.others import has_words_of_kubernetes, of_others

    others = of_others(message) if options.output != "markdown" else None
    if others is None:
        return False
    code, page = others
    mixed = has_words_of_kubernetes(message)
    for line in [Safe(code)] if options.output == "name" else [*page, *([Safe("")] if mixed else [])]:
        Console(ColorMode(options.color)).out(line)
    return not mixed


def _no_reason(name: str) -> CommandError:
    return CommandError(f'reason "{name}" not found{did_you_mean(name, tuple(Code))}', "kubectl dra explain")


def _lines(output: str | None, found: Sequence[Code], *, whole: bool) -> list[Safe]:
    if output == "name":
        return [Safe(code) for code in found]
    if output == "markdown":
        return [multiline(reason_page(code).text.strip()) for code in found] if whole else list(markdown_index(found))
    if not whole:
        return list(found_lines(found) if len(found) < len(Code) else index_lines(found))
    return paragraphs(page_lines(reason_page(code)) for code in found)


def _codes(words: Sequence[str]) -> tuple[Code, ...]:
    """The codes, if all words are codes; empty if none is. Raises a CommandError for one that does not exist."""
    matches = [_CODE.fullmatch(word) for word in words]
    if not words or None in matches:
        return ()
    names = [f"DRA-{match[1]}" for match in matches if match is not None]
    for name in names:
        if name not in set(Code):
            raise _no_reason(name)
    return tuple(code for code in Code if code in names)
