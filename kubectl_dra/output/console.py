"""The only writer to stdout (data) and stderr (notes, errors). A reader that goes away ends the program silently."""

from __future__ import annotations

import codecs
import io
import os
import sys
from _thread import RLock  # threading costs what help and errors need not pay
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from contextvars import ContextVar
from enum import StrEnum
from typing import Final, NoReturn, TextIO, TypeGuard

from kubectl_dra.output.exit_codes import ExitCode
from kubectl_dra.output.progress import PROGRESS
from kubectl_dra.output.safe import Safe, Style, multiline, plain, safe, styled

#: Columns of prose off a terminal, and the most on one: longer lines are hard to read.
DEFAULT_WIDTH: Final = 80
MAX_WIDTH: Final = 100
_MIN_WIDTH: Final = 20
_PAGE: Final = ContextVar[int | None]("page", default=None)


#: What a call has kept for its end.
_LAST: Final[dict[Safe, None]] = {}


class OutputError(Exception):
    """Raised when stdout or stderr does not take what is written, such as a file on a full disk."""


class ColorMode(StrEnum):
    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


class Console:
    """Writes Safe text. Colours appear on terminals unless ``NO_COLOR`` is set or the mode says otherwise."""

    def __init__(self, color: ColorMode = ColorMode.AUTO) -> None:
        self.color = color

    def out(self, text: Safe = Safe("")) -> None:  # noqa: B008 - immutable
        """One text and a line break to stdout."""
        _write(sys.stdout, text if self.colors(sys.stdout) else plain(text))

    def note(self, text: Safe) -> None:
        """One line to stderr, for what belongs to the answer but is not data."""
        _write(sys.stderr, text if self.colors(sys.stderr) else plain(text))

    def note_last(self, text: Safe) -> None:
        """One line to stderr below the answer, whose first line is to be the first: see :meth:`end_notes`."""
        _LAST[text] = None

    def end_notes(self) -> None:
        """Write what was kept for the end, each once."""
        notes = list(_LAST)
        _LAST.clear()
        for text in notes:
            self.note(text)

    def error(self, what: str, hint: str = "", details: Iterable[Safe] = ()) -> None:
        """One line what is wrong, lines of details, and one line what to do about it."""
        self.note(styled(Safe("error:"), Style.BAD) + " " + _once(what))
        for line in details:
            self.note(line)
        if hint:
            self.note(styled(Safe("try:"), Style.DIM) + "   " + _once(hint))

    def ask(self, question: Safe) -> str:
        """The answer to a question on stderr, without spaces around it; empty where the input ends."""
        PROGRESS.end()
        sys.stderr.write((question if self.colors(sys.stderr) else plain(question)) + " ")
        sys.stderr.flush()
        return sys.stdin.readline().strip()

    def colors(self, stream: TextIO) -> bool:
        """Whether colours go to ``stream``."""
        if self.color is not ColorMode.AUTO:
            return self.color is ColorMode.ALWAYS
        return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and stream.isatty()


def is_dialogue() -> bool:
    """Whether there is somebody to ask: both the questions and the answers belong to a terminal."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def page_width() -> int:
    """Columns of prose: those of the terminal that stdout is, at most 100; 80 where it is none."""
    fixed = _PAGE.get()
    if fixed is not None:
        return fixed
    columns = _terminal_columns() if sys.stdout is not None and sys.stdout.isatty() else 0
    return max(_MIN_WIDTH, min(columns, MAX_WIDTH)) if columns > 0 else DEFAULT_WIDTH


@contextmanager
def pages_of(columns: int) -> Iterator[None]:
    """Pages that are made meanwhile are so wide, whatever stdout is."""
    token = _PAGE.set(columns)
    try:
        yield
    finally:
        _PAGE.reset(token)


def _terminal_columns() -> int:
    """As ``shutil.get_terminal_size``, which loads four compressors that help and errors would wait for."""
    said = os.environ.get("COLUMNS", "")
    if said.isascii() and said.isdigit() and int(said) > 0:
        return int(said)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError):
        return 0


def write_data(text: str) -> None:
    """JSON or YAML to stdout as it is: already in 7 bits, so nothing in it can act on a terminal."""
    _write(sys.stdout, text.removesuffix("\n"))


def write_text(text: str) -> None:
    """A piece of JSON or YAML to stdout, as :func:`write_data`, with nothing after it."""
    _write(sys.stdout, text, end="")


def write_lines(text: Safe) -> None:
    """Lines that a template shaped, to stdout; the last one is ended if it is not."""
    if text:
        _write(sys.stdout, plain(text).removesuffix("\n"))


def write_help(text: str) -> None:
    """The program's own texts (help, completion scripts) to stdout."""
    _write(sys.stdout, multiline(text).removesuffix("\n"))


@contextmanager
def captured() -> Iterator[io.StringIO]:
    """What is written to either stream meanwhile, in the order in which it is written; nothing of it is shown.

    Pages are as wide as if they were written to where stdout goes.
    """
    paper = io.StringIO()
    with pages_of(page_width()), redirect_stdout(paper), redirect_stderr(paper):
        yield paper


def flush() -> None:
    """Flush both streams, so that a closed pipe shows here and not while the interpreter ends."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            close_quietly()
        except OSError as error:
            raise OutputError(error.strerror) from error


def close_quietly() -> NoReturn:
    """End with 0 because nobody reads any more."""
    PROGRESS.end()
    drop_unwritten()
    sys.exit(ExitCode.OK)


def drop_unwritten() -> None:
    """A stream that takes no more gets no more, so that the interpreter's own flush does not complain either."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            os.dup2(devnull, stream.fileno())


def prepare_streams() -> None:
    """Terminals and pipes that can't show a character get an escape instead of a crash; closed streams are empty.

    The POSIX locale names no characters beyond ASCII. What runs in it (a container, a timer, a pipeline) shows UTF-8
    nevertheless, which kubectl writes in any locale: so it is written here, too, unless ``PYTHONIOENCODING`` says
    otherwise.
    """
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: SIM115 - as long as the process lives
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        # Only streams of the process are ours to take apart, and the terminal UI writes to the original ones.
        if getattr(sys, f"__{name}__") is stream:
            buffered = _buffered(stream)
            setattr(sys, name, buffered)
            setattr(sys, f"__{name}__", buffered)
            if _is_posix(buffered):
                buffered.reconfigure(encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _is_posix(stream: TextIO) -> TypeGuard[io.TextIOWrapper]:
    """Whether the locale, and nobody else, leaves the stream with ASCII."""
    named = os.environ.get("PYTHONIOENCODING")
    return isinstance(stream, io.TextIOWrapper) and not named and codecs.lookup(stream.encoding).name == "ascii"


def _buffered(stream: TextIO) -> TextIO:
    """With PYTHONUNBUFFERED, what a nearly full disk does not take of a text would be lost without an error."""
    raw = getattr(stream, "buffer", None)
    if not isinstance(raw, io.RawIOBase):
        return stream
    stream.detach()  # type: ignore[attr-defined]
    return io.TextIOWrapper(io.BufferedWriter(raw), stream.encoding, line_buffering=True)


def _once(text: str) -> Safe:
    return text if isinstance(text, Safe) else safe(text)


# Requests of several threads are told while the answer is written; a text stream itself loses parts then.
_ONE_WRITER: Final = RLock()


def _write(stream: TextIO, text: str, end: str = "\n") -> None:
    if stream is sys.stdout and stream.isatty():
        PROGRESS.end()
    try:
        with _ONE_WRITER, PROGRESS.aside():
            stream.write(f"{text}{end}")
    except BrokenPipeError:
        close_quietly()
    except OSError as error:
        raise OutputError(error.strerror) from error
