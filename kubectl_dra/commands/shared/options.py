"""The options that commands share, with kubectl's names and meaning, and the record that they are read into."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from kubectl_dra.commands.shared.errors import CommandError, UsageProblem
from kubectl_dra.commands.shared.kubectl_style import SharedOption
from kubectl_dra.source.errors import SourceError
from kubectl_dra.source.limits import MAX_BYTES, parse_size, size_text
from kubectl_dra.source.spec import Connection

if TYPE_CHECKING:
    from kubectl_dra.source.inputs import Inputs

CommandT = TypeVar("CommandT", bound=Callable[..., Any])
_DEMO: Final = "demo"
_STDIN: Final = "-"
_GO_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True, slots=True)
class Options(Connection):
    """All shared options of one call, those of the connection too; what a command does not take has its default.

    ``namespace`` is empty if not given. ``from_`` is the first ``--from`` and ``from_others`` are the rest, which
    together are one cluster. ``output`` is empty for text. ``text``: JSON and YAML hold the page for people, too.
    ``max_bytes`` bounds a file as well.
    """

    namespace: str = ""
    all_namespaces: bool = False
    selector: str = ""
    output: str = ""
    text: bool = False
    watch: bool = False
    filenames: tuple[str, ...] = ()
    recursive: bool = False
    kustomize: str = ""
    from_: str | None = None
    from_others: tuple[str, ...] = ()
    feature_gates: tuple[str, ...] = ()
    exit_code: bool = False
    color: str = "auto"

    @property
    def manifests(self) -> Inputs:
        """What ``-f``, ``-R`` and ``-k`` name; false if nothing."""
        from kubectl_dra.source.inputs import Inputs  # help needs no files

        return Inputs(self.filenames, self.recursive, self.kustomize, self.max_bytes)

    @property
    def sources(self) -> tuple[str, ...]:
        """All words of ``--from``; none for a live cluster."""
        return () if self.from_ is None else (self.from_, *self.from_others)


class Timeout(click.ParamType[float | None]):
    """kubectl's durations: ``30`` (seconds), ``1m30s``; ``0`` means no limit."""

    name = "DURATION"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | None:  # noqa: ANN401
        """Seconds, None for no limit."""
        if value is None or isinstance(value, float):
            return value
        seconds = _seconds(str(value))
        if seconds is None:
            self.fail(f'"{value}" is not a valid duration, such as 30s or 1m30s', param, ctx)
        return seconds or None


class SizeType(click.ParamType[int]):
    """Sizes as quantities are written: ``512Mi``, ``16Gi``, or bytes."""

    name = "SIZE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:  # noqa: ANN401
        """Bytes."""
        size = value if isinstance(value, int) else parse_size(str(value))
        if size is None:
            self.fail(f'"{value}" is not a valid size, such as 512Mi or 16Gi', param, ctx)
        return size


class Expression(click.ParamType[str]):
    """A CEL expression: its characters are UTF-8 in every locale, also in one that leaves Python with ASCII."""

    name = "EXPR"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:  # noqa: ANN401
        """The text that the shell's bytes stand for; other text comes from a caller in Python, and is it already."""
        try:
            return os.fsencode(value).decode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            return str(value)


def _seconds(text: str) -> float | None:
    if re.fullmatch(r"[0-9]{1,9}", text):
        return float(text)
    parts = re.findall(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)(ms|h|m|s)", text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        return None
    return sum(float(number) * _GO_UNITS[unit] for number, unit in parts)


def _option(*names: str, **attributes: Any) -> Callable[[CommandT], CommandT]:  # noqa: ANN401 - click's own types
    return click.option(*names, **attributes)


def _shared(*names: str, **attributes: Any) -> Callable[[CommandT], CommandT]:  # noqa: ANN401 - click's own types
    return click.option(*names, cls=SharedOption, **attributes)


def scope_options(
    namespace: str = "The namespace to look into.", everywhere: bool = True
) -> tuple[Callable[[Any], Any], ...]:
    """``-n`` and ``-A``. Help leaves ``-A`` out where it is only understood to be refused with a next step."""
    return (
        _option("-n", "--namespace", default="", metavar="NAME", help=namespace),
        _option("-A", "--all-namespaces", is_flag=True, hidden=not everywhere, help="Look into all namespaces."),
    )


SCOPE_OPTIONS: Final = scope_options()

SELECTOR_OPTION: Final = _option(
    "-l", "--selector", default="", metavar="LABELS", help="Only objects with these labels, as in kubectl get."
)


def label_selector(text: str) -> Callable[[Mapping[str, str]], bool]:
    """A test on labels, what ``-l`` says; the empty text selects everything. Raises a usage error."""
    from kubectl_dra.model import labels  # help selects nothing

    try:
        return labels.parse(text)
    except labels.SelectorError as error:
        hint = "write it as -l 'app=trainer,tier in (a,b),!old'"
        raise UsageProblem(f'"{text}" is not a valid label selector: {error}', hint) from None


WATCH_OPTION: Final = _option("-w", "--watch", is_flag=True, help="Stay and show changes.")
FILENAME_OPTIONS: Final = (
    _option(
        "-f",
        "--filename",
        "filenames",
        multiple=True,
        metavar="FILE",
        help="Read manifests from a file, a folder, an https address, or - for stdin; may be repeated.",
    ),
    _option("-R", "--recursive", is_flag=True, help="Read the folders in the folders of -f as well."),
    _option("-k", "--kustomize", default="", metavar="DIR", help="Read what kubectl kustomize makes of a folder."),
)
EXIT_CODE_OPTION: Final = _option(
    "--exit-code", is_flag=True, help="Exit with 3 if a problem was found, 4 if the answer rests on incomplete data."
)
TEXT_OPTION: Final = _option("--text", is_flag=True, help="With -o json or yaml: the page for people in .output.text.")
#: Formats for programs.
DOCUMENTS: Final = ("json", "yaml")
#: Formats that take parts of a document, with a text behind ``=``.
TEMPLATES: Final = ("jsonpath", "custom-columns")
CLUSTER_OPTIONS: Final = (
    _shared(
        "--from",
        "from_",
        multiple=True,
        metavar="FILE|-|demo",
        help="Answer from a snapshot or manifests, or from the built-in demo cluster, instead of a live cluster; "
        "several files, or a folder of them, are one cluster.",
    ),
    _shared(
        "--feature-gates",
        multiple=True,
        metavar="GATE=BOOL",
        help="Feature gates of the scheduler that differ from its version's defaults.",
    ),
    _shared("--context", default="", metavar="NAME", help="The kubeconfig context."),
    _shared("--cluster", default="", metavar="NAME", help="The kubeconfig cluster."),
    _shared("--user", default="", metavar="NAME", help="The kubeconfig user."),
    _shared("--kubeconfig", default="", metavar="FILE", help="The kubeconfig file."),
    _shared("--as", "as_user", default="", metavar="USER", help="Impersonate this user."),
    _shared("--as-group", "as_groups", multiple=True, metavar="GROUP", help="Impersonate these groups."),
    _shared("-s", "--server", default="", metavar="URL", help="The API server, in place of the kubeconfig's."),
    _shared("--token", default="", metavar="TOKEN", help="A bearer token, in place of the kubeconfig's user."),
    _shared(
        "--insecure-skip-tls-verify",
        "insecure",
        is_flag=True,
        help="Do not check the API server's certificate: anyone in between can read and change what is sent.",
    ),
    _shared("--request-timeout", type=Timeout(), default=None, help="Give up on a request after this time."),
    _shared(
        "--max-bytes",
        type=SizeType(),
        default=MAX_BYTES,
        help=f"Read no more of a file, or of one list of a live cluster; {size_text(MAX_BYTES)} unless given.",
    ),
    _shared("-v", "--v", "verbosity", type=click.IntRange(0, 10), default=0, metavar="LEVEL", help="Log requests."),
    _shared(
        "--color",
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        help="Colours; NO_COLOR is respected.",
    ),
)


def shared_options(
    *,
    scope: Sequence[Callable[[Any], Any]] = SCOPE_OPTIONS,
    selector: bool = False,
    watch: bool = False,
    filename: bool = False,
    exit_code: bool = False,
    output: Sequence[str] = (),
    text: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add shared options to a command; it gets them as one :class:`Options` in its first argument.

    ``output`` lists the formats of ``-o`` beyond text; ``text``: the page can be had in a document. The
    cluster options are always there.
    """
    chosen: list[Callable[[Any], Any]] = [
        *scope,
        *([SELECTOR_OPTION] if selector else ()),
        *([_output_option(output)] if output else ()),
        *([TEXT_OPTION] if text else ()),
        *([WATCH_OPTION] if watch else ()),
        *(FILENAME_OPTIONS if filename else ()),
        *([EXIT_CODE_OPTION] if exit_code else ()),
        *CLUSTER_OPTIONS,
    ]

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def called(**values: Any) -> Any:  # noqa: ANN401 - what the command returns
            shared = {name: values.pop(name) for name in _FIELDS if name in values}
            options = read_options(shared)
            if options.text and options.output not in DOCUMENTS:
                raise UsageProblem("--text adds the page to a document", "-o json --text")
            try:
                return function(options, **values)
            except (CommandError, UsageProblem, SourceError) as problem:
                from kubectl_dra.commands.shared.address import completed

                problem.hint = completed(problem.hint, options)
                raise

        for option in reversed(chosen):
            called = option(called)
        return called

    return decorate


def read_options(values: dict[str, Any]) -> Options:
    """The options of this call: those given to the command, else those given before the command's name."""
    context = click.get_current_context(silent=True)
    root = context.find_root() if context is not None else None
    outer = root.params if root is not None else {}
    given = {
        name: value
        for name, value in values.items()
        if context is None or context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT
    }
    before = {name: value for name, value in outer.items() if name in _FIELDS}
    clock = {"clock": root.obj} if root is not None and root.obj is not None else {}
    options = {**before, **given, **clock}
    options["from_"], options["from_others"] = _sources(options.get("from_") or ())
    _check_inputs(options)
    return Options(**options)


def _sources(words: Sequence[str]) -> tuple[str | None, tuple[str, ...]]:
    """The first word of ``--from`` and the others. Raises a usage error for the demo cluster beside a file."""
    words = tuple(dict.fromkeys(words))
    if len(words) > 1 and _DEMO in words:
        raise UsageProblem("--from demo can't be combined with files", "leave one of them out")
    return (words[0] if words else None), words[1:]


def _check_inputs(options: Mapping[str, Any]) -> None:
    """Refuse, as kubectl does, what ``-f``, ``-R`` and ``-k`` can't mean together, and stdin that is read twice."""
    files, sources = options.get("filenames") or (), (options.get("from_"), *options["from_others"])
    if options.get("kustomize") and files:
        raise UsageProblem("-f and -k can't be combined", "kubectl kustomize DIR | kubectl dra … -f - -f FILE")
    if options.get("kustomize") and options.get("recursive"):
        raise UsageProblem("-R can't be combined with -k", "leave -R out")
    if options.get("recursive") and not files:
        raise UsageProblem("-R needs -f", "name a folder: -R -f DIR")
    if _STDIN in files and _STDIN in sources:
        raise UsageProblem("-f - and --from - can't both read stdin", "write one of them to a file")


def _output_option(formats: Sequence[str]) -> Callable[[Any], Any]:
    def check(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
        if value.partition("=")[0] in formats and value.partition("=")[0] in TEMPLATES:
            _check_template(value)
        elif value and value not in formats:
            from kubectl_dra.model.likeness import similar

            near = next(iter(similar(value, formats)), "")
            picked = "use -o json and pick fields with jq" if "json" in formats else ""
            what = f'unknown output format "{value}": this command has {", ".join(formats)}'
            raise UsageProblem(what, f"-o {near}" if near else picked)
        return value

    text = f"Output format: {', '.join(formats)}."
    return _option(
        "-o",
        "--output",
        default="",
        metavar="FORMAT",
        callback=check,
        help=text,
        shell_complete=one_of([f"{name}=" if name in TEMPLATES else name for name in formats]),
    )


def _check_template(value: str) -> None:
    """Raise a usage error for a template that can't be read, before anything else is."""
    from kubectl_dra.output.jsonpath import JsonPathError  # help needs no templates
    from kubectl_dra.output.templates import writer_of

    name = value.partition("=")[0]
    try:
        writer_of(value)
    except JsonPathError as error:
        raise UsageProblem(f"-o {name}: {error}", _TEMPLATE_HINTS[name]) from None


_TEMPLATE_HINTS: Final = {
    "jsonpath": "-o jsonpath='{.items[*].kind}'",
    "custom-columns": "-o custom-columns=NAME:.metadata.name; -o json shows the fields",
}


def one_of(values: Sequence[str]) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """``shell_complete`` of an option that takes one of ``values`` and says itself what is wrong with others."""
    return lambda _context, _parameter, typed: [value for value in values if value.startswith(typed)]


_FIELDS: Final = frozenset(each.name for each in fields(Options))
