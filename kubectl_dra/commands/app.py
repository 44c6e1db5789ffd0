"""The click application: commands loaded when they are called, errors, exit codes."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

import click

from kubectl_dra.commands.habits import UNLISTED, as_kubectl_says, meant_by
from kubectl_dra.commands.shared.errors import CommandError, UsageProblem
from kubectl_dra.commands.shared.kubectl_style import KubectlStyle
from kubectl_dra.commands.shared.options import CLUSTER_OPTIONS, SCOPE_OPTIONS
from kubectl_dra.model.clock import SYSTEM, Clock
from kubectl_dra.output.console import (
    ColorMode,
    Console,
    OutputError,
    close_quietly,
    drop_unwritten,
    flush,
    prepare_streams,
    write_help,
)
from kubectl_dra.output.exit_codes import ExitCode
from kubectl_dra.output.progress import PROGRESS

PROGRAM: Final = "kubectl dra"
# name -> (module with ``command`` or ``:NAME``, line for the overview): help must not import any of them.
COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "why-pending": ("why_pending.command", "Why pods and claims wait for devices, and what would make them fit"),
    "describe-pool": (
        "describe.commands:pool",
        "Pools of devices: usable or not, what is free, tainted or taken, and by whom",
    ),
    "describe-claim": (
        "describe.commands:claim",
        "A ResourceClaim: what it requests and holds, who uses it, what drivers report",
    ),
    "describe-podgroup": (
        "describe.commands:podgroup",
        "A PodGroup: how many pods it needs, which run where, the claims they share",
    ),
    "describe-node": (
        "describe.commands:node",
        "A node: its devices of all drivers, their state, and which pods hold them",
    ),
    "test-selector": ("selector.command", "A device selector tried on real devices: what it matches, where it fails"),
    "simulate": ("simulate.command", "Whether pods, claims or workloads that do not exist yet would fit, and how many"),
    "capacity": (
        "capacity.command",
        "How many pods of a shape fit, what keeps more away, and what to move for more room",
    ),
    "top": ("top.command", "Who holds most devices, and claims that hold devices for nobody"),
    "get": ("get.command", "Tables of pools, devices, nodes, claims, templates, classes, slices and taints"),
    "taint-device": (
        "taint.command",
        "Add or remove device taints; shows the affected pods before anything is written",
    ),
    "convert": ("convert", "Convert DRA manifests between API versions and report what is lost"),
    "lint": ("lint.command", "Check manifests without a cluster: fields, versions, selectors, names across files"),
    "snapshot": ("snapshot.command", "Save the objects that the other commands read to a file, for --from"),
    "tui": ("tui.command", "Browse devices, claims and pending pods"),
    "explain": ("explain.command", "What a reason code means, how to confirm it and how to fix it"),
    "completion": ("completion.command", "Completion for the shell: commands, flags, live names"),
    "version": ("version", "The version of this plugin"),
}

_EXAMPLES: Final = """\b
Examples:
  kubectl dra why-pending -A                # pending pods, grouped by reason
  kubectl dra why-pending trainer-0 -n ml   # why this pod does not run
  kubectl dra get devices --free            # what is free
  kubectl dra why-pending -A --from demo    # without a cluster"""


class LazyGroup(KubectlStyle, click.Group):
    """The program: knows its commands by name and imports one when it is called."""

    command_class = KubectlStyle

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        command = getattr(importlib.import_module(f"kubectl_dra.commands.{module}"), name or "command")
        return command if isinstance(command, click.Command) else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first word names. Raises a usage error with what comes near."""
        args = as_kubectl_says(args)
        if args[0] in UNLISTED:
            return args[0], UNLISTED[args[0]], args[1:]
        if args[0] not in COMMANDS:
            from kubectl_dra.model.likeness import did_you_mean

            if meant := meant_by(args[0]):
                raise UsageProblem(f'unknown command "{args[0]}"', meant)
            raise click.UsageError(f'unknown command "{args[0]}"{did_you_mean(args[0], COMMANDS)}', ctx)
        return super().resolve_command(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The overview of commands, from the table, then the options."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])
        KubectlStyle.format_options(self, ctx, formatter)


def _version(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        from kubectl_dra.commands.version import print_version

        print_version(Console())
        context.exit()


@click.group(cls=LazyGroup, invoke_without_command=True, epilog=_EXAMPLES)
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version.")
@click.pass_context
def app(context: click.Context, /, **_shared: Any) -> None:  # noqa: ANN401 - read from the context by each command
    """Explain Dynamic Resource Allocation: which devices exist, who uses them, and why a pod is pending."""
    if context.invoked_subcommand is None:
        write_help(context.get_help())


for _decorate in (*SCOPE_OPTIONS, *CLUSTER_OPTIONS):
    app = _decorate(app)


def run(arguments: Sequence[str], clock: Clock = SYSTEM) -> int:
    """Run the program with ``arguments``; returns its exit code. Times are those of ``clock``."""
    prepare_streams()
    console = Console(_color(arguments))
    try:
        code = _invoke(list(arguments), console, clock)
        PROGRESS.end()
        flush()
        console.end_notes()
        flush()
    except KeyboardInterrupt:
        PROGRESS.end()
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        close_quietly()
    except OutputError as error:
        drop_unwritten()
        with suppress(OutputError):
            console.error(f"the answer could not be written: {error}", "free some space, or write it elsewhere")
        drop_unwritten()
        return ExitCode.ERROR
    return code


def _invoke(arguments: list[str], console: Console, clock: Clock) -> int:
    from kubectl_dra.source.errors import SourceError

    try:
        result = app.main(arguments, prog_name=PROGRAM, standalone_mode=False, obj=clock)
    except click.UsageError as error:
        console.error(_one_line(error.format_message()), getattr(error, "hint", "") or _help_hint(error.ctx))
        return ExitCode.USAGE
    except click.Abort:
        return ExitCode.INTERRUPTED
    except CommandError as error:
        console.error(error.what, error.hint, error.details)
        return error.code
    except SourceError as error:
        console.error(error.what, error.hint)
        return ExitCode.ERROR
    return result if isinstance(result, int) else ExitCode.OK


def _help_hint(context: click.Context | None) -> str:
    return f"{context.command_path if context is not None else PROGRAM} --help"


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line[:1].lower() + line[1:].removesuffix(".")


def _color(arguments: Sequence[str]) -> ColorMode:
    """``--color`` before anything is parsed, because parsing may already fail."""
    for index, word in enumerate(arguments):
        value = word.removeprefix("--color=") if word.startswith("--color=") else ""
        if word == "--color" and index + 1 < len(arguments):
            value = arguments[index + 1]
        if value in tuple(ColorMode):
            return ColorMode(value)
    return ColorMode.AUTO
