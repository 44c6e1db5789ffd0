"""What tui does: make the settings of the terminal UI from the options, and run it."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from typing import Final

from kubectl_dra.commands.cluster import features_of, gates_of, source_spec
from kubectl_dra.commands.errors import CommandError, UsageProblem
from kubectl_dra.commands.options import Options
from kubectl_dra.diagnosis import needs
from kubectl_dra.source import load
from kubectl_dra.source.errors import SourceError
from kubectl_dra.source.spec import DEMO, STDIN, SourceSpec
from kubectl_dra.tui.feed import Feed, Loaded, RereadFeed

# A cluster that is not watched is read again so often.
_REREAD_SECONDS: Final = 30.0


def start(options: Options, *, light: bool = False, tab: str = "overview", expression: str = "") -> int:
    """Run the UI; returns the exit code."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise CommandError("the terminal UI needs a terminal", "kubectl dra why-pending -A")
    from kubectl_dra.tui.app import Settings  # Textual only when it is needed
    from kubectl_dra.tui.start import run
    from kubectl_dra.tui.theme import DARK, LIGHT

    gates = gates_of(options)
    settings = Settings(
        connect=lambda context: _feed(dataclasses.replace(options, context=context or options.context), gates),
        contexts=lambda: _contexts(options),
        namespace="" if options.all_namespaces else options.namespace,
        theme=LIGHT.name if light else DARK.name,
        tab=tab,
        expression=expression,
    )
    return run(settings)


def _feed(options: Options, gates: dict[str, bool]) -> Feed:
    """A feed of the file or context that the options name. Raises ``SourceError`` for a context that does not exist."""
    kinds = needs.kinds(needs.POD)
    spec = dataclasses.replace(source_spec(options, kinds), all_namespaces=True)

    def read() -> Loaded:
        inventory, evidence = load(spec)
        try:
            return inventory, evidence, features_of(evidence, gates)
        except UsageProblem as problem:
            raise SourceError(problem.message, problem.hint) from problem

    if options.from_ is not None:
        name = {DEMO: "demo", STDIN: "stdin"}.get(options.from_, f"file {options.from_.rpartition('/')[2]}")
        return RereadFeed(name, False, read)
    return RereadFeed(f"ctx {_context(spec)}", True, read, _REREAD_SECONDS)


def _context(spec: SourceSpec) -> str:
    from kubectl_dra.source.live.kubeconfig import target_of

    target = target_of(spec.connection)
    return target.context or target.server


def _contexts(options: Options) -> Sequence[str]:
    """The contexts of the kubeconfig; none for files."""
    if options.from_ is not None:
        return ()
    from kubectl_dra.source.live.kubeconfig import kubeconfig_files, read_kubeconfig

    return sorted(read_kubeconfig(kubeconfig_files(options.kubeconfig)).contexts)
