"""What tui does: make the settings of the terminal UI from the options, and run it."""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.shared.cluster import features_of, gates_of, source_spec
from kubectl_dra.commands.shared.errors import CommandError, UsageProblem
from kubectl_dra.commands.shared.namespaces import check_named
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.tui.on_demand import on_demand
from kubectl_dra.diagnosis.pod import needs
from kubectl_dra.output.progress import PROGRESS
from kubectl_dra.reports.invocations import try_dra
from kubectl_dra.source import current_namespace, load
from kubectl_dra.source.errors import SourceError
from kubectl_dra.source.spec import DEMO, STDIN, SourceSpec
from kubectl_dra.tui.feed import Feed, Loaded, RereadFeed

if TYPE_CHECKING:
    from kubectl_dra.tui.memory import Config, Memory
    from kubectl_dra.tui.settings import Settings
    from kubectl_dra.tui.writing import TaintWriter


def start(
    options: Options,
    *,
    light: bool = False,
    tab: str = "",
    expression: str = "",
    device_class: str | None = None,
    inline: bool = False,
) -> int:
    """Run the UI; returns the exit code."""
    piped = STDIN in options.sources
    # Textual draws on stderr.
    if not ((piped or sys.stdin.isatty()) and sys.stdout.isatty() and sys.stderr.isatty()):
        raise CommandError("the terminal UI needs a terminal", try_dra("why-pending", "-A"))
    if os.environ.get("TERM", "") in ("", "dumb"):
        what = f"the terminal UI can't draw on TERM={os.environ.get('TERM', '')}"
        raise CommandError(what, "set TERM to what the terminal is, such as xterm-256color")
    from kubectl_dra.tui.memory import config_path, read_config, read_memory, state_path

    settings = settings_of(
        options,
        light=light,
        tab=tab,
        expression=expression,
        device_class=device_class,
        config=read_config(config_path()),
        memory=read_memory(state_path()),
    )
    if options.from_ is not None:
        # What can't be read ends here, where an exit code and an error can still be seen.
        feed = settings.connect("")
        assert isinstance(feed, RereadFeed)  # noqa: S101 - files are read whole
        first = feed.load()
        check_named(options, ClusterState(*first, options.clock))
        if piped:
            # There is no second reading of it.
            feed = dataclasses.replace(feed, load=lambda: first)
        settings = dataclasses.replace(settings, connect=lambda _context: dataclasses.replace(feed, first=first))
    else:
        check_named(options)
    if piped:
        _take_keys_from_the_terminal()
    from kubectl_dra.tui.start import run  # Textual only when it is needed

    PROGRESS.end()  # the screen is Textual's now
    return run(dataclasses.replace(settings, inline=inline))


def _take_keys_from_the_terminal() -> None:
    """Stdin has given its file; what is typed comes from the terminal itself."""
    try:
        terminal = os.open("/dev/tty", os.O_RDWR)
    except OSError as error:
        raise CommandError("there is no terminal to read keys from", "write stdin to a file, and name it") from error
    os.dup2(terminal, 0)
    os.close(terminal)


def start_lab(options: Options, words: Sequence[str], device_class: str | None) -> int:
    """Run the UI with a selector in its lab, below the prompt where that is possible; returns the exit code."""
    if options.manifests:
        raise UsageProblem("-i and -f cannot be combined", "load selectors of claims and classes in the lab with f2")
    if len(words) > 1:
        raise UsageProblem(f"{len(words)} expressions: this command takes one", "put EXPR into single quotes")
    expression = words[0] if words else ""
    inline = sys.platform != "win32"
    return start(options, tab="lab", expression=expression, device_class=device_class, inline=inline)


def settings_of(
    options: Options,
    *,
    light: bool = False,
    tab: str = "",
    expression: str = "",
    device_class: str | None = None,
    config: Config | None = None,
    memory: Memory | None = None,
) -> Settings:
    """What the UI needs to know; reads nothing yet. Raises a usage error for gates that don't exist.

    ``config`` is the user's file, ``memory`` what was chosen last: the command line comes before both.
    """
    from kubectl_dra.tui.memory import Config, Memory
    from kubectl_dra.tui.settings import Settings
    from kubectl_dra.tui.theme import DARK, LIGHT

    gates = gates_of(options)
    config, memory = config or Config(), memory or Memory()
    light = light or (config.theme or memory.theme) == "light"
    if config.columns:
        memory.columns = config.columns
    return Settings(
        connect=lambda context: _feed(dataclasses.replace(options, context=context or options.context), gates),
        on_demand=lambda context: on_demand(dataclasses.replace(options, context=context or options.context)),
        contexts=lambda: _contexts(options),
        writer=lambda context: _taint_writer(options, context),
        namespace="" if options.all_namespaces else options.namespace,
        theme=LIGHT.name if light else DARK.name,
        tab=tab or config.view or "overview",
        expression=expression,
        device_class=device_class,
        clock=options.clock,
        preview=memory.preview if config.preview is None else config.preview,
        memory=memory,
        problems=config.problems,
    )


def _taint_writer(options: Options, context: str) -> TaintWriter:
    from kubectl_dra.commands.tui.taints import CommandTaintWriter  # needed only when somebody plans a taint

    return CommandTaintWriter(options, context)


def _feed(options: Options, gates: dict[str, bool]) -> Feed:
    """A feed of the file or context that the options name. Raises ``SourceError`` for a context that does not exist."""
    kinds = needs.kinds(needs.PENDING)
    spec = dataclasses.replace(source_spec(options, kinds), all_namespaces=True)

    def read() -> Loaded:
        inventory, evidence = load(spec)
        try:
            return inventory, evidence, features_of(inventory, evidence, gates)
        except UsageProblem as problem:
            raise SourceError(problem.message, problem.hint) from problem

    if options.from_ is not None:
        name = {DEMO: "demo", STDIN: "stdin"}.get(options.from_, f"file {options.from_.rpartition('/')[2]}")
        return RereadFeed(name, False, read)
    from kubectl_dra.commands.tui.live import WatchedFeed  # the kubernetes package is heavy
    from kubectl_dra.source.live import needs_of

    # Who may read one namespace only sees that one, among all that are looked at.
    limits = dataclasses.replace(needs_of(spec), instead=(current_namespace(spec),))
    return WatchedFeed(f"ctx {_context(spec)}", spec.connection, limits, gates)


def _context(spec: SourceSpec) -> str:
    from kubectl_dra.source.live.kubeconfig import target_of
    from kubectl_dra.source.secrets import without_login

    target = target_of(spec.connection)
    return target.context or without_login(target.server)


def _contexts(options: Options) -> Sequence[str]:
    """The contexts of the kubeconfig; none for files."""
    if options.from_ is not None:
        return ()
    from kubectl_dra.source.live.kubeconfig import kubeconfig_files, read_kubeconfig

    return sorted(read_kubeconfig(kubeconfig_files(options.kubeconfig)).contexts)
