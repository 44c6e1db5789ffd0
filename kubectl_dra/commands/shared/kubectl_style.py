"""Options written as kubectl reads them, and help that lists shared options apart: the base of all commands."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from typing import Final

import click

from kubectl_dra.commands.shared.errors import UsageProblem
from kubectl_dra.model.likeness import did_you_mean
from kubectl_dra.output.console import DEFAULT_WIDTH, page_width, write_help

_INSTEAD_OF_FIELDS: Final = "name the objects, or use -n NAMESPACE, -l LABELS or, with get, --node NAME"
_BOOLEANS: Final = {"true": True, "false": False}
_SHORT_WITH_VALUE: Final = re.compile(r"(-[A-Za-z])=(.*)", re.DOTALL)


class SharedOption(click.Option):
    """An option that every command has; help lists it under a heading of its own."""


class _Context(click.Context):
    def make_formatter(self) -> click.HelpFormatter:
        """As click's, which asks ``shutil`` how wide the terminal is, and that loads four compressors."""
        return click.HelpFormatter(width=min(page_width(), DEFAULT_WIDTH) - 2)


class KubectlStyle(click.Command):
    """Reads options as kubectl does (``-n=ml``, ``--watch=true``) and lists shared options apart in help."""

    context_class = _Context

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Rewrite what click does not know, then parse."""
        try:
            return super().parse_args(ctx, rewritten(args, self.params))
        except click.NoSuchOption as error:
            if error.option_name == "--field-selector":
                problem = UsageProblem("--field-selector is not supported", _INSTEAD_OF_FIELDS)
                problem.ctx = error.ctx or ctx
                raise problem from None
            names = [name for param in self.params for name in param.opts if name.startswith("--")]
            text = f'unknown option "{error.option_name}"{did_you_mean(error.option_name, names)}'
            raise click.UsageError(text, error.ctx or ctx) from None
        except click.BadParameter as error:
            refused = _value_problem(error)
            if refused is None:
                error.ctx = error.ctx or ctx
                raise
            raise click.UsageError(refused, error.ctx or ctx) from None
        except click.UsageError as error:
            # click does not say of every error which command it is about.
            error.ctx = error.ctx or ctx
            raise

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """``-h`` and ``--help``, written by the one writer of stdout."""
        return click.Option(
            ["-h", "--help"], is_flag=True, expose_value=False, is_eager=True, callback=_help, help="Show this help."
        )

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Examples follow on the first sentence: most readers need nothing else."""
        self.format_usage(ctx, formatter)
        sentence, _, more = inspect.cleandoc(self.help or "").partition("\n\n")
        for text in filter(None, (sentence, self.epilog, more)):
            formatter.write_paragraph()
            with formatter.indentation():
                formatter.write_text(text)
        self.format_options(ctx, formatter)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The command's own options first."""
        help_option, *others = sorted(self.get_params(ctx), key=lambda param: param.name != "help")
        _section("Options", [*others, help_option], False, ctx, formatter)
        _section(_OF_ALL, others, True, ctx, formatter)


_NOT_A_NUMBER: Final = re.compile(r"'(.*)' is not a valid (?:integer|float)(?: range)?\.", re.DOTALL)
_OUT_OF_RANGE: Final = re.compile(r"(-?[0-9.]+) is not in the range (?:([0-9]+)<=)?x(?:>=([0-9]+)|<=([0-9]+))\.")
_NO_CHOICE: Final = re.compile(r"'(.*)' is not (?:one of )?'.*'\.", re.DOTALL)


def _value_problem(error: click.BadParameter) -> str | None:
    """A value that click refuses, in plain words; None for words of our own."""
    param = error.param
    if param is None:
        return None
    option = f"{max(param.opts, key=len)}: " if isinstance(param, click.Option) else ""
    if found := _NOT_A_NUMBER.fullmatch(error.message):
        return f'{option}"{found[1]}" is not a whole number'
    if found := _OUT_OF_RANGE.fullmatch(error.message):
        value, lower, least, most = found.groups()
        wrong = f"not between {lower} and {most}" if lower else f"less than {least}" if least else f"more than {most}"
        return f"{option}{value} is {wrong}"
    if (found := _NO_CHOICE.fullmatch(error.message)) and isinstance(param.type, click.Choice):
        choices = [str(choice) for choice in param.type.choices]
        known = did_you_mean(found[1], choices)
        return f'{option}"{found[1]}" is not one of {", ".join(choices[:-1])} and {choices[-1]}{known}'
    return None


_OF_ALL: Final = "Options of all commands"


def write_shared_options(ctx: click.Context, formatter: click.HelpFormatter) -> None:
    _section(_OF_ALL, ctx.command.get_params(ctx), True, ctx, formatter)


def _section(
    title: str, params: Sequence[click.Parameter], shared: bool, ctx: click.Context, formatter: click.HelpFormatter
) -> None:
    records = [p.get_help_record(ctx) for p in params if _listed(p, shared)]
    rows = [record for record in records if record is not None]
    if rows:
        with formatter.section(title):
            formatter.write_dl(rows)


def _listed(parameter: click.Parameter, shared: bool) -> bool:
    """Whether an option stands under that heading; arguments stand in the usage line only."""
    return isinstance(parameter, click.Option) and isinstance(parameter, SharedOption) is shared


def rewritten(arguments: Sequence[str], parameters: Sequence[click.Parameter]) -> list[str]:
    """``-n=ml`` as ``-n ml``, ``--flag=true`` as ``--flag``, without ``--flag=false``; nothing after ``--``."""
    options = [parameter for parameter in parameters if isinstance(parameter, click.Option)]
    flags = {name for option in options if option.is_flag for name in option.opts}
    valued = {name for option in options if not option.is_flag for name in option.opts}
    end = arguments.index("--") if "--" in arguments else len(arguments)
    words: list[str] = []
    for word in arguments[:end]:
        name, equals, value = word.partition("=")
        short = _SHORT_WITH_VALUE.fullmatch(word)
        if equals and name in flags and value.lower() in _BOOLEANS:
            words.extend([name] if _BOOLEANS[value.lower()] else [])
        elif short and short[1] in valued:
            words.extend(short.groups())
        else:
            words.append(word)
    return [*words, *arguments[end:]]


def _help(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        write_help(context.get_help())
        context.exit()
